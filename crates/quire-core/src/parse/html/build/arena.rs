//! Places nodes in the tree: in direct pre-order as long as possible, with links once a node must
//! go elsewhere.
//!
//! On nearly all pages every new node is appended to the rightmost path of the tree, so creation
//! order is pre-order and one parent per node is enough. The check is one comparison. The first
//! time a node has to go elsewhere (foster parenting, the adoption agency, white space after
//! `</body>`), sibling links are built from the parents in one pass, kept from then on, and walked
//! once at the end.

use super::follow::Follow;
use crate::base::vec_pool::Reused;
use crate::page::text_mode::Mode;
use crate::page::tree::NONE;
use crate::page::vocabulary::{TEXT, Tag};
use crate::parse::draft::{Draft, DraftNode, IMPLIED, IN_PIECES, Piece};

/// Sibling links, by node.
#[derive(Default)]
struct Links {
    /// The first child.
    first: Vec<u32>,
    /// The sibling before; of the first child, the last one.
    prev: Vec<u32>,
    /// The sibling after; [`NONE`] for the last one.
    next: Vec<u32>,
}

/// An insertion point in the tree: after the last child of `parent`, or right before one of its
/// children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The parent.
    pub parent: u32,
    /// The child to insert before; [`NONE`] to append.
    pub before: u32,
}

impl Spot {
    /// Return the insertion point after the last child of `parent`.
    pub fn last_of(parent: u32) -> Self {
        Self {
            parent,
            before: NONE,
        }
    }
}

/// The tree under construction.
pub struct Arena {
    /// The draft that nodes are written to.
    pub draft: Draft,
    /// Depth of each node while nodes are in pre-order; empty once there are links.
    depth: Reused<u16>,
    /// The rightmost path: `path[d]` is its node at depth `d`.
    path: Vec<u32>,
    links: Option<Links>,
    follow: Follow,
}

impl Arena {
    /// Create an arena with only the document.
    pub fn new(bytes: usize) -> Self {
        let draft = Draft::new(bytes);
        let mut depth = Reused::with_capacity(draft.nodes.capacity());
        depth.push(0);
        let mut path = Vec::with_capacity(64);
        path.push(0);
        let follow = Follow::new(draft.nodes.capacity());
        Self {
            draft,
            depth,
            path,
            links: None,
            follow,
        }
    }

    /// Add a node at an insertion point.
    #[inline(always)]
    #[allow(clippy::inline_always)] // a call would pass the node through memory, and wait for it
    pub fn add(&mut self, spot: Spot, mut node: DraftNode) -> u32 {
        node.parent = spot.parent;
        if self.links.is_none() {
            let depth = self.depth[spot.parent as usize];
            let level = depth as usize;
            if spot.before == NONE
                && level < self.path.len()
                && self.path[level] == spot.parent
                && depth < u16::MAX
            {
                let id = self.draft.push(node);
                self.depth.push(depth + 1);
                self.path.truncate(level + 1);
                self.path.push(id);
                self.follow.node(&node, u32::from(depth) + 1);
                return id;
            }
        }
        self.add_linked(spot, node)
    }

    /// Add a node that is not the next in pre-order, or comes after one that was not.
    #[cold]
    #[inline(never)]
    fn add_linked(&mut self, spot: Spot, node: DraftNode) -> u32 {
        let links = self.links();
        for list in [&mut links.first, &mut links.prev, &mut links.next] {
            list.push(NONE);
        }
        let id = self.draft.push(node);
        self.attach(id, spot);
        id
    }

    /// Build the links from the parents.
    #[cold]
    fn link_up(&mut self) {
        self.follow.out_of_order();
        self.depth = Reused::default();
        let n = self.draft.nodes.len();
        let mut links = Links {
            first: vec![NONE; n],
            prev: vec![NONE; n],
            next: vec![NONE; n],
        };
        for (id, node) in self.draft.nodes.iter().enumerate().skip(1) {
            if node.parent != NONE {
                links.append(id as u32, node.parent);
            }
        }
        self.links = Some(links);
    }

    fn links(&mut self) -> &mut Links {
        if self.links.is_none() {
            self.link_up();
        }
        self.links.get_or_insert_default()
    }

    fn attach(&mut self, id: u32, spot: Spot) {
        self.draft.nodes[id as usize].parent = spot.parent;
        let links = self.links();
        if spot.before == NONE {
            links.append(id, spot.parent);
        } else {
            links.insert_before(id, spot);
        }
    }

    /// Remove a node with its subtree from the tree.
    pub fn detach(&mut self, id: u32) {
        self.follow.lose();
        let parent = self.draft.nodes[id as usize].parent;
        let links = self.links();
        if parent != NONE {
            links.remove(id, parent);
            self.draft.nodes[id as usize].parent = NONE;
        }
    }

    /// Move a node with its subtree to an insertion point.
    pub fn move_to(&mut self, id: u32, spot: Spot) {
        self.detach(id);
        self.attach(id, spot);
    }

    /// Move all children of `from` to the end of `to`.
    pub fn move_children(&mut self, from: u32, to: u32) {
        let mut child = self.links().first[from as usize];
        while child != NONE {
            let next = self.links().next[child as usize];
            self.move_to(child, Spot::last_of(to));
            child = next;
        }
    }

    /// Return the parent of a node; [`NONE`] if it is not in the tree.
    pub fn parent(&self, id: u32) -> u32 {
        self.draft.nodes[id as usize].parent
    }

    /// Return the node right before an insertion point.
    #[inline]
    fn node_before(&mut self, spot: Spot) -> u32 {
        if self.links.is_none() {
            let level = self.depth[spot.parent as usize] as usize;
            if spot.before == NONE && self.path.get(level) == Some(&spot.parent) {
                return self.path.get(level + 1).copied().unwrap_or(NONE);
            }
        }
        let links = self.links();
        if spot.before == NONE {
            links.last_of(spot.parent)
        } else if links.first[spot.parent as usize] == spot.before {
            NONE
        } else {
            links.prev[spot.before as usize]
        }
    }

    /// Add text at an insertion point; extends the text already there, if any.
    pub fn add_text(&mut self, spot: Spot, start: usize, end: usize, mode: Mode) {
        let (start, end) = (start as u32, end as u32);
        let before = self.node_before(spot);
        if before != NONE && self.draft.tag(before as usize) == TEXT {
            self.add_to_text(before, start, end);
            return;
        }
        self.add(
            spot,
            DraftNode {
                tag: TEXT,
                parent: 0,
                start,
                run: start,
                end,
                flags: 0,
                mode,
            },
        );
    }

    fn add_to_text(&mut self, text: u32, start: u32, end: u32) {
        let node = &mut self.draft.nodes[text as usize];
        // Without depths the source is no longer followed.
        let depth = self
            .depth
            .get(text as usize)
            .map_or(0, |&depth| depth.into());
        if !node.has(IN_PIECES) && node.end == start {
            node.end = end;
            self.follow.text(text, depth, start, end, false);
            return;
        }
        node.set(IN_PIECES);
        let pieces = &mut self.draft.pieces;
        let new_piece = match pieces.last_mut() {
            Some(last) if last.node == text && last.end == start => {
                last.end = end;
                false
            }
            _ => {
                let node = text;
                pieces.push(Piece { node, start, end });
                true
            }
        };
        self.follow.text(text, depth, start, end, new_piece);
    }

    /// Record the end tag of an open element.
    #[inline]
    pub fn end_tag(&mut self, node: u32, start: u32, end: u32, odd: bool) {
        self.draft.end_tag(node, start, end, odd);
        match self.depth.get(node as usize) {
            Some(&depth) if self.path.get(depth as usize) == Some(&node) => {
                self.follow.end(node, depth.into(), start, end, odd);
            }
            _ => self.follow.lose(),
        }
    }

    /// Stop following the source, because the next step depends on later input: see
    /// [`Follow::halt`].
    pub fn stop_following(&mut self) {
        self.follow.halt();
    }

    /// Give up following the source, because a node no longer matches its start tag: see
    /// [`Follow::lose`].
    pub fn lose_trail(&mut self) {
        self.follow.lose();
    }

    /// Add a node without a tag in the source.
    pub fn add_implied(&mut self, spot: Spot, tag: Tag) -> u32 {
        let node = DraftNode {
            tag,
            parent: 0,
            start: 0,
            run: 0,
            end: 0,
            flags: IMPLIED,
            mode: Mode::Plain,
        };
        self.add(spot, node)
    }

    /// Add a copy of an element, without its children.
    pub fn add_clone(&mut self, spot: Spot, original: u32) -> u32 {
        let mut node = self.draft.node(original as usize);
        node.flags |= IMPLIED;
        node.start = node.run;
        self.add(spot, node)
    }

    /// Finish the draft; record the node order if it differs from the order of creation.
    pub fn finish(mut self) -> Draft {
        let Some(Links { first, prev, next }) = self.links.take() else {
            self.draft.trail = self.follow.finish();
            return self.draft;
        };
        drop(prev);
        let mut order = Vec::with_capacity(self.draft.nodes.len());
        let mut at = 0u32;
        loop {
            order.push(at);
            if first[at as usize] != NONE {
                at = first[at as usize];
                continue;
            }
            while at != 0 && next[at as usize] == NONE {
                at = self.draft.nodes[at as usize].parent;
            }
            if at == 0 {
                break;
            }
            at = next[at as usize];
        }
        let in_order = order.len() == self.draft.nodes.len() && order.is_sorted();
        if in_order {
            self.draft.trail = self.follow.finish();
        } else {
            self.draft.order = Some(order);
        }
        self.draft
    }
}

impl Links {
    fn last_of(&self, parent: u32) -> u32 {
        match self.first[parent as usize] {
            NONE => NONE,
            first => self.prev[first as usize],
        }
    }

    fn append(&mut self, id: u32, parent: u32) {
        self.next[id as usize] = NONE;
        let first = self.first[parent as usize];
        if first == NONE {
            self.first[parent as usize] = id;
            self.prev[id as usize] = id;
            return;
        }
        let last = self.prev[first as usize];
        self.next[last as usize] = id;
        self.prev[id as usize] = last;
        self.prev[first as usize] = id;
    }

    fn insert_before(&mut self, id: u32, spot: Spot) {
        let prev = self.prev[spot.before as usize];
        self.prev[id as usize] = prev;
        self.next[id as usize] = spot.before;
        self.prev[spot.before as usize] = id;
        if self.first[spot.parent as usize] == spot.before {
            self.first[spot.parent as usize] = id;
        } else {
            self.next[prev as usize] = id;
        }
    }

    fn remove(&mut self, id: u32, parent: u32) {
        let (prev, next) = (self.prev[id as usize], self.next[id as usize]);
        let first = self.first[parent as usize];
        if first == id {
            self.first[parent as usize] = next;
        } else {
            self.next[prev as usize] = next;
        }
        // The last child is known to the first one.
        let after = match next {
            NONE => first,
            next => next,
        };
        self.prev[after as usize] = prev;
    }
}
