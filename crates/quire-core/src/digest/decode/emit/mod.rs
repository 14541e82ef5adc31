//! Emitting: walk the columns and write the source (the paper's Algorithm 2).
//!
//! One walk, generic over its sink: a writer for `decode`, and a comparing cursor for the check at
//! the end of every `encode`. So the bytes that were verified are the bytes that will be decoded.
//!
//! In pre-order, each node writes its start tag or text, unless it is implied; after its last
//! child, it writes its end tag, if it has one. Strays are written where
//! [`crate::encode::leftovers`] found them. Cost: linear in nodes and bytes; the stack is as deep
//! as the tree.

mod json;
mod markup;

use std::ops::Range;

use self::json::Json;
use self::markup::{Markup, Strings};
use crate::base::int_column::Ints;
use crate::base::short_bytes;
use crate::digest::Digest;
use crate::digest::format::Section;
use crate::page::kind::Kind;
use crate::page::vocabulary::{Class, Namespace};

/// Receives the emitted bytes.
pub trait Sink {
    /// Take the next bytes; return `false` to stop the walk.
    fn put(&mut self, bytes: &[u8]) -> bool;

    /// Take `text[start..end]`. Bytes after the end may be read along, which is faster than cutting
    /// them off.
    #[inline]
    fn put_span(&mut self, text: &[u8], start: u32, end: u32) -> bool {
        self.put(&text[start as usize..end as usize])
    }

    /// [`Self::put_span`] for runs and contents, many of which are longer than a tag.
    #[inline]
    fn put_string(&mut self, text: &[u8], start: u32, end: u32) -> bool {
        self.put_span(text, start, end)
    }

    /// Called when a node begins. Only a few sinks use it.
    #[inline]
    fn opens(&mut self, _node: usize) {}

    /// Called when a node begins after `bytes` bytes that are not its own.
    #[inline]
    fn opens_behind(&mut self, _node: usize, _bytes: usize) {}

    /// Called when a node ends.
    #[inline]
    fn closes(&mut self, _node: usize) {}
}

impl Sink for Vec<u8> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> bool {
        self.extend_from_slice(bytes);
        true
    }

    #[inline]
    fn put_span(&mut self, text: &[u8], start: u32, end: u32) -> bool {
        short_bytes::append(self, text, start as usize, end as usize);
        true
    }
}

/// Compares the emitted bytes with the source.
pub struct Comparison<'a> {
    source: &'a [u8],
    at: usize,
}

impl<'a> Comparison<'a> {
    /// Expect exactly `source`.
    pub fn new(source: &'a [u8]) -> Self {
        Self { source, at: 0 }
    }

    /// Whether everything was emitted.
    pub fn is_complete(&self) -> bool {
        self.at == self.source.len()
    }
}

impl Sink for Comparison<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> bool {
        let Some(expected) = self.source.get(self.at..self.at + bytes.len()) else {
            return false;
        };
        self.at += bytes.len();
        expected == bytes
    }

    #[inline]
    fn put_span(&mut self, text: &[u8], start: u32, end: u32) -> bool {
        let (at, length) = (self.at, (end - start) as usize);
        self.at = at + length;
        self.at <= self.source.len()
            && short_bytes::same(text, start as usize, self.source, at, length)
    }

    #[inline]
    fn put_string(&mut self, text: &[u8], start: u32, end: u32) -> bool {
        let (at, length) = (self.at, (end - start) as usize);
        self.at = at + length;
        self.at <= self.source.len()
            && short_bytes::same_near(text, start as usize, self.source, at, length)
    }
}

/// Emit the source of a digest that is not verbatim. Returns `false` if the sink stopped the walk.
pub fn emit(digest: &Digest, sink: &mut impl Sink) -> bool {
    if digest.kind() == Kind::Json {
        walk(digest, sink, &mut Json::new(digest))
    } else {
        Markup::new(digest).is_some_and(|mut hand| walk(digest, sink, &mut hand))
    }
}

/// Writes the nodes of one kind of page.
trait Hand {
    /// Open a node; `implied` nodes write nothing. If this returns `None`, the walk itself writes
    /// the text.
    fn open(&mut self, place: &Place, sink: &mut impl Sink) -> Option<bool>;
    /// Close a node that may have children; writes its end only if it has one.
    fn close(&mut self, open: &Open, sink: &mut impl Sink) -> bool;
    /// Write nodes without exceptions, as the walk would, and return the first node left for the
    /// walk. `None` if the sink stopped.
    fn stretch(
        &mut self,
        _nodes: &Nodes,
        part: Range<usize>,
        _stack: &mut Vec<Open>,
        _sink: &mut impl Sink,
    ) -> Option<usize> {
        Some(part.start)
    }
}

/// A part of the columns as 32-bit values: four indexed loads per node cost more than four passes.
#[derive(Default)]
struct Nodes {
    /// The first node of the part.
    start: usize,
    children: Vec<u32>,
    tag: Vec<u32>,
    attr: Vec<i32>,
    content: Vec<i32>,
}

/// Nodes converted at once. They take 256 kB, which stays in the cache of a core.
const MAX_NODES: usize = 1 << 14;

impl Nodes {
    /// Return the first node after the part.
    fn end(&self) -> usize {
        self.start + self.children.len()
    }

    /// Go on to the part that starts at a node.
    fn load(&mut self, digest: &Digest, start: usize) {
        let part = start..digest.n().min(start + MAX_NODES);
        self.start = start;
        digest.children().copy_to(part.clone(), &mut self.children);
        digest.tag().copy_to(part.clone(), &mut self.tag);
        digest.attr().copy_to(part.clone(), &mut self.attr);
        digest.content().copy_to(part, &mut self.content);
    }
}

/// A node as the walk reaches it.
struct Place {
    node: usize,
    tag: usize,
    class: Class,
    attr: i32,
    children: u32,
    /// Whether it writes no bytes of its own.
    implied: bool,
}

/// A sorted list of nodes, read along with the walk.
struct Rising<'a> {
    nodes: Ints<'a>,
    at: usize,
    next: u32,
}

impl<'a> Rising<'a> {
    fn new(nodes: Ints<'a>) -> Self {
        let next = if nodes.is_empty() {
            u32::MAX
        } else {
            nodes.get(0)
        };
        Self { nodes, at: 0, next }
    }

    #[inline]
    fn take(&mut self, node: u32) -> bool {
        if self.next != node {
            return false;
        }
        self.at += 1;
        self.next = if self.at < self.nodes.len() {
            self.nodes.get(self.at)
        } else {
            u32::MAX
        };
        true
    }
}

/// The strays, read along with the walk.
struct Strays<'a> {
    node: Rising<'a>,
    depth: Ints<'a>,
    offset: Ints<'a>,
    length: Ints<'a>,
    heap: &'a [u8],
}

impl<'a> Strays<'a> {
    fn new(digest: &'a Digest) -> Self {
        Self {
            node: Rising::new(digest.ints(Section::StrayNode)),
            depth: digest.ints(Section::StrayDepth),
            offset: digest.ints(Section::StrayOffset),
            length: digest.ints(Section::StrayLength),
            heap: digest.section(Section::StrayHeap),
        }
    }

    /// Write the strays at `(node, depth)`.
    #[inline]
    fn put(&mut self, node: u32, depth: u32, sink: &mut impl Sink) -> bool {
        while self.node.next == node && self.depth.get(self.node.at) == depth {
            if !self.put_next(sink) {
                return false;
            }
        }
        true
    }

    fn put_next(&mut self, sink: &mut impl Sink) -> bool {
        let length = (self.length.get(self.node.at) as usize).min(self.heap.len());
        let (bytes, rest) = self.heap.split_at(length);
        self.heap = rest;
        self.node.take(self.node.next);
        sink.put(bytes)
    }

    /// Write a text and the strays inside it.
    fn put_text(&mut self, node: u32, depth: u32, text: &[u8], sink: &mut impl Sink) -> bool {
        let mut written = 0;
        while self.node.next == node && self.depth.get(self.node.at) == depth {
            let offset = (self.offset.get(self.node.at) as usize).clamp(written, text.len());
            if !sink.put(&text[written..offset]) || !self.put_next(sink) {
                return false;
            }
            written = offset;
        }
        sink.put(&text[written..])
    }
}

/// A node whose children are being written. Small, because a page can be as deep as it is long.
struct Open {
    left: u32,
    node: u32,
    /// The tag, and in the lowest bit whether the node ends with an end tag.
    tag_and_end: u32,
}

impl Open {
    fn new(node: u32, left: u32, tag: u32, ends: bool) -> Self {
        Self {
            left,
            node,
            tag_and_end: tag << 1 | u32::from(ends),
        }
    }

    #[inline]
    fn tag(&self) -> usize {
        (self.tag_and_end >> 1) as usize
    }

    #[inline]
    fn ends(&self) -> bool {
        self.tag_and_end & 1 != 0
    }
}

/// Run the walk that all kinds share.
fn walk(digest: &Digest, sink: &mut impl Sink, hand: &mut impl Hand) -> bool {
    let mut nodes = Nodes::default();
    let infos: Vec<_> = (0..digest.tag_count())
        .map(|tag| digest.tag_info(tag))
        .collect();
    let (Some(runs), Some(contents)) = (
        Strings::new(digest.section(Section::AttrHeap), digest.attr_offsets()),
        Strings::new(
            digest.section(Section::ContentHeap),
            digest.content_offsets(),
        ),
    ) else {
        return false;
    };
    let mut implied = Rising::new(digest.ints(Section::Implied));
    let mut flipped = Rising::new(digest.ints(Section::EndFlipped));
    let mut strays = Strays::new(digest);
    let mut stack: Vec<Open> = Vec::with_capacity(64);
    let mut next = 0;
    while next < digest.n() {
        if next == nodes.end() {
            nodes.load(digest, next);
        }
        let exception = implied.next.min(flipped.next).min(strays.node.next);
        let plain = next..nodes.end().min(exception as usize).max(next);
        let Some(i) = hand.stretch(&nodes, plain, &mut stack, sink) else {
            return false;
        };
        if i == nodes.end() {
            next = i;
            continue;
        }
        next = i + 1;
        let at = i - nodes.start;
        let node = i as u32;
        let depth = stack.len() as u32;
        let tag = nodes.tag[at] as usize;
        let info = infos[tag];
        let count = nodes.children[at];
        let place = Place {
            node: i,
            tag,
            class: info.class,
            attr: nodes.attr[at],
            children: count,
            implied: implied.take(node),
        };
        sink.opens(i);
        let written = hand.open(&place, sink).unwrap_or_else(|| {
            let text = if place.implied {
                &[]
            } else {
                contents.get(nodes.content[at])
            };
            strays.put_text(node, depth, text, sink)
        });
        if !written || !strays.put(node, depth, sink) {
            return false;
        }
        let predicted = info.ends && !self_closed(info.namespace, || runs.get(place.attr));
        let open = Open::new(node, count, tag as u32, flipped.take(node) != predicted);
        if count > 0 {
            stack.push(open);
        } else {
            let closed = hand.close(&open, sink);
            sink.closes(i);
            if !(closed && (depth == 0 || strays.put(node, depth - 1, sink))) {
                return false;
            }
        }
        // One child less to write; parents without further children are closed.
        while let Some(top) = stack.last_mut() {
            if top.left > 0 {
                top.left -= 1;
                break;
            }
            if !hand.close(top, sink) {
                return false;
            }
            sink.closes(top.node as usize);
            stack.pop();
            let Some(level) = (stack.len() as u32).checked_sub(1) else {
                break;
            };
            if !strays.put(node, level, sink) {
                return false;
            }
        }
    }
    true
}

/// Whether a run ends like `<a ... />` in a namespace where that means "no content, no end tag".
#[inline]
pub fn self_closed<'a>(namespace: Namespace, run: impl FnOnce() -> &'a [u8]) -> bool {
    namespace != Namespace::Html && run().ends_with(b"/")
}
