//! Leftovers: the bytes of the source that the tree does not predict.
//!
//! A walker goes through the tree in pre-order and predicts, for every node, its start tag or text,
//! and after its children its end tag. This module follows the source with that walker and records
//! where the two differ:
//!
//! * **implied** nodes write no bytes of their own: the source has no tag for them, has it
//!   somewhere else, or spells it differently;
//! * **ends**: which nodes have their end tag in the source;
//! * **strays**: every part of the source that no node accounts for, with its position in the walk.
//!
//! A stray tag, white space that the rules drop, a moved node, a second `<body>`: each of these is
//! implied nodes plus a stray, so none needs a special rule and no byte can be missed. Strays
//! repeat bytes, so a page with many of them is better stored whole (see
//! [`assemble`](mod@crate::encode::assemble)).
//!
//! Cost: one pass over nodes, end tags and pieces, each in source order. A text that turns out to
//! be split across positions is written as a stray instead, which takes another pass; after
//! [`MAX_PASSES`] the page is stored verbatim.

use std::collections::{HashMap, HashSet};

use crate::base::vec_pool::Reused;
use crate::encode::preorder::Order;
use crate::encode::tag_spelling::Spellings;
use crate::page::tree::NONE;
use crate::parse::draft::{Draft, EndTag, IMPLIED, IN_PIECES, JOINED, ODD, Piece, StoredNode};
use crate::parse::trail::{ENDED, SILENT, Stray, Trail};

/// Only a hostile page needs more passes than this.
const MAX_PASSES: usize = 4;

/// Everything about the bytes that the tree alone does not predict.
pub struct Exceptions {
    /// [`SILENT`] and [`ENDED`], by pre-order position.
    pub marks: Reused<u8>,
    /// Bytes that no node predicts, in the order of the walk.
    pub strays: Vec<Stray>,
}

/// Follow the source with the walk, starting where the parser stopped. `None` if a page splits too
/// many texts.
pub fn reconcile(
    draft: &Draft,
    order: &Order,
    spellings: &Spellings,
    source: &[u8],
    trail: Option<Trail>,
) -> Option<Exceptions> {
    let mut split = HashSet::new();
    // Spellings are decided by a vote at the end of the page; the parser follows the usual ones.
    let mut trail = trail.filter(|_| !spellings.any);
    for _ in 0..MAX_PASSES {
        let trail = trail.take().unwrap_or_default();
        let mut walk = Walk::new(draft, order, spellings, source, &split, trail);
        walk.run();
        if walk.conflicts.is_empty() {
            return Some(Exceptions {
                marks: walk.trail.marks,
                strays: walk.trail.strays,
            });
        }
        let conflicts = std::mem::take(&mut walk.conflicts);
        split.extend(conflicts);
    }
    None
}

/// The walker that follows the source.
struct Walk<'a> {
    draft: &'a Draft,
    order: &'a Order,
    spellings: &'a Spellings,
    source: &'a [u8],
    /// Texts written as strays because their pieces are at different positions.
    split: &'a HashSet<u32>,
    /// Pieces still to come, by text node (creation index).
    pieces_left: HashMap<u32, u32>,
    /// The first node after `trail.at` with bytes in the source.
    next_sourced: NextSourced,
    /// The node at `trail.at` and its ancestors, by depth.
    path: Vec<u32>,
    /// Whether the text at `trail.at` has started and has later pieces in the draft.
    in_pieces: bool,
    /// The state of the walk.
    trail: Trail,
    conflicts: Vec<u32>,
}

impl<'a> Walk<'a> {
    fn new(
        draft: &'a Draft,
        order: &'a Order,
        spellings: &'a Spellings,
        source: &'a [u8],
        split: &'a HashSet<u32>,
        trail: Trail,
    ) -> Self {
        let mut pieces_left = HashMap::new();
        for piece in &draft.pieces[trail.pieces..] {
            *pieces_left.entry(piece.node).or_insert(0) += 1;
        }
        // A trail from the parser is in the order of creation, which is pre-order in that case.
        let at = trail.at;
        let mut walk = Self {
            draft,
            order,
            spellings,
            source,
            split,
            pieces_left,
            next_sourced: NextSourced::default(),
            path: Vec::with_capacity(64),
            in_pieces: draft.nodes[at as usize].has(IN_PIECES),
            trail,
            conflicts: Vec::new(),
        };
        let mut open = at;
        while open != 0 {
            walk.path.push(open);
            open = draft.nodes[open as usize].parent;
        }
        walk.path.push(0);
        walk.path.reverse();
        walk
    }

    /// Merge nodes, end tags and pieces in source order.
    fn run(&mut self) {
        let draft = self.draft;
        let mut ends = &draft.ends[self.trail.ends..];
        let mut pieces = &draft.pieces[self.trail.pieces..];
        let passed = self.trail.marks.len().max(1);
        self.trail.marks.resize(self.order.len(), 0);
        self.trail.marks[0] = SILENT;
        for (node, entry) in draft.nodes.iter().enumerate().skip(passed) {
            if entry.has(IMPLIED) {
                continue;
            }
            self.run_before(entry.start(), &mut ends, &mut pieces);
            self.start(node as u32, entry);
        }
        self.run_before(NONE, &mut ends, &mut pieces);
        self.trail.flush(self.source.len() as u32);
        for mark in &mut self.trail.marks[self.trail.at as usize + 1..] {
            *mark |= SILENT;
        }
    }

    /// Process the end tags and pieces before `limit` in the source.
    #[inline]
    fn run_before(&mut self, limit: u32, ends: &mut &'a [EndTag], pieces: &mut &'a [Piece]) {
        loop {
            let end_at = ends.first().map_or(NONE, |e| e.start);
            let piece_at = pieces.first().map_or(NONE, |p| p.start);
            if end_at.min(piece_at) >= limit {
                return;
            }
            if end_at <= piece_at {
                if let Some((end, rest)) = ends.split_first() {
                    *ends = rest;
                    self.end(end);
                }
            } else if let Some((piece, rest)) = pieces.split_first() {
                *pieces = rest;
                self.piece(piece);
            }
        }
    }

    /// Open every node up to `place`; those before it have no bytes here.
    #[inline]
    fn open(&mut self, place: u32) {
        for skipped in self.trail.at + 1..place {
            self.trail.marks[skipped as usize] |= SILENT;
            self.enter(skipped);
        }
        self.enter(place);
        self.trail.at = place;
        self.trail.level = self.depth();
        self.trail.offset = 0;
        self.in_pieces = false;
    }

    /// Go on to the next node in pre-order.
    #[inline]
    fn enter(&mut self, place: u32) {
        let parent = self.order.parent(self.draft, place as usize);
        while self.path.last().is_some_and(|&last| last != parent) {
            self.path.pop();
        }
        self.path.push(place);
    }

    /// Return the depth of the node at `trail.at`.
    #[inline]
    fn depth(&self) -> u32 {
        self.path.len() as u32 - 1
    }

    /// Return the depth of a node if it is open.
    #[inline]
    fn depth_if_open(&self, place: u32) -> Option<u32> {
        // Most end tags belong to the innermost open node. The path ascends.
        let level = self.trail.level;
        if self.path[level as usize] == place {
            return Some(level);
        }
        let depth = self.path[..=level as usize].binary_search(&place).ok()?;
        Some(depth as u32)
    }

    #[inline]
    fn start(&mut self, node: u32, entry: &StoredNode) {
        let place = self.order.place(node);
        if place == NONE || place <= self.trail.at {
            return; // moved to an earlier position, or removed: its bytes become a stray
        }
        let odd = entry.has(JOINED)
            || ((entry.has(ODD) || self.spellings.any)
                && !self
                    .spellings
                    .start_is_predicted(self.draft, node, self.source));
        if odd || (entry.has(IN_PIECES) && self.split.contains(&node)) {
            self.trail.flush(entry.end);
            self.open(place);
            self.trail.marks[place as usize] |= SILENT;
            return;
        }
        self.trail.flush(entry.start());
        self.open(place);
        if !entry.has_lead() {
            self.trail.offset = entry.end - entry.start(); // for a leaf; an element has its name before the run
            self.in_pieces = entry.has(IN_PIECES);
        }
        self.trail.done = entry.end;
    }

    fn piece(&mut self, piece: &Piece) {
        if let Some(left) = self.pieces_left.get_mut(&piece.node) {
            *left -= 1;
        }
        let place = self.order.place(piece.node);
        if place == NONE || self.trail.marks[place as usize] & SILENT != 0 || place > self.trail.at
        {
            return;
        }
        if place == self.trail.at && self.trail.level == self.depth() {
            self.trail.flush(piece.start);
            self.trail.offset += piece.end - piece.start;
            self.trail.done = piece.end;
        } else {
            self.conflicts.push(piece.node);
        }
    }

    fn end(&mut self, end: &EndTag) {
        let place = self.order.place(end.node);
        if place == NONE {
            return;
        }
        let Some(depth) = self.depth_if_open(place) else {
            return;
        };
        if ((end.odd || self.spellings.any)
            && !self
                .spellings
                .end_is_predicted(self.draft, end, self.source))
            || self.more_to_come(place)
        {
            return;
        }
        self.trail.flush(end.start);
        // The rest of its subtree: all of these nodes are implied.
        let mut next = self.trail.at + 1;
        while (next as usize) < self.order.len()
            && self.order.parent(self.draft, next as usize) >= place
        {
            self.trail.marks[next as usize] |= SILENT;
            self.enter(next);
            self.trail.at = next;
            self.in_pieces = false;
            next += 1;
        }
        self.trail.level = depth - 1;
        self.trail.offset = 0;
        self.trail.done = end.end;
        self.trail.marks[place as usize] |= ENDED;
    }

    /// Whether bytes in the subtree of an open node are still to come.
    fn more_to_come(&mut self, place: u32) -> bool {
        if self.in_pieces {
            let node = self.order.node(self.trail.at as usize) as u32;
            if self.pieces_left.get(&node).is_some_and(|&left| left > 0) {
                return true;
            }
        }
        self.next_sourced
            .is_below(place, self.trail.at, self.draft, self.order)
    }
}

/// The first node after a position that has bytes in the source. Searched on demand; the position
/// only grows, so all searches together are linear.
#[derive(Default)]
struct NextSourced {
    /// The node; 0 before the first search, the number of nodes if there is none.
    node: u32,
    /// Its deepest ancestor up to the position. The position is below that ancestor, too.
    above: u32,
    /// Its other ancestors, the deepest first.
    between: Vec<u32>,
}

impl NextSourced {
    /// Whether the node is in the subtree of `place`, which is `at` or an ancestor of it.
    fn is_below(&mut self, place: u32, at: u32, draft: &Draft, order: &Order) -> bool {
        let n = order.len() as u32;
        if self.node <= at {
            self.node = at + 1;
            while self.node < n && draft.nodes[order.node(self.node as usize)].has(IMPLIED) {
                self.node += 1;
            }
            self.between.clear();
            let mut above = self.node;
            while above > at && above < n {
                above = order.parent(draft, above as usize);
                self.between.push(above);
            }
        }
        while let Some(above) = self.between.pop_if(|above| *above <= at) {
            self.above = above;
        }
        self.node < n && self.above >= place
    }
}
