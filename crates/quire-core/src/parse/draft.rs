//! The draft: the result of a parser, before it becomes columns.
//!
//! Every kind of page (HTML, XML, JSON, text) has its own parser, and all of them write the same
//! draft: nodes in the order they were found, each with its position in the source, and the end
//! tags with theirs. A parser records only the bytes that nodes *own*; [`crate::encode::leftovers`]
//! later finds all others as gaps. So a parser cannot lose bytes, it can only describe them less
//! well.

use std::hash::{BuildHasher, RandomState};

use crate::base::vec_pool::{Reused, kept};
use crate::page::html_names;
use crate::page::text_mode::Mode;
use crate::page::tree::NONE;
use crate::page::vocabulary::{Class, DOCUMENT, Namespace, SPECIAL, SPECIAL_NAMES, Tag};
use crate::parse::trail::Trail;

/// The node has no bytes of its own: it is implied by the rules, or a clone of another node.
pub const IMPLIED: u8 = 1;
/// Its bytes differ from those its name and run predict (`<DIV>` for `div`, unusual JSON spacing).
pub const ODD: u8 = 2;
/// A text in several pieces; the later ones are in [`Draft::pieces`].
pub const IN_PIECES: u8 = 4;
/// The attributes of two tags were merged; the joined run is in [`Draft::joined_runs`].
pub const JOINED: u8 = 8;

/// One node, as a parser describes it.
#[derive(Clone, Copy, Debug)]
pub struct DraftNode {
    /// Index into [`Draft::names`].
    pub tag: Tag,
    /// The parent, as an index into [`Draft::nodes`].
    pub parent: u32,
    /// Where its own bytes begin: the `<` of its start tag, or the first byte of a leaf.
    pub start: u32,
    /// Elements: where the attribute run begins, right after the name.
    pub run: u32,
    /// Where its own bytes end: after the `>` of the start tag, or after the leaf.
    pub end: u32,
    /// [`IMPLIED`], [`ODD`], [`IN_PIECES`], [`JOINED`].
    pub flags: u8,
    /// Leaves: how to read them.
    pub mode: Mode,
}

/// One node, as a draft stores it: in 16 bytes, because a page can have a node for each byte.
#[derive(Clone, Copy, Debug)]
pub struct StoredNode {
    /// The parent, as an index into [`Draft::nodes`].
    pub parent: u32,
    /// Where its own bytes begin. Changed by [`Draft::set_start`].
    start: u32,
    /// Where its own bytes end.
    pub end: u32,
    /// The lower half of its tag; the upper one is in [`Draft::high_tags`].
    low_tag: u16,
    /// Bytes from `start` to `run`; [`FAR`] if they are in [`Draft::far_runs`].
    lead: u8,
    /// The flags in the lower four bits, the mode above them.
    bits: u8,
}

/// Stands for a distance of this or more between `start` and `run`: few names are so long.
const FAR: u8 = u8::MAX;
const MODE_SHIFT: u32 = 4;

kept!(StoredNode);

impl StoredNode {
    /// Return where its own bytes begin.
    #[inline]
    pub fn start(&self) -> u32 {
        self.start
    }

    /// Whether its run begins after its start.
    #[inline]
    pub fn has_lead(&self) -> bool {
        self.lead != 0
    }

    /// Whether it has one of these flags.
    #[inline]
    pub fn has(&self, flags: u8) -> bool {
        self.bits & flags != 0
    }

    /// Set flags.
    #[inline]
    pub fn set(&mut self, flags: u8) {
        self.bits |= flags;
    }

    /// Return the number of its mode.
    #[inline]
    pub fn mode_number(&self) -> u8 {
        self.bits >> MODE_SHIFT
    }
}

/// An end tag (or closing bracket) and its node.
#[derive(Clone, Copy, Debug)]
pub struct EndTag {
    /// The node it closes.
    pub node: u32,
    /// Its first byte.
    pub start: u32,
    /// After its last byte.
    pub end: u32,
    /// Whether it differs from the predicted `</name>`.
    pub odd: bool,
}

kept!(EndTag);

/// A later piece of a text node that is interrupted in the source.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// The text node.
    pub node: u32,
    /// Its first byte.
    pub start: u32,
    /// After its last byte.
    pub end: u32,
}

/// The names of one page: the vocabulary shared by all pages, and its own.
pub struct Names {
    own: Vec<(Namespace, Class, Box<[u8]>)>,
    /// Open addressing over `own`; the length is a power of two, at most half full; [`NONE`] marks
    /// a free slot.
    slots: Vec<u32>,
    /// Differs from page to page, so that names cannot be crafted to collide.
    seed: u64,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            own: Vec::new(),
            slots: Vec::new(),
            seed: RandomState::new().hash_one(0_u8),
        }
    }
}

impl Names {
    /// Return the tag of a name outside the shared vocabulary; equal names get the same tag.
    ///
    /// Costs one hash and one comparison for a name that is already known.
    pub fn intern(&mut self, namespace: Namespace, class: Class, name: &[u8]) -> Tag {
        if let Some(tag) = self.find(namespace, class, name) {
            return tag;
        }
        let index = self.own.len() as u32;
        self.own.push((namespace, class, name.into()));
        if self.own.len() * 2 > self.slots.len() {
            self.slots = vec![NONE; (self.own.len() * 4).next_power_of_two().max(64)];
            for index in 0..=index {
                self.place(index);
            }
        } else {
            self.place(index);
        }
        html_names::KNOWN_END + index
    }

    /// Return the tag of a name that was interned before.
    pub fn find(&self, namespace: Namespace, class: Class, name: &[u8]) -> Option<Tag> {
        if self.slots.is_empty() {
            return None;
        }
        let mut slot = self.slot(namespace, class, name);
        while self.slots[slot] != NONE {
            let own = &self.own[self.slots[slot] as usize];
            if &*own.2 == name && own.0 == namespace && own.1 == class {
                return Some(html_names::KNOWN_END + self.slots[slot]);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        None
    }

    /// Return the slot where the search for a name starts.
    fn slot(&self, namespace: Namespace, class: Class, name: &[u8]) -> usize {
        let salt = (namespace as u64) << 8 | class as u64;
        crate::base::hash::hash64_seeded(name, self.seed ^ salt) as usize & (self.slots.len() - 1)
    }

    /// Put a name of the page into the first free slot of its search.
    fn place(&mut self, index: u32) {
        let (namespace, class, name) = &self.own[index as usize];
        let mut slot = self.slot(*namespace, *class, name);
        while self.slots[slot] != NONE {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = index;
    }

    /// Return the name in UTF-8, as it is in the tree.
    pub fn name(&self, tag: Tag) -> &[u8] {
        if tag < SPECIAL {
            SPECIAL_NAMES[tag as usize].0.as_bytes()
        } else if tag < html_names::KNOWN_END {
            html_names::name(tag).as_bytes()
        } else {
            &self.own[(tag - html_names::KNOWN_END) as usize].2
        }
    }

    /// Return the class of nodes with this tag.
    pub fn class(&self, tag: Tag) -> Class {
        if tag < SPECIAL {
            SPECIAL_NAMES[tag as usize].1
        } else if tag < html_names::KNOWN_END {
            Class::Element
        } else {
            self.own[(tag - html_names::KNOWN_END) as usize].1
        }
    }

    /// Return the namespace of the name.
    pub fn namespace(&self, tag: Tag) -> Namespace {
        if tag < SPECIAL {
            Namespace::Html
        } else if tag < html_names::KNOWN_END {
            html_names::namespace(tag)
        } else {
            self.own[(tag - html_names::KNOWN_END) as usize].0
        }
    }

    /// One more than the largest tag in use.
    pub fn len(&self) -> usize {
        html_names::KNOWN_END as usize + self.own.len()
    }

    /// Whether the page has no names of its own.
    pub fn is_empty(&self) -> bool {
        self.own.is_empty()
    }
}

/// A page as its parser read it. Node 0 is the document.
pub struct Draft {
    /// The vocabulary.
    pub names: Names,
    /// Nodes in the order of creation.
    pub nodes: Reused<StoredNode>,
    /// The upper halves of all tags; empty unless a page has tens of thousands of names.
    high_tags: Vec<u16>,
    /// Where the attribute runs of nodes with [`FAR`] begin (node, run), ordered by node.
    far_runs: Vec<(u32, u32)>,
    /// Pre-order as indices into `nodes`, if creation order is not already pre-order.
    pub order: Option<Vec<u32>>,
    /// End tags in source order.
    pub ends: Reused<EndTag>,
    /// Later pieces of texts, in source order.
    pub pieces: Vec<Piece>,
    /// Attribute runs joined from several tags (node, run), ordered by node.
    pub joined_runs: Vec<(u32, Vec<u8>)>,
    /// How far the parser itself has followed the source, if it did.
    pub trail: Option<Trail>,
    /// Whether any node or end tag is [`ODD`].
    pub any_odd: bool,
    /// Flags of the page as a whole.
    pub flags: crate::page::flags::Flags,
}

impl Draft {
    /// Create the draft of a page of `bytes` bytes, with the document as its only node.
    pub fn new(bytes: usize) -> Self {
        let mut draft = Self {
            names: Names::default(),
            nodes: Reused::with_capacity(bytes / 40 + 8),
            high_tags: Vec::new(),
            far_runs: Vec::new(),
            order: None,
            ends: Reused::with_capacity(bytes / 96 + 8),
            pieces: Vec::new(),
            joined_runs: Vec::new(),
            trail: None,
            any_odd: false,
            flags: crate::page::flags::Flags::default(),
        };
        draft.push(DraftNode {
            tag: DOCUMENT,
            parent: NONE,
            start: 0,
            run: 0,
            end: 0,
            flags: IMPLIED,
            mode: Mode::Plain,
        });
        draft
    }

    /// Append an element whose start tag is `start..end`, with the attribute run from `run`.
    pub fn element(&mut self, parent: u32, tag: Tag, start: u32, run: u32, end: u32) -> u32 {
        self.push(DraftNode {
            tag,
            parent,
            start,
            run,
            end,
            flags: 0,
            mode: Mode::Plain,
        })
    }

    /// Append a leaf whose bytes are `start..end`.
    pub fn leaf(&mut self, parent: u32, tag: Tag, start: u32, end: u32, mode: Mode) -> u32 {
        self.push(DraftNode {
            tag,
            parent,
            start,
            run: start,
            end,
            flags: 0,
            mode,
        })
    }

    /// Append any node.
    #[inline]
    pub fn push(&mut self, node: DraftNode) -> u32 {
        let id = self.nodes.len() as u32;
        self.any_odd |= node.flags & ODD != 0;
        let lead = node.run - node.start;
        if lead >= u32::from(FAR) || node.tag > u32::from(u16::MAX) || !self.high_tags.is_empty() {
            self.push_rest(id, &node);
        }
        self.nodes.push(StoredNode {
            parent: node.parent,
            start: node.start,
            end: node.end,
            low_tag: node.tag as u16,
            lead: lead.min(u32::from(FAR)) as u8,
            bits: node.flags | (node.mode as u8) << MODE_SHIFT,
        });
        id
    }

    /// Store the parts of a node that do not fit into [`StoredNode`].
    #[cold]
    fn push_rest(&mut self, id: u32, node: &DraftNode) {
        if node.run - node.start >= u32::from(FAR) {
            self.far_runs.push((id, node.run));
        }
        if node.tag > u32::from(u16::MAX) || !self.high_tags.is_empty() {
            self.high_tags.resize(id as usize, 0);
            self.high_tags.push((node.tag >> 16) as u16);
        }
    }

    /// Remove the last node.
    pub fn pop(&mut self) {
        self.nodes.pop();
        self.high_tags.truncate(self.nodes.len());
        let removed = |&mut (node, _): &mut (u32, u32)| node as usize >= self.nodes.len();
        self.far_runs.pop_if(removed);
    }

    /// Return the tag of a node.
    #[inline]
    pub fn tag(&self, node: usize) -> Tag {
        let low = u32::from(self.nodes[node].low_tag);
        if self.high_tags.is_empty() {
            return low;
        }
        low | u32::from(self.high_tags[node]) << 16
    }

    /// Return where the attribute run of an element, or the token of a JSON node, begins.
    #[inline]
    pub fn run(&self, node: usize) -> u32 {
        let stored = &self.nodes[node];
        if stored.lead == FAR {
            return self.far_run(node);
        }
        stored.start + u32::from(stored.lead)
    }

    #[cold]
    fn far_run(&self, node: usize) -> u32 {
        let found = self
            .far_runs
            .binary_search_by_key(&(node as u32), |&(node, _)| node);
        found.map_or(self.nodes[node].start, |at| self.far_runs[at].1)
    }

    /// Let the bytes of a node begin later, at most where its run begins.
    pub fn set_start(&mut self, node: usize, start: u32) {
        let lead = self.run(node) - start;
        let stored = &mut self.nodes[node];
        stored.start = start;
        stored.lead = lead.min(u32::from(FAR)) as u8;
    }

    /// Return a node as its parser described it.
    pub fn node(&self, node: usize) -> DraftNode {
        let stored = &self.nodes[node];
        DraftNode {
            tag: self.tag(node),
            parent: stored.parent,
            start: stored.start,
            run: self.run(node),
            end: stored.end,
            flags: stored.bits & (IMPLIED | ODD | IN_PIECES | JOINED),
            mode: Mode::from_u8(stored.mode_number()).unwrap_or(Mode::Plain),
        }
    }

    /// Return all nodes in the order of creation.
    pub fn iter(&self) -> impl Iterator<Item = DraftNode> {
        (0..self.nodes.len()).map(|node| self.node(node))
    }

    /// Record the end tag of `node`.
    pub fn end_tag(&mut self, node: u32, start: u32, end: u32, odd: bool) {
        self.any_odd |= odd;
        self.ends.push(EndTag {
            node,
            start,
            end,
            odd,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::vocabulary::TEXT;

    #[test]
    fn a_draft_starts_with_the_document() {
        // <a>hi</a>
        let mut draft = Draft::new(9);
        let a = draft.names.intern(Namespace::Xml, Class::Element, b"a");
        let node = draft.element(0, a, 0, 2, 3);
        draft.leaf(node, TEXT, 3, 5, Mode::Data);
        draft.end_tag(node, 5, 9, false);
        assert_eq!(draft.nodes.len(), 3); // including the document
    }

    // Long names and gaps, and tags beyond 16 bits, are stored beside the nodes.
    #[test]
    fn a_node_is_read_as_it_was_written() {
        assert_eq!(size_of::<StoredNode>(), 16);
        let mut draft = Draft::new(9);
        let mut nodes = vec![draft.node(0)];
        for tag in [1, 17, 0xffff, 0x1_0000, 2, 0x7fff_ffff] {
            for lead in [0, 1, 254, 255, 256, 70_000] {
                for flags in [0, IMPLIED | JOINED, ODD, IN_PIECES] {
                    let node = DraftNode {
                        tag,
                        parent: 7,
                        start: 10,
                        run: 10 + lead,
                        end: 80_000,
                        flags,
                        mode: Mode::RcdataAfterTextarea,
                    };
                    draft.push(node);
                    nodes.push(node);
                }
            }
        }
        let shown = |nodes: &[DraftNode]| format!("{nodes:?}");
        let read = |draft: &Draft| shown(&draft.iter().collect::<Vec<_>>());
        assert_eq!(read(&draft), shown(&nodes));
        for (id, node) in nodes.iter_mut().enumerate() {
            node.start = (node.run - node.run / 2).max(node.start);
            draft.set_start(id, node.start);
        }
        assert_eq!(read(&draft), shown(&nodes));
        while nodes.len() > 1 {
            draft.pop();
            nodes.pop();
            assert_eq!(read(&draft), shown(&nodes));
        }
    }
}
