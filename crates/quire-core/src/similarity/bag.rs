//! A bag: features with their counts, ordered by hash.
//!
//! Two bags are compared by walking along both. Hashes are distributed evenly, so they are ordered
//! by their first bits in linear time; only hashes in the same bucket are sorted.

use super::scope::Scope;
use super::{Measure, features};
use crate::base::error::Error;
use crate::digest::Digest;

/// Features with their counts.
///
/// ```
/// use quire_core::similarity::Bag;
///
/// let bag = Bag::from_hashes(vec![7, 3, 7]);
/// assert_eq!((bag.hashes(), bag.counts()), (&[3, 7][..], &[1, 2][..]));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bag {
    hashes: Vec<u64>,
    counts: Vec<u32>,
    total: u64,
}

/// Number of features that two bags share, and that either has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlap {
    /// In both.
    pub shared: u64,
    /// In at least one.
    pub all: u64,
}

impl Overlap {
    /// Return the share of features in both; 1 if both are empty.
    #[allow(clippy::cast_precision_loss)] // a page has fewer than 2^32 features
    pub fn ratio(self) -> f64 {
        if self.all == 0 {
            1.0
        } else {
            self.shared as f64 / self.all as f64
        }
    }
}

impl Bag {
    /// Collect the features of a page.
    pub fn of(page: &Digest, measure: Measure, scope: &Scope) -> Result<Self, Error> {
        Ok(Self::from_hashes(features::hashes(page, measure, scope)?))
    }

    /// Count features, given in any order.
    pub fn from_hashes(hashes: Vec<u64>) -> Self {
        let mut distinct = ordered(hashes);
        let total = distinct.len() as u64;
        let mut counts: Vec<u32> = Vec::with_capacity(distinct.len());
        let mut kept = 0;
        for at in 0..distinct.len() {
            let hash = distinct[at];
            if kept > 0 && distinct[kept - 1] == hash {
                counts[kept - 1] += 1;
            } else {
                distinct[kept] = hash;
                counts.push(1);
                kept += 1;
            }
        }
        distinct.truncate(kept);
        Self {
            hashes: distinct,
            counts,
            total,
        }
    }

    /// Return the features in ascending order.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Return how often each feature occurs.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// Return the number of features, counting repeats.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Return the similarity of two bags of the same measure.
    pub fn similarity(&self, other: &Self, measure: Measure) -> f64 {
        self.overlap(other, measure.counts()).ratio()
    }

    /// Count the features that two bags share: each as often as both have it, or once if counts do
    /// not matter.
    pub fn overlap(&self, other: &Self, counted: bool) -> Overlap {
        let (mine, others) = (&self.hashes[..], &other.hashes[..]);
        let shared = if counted {
            shared((mine, &self.counts), (others, &other.counts))
        } else {
            shared_hashes(mine, others)
        };
        let all = if counted {
            self.total + other.total
        } else {
            (mine.len() + others.len()) as u64
        };
        Overlap {
            shared,
            all: all - shared,
        }
    }
}

/// Count the features that two bags share, each given as ascending hashes and their counts.
#[inline]
pub(super) fn shared(one: (&[u64], &[u32]), other: (&[u64], &[u32])) -> u64 {
    let mut shared = 0;
    walk(one.0, other.0, |at, at_other, is_equal| {
        let both = one.1[at].min(other.1[at_other]);
        shared += u64::from(is_equal) * u64::from(both);
    });
    shared
}

fn shared_hashes(one: &[u64], other: &[u64]) -> u64 {
    let mut shared = 0;
    walk(one, other, |_, _, is_equal| shared += u64::from(is_equal));
    shared
}

/// Walk along two ascending lists; tells at every step whether both are at the same hash.
#[inline]
fn walk(one: &[u64], other: &[u64], mut step: impl FnMut(usize, usize, bool)) {
    let (mut at, mut at_other) = (0, 0);
    // Which side advances is unpredictable, so both positions are computed without a branch.
    while at < one.len() && at_other < other.len() {
        let (hash, other_hash) = (one[at], other[at_other]);
        step(at, at_other, hash == other_hash);
        at += usize::from(hash <= other_hash);
        at_other += usize::from(hash >= other_hash);
    }
}

/// Fewer hashes are sorted directly.
const FEW: usize = 64;
/// Bits of the first pass: its counters fit into the nearest cache.
const MAX_BITS: u32 = 11;

/// Sort hashes; linear if they are distributed evenly.
pub(super) fn ordered(mut hashes: Vec<u64>) -> Vec<u64> {
    if hashes.len() < FEW {
        hashes.sort_unstable();
        return hashes;
    }
    let shift = 64 - (hashes.len().ilog2() - 1).min(MAX_BITS);
    let place = |hash: u64| (hash >> shift) as usize;
    let mut ends = vec![0usize; place(u64::MAX) + 2];
    for &hash in &hashes {
        ends[place(hash) + 1] += 1;
    }
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    // Now `ends[p]` is the start of bucket p; afterwards it is its end.
    let mut placed = vec![0; hashes.len()];
    for &hash in &hashes {
        let at = &mut ends[place(hash)];
        placed[*at] = hash;
        *at += 1;
    }
    let mut start = 0;
    for &end in &ends[..ends.len() - 1] {
        placed[start..end].sort_unstable();
        start = end;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::hash64;
    use std::collections::BTreeMap;

    fn counted(hashes: &[u64]) -> BTreeMap<u64, u32> {
        let mut counts = BTreeMap::new();
        for &hash in hashes {
            *counts.entry(hash).or_default() += 1;
        }
        counts
    }

    // Many equal hashes, and crafted ones with equal first bits.
    fn some(n: u64, kinds: u64, same_start: bool) -> Vec<u64> {
        (0..n)
            .map(|i| hash64(&(i * i % kinds).to_le_bytes()) >> if same_start { 40 } else { 0 })
            .collect()
    }

    #[test]
    fn a_bag_is_what_counting_gives() {
        for n in [0, 1, 2, 63, 64, 65, 1000, 20_000] {
            for kinds in [1, 7, 1 << 40] {
                for same_start in [false, true] {
                    let hashes = some(n, kinds, same_start);
                    let expected = counted(&hashes);
                    let bag = Bag::from_hashes(hashes);
                    assert!(bag.hashes().iter().eq(expected.keys()));
                    assert!(bag.counts().iter().eq(expected.values()));
                    assert_eq!(bag.total(), n);
                }
            }
        }
    }

    #[test]
    fn overlap_is_the_smaller_counts_of_the_larger_ones() {
        let (one, other) = (some(500, 90, false), some(300, 130, false));
        let (ours, theirs) = (counted(&one), counted(&other));
        let get = |counts: &BTreeMap<u64, u32>, hash| u64::from(*counts.get(hash).unwrap_or(&0));
        let keys: std::collections::BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
        let sum = |f: fn(u64, u64) -> u64| {
            (keys.iter().map(|key| f(get(&ours, key), get(&theirs, key)))).sum()
        };
        let (shared, all) = (sum(u64::min), sum(u64::max));
        let (one, other) = (Bag::from_hashes(one), Bag::from_hashes(other));
        assert_eq!(one.overlap(&other, true), Overlap { shared, all });
        let shared = ours.keys().filter(|key| theirs.contains_key(key)).count() as u64;
        let all = keys.len() as u64;
        assert_eq!(one.overlap(&other, false), Overlap { shared, all });
    }

    #[test]
    fn nothing_is_like_nothing_and_unlike_anything() {
        let (nothing, something) = (Bag::default(), Bag::from_hashes(vec![1]));
        let alike = |one: &Bag, other: &Bag| one.similarity(other, Measure::Structure).to_bits();
        assert_eq!(alike(&nothing, &nothing), 1f64.to_bits());
        assert_eq!(alike(&nothing, &something), 0f64.to_bits());
        assert_eq!(alike(&something, &something), 1f64.to_bits());
    }
}
