//! Splits a large cluster if its parts would cost less with a base each.
//!
//! Two ways are tried, and the cheaper one is taken: by host, and by what distinguishes the pages.
//! So addresses can help, but cannot do harm.

use std::collections::HashMap;

use super::estimate::Estimate;
use super::shared::Shared;
use super::{FEW_PAGES, NONE, leaders, settle};

/// A cluster with fewer times the bytes of a base has room for all its parts in it.
const LEAST_BASES: u64 = 4;
/// Parts have to cost less than this share of the whole, in percent.
const GAIN_PERCENT: u64 = 98;
/// How often parts are split again.
const DEEPEST: usize = 6;

/// Split clusters, given as lists of pages.
pub(super) fn split(
    clusters: Vec<Vec<u32>>,
    shared: &Shared,
    hosts: &[u32],
    estimate: &mut Estimate,
) -> Vec<Vec<u32>> {
    let mut found = Vec::new();
    let mut open: Vec<(Vec<u32>, usize)> = clusters.into_iter().map(|one| (one, 0)).collect();
    while let Some((pages, depth)) = open.pop() {
        if depth == DEEPEST || estimate.bytes(&pages) < LEAST_BASES * estimate.base_bytes {
            found.push(pages);
            continue;
        }
        let whole = estimate.cost(&pages);
        let ways = [by_host(&pages, hosts), by_content(&pages, shared, estimate)];
        let best = ways
            .into_iter()
            .filter(|parts| parts.len() > 1)
            .map(|parts| {
                (
                    parts.iter().map(|part| estimate.cost(part)).sum::<u64>(),
                    parts,
                )
            })
            .min_by_key(|(cost, _)| *cost);
        match best {
            Some((cost, parts)) if 100 * cost < GAIN_PERCENT * whole => {
                open.extend(parts.into_iter().map(|part| (part, depth + 1)));
            }
            _ => found.push(pages),
        }
    }
    found
}

/// Split by host; hosts with few pages stay together.
fn by_host(pages: &[u32], hosts: &[u32]) -> Vec<Vec<u32>> {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    for &page in pages {
        *counts.entry(hosts[page as usize]).or_default() += 1;
    }
    grouped(pages, |at| {
        let host = hosts[pages[at] as usize];
        if counts[&host] < FEW_PAGES {
            NONE
        } else {
            host
        }
    })
}

/// Split by the values that not most of the pages have.
fn by_content(pages: &[u32], shared: &Shared, estimate: &mut Estimate) -> Vec<Vec<u32>> {
    let within = shared.within(pages, pages.len() / 2);
    let lengths: Vec<u64> = pages.iter().map(|&page| estimate.bytes(&[page])).collect();
    let first = leaders::clusters(&within);
    let cluster_of = settle::settled(&within, &lengths, estimate.base_bytes, first);
    let parts = grouped(pages, |at| cluster_of[at]);
    super::merge::merge(parts, shared, estimate)
}

/// Group pages by a key; groups are in the order of their first pages.
pub(super) fn grouped(pages: &[u32], key: impl Fn(usize) -> u32) -> Vec<Vec<u32>> {
    let mut number: HashMap<u32, usize> = HashMap::new();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for (at, &page) in pages.iter().enumerate() {
        let group = *number.entry(key(at)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(page);
    }
    groups
}
