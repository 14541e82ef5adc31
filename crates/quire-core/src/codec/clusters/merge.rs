//! Joins small clusters if one base for both costs less than two.
//!
//! From the smallest cluster on, each is joined to the most related one that is not smaller. So a
//! page moves at most as often as the size of its cluster can double below the limit.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::NONE;
use super::estimate::Estimate;
use super::settle::MOST_CLUSTERS;
use super::shared::{Counts, Index, Shared};

/// Limit of a joint cluster, as a multiple of a base.
const MOST_BASES: u64 = 12;
/// Share of the smaller one's values that the larger one has to hold, in percent.
const LEAST_PERCENT: u64 = 10;

/// Join clusters, given as lists of pages.
pub(super) fn merge(
    clusters: Vec<Vec<u32>>,
    shared: &Shared,
    estimate: &mut Estimate,
) -> Vec<Vec<u32>> {
    let mut cluster_of = vec![NONE; shared.pages()];
    for (cluster, pages) in clusters.iter().enumerate() {
        for &page in pages {
            cluster_of[page as usize] = cluster as u32;
        }
    }
    let index = Index::of(shared, &cluster_of, MOST_CLUSTERS);
    let most = MOST_BASES * estimate.base_bytes;
    let mut clusters = Clusters::of(clusters, estimate);
    let mut counts = Counts::new(clusters.bytes.len());
    // By cluster: the last page and value for which it was counted.
    let mut counted = vec![(NONE, 0); clusters.bytes.len()];
    let mut heap: BinaryHeap<Reverse<(u64, u32)>> = clusters
        .bytes
        .iter()
        .copied()
        .zip(0..)
        .map(Reverse)
        .collect();
    while let Some(Reverse((bytes, cluster))) = heap.pop() {
        if clusters.root(cluster) != cluster || clusters.bytes[cluster as usize] != bytes {
            continue; // joined to another, or grown and in the heap again
        }
        if 2 * bytes > most {
            break; // this one and all that follow are too large to be joined
        }
        let mut total = 0;
        for &page in &clusters.pages[cluster as usize] {
            for &value in shared.of_page(page as usize) {
                total += 1;
                for entry in index.clusters(value) {
                    let other = clusters.root(entry.cluster);
                    if other != cluster && counted[other as usize] != (page, value) {
                        counted[other as usize] = (page, value);
                        counts.add(other, 1);
                    }
                }
            }
        }
        let fits = |&(other, held): &(u32, u32)| {
            let size = clusters.bytes[other as usize];
            size >= bytes && bytes + size <= most && 100 * u64::from(held) >= LEAST_PERCENT * total
        };
        let best = counts
            .take()
            .filter(fits)
            .max_by_key(|&(other, held)| (held, Reverse(other)));
        if let Some((other, _)) = best
            && clusters.try_to_join(cluster, other, estimate)
        {
            heap.push(Reverse((clusters.bytes[other as usize], other)));
        }
    }
    let mut pages = clusters.pages;
    pages.retain(|pages| !pages.is_empty());
    pages
}

struct Clusters {
    pages: Vec<Vec<u32>>,
    bytes: Vec<u64>,
    /// What each costs, once it is known.
    costs: Vec<Option<u64>>,
    /// The cluster each was joined to; itself if it was not.
    joined_to: Vec<u32>,
}

impl Clusters {
    fn of(pages: Vec<Vec<u32>>, estimate: &Estimate) -> Clusters {
        Clusters {
            bytes: pages.iter().map(|pages| estimate.bytes(pages)).collect(),
            costs: vec![None; pages.len()],
            joined_to: (0..pages.len() as u32).collect(),
            pages,
        }
    }

    fn root(&self, mut cluster: u32) -> u32 {
        while self.joined_to[cluster as usize] != cluster {
            cluster = self.joined_to[cluster as usize];
        }
        cluster
    }

    /// Join a cluster to another if that costs no more.
    fn try_to_join(&mut self, cluster: u32, other: u32, estimate: &mut Estimate) -> bool {
        let (one, two) = (cluster as usize, other as usize);
        let mut both = [&self.pages[one][..], &self.pages[two]].concat();
        both.sort_unstable();
        let joint = estimate.cost(&both);
        let mut cost =
            |at: usize| *self.costs[at].get_or_insert_with(|| estimate.cost(&self.pages[at]));
        if joint > cost(one) + cost(two) {
            return false;
        }
        self.pages[one] = Vec::new();
        self.pages[two] = both;
        self.costs[two] = Some(joint);
        self.bytes[two] += self.bytes[one];
        self.joined_to[one] = other;
        true
    }
}
