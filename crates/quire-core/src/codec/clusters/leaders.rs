//! The first clusters: one pass over the pages, each compared with the clusters before it.

use std::cmp::Reverse;

use super::NONE;
use super::shared::{Counts, Shared};

/// A page joins a cluster that has this share of its values, in percent.
const JOIN_PERCENT: u32 = 45;
/// So many pages of a cluster enter the index.
const KNOWN_PAGES: u32 = 32;
/// A value in so many clusters says nothing about where a page belongs.
const MOST_CLUSTERS: u8 = 16;

/// Return the cluster of each page; a page that shares no value has none.
pub(super) fn clusters(shared: &Shared) -> Vec<u32> {
    let mut index = Lists::new(shared.values());
    let mut sizes: Vec<u32> = Vec::new();
    let mut counts = Counts::new(0);
    let mut cluster_of = vec![NONE; shared.pages()];
    for (page, cluster_of) in cluster_of.iter_mut().enumerate() {
        let values = shared.of_page(page);
        if values.is_empty() {
            continue;
        }
        for &value in values {
            if index.lengths[value as usize] < MOST_CLUSTERS {
                index.of(value).for_each(|cluster| counts.add(cluster, 1));
            }
        }
        // Of equal clusters, the older one.
        let best = counts.take().max_by_key(|&(c, count)| (count, Reverse(c)));
        let needed = (JOIN_PERCENT * values.len() as u32).div_ceil(100);
        let cluster = match best {
            Some((cluster, count)) if count >= needed => cluster,
            _ => {
                sizes.push(0);
                counts.grow();
                sizes.len() as u32 - 1
            }
        };
        *cluster_of = cluster;
        sizes[cluster as usize] += 1;
        if sizes[cluster as usize] <= KNOWN_PAGES {
            for &value in values {
                index.add(value, cluster);
            }
        }
    }
    cluster_of
}

/// A short list of clusters for each value, as links in one vector.
struct Lists {
    firsts: Vec<u32>,
    lengths: Vec<u8>,
    links: Vec<(u32, u32)>,
}

impl Lists {
    fn new(values: usize) -> Lists {
        Lists {
            firsts: vec![NONE; values],
            lengths: vec![0; values],
            links: Vec::new(),
        }
    }

    fn of(&self, value: u32) -> impl Iterator<Item = u32> {
        let mut at = self.firsts[value as usize];
        std::iter::from_fn(move || {
            let &(cluster, next) = self.links.get(at as usize)?;
            at = next;
            Some(cluster)
        })
    }

    fn add(&mut self, value: u32, cluster: u32) {
        let length = self.lengths[value as usize];
        if length < MOST_CLUSTERS && self.of(value).all(|known| known != cluster) {
            self.links.push((cluster, self.firsts[value as usize]));
            self.firsts[value as usize] = self.links.len() as u32 - 1;
            self.lengths[value as usize] = length + 1;
        }
    }
}
