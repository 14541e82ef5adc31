//! Emitting: walk the columns and give the source back (the paper's Algorithm 2).
//!
//! One walk, generic over its sink: a writer for `decode`, a comparing cursor
//! for the check that ends every `encode`. So what was verified is what will be
//! decoded.
//!
//! In pre-order, each node writes its start tag or text, unless it is implied;
//! when its last child is done, its end tag, if it has one. Strays are written
//! where [`crate::reconcile`] found them. Cost: linear in nodes and bytes, a
//! stack as deep as the tree.

use crate::digest::Digest;
use crate::format::Section;
use crate::intern::same;
use crate::ints::Ints;
use crate::json;
use crate::sniff::Kind;
use crate::vocabulary::{Class, Namespace};

/// Where emitted bytes go.
pub trait Sink {
    /// Take the next bytes; `false` stops the walk.
    fn put(&mut self, bytes: &[u8]) -> bool;
}

impl Sink for Vec<u8> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> bool {
        self.extend_from_slice(bytes);
        true
    }
}

/// Compares what is emitted with what was read.
pub struct Comparison<'a> {
    rest: &'a [u8],
}

impl<'a> Comparison<'a> {
    /// Expect exactly `source`.
    pub fn new(source: &'a [u8]) -> Self {
        Self { rest: source }
    }

    /// Whether everything was emitted.
    pub fn is_complete(&self) -> bool {
        self.rest.is_empty()
    }
}

impl Sink for Comparison<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> bool {
        let Some((head, rest)) = self.rest.split_at_checked(bytes.len()) else {
            return false;
        };
        self.rest = rest;
        same(head, bytes)
    }
}

/// Emit the source of a digest that is not verbatim. `false` when the sink stopped the walk.
pub fn emit(digest: &Digest, sink: &mut impl Sink) -> bool {
    if digest.kind() == Kind::Json {
        let layout = json::Layout::from_bytes(&digest.meta().layout).unwrap_or_default();
        walk(
            digest,
            sink,
            &mut Json {
                digest,
                predictor: json::Predictor::new(layout),
                gap: Vec::new(),
            },
        )
    } else {
        walk(digest, sink, &mut Markup::new(digest))
    }
}

/// How nodes of a kind are written.
trait Hand {
    /// Open a node; `implied` nodes write nothing. A text is written by the walk itself when this
    /// gives `None`.
    fn open(&mut self, place: &Place, sink: &mut impl Sink) -> Option<bool>;
    /// Close a node that may have children; it writes its end only if it has one.
    fn close(&mut self, open: &Open, sink: &mut impl Sink) -> bool;
}

/// A node as the walk meets it.
struct Place {
    node: usize,
    tag: usize,
    class: Class,
    attr: i32,
    children: u32,
    implied: bool,
}

/// HTML, XML, and everything whose leaves are simply written one after another.
struct Markup<'a> {
    runs: Strings<'a>,
    /// Start and end tags of all tags, without attributes.
    written: Vec<u8>,
    marks: Vec<Mark>,
}

/// A heap with the offsets of its strings, looked up once for the whole walk.
#[derive(Clone, Copy)]
struct Strings<'a> {
    heap: &'a [u8],
    offsets: &'a [u32],
}

impl<'a> Strings<'a> {
    /// The string with this id, or nothing for -1.
    #[inline]
    fn get(self, id: i32) -> &'a [u8] {
        match usize::try_from(id) {
            Ok(id) => (self.heap)
                .get(self.offsets[id] as usize..self.offsets[id + 1] as usize)
                .unwrap_or_default(),
            Err(_) => &[],
        }
    }
}

/// Where the bytes of a tag lie in [`Markup::written`]: `<name`, then its end tag.
#[derive(Clone, Copy)]
struct Mark {
    open: u32,
    close: u32,
    end: u32,
}

impl<'a> Markup<'a> {
    fn new(digest: &'a Digest) -> Self {
        let mut written = Vec::with_capacity(digest.tag_count() * 16);
        let marks = (0..digest.tag_count())
            .map(|tag| {
                let name = digest.tag_name(tag).as_bytes();
                let open = written.len() as u32;
                written.push(b'<');
                written.extend_from_slice(digest.start_spelling(tag).unwrap_or(name));
                let close = written.len() as u32;
                if let Some(spelling) = digest.end_spelling(tag) {
                    written.extend_from_slice(spelling);
                } else {
                    written.extend_from_slice(b"</");
                    written.extend_from_slice(name);
                    written.push(b'>');
                }
                let end = written.len() as u32;
                Mark { open, close, end }
            })
            .collect();
        let runs = Strings {
            heap: digest.section(Section::AttrHeap),
            offsets: digest.attr_offsets(),
        };
        Self {
            runs,
            written,
            marks,
        }
    }
}

impl Hand for Markup<'_> {
    #[inline]
    fn open(&mut self, place: &Place, sink: &mut impl Sink) -> Option<bool> {
        if place.class.is_leaf() {
            return None;
        }
        if place.implied || place.class != Class::Element {
            return Some(true);
        }
        let run = self.runs.get(place.attr);
        let mark = self.marks[place.tag];
        let open = &self.written[mark.open as usize..mark.close as usize];
        Some(sink.put(open) && sink.put(run) && sink.put(b">"))
    }

    #[inline]
    fn close(&mut self, open: &Open, sink: &mut impl Sink) -> bool {
        let mark = self.marks[open.tag as usize];
        !open.ends || sink.put(&self.written[mark.close as usize..mark.end as usize])
    }
}

/// JSON: spacing and punctuation follow the layout of the page.
struct Json<'a> {
    digest: &'a Digest,
    predictor: json::Predictor,
    gap: Vec<u8>,
}

impl Hand for Json<'_> {
    fn open(&mut self, place: &Place, sink: &mut impl Sink) -> Option<bool> {
        if place.class == Class::Document {
            return Some(true);
        }
        let digest = self.digest;
        let children = place.children as usize;
        let following = (place.node + 1..digest.n()).map(|i| digest.class(i));
        let scalars = place.class == Class::Array && json::all_scalars(following, children);
        let gap = self.predictor.open(place.class, scalars);
        if place.implied {
            return Some(true);
        }
        self.gap.clear();
        gap.write(&mut self.gap);
        let content = digest.content().get(place.node);
        let bytes = if content >= 0 {
            digest.content_raw(content as usize)
        } else {
            digest.tag_name(place.tag).as_bytes()
        };
        json::write_token(place.class, bytes, &mut self.gap);
        Some(sink.put(&self.gap))
    }

    fn close(&mut self, open: &Open, sink: &mut impl Sink) -> bool {
        if open.leaf || open.node == 0 {
            return true;
        }
        let gap = self.predictor.close();
        if !open.ends {
            return true;
        }
        self.gap.clear();
        gap.write(&mut self.gap);
        self.gap
            .extend_from_slice(json::closing(self.digest.class(open.node as usize)));
        sink.put(&self.gap)
    }
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

    /// Write a text with the strays inside it.
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

/// A node whose children are being written.
struct Open {
    left: u32,
    tag: u32,
    node: u32,
    ends: bool,
    leaf: bool,
}

/// The walk all kinds share.
fn walk(digest: &Digest, sink: &mut impl Sink, hand: &mut impl Hand) -> bool {
    // Widened once: four indexed loads a node cost more than four passes.
    let (children, tags, attr, content) = (
        digest.children().to_vec(),
        digest.tag().to_vec(),
        digest.attr().to_vec(),
        digest.content().to_vec(),
    );
    let infos: Vec<_> = (0..digest.tag_count())
        .map(|tag| digest.tag_info(tag))
        .collect();
    let runs = Strings {
        heap: digest.section(Section::AttrHeap),
        offsets: digest.attr_offsets(),
    };
    let contents = Strings {
        heap: digest.section(Section::ContentHeap),
        offsets: digest.content_offsets(),
    };
    let mut implied = Rising::new(digest.ints(Section::Implied));
    let mut flipped = Rising::new(digest.ints(Section::EndFlipped));
    let mut strays = Strays::new(digest);
    let mut stack: Vec<Open> = Vec::with_capacity(64);
    for i in 0..digest.n() {
        let node = i as u32;
        let depth = stack.len() as u32;
        let tag = tags[i] as usize;
        let info = infos[tag];
        let count = children[i];
        let leaf = info.class.is_leaf();
        let place = Place {
            node: i,
            tag,
            class: info.class,
            attr: attr[i],
            children: count,
            implied: implied.take(node),
        };
        let written = hand.open(&place, sink).unwrap_or_else(|| {
            let text = if place.implied {
                &[]
            } else {
                contents.get(content[i])
            };
            strays.put_text(node, depth, text, sink)
        });
        if !written || !strays.put(node, depth, sink) {
            return false;
        }
        let predicted = info.ends && !self_closed(info.namespace, || runs.get(attr[i]));
        let open = Open {
            left: count,
            tag: tag as u32,
            node,
            ends: flipped.take(node) != predicted,
            leaf,
        };
        if count > 0 {
            stack.push(open);
        } else if !(hand.close(&open, sink) && (depth == 0 || strays.put(node, depth - 1, sink))) {
            return false;
        }
        // One child less to come; parents without any more close.
        while let Some(top) = stack.last_mut() {
            if top.left > 0 {
                top.left -= 1;
                break;
            }
            if !hand.close(top, sink) {
                return false;
            }
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

/// Whether a run says `<a ... />` in a place where that means "no content, no end tag".
#[inline]
pub fn self_closed<'a>(namespace: Namespace, run: impl FnOnce() -> &'a [u8]) -> bool {
    namespace != Namespace::Html && run().ends_with(b"/")
}
