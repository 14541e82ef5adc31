//! Hubs: the pages that other pages are compared with.
//!
//! A row states that a page has a key, which is a bin of its sketch with its value. Rows with the
//! same key are adjacent, as an engine delivers them; their order does not matter.

/// Link every page with the hub of each of its keys: the page of the smallest size, and of these
/// the one with the smallest number.
///
/// Returns pages and hubs, row by row, without rows for the hubs themselves. One pass; all slices
/// have the same length.
///
/// ```
/// # use quire_core::similarity::templates::hubs;
/// let (pages, hubs) = hubs(&[5, 5, 5, 8], &[10, 20, 30, 10], &[900, 400, 700, 900]);
/// assert_eq!((pages, hubs), (vec![10, 30], vec![20, 20]));
/// ```
#[must_use]
pub fn hubs(keys: &[u64], pages: &[u64], sizes: &[u32]) -> (Vec<u64>, Vec<u64>) {
    let (mut linked, mut found) = (Vec::new(), Vec::new());
    let mut start = 0;
    for run in keys.chunk_by(|a, b| a == b) {
        let range = start..start + run.len();
        start = range.end;
        let rows = pages[range.clone()].iter().zip(&sizes[range.clone()]);
        let Some((&hub, _)) = rows.min_by_key(|&(page, size)| (size, page)) else {
            continue;
        };
        for &page in pages[range].iter().filter(|&&page| page != hub) {
            linked.push(page);
            found.push(hub);
        }
    }
    (linked, found)
}

/// For every page, keep the hubs it was linked with most often, at most `most`; of equals those
/// with the smallest numbers.
///
/// Rows of one page are adjacent. Returns pages and hubs, best first.
///
/// ```
/// # use quire_core::similarity::templates::most_met;
/// assert_eq!(most_met(&[1, 1, 1, 1], &[9, 7, 9, 8], 2), (vec![1, 1], vec![9, 7]));
/// ```
#[must_use]
pub fn most_met(pages: &[u64], hubs: &[u64], most: usize) -> (Vec<u64>, Vec<u64>) {
    let (mut kept, mut found) = (Vec::new(), Vec::new());
    let mut start = 0;
    let mut met: Vec<u64> = Vec::new();
    let mut counted: Vec<(usize, u64)> = Vec::new();
    for run in pages.chunk_by(|a, b| a == b) {
        met.clear();
        met.extend_from_slice(&hubs[start..start + run.len()]);
        start += run.len();
        met.sort_unstable();
        counted.clear();
        counted.extend(
            met.chunk_by(|a, b| a == b)
                .map(|same| (same.len(), same[0])),
        );
        counted.sort_unstable_by_key(|&(times, hub)| (usize::MAX - times, hub));
        for &(_, hub) in counted.iter().take(most) {
            kept.push(run[0]);
            found.push(hub);
        }
    }
    (kept, found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::hash64;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn hubs_and_their_votes_are_what_counting_gives() {
        let random = |i: u64, below: u64| hash64(&i.to_le_bytes()) % below;
        let sizes: Vec<u32> = (0..40).map(|page| random(page, 6) as u32).collect();
        let mut rows: Vec<(u64, u64)> = (0..900)
            .map(|i| (random(i, 50), random(i + 1000, 40)))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let mut expected: BTreeMap<u64, BTreeMap<u64, usize>> = BTreeMap::new();
        for &(key, page) in &rows {
            let bucket = rows.iter().filter(|row| row.0 == key).map(|row| row.1);
            let hub = bucket.min_by_key(|&p| (sizes[p as usize], p)).unwrap();
            if hub != page {
                *expected.entry(page).or_default().entry(hub).or_default() += 1;
            }
        }
        rows.sort_by_key(|&(key, page)| (hash64(&key.to_le_bytes()), std::cmp::Reverse(page)));
        let keys: Vec<u64> = rows.iter().map(|row| row.0).collect();
        let pages: Vec<u64> = rows.iter().map(|row| row.1).collect();
        let row_sizes: Vec<u32> = pages.iter().map(|&page| sizes[page as usize]).collect();
        let (linked, found) = hubs(&keys, &pages, &row_sizes);
        let mut links: Vec<(u64, u64)> = linked.into_iter().zip(found).collect();
        links.sort_by_key(|link| link.0);
        let (linked, found): (Vec<u64>, Vec<u64>) = links.into_iter().unzip();
        let (kept, best) = most_met(&linked, &found, 3);
        for (page, counts) in &expected {
            let mut by_votes: Vec<(usize, u64)> =
                counts.iter().map(|(&hub, &times)| (times, hub)).collect();
            by_votes.sort_by_key(|&(times, hub)| (std::cmp::Reverse(times), hub));
            let wanted: Vec<u64> = by_votes.iter().take(3).map(|vote| vote.1).collect();
            let got: Vec<u64> = (kept.iter().zip(&best))
                .filter(|row| row.0 == page)
                .map(|row| *row.1)
                .collect();
            assert_eq!(got, wanted);
        }
        assert_eq!(kept.iter().collect::<BTreeSet<_>>().len(), expected.len());
    }
}
