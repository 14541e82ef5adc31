//! Longest common subsequence of two lists of numbers, exact where that is cheap.
//!
//! | size | way | cost |
//! | --- | --- | --- |
//! | small | dynamic program over weights, so that a large subtree wins over two small ones | k l |
//! | nothing repeated | the longest increasing run of the items on both sides | k log k |
//! | middle | bit-parallel (Hyyrö), with its rows kept for the way back | k l / 64 |
//! | large | the k-th occurrence is paired with the k-th, longest increasing run of those; not exact | k log k |

use std::collections::HashMap;

use crate::sdiff::placement::longest_increasing;

/// Cells of the weighted program.
const MAX_CELLS: usize = 16_384;
/// Words of the bit-parallel rows: 64 MB, two lists of 23,000.
const MAX_WORDS: usize = 8 << 20;

/// Places in `xs` and `ys` of a common subsequence, in order, and whether it is a longest one.
///
/// `weight` of an element decides between subsequences while the lists are short.
pub fn common(
    xs: &[u32],
    ys: &[u32],
    weight: impl Fn(usize) -> u64,
) -> (Vec<(usize, usize)>, bool) {
    if xs.is_empty() || ys.is_empty() {
        return (Vec::new(), true);
    }
    if xs.len() * ys.len() <= MAX_CELLS {
        return (weighted(xs, ys, weight), true);
    }
    let distinct = is_distinct(xs) && is_distinct(ys);
    if !distinct && xs.len() * ys.len().div_ceil(64) <= MAX_WORDS {
        return (bit_parallel(xs, ys), true);
    }
    // Where nothing is repeated, the k-th is the only one, and the answer exact.
    (in_order(&kth_with_kth(xs, ys)), distinct)
}

fn is_distinct(values: &[u32]) -> bool {
    let mut seen = values.to_vec();
    seen.sort_unstable();
    seen.windows(2).all(|two| two[0] != two[1])
}

fn weighted(xs: &[u32], ys: &[u32], weight: impl Fn(usize) -> u64) -> Vec<(usize, usize)> {
    let width = ys.len() + 1;
    // best[i][j]: of xs[i..] and ys[j..].
    let mut best = vec![0u64; (xs.len() + 1) * width];
    for i in (0..xs.len()).rev() {
        let weight = weight(i);
        for j in (0..ys.len()).rev() {
            let skip = best[(i + 1) * width + j].max(best[i * width + j + 1]);
            best[i * width + j] = if xs[i] == ys[j] {
                skip.max(weight + best[(i + 1) * width + j + 1])
            } else {
                skip
            };
        }
    }
    let mut pairs = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < xs.len() && j < ys.len() {
        let here = best[i * width + j];
        if xs[i] == ys[j] && here == weight(i) + best[(i + 1) * width + j + 1] {
            pairs.push((i, j));
            i += 1;
            j += 1;
        } else if here == best[(i + 1) * width + j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// Where each number occurs in a list: places, or a row of bits for those that occur often.
///
/// Setting bits one by one would cost the product of the occurrences; a row is copied.
struct Occurrences {
    places: HashMap<u32, Vec<u32>>,
    rows: HashMap<u32, Vec<u64>>,
}

impl Occurrences {
    fn new(values: &[u32], words: usize) -> Self {
        let mut places: HashMap<u32, Vec<u32>> = HashMap::new();
        for (at, &value) in values.iter().enumerate() {
            places.entry(value).or_default().push(at as u32);
        }
        let rows = (places.iter())
            .filter(|(_, places)| places.len() > words)
            .map(|(&value, places)| {
                let mut row = vec![0u64; words];
                for &at in places {
                    row[at as usize / 64] |= 1 << (at % 64);
                }
                (value, row)
            })
            .collect();
        Self { places, rows }
    }

    /// Write the row of a number.
    fn write(&self, value: u32, row: &mut [u64]) {
        if let Some(known) = self.rows.get(&value) {
            row.copy_from_slice(known);
            return;
        }
        row.fill(0);
        for &at in self.places.get(&value).map_or(&[][..], |places| places) {
            row[at as usize / 64] |= 1 << (at % 64);
        }
    }
}

/// Rows of bits over `ys`: a zero where the length of the common subsequence grows.
fn bit_parallel(xs: &[u32], ys: &[u32]) -> Vec<(usize, usize)> {
    let words = ys.len().div_ceil(64);
    let occurrences = Occurrences::new(ys, words);
    let mut rows: Vec<u64> = Vec::with_capacity((xs.len() + 1) * words);
    rows.resize(words, u64::MAX);
    let mut matches = vec![0u64; words];
    for (i, &x) in xs.iter().enumerate() {
        occurrences.write(x, &mut matches);
        let mut carry = false;
        for word in 0..words {
            let row = rows[i * words + word];
            let hit = row & matches[word];
            let (sum, over) = row.overflowing_add(hit);
            let (sum, over_again) = sum.overflowing_add(u64::from(carry));
            carry = over || over_again;
            rows.push(sum | (row & !matches[word]));
        }
    }
    // Back from the end. The length of (i, j) is the number of zeros among the first j bits of
    // row i; it grew at j - 1 when that bit is a zero.
    let grew = |i: usize, j: usize| rows[i * words + j / 64] >> (j % 64) & 1 == 0;
    let mut pairs = Vec::new();
    let (mut i, mut j) = (xs.len(), ys.len());
    while i > 0 && j > 0 {
        if !grew(i, j - 1) {
            j -= 1;
        } else if grew(i - 1, j - 1) {
            i -= 1;
        } else if xs[i - 1] == ys[j - 1] {
            pairs.push((i - 1, j - 1));
            i -= 1;
            j -= 1;
        } else {
            i -= 1;
        }
    }
    pairs.reverse();
    pairs
}

/// As many of the pairs as keep the order.
fn in_order(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let places: Vec<u32> = pairs.iter().map(|&(_, j)| j as u32).collect();
    let kept = longest_increasing(&places);
    kept.into_iter().map(|at| pairs[at]).collect()
}

/// Pair the k-th occurrence of every number with the k-th on the other side, in order of `xs`.
pub fn kth_with_kth<T: Copy + Eq + std::hash::Hash>(xs: &[T], ys: &[T]) -> Vec<(usize, usize)> {
    let mut waiting: HashMap<T, (usize, Vec<usize>)> = HashMap::new();
    for (j, &y) in ys.iter().enumerate() {
        waiting.entry(y).or_default().1.push(j);
    }
    let mut pairs = Vec::new();
    for (i, x) in xs.iter().enumerate() {
        if let Some((next, places)) = waiting.get_mut(x)
            && let Some(&j) = places.get(*next)
        {
            *next += 1;
            pairs.push((i, j));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers below `kinds`, the same ones each time.
    fn numbers(count: usize, kinds: u32, seed: u32) -> Vec<u32> {
        let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
        (0..count)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                state % kinds
            })
            .collect()
    }

    fn check(xs: &[u32], ys: &[u32], pairs: &[(usize, usize)]) {
        assert!(pairs.iter().all(|&(i, j)| xs[i] == ys[j]));
        assert!(
            pairs
                .windows(2)
                .all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1)
        );
    }

    #[test]
    fn bits_find_as_much_as_the_dynamic_program() {
        for seed in 0..300 {
            let xs = numbers(1 + seed as usize % 150, 2 + seed % 9, seed);
            let ys = numbers(1 + (seed as usize * 7) % 150, 2 + seed % 9, seed + 1000);
            let plain = weighted(&xs, &ys, |_| 1);
            let bits = bit_parallel(&xs, &ys);
            check(&xs, &ys, &plain);
            check(&xs, &ys, &bits);
            assert_eq!(bits.len(), plain.len(), "seed {seed}");
            check(&xs, &ys, &in_order(&kth_with_kth(&xs, &ys)));
        }
    }

    #[test]
    fn weights_decide() {
        // One heavy element against two light ones.
        let pairs = weighted(&[9, 1, 2], &[1, 2, 9], |i| if i == 0 { 5 } else { 1 });
        assert_eq!(pairs, [(0, 2)]);
    }
}
