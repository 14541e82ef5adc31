//! Pairs the children of a part with the children of its earlier version, by resemblance (paper
//! 004, section 5).
//!
//! Each text is compared with at most `most` texts that share a shingle with it, those with the
//! most common shingles first. A shingle that more than `most` texts have is ignored: lists of
//! thousands of similar items would otherwise take quadratic time. Of all pairs that resemble each
//! other enough, the most similar are paired first, then those at the same position, then in order;
//! each text only once.
//!
//! Cost: n log n in the shingles and in the comparisons; at most `most` comparisons for each text,
//! each as long as two samples.

/// Texts as their shingles, one after another, and their positions among siblings.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// Shingles of all texts; ascending within each text.
    pub values: &'a [u32],
    /// End of the shingles of each text; ascending.
    pub ends: &'a [u32],
    /// The position of each text.
    pub places: &'a [u32],
}

impl<'a> Rows<'a> {
    /// Return what is wrong with the rows, if anything.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        if self.places.len() != self.ends.len() {
            return Some(format!(
                "found {} places for {} ends; expected one per text",
                self.places.len(),
                self.ends.len()
            ));
        }
        let last = self.ends.last().map_or(0, |&end| end as usize);
        if !self.ends.is_sorted() || last != self.values.len() {
            return Some(format!(
                "ends are not ascending, or the last one is not {}, the number of shingles",
                self.values.len()
            ));
        }
        None
    }

    fn row(&self, at: usize) -> &'a [u32] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.values[start as usize..self.ends[at] as usize]
    }
}

/// Pair texts with at least the share `least` of their shingles in common; returns rows of `old`
/// and `new`, in the order in which they were found.
///
/// The rows must not have a [`Rows::fault`].
///
/// ```
/// # use quire_core::fragments::{Rows, pair_alike};
/// let old = Rows { values: &[1, 2, 3, 7, 8, 9], ends: &[3, 6], places: &[0, 1] };
/// let new = Rows { values: &[7, 8, 10, 4, 5], ends: &[3, 5], places: &[0, 1] };
/// assert_eq!(pair_alike(old, new, 0.5, 32), [(1, 0)]);
/// ```
#[must_use]
pub fn pair_alike(old: Rows<'_>, new: Rows<'_>, least: f64, most: usize) -> Vec<(u32, u32)> {
    let having = having(old);
    let mut shared = vec![0u32; old.ends.len()];
    let mut met: Vec<u32> = Vec::new();
    let mut scored: Vec<(f64, bool, u32, u32)> = Vec::new();
    for b in 0..new.ends.len() {
        for &value in new.row(b) {
            let first = having.partition_point(|&(other, _)| other < value);
            let group = &having[first..];
            // One more than allowed is enough to know that the shingle is ignored.
            let count = (group.iter().take(most + 1)).take_while(|&&(other, _)| other == value);
            let count = count.count();
            if count > most {
                continue;
            }
            for &(_, a) in &group[..count] {
                if shared[a as usize] == 0 {
                    met.push(a);
                }
                shared[a as usize] += 1;
            }
        }
        met.sort_unstable_by_key(|&a| (std::cmp::Reverse(shared[a as usize]), a));
        for &a in met.iter().take(most) {
            let score = resemblance(old.row(a as usize), new.row(b));
            if score >= least {
                let is_elsewhere = old.places[a as usize] != new.places[b];
                scored.push((score, is_elsewhere, b as u32, a));
            }
        }
        for a in met.drain(..) {
            shared[a as usize] = 0;
        }
    }
    scored.sort_unstable_by(|one, other| {
        (other.0.total_cmp(&one.0)).then((one.1, one.2, one.3).cmp(&(other.1, other.2, other.3)))
    });
    let mut old_taken = vec![false; old.ends.len()];
    let mut new_taken = vec![false; new.ends.len()];
    scored.retain(|&(_, _, b, a)| {
        let is_free = !old_taken[a as usize] && !new_taken[b as usize];
        if is_free {
            old_taken[a as usize] = true;
            new_taken[b as usize] = true;
        }
        is_free
    });
    scored.into_iter().map(|(_, _, b, a)| (a, b)).collect()
}

/// Return the shingles with the rows that have them, in order.
fn having(rows: Rows<'_>) -> Vec<(u32, u32)> {
    let mut found = Vec::with_capacity(rows.values.len());
    for at in 0..rows.ends.len() {
        found.extend(rows.row(at).iter().map(|&value| (value, at as u32)));
    }
    found.sort_unstable();
    found
}

/// Return the share of shingles in both, of all in either.
fn resemblance(one: &[u32], other: &[u32]) -> f64 {
    let (mut i, mut j, mut both) = (0, 0, 0u32);
    while i < one.len() && j < other.len() {
        both += u32::from(one[i] == other[j]);
        let (left, right) = (one[i], other[j]);
        i += usize::from(left <= right);
        j += usize::from(right <= left);
    }
    let either = (one.len() + other.len()) as u32 - both;
    f64::from(both) / f64::from(either.max(1))
}
