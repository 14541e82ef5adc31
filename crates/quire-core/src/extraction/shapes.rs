//! Shapes: how alike two subtrees are.
//!
//! The shape of a node is a bag of parts from the first levels below it: for every node there the
//! names on the path down to it, and for every element its class and its level. Two bags are
//! compared as pages are: the sum of the smaller counts divided by that of the larger ones.
//!
//! A bag is a sorted slice of hashes with their counts in the lowest two bits; a part that is there
//! more often than [`MOST`] times counts as often as that. Bags are made when they are first needed
//! and stay in one vector. A node is in the bags of at most [`LEVELS`] nodes, with two parts each.

use std::collections::HashMap;

use super::attributes::attribute;
use super::outline::Outline;
use super::paths::has_digit;
use super::white_space::words;
use crate::digest::Digest;
use crate::page::tree::NONE;

/// Levels of a subtree that belong to its shape, the root included.
pub(super) const LEVELS: usize = 6;
/// A part that is there more often counts as often as this: lists inside records differ in length.
const MOST: u64 = 3;
/// Classes are compared in the upper levels only; below, the names on the path say enough.
const CLASS_LEVELS: usize = 4;
/// The bits of a part that hold its count.
const COUNT: u64 = 0b11;
/// A bag that is so many times as large as another is searched, not read.
const MUCH_LARGER: usize = 8;

/// The shapes of the nodes of a page.
pub(super) struct Shapes<'a> {
    page: &'a Digest,
    outline: &'a Outline,
    tags: &'a [u32],
    /// A number for the class attribute of each node; 0 without one.
    pub(super) classes: Vec<u32>,
    /// The class that each number stands for.
    class_names: Vec<String>,
    parts: Vec<u64>,
    /// The bag of each node in `parts`: start, or [`NONE`] if it was not needed yet, and length.
    bags: Vec<(u32, u32)>,
    /// The sum of the counts of each bag.
    totals: Vec<u32>,
}

impl<'a> Shapes<'a> {
    pub(super) fn new(page: &'a Digest, outline: &'a Outline) -> Self {
        let (classes, class_names) = classes(page, outline);
        Self {
            page,
            outline,
            tags: &page.wide().tag,
            classes,
            class_names,
            parts: Vec::new(),
            bags: vec![(NONE, 0); outline.n()],
            totals: vec![0; outline.n()],
        }
    }

    /// The sum of the counts of a node's shape.
    pub(super) fn total(&mut self, node: u32) -> u32 {
        self.measure(node);
        self.totals[node as usize]
    }

    /// How alike two nodes are, from 0 to 1.
    pub(super) fn likeness(&mut self, one: u32, other: u32) -> f64 {
        self.measure(one);
        self.measure(other);
        let (a, b) = (self.bag(one), self.bag(other));
        let shared = if a.len() <= b.len() {
            shared(a, b)
        } else {
            shared(b, a)
        };
        let larger = self.totals[one as usize] + self.totals[other as usize] - shared;
        if larger == 0 {
            return 0.0;
        }
        f64::from(shared) / f64::from(larger)
    }

    /// How alike nodes are that are so many places apart, on average; 0 if there are none.
    pub(super) fn mean_likeness(&mut self, nodes: &[u32], apart: usize) -> f64 {
        let found: Vec<f64> = (nodes.iter().zip(nodes.iter().skip(apart)))
            .map(|(&one, &other)| self.likeness(one, other))
            .collect();
        mean(&found)
    }

    /// Whether two subtrees consist of the same names in the same order, in their first nodes.
    pub(super) fn have_same_names(&self, tags: &[u32], one: u32, other: u32, most: u32) -> bool {
        let names = |node: u32| {
            (node..self.outline.end[node as usize].min(node + most))
                .map(|at| at as usize)
                .filter(|&at| self.outline.elements[at] || self.outline.leaves[at])
                .map(|at| tags[at])
        };
        names(one).eq(names(other))
    }

    /// Whether two classes are equal, or one is the other with more names: `card card-wide`.
    pub(super) fn are_variants(&self, one: u32, other: u32) -> bool {
        let names = |class: u32| words(&self.class_names[class as usize]);
        let has_all = |all: u32, few: u32| names(few).all(|name| names(all).any(|one| one == name));
        one == other || (one != 0 && other != 0 && (has_all(one, other) || has_all(other, one)))
    }

    fn bag(&self, node: u32) -> &[u64] {
        let (start, length) = self.bags[node as usize];
        &self.parts[start as usize..(start + length) as usize]
    }

    /// Make the bag of a node, if it has none yet.
    fn measure(&mut self, node: u32) {
        if self.bags[node as usize].0 != NONE {
            return;
        }
        let start = self.parts.len();
        if self.outline.elements[node as usize] {
            self.gather(node);
        }
        let found = &mut self.parts[start..];
        found.sort_unstable();
        let mut kept = 0;
        let mut total = 0;
        let mut at = 0;
        while at < found.len() {
            let part = found[at];
            let same = found[at..]
                .iter()
                .take_while(|&&other| other == part)
                .count();
            let count = MOST.min(same as u64);
            found[kept] = part | count;
            kept += 1;
            total += count as u32;
            at += same;
        }
        self.parts.truncate(start + kept);
        self.bags[node as usize] = (start as u32, kept as u32);
        self.totals[node as usize] = total;
    }

    /// Collect the parts of a node's shape, without counts.
    fn gather(&mut self, node: u32) {
        let derived = self.page.derived();
        let (top, end) = (
            derived.depth[node as usize],
            self.outline.end[node as usize],
        );
        let mut path = [0u64; LEVELS];
        let mut at = node as usize;
        while at < end as usize {
            let level = (derived.depth[at] - top) as usize;
            let above = if level == 0 { 0 } else { path[level - 1] };
            path[level] = mixed(above ^ u64::from(self.tags[at] + 1));
            if self.outline.elements[at] || self.outline.leaves[at] {
                self.parts.push(path[level] & !COUNT);
                let class = self.classes[at];
                if class > 0 && level < CLASS_LEVELS {
                    let label = (u64::from(class) << 32) | u64::from(self.tags[at]);
                    let labelled = mixed(label).wrapping_add(level as u64 + 1);
                    self.parts.push(mixed(labelled) & !COUNT);
                }
            }
            at = if level + 1 == LEVELS {
                self.outline.end[at] as usize
            } else {
                at + 1
            };
        }
    }
}

/// A hash of a number: equal numbers have equal hashes, others hardly ever.
fn mixed(number: u64) -> u64 {
    let mut x = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// The sum of the smaller counts of two bags; the first one is not longer.
fn shared(short: &[u64], long: &[u64]) -> u32 {
    let mut found = 0;
    if short.len() * MUCH_LARGER < long.len() {
        for &part in short {
            let at = long.partition_point(|&other| (other | COUNT) < (part | COUNT));
            if let Some(&other) = long.get(at)
                && other | COUNT == part | COUNT
            {
                found += (part & COUNT).min(other & COUNT);
            }
        }
        return found as u32;
    }
    let (mut i, mut j) = (0, 0);
    while i < short.len() && j < long.len() {
        let (here, there) = (short[i] | COUNT, long[j] | COUNT);
        if here == there {
            found += (short[i] & COUNT).min(long[j] & COUNT);
        }
        i += usize::from(here <= there);
        j += usize::from(there <= here);
    }
    found as u32
}

/// The mean of some numbers, added in the order in which numpy adds them, so that both give the
/// same number to the last bit.
fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    pairwise(values) / values.len() as f64
}

fn pairwise(values: &[f64]) -> f64 {
    const LANES: usize = 8;
    const BLOCK: usize = 128;
    let n = values.len();
    if n < LANES {
        return values.iter().fold(0.0, |sum, value| sum + value);
    }
    if n > BLOCK {
        let half = n / 2 - (n / 2) % LANES;
        return pairwise(&values[..half]) + pairwise(&values[half..]);
    }
    let mut lanes = [0.0; LANES];
    lanes.copy_from_slice(&values[..LANES]);
    let (blocks, rest) = values[LANES..].as_chunks::<LANES>();
    for block in blocks {
        for (lane, value) in lanes.iter_mut().zip(block) {
            *lane += value;
        }
    }
    let half = |from: usize| (lanes[from] + lanes[from + 1]) + (lanes[from + 2] + lanes[from + 3]);
    let sum = half(0) + half(LANES / 2);
    rest.iter().fold(sum, |sum, value| sum + value)
}

/// A class attribute as it is compared, without parts that only tell neighbours apart.
///
/// Rows are `odd` and `even`, and items are numbered, although they are of one kind. Names with
/// digits count if there are no others, as in `col-4`.
fn class_name(written: &str) -> String {
    let mut names: Vec<&str> = words(written).collect();
    if names.iter().any(|name| !has_digit(name)) {
        names.retain(|name| !has_digit(name));
    }
    let mut found = String::with_capacity(written.len());
    for name in names {
        let kept = without_odd(name);
        if !found.is_empty() && !kept.is_empty() {
            found.push(' ');
        }
        found.push_str(&kept);
    }
    found
}

/// A name without `odd` and `even`, if they are whole words of it: `odd-row`, `row_even`, but not
/// `oddity`. One of the hyphens around the word goes with it.
fn without_odd(name: &str) -> String {
    let bytes = name.as_bytes();
    let is_hyphen = |at: usize| matches!(bytes.get(at), Some(b'-' | b'_'));
    let word = |at: usize| {
        let rest = bytes.get(at..).unwrap_or_default();
        let found: Option<&[u8]> = [b"odd".as_slice(), b"even".as_slice()]
            .into_iter()
            .find(|word| rest.starts_with(word));
        found.map(<[u8]>::len)
    };
    let mut kept = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let from = at + usize::from(is_hyphen(at));
        if (at == 0 || is_hyphen(at)) && word(from).is_some_and(|long| from + long == bytes.len()) {
            break;
        }
        if (at == 0 || is_hyphen(at - 1))
            && let Some(long) = word(at)
            && is_hyphen(at + long)
        {
            at += long + 1;
            continue;
        }
        kept.push(bytes[at]);
        at += 1;
    }
    String::from_utf8(kept).unwrap_or_default()
}

/// A number for the class attribute of each element; equal classes have equal numbers.
///
/// Numbers are in the order of the attribute runs of the page. Also the class of each number.
fn classes(page: &Digest, outline: &Outline) -> (Vec<u32>, Vec<String>) {
    let runs = &page.wide().attr;
    let mut first = vec![NONE; page.attr_count()];
    for node in 0..outline.n() {
        if outline.elements[node] && runs[node] >= 0 && first[runs[node] as usize] == NONE {
            first[runs[node] as usize] = node as u32;
        }
    }
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let of_run: Vec<u32> = (first.into_iter())
        .map(|node| {
            if node == NONE {
                return 0;
            }
            let class = attribute(page, node as usize, "class").unwrap_or_default();
            let class = class_name(&class);
            if class.is_empty() {
                return 0;
            }
            let next = numbers.len() as u32 + 1;
            *numbers.entry(class).or_insert(next)
        })
        .collect();
    let mut names = vec![String::new(); numbers.len() + 1];
    for (name, number) in numbers {
        names[number as usize] = name;
    }
    let found = (0..outline.n())
        .map(|node| match runs[node] {
            run if run >= 0 && outline.elements[node] => of_run[run as usize],
            _ => 0,
        })
        .collect();
    (found, names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};
    use crate::select::{CssSelector, Limits, View};

    fn alike(source: &str, one: usize, other: usize) -> f64 {
        let page = encode(source.as_bytes(), &Options::default()).unwrap();
        let outline = Outline::of(&page);
        let items = (CssSelector::parse("li").unwrap())
            .select(&View::new(&page), 0, Limits::default())
            .unwrap();
        Shapes::new(&page, &outline).likeness(items[one], items[other])
    }

    #[test]
    fn equal_subtrees_are_alike_and_others_less_so() {
        let source = "<ul><li class=a><b>x</b><li class=a><b>y</b><li><i>z</i></ul>";

        assert!((alike(source, 0, 1) - 1.0).abs() < f64::EPSILON);
        // Of `li`, `li.a`, `li > b`, `li > b > #text` and `li > i`, `li > i > #text`, one is shared.
        assert!((alike(source, 0, 2) - 1.0 / 6.0).abs() < f64::EPSILON);
    }

    #[test]
    fn words_for_every_second_row_and_numbers_do_not_count() {
        for (written, expected) in [
            ("row even-row item-3", "row row"),
            ("row odd-row item-4", "row row"),
            ("col-4", "col-4"),
            ("odd", ""),
            ("row_even oddity x-odd-even", "row oddity x-even"),
            ("a-odd-b -even odd-", "a-b"),
        ] {
            assert_eq!(class_name(written), expected, "{written}");
        }
    }

    #[test]
    fn bags_of_very_different_sizes_are_compared_as_others_are() {
        let parts: Vec<u64> = (1..200).map(|n| (n << 2) | 1).collect();
        let few = [(5 << 2) | 2, (150 << 2) | 3, (300 << 2) | 1];

        assert_eq!(shared(&few, &parts), 2);
        assert_eq!(shared(&few, &parts[..20]), 1);
    }

    #[test]
    fn long_sums_are_added_in_blocks() {
        let values: Vec<f64> = (0..1000).map(|n| f64::from(n % 7) / 8.0).collect();
        let expected: f64 = values.iter().sum::<f64>() / 1000.0;

        assert!((mean(&values) - expected).abs() < 1e-12);
        assert!(mean(&[]).abs() < f64::EPSILON);
    }
}
