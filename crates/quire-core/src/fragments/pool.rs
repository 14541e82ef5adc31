//! The pool: all parts of all pages that are large enough, in one sequence (the paper's sorted buckets).
//!
//! A *row* is a part of a page. Rows are in the order of the pages, and those of a page in pre-order; since a parent's value is
//! longer than its children's, the rows of a page are a tree too, and a subtree is a slice of rows.
//!
//! A *value* is what rows hold. Equal values are one entry, found by length and hash, which is the exact-hash pass: whatever comes
//! later looks at values, and most rows of a site have the value of another. The shingles of a value are kept once.

use std::collections::HashMap;

use super::hish::Shingles;
use super::tree::AfTree;

/// One part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The page, by the order in which pages came.
    pub page: u32,
    /// The node of its AF tree.
    pub part: u32,
    /// The first node of the page that it stands for.
    pub node: u32,
    /// After the last one.
    pub node_end: u32,
    /// Rows in its subtree, itself included.
    pub size: u32,
    /// Its value.
    pub value: u32,
    /// First byte in the source; `u32::MAX` where the page has no spans.
    pub byte_start: u32,
    /// After the last byte; `u32::MAX` too.
    pub byte_end: u32,
    /// Hash of its bytes; 0 without spans.
    pub source_hash: u64,
}

/// The parts of many pages.
#[derive(Debug, Default)]
pub struct Pool {
    /// Bytes of value that a part has at least (`MinFragSize`).
    min_bytes: u32,
    /// Pages so far.
    pages: u32,
    /// Their parts.
    pub rows: Vec<Row>,
    /// Length of each value.
    pub bytes: Vec<u32>,
    /// Hash of each value.
    pub hash: Vec<u64>,
    /// Shingles of each value: those of `i` begin at `starts[i]`.
    starts: Vec<u64>,
    shingles: Vec<u32>,
    known: HashMap<(u32, u64), u32>,
}

impl Pool {
    /// A pool for parts with so many bytes of value; 1 at least.
    #[must_use]
    pub fn new(min_bytes: u32) -> Self {
        Self {
            min_bytes: min_bytes.max(1),
            starts: vec![0],
            ..Self::default()
        }
    }

    /// Add a page: its AF tree and the shingles of its nodes. Linear.
    pub fn push(&mut self, tree: &AfTree, shingles: &Shingles) {
        let page = self.pages;
        self.pages += 1;
        let bytes = |node: usize| tree.shape.bytes(node);
        // How many parts before each node are large enough.
        let mut before = Vec::with_capacity(tree.n() + 1);
        let mut count = 0u32;
        for node in 0..tree.n() {
            before.push(count);
            count += u32::from(bytes(node) >= self.min_bytes);
        }
        before.push(count);
        let has_spans = !tree.byte_start.is_empty();
        for node in 0..tree.n() {
            if bytes(node) < self.min_bytes {
                continue;
            }
            let after = node + tree.shape.size[node] as usize;
            let value = self.value(bytes(node), tree.value_hash[node], shingles.of(node));
            self.rows.push(Row {
                page,
                part: node as u32,
                node: tree.node[node],
                node_end: tree.node_end[node],
                size: before[after] - before[node],
                value,
                byte_start: if has_spans {
                    tree.byte_start[node]
                } else {
                    u32::MAX
                },
                byte_end: if has_spans {
                    tree.byte_end[node]
                } else {
                    u32::MAX
                },
                source_hash: if has_spans { tree.source_hash[node] } else { 0 },
            });
        }
    }

    /// The number of a value, which may be new.
    pub(super) fn value(&mut self, bytes: u32, hash: u64, shingles: &[u32]) -> u32 {
        let next = self.bytes.len() as u32;
        let value = *self.known.entry((bytes, hash)).or_insert(next);
        if value == next {
            self.bytes.push(bytes);
            self.hash.push(hash);
            self.shingles.extend_from_slice(shingles);
            self.starts.push(self.shingles.len() as u64);
        }
        value
    }

    /// The shingles of a value, ascending.
    #[inline]
    pub fn shingles(&self, value: usize) -> &[u32] {
        &self.shingles[self.starts[value] as usize..self.starts[value + 1] as usize]
    }

    /// Pages so far.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Different values.
    pub fn values(&self) -> usize {
        self.bytes.len()
    }
}
