//! Estimates the cost of a cluster from sketches alone: the bytes that its base does not cover.
//!
//! Pages for the base are chosen as `base_choice` chooses them, by values instead of grams. A page
//! costs the share of its bytes that neither the base nor the page before it has.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::shared::Shared;

/// Maximum pages of a cluster that are looked at, evenly spaced.
const SAMPLE_PAGES: usize = 1024;
/// A base has at most so many pages, and one in so many of its cluster.
const BASE_PAGES: usize = 256;
const BASE_SHARE: usize = 4;
/// A byte of a base costs this share of a byte of a page, in percent: all of a base is compressed
/// at once, and more slowly.
const BASE_PERCENT: u64 = 50;

pub(super) struct Estimate<'a> {
    shared: &'a Shared,
    lengths: &'a [u64],
    /// By page: how many values its sketch has, shared or not.
    totals: &'a [u32],
    pub(super) base_bytes: u64,
    /// By value: how many of the sampled pages have it.
    holders: Vec<u32>,
    is_covered: Vec<bool>,
}

impl<'a> Estimate<'a> {
    pub(super) fn new(
        shared: &'a Shared,
        lengths: &'a [u64],
        totals: &'a [u32],
        base_bytes: u64,
    ) -> Estimate<'a> {
        Estimate {
            shared,
            lengths,
            totals,
            base_bytes,
            holders: vec![0; shared.values()],
            is_covered: vec![false; shared.values()],
        }
    }

    /// Return the bytes of some pages.
    pub(super) fn bytes(&self, pages: &[u32]) -> u64 {
        pages.iter().map(|&page| self.lengths[page as usize]).sum()
    }

    /// Estimate the bytes of a cluster, before compression.
    ///
    /// Cost: as for a thousand pages at most.
    pub(super) fn cost(&mut self, pages: &[u32]) -> u64 {
        let step = pages.len().div_ceil(SAMPLE_PAGES).max(1);
        let some: Vec<u32> = pages.iter().step_by(step).copied().collect();
        let values = || {
            some.iter()
                .flat_map(|&page| self.shared.of_page(page as usize))
        };
        for &value in values() {
            self.holders[value as usize] += 1;
        }
        let (base, mut cost) = self.base(&some, pages.len());
        let mut before: &[u32] = &[];
        for (at, &page) in some.iter().enumerate() {
            let values = self.shared.of_page(page as usize);
            if !base[at] {
                let known = self.covered(values).max(common(values, before));
                cost += step as u64 * self.rest(page, known);
            }
            before = values;
        }
        for &value in some
            .iter()
            .flat_map(|&page| self.shared.of_page(page as usize))
        {
            self.holders[value as usize] = 0;
            self.is_covered[value as usize] = false;
        }
        cost
    }

    /// Choose a base; returns which pages are in it, and what they cost.
    fn base(&mut self, some: &[u32], all: usize) -> (Vec<bool>, u64) {
        let mut is_base = vec![false; some.len()];
        let (mut cost, mut left) = (0, self.base_bytes);
        let mut most = all.div_ceil(BASE_SHARE).min(BASE_PAGES);
        let mut heap: BinaryHeap<Candidate> = (0..some.len())
            .map(|at| Candidate {
                gain: self.gain(some[at]),
                length: 1,
                at,
            })
            .collect();
        let mut is_first = true;
        while most > 0 {
            let Some(best) = heap.pop() else { break };
            let page = some[best.at];
            let length = self.lengths[page as usize];
            let gain = self.gain(page);
            if gain == 0 || length > left {
                continue;
            }
            let now = Candidate { gain, ..best };
            if heap.peek().is_some_and(|next| now < *next) {
                heap.push(now);
                continue;
            }
            if is_first {
                let fair = |one: Candidate| Candidate {
                    length: self.lengths[some[one.at] as usize].max(1),
                    ..one
                };
                heap = heap.into_iter().map(fair).collect();
                is_first = false;
            }
            let values = self.shared.of_page(page as usize);
            cost += self.rest(page, self.covered(values)) * BASE_PERCENT / 100;
            for &value in values {
                self.is_covered[value as usize] = true;
            }
            is_base[best.at] = true;
            left -= length;
            most -= 1;
        }
        (is_base, cost)
    }

    fn gain(&self, page: u32) -> u64 {
        let values = self.shared.of_page(page as usize).iter();
        let new = values.filter(|&&value| !self.is_covered[value as usize]);
        new.map(|&value| u64::from(self.holders[value as usize]) - 1)
            .sum()
    }

    fn covered(&self, values: &[u32]) -> u32 {
        let is_covered = |&&value: &&u32| self.is_covered[value as usize];
        values.iter().filter(is_covered).count() as u32
    }

    /// Return the bytes of a page of which so many values are not known.
    fn rest(&self, page: u32, known: u32) -> u64 {
        let total = u64::from(self.totals[page as usize]).max(1);
        self.lengths[page as usize] * (total - u64::from(known).min(total)) / total
    }
}

/// Count the values that two sorted lists have in common.
fn common(one: &[u32], other: &[u32]) -> u32 {
    let (mut a, mut b, mut count) = (0, 0, 0);
    while a < one.len() && b < other.len() {
        match one[a].cmp(&other[b]) {
            Ordering::Less => a += 1,
            Ordering::Greater => b += 1,
            Ordering::Equal => {
                count += 1;
                a += 1;
                b += 1;
            }
        }
    }
    count
}

/// A page that may be chosen. The greatest has the highest gain divided by the square root of its
/// length; of equal ones, the first.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Candidate {
    gain: u64,
    length: u64,
    at: usize,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let mine = u128::from(self.gain).pow(2) * u128::from(other.length);
        let its = u128::from(other.gain).pow(2) * u128::from(self.length);
        mine.cmp(&its).then(other.at.cmp(&self.at))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
