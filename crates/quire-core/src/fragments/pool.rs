//! The pool: all sufficiently large parts of all pages, in one sequence (the paper's sorted
//! buckets).
//!
//! A *row* is a part of a page. Rows are in the order of pages, and within a page in pre-order;
//! since a parent's value is longer than its children's, the rows of a page are also a tree, and a
//! subtree is a slice of rows.
//!
//! A *value* is the content of rows. Equal values are one entry, found by length and hash, which is
//! the exact-hash pass: all later steps work on values, and most rows of a site have the same value
//! as another row. The shingles of a value are stored once.

use std::collections::HashMap;

use super::hish::Shingles;
use super::tree::AfTree;

/// One part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The page, numbered in order of arrival.
    pub page: u32,
    /// The node of its AF tree.
    pub part: u32,
    /// The first node of the page that belongs to it.
    pub node: u32,
    /// After the last one.
    pub node_end: u32,
    /// Number of rows in its subtree, including itself.
    pub size: u32,
    /// Its value.
    pub value: u32,
    /// First byte in the source; `u32::MAX` if the page has no spans.
    pub byte_start: u32,
    /// After the last byte; `u32::MAX` if the page has no spans.
    pub byte_end: u32,
    /// Hash of its bytes; 0 without spans.
    pub source_hash: u64,
}

impl Row {
    /// Make the row for a node of an AF tree, with `size` rows in its subtree; page and value are
    /// set later.
    pub(super) fn of(tree: &AfTree, node: usize, size: u32) -> Self {
        let has_spans = !tree.byte_start.is_empty();
        let place = |column: &[u32]| if has_spans { column[node] } else { u32::MAX };
        Self {
            page: 0,
            part: node as u32,
            node: tree.node[node],
            node_end: tree.node_end[node],
            size,
            value: 0,
            byte_start: place(&tree.byte_start),
            byte_end: place(&tree.byte_end),
            source_hash: if has_spans { tree.source_hash[node] } else { 0 },
        }
    }
}

/// Return the nodes of an AF tree that are large enough, each with the number of them in its
/// subtree, including itself.
pub(super) fn large_parts(tree: &AfTree, min_bytes: u32) -> Vec<(usize, u32)> {
    let is_large = |node: usize| tree.shape.bytes(node) >= min_bytes;
    // How many nodes before each are large enough.
    let mut before = Vec::with_capacity(tree.n() + 1);
    let mut count = 0u32;
    for node in 0..tree.n() {
        before.push(count);
        count += u32::from(is_large(node));
    }
    before.push(count);
    (0..tree.n())
        .filter(|&node| is_large(node))
        .map(|node| {
            let after = node + tree.shape.size[node] as usize;
            (node, before[after] - before[node])
        })
        .collect()
}

/// The parts of many pages.
#[derive(Debug, Default)]
pub struct Pool {
    /// Minimum number of bytes in the value of a part (`MinFragSize`).
    min_bytes: u32,
    /// Number of pages so far.
    pages: u32,
    /// Their parts.
    pub rows: Vec<Row>,
    /// Length of each value.
    pub bytes: Vec<u32>,
    /// Hash of each value.
    pub hash: Vec<u64>,
    /// Shingles of each value: those of `i` begin at `starts[i]` and are `counts[i]`.
    starts: Vec<u64>,
    counts: Vec<u16>,
    shingles: Vec<u32>,
    known: HashMap<(u32, u64), u32>,
}

impl Pool {
    /// Create a pool for parts whose value has at least `min_bytes` bytes; at least 1.
    #[must_use]
    pub fn new(min_bytes: u32) -> Self {
        Self {
            min_bytes: min_bytes.max(1),
            ..Self::default()
        }
    }

    /// Add a page: its AF tree and the shingles of its nodes. Linear.
    pub fn push(&mut self, tree: &AfTree, shingles: &Shingles) {
        let page = self.next_page();
        for (node, size) in large_parts(tree, self.min_bytes) {
            let bytes = tree.shape.bytes(node);
            let value = self.value(bytes, tree.value_hash[node], shingles.of(node));
            self.rows.push(Row {
                page,
                value,
                ..Row::of(tree, node, size)
            });
        }
    }

    /// Return the number for the next page.
    pub(super) fn next_page(&mut self) -> u32 {
        self.pages += 1;
        self.pages - 1
    }

    /// Return the number of a value, adding it if it is new.
    pub(super) fn value(&mut self, bytes: u32, hash: u64, shingles: &[u32]) -> u32 {
        let next = self.values() as u32;
        let value = self.known_value(bytes, hash);
        if value == next {
            self.fill(value, shingles.iter().copied());
        }
        value
    }

    /// Return the number of a value, adding it without shingles if it is new.
    pub(super) fn known_value(&mut self, bytes: u32, hash: u64) -> u32 {
        let next = self.values() as u32;
        let value = *self.known.entry((bytes, hash)).or_insert(next);
        if value == next {
            self.bytes.push(bytes);
            self.hash.push(hash);
            self.starts.push(0);
            self.counts.push(0);
        }
        value
    }

    /// Set the shingles of a value, ascending.
    pub(super) fn fill(&mut self, value: u32, shingles: impl Iterator<Item = u32>) {
        let start = self.shingles.len();
        self.shingles.extend(shingles);
        self.starts[value as usize] = start as u64;
        self.counts[value as usize] = (self.shingles.len() - start) as u16; // at most 1024
    }

    /// Return the shingles of a value, ascending.
    #[inline]
    pub fn shingles(&self, value: usize) -> &[u32] {
        let start = self.starts[value] as usize;
        &self.shingles[start..start + usize::from(self.counts[value])]
    }

    /// Count the values without shingles: of packed pages, those that arrive with a page still
    /// missing.
    pub fn lacking(&self) -> usize {
        self.counts.iter().filter(|&&count| count == 0).count()
    }

    /// Return the number of pages so far.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Return the number of distinct values.
    pub fn values(&self) -> usize {
        self.bytes.len()
    }
}
