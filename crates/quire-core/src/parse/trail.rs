//! The trail: how far a walk over the draft has followed the source.
//!
//! The walk itself is in `encode::leftovers`. A parser that appends all nodes at the end of the
//! tree does the first part while parsing, and hands it over with the draft.

use crate::base::vec_pool::Reused;

/// Source bytes that no node predicts, and their position in the walk: after `node` was opened (and
/// `offset` bytes of its text written) and everything deeper than `depth` was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stray {
    /// Pre-order position of the last node opened.
    pub node: u32,
    /// Everything deeper is closed.
    pub depth: u32,
    /// Bytes of the node's own content already written; 0 for nodes without content.
    pub offset: u32,
    /// First byte in the source.
    pub start: u32,
    /// After the last byte in the source.
    pub end: u32,
}

/// Mark: the node writes no bytes of its own.
pub const SILENT: u8 = 1;
/// Mark: the end tag of the node is in the source.
pub const ENDED: u8 = 2;

/// The state of a walk: the nodes before have marks, and the first end tags and pieces are done.
///
/// A parser that follows the source itself hands over the first part of the walk.
#[derive(Default)]
pub struct Trail {
    /// [`SILENT`] and [`ENDED`], by pre-order position.
    pub marks: Reused<u8>,
    /// Bytes that no node predicts, in the order of the walk.
    pub strays: Vec<Stray>,
    /// Last node opened.
    pub at: u32,
    /// Everything deeper is closed.
    pub level: u32,
    /// Bytes written of the text at `at`.
    pub offset: u32,
    /// Source bytes up to here are accounted for.
    pub done: u32,
    /// End tags passed.
    pub ends: usize,
    /// Pieces passed.
    pub pieces: usize,
}

impl Trail {
    /// Record the bytes up to `until`, which belong to no node, as a stray at the current position.
    #[inline]
    pub fn flush(&mut self, until: u32) {
        if until > self.done {
            self.strays.push(Stray {
                node: self.at,
                depth: self.level,
                offset: self.offset,
                start: self.done,
                end: until,
            });
            self.done = until;
        }
    }
}
