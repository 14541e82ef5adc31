//! Strings that two pages have in common at the start and at the end of their lists.
//!
//! Distinct strings are listed in the order of their first use, one after another in one heap. Two
//! versions of a page differ in few of them, so most of both lists is equal as bytes, and reading
//! bytes is many times faster than hashing strings.

use crate::base::common_ends::{CommonEnds, common_end, common_start};
use crate::digest::Digest;
use crate::digest::format::Section;

/// Equal items at the start, and equal items at the end, each counted by itself.
fn both_ends(one: &[u8], other: &[u8]) -> CommonEnds {
    CommonEnds {
        start: common_start(one, other),
        end: common_end(one, other),
    }
}

/// Whether equal bytes are equal strings on two pages.
fn are_read_alike(one: &Digest, other: &Digest) -> bool {
    one.kind() == other.kind() && one.encoding() == other.encoding()
}

/// Contents that two pages have in common.
pub fn common_contents(one: &Digest, other: &Digest) -> CommonEnds {
    if !are_read_alike(one, other) {
        return CommonEnds::default();
    }
    let modes = [one, other].map(|page| page.section(Section::ContentModes));
    let offsets = (one.content_offsets(), other.content_offsets());
    common_strings(one, other, Section::ContentHeap, offsets).and(both_ends(modes[0], modes[1]))
}

/// Attribute runs that two pages have in common.
pub fn common_runs(one: &Digest, other: &Digest) -> CommonEnds {
    if !are_read_alike(one, other) {
        return CommonEnds::default();
    }
    let offsets = (one.attr_offsets(), other.attr_offsets());
    common_strings(one, other, Section::AttrHeap, offsets)
}

fn common_strings(
    one: &Digest,
    other: &Digest,
    heap: Section,
    (starts, others): (&[u32], &[u32]),
) -> CommonEnds {
    let (one, other) = (one.section(heap), other.section(heap));
    // These may overlap, as in equal heaps; the strings do not.
    let bytes = both_ends(one, other);
    // Offsets have one entry more than there are strings: the end of the last.
    let start = common_start(starts, others);
    let start = starts[..start].partition_point(|&at| at as usize <= bytes.start);
    let start = start.saturating_sub(1);
    let most = starts.len().min(others.len()) - 1 - start;
    let end = (starts.iter().rev().zip(others.iter().rev()))
        .skip(1)
        .take(most)
        .take_while(|&(&at, &at_other)| {
            let length = one.len() - at as usize;
            length == other.len() - at_other as usize && length <= bytes.end
        })
        .count();
    CommonEnds { start, end }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};

    fn page(source: &str) -> Digest {
        encode(source.as_bytes(), &Options::default()).expect("HTML is never refused")
    }

    #[test]
    fn strings_are_equal_only_as_a_whole() {
        // The heaps start and end alike, the strings do not.
        let one = page("<p>ab<p>c<p>def<p>g");
        let other = page("<p>ab<p>cd<p>ef<p>g");
        let expected = CommonEnds { start: 1, end: 1 };
        assert_eq!(common_contents(&one, &other), expected);
        let all = common_contents(&one, &one);
        assert_eq!(all.start + all.end, one.content_count());
    }

    #[test]
    fn runs_are_found_at_both_ends() {
        let one = page("<p a=1><p b=1><p c=1>");
        let other = page("<p a=1><p x=1><p y=2><p c=1>");
        assert_eq!(common_runs(&one, &other), CommonEnds { start: 1, end: 1 });
    }

    #[test]
    fn strings_of_other_kinds_of_pages_are_read_in_other_ways() {
        let html = page("<p>a</p>");
        let xml = page("<?xml version='1.0'?><p>a</p>");
        assert_eq!(common_contents(&html, &xml), CommonEnds::default());
    }
}
