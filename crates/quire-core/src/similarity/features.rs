//! Features: a page as hashes of its small parts.
//!
//! Elements are markup elements and their equivalents in other kinds of pages (objects, arrays and
//! members of JSON, paragraphs of a text). Content of a `template` is included. A tag is identified
//! by its name, so a template served as HTML on one page and as XML on another is one template.
//!
//! | measure | feature |
//! | --- | --- |
//! | structure | the tags of four elements in a row, in document order |
//! | structure+class | the last three steps of an element's path, each a tag with its set of classes |
//! | content | five words in a row, of the text in reading order ([`crate::text::text`]) |
//! | paths | the tags from the root to an element |
//! | tokens | three tokens in a row: start of an element, its end unless it is empty, a text without the white space around it |
//!
//! A sequence shorter than its window is one feature; an empty one has none.
//!
//! The hashes are part of the stored form of sketches, so they must never change.

use super::scope::Scope;
use super::{Measure, words};
use crate::base::error::Error;
use crate::base::hash::hash64_seeded;
use crate::digest::Digest;
use crate::page::kind::Kind;
use crate::page::tree::NONE;
use crate::page::vocabulary::Class;
use crate::values;
use crate::values::{Syntax, attribute_syntax};

/// Elements in a feature of `structure`.
pub const TAGS: usize = 4;
/// Words in a feature of `content`.
pub const WORDS: usize = 5;
/// Tokens in a feature of `tokens`.
pub const TOKENS: usize = 3;
/// Steps in a feature of `structure+class`.
pub const STEPS: usize = 3;

/// Stands for "none": above the root, or without classes.
const NOTHING: u64 = 0;
// Seeds, so that a text never has the hash of a tag with the same letters.
const TAG: u64 = 0x7461_6773;
const WORD: u64 = 0x776f_7264;
const TEXT: u64 = 0x7465_7874;
const CLASS: u64 = 0x636c_6173;

/// Odd, without a pattern: the fraction of the golden ratio.
const K: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mix the bits of a sum of hashes.
#[inline]
pub(super) fn mix(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(K);
    let hash = (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash ^ (hash >> 32)
}

/// Combine consecutive hashes into one: a polynomial of them. They are evenly distributed, so the
/// result is too.
#[inline]
fn joined(hashes: &[u64]) -> u64 {
    (hashes.iter()).fold(hashes.len() as u64, |sum, &hash| {
        sum.wrapping_mul(K).wrapping_add(hash)
    })
}

/// Whether nodes of this class count as elements.
pub(super) fn is_element(class: Class) -> bool {
    matches!(
        class,
        Class::Element | Class::Object | Class::Array | Class::Member | Class::Paragraph
    )
}

/// Return the features of a page, in order of occurrence, with repeats.
pub fn hashes(page: &Digest, measure: Measure, scope: &Scope) -> Result<Vec<u64>, Error> {
    let mut found = Vec::with_capacity(page.n() / 2);
    each(page, measure, scope, |hash, _| found.push(hash))?;
    Ok(found)
}

/// Call `feature` with each feature and its witness, from which [`explain`](mod@super::explain)
/// derives a description: the node whose path it is, or the number of the first item of the
/// sequence, counted over all parts.
pub fn each(
    page: &Digest,
    measure: Measure,
    scope: &Scope,
    mut feature: impl FnMut(u64, u32),
) -> Result<(), Error> {
    if measure.reads_strings() {
        page.check_heaps()?;
    }
    match measure {
        Measure::Structure => structure(page, scope, feature),
        Measure::StructureClass => steps(page, scope, feature),
        Measure::Content => content(page, scope, feature),
        Measure::Paths | Measure::PathsCounts => paths(page, scope, feature),
        Measure::Tokens => tokens(page, scope, |sequence, first| {
            shingles::<TOKENS>(sequence, first, &mut feature);
        }),
    }
    Ok(())
}

/// Return the hash of each tag of a page; [`NOTHING`] for tags that are not elements.
fn tag_hashes(page: &Digest) -> Vec<u64> {
    (0..page.tag_count())
        .map(|tag| {
            if !is_element(page.tag_info(tag).class) {
                return NOTHING;
            }
            hash64_seeded(page.tag_name(tag).as_bytes(), TAG).max(1)
        })
        .collect()
}

/// Return every `WIDTH` consecutive items; all items together if there are fewer.
fn shingles<const WIDTH: usize>(sequence: &[u64], first: u32, mut feature: impl FnMut(u64, u32)) {
    if sequence.is_empty() {
        return;
    }
    if sequence.len() < WIDTH {
        feature(joined(sequence), first);
    }
    let windows = sequence.windows(WIDTH).filter_map(<[u64]>::first_chunk);
    for (at, window) in windows.enumerate() {
        let window: &[u64; WIDTH] = window;
        feature(joined(window), first + at as u32);
    }
}

fn structure(page: &Digest, scope: &Scope, mut feature: impl FnMut(u64, u32)) {
    let tags = tag_hashes(page);
    let tag = page.tag().to_vec();
    let mut sequence = vec![NOTHING; page.n()];
    let mut first = 0;
    for part in scope.parts() {
        // Every second node is a text, and no processor can predict which: write all of them, and
        // advance only for elements.
        let mut length = 0;
        for &tag in &tag[part] {
            let hash = tags[tag as usize];
            sequence[length] = hash;
            length += usize::from(hash != NOTHING);
        }
        shingles::<TAGS>(&sequence[..length], first, &mut feature);
        first += length as u32;
    }
}

fn content(page: &Digest, scope: &Scope, mut feature: impl FnMut(u64, u32)) {
    let reader = crate::text::Reader::new(page);
    let mut sequence = Vec::new();
    let mut first = 0;
    for part in scope.parts() {
        sequence.clear();
        words::each(&reader.text(part.start), |word| {
            sequence.push(hash64_seeded(word.as_bytes(), WORD));
        });
        shingles::<WORDS>(&sequence, first, &mut feature);
        first += sequence.len() as u32;
    }
}

/// Walk the parts from the top down. `own` combines an element with the value of its parent; nodes
/// that are not elements pass on the value from above.
fn descend<Above: Copy>(
    page: &Digest,
    scope: &Scope,
    top: Above,
    mut below: impl FnMut(Above, usize) -> Option<Above>,
) {
    let parents = &page.derived().parent;
    let mut known = vec![top; page.n()];
    for part in scope.parts() {
        let root = part.start;
        for node in part {
            let above = match parents[node] {
                NONE => top,
                _ if node == root => top,
                parent => known[parent as usize],
            };
            known[node] = below(above, node).unwrap_or(above);
        }
    }
}

fn paths(page: &Digest, scope: &Scope, mut feature: impl FnMut(u64, u32)) {
    let tags = tag_hashes(page);
    let tag = &page.wide().tag;
    descend(page, scope, NOTHING, |above, node| {
        let own = tags[tag[node] as usize];
        (own != NOTHING).then(|| {
            let path = joined(&[above, own]);
            feature(path, node as u32);
            path
        })
    });
}

fn steps(page: &Digest, scope: &Scope, mut feature: impl FnMut(u64, u32)) {
    let tags = tag_hashes(page);
    let wide = page.wide();
    let mut classes = Classes::new(page);
    descend(page, scope, [NOTHING; STEPS - 1], |above, node| {
        let own = tags[wide.tag[node] as usize];
        (own != NOTHING).then(|| {
            let step = mix(own.wrapping_add(classes.of(node)));
            feature(joined(&[above[0], above[1], step]), node as u32);
            [above[1], step]
        })
    });
}

/// The classes of elements as hashes; each attribute run is parsed once.
struct Classes<'a> {
    page: &'a Digest,
    known: Vec<Option<u64>>,
}

impl<'a> Classes<'a> {
    fn new(page: &'a Digest) -> Self {
        let runs = if matches!(page.kind(), Kind::Html | Kind::Xml | Kind::Tree) {
            page.attr_count()
        } else {
            0
        };
        Self {
            page,
            known: vec![None; runs],
        }
    }

    fn of(&mut self, node: usize) -> u64 {
        let wide = self.page.wide();
        let run = usize::try_from(wide.attr[node]).ok();
        let Some(known) = run.and_then(|run| self.known.get_mut(run)) else {
            return NOTHING;
        };
        *known.get_or_insert_with(|| {
            let tag = wide.tag[node] as usize;
            let syntax = attribute_syntax(self.page.kind(), self.page.tag_info(tag).namespace);
            let run = self.page.attr_run(wide.attr[node] as usize);
            class_set(&class_value(self.page, run, syntax))
        })
    }
}

/// Return the value of the attribute `class` in a run; empty if there is none.
pub(super) fn class_value(page: &Digest, run: &[u8], syntax: Syntax) -> String {
    let is_class = |name: &[u8]| match syntax {
        Syntax::Html(_) => name.eq_ignore_ascii_case(b"class"),
        Syntax::Xml => name == b"class",
    };
    (values::attribute_spans(run))
        .find(|(name, _)| is_class(&run[name.clone()]))
        .and_then(|(_, value)| value)
        .map_or_else(String::new, |value| {
            values::attribute_value(&run[value], syntax, page.encoding()).into_owned()
        })
}

/// Hash a set of classes: order and repeats do not matter.
fn class_set(value: &str) -> u64 {
    let mut classes: Vec<u64> = (value.split_ascii_whitespace())
        .map(|class| hash64_seeded(class.as_bytes(), CLASS))
        .collect();
    if classes.is_empty() {
        return NOTHING;
    }
    classes.sort_unstable();
    classes.dedup();
    joined(&classes)
}

/// An item of the sequence of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Start(usize),
    End(usize),
    Text(usize),
}

/// Call back with the tokens of a part in the order of the source. Texts are included whatever they
/// contain.
pub(super) fn each_token(
    page: &Digest,
    part: std::ops::Range<usize>,
    mut token: impl FnMut(Token),
) {
    let tag = &page.wide().tag;
    let sizes = &page.derived().size;
    let mut open: Vec<(usize, usize)> = Vec::new(); // open elements and where they end
    let end = part.end;
    for node in part {
        while let Some(&(until, element)) = open.last()
            && until <= node
        {
            token(Token::End(element));
            open.pop();
        }
        let class = page.tag_info(tag[node] as usize).class;
        if is_element(class) {
            token(Token::Start(node));
            if sizes[node] > 1 {
                open.push((node + sizes[node] as usize, node));
            }
        } else if class.is_text() {
            token(Token::Text(node));
        }
    }
    for &(until, element) in open.iter().rev() {
        debug_assert!(until <= end);
        token(Token::End(element));
    }
}

/// Return the features of `tokens`, for sequences of any length. Linear, whatever the length.
pub fn each_in_a_row(
    page: &Digest,
    width: usize,
    mut feature: impl FnMut(u64),
) -> Result<(), Error> {
    page.check_heaps()?;
    tokens(page, &Scope::whole(page), |sequence, _| {
        let start = &sequence[..width.min(sequence.len())];
        let mut hash = joined(start);
        if !start.is_empty() {
            feature(hash);
        }
        // Like `joined`, computed from the previous one: its count and its first token are the
        // highest terms.
        let count = (start.len() as u64).wrapping_mul(power(start.len()));
        let first = power(start.len().saturating_sub(1));
        for window in sequence.windows(width.saturating_add(1)) {
            let rest = (hash.wrapping_sub(count)).wrapping_sub(window[0].wrapping_mul(first));
            hash = (rest.wrapping_mul(K))
                .wrapping_add(window[width])
                .wrapping_add(count);
            feature(hash);
        }
    });
    Ok(())
}

/// Return the n-th power of [`K`].
fn power(n: usize) -> u64 {
    (0..n).fold(1, |power: u64, _| power.wrapping_mul(K))
}

/// Call back with the token hashes of each part, and the number of tokens before it.
fn tokens(page: &Digest, scope: &Scope, mut done: impl FnMut(&[u64], u32)) {
    let tags = tag_hashes(page);
    let wide = page.wide();
    let mut texts: Vec<Option<u64>> = vec![None; page.content_count()];
    let mut text = |node: usize| {
        let Ok(id) = usize::try_from(wide.content[node]) else {
            return NOTHING;
        };
        *texts[id].get_or_insert_with(|| match page.content_text(id).trim_ascii() {
            "" => NOTHING,
            text => hash64_seeded(text.as_bytes(), TEXT).max(1),
        })
    };
    let mut sequence = Vec::new();
    let mut first = 0;
    for part in scope.parts() {
        sequence.clear();
        each_token(page, part, |token| {
            let hash = match token {
                Token::Start(node) => tags[wide.tag[node] as usize],
                Token::End(node) => !tags[wide.tag[node] as usize],
                Token::Text(node) => text(node),
            };
            if hash != NOTHING {
                sequence.push(hash);
            }
        });
        done(&sequence, first);
        first += sequence.len() as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};

    fn hashes_of(source: &str, measure: Measure) -> Vec<u64> {
        let page = encode(source.as_bytes(), &Options::default()).unwrap();
        hashes(&page, measure, &Scope::whole(&page)).unwrap()
    }

    #[test]
    fn tokens_in_a_row_are_rolled_to_what_they_are_alone() {
        let source = "<p>one<b>two</b>".repeat(5) + &"<i>three</i>".repeat(5);
        for source in [&source, "<p>one", ""] {
            let page = encode(source.as_bytes(), &Options::default()).unwrap();
            let mut all = Vec::new();
            tokens(&page, &Scope::whole(&page), |sequence, _| {
                all = sequence.to_vec();
            });
            for width in [1, 2, 3, 7, all.len().max(1), all.len() + 1, usize::MAX] {
                let mut found = Vec::new();
                each_in_a_row(&page, width, |hash| found.push(hash)).unwrap();
                let expected: Vec<u64> = match all.len() {
                    0 => Vec::new(),
                    n if n < width => vec![joined(&all)],
                    _ => all.windows(width).map(joined).collect(),
                };
                assert_eq!(found, expected);
            }
        }
    }

    // Sketches are stored, so hashes must be the same in every version.
    #[test]
    fn features_never_change() {
        let page = "<title>Fish</title><p class='b a'>One two three four five<p>six";
        let sums = Measure::ALL.map(|measure| {
            let hashes = hashes_of(page, measure);
            let sum = hashes
                .iter()
                .fold(0, |sum: u64, &hash| sum.wrapping_add(hash));
            (hashes.len(), sum)
        });
        assert_eq!(
            sums,
            [
                (3, 17_780_398_911_327_476_138),
                (6, 4_754_295_464_385_415_173),
                (3, 6_058_121_469_764_110_380),
                (6, 4_769_893_863_517_056_237),
                (6, 4_769_893_863_517_056_237),
                (13, 14_933_847_208_808_292_135),
            ]
        );
    }

    #[test]
    fn order_and_repetition_of_classes_do_not_count() {
        let measure = Measure::StructureClass;
        let usual = hashes_of("<p class='a b'>", measure);
        assert_eq!(hashes_of("<p id=x CLASS='b  a b'>", measure), usual);
        assert_ne!(hashes_of("<p class='a'>", measure), usual);
        assert_eq!(
            hashes_of("<p class=''>", measure),
            hashes_of("<p>", measure)
        );
    }

    #[test]
    fn a_short_page_is_one_feature() {
        assert_eq!(hashes_of("<p>x", Measure::Structure).len(), 1);
        assert_eq!(hashes_of("one two", Measure::Content).len(), 1);
        assert_eq!(hashes_of("", Measure::Content).len(), 0);
    }

    #[test]
    fn deep_pages_and_long_ones_end_soon() {
        let deep = "<b>".repeat(100_000);
        let many = format!("<p class='{}'>", "a b ".repeat(100_000)).repeat(3);
        for measure in Measure::ALL {
            assert!(hashes_of(&deep, measure).len() <= 200_003);
            assert!(hashes_of(&many, measure).len() < 20);
        }
    }
}
