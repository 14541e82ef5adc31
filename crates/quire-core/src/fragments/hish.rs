//! `HiSh`, the hierarchical computing of shingles: a node's from its children's.
//!
//! The shingles of a text are the S smallest hashes of its windows. A window that lies within a child was
//! hashed there, and is among the child's smallest if it can be among the parent's. What is left are the windows that
//! begin in one child and end in another, maybe over several short ones. So every window of a page is hashed
//! once, in the smallest node that holds it.
//!
//! A value shorter than a window has one hash, of the whole. It says whether two such values are equal; it is no window of
//! the parent's and is not passed up.
//!
//! Cost: a step for each byte of the value, and at most S for each node. [`direct`] does it node by node,
//! as the definition says: it is what the fold must equal, and the paper's figures 19 and 20 compare the two.

use std::ops::Range;

use super::tree::Shape;
use super::windows::{Smallest, Windows};

/// How shingles are made: the paper's W, S and K.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shingling {
    /// Bytes in a window (W).
    pub window: usize,
    /// Hashes kept of a text (S).
    pub sample: usize,
    /// Bits of a hash (K).
    pub bits: u32,
}

/// The longest window: it is read again at every boundary of nodes.
pub const MAX_WINDOW: usize = 1024;
/// The largest sample: it is merged at every node.
pub const MAX_SAMPLE: usize = 1024;
/// The most bits.
pub const MAX_BITS: u32 = 32;

impl Default for Shingling {
    fn default() -> Self {
        Self {
            window: 20,
            sample: 25,
            bits: 32,
        }
    }
}

impl Shingling {
    /// What is out of range, if anything.
    pub fn fault(&self) -> Option<String> {
        let ranges = [
            ("window", self.window, MAX_WINDOW),
            ("sample", self.sample, MAX_SAMPLE),
            ("bits", self.bits as usize, MAX_BITS as usize),
        ];
        (ranges.into_iter())
            .find(|&(_, found, most)| found == 0 || found > most)
            .map(|(name, found, most)| format!("{name} {found}: shingles have 1 to {most}"))
    }
}

/// Shingles of many texts: those of text `i` are `values[starts[i]..starts[i + 1]]`, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shingles {
    /// Where each text's begin.
    pub starts: Vec<u64>,
    /// All of them.
    pub values: Vec<u32>,
    /// Hashes computed to get them.
    pub hashes: u64,
}

impl Shingles {
    /// Those of one text.
    #[inline]
    pub fn of(&self, text: usize) -> &[u32] {
        &self.values[self.starts[text] as usize..self.starts[text + 1] as usize]
    }

    fn empty(texts: usize) -> Self {
        let mut starts = Vec::with_capacity(texts + 1);
        starts.push(0);
        Self {
            starts,
            values: Vec::new(),
            hashes: 0,
        }
    }

    fn push(&mut self, values: &[u32]) {
        self.values.extend_from_slice(values);
        self.starts.push(self.values.len() as u64);
    }

    /// The same texts from the last to the first.
    fn reversed(&self) -> Self {
        let texts = self.starts.len() - 1;
        let mut turned = Self::empty(texts);
        turned.values.reserve(self.values.len());
        (0..texts).rev().for_each(|text| turned.push(self.of(text)));
        turned.hashes = self.hashes;
        turned
    }
}

/// Hash the windows that begin at `starts`, and say how many they were.
#[inline]
fn offer_all(windows: &Windows, text: &[u8], starts: Range<usize>, to: &mut Smallest) -> u64 {
    let hashes = starts.len() as u64;
    windows.each(text, starts, |hash| {
        to.offer(hash);
    });
    hashes
}

/// Shingle every node of a tree, folding children into parents.
#[must_use]
pub fn hish(shape: &Shape, text: &[u8], how: Shingling) -> Shingles {
    let windows = Windows::new(how.window, how.bits);
    let mut smallest = Smallest::new(how.sample);
    let n = shape.size.len();
    // Backwards, so that children come before their parents: node `i` is text `n - 1 - i`.
    let mut found = Shingles::empty(n);
    for node in (0..n).rev() {
        let (start, end) = shape.value(node);
        smallest.clear();
        if end - start < how.window {
            if start < end {
                found.hashes += 1;
                smallest.offer(windows.whole(&text[start..end]));
            }
            found.push(smallest.kept());
            continue;
        }
        let last = end - how.window + 1; // no window begins here or later
        if shape.size[node] == 1 {
            found.hashes += offer_all(&windows, text, start..last, &mut smallest);
        }
        for child in shape.children(node) {
            let (start, end) = shape.value(child);
            if end - start >= how.window {
                let text = n - 1 - child;
                for at in found.starts[text]..found.starts[text + 1] {
                    if !smallest.offer(found.values[at as usize]) {
                        break;
                    }
                }
            }
        }
        for child in shape.children(node) {
            let (start, end) = shape.value(child);
            let crossing = start.max((end + 1).saturating_sub(how.window))..end.min(last);
            found.hashes += offer_all(&windows, text, crossing, &mut smallest);
        }
        found.push(smallest.kept());
    }
    found.reversed()
}

/// Shingle every node of a tree by itself: all its windows, whatever its children had.
#[must_use]
pub fn direct(shape: &Shape, text: &[u8], how: Shingling) -> Shingles {
    let windows = Windows::new(how.window, how.bits);
    let mut smallest = Smallest::new(how.sample);
    let mut found = Shingles::empty(shape.size.len());
    for node in 0..shape.size.len() {
        let (start, end) = shape.value(node);
        smallest.clear();
        if end - start >= how.window {
            let starts = start..end - how.window + 1;
            found.hashes += offer_all(&windows, text, starts, &mut smallest);
        } else if start < end {
            found.hashes += 1;
            smallest.offer(windows.whole(&text[start..end]));
        }
        found.push(smallest.kept());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};
    use crate::fragments::tree::{AfTree, FORMATTING};

    fn shape_of(page: &str) -> (Shape, Vec<u8>) {
        let page = encode(page.as_bytes(), &Options::default()).unwrap();
        let tree = AfTree::of(&page, &FORMATTING).unwrap();
        (tree.shape, tree.text)
    }

    #[test]
    fn folding_equals_shingling_each_node_by_itself() {
        // Children of one letter, of a window less one, of a window, and long ones, in every order.
        let lengths = [1, 2, 18, 19, 20, 21, 60];
        let word = |length: usize, seed: usize| -> String {
            (0..length)
                .map(|i| char::from(b'a' + ((i * i + seed * 7) % 23) as u8))
                .collect()
        };
        let mut parts = Vec::new();
        for (seed, one) in lengths.into_iter().enumerate() {
            for two in lengths {
                let (a, b) = (word(one, seed), word(two, seed + two));
                parts.push(format!(
                    "<div><p>{a}</p><div>x<p>{b}</p></div><p>{b}</p>y</div>"
                ));
            }
        }
        let (shape, text) = shape_of(&parts.concat());
        for (window, sample, bits) in [(20, 25, 32), (1, 3, 8), (7, 1, 32), (64, 1000, 5)] {
            let how = Shingling {
                window,
                sample,
                bits,
            };
            let (folded, by_itself) = (hish(&shape, &text, how), direct(&shape, &text, how));
            assert_eq!(folded.starts, by_itself.starts);
            assert_eq!(folded.values, by_itself.values);
            assert!(folded.hashes < by_itself.hashes);
        }
    }

    #[test]
    fn every_window_of_a_page_is_hashed_once() {
        let (shape, text) = shape_of(&"<div><p>long enough for a window</p> or two".repeat(30));
        let found = hish(&shape, &text, Shingling::default());
        let short = (0..shape.size.len())
            .filter(|&node| (1..20).contains(&shape.bytes(node)))
            .count();
        assert_eq!(found.hashes as usize, text.len() - 19 + short);
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let fault = |window, sample, bits| {
            Shingling {
                window,
                sample,
                bits,
            }
            .fault()
        };
        assert_eq!(fault(20, 25, 32), None);
        assert!(fault(0, 25, 32).unwrap().contains("window 0"));
        assert!(fault(20, 1025, 32).unwrap().contains("1 to 1024"));
        assert!(fault(20, 25, 33).unwrap().contains("bits 33"));
    }
}
