use super::*;

/// Return text of `length` bytes that differs from all others.
fn unlike(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(SPREAD) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        b' ' + (state >> 32) as u8 % 64
    };
    (0..length).map(|_| next()).collect()
}

fn slices(pages: &[Vec<u8>]) -> Vec<&[u8]> {
    pages.iter().map(Vec::as_slice).collect()
}

/// The definition, recomputed at every step, with grams compared as bytes.
fn choose_slowly(pages: &[&[u8]], most: usize) -> Vec<usize> {
    use std::collections::{BTreeMap, BTreeSet};
    let grams: Vec<BTreeSet<&[u8]>> = pages
        .iter()
        .map(|page| page.windows(8).filter(|g| sampled(g).is_some()).collect())
        .collect();
    let mut holders: BTreeMap<&[u8], u64> = BTreeMap::new();
    for gram in grams.iter().flatten() {
        *holders.entry(gram).or_default() += 1;
    }
    let mut covered = BTreeSet::new();
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < most {
        let mut best: Option<Candidate> = None;
        for page in (0..pages.len()).filter(|page| !chosen.contains(page)) {
            let new = grams[page].iter().filter(|gram| !covered.contains(*gram));
            let candidate = Candidate {
                gain: new.map(|gram| holders[gram] - 1).sum(),
                length: if chosen.is_empty() {
                    1
                } else {
                    pages[page].len() as u64
                },
                page,
            };
            if candidate.gain > 0 && best.is_none_or(|best| best < candidate) {
                best = Some(candidate);
            }
        }
        let Some(best) = best else { break };
        covered.extend(grams[best.page].iter().copied());
        chosen.push(best.page);
    }
    chosen
}

#[test]
fn the_heap_chooses_what_the_definition_chooses() {
    for seed in 0..20 {
        // Each page has some of twelve common parts and a part of its own.
        let parts: Vec<Vec<u8>> = (0..12).map(|i| unlike(seed * 100 + i, 700)).collect();
        let pages: Vec<Vec<u8>> = (0..25)
            .map(|page| {
                let own = unlike(seed * 100 + 50 + page, 30 + 40 * page as usize);
                let mask = unlike(seed * 977 + page, 12);
                let some = parts.iter().zip(mask).filter(|(_, m)| m % 4 == 0);
                some.flat_map(|(part, _)| part.clone()).chain(own).collect()
            })
            .collect();
        let pages = slices(&pages);
        for most in [1, 3, 32] {
            assert_eq!(
                choose_base(&pages, most),
                choose_slowly(&pages, most),
                "seed {seed}"
            );
        }
    }
}

#[test]
fn pages_that_bring_nothing_new_are_not_chosen() {
    let page = unlike(1, 5000);
    assert_eq!(choose_base(&[&page, &page, &page], 32), [0]);
    let (a, b) = (unlike(2, 5000), unlike(3, 5000));
    assert!(choose_base(&[&a, &b], 32).is_empty(), "nothing in common");
    assert!(choose_base(&[], 32).is_empty());
    assert!(choose_base(&[&[], b"x", b"x"], 32).is_empty());
    assert!(choose_base(&[&page, &page], 0).is_empty());
}

#[test]
fn a_bound_in_bytes_passes_over_pages_that_exceed_it() {
    let (a, b) = (unlike(4, 9000), unlike(5, 3000));
    let both = [&a[..], &b].concat();
    let pages: Vec<&[u8]> = vec![&both, &a, &b, &b];
    assert_eq!(choose_base(&pages, 32), [0]);
    assert_eq!(choose_base_within(&pages, 32, 12_000, &[]), [0]);
    assert_eq!(choose_base_within(&pages, 32, 11_999, &[]), [1]);
    assert_eq!(choose_base_within(&pages, 32, 4000, &[]), [2]);
    assert!(choose_base_within(&pages, 32, 100, &[]).is_empty());
}

#[test]
fn a_page_whose_every_gram_is_sampled_costs_no_more_than_others() {
    // Eight bytes all of whose rotations are sampled: zeros.
    let page = vec![0; 1 << 20];
    let grams = Grams::of(&[&page, &page]);
    assert_eq!(grams.worth, [1]);
}
