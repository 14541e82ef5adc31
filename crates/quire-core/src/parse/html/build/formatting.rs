//! Active formatting elements and the adoption agency.
//!
//! Taken literally, these are the two rules with which a page can cause more work than it has
//! bytes: every block can reopen every formatting element, and a mis-nested end tag can rebuild the
//! whole stack. Five caps make them linear. The largest values seen on about 1,600 real pages are
//! noted next to them; a page that reaches a cap is flagged `formatting-capped`.

use super::arena::Spot;
use super::stack::NOWHERE;
use super::{Builder, MAX_DEPTH};
use crate::page::flags::Flags;
use crate::page::html_names;
use crate::page::html_names::Name;
use crate::page::limits::FREE_COPIED_BYTES;
use crate::page::tree::NONE;
use crate::page::vocabulary::{Namespace, Tag};
use crate::parse::html::tokenizer::TagToken;
use crate::values;
use crate::values::Syntax;
use crate::values::charset::Charset;
use crate::values::run_hash::{Reading, RunHashes, Seen, hash_run};

/// Maximum number of entries since the last marker; beyond it the oldest is dropped. Seen: 10.
const MAX_ENTRIES: usize = 64;
/// Number of copies a page may cause beyond one per node of its own. Seen: 26.
const FREE_COPIES: usize = 1024;
/// Attribute runs longer than this are compared by bytes only.
const MAX_COMPARED_RUN: usize = 256;

/// An entry of the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The element, or [`NONE`] for a marker.
    node: u32,
    tag: Tag,
    /// Equal for equal attributes; computed when there are elements to compare with.
    attributes: Option<u64>,
}

/// The list of active formatting elements.
#[derive(Default)]
pub(super) struct Formatting {
    entries: Vec<Entry>,
    copies: usize,
    /// Bytes of attributes in all copies.
    copied_bytes: usize,
    seen: Seen,
}

impl Formatting {
    pub(super) fn push_marker(&mut self) {
        self.entries.push(Entry {
            node: NONE,
            tag: 0,
            attributes: None,
        });
    }

    pub(super) fn clear_to_marker(&mut self) {
        while self.entries.pop().is_some_and(|entry| entry.node != NONE) {}
    }

    fn since_marker(&self) -> usize {
        self.entries
            .iter()
            .rposition(|e| e.node == NONE)
            .map_or(0, |at| at + 1)
    }

    fn find(&self, tag: Tag) -> Option<usize> {
        let from = self.since_marker();
        self.entries[from..]
            .iter()
            .rposition(|e| e.tag == tag)
            .map(|at| from + at)
    }

    fn position(&self, node: u32) -> Option<usize> {
        let from = self.since_marker();
        self.entries[from..]
            .iter()
            .rposition(|e| e.node == node)
            .map(|at| from + at)
    }
}

impl Builder<'_> {
    /// Add to the list of active formatting elements, with at most three equal ones.
    pub(super) fn push_formatting(&mut self, node: u32) {
        let tag = self.arena.draft.tag(node as usize);
        let from = self.formatting.since_marker();
        let mut attributes = None;
        let mut alike = 0;
        let mut earliest = None;
        let same_tag = |entry: &&Entry| entry.tag == tag;
        let rivals = self.formatting.entries[from..]
            .iter()
            .filter(same_tag)
            .count();
        if rivals >= 3 {
            let own = self.hash_attributes(node);
            attributes = Some(own);
            for at in (from..self.formatting.entries.len()).rev() {
                let entry = self.formatting.entries[at];
                if entry.tag != tag {
                    continue;
                }
                let hash = entry
                    .attributes
                    .unwrap_or_else(|| self.hash_attributes(entry.node));
                self.formatting.entries[at].attributes = Some(hash);
                if hash == own && self.same_attributes(entry.node, node) {
                    alike += 1;
                    earliest = Some(at);
                }
            }
        }
        if let Some(at) = earliest.filter(|_| alike >= 3) {
            self.formatting.entries.remove(at);
        } else if self.formatting.entries.len() - from >= MAX_ENTRIES {
            self.formatting.entries.remove(from);
            self.arena.draft.flags.set(Flags::FORMATTING_CAPPED);
        }
        self.formatting.entries.push(Entry {
            node,
            tag,
            attributes,
        });
    }

    /// Return the attribute run of an element, as written.
    fn run_of(&self, node: u32) -> &[u8] {
        let node = self.arena.draft.node(node as usize);
        &self.source[node.run as usize..(node.end as usize).max(node.run as usize + 1) - 1]
    }

    /// Return a number that identifies the attributes of an element. Comparing numbers avoids
    /// parsing each run 64 times on a page of formatting elements that all differ.
    fn hash_attributes(&mut self, node: u32) -> u64 {
        let mut seen = std::mem::take(&mut self.formatting.seen);
        let charset = Charset {
            encoding: self.options.encoding,
            valid_utf8: false,
        };
        let run = self.run_of(node);
        let hashes = if run.is_empty() {
            RunHashes::default()
        } else {
            let reading = Reading {
                syntax: Syntax::Html(Namespace::Html),
                charset,
                plain: false,
            };
            hash_run(run, 0..run.len(), reading, &mut seen)
        };
        self.formatting.seen = seen;
        hashes.all
    }

    fn same_attributes(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.run_of(a), self.run_of(b));
        if a == b {
            return true;
        }
        if a.len().max(b.len()) > MAX_COMPARED_RUN {
            return false;
        }
        let parsed = |run| {
            let mut all =
                values::attributes(run, Syntax::Html(Namespace::Html), self.options.encoding);
            all.sort();
            all
        };
        parsed(a) == parsed(b)
    }

    /// Reconstruct the active formatting elements.
    #[inline]
    pub(super) fn reconstruct_formatting(&mut self) {
        let Some(last) = self.formatting.entries.last() else {
            return;
        };
        if last.node == NONE || self.stack.position_of(last.node) != NOWHERE {
            return;
        }
        self.reconstruct_closed();
    }

    #[cold]
    fn reconstruct_closed(&mut self) {
        let mut at = self.formatting.entries.len();
        while at > 0 {
            let entry = self.formatting.entries[at - 1];
            if entry.node == NONE || self.stack.position_of(entry.node) != NOWHERE {
                break;
            }
            at -= 1;
        }
        for index in at..self.formatting.entries.len() {
            if self.formatting.copies >= FREE_COPIES + self.arena.draft.nodes.len() / 2
                || !self.may_copy_attributes()
            {
                self.formatting.entries.truncate(index);
                self.arena.draft.flags.set(Flags::FORMATTING_CAPPED);
                return;
            }
            self.formatting.copies += 1;
            let entry = self.formatting.entries[index];
            let spot = self.spot();
            let copy = self.copy_of(spot, entry.node);
            self.stack.push(copy, copy, entry.tag, Namespace::Html, 0);
            self.formatting.entries[index].node = copy;
        }
    }

    /// Whether copies may repeat more attributes: a page must not grow by more than its length.
    fn may_copy_attributes(&self) -> bool {
        self.formatting.copied_bytes <= FREE_COPIED_BYTES + self.source.len()
    }

    /// Copy a formatting element without its children.
    fn copy_of(&mut self, spot: Spot, original: u32) -> u32 {
        let node = self.arena.draft.node(original as usize);
        self.formatting.copied_bytes += (node.end - node.run) as usize;
        self.arena.add_clone(spot, original)
    }

    /// Handle the start tag of an `a` or `nobr` while one is open: close that one first.
    pub(super) fn close_open_formatting(&mut self, name: Name) {
        let tag = html_names::html(name);
        let Some(at) = self.formatting.find(tag) else {
            return;
        };
        let node = self.formatting.entries[at].node;
        self.adoption_agency(tag, None);
        if let Some(at) = self.formatting.position(node) {
            self.formatting.entries.remove(at);
        }
        let position = self.stack.position_of(node);
        if position != NOWHERE {
            self.stack.remove(position);
        }
    }

    /// Run the adoption agency algorithm. `end` is the end tag, if the source has one.
    pub(super) fn adoption_agency(&mut self, tag: Tag, end: Option<&TagToken>) {
        // An end tag belongs to at most one node; `None` once it was assigned.
        let mut end = end;
        if let Some(&open) = self.stack.top()
            && open.tag == tag
            && self.formatting.position(open.node).is_none()
        {
            self.close_at(self.stack.len() as u32, end);
            return;
        }
        for _ in 0..8 {
            let Some(at) = self.formatting.find(tag) else {
                self.any_other_end(tag, end);
                return;
            };
            let node = self.formatting.entries[at].node;
            let position = self.stack.position_of(node);
            if position == NOWHERE {
                self.formatting.entries.remove(at);
                return;
            }
            if !self.stack.in_scope(position) {
                return;
            }
            let furthest = self.stack.special_above(position);
            if furthest == NOWHERE || self.stack.len() > MAX_DEPTH || !self.may_copy_attributes() {
                if furthest != NOWHERE {
                    self.arena.draft.flags.set(Flags::FORMATTING_CAPPED);
                }
                self.close_at(position, end);
                self.formatting.entries.remove(at);
                return;
            }
            let copy = self.adopt(at, position, furthest);
            if let Some(end) = end.take() {
                self.record_end_of(copy, tag, end);
            }
        }
    }

    /// Run one round: move the furthest block out of the formatting element. Returns the copy of
    /// the formatting element inside the block.
    fn adopt(&mut self, at: usize, position: u32, furthest: u32) -> u32 {
        let formatting = self.formatting.entries[at];
        let ancestor = *self.stack.at(position - 1);
        let block = *self.stack.at(furthest);
        let mut bookmark = at;
        let mut last = block.node;
        let mut removed = 0;
        let mut position_in_stack = furthest;
        let mut rounds = 0;
        loop {
            rounds += 1;
            position_in_stack -= 1;
            if position_in_stack == position {
                break;
            }
            let open = *self.stack.at(position_in_stack);
            let mut listed = self.formatting.position(open.node);
            if rounds > 3
                && let Some(index) = listed.take()
            {
                self.formatting.entries.remove(index);
                if index < bookmark {
                    bookmark -= 1;
                }
            }
            let Some(index) = listed else {
                self.stack.remove(position_in_stack);
                removed += 1;
                continue;
            };
            let copy = self.copy_of(Spot::last_of(ancestor.target), open.node);
            self.formatting.entries[index].node = copy;
            self.stack.replace(position_in_stack, copy);
            if last == block.node {
                bookmark = index + 1;
            }
            self.arena.move_to(last, Spot::last_of(copy));
            last = copy;
        }
        let spot = self.spot_in(&ancestor);
        self.arena.move_to(last, spot);
        let copy = self.copy_of(Spot::last_of(ancestor.target), formatting.node);
        self.arena.move_children(block.target, copy);
        self.arena.move_to(copy, Spot::last_of(block.target));
        let at = self.formatting.position(formatting.node).unwrap_or(at);
        self.formatting.entries.remove(at);
        if at < bookmark {
            bookmark -= 1;
        }
        let bookmark = bookmark.min(self.formatting.entries.len());
        self.formatting.entries.insert(
            bookmark,
            Entry {
                node: copy,
                ..formatting
            },
        );
        self.stack.remove(position);
        // The block has moved down by the number of elements removed below it.
        let block_position = furthest - removed - 1;
        self.stack.insert(
            block_position + 1,
            copy,
            copy,
            formatting.tag,
            Namespace::Html,
        );
        copy
    }

    /// Return the appropriate place for inserting a node, with an override target.
    fn spot_in(&mut self, open: &super::stack::Open) -> Spot {
        if self.foster && open.properties & html_names::IS_TABLE_PART != 0 {
            self.foster_spot()
        } else {
            Spot::last_of(open.target)
        }
    }
}
