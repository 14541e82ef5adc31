//! Many bags in a few flat arrays, and their packed form.
//!
//! A packed bag is `n` hashes of 64 bits in ascending order, then `n` counts of 32 bits, all
//! little-endian. If a measure does not count, every count is 1.

use super::Likeness;
use crate::base::error::Error;
use crate::similarity::bag::shared;
use crate::similarity::{Bag, Measure};

/// Bags, one after another.
///
/// ```
/// use quire_core::similarity::{Bag, Measure};
/// use quire_core::similarity::templates::Bags;
///
/// let mut bags = Bags::default();
/// bags.push(&Bag::from_hashes(vec![7, 3, 7]), Measure::Structure);
/// let packed = bags.packed(0);
/// bags.push_packed(&packed).unwrap();
/// assert_eq!((bags.len(), bags.likeness(0, &bags, 1).contained), (2, 1.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bags {
    hashes: Vec<u64>,
    counts: Vec<u32>,
    ends: Vec<usize>,
    totals: Vec<u64>,
}

impl Bags {
    /// Return the number of bags.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Return the number of features of a bag, counting repeats.
    pub fn total(&self, at: usize) -> u64 {
        self.totals[at]
    }

    /// Add a bag.
    pub fn push(&mut self, bag: &Bag, measure: Measure) {
        self.hashes.extend_from_slice(bag.hashes());
        if measure.counts() {
            self.counts.extend_from_slice(bag.counts());
        } else {
            self.counts.resize(self.hashes.len(), 1);
        }
        self.close();
    }

    /// Add a bag in its packed form.
    pub fn push_packed(&mut self, packed: &[u8]) -> Result<(), Error> {
        let bad = |message: String| Error::Sketch { message };
        if !packed.len().is_multiple_of(12) {
            return Err(bad(format!(
                "packed bag has {} bytes; expected 12 per feature",
                packed.len()
            )));
        }
        let (hashes, counts) = packed.split_at(packed.len() / 12 * 8);
        let start = self.hashes.len();
        self.hashes
            .extend(hashes.as_chunks().0.iter().map(|&h| u64::from_le_bytes(h)));
        self.counts
            .extend(counts.as_chunks().0.iter().map(|&c| u32::from_le_bytes(c)));
        let ascending = self.hashes[start..].is_sorted_by(|a, b| a < b);
        if !ascending || self.counts[start..].contains(&0) {
            self.hashes.truncate(start);
            self.counts.truncate(start);
            return Err(bad(
                "the features of a packed bag are not in ascending order, or one has the count 0"
                    .to_owned(),
            ));
        }
        self.close();
        Ok(())
    }

    fn close(&mut self) {
        let start = self.ends.last().copied().unwrap_or(0);
        self.ends.push(self.hashes.len());
        self.totals.push(
            self.counts[start..]
                .iter()
                .map(|&count| u64::from(count))
                .sum(),
        );
    }

    fn span(&self, at: usize) -> (&[u64], &[u32]) {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        let range = start..self.ends[at];
        (&self.hashes[range.clone()], &self.counts[range])
    }

    /// Return a bag in its packed form.
    pub fn packed(&self, at: usize) -> Vec<u8> {
        let (hashes, counts) = self.span(at);
        let mut packed = Vec::with_capacity(12 * hashes.len());
        packed.extend(hashes.iter().flat_map(|hash| hash.to_le_bytes()));
        packed.extend(counts.iter().flat_map(|count| count.to_le_bytes()));
        packed
    }

    /// Compare one of these bags with one of another list.
    pub fn likeness(&self, at: usize, others: &Self, at_other: usize) -> Likeness {
        let (one, other) = (self.total(at), others.total(at_other));
        Likeness::new(shared(self.span(at), others.span(at_other)), one, other)
    }

    /// Whether two bags are linked; decided at once if their lengths rule it out.
    #[allow(clippy::cast_precision_loss)] // a page has fewer than 2^32 features
    pub fn linked(&self, one: usize, other: usize, threshold: f64) -> bool {
        let (a, b) = (self.total(one), self.total(other));
        let (small, large) = (a.min(b) as f64, a.max(b) as f64);
        small >= large * super::LEAST_SHARED && self.likeness(one, self, other).holds(threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_bags_come_back_and_damaged_ones_are_refused() {
        let mut bags = Bags::default();
        for hashes in [vec![], vec![5], vec![9, 1, 9, 4]] {
            bags.push(&Bag::from_hashes(hashes), Measure::Structure);
        }
        let mut again = Bags::default();
        for at in 0..bags.len() {
            again.push_packed(&bags.packed(at)).unwrap();
        }
        assert_eq!(bags, again);
        let packed = bags.packed(2);
        for length in (0..packed.len()).filter(|length| length % 12 != 0) {
            assert!(again.push_packed(&packed[..length]).is_err());
        }
        let mut wrong = packed.clone();
        wrong.swap(0, 8);
        assert!(again.push_packed(&wrong).is_err());
        let mut never = packed;
        never[24] = 0;
        assert!(again.push_packed(&never).is_err());
        assert_eq!(bags, again);
    }

    #[test]
    fn containment_is_of_the_smaller_and_nothing_is_in_nothing_alone() {
        let mut bags = Bags::default();
        for hashes in [vec![], vec![1, 2], vec![1, 2, 2, 3], vec![]] {
            bags.push(&Bag::from_hashes(hashes), Measure::Structure);
        }
        let of = |a, b| bags.likeness(a, &bags, b);
        assert_eq!(
            of(1, 2),
            Likeness {
                contained: 1.0,
                resemblance: 0.5
            }
        );
        assert_eq!(
            of(0, 1),
            Likeness {
                contained: 0.0,
                resemblance: 0.0
            }
        );
        assert_eq!(
            of(0, 3),
            Likeness {
                contained: 1.0,
                resemblance: 1.0
            }
        );
    }
}
