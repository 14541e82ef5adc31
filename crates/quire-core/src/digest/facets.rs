//! Signatures: 128 bits that represent a whole facet of a page.
//!
//! Facets compare the meaning, not the spelling: character references are decoded, attribute names
//! are in lower case, quoting and the order of attributes are ignored. So `<p class=a>` and `<P
//! class='a' >` have the same signatures in every facet, and only their source signatures differ.
//!
//! | facet | what goes in, per node in pre-order |
//! | --- | --- |
//! | `structure` | child count |
//! | `tags` | tag, through the list of names in order of first use |
//! | `attributes` | the set of (name, value) |
//! | `content` | decoded content |
//! | `links` | `href` of `a`, `area`, `link`; `action` of `form`; `src` of `iframe`, `frame`, `embed`, `script` |
//! | `images` | `src`, `srcset` of `img`, `source`; `poster` of `video`; `src` of image `input`; `href` of SVG `image` |
//!
//! Facets of a page just encoded are signed when someone first asks for them, or stores the
//! digest: they take a fifth of the time of encoding, and many pages are only read. Structure and
//! tags come with the columns, so they are always there.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use encoding_rs::{Encoding, UTF_8};
use twox_hash::XxHash3_128;

use super::Digest;
use crate::base::error::Error;
use crate::base::hash::{hash128, hash128_seeded};
use crate::base::int_column::Ids;
use crate::base::short_bytes;
use crate::base::vec_pool::Reused;
use crate::digest::format::{Section, Signatures};
use crate::page::text_mode::Mode;
use crate::page::vocabulary::Namespace;
use crate::values;
use crate::values::attribute_syntax;
use crate::values::charset::Charset;
use crate::values::run_hash::{Reading, RunHashes, Seen, has_no_line_ends, hash_run};

/// The part of a header that a page just encoded lacks: the signatures of attributes, content,
/// links and images, and the checksums of the sections.
#[derive(Default)]
pub(super) struct LateHeader {
    signed: OnceLock<[u128; 4]>,
}

impl Digest {
    /// Return the signatures of the source and the facets. Of a page just encoded, they are
    /// computed on the first call, in time linear in the page.
    ///
    /// ```
    /// use quire_core::{Options, encode};
    ///
    /// let sign = |page: &[u8]| encode(page, &Options::default()).unwrap().signatures();
    /// let (quoted, bare) = (sign(b"<p class='a'>Fish"), sign(b"<p class=a>Fish"));
    /// assert!(quoted.0[0] != bare.0[0] && quoted.0[1..] == bare.0[1..]);
    /// ```
    pub fn signatures(&self) -> Signatures {
        let mut signatures = self.header.signatures;
        if let Some(late) = &self.late_header {
            let signed = (late.signed).get_or_init(|| Facets::new(self).sign());
            signatures.0[FIRST_LATE..].copy_from_slice(signed);
        }
        signatures
    }

    /// Whether [`Self::signatures`] only has to look them up.
    pub fn is_signed(&self) -> bool {
        (self.late_header.as_ref()).is_none_or(|late| late.signed.get().is_some())
    }

    /// Return the whole digest in its uncompressed form, in parts that follow each other: its
    /// header with all signatures and checksums, its columns, its heaps.
    pub fn parts(&self) -> Result<[Cow<'_, [u8]>; 3], Error> {
        let (header, columns) = self.memory().split_at(self.header.length);
        let header = match &self.late_header {
            Some(_) => Cow::Owned(self.header.sealed(self.signatures(), self.memory())),
            None => Cow::Borrowed(header),
        };
        let heaps = match &self.late {
            Some(late) => {
                self.check_heaps()?;
                late.heaps(&self.header)
            }
            None => &[],
        };
        Ok([header, Cow::Borrowed(columns), Cow::Borrowed(heaps)])
    }

    /// Return the whole digest in its uncompressed form.
    pub fn whole(&self) -> Result<Cow<'_, [u8]>, Error> {
        if self.late.is_none() && self.late_header.is_none() {
            return Ok(Cow::Borrowed(self.memory()));
        }
        Ok(Cow::Owned(self.parts()?.concat()))
    }
}

/// The first of the signatures that may come late.
const FIRST_LATE: usize = 3;

/// Finds the strings of a heap that contain a byte which may need decoding: `&`, CR, NUL.
///
/// Strings are checked in the order of the heap, so one search goes through it once, however short
/// they are.
struct Specials<'a> {
    heap: &'a [u8],
    next: usize,
}

impl<'a> Specials<'a> {
    fn new(heap: &'a [u8]) -> Self {
        let mut specials = Self { heap, next: 0 };
        specials.find_from(0);
        specials
    }

    fn find_from(&mut self, from: usize) {
        let found = memchr::memchr3(b'&', b'\r', 0, &self.heap[from..]);
        self.next = found.map_or(usize::MAX, |found| from + found);
    }

    /// Whether the string at `start..end` contains such a byte.
    #[inline]
    fn any_in(&mut self, start: usize, end: usize) -> bool {
        if self.next < start {
            self.find_from(start);
        }
        self.next < end
    }
}

/// A digest whose facets are signed.
struct Facets<'a> {
    digest: &'a Digest,
    charset: Charset,
}

impl<'a> Facets<'a> {
    fn new(digest: &'a Digest) -> Self {
        let encoding = digest.encoding();
        let heaps = [
            (Section::AttrHeap, digest.attr_offsets()),
            (Section::ContentHeap, digest.content_offsets()),
        ];
        let valid_utf8 = encoding == UTF_8
            && (heaps.iter()).all(|&(heap, offsets)| are_utf8(digest.section(heap), offsets));
        let charset = Charset {
            encoding,
            valid_utf8,
        };
        Self { digest, charset }
    }

    /// Compute the signatures of attributes, content, links and images.
    ///
    /// Each string is hashed once; for a node only lookups are left, without a branch that depends
    /// on the node. Only few nodes have links or images.
    fn sign(&self) -> [u128; 4] {
        let digest = self.digest;
        let roles: Vec<Role> = (0..digest.tag_count())
            .map(|tag| Role::of(digest.tag_name(tag).as_bytes()))
            .collect();
        let runs = self.hash_runs();
        let (mut links, mut images) = (Vec::new(), Vec::new());
        let attr = digest.attr();
        digest.tag().for_each(|node, tag| {
            let role = roles[tag as usize];
            if role == Role::Other {
                return;
            }
            let run = runs[(attr.get(node) + 1) as usize];
            let (link, image) = match role {
                Role::Link => (run.link, 0),
                Role::Embedded => (run.source, 0),
                Role::Image => (0, run.source.wrapping_add(run.image)),
                Role::SvgImage => (0, run.link),
                Role::Other => (0, 0),
            };
            links.extend((link != 0).then_some(link));
            images.extend((image != 0).then_some(image));
        });
        let attributes = of_ids(attr, |id| runs[id].all);
        drop(runs);
        let contents = self.hash_contents();
        [
            attributes,
            of_ids(digest.content(), |id| contents[id]),
            of_hashes(links.iter().copied()),
            of_hashes(images.iter().copied()),
        ]
    }

    /// Hash every run, by id + 1; the hashes for "no run" are 0.
    fn hash_runs(&self) -> Reused<RunHashes> {
        let mut seen = Seen::default();
        let heap = self.digest.section(Section::AttrHeap);
        let offsets = self.digest.attr_offsets();
        let mut specials = Specials::new(heap);
        // The namespace decides how a name is written, but names are hashed in lower case.
        let syntax = attribute_syntax(self.digest.kind(), Namespace::Html);
        let mut hashes = Reused::with_capacity(offsets.len());
        hashes.push(RunHashes::default());
        for run in spans(offsets) {
            let plain = if self.charset.valid_utf8 {
                !specials.any_in(run.start, run.end) && has_no_line_ends(&heap[run.clone()], syntax)
            } else {
                self.charset.reads_as_written(&heap[run.clone()], syntax)
            };
            let reading = Reading {
                syntax,
                charset: self.charset,
                plain,
            };
            hashes.push(hash_run(heap, run, reading, &mut seen));
        }
        hashes
    }

    /// Hash every content as a reader sees it, by id + 1; the hash for "no content" is 0.
    fn hash_contents(&self) -> Reused<u64> {
        let heap = self.digest.section(Section::ContentHeap);
        let offsets = self.digest.content_offsets();
        let modes = self.digest.section(Section::ContentModes);
        let mut specials = Specials::new(heap);
        let mut decoded = Vec::new();
        let mut hashes = Reused::with_capacity(offsets.len());
        hashes.push(0);
        for (range, &mode) in spans(offsets).zip(modes) {
            let mode = Mode::from_u8(mode).unwrap_or(Mode::Plain);
            let text = matches!(mode, Mode::Data | Mode::Rcdata | Mode::Foreign);
            let plain = if text && self.charset.valid_utf8 {
                // A `<` in foreign text is part of a CDATA section.
                !specials.any_in(range.start, range.end)
                    && (mode != Mode::Foreign || !heap[range.clone()].contains(&b'<'))
            } else {
                self.charset.is_plain(&heap[range.clone()], mode)
            };
            if self.charset.valid_utf8
                && mode == Mode::Comment
                && let Some(data) = values::plain_comment(&heap[range.clone()])
            {
                let start = range.start;
                hashes.push(short_bytes::hash(
                    heap,
                    start + data.start,
                    start + data.end,
                ));
                continue;
            }
            decoded.clear();
            hashes.push(if plain {
                short_bytes::hash(heap, range.start, range.end)
            } else if self.charset.valid_utf8
                && values::append_html_text(&heap[range.clone()], mode, &mut decoded)
            {
                short_bytes::hash_of(&decoded)
            } else {
                short_bytes::hash_of(
                    values::text(&heap[range], mode, self.charset.encoding).as_bytes(),
                )
            });
        }
        hashes
    }
}

/// Whether all strings of a heap are UTF-8: the heap is, and no string begins inside a character.
fn are_utf8(heap: &[u8], offsets: &[u32]) -> bool {
    let inside = |&start: &u32| {
        heap.get(start as usize)
            .is_some_and(|byte| byte & 0xc0 == 0x80)
    };
    Encoding::utf8_valid_up_to(heap) == heap.len() && !offsets.iter().any(inside)
}

/// Return the parts of a heap between neighbouring offsets.
fn spans(offsets: &[u32]) -> impl Iterator<Item = Range<usize>> {
    (offsets.windows(2)).map(|ends| ends[0] as usize..ends[1] as usize)
}

/// What the attributes of a tag refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// `href` and similar attributes lead to another page.
    Link,
    /// `src` is an embedded page or script.
    Embedded,
    /// `src` and similar attributes are images.
    Image,
    /// `href` is an image.
    SvgImage,
    /// Nothing.
    Other,
}

impl Role {
    /// Return the role of a tag.
    fn of(name: &[u8]) -> Self {
        match name {
            b"a" | b"area" | b"link" | b"form" => Role::Link,
            b"iframe" | b"frame" | b"embed" | b"script" => Role::Embedded,
            b"img" | b"source" | b"video" | b"input" => Role::Image,
            b"image" => Role::SvgImage,
            _ => Role::Other,
        }
    }
}

/// Hash a column stored in its narrowest width.
pub fn of_column(width: u8, bytes: &[u8]) -> u128 {
    hash128_seeded(bytes, u64::from(width))
}

/// Hash one hash per node, that of its id + 1.
fn of_ids(ids: Ids, hash_of: impl Fn(usize) -> u64) -> u128 {
    let hash = |id: i32| hash_of((id + 1) as usize);
    let (bytes, width) = ids.stored();
    match width {
        1 => of_hashes(bytes.iter().map(|&b| hash(b.cast_signed().into()))),
        2 => of_hashes((bytes.as_chunks().0.iter()).map(|&c| hash(i16::from_le_bytes(c).into()))),
        _ => of_hashes((bytes.as_chunks().0.iter()).map(|&c| hash(i32::from_le_bytes(c)))),
    }
}

/// Hash one hash per node.
fn of_hashes(hashes: impl ExactSizeIterator<Item = u64>) -> u128 {
    if hashes.len() > MAX_AT_ONCE {
        return of_many_hashes(hashes);
    }
    let mut bytes = Reused::filled(hashes.len() * 8, 0);
    let (places, _) = bytes.as_chunks_mut();
    for (place, hash) in places.iter_mut().zip(hashes) {
        *place = hash.to_le_bytes();
    }
    hash128(&bytes)
}

/// Nodes up to this number are hashed at once, which is faster; more of them piece by piece.
const MAX_AT_ONCE: usize = 1 << 16;

fn of_many_hashes(mut hashes: impl Iterator<Item = u64>) -> u128 {
    let mut state = XxHash3_128::new();
    let mut bytes = Vec::with_capacity(8 * MAX_AT_ONCE);
    loop {
        bytes.clear();
        bytes.extend(hashes.by_ref().take(MAX_AT_ONCE).flat_map(u64::to_le_bytes));
        if bytes.is_empty() {
            return state.finish_128();
        }
        state.write(&bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Verify;
    use crate::encode::{Options, encode};

    const PAGES: [&[u8]; 7] = [
        b"<!doctype html><title>Fish</title><!-- and --><p class=a>chips &amp; <a href='?a=1&b'>peas",
        b"<svg viewBox='0 0 1 1'><image href=a.png /><clipPath><![CDATA[x]]></svg><img src=b.png>",
        b"<meta charset=windows-1252><p title='\xe9' \xe9=1>caf\xe9<!-- \xe9 -->",
        b"<!-- a\r\nb --><!-->c<p a='x\r\ny\0'>\0<!x><?y?><pre>\n\nz",
        b"<?xml version='1.0'?><r a='x\ty'>&lt;<!-- b --></r>",
        b"{\"a\": [1, 2, \"\\u0041\"]}",
        b"\xff\xfe<\0p\0>\0x\0",
    ];

    fn page(source: &[u8]) -> Digest {
        encode(source, &Options::default()).unwrap()
    }

    #[test]
    fn a_page_has_the_same_signatures_before_and_after_it_is_stored() {
        for source in PAGES {
            let (asked, stored) = (page(source), page(source));
            assert!(!asked.is_signed() && !stored.is_signed());
            let signatures = asked.signatures();
            assert!(asked.is_signed());
            let bytes = stored.whole().unwrap().into_owned();
            assert_eq!(bytes, *asked.whole().unwrap());
            assert_eq!(bytes, stored.parts().unwrap().concat());
            let loaded = Digest::open(Box::new(bytes), Verify::All).unwrap();
            assert!(loaded.is_signed());
            assert_eq!(loaded.signatures(), signatures);
            assert_eq!(loaded.header().signatures, signatures);
        }
    }

    #[test]
    fn strings_cut_inside_a_character_are_not_utf8() {
        let heap = "fish\u{e9}chips".as_bytes();
        assert!(are_utf8(heap, &[0, 4, 6, 11]));
        assert!(!are_utf8(heap, &[0, 5, 11]));
        assert!(!are_utf8(&heap[..5], &[0, 5]));
        assert!(are_utf8(b"", &[0]));
    }

    #[test]
    fn threads_that_ask_at_once_get_the_same_signatures() {
        let source: Vec<u8> = (0..2000)
            .flat_map(|i| format!("<p id={i}>&lt;{i}").into_bytes())
            .collect();
        let expected = page(&source).signatures();
        let shared = page(&source);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| shared.signatures()))
                .collect();
            for thread in threads {
                assert_eq!(thread.join().unwrap(), expected);
            }
        });
    }
}
