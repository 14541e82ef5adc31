use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::codec::samples::{noise, prose, random};

const BASE: u64 = 1 << 20;

fn sketches(pages: &[Vec<u8>]) -> Vec<Sketch> {
    pages.iter().map(|page| page_sketch(page)).collect()
}

fn clusters(pages: &[Vec<u8>], hosts: &[u32]) -> Vec<u32> {
    let lengths: Vec<u64> = pages.iter().map(|page| page.len() as u64).collect();
    page_clusters(&sketches(pages), &lengths, hosts, BASE)
}

/// Return pages of several templates in turn, with some text of their own.
fn sites(count: usize, pages: usize, length: usize) -> Vec<Vec<u8>> {
    (0..count * pages)
        .map(|n| {
            [
                noise((n % count) as u64 + 1, length),
                noise(1000 + n as u64, length / 9),
            ]
            .concat()
        })
        .collect()
}

/// A sketch of the given values.
fn sketch_of(values: impl IntoIterator<Item = u32>) -> Sketch {
    let values: BTreeSet<u32> = values.into_iter().take(SKETCH_VALUES).collect();
    let mut sketch = [EMPTY; SKETCH_VALUES];
    for (slot, value) in sketch.iter_mut().zip(values) {
        *slot = value;
    }
    sketch
}

/// Sketches of pages of a few kinds: some values of the kind, some of all, some of their own.
fn kinds(seed: u64, pages: usize) -> Vec<Sketch> {
    let mut next = random(seed);
    let mut below = move |n: u64| ((next() >> 33) % n) as u32;
    (0..pages)
        .map(|_| {
            let (kind, count) = (below(7), below(64) as usize);
            let values: Vec<u32> = (0..count)
                .map(|_| match below(4) {
                    0 => below(20),
                    1 => 1_000_000 + below(1 << 30),
                    _ => 100 * (kind + 1) + below(90),
                })
                .collect();
            sketch_of(values)
        })
        .collect()
}

/// The definition: all hashes, sorted.
#[test]
fn a_sketch_has_the_grams_with_the_smallest_hashes() {
    for length in [0, 7, 8, 100, 2000, 70_000] {
        for page in [
            noise(length, length as usize),
            prose(length, length as usize),
        ] {
            let mut hashes = BTreeSet::new();
            for gram in page.windows(8) {
                let spread = u64::from_le_bytes(gram.try_into().unwrap())
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15);
                if spread < u64::MAX / 32 {
                    let mixed = (spread ^ spread >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                    hashes.insert(mixed ^ mixed >> 29);
                }
            }
            let values = hashes.into_iter().take(64).map(|hash| hash as u32);
            assert_eq!(page_sketch(&page), sketch_of(values));
        }
    }
}

/// The first pass as it is described: every page with every cluster before it.
fn leaders_slowly(sketches: &[Sketch]) -> Vec<u32> {
    let pages: Vec<Vec<u32>> = shareable(sketches);
    let mut clusters: Vec<(u32, BTreeSet<u32>)> = Vec::new();
    let mut in_clusters: BTreeMap<u32, u32> = BTreeMap::new();
    let mut found = Vec::new();
    for values in pages {
        if values.is_empty() {
            found.push(NONE);
            continue;
        }
        let told: Vec<u32> = (values.iter().copied())
            .filter(|value| in_clusters.get(value).is_none_or(|&count| count < 16))
            .collect();
        let held = |known: &BTreeSet<u32>| told.iter().filter(|v| known.contains(v)).count();
        let mut best = (0, usize::MAX);
        for (cluster, (_, known)) in clusters.iter().enumerate() {
            if held(known) > best.0 {
                best = (held(known), cluster);
            }
        }
        if best.0 == 0 || 100 * best.0 < 45 * values.len() {
            best.1 = clusters.len();
            clusters.push((0, BTreeSet::new()));
        }
        let (size, known) = &mut clusters[best.1];
        *size += 1;
        if *size <= 32 {
            for value in values {
                let count = in_clusters.entry(value).or_default();
                if *count < 16 && known.insert(value) {
                    *count += 1;
                }
            }
        }
        found.push(best.1 as u32);
    }
    found
}

/// Return for each page the values that another page has too.
fn shareable(sketches: &[Sketch]) -> Vec<Vec<u32>> {
    let mut holders: BTreeMap<u32, u32> = BTreeMap::new();
    for &value in sketches.iter().flatten() {
        *holders.entry(value).or_default() += 1;
    }
    let is_shared = |value: &&u32| **value != EMPTY && holders[*value] > 1;
    let of_page = |sketch: &Sketch| sketch.iter().filter(is_shared).copied().collect();
    sketches.iter().map(of_page).collect()
}

/// One round of moving pages, as it is described.
fn moved_slowly(sketches: &[Sketch], lengths: &[u64], cluster_of: &[u32]) -> Vec<u32> {
    let pages = shareable(sketches);
    let mut bytes: BTreeMap<u32, u64> = BTreeMap::new();
    let mut holders: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
    for (page, &cluster) in cluster_of.iter().enumerate() {
        if cluster != NONE {
            *bytes.entry(cluster).or_default() += lengths[page];
            for &value in &pages[page] {
                *holders
                    .entry(value)
                    .or_default()
                    .entry(cluster)
                    .or_default() += 1;
            }
        }
    }
    let of_page = |page: usize| {
        let mut best = (0, false, 0, NONE);
        for (&cluster, &bytes) in &bytes {
            let chance = (4096 * BASE / bytes.max(1)).min(1024);
            let is_own = cluster == cluster_of[page];
            let mut score = 0;
            for value in &pages[page] {
                let Some(known) = holders.get(value) else {
                    continue;
                };
                let others = known.get(&cluster).copied().unwrap_or(0);
                let others = others - u64::from(is_own);
                if others > 0 && known.len() <= 64 {
                    score += (others * chance).clamp(1, 4096);
                }
            }
            best = best.max((score, is_own, NONE - cluster, cluster));
        }
        let least = (2 * 1024).max((10 * pages[page].len() as u64 * 1024).div_ceil(100));
        if best.0 >= least { best.3 } else { NONE }
    };
    (0..pages.len()).map(of_page).collect()
}

fn dissolved(mut cluster_of: Vec<u32>) -> Vec<u32> {
    let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
    for &cluster in &cluster_of {
        *sizes.entry(cluster).or_default() += 1;
    }
    for cluster in &mut cluster_of {
        if sizes[cluster] < FEW_PAGES {
            *cluster = NONE;
        }
    }
    cluster_of
}

#[test]
fn pages_are_grouped_and_moved_as_the_definition_says() {
    for seed in 0..12 {
        let sketches = kinds(seed, 90);
        let lengths: Vec<u64> = (0..90).map(|n| n * n * 90 * (seed % 3)).collect();
        let shared = Shared::of(&sketches);
        let first = leaders::clusters(&shared);
        assert_eq!(first, leaders_slowly(&sketches), "seed {seed}");
        let mut slowly = first.clone();
        for _ in 0..2 {
            slowly = moved_slowly(&sketches, &lengths, &dissolved(slowly));
        }
        let found = settle::settled(&shared, &lengths, BASE, first);
        assert_eq!(found, dissolved(slowly), "seed {seed}");
    }
}

/// The estimate as it is described, with sets of values and the best page searched for each time.
fn cost_slowly(sketches: &[Sketch], lengths: &[u64], pages: &[u32]) -> u64 {
    let shared = shareable(sketches);
    let mut covered: BTreeSet<u32> = BTreeSet::new();
    let mut base: Vec<u32> = Vec::new();
    let mut cost = 0;
    let total = |page: u32| {
        let used = sketches[page as usize]
            .iter()
            .filter(|&&value| value != EMPTY);
        (used.count() as u64).max(1)
    };
    let gain = |page: u32, covered: &BTreeSet<u32>| -> u64 {
        let new = shared[page as usize]
            .iter()
            .filter(|value| !covered.contains(value));
        let others = |value: &u32| -> u64 {
            let holds = |&&page: &&u32| shared[page as usize].contains(value);
            pages.iter().filter(holds).count() as u64 - 1
        };
        new.map(others).sum()
    };
    while base.len() < pages.len().div_ceil(4) {
        let left = BASE - base.iter().map(|&page| lengths[page as usize]).sum::<u64>();
        let mut best: Option<(u128, u128, u32)> = None;
        for &page in pages.iter().filter(|page| !base.contains(page)) {
            let gain = u128::from(gain(page, &covered));
            let length = lengths[page as usize];
            if gain == 0 || length > left {
                continue;
            }
            let divisor = if base.is_empty() {
                1
            } else {
                u128::from(length.max(1))
            };
            if best.is_none_or(|(most, by, _)| gain * gain * by > most * most * divisor) {
                best = Some((gain, divisor, page));
            }
        }
        let Some((_, _, page)) = best else { break };
        let new = total(page)
            - shared[page as usize]
                .iter()
                .filter(|v| covered.contains(v))
                .count() as u64;
        cost += lengths[page as usize] * new / total(page) / 2;
        covered.extend(&shared[page as usize]);
        base.push(page);
    }
    for (at, &page) in pages.iter().enumerate() {
        let before = if at > 0 {
            &shared[pages[at - 1] as usize][..]
        } else {
            &[]
        };
        if !base.contains(&page) {
            let values = &shared[page as usize];
            let in_base = values
                .iter()
                .filter(|value| covered.contains(value))
                .count();
            let known = in_base.max(values.iter().filter(|value| before.contains(value)).count());
            cost += lengths[page as usize] * (total(page) - known as u64) / total(page);
        }
    }
    cost
}

#[test]
fn the_estimate_is_that_of_the_definition() {
    for seed in 0..12 {
        let sketches = kinds(seed + 50, 60);
        let mut next = random(seed + 9);
        let lengths: Vec<u64> = (0..60).map(|_| (next() >> 33) % (BASE / 5)).collect();
        let totals: Vec<u32> = (sketches.iter())
            .map(|sketch| sketch.iter().filter(|&&value| value != EMPTY).count() as u32)
            .collect();
        let shared = Shared::of(&sketches);
        let mut estimate = Estimate::new(&shared, &lengths, &totals, BASE);
        for step in [1, 2, 7] {
            let pages: Vec<u32> = (0..60).step_by(step).collect();
            let expected = cost_slowly(&sketches, &lengths, &pages);
            assert_eq!(estimate.cost(&pages), expected, "seed {seed}, step {step}");
            assert_eq!(
                estimate.cost(&pages),
                expected,
                "nothing is left from before"
            );
        }
    }
}

#[test]
fn pages_of_a_template_are_together_whatever_their_hosts() {
    let pages = sites(5, 20, 9000);
    let expected: Vec<u32> = (0..100).map(|n| n % 5).collect();
    let shuffled: Vec<u32> = (0..100).map(|n| n * 37 % 11).collect();
    let alone: Vec<u32> = (0..100).collect();
    for hosts in [&[0; 100][..], &expected, &shuffled, &alone] {
        assert_eq!(clusters(&pages, hosts), expected);
    }
}

#[test]
fn a_large_cluster_is_split_if_its_base_has_no_room_for_all_kinds() {
    // All pages have a frame in common; each kind has as much as a third of a base of its own.
    let frame = noise(77, 200_000);
    let pages: Vec<Vec<u8>> = (0..120)
        .map(|n| [&frame[..], &noise(n % 6, 350_000), &noise(100 + n, 2000)].concat())
        .collect();
    let found = clusters(&pages, &[0; 120]);
    let kinds: BTreeSet<(u32, u32)> = found
        .iter()
        .zip((0..6).cycle())
        .map(|(&c, k)| (c, k))
        .collect();
    assert_eq!(kinds.len(), 6, "pages of a kind are together");
    assert!(found.iter().max().unwrap() > &0, "but not all kinds");
}

#[test]
fn pages_without_anything_in_common_are_put_together_by_host() {
    let pages: Vec<Vec<u8>> = (0..40).map(|n| noise(n, 3000)).collect();
    let hosts: Vec<u32> = (0..40).map(|n| if n < 20 { 7 } else { n }).collect();
    let found = clusters(&pages, &hosts);
    assert_eq!(
        found,
        (0..40).map(|n| u32::from(n >= 20)).collect::<Vec<_>>()
    );
}

#[test]
fn odd_pages_have_a_cluster_too() {
    assert!(clusters(&[], &[]).is_empty());
    let mut pages = vec![Vec::new(); 20];
    pages.extend((0..=255).map(|byte| vec![byte; 50_000]));
    pages.extend(vec![vec![b'a'; 100]; 20]);
    pages.push(noise(1, 1));
    let hosts: Vec<u32> = (0..pages.len() as u32).map(|page| page % 3).collect();
    let found = clusters(&pages, &hosts);
    assert_eq!(found.len(), pages.len());
    let used: BTreeSet<u32> = found.iter().copied().collect();
    assert!(
        used.iter().copied().eq(0..used.len() as u32),
        "numbered from 0"
    );
}

#[test]
fn made_up_sketches_cost_no_more_than_others() {
    // Two thousand pages that all collide; pages whose values are in as many clusters as possible;
    // chains in which each page has half of the values of the one before.
    let same = vec![sketch_of(0..64); 2000];
    let woven = (0..2000).map(|n: u32| sketch_of((0..64).map(|k| k * 1000 + (n * (k + 1)) % 97)));
    let chain = (0..2000).map(|n| sketch_of((0..64).map(|k| n * 32 + k)));
    for sketches in [same, woven.collect(), chain.collect()] {
        for length in [0, 1, 100_000, 50 << 20] {
            let found = page_clusters(&sketches, &[length; 2000], &[0; 2000], BASE);
            assert_eq!(found.len(), 2000);
        }
    }
}

#[test]
fn the_nearest_page_is_the_latest_with_most_values_if_the_base_has_fewer() {
    let base = noise(1, 20_000);
    let mut neighbours = Neighbours::new(&base);
    let page = |own: u64, common: usize| [&base[..common], &noise(own, 20_000 - common)].concat();
    let (one, other) = (page_sketch(&page(2, 4000)), page_sketch(&page(3, 4000)));
    assert_eq!(neighbours.nearest(&one), None, "there are no pages");
    assert_eq!(neighbours.add(&one), 0);
    assert_eq!(neighbours.add(&other), 1);
    assert_eq!(neighbours.add(&one), 2);
    assert_eq!(neighbours.nearest(&one), Some(2));
    assert_eq!(neighbours.nearest(&other), Some(1));
    assert_eq!(
        neighbours.nearest(&page_sketch(&base)),
        None,
        "the base has more"
    );
    assert_eq!(
        neighbours.nearest(&page_sketch(&noise(9, 20_000))),
        None,
        "nothing in common"
    );
    neighbours.set_base(&page(2, 4000));
    assert_eq!(neighbours.nearest(&one), None, "the new base has all of it");
    neighbours.clear();
    assert_eq!(neighbours.nearest(&other), None);
    assert_eq!(neighbours.nearest(&[EMPTY; SKETCH_VALUES]), None);
}
