//! Shapes made to be slow, and trees too large for a proof.

use super::{Owned, Random, assert_valid};
use crate::sdiff::exact::{Budget, edit_distance};

const N: usize = 100_000;

/// A small part of the default, so that the tests show what does not depend on it.
const LITTLE: Budget = Budget {
    cells: 400_000,
    steps: 10_000_000,
};

fn check(old: &Owned, new: &Owned) -> (u32, bool) {
    let found = edit_distance(old.tree(), new.tree(), &LITTLE, None);
    assert_valid(old, new, &found);
    (found.edits, found.proven)
}

fn made(label: impl Fn(usize) -> u32, depth: impl Fn(usize) -> usize, size: usize) -> Owned {
    let nodes: Vec<_> = (0..size).map(|x| (depth(x), label(x))).collect();
    Owned::new(&nodes)
}

/// Numbers without a pattern.
fn noise(x: usize) -> u32 {
    (x as u32).wrapping_mul(2_654_435_761).rotate_left(13) % 1_000
}

#[test]
fn chains_of_one_label_are_proven() {
    let (old, new) = (made(|_| 0, |x| x, N), made(|_| 0, |x| x, N - 5));
    assert_eq!(check(&old, &new), (5, true));
}

#[test]
fn stars_of_one_label_are_proven() {
    let (old, new) = (
        made(|_| 0, |x| x.min(1), N),
        made(|_| 0, |x| x.min(1), N - 5),
    );
    assert_eq!(check(&old, &new), (5, true));
}

#[test]
fn unlike_chains_and_stars_end_without_a_proof() {
    let (chain, other) = (made(noise, |x| x, N), made(|x| noise(x + 7), |x| x, N));
    let (star, stars) = (
        made(noise, |x| x.min(1), N),
        made(|x| noise(x * 3 + 1), |x| x.min(1), N),
    );
    let comb = made(|x| (x % 2) as u32, |x| x / 2 + x % 2, N);
    let zigzag = made(|_| 0, |x| if x < N / 2 { x } else { N - x }, N);
    for (old, new) in [
        (&chain, &other),
        (&star, &stars),
        (&chain, &star),
        (&comb, &zigzag),
        (&comb, &star),
        (&zigzag, &chain),
    ] {
        let (edits, _) = check(old, new);
        assert!(edits as usize <= 2 * N);
    }
}

#[test]
fn a_chain_and_a_star_of_one_label_share_two_nodes() {
    let (old, new) = (made(|_| 0, |x| x, 300), made(|_| 0, |x| x.min(1), 300));
    assert_eq!(check(&old, &new), (596, true));
}

#[test]
fn a_tree_and_a_single_node_are_proven() {
    let (old, new) = (made(noise, |x| x.min(3), N), made(|_| 5_000, |x| x, 1));
    assert_eq!(check(&old, &new), (N as u32, true));
}

#[test]
fn few_edits_in_large_trees_are_proven_though_the_full_table_is_over_the_budget() {
    let mut random = Random(4_242);
    for edits in [1, 3, 8] {
        let (old, new) = random.pair(5_000, 20, edits);
        let found = edit_distance(old.tree(), new.tree(), &LITTLE, None);
        assert_valid(&old, &new, &found);
        assert!(found.proven && found.edits as usize <= edits);
    }
}

#[test]
fn past_the_budget_a_valid_mapping_is_answered_unproven() {
    let mut random = Random(8);
    let (old, new) = (random.tree(3_000, 9), random.tree(3_000, 9));
    let found = edit_distance(old.tree(), new.tree(), &LITTLE, None);
    assert_valid(&old, &new, &found);
    assert!(!found.proven && found.at_least > 0);

    // A hint is never made worse.
    let hinted = edit_distance(old.tree(), new.tree(), &LITTLE, Some(&found.pairs));
    assert_valid(&old, &new, &hinted);
    assert!(hinted.edits <= found.edits);
}
