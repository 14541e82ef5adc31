//! Hashes of attribute runs: equal if a reader sees the same attributes.
//!
//! A run is split into attributes. Each gives a hash of its name and value, and these are added up,
//! so their order does not matter. Names and values are hashed as a reader sees them, so the same
//! page in another character set has the same hashes. Nearly all attributes are written
//! ` name="value"`; those are found with one search for each part, and hashed in place. All others
//! go through [`values::attribute_spans`].

use std::ops::Range;

use super::charset::Charset;
use crate::base::short_bytes;
use crate::base::vec_pool::kept;
use crate::page::text_mode::Mode;
use crate::values;
use crate::values::{Syntax, scan};

/// Bytes after a run that may be read along with it: the most that [`scan`] and [`short_bytes`]
/// read in one step.
const AHEAD: usize = 64;

/// Mix the bits of a hash before hashes are added, so that sums do not cancel.
#[inline]
fn mix(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}

/// Hashes of a run, and of its attributes that refer to something; 0 if absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunHashes {
    /// All attributes, in any order.
    pub all: u64,
    /// `href`, `action` and similar.
    pub link: u64,
    /// `src`.
    pub source: u64,
    /// `srcset`, `poster`.
    pub image: u64,
}

kept!(RunHashes);

impl RunHashes {
    #[inline]
    fn add(&mut self, name_hash: u64, value_hash: u64) {
        let pair = mix(name_hash.wrapping_add(value_hash.rotate_left(23)));
        self.all = self.all.wrapping_add(pair);
        match NAME_HASHES.iter().position(|&known| known == name_hash) {
            Some(0..=2) => self.link = self.link.wrapping_add(pair),
            Some(3) => self.source = pair,
            Some(_) => self.image = self.image.wrapping_add(pair),
            None => {}
        }
    }
}

/// How the attributes of a run are read.
#[derive(Clone, Copy)]
pub struct Reading {
    /// The syntax of the run.
    pub syntax: Syntax,
    /// Its character set.
    pub charset: Charset,
    /// Whether all values are known to need no decoding.
    pub plain: bool,
}

impl Reading {
    /// Hash a value as a reader sees it.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for every attribute
    fn hash_value(self, text: &[u8], value: Range<usize>, decoded: &mut Vec<u8>) -> u64 {
        if self.plain || self.is_plain_html(&text[value.clone()]) {
            return short_bytes::hash(text, value.start, value.end);
        }
        self.hash_cooked(&text[value], decoded)
    }

    /// Whether an HTML value needs no decoding. A run with one `&` has many values without one.
    #[inline]
    fn is_plain_html(self, value: &[u8]) -> bool {
        self.charset.valid_utf8
            && matches!(self.syntax, Syntax::Html(_))
            && scan::find_special(value, 0) == value.len()
    }

    /// The hash of a name as a reader sees it.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for every attribute
    fn hash_name(self, text: &[u8], name: Range<usize>) -> u64 {
        let fold = matches!(self.syntax, Syntax::Html(_));
        if self.plain || self.charset.name_reads_as_written(&text[name.clone()]) {
            return hash_name_at(&text[name.start..], name.len(), fold);
        }
        let name = values::attribute_name(&text[name], self.syntax, self.charset.encoding);
        hash_name(name.as_bytes(), fold)
    }

    #[cold]
    fn hash_cooked(self, value: &[u8], decoded: &mut Vec<u8>) -> u64 {
        if self.charset.valid_utf8 && matches!(self.syntax, Syntax::Html(_)) {
            decoded.clear();
            values::append_attribute_value(value, decoded);
            return short_bytes::hash_of(decoded);
        }
        if self.charset.reads_as_written(value, self.syntax) {
            short_bytes::hash_of(value)
        } else {
            let decoded = values::attribute_value(value, self.syntax, self.charset.encoding);
            short_bytes::hash_of(decoded.as_bytes())
        }
    }
}

impl Charset {
    /// Whether attribute values need no decoding. May return false for some that need none.
    pub fn reads_as_written(self, values: &[u8], syntax: Syntax) -> bool {
        self.is_plain(values, Mode::Data) && has_no_line_ends(values, syntax)
    }

    /// Whether the name of an attribute reads as it is written, but for its case.
    fn name_reads_as_written(self, name: &[u8]) -> bool {
        (self.valid_utf8 || self.encoding.is_ascii_compatible() && name.is_ascii())
            && !name.contains(&0)
    }
}

/// Whether line ends do not matter: in XML they become spaces; in HTML only CR changes.
#[inline]
pub fn has_no_line_ends(values: &[u8], syntax: Syntax) -> bool {
    matches!(syntax, Syntax::Html(_)) || memchr::memchr2(b'\n', b'\t', values).is_none()
}

/// Hash the attributes of a run, which is a part of `text`.
///
/// Of several attributes with one name the first counts; names are compared by hash.
pub fn hash_run(text: &[u8], run: Range<usize>, reading: Reading, seen: &mut Seen) -> RunHashes {
    // Limited to one step: a run without a closing quote must not search through all the others.
    let text = &text[..text.len().min(run.end + AHEAD)];
    let mut hashes = RunHashes::default();
    let mut at = run.start;
    seen.clear();
    while let Some((name, value)) = next_usual(text, at, run.end) {
        at = value.end + 1;
        let name_hash = reading.hash_name(text, name);
        if seen.insert(name_hash) {
            hashes.add(
                name_hash,
                reading.hash_value(text, value, &mut seen.decoded),
            );
        }
    }
    if at < run.end {
        for (name, value) in values::attribute_spans(&text[at..run.end]) {
            let name_hash = reading.hash_name(text, at + name.start..at + name.end);
            if seen.insert(name_hash) {
                let value = value.map_or(at..at, |v| at + v.start..at + v.end);
                hashes.add(
                    name_hash,
                    reading.hash_value(text, value, &mut seen.decoded),
                );
            }
        }
    }
    hashes
}

/// Read the attribute at `at` if it is written like nearly all: ` name="value"`. Returns its name
/// and value.
#[inline]
fn next_usual(text: &[u8], at: usize, end: usize) -> Option<(Range<usize>, Range<usize>)> {
    if at >= end || text[at] != b' ' {
        return None;
    }
    let name = at + 1..scan::attribute_name_end(text, at + 1);
    let value = name.end + 2;
    if name.is_empty() || value >= end || text[name.end..value] != *b"=\"" {
        return None;
    }
    let close = scan::find_in_value(text, value, b'"');
    (close < end).then_some((name, value..close))
}

/// Compute [`hash_name`] of the first `length` bytes, eight at a time.
///
/// Bytes after the name are read along and masked off, which avoids a copy.
#[inline]
fn hash_name_at(bytes: &[u8], length: usize, fold: bool) -> u64 {
    let last = length.saturating_sub(1) / 8 * 8;
    let Some(&word) = bytes.get(last..).and_then(<[u8]>::first_chunk) else {
        return hash_name(&bytes[..length], fold); // near the end of the text
    };
    if length == 0 {
        return hash_name(&[], fold);
    }
    let (words, _) = bytes[..last].as_chunks();
    let start = (length as u64).wrapping_mul(FACTOR);
    let hash = (words.iter()).fold(start, |hash, &word| {
        add_word(hash, u64::from_le_bytes(word), fold)
    });
    let word = u64::from_le_bytes(word) & (u64::MAX >> (64 - 8 * (length - last)));
    add_word(hash, word, fold)
}

#[inline]
const fn add_word(hash: u64, word: u64, fold: bool) -> u64 {
    let word = if fold { scan::lower(word) } else { word };
    let hash = (hash ^ word).wrapping_mul(FACTOR);
    hash ^ (hash >> 32)
}

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Hashes of the names that refer to something else.
const NAME_HASHES: [u64; 6] = [
    hash_name(b"href", true),
    hash_name(b"action", true),
    hash_name(b"xlink:href", true),
    hash_name(b"src", true),
    hash_name(b"srcset", true),
    hash_name(b"poster", true),
];

/// Hash an attribute name; in HTML, ASCII case is ignored.
const fn hash_name(name: &[u8], fold: bool) -> u64 {
    let mut hash = (name.len() as u64).wrapping_mul(FACTOR);
    let mut i = 0;
    while i < name.len() {
        let mut word = 0;
        let mut shift = 0;
        while shift < 64 && i < name.len() {
            word |= (name[i] as u64) << shift;
            shift += 8;
            i += 1;
        }
        hash = add_word(hash, word, fold);
    }
    hash
}

/// Up to this number of names, they are compared one after another; beyond it, a set is used.
const FEW: usize = 16;
/// Larger sets of names are not kept for the next run.
const MAX_KEPT_NAMES: usize = 256;

/// Names already seen in a run: a short list, and a set once it gets long.
#[derive(Default)]
pub struct Seen {
    /// One bit of 64 for each name in `few`, by its hash: most names are new, which is known without
    /// a search.
    bits: u64,
    few: [u64; FEW],
    count: usize,
    many: std::collections::HashSet<u64>,
    /// Buffer for a decoded value.
    decoded: Vec<u8>,
}

impl Seen {
    fn clear(&mut self) {
        self.bits = 0;
        if self.count <= FEW {
            self.count = 0;
            return;
        }
        self.count = 0;
        // Clearing a set costs as much as it once held: after one run with a million attributes,
        // every small run would pay for it.
        if self.many.capacity() > MAX_KEPT_NAMES {
            self.many = std::collections::HashSet::new();
        }
        self.many.clear();
    }

    /// Add a name; returns `false` if it was there already.
    #[inline]
    fn insert(&mut self, name: u64) -> bool {
        if self.count >= FEW {
            return self.insert_many(name);
        }
        let bit = 1 << (name >> 58);
        if self.bits & bit != 0 && self.few[..self.count].contains(&name) {
            return false;
        }
        self.bits |= bit;
        self.few[self.count] = name;
        self.count += 1;
        true
    }

    #[cold]
    fn insert_many(&mut self, name: u64) -> bool {
        if self.count == FEW {
            self.many.extend(self.few);
            self.count += 1;
        }
        self.many.insert(name)
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{UTF_8, WINDOWS_1252};

    use super::*;
    use crate::page::vocabulary::Namespace;

    fn hashes(run: &str) -> (u64, u64, u64, u64) {
        let charset = Charset {
            encoding: UTF_8,
            valid_utf8: true,
        };
        let syntax = Syntax::Html(Namespace::Html);
        let reading = Reading {
            syntax,
            charset,
            plain: charset.reads_as_written(run.as_bytes(), syntax),
        };
        let hashes = hash_run(run.as_bytes(), 0..run.len(), reading, &mut Seen::default());
        (hashes.all, hashes.link, hashes.source, hashes.image)
    }

    #[test]
    fn spelling_and_order_do_not_count() {
        let usual = hashes(" class=\"a\" href=\"/?x=1&amp;y\"");
        for run in [
            " href=\"/?x=1&amp;y\" class=\"a\"",
            " CLASS='a'  HREF='/?x=1&y'/",
            "\nclass=a href=/?x=1&#38;y ",
            " class=\"a\" href=\"/?x=1&amp;y\" class=\"b\"",
        ] {
            assert_eq!(hashes(run), usual, "{run}");
        }
        for run in [
            " class=\"a\"",
            " class=\"a\" href=\"/\"",
            " class=\"\" href=\"/?x=1&amp;y\"",
        ] {
            assert_ne!(hashes(run), usual, "{run}");
        }
    }

    #[test]
    fn names_are_hashed_as_they_read() {
        let hash = |run: &[u8], encoding, valid_utf8| {
            let charset = Charset {
                encoding,
                valid_utf8,
            };
            let syntax = Syntax::Html(Namespace::Html);
            let reading = Reading {
                syntax,
                charset,
                plain: charset.reads_as_written(run, syntax),
            };
            hash_run(run, 0..run.len(), reading, &mut Seen::default()).all
        };
        let utf8 = hash(" größe=\"1\"".as_bytes(), UTF_8, true);
        assert_eq!(hash(b" gr\xf6\xdfe=\"1\"", WINDOWS_1252, false), utf8);
        assert_ne!(hash(" größe=\"1\"".as_bytes(), WINDOWS_1252, false), utf8);
        // What cannot be read is U+FFFD, in either case.
        let unreadable = hash(" \u{fffd}=1".as_bytes(), UTF_8, true);
        assert_eq!(hash(b" \xff=1", UTF_8, false), unreadable);
        assert_eq!(hash(b" \0=1", UTF_8, true), unreadable);
    }

    #[test]
    fn capitals_are_folded_and_nothing_else_is() {
        for byte in 0..=255u8 {
            let word = u64::from_le_bytes([byte; 8]);
            let expected = u64::from_le_bytes([byte.to_ascii_lowercase(); 8]);
            assert_eq!(scan::lower(word), expected, "{byte}");
        }
        for length in 0..30 {
            let name: Vec<u8> = (0..length).map(|i| b'A' + i).collect();
            for fold in [true, false] {
                assert_eq!(
                    hash_name_at(&name, name.len(), fold),
                    hash_name(&name, fold)
                );
                let longer = [&name[..], b"=\"and more\""].concat();
                assert_eq!(
                    hash_name_at(&longer, name.len(), fold),
                    hash_name(&name, fold)
                );
            }
        }
    }
}
