//! Spans: which bytes of the source each node is written with.
//!
//! The walk that writes the source is made once more, and only counts. A node's bytes go from its start tag to its
//! end tag, with all in between, strays too; where its tags are implied, they are those of its children. So spans
//! nest as nodes do, and the span of node 0 is the source.
//!
//! A page whose source is kept beside the columns (`verbatim`), or was read in a copy (`transcoded`), has none: its walk
//! does not write the source. On pages with nodes that were moved (`reordered`) a span holds what stands in the source at
//! that place, which need not be the node's own text. Bytes that are composed again are right all the same.

use super::slices::Slices;
use crate::base::error::Error;
use crate::base::short_bytes;
use crate::digest::Digest;
use crate::digest::decode::{Sink, emit};
use crate::page::flags::Flags;

/// The source with the bytes of every node: `source[start[i]..end[i]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    /// The source.
    pub source: Vec<u8>,
    /// First byte of each node.
    pub start: Vec<u32>,
    /// After the last byte of each.
    pub end: Vec<u32>,
}

/// Writes the source and notes where nodes begin and end.
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
    fn closes(&mut self, node: usize) {
        self.spans.end[node] = self.spans.source.len() as u32;
    }
}

impl Spans {
    /// Find the bytes of every node; `None` where a page has no spans. Linear in nodes and bytes.
    ///
    /// ```
    /// use quire_core::{Options, encode};
    /// use quire_core::fragments::Spans;
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
        let limit = usize::try_from(digest.header().source_length).unwrap_or(usize::MAX);
        let n = digest.n();
        let mut noting = Noting {
            limit,
            spans: Self {
                // Never more at first than the digest could hold, whatever its header says.
                source: Vec::with_capacity(limit.min(digest.as_bytes().len().saturating_mul(16))),
                start: vec![0; n],
                end: vec![0; n],
            },
        };
        let complete = emit(digest, &mut noting);
        let found = noting.spans.source.len();
        if complete && found == limit {
            return Ok(Some(noting.spans));
        }
        Err(Error::Format {
            message: format!("digest decodes to {found} bytes, but its source had {limit}"),
        })
    }

    /// The bytes of a node.
    pub fn bytes(&self, node: usize) -> &[u8] {
        &self.source[self.start[node] as usize..self.end[node] as usize]
    }

    /// The hash of every node's bytes, by [`Slices`].
    pub fn hashes(&self) -> Vec<u64> {
        let slices = Slices::new(&self.source);
        (self.start.iter().zip(&self.end))
            .map(|(&start, &end)| slices.hash(start as usize, end as usize))
            .collect()
    }
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
    fn equal_bytes_have_equal_hashes_on_any_page() {
        let (one, two) = (
            spans(b"<p>fish</p><i>x</i>"),
            spans(b"<h1>y</h1><p>fish</p>"),
        );
        let (one, two) = (one.unwrap().hashes(), two.unwrap().hashes());
        assert_eq!(one[4], two[6]);
        assert_ne!(one[4], one[6]);
    }

    #[test]
    fn a_page_that_was_read_in_a_copy_has_none() {
        assert!(spans(b"\xff\xfe<\0p\0>\0a\0").is_none());
    }
}
