//! Spans: the bytes of each node in the source.
//!
//! The walk that writes the source runs once more and records where nodes begin and end. The bytes
//! of a node go from its start tag to its end tag, including everything in between. If its tags are
//! implied, its bytes are those of its children; without children, they are an empty span at its
//! position. So spans nest like nodes, and the span of node 0 is the whole source.
//!
//! A page whose source is stored next to the columns (`verbatim`) has no spans: the walk does not
//! write it. If nodes were moved (`reordered`), a moved node has an empty span, and its bytes are
//! in the span of the element where they were written. Joining the spans still gives the exact
//! source.

use encoding_rs::{Encoding, UTF_8};

use super::{Sink, emit};
use crate::base::error::Error;
use crate::base::short_bytes;
use crate::digest::Digest;
use crate::page::flags::Flags;
use crate::page::limits::MAX_GROWTH;
use crate::parse::encoding;

/// The source with the bytes of every node: `source[start[i]..end[i]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    /// The source.
    pub source: Vec<u8>,
    /// First byte of each node.
    pub start: Vec<u32>,
    /// After the last byte of each node.
    pub end: Vec<u32>,
}

/// Writes the source and records where nodes begin and end.
struct Noting {
    spans: Spans,
    limit: usize,
}

impl Sink for Noting {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> bool {
        self.spans.source.extend_from_slice(bytes);
        self.spans.source.len() <= self.limit
    }

    #[inline]
    fn put_span(&mut self, text: &[u8], start: u32, end: u32) -> bool {
        short_bytes::append(&mut self.spans.source, text, start as usize, end as usize);
        self.spans.source.len() <= self.limit
    }

    #[inline]
    fn opens(&mut self, node: usize) {
        self.spans.start[node] = self.spans.source.len() as u32;
    }

    #[inline]
    fn opens_behind(&mut self, node: usize, bytes: usize) {
        self.spans.start[node] = (self.spans.source.len() + bytes) as u32;
    }

    #[inline]
    fn closes(&mut self, node: usize) {
        self.spans.end[node] = self.spans.source.len() as u32;
    }
}

impl Spans {
    /// Find the bytes of every node; `None` if the page is stored `verbatim` or was read from a
    /// UTF-8 copy (`transcoded`; use [`places`] for those). Linear in nodes and bytes.
    ///
    /// ```
    /// use quire_core::{Options, encode};
    /// use quire_core::Spans;
    ///
    /// let page = encode(b"<ul><li>a<li>b</ul>", &Options::default()).unwrap();
    /// let spans = Spans::of(&page).unwrap().unwrap();
    /// assert_eq!([5, 7].map(|item| spans.bytes(item)), [b"<li>a", b"<li>b"]);
    /// ```
    pub fn of(digest: &Digest) -> Result<Option<Self>, Error> {
        digest.check_heaps()?;
        let flags = digest.flags();
        if flags.has(Flags::VERBATIM) || flags.has(Flags::TRANSCODED) {
            return Ok(None);
        }
        let length = usize::try_from(digest.header().source_length).unwrap_or(usize::MAX);
        match Self::written(digest, length) {
            Ok(spans) if spans.source.len() == length => Ok(Some(spans)),
            Ok(spans) => Err(wrong(spans.source.len(), length)),
            Err(found) => Err(wrong(found, length)),
        }
    }

    /// Run the walk; the error is the number of bytes written, if that is more than `limit`.
    fn written(digest: &Digest, limit: usize) -> Result<Self, usize> {
        let n = digest.n();
        let mut noting = Noting {
            limit,
            spans: Self {
                // At first never more than the digest could hold, whatever its header says.
                source: Vec::with_capacity(limit.min(digest.memory().len().saturating_mul(16))),
                start: vec![0; n],
                end: vec![0; n],
            },
        };
        if emit(digest, &mut noting) {
            Ok(noting.spans)
        } else {
            Err(noting.spans.source.len())
        }
    }

    /// Return the bytes of a node.
    pub fn bytes(&self, node: usize) -> &[u8] {
        &self.source[self.start[node] as usize..self.end[node] as usize]
    }
}

fn wrong(found: usize, length: usize) -> Error {
    Error::Format {
        message: format!("digest decodes to {found} bytes, but its source had {length}"),
    }
}

/// The positions of nodes in the source.
pub struct Places {
    /// First byte of each node.
    pub start: Vec<u32>,
    /// After the last byte of each node.
    pub end: Vec<u32>,
}

/// Find the position of each node in the source; `None` if the page is stored `verbatim`.
///
/// ```
/// use quire_core::{Options, encode, places};
///
/// let page = encode(b"\xff\xfe<\0p\0>\0a\0", &Options::default()).unwrap();
/// let places = places(&page).unwrap().unwrap();
/// assert_eq!((places.start[4], places.end[4]), (2, 10)); // UTF-16, after the byte order mark
/// ```
pub fn places(digest: &Digest) -> Result<Option<Places>, Error> {
    if !digest.flags().has(Flags::TRANSCODED) || digest.flags().has(Flags::VERBATIM) {
        return Ok(Spans::of(digest)?.map(|Spans { start, end, .. }| Places { start, end }));
    }
    digest.check_heaps()?;
    let length = usize::try_from(digest.header().source_length).unwrap_or(usize::MAX);
    let copy = Spans::written(digest, length.saturating_mul(MAX_GROWTH))
        .map_err(|found| wrong(found, length))?;
    let label = Encoding::for_label(digest.meta().encoding.as_bytes()).unwrap_or(UTF_8);
    let mut cuts = [&copy.start[..], &copy.end[..]].concat();
    let mut order: Vec<usize> = (0..cuts.len()).collect();
    order.sort_unstable_by_key(|&cut| cuts[cut]);
    let sorted: Vec<u32> = order.iter().map(|&cut| cuts[cut]).collect();
    let back =
        encoding::places_back(&copy.source, label, &sorted).ok_or_else(|| wrong(0, length))?;
    for (&cut, place) in order.iter().zip(back) {
        cuts[cut] = place;
    }
    let end = cuts.split_off(copy.start.len());
    Ok(Some(Places { start: cuts, end }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};

    fn spans(source: &[u8]) -> Option<Spans> {
        Spans::of(&encode(source, &Options::default()).unwrap()).unwrap()
    }

    #[test]
    fn spans_nest_as_nodes_do() {
        let pages: [&[u8]; 6] = [
            b"<!doctype html><p>a<table>b<tr><td>c</table></b>d",
            b"<b><p>x</b>y</p>\n<!-- c --></body>\n</html>\n",
            b"",
            b"{\"a\": [1, 2, {\"b\": null}]}",
            b"<?xml version='1.0'?><a><b/>x<c>y</c></a>",
            b"one\ntwo\n\nthree",
        ];
        for source in pages {
            let page = encode(source, &Options::default()).unwrap();
            let spans = spans(source).unwrap();
            assert_eq!(spans.source, source);
            assert_eq!((spans.start[0], spans.end[0]), (0, source.len() as u32));
            for node in 1..page.n() {
                let parent = page.derived().parent[node] as usize;
                assert!(spans.start[node] <= spans.end[node]);
                assert!(spans.start[parent] <= spans.start[node]);
                assert!(spans.end[node] <= spans.end[parent]);
                let next = node + page.derived().size[node] as usize;
                assert!(next >= page.n() || spans.end[node] <= spans.start[next]);
            }
        }
    }

    #[test]
    fn a_page_that_was_read_in_a_copy_has_none() {
        assert!(spans(b"\xff\xfe<\0p\0>\0a\0").is_none());
    }

    #[test]
    fn places_of_a_copy_are_those_in_the_source() {
        let text = "<p>f\u{e9}t\u{1f600}e<b>x</b></p>y";
        let plain = encode(text.as_bytes(), &Options::default()).unwrap();
        let Places { start, end } = places(&plain).unwrap().unwrap();
        let source: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let options = Options {
            encoding: Some(encoding_rs::UTF_16LE),
            ..Options::default()
        };
        let page = encode(&source, &options).unwrap();
        let wide = places(&page).unwrap().unwrap();
        let units = |place: u32| 2 * text[..place as usize].encode_utf16().count() as u32;
        assert_eq!(wide.start, start.into_iter().map(units).collect::<Vec<_>>());
        assert_eq!(wide.end, end.into_iter().map(units).collect::<Vec<_>>());
    }
}
