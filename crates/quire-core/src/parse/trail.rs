//! The trail: how far a walk over the draft has followed the source.
//!
//! The walk itself is `encode::leftovers`. A parser whose nodes all go to the end of the tree makes its
//! beginning on the way and hands it over with the draft.

use crate::base::vec_pool::Reused;

/// Source bytes at a place of the walk: after `node` was opened (and `offset` bytes of its text
/// written) and everything deeper than `depth` was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stray {
    /// Pre-order position of the last node opened.
    pub node: u32,
    /// Everything deeper is closed.
    pub depth: u32,
    /// Bytes of the node's own content already written; 0 for nodes without.
    pub offset: u32,
    /// First byte in the source.
    pub start: u32,
    /// After the last byte in the source.
    pub end: u32,
}

/// A mark: the node writes nothing of its own.
pub const SILENT: u8 = 1;
/// A mark: the node's end tag is in the source.
pub const ENDED: u8 = 2;

/// How far a walk has come: after the nodes that have marks, and the first end tags and pieces.
///
/// A parser that follows the source itself hands over the beginning of the walk.
#[derive(Default)]
pub struct Trail {
    /// [`SILENT`] and [`ENDED`], by pre-order position.
    pub marks: Reused<u8>,
    /// Left-over bytes in the order of the walk.
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
    /// Bytes up to `until` belong to nobody: a stray at the present place.
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
