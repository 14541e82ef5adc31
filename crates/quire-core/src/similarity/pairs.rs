//! Many min-wise sketches at once: rows of one matrix, compared without an object for each.
//!
//! A row has the m bins of a sketch. A pair takes a few vector instructions for every eight bins.
//! Results are 32-bit floats; estimates are not more precise than that.

use super::sketch::agreement;

/// Number of rows compared with each other before moving on: 64 rows of 100 bins are 25 KB, which
/// fit into the nearest cache.
const TILE: usize = 64;

#[inline]
#[allow(clippy::cast_precision_loss)] // m is at most 2^16
pub(super) fn estimate(one: &[u32], other: &[u32]) -> f32 {
    match agreement(one, other) {
        (_, 0) => 1.0,
        (equal, used) => equal as f32 / used as f32,
    }
}

/// Estimate the similarity of one sketch to each row. Rows have the same length as the sketch.
///
/// ```
/// # use quire_core::similarity::one_with_many;
/// assert_eq!(one_with_many(&[1, 2], &[1, 2, 1, 3]), [1.0, 0.5]);
/// ```
#[must_use]
pub fn one_with_many(one: &[u32], rows: &[u32]) -> Vec<f32> {
    if one.is_empty() {
        return Vec::new();
    }
    (rows.chunks_exact(one.len()))
        .map(|row| estimate(one, row))
        .collect()
}

/// Estimate the similarity of all rows of `m` bins to all rows; a square matrix, row by row.
///
/// ```
/// # use quire_core::similarity::all_pairs;
/// assert_eq!(all_pairs(&[1, 2, 1, 3], 2), [1.0, 0.5, 0.5, 1.0]);
/// ```
#[must_use]
pub fn all_pairs(rows: &[u32], m: usize) -> Vec<f32> {
    let n = rows.len().checked_div(m).unwrap_or(0);
    let row = |i: usize| &rows[i * m..(i + 1) * m];
    let mut square = vec![1.0; n * n];
    for tile in (0..n).step_by(TILE) {
        for i in 0..n {
            for j in tile.max(i + 1)..(tile + TILE).min(n) {
                let found = estimate(row(i), row(j));
                square[i * n + j] = found;
                square[j * n + i] = found;
            }
        }
    }
    square
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::hash64;
    use crate::similarity::sketch::EMPTY;

    #[test]
    fn all_pairs_are_one_with_many_for_each() {
        let m = 13;
        let rows: Vec<u32> = (0..150 * m as u64)
            .map(|i| match hash64(&i.to_le_bytes()) % 5 {
                0 => EMPTY,
                value => value as u32,
            })
            .collect();
        let each: Vec<f32> = (rows.chunks(m))
            .flat_map(|row| one_with_many(row, &rows))
            .collect();
        assert_eq!(all_pairs(&rows, m), each);
        assert!(all_pairs(&[], 3).is_empty() && all_pairs(&[], 0).is_empty());
    }
}
