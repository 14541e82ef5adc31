//! The ladder: gaps too long for a table, from the surest evidence to the weakest.
//!
//! On each rung, nodes with equal keys are paired, the k-th with the k-th, in so far as that keeps
//! the order; the rungs below pair only within the gaps that are left. Keys: the id; tag and text; tokens that
//! occur once in the gap, which vote for a partner; label and shape; the tag alone. Each rung is
//! O(k log k), whatever is repeated how often.

use std::collections::HashMap;

use super::Matcher;
use super::lcs::kth_with_kth;
use super::sketch::Sketches;
use crate::base::hash::hash64;
use crate::page::tree::NONE;
use crate::sdiff::labels::mix;
use crate::sdiff::placement::longest_increasing;

/// Two long lists on the way to being paired in order.
struct Climb<'a> {
    xs: &'a [u32],
    ys: &'a [u32],
    /// Pairs so far, in order on both sides.
    anchors: Vec<(usize, usize)>,
}

impl Matcher<'_> {
    /// Pair two long lists of siblings.
    pub(super) fn climb(&mut self, xs: &[u32], ys: &[u32]) {
        let mut climb = Climb {
            xs,
            ys,
            anchors: Vec::new(),
        };
        let (old, new) = (self.old, self.new);
        climb.by_key(
            |x| old.attribute(x, "id").map_or(0, |id| hash64(id.as_bytes())),
            |y| new.attribute(y, "id").map_or(0, |id| hash64(id.as_bytes())),
        );
        climb.by_key(
            |x| match self.old_weights.reading(old, x) {
                0 => 0,
                reading => mix(reading ^ old.tag(x)),
            },
            |y| match self.new_weights.reading(new, y) {
                0 => 0,
                reading => mix(reading ^ new.tag(y)),
            },
        );
        let (old_sketches, new_sketches) = self.sketches();
        climb.by_votes(old_sketches, new_sketches, |x, y| old.tag(x) == new.tag(y));
        climb.by_key(
            |x| mix(old.label(x) ^ u64::from(old.size(x))),
            |y| mix(new.label(y) ^ u64::from(new.size(y))),
        );
        climb.by_key(|x| old.tag(x), |y| new.tag(y));
        for (i, j) in climb.anchors {
            self.link(xs[i], ys[j]);
        }
    }
}

impl Climb<'_> {
    /// The gap each place lies in: the number of anchors before it; [`NONE`] for the anchors.
    fn gaps(&self) -> (Vec<u32>, Vec<u32>) {
        let number = |count: usize, places: &mut dyn Iterator<Item = usize>| {
            let mut gaps = vec![0; count];
            for place in places {
                gaps[place] = NONE;
            }
            let mut gap = 0;
            for entry in &mut gaps {
                if *entry == NONE {
                    gap += 1;
                } else {
                    *entry = gap;
                }
            }
            gaps
        };
        (
            number(self.xs.len(), &mut self.anchors.iter().map(|&(i, _)| i)),
            number(self.ys.len(), &mut self.anchors.iter().map(|&(_, j)| j)),
        )
    }

    /// Pair equal keys within gaps; a key of 0 is none.
    fn by_key(&mut self, old: impl Fn(u32) -> u64, new: impl Fn(u32) -> u64) {
        let (old_gaps, new_gaps) = self.gaps();
        let keys =
            |nodes: &[u32], gaps: &[u32], key: &dyn Fn(u32) -> u64| -> Vec<(u64, u32, usize)> {
                (nodes.iter().zip(gaps).enumerate())
                    .filter(|&(_, (_, &gap))| gap != NONE)
                    .map(|(at, (&node, &gap))| (key(node), gap, at))
                    .filter(|&(key, ..)| key != 0)
                    .collect()
            };
        let old_keys = keys(self.xs, &old_gaps, &old);
        let new_keys = keys(self.ys, &new_gaps, &new);
        let bare = |keys: &[(u64, u32, usize)]| -> Vec<(u64, u32)> {
            keys.iter().map(|&(key, gap, _)| (key, gap)).collect()
        };
        let found = kth_with_kth(&bare(&old_keys), &bare(&new_keys))
            .into_iter()
            .map(|(i, j)| (old_keys[i].2, new_keys[j].2))
            .collect();
        self.keep_in_order(found);
    }

    /// Tokens that occur once on each side vote for the pair they occur in.
    fn by_votes(&mut self, old: &Sketches, new: &Sketches, may: impl Fn(u32, u32) -> bool) {
        let (old_gaps, new_gaps) = self.gaps();
        let unique = |nodes: &[u32], gaps: &[u32], sketches: &Sketches| {
            let mut owner: HashMap<u64, usize> = HashMap::new();
            for (at, (&node, &gap)) in nodes.iter().zip(gaps).enumerate() {
                if gap != NONE {
                    for &token in sketches.get(node).tokens() {
                        owner
                            .entry(token)
                            .and_modify(|owner| *owner = usize::MAX)
                            .or_insert(at);
                    }
                }
            }
            owner
        };
        let owners = unique(self.ys, &new_gaps, new);
        let mine = unique(self.xs, &old_gaps, old);
        let mut found = Vec::new();
        let mut votes: HashMap<usize, u32> = HashMap::new();
        for (i, (&x, &gap)) in self.xs.iter().zip(&old_gaps).enumerate() {
            if gap == NONE {
                continue;
            }
            votes.clear();
            for token in old.get(x).tokens() {
                if mine.get(token) == Some(&i)
                    && let Some(&j) = owners.get(token)
                    && j != usize::MAX
                    && new_gaps[j] == gap
                    && may(x, self.ys[j])
                {
                    *votes.entry(j).or_default() += 1;
                }
            }
            // Most votes, and of those the first.
            let best = votes
                .iter()
                .max_by_key(|&(&j, &count)| (count, std::cmp::Reverse(j)));
            if let Some((&j, _)) = best {
                found.push((i, j));
            }
        }
        found.sort_unstable_by_key(|&(_, j)| j);
        found.dedup_by_key(|&mut (_, j)| j);
        self.keep_in_order(found);
    }

    /// Take as many of the pairs as keep the order.
    fn keep_in_order(&mut self, mut found: Vec<(usize, usize)>) {
        found.append(&mut self.anchors);
        found.sort_unstable();
        let places: Vec<u32> = found.iter().map(|&(_, j)| j as u32).collect();
        self.anchors = (longest_increasing(&places).into_iter())
            .map(|at| found[at])
            .collect();
    }
}
