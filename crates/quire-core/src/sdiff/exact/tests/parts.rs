//! Each step by itself.

use super::{Exact, Owned, Random, assert_valid, oracle};
use crate::sdiff::exact::forest::PostOrder;
use crate::sdiff::exact::table::Problem;
use crate::sdiff::exact::{bounds, greedy, mapping, trim};

// Cells that a band leaves out are where a wrong bound would show.
#[test]
fn a_round_finds_the_minimum_exactly_when_it_is_within_reach() {
    let mut random = Random(0x0dd_ba11);
    for round in 0..1_500 {
        let labels = 1 + random.below(3);
        let size = 1 + random.below(8);
        let (old, new) = if round % 2 == 0 {
            let other = 1 + random.below(8);
            (random.tree(size, labels), random.tree(other, labels))
        } else {
            random.pair(size, labels, 3)
        };
        let least = oracle::distance(&old, &new);
        let (a, b) = (old.forest(), new.forest());
        let sides = [
            (PostOrder::forward(&a), PostOrder::forward(&b)),
            (PostOrder::mirrored(&a), PostOrder::mirrored(&b)),
        ];
        for (x, y) in &sides {
            for edits in 0..=(x.len() + y.len() + 2) as u32 {
                let Some(problem) = Problem::new(x, y, edits) else {
                    assert!(edits < least);
                    continue;
                };
                assert!(problem.steps(u64::MAX).is_some());
                let tables = problem.solve();
                let found = problem.distance(&tables);
                assert!(found.is_none_or(|found| found >= least));
                assert!(edits < least || found == Some(least), "{old:?} {new:?}");
                let Some(found) = found else { continue };
                let mut pairs = problem.mapping(tables);
                pairs.sort_unstable();
                let found = Exact {
                    edits: found,
                    pairs,
                    at_least: found,
                    proven: true,
                };
                assert_valid(&old, &new, &found);
            }
        }
    }
}

#[test]
fn string_distance_equals_the_table_and_never_exceeds_it_when_stopped() {
    fn table(a: &[u32], b: &[u32]) -> u32 {
        let mut row: Vec<u32> = (0..=b.len() as u32).collect();
        for (i, x) in a.iter().enumerate() {
            let mut corner = row[0];
            row[0] = i as u32 + 1;
            for (j, y) in b.iter().enumerate() {
                let matched = corner + u32::from(x != y);
                corner = row[j + 1];
                row[j + 1] = matched.min(corner + 1).min(row[j] + 1);
            }
        }
        row[b.len()]
    }
    let mut random = Random(99);
    for _ in 0..5_000 {
        let mut string = || -> Vec<u32> {
            let length = random.below(12);
            (0..length).map(|_| random.below(3) as u32).collect()
        };
        let (a, b) = (string(), string());
        let expected = table(&a, &b);
        for at_most in 0..16 {
            let found = bounds::string_distance(&a, &b, at_most, u64::MAX);
            assert_eq!(found, expected.min(at_most), "{a:?} {b:?}");
            let stopped = bounds::string_distance(&a, &b, at_most, 30);
            assert!(stopped <= expected);
        }
    }
}

#[test]
fn bounds_hold_and_greedy_mappings_are_valid() {
    let mut random = Random(5);
    for _ in 0..3_000 {
        let (old, new) = (random.tree(8, 3), random.tree(7, 3));
        let (a, b) = (old.forest(), new.forest());
        let least = oracle::distance(&old, &new);
        assert!(bounds::counts(&a, &b) <= least);
        assert!(bounds::strings(&a, &b, least + 3, u64::MAX) <= least);
        let (ids, new_ids) = trim::subtree_ids(&a, &b);
        let pairs = greedy::mapping(&a, &b, &ids, &new_ids);
        assert_eq!(mapping::checked(&a, &b, &pairs), Some(pairs.clone()));
        assert!(mapping::edits(&a, &b, &pairs) >= least);
    }
}

// Runs too long to align, with few distinct subtrees: where anchors cross most.
#[test]
fn greedy_mappings_of_long_runs_are_valid_and_keep_most_copies() {
    let mut random = Random(17);
    for labels in [1, 2, 50, 5_000] {
        let mut star = || {
            let mut nodes = vec![(0, 0)];
            nodes.extend((0..2_000).map(|_| (1, random.below(labels) as u32)));
            nodes
        };
        let old = star();
        let mut new = old.clone();
        new.splice(700..900, star().into_iter().skip(1).take(300));
        let (old, new) = (Owned::new(&old), Owned::new(&new));
        let (a, b) = (old.forest(), new.forest());
        let (ids, new_ids) = trim::subtree_ids(&a, &b);
        let pairs = greedy::mapping(&a, &b, &ids, &new_ids);
        assert_eq!(mapping::checked(&a, &b, &pairs), Some(pairs.clone()));
        assert!(mapping::edits(&a, &b, &pairs) <= 500);
    }
}

#[test]
fn subtrees_have_one_number_exactly_when_they_are_equal() {
    let mut random = Random(31);
    for _ in 0..300 {
        let (old, new) = (random.tree(12, 2), random.tree(12, 2));
        let (a, b) = (old.forest(), new.forest());
        let (ids, new_ids) = trim::subtree_ids(&a, &b);
        let subtree = |tree: &Owned, node: usize, size: u32| {
            let nodes = node..node + size as usize;
            (
                tree.children[nodes.clone()].to_vec(),
                tree.labels[nodes].to_vec(),
            )
        };
        for (x, id) in ids.iter().enumerate() {
            for (y, new_id) in new_ids.iter().enumerate() {
                let equal = subtree(&old, x, a.size[x]) == subtree(&new, y, b.size[y]);
                assert_eq!(id == new_id, equal);
            }
        }
    }
}

#[test]
fn trimming_takes_both_ends_and_goes_down_one_path() {
    let (old, new) = (
        Owned::parse("r(a b(x(1 2)) m(s t u) z)"),
        Owned::parse("r(a b(x(1 2)) m(s v u) z)"),
    );
    let (a, b) = (old.forest(), new.forest());
    let (ids, new_ids) = trim::subtree_ids(&a, &b);
    let left = trim::trim(&a, &b, &ids, &new_ids);
    assert_eq!((left.old, left.new), (8..9, 8..9));
    assert_eq!(left.pairs.len(), 10);
}
