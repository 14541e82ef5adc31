//! `HiSh`, hierarchical shingling: the shingles of a node are computed from those of its children.
//!
//! The shingles of a text are the S smallest hashes of its windows. A window inside a child was
//! hashed there, and is among the child's smallest if it can be among the parent's. Only windows
//! that begin in one child and end in another remain, possibly across several short ones. So every
//! window of a page is hashed once, in the smallest node that contains it.
//!
//! A value shorter than a window has one hash, of the whole value. It tells whether two such values
//! are equal; it is not a window of the parent and is not passed up.
//!
//! Cost: one step and four bytes of memory for each byte of the value, and at most S for each node
//! and child. [`direct`] works node by node, like the definition: the folded result must be equal
//! to it, and the paper's figures 19 and 20 compare the two.

use super::tree::Shape;
use super::windows::{Smallest, Windows};
use crate::base::vec_pool::Reused;

/// The parameters of shingling: the paper's W, S and K.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shingling {
    /// Bytes in a window (W).
    pub window: usize,
    /// Maximum number of hashes kept for a text (S).
    pub sample: usize,
    /// Bits of a hash (K).
    pub bits: u32,
}

/// Maximum window: it is read again at every boundary of nodes.
pub const MAX_WINDOW: usize = 1024;
/// Maximum sample: it is merged at every node.
pub const MAX_SAMPLE: usize = 1024;
/// Maximum number of bits.
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
    /// Return which parameter is out of range, if any.
    pub fn fault(&self) -> Option<String> {
        let ranges = [
            ("window", self.window, MAX_WINDOW),
            ("sample", self.sample, MAX_SAMPLE),
            ("bits", self.bits as usize, MAX_BITS as usize),
        ];
        (ranges.into_iter())
            .find(|&(_, found, most)| found == 0 || found > most)
            .map(|(name, found, most)| format!("{name} is {found}; expected 1 to {most}"))
    }
}

/// Shingles of many texts: those of text `i` are `values[starts[i]..ends[i]]`, ascending.
///
/// Texts may share shingles, like a node with an only child.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shingles {
    /// Start of each text's shingles.
    pub starts: Vec<u64>,
    /// End of each text's shingles.
    pub ends: Vec<u64>,
    /// All shingles, not in the order of texts.
    pub values: Vec<u32>,
    /// Number of hashes computed.
    pub hashes: u64,
}

impl Shingles {
    /// Return the shingles of one text.
    #[inline]
    pub fn of(&self, text: usize) -> &[u32] {
        &self.values[self.starts[text] as usize..self.ends[text] as usize]
    }

    fn empty(texts: usize) -> Self {
        Self {
            starts: vec![0; texts],
            ends: vec![0; texts],
            ..Self::default()
        }
    }

    #[inline]
    fn set(&mut self, text: usize, values: &[u32]) {
        self.starts[text] = self.values.len() as u64;
        self.values.extend_from_slice(values);
        self.ends[text] = self.values.len() as u64;
    }
}

/// Nodes with at most this many windows take their sample from the hashes themselves, not from their
/// children: one long sequence takes less time than several short ones.
const FEW: usize = 128;

/// Compute the shingles of every node of a tree, by folding children into parents.
#[must_use]
pub fn hish(shape: &Shape, text: &[u8], how: Shingling) -> Shingles {
    let windows = Windows::new(how.window, how.bits);
    let mut smallest = Smallest::new(how.sample, how.bits);
    let n = shape.size.len();
    let mut found = Shingles::empty(n);
    // Each window of the page is hashed here, once; every node uses its own.
    let mut hashes = Reused::with_capacity(text.len());
    windows.hash(text, &mut hashes);
    found.hashes = hashes.len() as u64;
    // Most nodes are short, and no processor can predict which: list all of them, and advance only
    // for those of the kind.
    let (mut short, mut long) = (Reused::filled(n, 0), Reused::filled(n, 0));
    let (mut short_count, mut long_count) = (0, 0);
    for node in 0..n {
        let bytes = shape.bytes(node) as usize;
        short[short_count] = node as u32;
        short_count += usize::from(0 < bytes && bytes < how.window);
        long[long_count] = node as u32;
        long_count += usize::from(bytes >= how.window);
    }
    found.hashes += short_count as u64;
    found.values.reserve(short_count + long_count);
    for &node in &short[..short_count] {
        let (start, end) = shape.value(node as usize);
        found.set(node as usize, &[windows.short(text, start, end)]);
    }
    // Backwards, so that children come before their parents.
    for &node in long[..long_count].iter().rev() {
        let node = node as usize;
        let (start, end) = shape.value(node);
        let only = node + 1;
        if shape.size[node] > 1 && shape.value(only) == (start, end) {
            found.starts[node] = found.starts[only];
            found.ends[node] = found.ends[only];
            continue;
        }
        let last = end - how.window + 1; // no window begins here or later
        smallest.clear();
        if shape.size[node] == 1 || last - start <= FEW {
            smallest.add(&hashes[start..last]);
        } else {
            // All children at once, so that one sample is sorted for a node. As for a text, a limit
            // is guessed, and if it was too low, there is a higher one.
            let mut limit = smallest.limit(last - start);
            loop {
                // Windows before this one are in a child, or were taken.
                let mut next = start;
                for child in shape.children(node) {
                    let (start, end) = shape.value(child);
                    if end - start >= how.window {
                        smallest.take(&hashes[next..start], limit);
                        smallest.take_first(found.of(child), limit);
                        next = end - how.window + 1;
                    }
                }
                smallest.take(&hashes[next..last], limit);
                smallest.finish();
                if smallest.bound() <= limit {
                    break;
                }
                limit = smallest.higher(limit);
            }
        }
        found.set(node, smallest.kept());
    }
    found
}

/// Number of windows that [`direct`] hashes at a time.
const AT_A_TIME: usize = 4096;

/// Compute the shingles of every node of a tree on its own: from all its windows, without using its
/// children.
#[must_use]
pub fn direct(shape: &Shape, text: &[u8], how: Shingling) -> Shingles {
    let windows = Windows::new(how.window, how.bits);
    let mut smallest = Smallest::new(how.sample, how.bits);
    let mut found = Shingles::empty(shape.size.len());
    let mut hashes = Vec::new();
    for node in 0..shape.size.len() {
        let (start, end) = shape.value(node);
        smallest.clear();
        if (1..how.window).contains(&(end - start)) {
            found.hashes += 1;
            smallest.merge(&[windows.short(text, start, end)]);
        }
        // Not more at a time than the processor's first cache holds; otherwise a long text would
        // wait for memory.
        let last = (end + 1).saturating_sub(how.window);
        for from in (start..last).step_by(AT_A_TIME) {
            let to = last.min(from + AT_A_TIME);
            hashes.clear();
            windows.hash(&text[from..to + how.window - 1], &mut hashes);
            found.hashes += hashes.len() as u64;
            smallest.add(&hashes);
        }
        found.set(node, smallest.kept());
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
        let tree = AfTree::of(&page, &FORMATTING, false).unwrap();
        (tree.shape, tree.text)
    }

    #[test]
    fn folding_equals_shingling_each_node_by_itself() {
        // Children of one letter, of one less than a window, of a window, and long ones, in every
        // order.
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
        for (window, sample, bits) in [
            (20, 25, 32),
            (20, 64, 32),
            (20, 1024, 32),
            (1, 3, 8),
            (7, 1, 32),
            (7, 25, 1),
            (64, 1000, 5),
        ] {
            let how = Shingling {
                window,
                sample,
                bits,
            };
            let (folded, by_itself) = (hish(&shape, &text, how), direct(&shape, &text, how));
            for node in 0..shape.size.len() {
                assert_eq!(folded.of(node), by_itself.of(node), "{node}");
            }
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
        assert!(fault(0, 25, 32).unwrap().contains("window is 0"));
        assert!(fault(20, 1025, 32).unwrap().contains("1 to 1024"));
        assert!(fault(20, 25, 33).unwrap().contains("bits is 33"));
    }
}
