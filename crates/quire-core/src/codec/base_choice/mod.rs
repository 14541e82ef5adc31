//! Chooses the base pages of a cluster: pages that together contain most of the content the others
//! repeat.
//!
//! Greedy coverage. The grams of each page (8 consecutive bytes, at every position) are sampled,
//! one in 64, selected by hash so that every page samples the same ones. The value of a gram is the
//! number of *other* pages that contain it. The first base is the page whose grams have the highest
//! total value. Each further base is the page with the highest value of grams not yet covered,
//! divided by the square root of its length, so a long page must contribute more. Pages that
//! contribute nothing new are never chosen.
//!
//! Cost: one multiplication per byte; memory only for the sampled grams (an eighth of the pages, at
//! worst a few times that while grams are numbered); and a heap of pages whose gains are recomputed
//! only when they reach the top (gains can only fall). The same pages in the same order give the
//! same bases on every machine, because only integers are used.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// One gram in this many is sampled.
const SAMPLED: u64 = 64;
/// Spreads the bits of grams; the golden ratio in 64 bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Choose at most `most` base pages, the most useful first.
///
/// Returns fewer pages if further ones would add nothing, and none if no two pages have anything in
/// common.
///
/// ```
/// # use quire_core::codec::choose_base;
/// let common: String = (0..999).map(|n| format!("<p>{n}</p>")).collect();
/// let pages: Vec<Vec<u8>> = (0..9).map(|n| format!("{common}{n}").into_bytes()).collect();
/// let pages: Vec<&[u8]> = pages.iter().map(Vec::as_slice).collect();
/// assert_eq!(choose_base(&pages, 32), [0]);
/// assert!(choose_base(&pages[..1], 32).is_empty());
/// ```
#[must_use]
pub fn choose_base(pages: &[&[u8]], most: usize) -> Vec<usize> {
    choose_base_within(pages, most, usize::MAX, &[])
}

/// Choose bases like [`choose_base`], with at most `max_bytes` in total; a page longer than the
/// rest is skipped. Content that is already in `known` has no value.
#[must_use]
pub fn choose_base_within(
    pages: &[&[u8]],
    most: usize,
    max_bytes: usize,
    known: &[u8],
) -> Vec<usize> {
    let grams = Grams::of(pages);
    let mut covered = grams.covered_by(known);
    let mut heap: BinaryHeap<Candidate> = BinaryHeap::with_capacity(pages.len());
    for (page, bytes) in pages.iter().enumerate() {
        let gain = grams.gain(page, &covered);
        if gain > 0 && bytes.len() <= max_bytes {
            // The first is chosen by its gain alone, as if all pages had the same length.
            heap.push(Candidate {
                gain,
                length: 1,
                page,
            });
        }
    }
    let mut chosen = Vec::new();
    let mut left = max_bytes;
    while chosen.len() < most {
        let Some(best) = heap.pop() else { break };
        let length = pages[best.page].len();
        if length > left {
            continue;
        }
        let gain = grams.gain(best.page, &covered);
        if gain == 0 {
            continue;
        }
        let now = Candidate { gain, ..best };
        if heap.peek().is_some_and(|next| now < *next) {
            heap.push(now);
            continue;
        }
        if chosen.is_empty() {
            heap = heap
                .into_iter()
                .map(|candidate| Candidate {
                    length: pages[candidate.page].len() as u64,
                    ..candidate
                })
                .collect();
        }
        for &gram in grams.of_page(best.page) {
            covered[gram as usize] = true;
        }
        left -= length;
        chosen.push(best.page);
    }
    chosen
}

/// The sampled grams of all pages, numbered, without those that occur on only one page.
struct Grams {
    /// Numbers of grams, page by page.
    numbers: Vec<u32>,
    /// Where each page begins in `numbers`; one more entry than pages.
    starts: Vec<usize>,
    /// By number: how many other pages contain it.
    worth: Vec<u32>,
    /// By number: its hash, in ascending order.
    shared: Vec<u64>,
}

impl Grams {
    fn of(pages: &[&[u8]]) -> Grams {
        // Hashes of all pages, sorted and unique per page; then all of them sorted, for counting.
        let mut hashes: Vec<u64> = Vec::new();
        let mut ends = Vec::with_capacity(pages.len());
        for page in pages {
            let start = hashes.len();
            // A page crafted so that all its grams are sampled must not cost eight times its
            // length.
            let at_most = page.len() / 16 + 64;
            hashes.extend(page.windows(8).filter_map(sampled).take(at_most));
            hashes[start..].sort_unstable();
            let mut kept = start;
            for at in start..hashes.len() {
                if kept == start || hashes[kept - 1] != hashes[at] {
                    hashes[kept] = hashes[at];
                    kept += 1;
                }
            }
            hashes.truncate(kept);
            ends.push(kept);
        }
        let mut sorted = hashes.clone();
        sorted.sort_unstable();
        let mut shared = Vec::new();
        let mut worth = Vec::new();
        for run in sorted.chunk_by(|a, b| a == b) {
            if run.len() > 1 {
                shared.push(run[0]);
                worth.push(run.len() as u32 - 1);
            }
        }
        drop(sorted);
        let mut numbers = Vec::new();
        let mut starts = vec![0];
        let mut start = 0;
        for end in ends {
            let found = hashes[start..end]
                .iter()
                .filter_map(|hash| shared.binary_search(hash).ok());
            numbers.extend(found.map(|number| number as u32));
            starts.push(numbers.len());
            start = end;
        }
        Grams {
            numbers,
            starts,
            worth,
            shared,
        }
    }

    fn of_page(&self, page: usize) -> &[u32] {
        &self.numbers[self.starts[page]..self.starts[page + 1]]
    }

    /// Return which grams occur in `known`, by number.
    fn covered_by(&self, known: &[u8]) -> Vec<bool> {
        let mut covered = vec![false; self.worth.len()];
        for hash in known.windows(8).filter_map(sampled) {
            if let Ok(number) = self.shared.binary_search(&hash) {
                covered[number] = true;
            }
        }
        covered
    }

    /// Return the value a page would add to the grams already covered.
    fn gain(&self, page: usize, covered: &[bool]) -> u64 {
        let new = self.of_page(page).iter().filter(|&&g| !covered[g as usize]);
        new.map(|&gram| u64::from(self.worth[gram as usize])).sum()
    }
}

/// Return the hash of a gram, if it is sampled.
fn sampled(gram: &[u8]) -> Option<u64> {
    let bytes: [u8; 8] = gram.try_into().ok()?;
    let hash = u64::from_le_bytes(bytes).wrapping_mul(SPREAD);
    // The high bits depend on every byte of the gram, the low bits only on its first byte.
    (hash < u64::MAX / SAMPLED).then_some(hash)
}

/// A page that may become a base. The greatest has the highest gain divided by the square root of
/// its length; of equal ones, the one with the lower number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Candidate {
    gain: u64,
    length: u64,
    page: usize,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        // gain / √length is compared without roots: gain² · the other's length. Gains are below
        // 2^48 and lengths below 2^31, so the products fit.
        let mine = u128::from(self.gain).pow(2) * u128::from(other.length);
        let its = u128::from(other.gain).pow(2) * u128::from(self.length);
        mine.cmp(&its).then(other.page.cmp(&self.page))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests;
