//! Alignment: from two partners to their children.
//!
//! Equal children at both ends first, then equal ones in order between them (a longest common
//! subsequence), then equal ones out of order: a reorder, which under one parent is always
//! believed. What is left lies in gaps between those that kept their order; see [`super::gap`].

use super::lcs::{common, kth_with_kth};
use super::tree::trimmed;
use super::{ENOUGH, LETTER, Matcher};
use crate::page::tree::NONE;
use crate::sdiff::placement::longest_increasing;

impl Matcher<'_> {
    /// Align the children of all partners that wait.
    pub(super) fn align_all(&mut self) {
        while let Some((x, y)) = self.work.pop() {
            self.align(x, y);
        }
    }

    /// Align all partners once more that have children left on both sides.
    pub(super) fn align_again(&mut self) {
        let parents = |parent: &[u32], partners: &[u32]| {
            let mut waiting = vec![false; parent.len()];
            for (&parent, &partner) in parent.iter().zip(partners) {
                if partner == NONE && parent != NONE {
                    waiting[parent as usize] = true;
                }
            }
            waiting
        };
        let old = parents(&self.old.side.parent, &self.pairs.to_new);
        let new = parents(&self.new.side.parent, &self.pairs.to_old);
        for x in 0..self.old.n() as u32 {
            let y = self.pairs.to_new[x as usize];
            if y != NONE && old[x as usize] && new[y as usize] {
                self.work.push((x, y));
            }
        }
        self.align_all();
    }

    fn align(&mut self, x: u32, y: u32) {
        let mut xs = self.old.children(x);
        xs.retain(|&x| self.pairs.old_is_free(x));
        let mut ys = self.new.children(y);
        ys.retain(|&y| self.pairs.new_is_free(y));
        let (head, tail) = trimmed(self.old, self.new, &xs, &ys);
        for i in 0..head {
            self.link_equal(xs[i], ys[i]);
        }
        for i in 1..=tail {
            self.link_equal(xs[xs.len() - i], ys[ys.len() - i]);
        }
        let xs = &xs[head..xs.len() - tail];
        let ys = &ys[head..ys.len() - tail];
        if xs.is_empty() || ys.is_empty() {
            return;
        }
        let pairs = self.pair_equal(x, y, xs, ys);
        self.fill_gaps(x, y, xs, ys, &pairs);
    }

    /// Pair the equal ones of two lists; gives the places of all pairs.
    fn pair_equal(&mut self, x: u32, y: u32, xs: &[u32], ys: &[u32]) -> Vec<(usize, usize)> {
        let old_ids: Vec<u32> = xs.iter().map(|&x| self.twins.old[x as usize]).collect();
        let new_ids: Vec<u32> = ys.iter().map(|&y| self.twins.new[y as usize]).collect();
        let weight = |i: usize| {
            let x = xs[i];
            1 + u64::from(self.old.size(x)) + self.old_info(x) / LETTER
        };
        let (mut pairs, exact) = common(&old_ids, &new_ids, weight);
        if !exact {
            self.report(x, y);
        }
        // The same out of order, then those that read the same.
        Self::pair_by(&old_ids, &new_ids, &mut pairs, |_, _| true);
        let old_keys: Vec<u64> = xs.iter().map(|&x| self.old_reading(x)).collect();
        let new_keys: Vec<u64> = ys.iter().map(|&y| self.new_reading(y)).collect();
        Self::pair_by(&old_keys, &new_keys, &mut pairs, |i, _| old_keys[i] != 0);
        for &(i, j) in &pairs {
            if self.old.hash(xs[i]) == self.new.hash(ys[j]) {
                self.link_equal(xs[i], ys[j]);
            } else {
                self.link(xs[i], ys[j]);
            }
        }
        pairs
    }

    /// Pair what is left of two lists where keys are equal.
    fn pair_by<T: Copy + Eq + std::hash::Hash>(
        old: &[T],
        new: &[T],
        pairs: &mut Vec<(usize, usize)>,
        counts: impl Fn(usize, usize) -> bool,
    ) {
        let (mut old_left, mut new_left) = (vec![true; old.len()], vec![true; new.len()]);
        for &(i, j) in &*pairs {
            old_left[i] = false;
            new_left[j] = false;
        }
        let left = |left: &[bool]| -> Vec<usize> { (0..left.len()).filter(|&i| left[i]).collect() };
        let (old_left, new_left) = (left(&old_left), left(&new_left));
        let old_keys: Vec<T> = old_left.iter().map(|&i| old[i]).collect();
        let new_keys: Vec<T> = new_left.iter().map(|&j| new[j]).collect();
        for (i, j) in kth_with_kth(&old_keys, &new_keys) {
            if counts(old_left[i], new_left[j]) {
                pairs.push((old_left[i], new_left[j]));
            }
        }
    }

    /// What an element reads, with its tag; 0 for nodes without text.
    fn old_reading(&self, node: u32) -> u64 {
        match self.old_weights.reading(self.old, node) {
            0 => 0,
            reading => reading.wrapping_add(self.old.tag(node)) | 1,
        }
    }

    fn new_reading(&self, node: u32) -> u64 {
        match self.new_weights.reading(self.new, node) {
            0 => 0,
            reading => reading.wrapping_add(self.new.tag(node)) | 1,
        }
    }

    /// Pair what lies between pairs that kept their order.
    fn fill_gaps(&mut self, x: u32, y: u32, xs: &[u32], ys: &[u32], pairs: &[(usize, usize)]) {
        let mut pairs = pairs.to_vec();
        pairs.sort_unstable();
        let places: Vec<u32> = pairs.iter().map(|&(_, j)| j as u32).collect();
        let mut anchors: Vec<(usize, usize)> = longest_increasing(&places)
            .into_iter()
            .map(|at| pairs[at])
            .collect();
        anchors.push((xs.len(), ys.len()));
        let (mut i, mut j) = (0, 0);
        for (next_i, next_j) in anchors {
            let old_gap: Vec<u32> = (xs[i..next_i].iter().copied())
                .filter(|&x| self.pairs.old_is_free(x) && self.competes_old(x))
                .collect();
            let new_gap: Vec<u32> = (ys[j..next_j].iter().copied())
                .filter(|&y| self.pairs.new_is_free(y) && self.competes_new(y))
                .collect();
            if !old_gap.is_empty() && !new_gap.is_empty() {
                self.fill_gap(x, y, &old_gap, &new_gap);
            }
            (i, j) = (next_i + 1, next_j + 1);
        }
    }

    /// A subtree that occurs on the other side waits for its twin, unless it says too little to be
    /// recognised there.
    fn competes_old(&self, x: u32) -> bool {
        self.late || self.twins.novel_old(x) || self.old_info(x) < ENOUGH
    }

    fn competes_new(&self, y: u32) -> bool {
        self.late || self.twins.novel_new(y) || self.new_info(y) < ENOUGH
    }

    /// Say that the children of two partners were paired by a shorter way.
    pub(super) fn report(&mut self, x: u32, y: u32) {
        let at = super::Coarse { old: x, new: y };
        if self.coarse.last() != Some(&at) {
            self.coarse.push(at);
        }
    }
}
