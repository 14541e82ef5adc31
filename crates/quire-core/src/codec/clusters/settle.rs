//! Moves every page to the cluster that holds most of its values.

use std::cmp::Reverse;

use super::shared::{Counts, Index, Shared};
use super::{FEW_PAGES, NONE, count_of};

/// How often pages are moved.
const ROUNDS: usize = 2;
/// A page needs so many of its values in a cluster, and this share of them in percent.
const LEAST_VALUES: u32 = 2;
const LEAST_PERCENT: u32 = 10;
/// A value that is in the base for sure counts so much; less if it probably is not.
const SURE: u32 = 4096;
/// At most one in so many pages of a cluster is in its base.
const BASE_SHARE: u32 = 4;
/// A value in more clusters says nothing about where a page belongs.
pub(super) const MOST_CLUSTERS: usize = 64;

/// Move pages to where most of their values are held by *others*, twice, without small clusters.
pub(super) fn settled(
    shared: &Shared,
    lengths: &[u64],
    base_bytes: u64,
    first: Vec<u32>,
) -> Vec<u32> {
    let mut cluster_of = first;
    for _ in 0..ROUNDS {
        dissolve(&mut cluster_of);
        cluster_of = moved(shared, lengths, base_bytes, &cluster_of);
    }
    dissolve(&mut cluster_of);
    cluster_of
}

fn moved(shared: &Shared, lengths: &[u64], base_bytes: u64, cluster_of: &[u32]) -> Vec<u32> {
    let chances = chances(cluster_of, lengths, base_bytes);
    let index = Index::of(shared, cluster_of, MOST_CLUSTERS);
    let mut counts = Counts::new(count_of(cluster_of));
    let place = |page: usize| {
        let own = cluster_of[page];
        let values = shared.of_page(page);
        for &value in values {
            for entry in index.clusters(value) {
                // In its own cluster, one of the pages is the page itself.
                let others = entry.pages - u32::from(entry.cluster == own);
                if others > 0 {
                    let chance = others.saturating_mul(chances[entry.cluster as usize]);
                    counts.add(entry.cluster, chance.clamp(1, SURE));
                }
            }
        }
        let best = counts
            .take()
            .max_by_key(|&(c, count)| (count, c == own, Reverse(c)));
        match best {
            Some((cluster, count))
                if count >= LEAST_VALUES * SURE / BASE_SHARE
                    && 100 * count >= LEAST_PERCENT * values.len() as u32 * SURE / BASE_SHARE =>
            {
                cluster
            }
            _ => NONE,
        }
    };
    (0..shared.pages()).map(place).collect()
}

/// Return the chance of a page of each cluster to be in its base: `SURE` for all of them.
fn chances(cluster_of: &[u32], lengths: &[u64], base_bytes: u64) -> Vec<u32> {
    let mut bytes = vec![0; count_of(cluster_of)];
    for (page, &cluster) in cluster_of.iter().enumerate() {
        if cluster != NONE {
            bytes[cluster as usize] += lengths[page];
        }
    }
    let chance = |&bytes: &u64| {
        (u64::from(SURE) * base_bytes / bytes.max(1)).min(u64::from(SURE / BASE_SHARE)) as u32
    };
    bytes.iter().map(chance).collect()
}

/// Take the pages of small clusters out of them.
fn dissolve(cluster_of: &mut [u32]) {
    let mut sizes = vec![0; count_of(cluster_of)];
    for &cluster in cluster_of.iter().filter(|&&cluster| cluster != NONE) {
        sizes[cluster as usize] += 1;
    }
    for cluster in cluster_of.iter_mut() {
        if *cluster != NONE && sizes[*cluster as usize] < FEW_PAGES {
            *cluster = NONE;
        }
    }
}
