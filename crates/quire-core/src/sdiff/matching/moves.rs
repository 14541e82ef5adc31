//! Moves: equal subtrees that stand somewhere else now.
//!
//! The largest first, so that a subtree is found before its parts. Of several candidates one
//! under the partner of the parent is preferred, else the first. Under another parent
//! only subtrees that say enough are believed to have moved: equal counters, icons and list
//! numbers are not evidence. O(n log n); candidates that were used are never looked at again.

use std::cmp::Reverse;

use super::{ENOUGH, Matcher};
use crate::page::tree::NONE;

/// Candidates looked at for one under the partner of the parent.
const MAX_LOOKED_AT: usize = 8;

impl Matcher<'_> {
    /// Pair equal subtrees that are left on both sides.
    pub(super) fn pair_moved(&mut self) {
        let mut candidates = self.candidates();
        let mut waiting: Vec<u32> = (0..self.old.n() as u32)
            .filter(|&x| self.pairs.old_is_free(x) && !self.twins.novel_old(x))
            .collect();
        waiting.sort_unstable_by_key(|&x| (Reverse(self.old.size(x)), x));
        for x in waiting {
            if !self.pairs.old_is_free(x) {
                continue;
            }
            let enough = self.old_info(x) >= ENOUGH;
            let above = self.old.above(x);
            let parent = above.map_or(NONE, |above| self.pairs.to_new[above as usize]);
            if !enough && parent == NONE {
                continue;
            }
            let id = self.twins.old[x as usize] as usize;
            let free = candidates.free(id, &self.pairs.to_old);
            let near = (free.iter().take(MAX_LOOKED_AT).copied())
                .find(|&y| self.pairs.new_is_free(y) && self.new.parent(y) == parent);
            let Some(y) = near.or_else(|| free.first().copied().filter(|_| enough)) else {
                continue;
            };
            if self.pairs.are_free(x, y, self.old.size(x)) {
                self.pairs.join_subtrees(x, y, self.old.size(x));
            }
        }
    }

    /// The free nodes of the new side by the number of their subtree.
    fn candidates(&self) -> Candidates {
        let mut starts = vec![0u32; self.twins.counts.len() + 1];
        let free = |&y: &u32| self.pairs.new_is_free(y);
        for y in (0..self.new.n() as u32).filter(free) {
            starts[self.twins.new[y as usize] as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut ends: Vec<u32> = starts[..starts.len() - 1].to_vec();
        let mut nodes = vec![0; starts[starts.len() - 1] as usize];
        for y in (0..self.new.n() as u32).filter(free) {
            let end = &mut ends[self.twins.new[y as usize] as usize];
            nodes[*end as usize] = y;
            *end += 1;
        }
        Candidates {
            starts,
            ends,
            nodes,
        }
    }
}

/// Lists of nodes, one after another; what was used is dropped from the front.
struct Candidates {
    starts: Vec<u32>,
    ends: Vec<u32>,
    nodes: Vec<u32>,
}

impl Candidates {
    /// The candidates of a number, from the first free one on.
    fn free(&mut self, id: usize, to_old: &[u32]) -> &[u32] {
        let start = &mut self.starts[id];
        while *start < self.ends[id] && to_old[self.nodes[*start as usize] as usize] != NONE {
            *start += 1;
        }
        &self.nodes[*start as usize..self.ends[id] as usize]
    }
}
