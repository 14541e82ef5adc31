//! The structure of two pages compared at once, without a bag for either.
//!
//! A page that is compared for the first time has no bag yet, and making two takes several times
//! longer than this. Here both pages share one list of tag names, so that a tag is a byte and four
//! tags in a row are a number of 32 bits: exact, without hashing.
//!
//! * Windows in a common start or end are in both pages. Leaving them out of both changes neither
//!   what they share nor what else they have. Pages of one template have much of both.
//! * The remaining windows of one page are counted in a small table, and those of the other page
//!   are taken from it. Pages can be crafted so that windows fall into the same slot, so the table
//!   gives up after a few steps per window.
//!
//! If this does not apply (too many names, a short page, a table that gave up), the answer is
//! `None`, and bags do the work.

use super::bag::Overlap;
use super::features::{TAGS, is_element};
use crate::base::common_ends::{common_end, common_start};
use crate::digest::Digest;
use crate::digest::format::Section;

/// A byte for each name; 0 stands for nodes that are not elements.
const MAX_NAMES: usize = 255;
/// Slots for names: twice their number, so that few share one.
const NAME_SLOTS: usize = 512;
/// Slots for each window of the page that is counted. A third of the windows are different, so that
/// most slots are empty.
const SLOTS_PER_WINDOW: usize = 4;
/// Average number of further slots read per window before the table gives up.
const STEPS: usize = 8;
/// Elements behind the one that a window begins with.
const REACH: usize = TAGS - 1;
/// Odd, without a pattern: the fraction of the golden ratio.
const K: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number of each tag of a page: that of its name, or 0 if it is not the tag of an element.
type Numbers = [u8; MAX_NAMES + 1];

/// Count the windows of four tags that two pages share, each as often as both have it.
pub(super) fn overlap(one: &Digest, other: &Digest) -> Option<Overlap> {
    let (tags, other_tags) = (tags(one)?, tags(other)?);
    let mut names = Names::new();
    let numbers = names.of_tags(one)?;
    let alike = tags_alike(one, other);
    let all_alike = alike == one.tag_count() && alike == other.tag_count();
    let other_numbers = if all_alike {
        numbers
    } else {
        names.of_tags(other)?
    };
    // First by nodes, which takes the least time, as far as equal tags are equal bytes.
    let (mut start, mut end) = (common_start(tags, other_tags), 0);
    if all_alike {
        end = common_end(&tags[start..], &other_tags[start..]);
    } else {
        let unknown = (tags[..start].iter()).position(|&tag| usize::from(tag) >= alike);
        start = unknown.unwrap_or(start);
    }
    let start = before_last(&tags[..start], &numbers);
    let end = behind_first(&tags[tags.len() - end..], &numbers);
    let (first, tags) = tags.split_at(start);
    let (tags, last) = tags.split_at(tags.len() - end);
    let mut shared = count_elements(first, &numbers) + count_elements(last, &numbers);
    let sequence = elements(tags, &numbers);
    let other_sequence = elements(&other_tags[start..other_tags.len() - end], &other_numbers);
    // Both have windows, not a shorter sequence that is one feature.
    if shared + sequence.len().min(other_sequence.len()) <= REACH {
        return None;
    }
    let all = 2 * shared + sequence.len() + other_sequence.len() - 2 * REACH;
    // Then by elements: where only texts and comments differ, these are equal.
    let start = common_start(&sequence, &other_sequence).saturating_sub(REACH);
    let end = common_end(&sequence[start..], &other_sequence[start..]).saturating_sub(REACH);
    shared += start + end;
    shared += shared_windows(
        &sequence[start..sequence.len() - end],
        &other_sequence[start..other_sequence.len() - end],
    )?;
    Some(Overlap {
        shared: shared as u64,
        all: (all - shared) as u64,
    })
}

/// Return the tag of each node; `None` if there are more tags than a byte can hold.
fn tags(page: &Digest) -> Option<&[u8]> {
    let tags = page.section(Section::Tag);
    (tags.len() == page.n() && page.tag_count() <= MAX_NAMES).then_some(tags)
}

/// Count the first tags of two pages that are the same on both.
fn tags_alike(one: &Digest, other: &Digest) -> usize {
    let pages = [one, other];
    let [info, other_info] = pages.map(|page| page.section(Section::TagInfo));
    let [lengths, other_lengths] = pages.map(|page| page.ints(Section::TagLengths));
    let [heap, other_heap] = pages.map(|page| page.section(Section::TagHeap));
    let bytes = common_start(heap, other_heap);
    let mut end = 0;
    // A tag has three bytes of properties and three strings.
    (0..common_start(info, other_info) / 3)
        .take_while(|tag| {
            (3 * tag..3 * tag + 3).all(|at| {
                end += lengths.get(at) as usize;
                lengths.get(at) == other_lengths.get(at)
            }) && end <= bytes
        })
        .count()
}

/// Tag names of both pages, each with a number from 1.
struct Names<'a> {
    found: Vec<&'a [u8]>,
    slots: [u8; NAME_SLOTS],
}

impl<'a> Names<'a> {
    fn new() -> Self {
        Self {
            found: Vec::with_capacity(64),
            slots: [0; NAME_SLOTS],
        }
    }

    /// Return the numbers of the tags of a page; `None` if there are too many names.
    fn of_tags(&mut self, page: &'a Digest) -> Option<Numbers> {
        let mut numbers = [0; MAX_NAMES + 1];
        let lengths = page.ints(Section::TagLengths);
        let heap = page.section(Section::TagHeap);
        let mut start = 0;
        for (tag, number) in numbers.iter_mut().enumerate().take(page.tag_count()) {
            let [name, first, last] = [0, 1, 2].map(|at| lengths.get(3 * tag + at) as usize);
            if is_element(page.tag_info(tag).class) {
                *number = self.number(heap.get(start..start + name)?)?;
            }
            start += name + first + last; // the spellings of its start and end tags
        }
        Some(numbers)
    }

    /// Return the number of a name; `None` if there are too many.
    fn number(&mut self, name: &'a [u8]) -> Option<u8> {
        let signs = match name {
            [] => [0; 4],
            [first, ..] => [
                *first,
                name[name.len() - 1],
                name[name.len() / 2],
                name.len() as u8,
            ],
        };
        let mix = u64::from(u32::from_le_bytes(signs)).wrapping_mul(K);
        let mut at = (mix >> (64 - NAME_SLOTS.ilog2())) as usize;
        loop {
            match self.slots[at] {
                0 if self.found.len() == MAX_NAMES => return None,
                0 => {
                    self.found.push(name);
                    self.slots[at] = self.found.len() as u8;
                    return Some(self.slots[at]);
                }
                number if self.found[usize::from(number) - 1] == name => return Some(number),
                _ => at = (at + 1) % NAME_SLOTS,
            }
        }
    }
}

/// Return how many of some nodes come before the last elements that windows reach into; 0 if there
/// are too few.
fn before_last(tags: &[u8], numbers: &Numbers) -> usize {
    (tags.iter().enumerate().rev())
        .filter(|&(_, &tag)| numbers[usize::from(tag)] != 0)
        .nth(REACH - 1)
        .map_or(0, |(at, _)| at)
}

/// Return how many of some nodes come behind the first elements that reach into them.
fn behind_first(tags: &[u8], numbers: &Numbers) -> usize {
    (tags.iter().enumerate())
        .filter(|&(_, &tag)| numbers[usize::from(tag)] != 0)
        .nth(REACH - 1)
        .map_or(0, |(at, _)| tags.len() - at - 1)
}

fn count_elements(tags: &[u8], numbers: &Numbers) -> usize {
    (tags.iter())
        .map(|&tag| usize::from(numbers[usize::from(tag)] != 0))
        .sum()
}

/// Nodes written before the length of a sequence is looked at.
const BLOCK: usize = 8;
/// Room for a block. The compiler proves that an index that grew by 0 or 1 for each of eight nodes
/// fits in eight bits, so that nothing is checked for each node.
const ROOM: usize = 1 << BLOCK;

/// Return the numbers of the names of all elements, in order.
fn elements(tags: &[u8], numbers: &Numbers) -> Vec<u8> {
    let mut sequence = vec![0; tags.len() + ROOM];
    let mut end = 0;
    // Every second node is a text, and no processor can predict which: write all of them, and
    // advance only for elements.
    let (blocks, rest) = tags.as_chunks::<BLOCK>();
    for block in blocks {
        let Some(found) = sequence[end..].first_chunk_mut::<ROOM>() else {
            break; // never: there is room behind the last node
        };
        let mut length = 0;
        for &tag in block {
            let number = numbers[usize::from(tag)];
            found[length] = number;
            length += usize::from(number != 0);
        }
        end += length;
    }
    for &tag in rest {
        let number = numbers[usize::from(tag)];
        sequence[end] = number;
        end += usize::from(number != 0);
    }
    sequence.truncate(end);
    sequence
}

/// Return the windows of a sequence as numbers. None is 0, since no name is.
fn windows(sequence: &[u8]) -> impl Iterator<Item = u32> {
    (sequence.windows(TAGS).filter_map(<[u8]>::first_chunk))
        .map(|&window| u32::from_le_bytes(window))
}

/// Count the windows that two sequences share; `None` if that takes too long.
fn shared_windows(one: &[u8], other: &[u8]) -> Option<usize> {
    let (fewer, more) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    if fewer.len() < TAGS {
        return Some(0);
    }
    let bits = (SLOTS_PER_WINDOW * fewer.len()).next_power_of_two().ilog2();
    // A window in the upper half of a slot, its count in the lower half.
    let mut table = vec![0u64; 1 << bits];
    let mask = table.len() - 1;
    let mut left = STEPS * (fewer.len() + more.len());
    let mut find = |table: &[u64], window: u32| {
        let mut at = (u64::from(window).wrapping_mul(K) >> (64 - bits)) as usize;
        loop {
            let slot = table[at & mask];
            let known = slot >> 32;
            // 0 if the slot is free or has this window. A product, so that there is one branch:
            // whether a window is new is unpredictable, but slots rarely collide.
            if known * (known ^ u64::from(window)) == 0 {
                return Some((at & mask, slot));
            }
            left = left.checked_sub(1)?;
            at += 1;
        }
    };
    for window in windows(fewer) {
        let (at, slot) = find(&table, window)?;
        table[at] = (u64::from(window) << 32) | u64::from(slot as u32 + 1);
    }
    let mut shared = 0;
    for window in windows(more) {
        let (at, slot) = find(&table, window)?;
        let is_left = u64::from(slot as u32 != 0);
        table[at] = slot - is_left;
        shared += is_left as usize;
    }
    Some(shared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};
    use crate::page::kind::Kind;
    use crate::similarity::{Bag, Measure, Scope};

    fn page(source: &str, kind: Kind) -> Digest {
        let options = Options {
            kind: Some(kind),
            ..Options::default()
        };
        encode(source.as_bytes(), &options).unwrap()
    }

    fn by_bags(one: &Digest, other: &Digest) -> Overlap {
        let bag = |page: &Digest| Bag::of(page, Measure::Structure, &Scope::whole(page)).unwrap();
        bag(one).overlap(&bag(other), true)
    }

    // Differences at either end, in the middle, in texts only, in the order of first use of tags,
    // and repeats that the common start and end could both claim.
    #[test]
    fn the_overlap_is_that_of_bags() {
        let sources: Vec<String> = [
            "",
            "<p>",
            "<p>a<p>b<p>c",
            "<p>a<p>b<p>c<p>d<p>e<p>f",
            "<p>a<p>b<p>c<p>d<p>e<p>f<p>g<p>h<p>i",
            "<p><b></b>a<p>b<p>c<p>d<p>e<p>f",
            "<p>a<p>b<p>c<p>d<p>e<p><b>f</b>",
            "<p>a<p>b<i>x</i><p>c<p>d<b></b><p>e<p>f",
            "<p>a<p>b<b>x</b><p>c<p>d<i></i><p>e<p>f",
            "<!-- c --><p>a<!-- c --><p>b<p>c<p>d<p>e<p>f<!-- c -->",
            "<table><tr><td>1<td>2<tr><td>3<td>4</table><ul><li>x<li>y</ul>",
            "<ul><li>x<li>y</ul><table><tr><td>1<td>2<tr><td>3<td>4</table>",
            "<svg><a></a><title></title></svg><a></a><title></title><DIV></DIV><div></div>",
        ]
        .iter()
        .flat_map(|&source| {
            let long = source.repeat(7);
            [source.to_owned(), format!("<div>{long}</div>{source}")]
        })
        .collect();
        let pages: Vec<Digest> = sources
            .iter()
            .map(|source| page(source, Kind::Html))
            .collect();
        let mut answered = 0;
        for (one, source) in pages.iter().zip(&sources) {
            for (other, other_source) in pages.iter().zip(&sources) {
                if let Some(found) = overlap(one, other) {
                    answered += 1;
                    assert_eq!(found, by_bags(one, other), "{source} {other_source}");
                }
            }
        }
        assert!(answered > pages.len() * pages.len() / 2);
    }

    #[test]
    fn where_bytes_do_not_suffice_there_is_no_answer() {
        let many: Vec<String> = (0..300).map(|name| format!("<n{name}/>")).collect();
        let many = page(&format!("<a>{}</a>", many.concat()), Kind::Xml);
        let few = page("<a><b/><b/><b/><b/></a>", Kind::Xml);
        assert_eq!(overlap(&many, &few), None);
        assert_eq!(overlap(&few, &many), None);
        let short = page("<a><b/></a>", Kind::Xml);
        assert_eq!(overlap(&short, &few), None);
        // Not too many names on either, but on both together.
        let half = |from: usize| {
            let names: Vec<String> = (from..from + 200)
                .map(|name| format!("<n{name}/>"))
                .collect();
            page(&format!("<a>{}</a>", names.concat()), Kind::Xml)
        };
        assert_eq!(overlap(&half(0), &half(200)), None);
        assert!(overlap(&half(0), &half(0)).is_some());
    }

    #[test]
    fn windows_that_fall_into_one_slot_end_the_count() {
        let spread: Vec<u8> = (0..1000u32)
            .map(|at| 1 + (at.wrapping_mul(2_654_435_761) >> 24) as u8 % 254)
            .collect();
        let windows = spread.len() - REACH;
        assert_eq!(shared_windows(&spread, &spread), Some(windows));
        // A page of 1,000 elements has 4,096 slots.
        let slot = |window: u32| u64::from(window).wrapping_mul(K) >> (64 - 12);
        let crafted: Vec<u8> = (0..u32::MAX)
            .filter(|&window| slot(window) == 7 && !window.to_le_bytes().contains(&0))
            .take(250)
            .flat_map(u32::to_le_bytes)
            .collect();
        assert_eq!(shared_windows(&crafted, &crafted), None);
    }
}
