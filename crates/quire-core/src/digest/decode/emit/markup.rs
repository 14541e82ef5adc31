//! Writes HTML, XML, and every kind whose leaves are simply written one after another.

use super::{Hand, Nodes, Open, Place, Sink};
use crate::digest::Digest;
use crate::digest::format::Section;
use crate::page::vocabulary::{Class, Namespace};
use std::ops::Range;

/// The writer for markup.
pub(super) struct Markup<'a> {
    runs: Strings<'a>,
    contents: Strings<'a>,
    /// Start and end tags of all tag names, without attributes.
    written: Vec<u8>,
    marks: Vec<Mark>,
}

/// A heap with the offsets of its strings, looked up once for the whole walk.
pub(super) struct Strings<'a> {
    heap: &'a [u8],
    /// The string of an id is between the offsets at id + 1 and id + 2; that of -1 is empty.
    offsets: Vec<u32>,
}

impl<'a> Strings<'a> {
    /// Look up the offsets; `None` if the heap is incomplete.
    pub(super) fn new(heap: &'a [u8], offsets: &[u32]) -> Option<Self> {
        let whole = offsets.last().is_none_or(|&end| end as usize <= heap.len());
        whole.then(|| Self {
            heap,
            offsets: [&[0], offsets].concat(),
        })
    }

    /// Return where the string with this id is.
    #[inline]
    fn place(&self, id: i32) -> (u32, u32) {
        let at = (id + 1) as usize;
        (self.offsets[at], self.offsets[at + 1])
    }

    /// Return the string with this id, or nothing for -1.
    #[inline]
    pub(super) fn get(&self, id: i32) -> &'a [u8] {
        let (start, end) = self.place(id);
        &self.heap[start as usize..end as usize]
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // called twice per node
    pub(super) fn put(&self, id: i32, sink: &mut impl Sink) -> bool {
        let (start, end) = self.place(id);
        sink.put_string(self.heap, start, end)
    }
}

/// The bytes written for a tag, as positions in [`Markup::written`]: `<name`, then `>`, then its
/// end tag.
#[derive(Clone, Copy)]
struct Mark {
    open: u32,
    name_end: u32,
    close: u32,
    end: u32,
    /// Whether its nodes have content and no tags.
    leaf: bool,
    /// Whether its nodes usually have an end tag.
    ends: bool,
    /// Whether `<a/>` means that there is no end tag.
    may_close: bool,
}

impl<'a> Markup<'a> {
    /// Prepare the writer; `None` if the heaps are incomplete.
    pub(super) fn new(digest: &'a Digest) -> Option<Self> {
        let mut written = Vec::with_capacity(digest.tag_count() * 16);
        let marks = (0..digest.tag_count())
            .map(|tag| Mark::write(digest, tag, &mut written))
            .collect();
        written.extend_from_slice(&[0; 16]); // read along with the last tag
        Some(Self {
            runs: Strings::new(digest.section(Section::AttrHeap), digest.attr_offsets())?,
            contents: Strings::new(
                digest.section(Section::ContentHeap),
                digest.content_offsets(),
            )?,
            written,
            marks,
        })
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // called once per node
    fn put_start_tag(&self, mark: &Mark, attr: i32, sink: &mut impl Sink) -> bool {
        if attr < 0 {
            return sink.put_span(&self.written, mark.open, mark.close);
        }
        sink.put_span(&self.written, mark.open, mark.name_end)
            && self.runs.put(attr, sink)
            && sink.put_span(&self.written, mark.name_end, mark.close)
    }

    #[inline]
    fn put_end_tag(&self, mark: &Mark, sink: &mut impl Sink) -> bool {
        sink.put_span(&self.written, mark.close, mark.end)
    }
}

impl Mark {
    fn write(digest: &Digest, tag: usize, written: &mut Vec<u8>) -> Self {
        let info = digest.tag_info(tag);
        let open = written.len() as u32;
        let (mut name_end, mut close) = (open, open);
        if info.class == Class::Element {
            let name = digest.tag_name(tag).as_bytes();
            written.push(b'<');
            written.extend_from_slice(digest.start_spelling(tag).unwrap_or(name));
            name_end = written.len() as u32;
            written.push(b'>');
            close = written.len() as u32;
            if let Some(spelling) = digest.end_spelling(tag) {
                written.extend_from_slice(spelling);
            } else {
                written.extend_from_slice(b"</");
                written.extend_from_slice(name);
                written.push(b'>');
            }
        }
        Self {
            open,
            name_end,
            close,
            end: written.len() as u32,
            leaf: info.class.is_leaf(),
            ends: info.ends,
            may_close: info.namespace != Namespace::Html,
        }
    }
}

impl Hand for Markup<'_> {
    fn open(&mut self, place: &Place, sink: &mut impl Sink) -> Option<bool> {
        if place.class.is_leaf() {
            return None;
        }
        let mark = &self.marks[place.tag];
        Some(place.implied || self.put_start_tag(mark, place.attr, sink))
    }

    fn close(&mut self, open: &Open, sink: &mut impl Sink) -> bool {
        !open.ends() || self.put_end_tag(&self.marks[open.tag()], sink)
    }

    fn stretch(
        &mut self,
        nodes: &Nodes,
        part: Range<usize>,
        stack: &mut Vec<Open>,
        sink: &mut impl Sink,
    ) -> Option<usize> {
        let at = part.start - nodes.start..part.end - nodes.start;
        let columns = (nodes.children[at.clone()].iter())
            .zip(&nodes.tag[at.clone()])
            .zip(&nodes.attr[at.clone()])
            .zip(&nodes.content[at]);
        for (node, (((&left, &tag), &attr), &content)) in part.clone().zip(columns) {
            let mark = &self.marks[tag as usize];
            let mut ends = false;
            sink.opens(node);
            let written = if mark.leaf {
                self.contents.put(content, sink)
            } else {
                ends = mark.ends && !(mark.may_close && self.runs.get(attr).ends_with(b"/"));
                self.put_start_tag(mark, attr, sink)
            };
            if !written {
                return None;
            }
            if left > 0 {
                stack.push(Open::new(node as u32, left, tag, ends));
            } else {
                if ends && !self.put_end_tag(mark, sink) {
                    return None;
                }
                sink.closes(node);
            }
            while let Some(top) = stack.last_mut() {
                if top.left > 0 {
                    top.left -= 1;
                    break;
                }
                if top.ends() && !self.put_end_tag(&self.marks[top.tag()], sink) {
                    return None;
                }
                sink.closes(top.node as usize);
                stack.pop();
            }
        }
        Some(part.end)
    }
}
