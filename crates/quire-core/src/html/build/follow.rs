//! Following the source while the tree is built.
//!
//! Where every node goes to the end of the tree, the walk of [`crate::reconcile`] would
//! take the same steps as the tree builder, in the same order. So they are taken here,
//! at the price of a comparison a token, and the walk has only the rest of the page to do:
//! it goes on from the first thing that depends on what comes later: `</body>`, which
//! need not be the end of the body.
//!
//! What makes the two differ (an odd spelling, a node that moves, content behind the end
//! tag of its element, attributes added later) ends the following for good: then the
//! walk begins at the beginning.

use crate::draft::{DraftNode, IMPLIED, ODD};
use crate::reconcile::{ENDED, SILENT, Trail};
use crate::reuse::Reused;

/// How far the walk has come.
pub struct Follow {
    trail: Trail,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Step by step.
    Following,
    /// The walk goes on from here.
    Halted,
    /// The walk has to begin at the beginning.
    Lost,
}

impl Follow {
    /// At the document.
    pub fn new(nodes: usize) -> Self {
        let mut marks = Reused::with_capacity(nodes);
        marks.push(SILENT);
        Self {
            trail: Trail {
                marks,
                ..Trail::default()
            },
            state: State::Following,
        }
    }

    /// Leave the rest of the page to the walk.
    pub fn halt(&mut self) {
        if self.state == State::Following {
            self.state = State::Halted;
        }
    }

    /// Leave all of the page to the walk.
    pub fn lose(&mut self) {
        self.state = State::Lost;
    }

    /// A node is about to be put elsewhere than at the end of the tree. What was followed up to
    /// `</body>` stands, if in the end all nodes are in order.
    pub fn out_of_order(&mut self) {
        if self.state == State::Following {
            self.state = State::Lost;
        }
    }

    /// A node was put at the end of the tree.
    #[inline]
    pub fn node(&mut self, node: &DraftNode, depth: u32) {
        if self.state != State::Following {
            return;
        }
        let trail = &mut self.trail;
        let behind_end = depth > trail.level + 1;
        let early = node.start < trail.done;
        if node.flags & IMPLIED != 0 && !behind_end {
            trail.marks.push(SILENT);
            return;
        }
        if behind_end || early || node.flags & ODD != 0 {
            self.lose();
            return;
        }
        trail.flush(node.start);
        trail.at = trail.marks.len() as u32;
        trail.marks.push(0);
        trail.level = depth;
        trail.offset = if node.run == node.start {
            node.end - node.run
        } else {
            0
        };
        trail.done = node.end;
    }

    /// The text `node` has more: `start..end`, which is a new piece of it or makes the last one longer.
    #[inline]
    pub fn text(&mut self, node: u32, depth: u32, start: u32, end: u32, new_piece: bool) {
        if self.state != State::Following {
            return;
        }
        let trail = &mut self.trail;
        if trail.at != node || trail.level != depth || start < trail.done {
            self.lose();
            return;
        }
        trail.flush(start);
        trail.offset += end - start;
        trail.done = end;
        trail.pieces += usize::from(new_piece);
    }

    /// An end tag of `node`, which is open.
    #[inline]
    pub fn end(&mut self, node: u32, depth: u32, start: u32, end: u32, odd: bool) {
        if self.state != State::Following {
            return;
        }
        let trail = &mut self.trail;
        if odd || start < trail.done || depth == 0 {
            self.lose();
            return;
        }
        trail.ends += 1;
        if depth > trail.level || node > trail.at {
            return;
        }
        trail.flush(start);
        trail.at = trail.marks.len() as u32 - 1;
        trail.level = depth - 1;
        trail.offset = 0;
        trail.done = end;
        trail.marks[node as usize] |= ENDED;
    }

    /// What the walk goes on from.
    pub fn finish(self) -> Option<Trail> {
        (self.state != State::Lost).then_some(self.trail)
    }
}
