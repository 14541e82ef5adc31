//! Distances, against the oracle and by name.

use super::{Owned, Random, assert_valid, distance, oracle};
use crate::sdiff::exact::{Budget, Tree, edit_distance, search};

/// No steps: only what needs no table is proven.
const NOTHING: Budget = Budget { cells: 0, steps: 0 };

#[test]
fn distance_and_mapping_equal_the_definition_on_small_trees() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for round in 0..8_000 {
        let labels = 1 + random.below(3);
        let size = 1 + random.below(9);
        let (old, new) = if round % 2 == 0 {
            let other = 1 + random.below(8);
            (random.tree(size, labels), random.tree(other, labels))
        } else {
            let edits = random.below(5);
            random.pair(size, labels, edits)
        };
        let found = distance(&old, &new);
        assert!(found.proven);
        assert_eq!(found.edits, oracle::distance(&old, &new), "{old:?} {new:?}");

        let (a, b) = (old.forest(), new.forest());
        let untrimmed = search(&a, &b, &Budget::default(), None, false);
        assert_valid(&old, &new, &untrimmed);
        assert_eq!((untrimmed.edits, untrimmed.proven), (found.edits, true));

        let unproven = edit_distance(old.tree(), new.tree(), &NOTHING, None);
        assert_valid(&old, &new, &unproven);
        assert!(unproven.at_least <= found.edits && found.edits <= unproven.edits);

        // An optimal hint is kept or equalled, whatever the budget.
        let pairs = Some(found.pairs.as_slice());
        let hinted = edit_distance(old.tree(), new.tree(), &NOTHING, pairs);
        assert_valid(&old, &new, &hinted);
        assert_eq!(hinted.edits, found.edits);
    }
}

#[test]
fn distances_equal_the_textbook_on_larger_trees() {
    let mut random = Random(0x7e57);
    for round in 0..60 {
        let (size, labels) = (20 + random.below(60), 2 + random.below(8));
        let (old, new) = if round % 2 == 0 {
            let other = 20 + random.below(60);
            (random.tree(size, labels), random.tree(other, labels))
        } else {
            let edits = random.below(30);
            random.pair(size, labels, edits)
        };
        let found = distance(&old, &new);
        assert!(found.proven);
        assert_eq!(found.edits, oracle::textbook(&old, &new), "{old:?} {new:?}");
    }
}

#[test]
fn both_directions_and_swapped_sides_agree_on_larger_trees() {
    let mut random = Random(0xfeed_beef);
    let mirror = |tree: &Owned| {
        let forest = tree.forest();
        // Mirrored pre-order is post-order backwards.
        let mut order: Vec<usize> = (0..forest.len()).collect();
        order.sort_unstable_by_key(|&x| std::cmp::Reverse(forest.post(x)));
        let node = |&x: &usize| (forest.depth[x] as usize, forest.label[x]);
        Owned::new(&order.iter().map(node).collect::<Vec<_>>())
    };
    for _ in 0..60 {
        let (size, edits) = (20 + random.below(100), random.below(40));
        let (old, new) = random.pair(size, 4, edits);
        let found = distance(&old, &new);
        assert!(found.proven && found.edits as usize <= edits);
        assert_eq!(distance(&new, &old).edits, found.edits);
        assert_eq!(distance(&mirror(&old), &mirror(&new)).edits, found.edits);
    }
}

#[test]
fn wrapping_a_part_and_moving_its_sibling_is_three_edits() {
    let (old, new) = (
        Owned::parse("r(s L(a b c d))"),
        Owned::parse("r(w(L(a b c d)) s)"),
    );
    assert_eq!(distance(&old, &new).edits, 3);
}

#[test]
fn the_largest_equal_subtree_may_be_the_one_to_delete() {
    let (old, new) = (
        Owned::parse("r(X(1 2 3 4) a(5 6) b(7 8) c(9 0))"),
        Owned::parse("r(a(5 6) b(7 8) c(9 0) X(1 2 3 4))"),
    );
    assert_eq!(distance(&old, &new).edits, 10);
}

#[test]
fn an_equal_child_is_not_matched_with_the_first_copy() {
    let (old, new) = (Owned::parse("c(b a)"), Owned::parse("c(a a)"));
    assert_eq!(distance(&old, &new).edits, 1);
}

#[test]
fn roots_need_not_match_each_other() {
    let (old, new) = (Owned::parse("a(b(c d))"), Owned::parse("b(c d)"));
    let found = distance(&old, &new);
    assert_eq!((found.edits, found.proven), (1, true));
    assert_eq!(found.pairs, [(1, 0), (2, 1), (3, 2)]);
}

#[test]
fn equal_trees_and_single_nodes_need_no_table() {
    let answer = |old: &str, new: &str| {
        let (old, new) = (Owned::parse(old), Owned::parse(new));
        let found = edit_distance(old.tree(), new.tree(), &NOTHING, None);
        assert_valid(&old, &new, &found);
        (found.edits, found.proven)
    };
    assert_eq!(answer("a(b c(d))", "a(b c(d))"), (0, true));
    assert_eq!(answer("a", "b"), (1, true));
    assert_eq!(answer("a", "a(b c)"), (2, true));
}

#[test]
fn a_single_edit_is_proven_by_its_hint_alone() {
    let mut random = Random(77);
    for _ in 0..200 {
        let (old, new) = random.pair(300, 5, 1);
        let hint = distance(&old, &new).pairs;
        let found = edit_distance(old.tree(), new.tree(), &NOTHING, Some(&hint));
        assert_valid(&old, &new, &found);
        assert!(found.proven && found.edits <= 1);
    }
}

#[test]
fn a_hint_that_is_no_mapping_is_not_used() {
    let (old, new) = (Owned::parse("r(a b)"), Owned::parse("r(b a)"));
    let crossing = [(0, 0), (1, 2), (2, 1)];
    let twice = [(0, 0), (1, 1), (2, 1)];
    let outside = [(0, 0), (1, 7)];
    let upside_down = [(0, 1), (1, 0)];
    for hint in [&crossing[..], &twice, &outside, &upside_down] {
        for budget in [NOTHING, Budget::default()] {
            let found = edit_distance(old.tree(), new.tree(), &budget, Some(hint));
            assert_valid(&old, &new, &found);
            assert_eq!(found.edits, 2);
        }
    }
}

#[test]
#[should_panic(expected = "child counts of one tree are expected")]
fn counts_that_are_no_tree_are_refused() {
    let broken = Tree {
        children: &[1, 0, 0],
        labels: &[0, 0, 0],
    };
    let _ = edit_distance(broken, broken, &NOTHING, None);
}

#[test]
fn moving_and_wrapping_are_three_edits() {
    // r(s L) and r(w(L) s): w is inserted, s deleted in front and inserted behind.
    let old = Tree {
        children: &[2, 0, 2, 0, 0],
        labels: &[0, 1, 2, 3, 4],
    };
    let new = Tree {
        children: &[2, 1, 2, 0, 0, 0],
        labels: &[0, 5, 2, 3, 4, 1],
    };
    let found = edit_distance(old, new, &Budget::default(), None);
    assert_eq!((found.edits, found.proven), (3, true));
    assert_eq!(found.pairs, [(0, 0), (2, 2), (3, 3), (4, 4)]);
}
