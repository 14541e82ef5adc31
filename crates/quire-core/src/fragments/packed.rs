//! Packed parts: the data of a page that the pool needs, as bytes. Pages are processed on many
//! machines and pooled on one.
//!
//! A packed page is its number of parts (`u32`), then 48 bytes for each part in pre-order, then
//! shingles (`u32` each); all little-endian. The 48 bytes are part, node, `node_end`, size,
//! `byte_start`, `byte_end`, bytes of the value and number of its shingles (`u32` each),
//! `source_hash` and hash of the value (`u64` each).
//!
//! Most parts of a site have the same value as another part, and shingles are twice as long as
//! everything else. So a [`Packer`] sends the shingles of a value once, and a count of 0 for every
//! other part with that value. Pages may then arrive in any order, and a value sent by two packers
//! arrives twice: a value is identified by its length and hash, and has its shingles once all pages
//! have arrived.

use std::collections::HashSet;

use super::hish::{MAX_SAMPLE, Shingles};
use super::pool::{Pool, Row, large_parts};
use super::tree::AfTree;
use crate::base::error::Error;

/// Bytes of a part.
const PART_BYTES: usize = 48;
/// Maximum number of values that a packer remembers; then it starts over, and sends some shingles
/// again. Two megabytes.
const MOST_SENT: usize = 1 << 16;

/// Packs pages one after another.
#[derive(Debug)]
pub struct Packer {
    min_bytes: u32,
    most_sent: usize,
    sent: HashSet<(u32, u64)>,
}

impl Packer {
    /// Create a packer for parts whose value has at least `min_bytes` bytes; at least 1.
    #[must_use]
    pub fn new(min_bytes: u32) -> Self {
        Self {
            min_bytes: min_bytes.max(1),
            most_sent: MOST_SENT,
            sent: HashSet::new(),
        }
    }

    /// Pack a page: its AF tree and the shingles of its nodes. Linear.
    #[must_use]
    pub fn pack(&mut self, tree: &AfTree, shingles: &Shingles) -> Vec<u8> {
        if self.sent.len() > self.most_sent {
            self.sent.clear();
        }
        let parts = large_parts(tree, self.min_bytes);
        let mut packed = Vec::with_capacity(4 + PART_BYTES * parts.len());
        packed.extend_from_slice(&(parts.len() as u32).to_le_bytes());
        let mut first = Vec::new(); // parts with values that were not sent yet
        for (node, size) in parts {
            let row = Row::of(tree, node, size);
            let (bytes, hash) = (tree.shape.bytes(node), tree.value_hash[node]);
            let is_first = self.sent.insert((bytes, hash));
            let count = if is_first { shingles.of(node).len() } else { 0 };
            first.extend(is_first.then_some(node));
            for number in [
                row.part,
                row.node,
                row.node_end,
                row.size,
                row.byte_start,
                row.byte_end,
                bytes,
                count as u32,
            ] {
                packed.extend_from_slice(&number.to_le_bytes());
            }
            packed.extend_from_slice(&row.source_hash.to_le_bytes());
            packed.extend_from_slice(&hash.to_le_bytes());
        }
        for shingle in first.into_iter().flat_map(|node| shingles.of(node)) {
            packed.extend_from_slice(&shingle.to_le_bytes());
        }
        packed
    }
}

/// A part in its packed form.
struct Part {
    row: Row,
    value_bytes: u32,
    value_hash: u64,
    shingles: usize,
}

impl Part {
    fn read(packed: &[u8; PART_BYTES]) -> Self {
        let (numbers, _) = packed.as_chunks();
        let narrow = |at: usize| u32::from_le_bytes(numbers[at]);
        let wide = |at: usize| u64::from(narrow(at)) | u64::from(narrow(at + 1)) << 32;
        Self {
            row: Row {
                page: 0,
                part: narrow(0),
                node: narrow(1),
                node_end: narrow(2),
                size: narrow(3),
                value: 0,
                byte_start: narrow(4),
                byte_end: narrow(5),
                source_hash: wide(8),
            },
            value_bytes: narrow(6),
            value_hash: wide(10),
            shingles: narrow(7) as usize,
        }
    }
}

impl Pool {
    /// Add a page in its packed form. Bytes that no packer wrote are refused, and nothing of them
    /// is added.
    pub fn push_packed(&mut self, packed: &[u8]) -> Result<(), Error> {
        let (parts, mut shingles) = checked(packed)?;
        let page = self.next_page();
        for part in parts.iter().map(Part::read) {
            let (mine, rest) = shingles.split_at(part.shingles);
            shingles = rest;
            let value = self.known_value(part.value_bytes, part.value_hash);
            if !mine.is_empty() && self.shingles(value as usize).is_empty() {
                self.fill(value, mine.iter().map(|&bytes| u32::from_le_bytes(bytes)));
            }
            self.rows.push(Row {
                page,
                value,
                ..part.row
            });
        }
        Ok(())
    }
}

type Checked<'a> = (&'a [[u8; PART_BYTES]], &'a [[u8; 4]]);

/// Return the parts and shingles of a packed page, after checking that their numbers match and
/// subtrees lie within the page.
fn checked(packed: &[u8]) -> Result<Checked<'_>, Error> {
    let bad = |message: &str| Error::Tree {
        message: format!("packed parts of {} bytes: {message}", packed.len()),
    };
    let short = || bad("cut off before the last part");
    let (count, rest) = packed.split_first_chunk::<4>().ok_or_else(short)?;
    let count = u32::from_le_bytes(*count) as usize;
    let (parts, rest) = (count.checked_mul(PART_BYTES))
        .and_then(|bytes| rest.split_at_checked(bytes))
        .ok_or_else(short)?;
    let (parts, _) = parts.as_chunks();
    let (shingles, odd) = rest.as_chunks();
    let mut promised = 0;
    for (at, part) in parts.iter().map(Part::read).enumerate() {
        if part.row.size == 0 || part.row.size as usize > count - at {
            return Err(bad("a subtree ends outside the page"));
        }
        if part.shingles > MAX_SAMPLE {
            return Err(bad("a part has more shingles than a sample can hold"));
        }
        promised += part.shingles;
    }
    if promised != shingles.len() || !odd.is_empty() {
        return Err(bad("the shingles do not match their number"));
    }
    Ok((parts, shingles))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};
    use crate::fragments::hish::{Shingling, hish};
    use crate::fragments::tree::FORMATTING;

    const MENU: &str =
        "<ul><li>a first entry of the menu</li><li>a second entry of the menu</li></ul>";

    fn trees() -> Vec<(AfTree, Shingles)> {
        let pages = [
            format!("{MENU}<p>a text of the first page"),
            format!("<div>{MENU}</div><p>another text, of the second page"),
            "<br>".to_owned(),
            format!("<p>a text of the first page{MENU}{MENU}"),
        ];
        (pages.iter())
            .map(|page| {
                let page = encode(page.as_bytes(), &Options::default()).unwrap();
                let tree = AfTree::of(&page, &FORMATTING, false).unwrap();
                let shingles = hish(&tree.shape, &tree.text, Shingling::default());
                (tree, shingles)
            })
            .collect()
    }

    fn values(pool: &Pool) -> Vec<(u32, u64, Vec<u32>)> {
        (0..pool.values())
            .map(|value| {
                (
                    pool.bytes[value],
                    pool.hash[value],
                    pool.shingles(value).to_vec(),
                )
            })
            .collect()
    }

    #[test]
    fn packing_changes_nothing() {
        let (mut whole, mut pool, mut packer) = (Pool::new(20), Pool::new(20), Packer::new(20));
        for (tree, shingles) in &trees() {
            whole.push(tree, shingles);
            pool.push_packed(&packer.pack(tree, shingles)).unwrap();
        }
        assert_eq!(pool.rows, whole.rows);
        assert_eq!(values(&pool), values(&whole));
        assert_eq!(pool.pages(), 4);
        assert_eq!(pool.lacking(), 0);
    }

    #[test]
    fn values_come_once_and_in_any_order() {
        let (mut whole, mut pool) = (Pool::new(20), Pool::new(20));
        let mut packer = Packer::new(20);
        let trees = trees();
        for (tree, shingles) in trees.iter().rev() {
            whole.push(tree, shingles);
        }
        let pages: Vec<_> = (trees.iter())
            .map(|(tree, shingles)| packer.pack(tree, shingles))
            .collect();
        pool.push_packed(&pages[3]).unwrap();
        assert!(pool.lacking() > 0, "the menu went with the first page");
        for page in pages[..3].iter().rev() {
            pool.push_packed(page).unwrap();
        }
        assert_eq!(pool.lacking(), 0);
        assert_eq!(pool.rows, whole.rows);
        assert_eq!(values(&pool), values(&whole));
    }

    #[test]
    fn a_packer_that_forgets_sends_again_and_changes_nothing() {
        let (tree, shingles) = trees().swap_remove(0);
        let mut packer = Packer::new(20);
        packer.most_sent = 1;
        let (first, again) = (packer.pack(&tree, &shingles), packer.pack(&tree, &shingles));
        assert_eq!(first, again);
        let (mut whole, mut pool) = (Pool::new(20), Pool::new(20));
        for page in [&first, &again] {
            whole.push(&tree, &shingles);
            pool.push_packed(page).unwrap();
        }
        assert_eq!(pool.rows, whole.rows);
        assert_eq!(values(&pool), values(&whole));
    }

    #[test]
    fn bytes_that_no_packer_wrote_are_refused() {
        let (tree, shingles) = trees().swap_remove(0);
        let good = Packer::new(20).pack(&tree, &shingles);
        let with = |at: usize, number: u32| {
            let mut bytes = good.clone();
            bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
            bytes
        };
        let size = 4 + 3 * 4;
        let count = 4 + 7 * 4;
        let mut bad: Vec<Vec<u8>> = (0..good.len()).map(|end| good[..end].to_vec()).collect();
        bad.extend([u32::MAX, 0, 99].map(|count| with(0, count)));
        bad.extend([u32::MAX, 0, 99].map(|number| with(size, number)));
        bad.extend([u32::MAX, 0, 1].map(|number| with(count, number)));
        bad.push([&good[..], &[0]].concat());
        let mut pool = Pool::new(20);
        for bytes in bad {
            let error = pool.push_packed(&bytes).unwrap_err();
            assert!(error.to_string().starts_with("packed parts of "));
        }
        assert_eq!((pool.pages(), pool.rows.len(), pool.values()), (0, 0, 0));
    }
}
