//! The predictor: walks a JSON tree in pre-order and derives the gap at each position.
//!
//! Both sides use it: the parser to mark tokens that differ from the prediction, the emitter to
//! write the others. It keeps one small frame for each open node and never recurses.

use super::layout::{Gap, Layout, gap_before, gap_close};
use crate::page::vocabulary::Class;
use crate::parse::draft::{Draft, ODD};

/// Whether an array holds only scalars, given the classes of the nodes that follow it in pre-order
/// and the number of its children.
///
/// A scalar has no children, so if the next `children` nodes are scalars, they are the children.
/// Stops at the first other node; linear over a whole tree.
pub fn all_scalars(following: impl IntoIterator<Item = Class>, children: usize) -> bool {
    following
        .into_iter()
        .take(children)
        .all(|class| class == Class::Scalar)
}

/// Append the token of a node: its bracket, its key in quotes, or its content.
///
/// `bytes` is the name of a member or the content of a scalar.
pub fn write_token(class: Class, bytes: &[u8], out: &mut Vec<u8>) {
    match class {
        Class::Object => out.push(b'{'),
        Class::Array => out.push(b'['),
        Class::Member => {
            out.push(b'"');
            out.extend_from_slice(bytes);
            out.push(b'"');
        }
        Class::Scalar => out.extend_from_slice(bytes),
        _ => {}
    }
}

/// Return the closing bracket of a class; empty for classes without one.
#[must_use]
pub fn closing(class: Class) -> &'static [u8] {
    match class {
        Class::Object => b"}",
        Class::Array => b"]",
        _ => b"",
    }
}

/// One open node.
struct Frame {
    class: Class,
    inline: bool,
    begun: bool,
}

impl Frame {
    /// Whether its items are indented one level deeper.
    fn is_level(&self) -> bool {
        matches!(self.class, Class::Object | Class::Array) && !self.inline
    }
}

/// Predicts the gap before each token of a tree that is walked in pre-order.
///
/// Starts inside the document. Call [`open`](Self::open) for every node, and [`close`](Self::close)
/// after the children of every node that is not a leaf, even if the bytes are not needed (the node
/// is odd, the bracket is missing): a gap costs nothing until it is written. Code that walks
/// untrusted columns must stop writing at the known length of the source, because nested nodes with
/// an indent can predict more bytes than any source has.
///
/// ```
/// use quire_core::json::{Indent, Layout, Predictor, closing, write_token};
/// use quire_core::Class;
///
/// let layout = Layout { indent: Indent::Spaces(2), key_gap: 1, ..Layout::default() };
/// let mut predictor = Predictor::new(layout);
/// let mut out = Vec::new();
/// for (class, bytes) in [(Class::Object, ""), (Class::Member, "a"), (Class::Scalar, "1")] {
///     predictor.open(class, false).write(&mut out);
///     write_token(class, bytes.as_bytes(), &mut out);
/// }
/// for class in [Class::Member, Class::Object] {
///     predictor.close().write(&mut out);
///     out.extend_from_slice(closing(class));
/// }
/// assert_eq!(out, b"{\n  \"a\": 1\n}");
/// ```
pub struct Predictor {
    layout: Layout,
    /// Open nodes; the document is the lowest and never removed.
    open: Vec<Frame>,
    /// Levels of indent inside the innermost open node.
    depth: u32,
}

impl Predictor {
    /// Create a predictor at the start of a document.
    #[must_use]
    pub fn new(layout: Layout) -> Self {
        let document = Frame {
            class: Class::Document,
            inline: false,
            begun: false,
        };
        Self {
            layout,
            open: vec![document],
            depth: 0,
        }
    }

    /// Return the gap before a node; the node is now open unless its class is a leaf.
    ///
    /// `all_scalars` matters only for arrays (see [`all_scalars`]).
    pub fn open(&mut self, class: Class, all_scalars: bool) -> Gap {
        let gap = match self.open.last_mut() {
            Some(parent) => {
                let first = !std::mem::replace(&mut parent.begun, true);
                gap_before(self.layout, parent.class, parent.inline, first, self.depth)
            }
            None => Gap::default(),
        };
        if !class.is_leaf() {
            let inline = self.layout.is_inline(class, all_scalars);
            let frame = Frame {
                class,
                inline,
                begun: false,
            };
            self.depth += u32::from(frame.is_level());
            self.open.push(frame);
        }
        gap
    }

    /// Return the gap before the closing bracket of the innermost open node, and close that node.
    ///
    /// Empty for members, and when nothing is open.
    pub fn close(&mut self) -> Gap {
        if self.open.len() < 2 {
            return Gap::default();
        }
        let Some(frame) = self.open.pop() else {
            return Gap::default();
        };
        self.depth -= u32::from(frame.is_level());
        gap_close(
            self.layout,
            frame.class,
            frame.inline,
            !frame.begun,
            self.depth,
        )
    }
}

/// A position with a gap before it: an index into the nodes or the end tags of a draft.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Node(usize),
    End(usize),
}

/// Walks a draft in source order next to a predictor. Linear over the whole walk.
pub(super) struct Walk {
    predictor: Predictor,
    layout: Layout,
    open: Vec<u32>,
    node: usize,
    end: usize,
}

impl Walk {
    pub fn new(layout: Layout) -> Self {
        Self {
            predictor: Predictor::new(layout),
            layout,
            open: vec![0],
            node: 1,
            end: 0,
        }
    }

    /// Return the next position and the gap predicted there.
    pub fn next(&mut self, draft: &Draft) -> Option<(Place, Gap)> {
        loop {
            let next = draft.nodes.get(self.node);
            let &top = self.open.last()?;
            if next.is_some_and(|node| node.parent == top) {
                let class = draft.names.class(draft.tag(self.node));
                let gap = self.predictor.open(class, self.holds_scalars(draft, class));
                if !class.is_leaf() {
                    self.open.push(self.node as u32);
                }
                self.node += 1;
                return Some((Place::Node(self.node - 1), gap));
            }
            self.open.pop();
            let gap = self.predictor.close();
            if draft.ends.get(self.end).is_some_and(|end| end.node == top) {
                self.end += 1;
                return Some((Place::End(self.end - 1), gap));
            }
        }
    }

    /// Whether the node being opened is an array of scalars; not computed if it does not matter.
    fn holds_scalars(&self, draft: &Draft, class: Class) -> bool {
        let depends = !self.layout.is_inline(class, false) && self.layout.is_inline(class, true);
        depends && {
            let here = self.node as u32;
            let items = (self.node + 1..draft.nodes.len())
                .take_while(|&node| draft.nodes[node].parent == here);
            all_scalars(
                items.map(|node| draft.names.class(draft.tag(node))),
                usize::MAX,
            )
        }
    }
}

/// Mark every node and end tag whose bytes differ from the prediction. If the bytes end with the
/// predicted gap, the white space before it is left to no node.
pub(super) fn mark(source: &[u8], draft: &mut Draft, layout: Layout) {
    let mut walk = Walk::new(layout);
    while let Some((place, gap)) = walk.next(draft) {
        let odd = match place {
            Place::Node(at) => {
                let node = draft.node(at);
                let name = draft.names.name(node.tag);
                let odd = !gap.ends(&source[node.start as usize..node.run as usize])
                    || draft.names.class(node.tag) == Class::Member
                        && *name != source[node.run as usize + 1..node.end as usize - 1];
                if odd {
                    draft.nodes[at].set(ODD);
                } else {
                    draft.set_start(at, node.run - gap.len() as u32);
                }
                odd
            }
            Place::End(at) => {
                let end = &mut draft.ends[at];
                end.odd = !gap.ends(&source[end.start as usize..end.end as usize - 1]);
                if !end.odd {
                    end.start = end.end - 1 - gap.len() as u32;
                }
                end.odd
            }
        };
        draft.any_odd |= odd;
    }
}
