//! Clusters: which pages are stored together, decided by the bytes of the pages.
//!
//! Pages that share a base should share much of their content. Every page is reduced to a
//! [`sketch`](page_sketch), and only sketches are compared:
//!
//! 1. `shared` numbers the values that at least two pages have. The others cannot be saved by any
//!    cluster and are dropped.
//! 2. `leaders` goes through the pages once. A page joins the cluster that has most of its values,
//!    or begins a new one.
//! 3. `settle` dissolves small clusters and moves every page to where most of its values are held
//!    by others. Pages that are left are put together by host, if a host has several of them.
//! 4. `split` divides large clusters and `merge` joins small ones if that costs less: a base is
//!    limited in length, and has to pay off. `estimate` returns the cost of a cluster.
//!
//! Addresses are a hint. The same steps are tried from one cluster for each host on, and the
//! cheaper result is taken, so hosts help if they say something about the pages.
//!
//! [`Neighbours`] uses the same sketches to find the page that another one resembles most.
//!
//! Cost: linear in pages, whatever they contain. A page has at most 64 values, and a value that is
//! in many clusters is passed over, so each page looks at a fixed number of clusters. A page is
//! split off and moved a fixed number of times, and an estimate looks at a thousand pages. Memory:
//! about 2 KB for each page at worst. The same pages in the same order give the same clusters on
//! every machine, because only integers are used.

mod estimate;
mod leaders;
mod merge;
mod neighbours;
mod settle;
mod shared;
mod sketch;
mod split;

pub use self::neighbours::Neighbours;
pub use self::sketch::{EMPTY, SKETCH_VALUES, Sketch, page_sketch};

use self::estimate::Estimate;
use self::shared::Shared;
use std::collections::HashMap;

/// Marks a page without a cluster.
const NONE: u32 = u32::MAX;
/// Clusters with fewer pages are dissolved; so many pages of a host that are left form one.
const FEW_PAGES: usize = 8;

/// Group pages into clusters; returns the cluster of each page, numbered in order of first use.
///
/// `lengths` has the length of each page, `hosts` a number for its host, and `base_bytes` is the
/// limit for a base: the longer bases may be, the more pages share one.
///
/// # Panics
///
/// If the slices do not have one entry for each page.
///
/// ```
/// # use quire_core::codec::{page_clusters, page_sketch};
/// let page = |site: u32, page: u32| {
///     let common: String = (0..400).map(|n| format!("<p>{}", (site + 1) * n * n)).collect();
///     format!("{common} {page}").into_bytes()
/// };
/// let pages: Vec<Vec<u8>> = (0..20).map(|n| page(n % 2, n)).collect();
/// let sketches: Vec<_> = pages.iter().map(|page| page_sketch(page)).collect();
/// let lengths: Vec<u64> = pages.iter().map(|page| page.len() as u64).collect();
/// let found = page_clusters(&sketches, &lengths, &[0; 20], 1 << 20);
/// assert_eq!(found[..4], [0, 1, 0, 1]);
/// ```
#[must_use]
pub fn page_clusters(
    sketches: &[Sketch],
    lengths: &[u64],
    hosts: &[u32],
    base_bytes: u64,
) -> Vec<u32> {
    assert_eq!(sketches.len(), lengths.len());
    assert_eq!(sketches.len(), hosts.len());
    let used = |sketch: &Sketch| sketch.iter().take_while(|&&value| value != EMPTY).count() as u32;
    let totals: Vec<u32> = sketches.iter().map(used).collect();
    let shared = Shared::of(sketches);
    let mut estimate = Estimate::new(&shared, lengths, &totals, base_bytes);
    let mut best: Option<(u64, Vec<Vec<u32>>)> = None;
    for first in [leaders::clusters(&shared), by_host(hosts)] {
        let mut cluster_of = settle::settled(&shared, lengths, base_bytes, first);
        put_rest_by_host(&mut cluster_of, hosts);
        let pages: Vec<u32> = (0..sketches.len() as u32).collect();
        let clusters = split::grouped(&pages, |page| cluster_of[page]);
        let clusters = split::split(clusters, &shared, hosts, &mut estimate);
        let clusters = merge::merge(clusters, &shared, &mut estimate);
        let cost = clusters.iter().map(|pages| estimate.cost(pages)).sum();
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, clusters));
        }
    }
    let mut cluster_of = vec![0; sketches.len()];
    for (pages, number) in best.iter().flat_map(|(_, clusters)| clusters).zip(0..) {
        for &page in pages {
            cluster_of[page as usize] = number;
        }
    }
    renumber(&mut cluster_of);
    cluster_of
}

/// Begin with a cluster for each host.
fn by_host(hosts: &[u32]) -> Vec<u32> {
    let mut number: HashMap<u32, u32> = HashMap::new();
    let next = |host: &u32| {
        let next = number.len() as u32;
        *number.entry(*host).or_insert(next)
    };
    hosts.iter().map(next).collect()
}

/// Give pages without a cluster to one of their host, if several are left there; all others to one.
fn put_rest_by_host(cluster_of: &mut [u32], hosts: &[u32]) {
    let mut left: HashMap<u32, usize> = HashMap::new();
    for (page, &cluster) in cluster_of.iter().enumerate() {
        if cluster == NONE {
            *left.entry(hosts[page]).or_default() += 1;
        }
    }
    let rest = count_of(cluster_of) as u32;
    let mut next = rest + 1;
    let mut of_host: HashMap<u32, u32> = HashMap::new();
    for (page, cluster) in cluster_of.iter_mut().enumerate() {
        if *cluster == NONE {
            *cluster = if left[&hosts[page]] < FEW_PAGES {
                rest
            } else {
                *of_host.entry(hosts[page]).or_insert_with(|| {
                    next += 1;
                    next - 1
                })
            };
        }
    }
}

/// Return how many numbers of clusters are in use, from 0 to the highest.
fn count_of(cluster_of: &[u32]) -> usize {
    let highest = cluster_of.iter().filter(|&&cluster| cluster != NONE).max();
    highest.map_or(0, |&cluster| cluster as usize + 1)
}

/// Number the clusters in order of their first pages.
fn renumber(cluster_of: &mut [u32]) {
    let mut number = vec![NONE; count_of(cluster_of)];
    let mut next = 0;
    for cluster in cluster_of {
        let given = &mut number[*cluster as usize];
        if *given == NONE {
            *given = next;
            next += 1;
        }
        *cluster = *given;
    }
}

#[cfg(test)]
mod tests;
