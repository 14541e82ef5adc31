//! Numbers the occurrences of features: the first occurrence is 0, the next 1, and so on.
//!
//! Sketches need the numbers, not the order of a [`super::Bag`], and a small table is faster than
//! sorting. Pages can be crafted so that features fall into the same slot, but the cost is bounded:
//! after a few steps per feature the table gives up, and a bag does the work.

use super::Bag;

/// Larger pages are sorted: their table would not fit into the nearer caches.
const MOST: usize = 1 << 14;
/// Average number of slots checked per feature before the table gives up: many times more than a
/// normal page needs.
const STEPS: usize = 8;

/// Call `occurrence` with every feature and its number. The same pair may be passed twice.
pub(super) fn each(features: Vec<u64>, mut occurrence: impl FnMut(u64, u32)) {
    if features.len() <= MOST && by_table(&features, &mut occurrence) {
        return;
    }
    let bag = Bag::from_hashes(features);
    for (&hash, &count) in bag.hashes().iter().zip(bag.counts()) {
        (0..count).for_each(|k| occurrence(hash, k));
    }
}

/// Number features with a table; `false` if that would take too long, after some were already
/// passed on.
fn by_table(features: &[u64], occurrence: &mut impl FnMut(u64, u32)) -> bool {
    // Half of the features of a page are repeats, so the table is half full.
    let bits = features.len().next_power_of_two().ilog2().max(1);
    let mask = (1 << bits) - 1;
    let mut table = vec![(0u64, 0u32); mask + 1];
    let mut left = STEPS * features.len() + 64;
    for &hash in features {
        let mut at = (hash >> (64 - bits)) as usize;
        loop {
            let (key, count) = &mut table[at];
            if *count == 0 {
                *key = hash;
            }
            if *key == hash {
                occurrence(hash, *count);
                *count += 1;
                break;
            }
            if left == 0 {
                return false;
            }
            left -= 1;
            at = (at + 1) & mask;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::hash64;
    use std::collections::BTreeSet;

    fn numbered(features: &[u64]) -> BTreeSet<(u64, u32)> {
        let mut found = BTreeSet::new();
        each(features.to_vec(), |hash, k| {
            found.insert((hash, k));
        });
        found
    }

    fn expected(features: &[u64]) -> BTreeSet<(u64, u32)> {
        let bag = Bag::from_hashes(features.to_vec());
        (bag.hashes().iter().zip(bag.counts()))
            .flat_map(|(&hash, &count)| (0..count).map(move |k| (hash, k)))
            .collect()
    }

    #[test]
    fn occurrences_are_numbered_from_zero() {
        for n in [0u64, 1, 2, 100, 5000, 40_000] {
            for kinds in [1, 50, 1 << 40] {
                let features: Vec<u64> = (0..n)
                    .map(|i| hash64(&(i * i % kinds).to_le_bytes()))
                    .collect();
                assert_eq!(numbered(&features), expected(&features));
            }
        }
    }

    #[test]
    fn crafted_features_are_numbered_too() {
        let features: Vec<u64> = (0..10_000).map(|i| i % 7000).collect();
        assert!(!by_table(&features, &mut |_, _| ()));
        assert_eq!(numbered(&features), expected(&features));
    }
}
