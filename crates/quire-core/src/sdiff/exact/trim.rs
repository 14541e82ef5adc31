//! Matching what an optimal mapping may always match.
//!
//! Two rules, for any costs that obey the triangle inequality: equal subtrees at
//! the same end of both forests may be matched, since whatever else became of
//! part of the one costs at least as many insertions in its twin; and a single
//! root on each side with equal labels may be matched, to go on below. They are
//! applied in turn until neither applies. Equal subtrees elsewhere are left
//! alone: the tests hold three pairs where matching them costs edits.

use super::forest::Forest;
use std::collections::HashMap;
use std::ops::Range;

/// What was matched, and the sibling runs that are left.
pub struct Trimmed {
    /// Matched pairs, in no order. All have equal labels.
    pub pairs: Vec<(u32, u32)>,
    /// Nodes left of the old forest.
    pub old: Range<usize>,
    /// Nodes left of the new forest.
    pub new: Range<usize>,
}

impl Trimmed {
    /// All is left.
    pub fn nothing(old: &Forest, new: &Forest) -> Self {
        Self {
            pairs: Vec::new(),
            old: 0..old.len(),
            new: 0..new.len(),
        }
    }

    fn pair_subtrees(&mut self, x: usize, y: usize, size: usize) {
        let twins = (x..x + size).zip(y..y + size);
        self.pairs.extend(twins.map(|(x, y)| (x as u32, y as u32)));
    }
}

/// Apply both rules as long as they apply. Linear in the nodes matched and the siblings seen.
pub fn trim(old: &Forest, new: &Forest, old_ids: &[u32], new_ids: &[u32]) -> Trimmed {
    let mut left = Trimmed::nothing(old, new);
    loop {
        while !left.old.is_empty() && !left.new.is_empty() {
            let (x, y) = (left.old.start, left.new.start);
            if old_ids[x] != new_ids[y] {
                break;
            }
            let size = old.size[x] as usize;
            left.pair_subtrees(x, y, size);
            left.old.start += size;
            left.new.start += size;
        }
        let mut olds: Vec<usize> = old.siblings(left.old.clone()).collect();
        let mut news: Vec<usize> = new.siblings(left.new.clone()).collect();
        while let (Some(&x), Some(&y)) = (olds.last(), news.last())
            && old_ids[x] == new_ids[y]
        {
            left.pair_subtrees(x, y, old.size[x] as usize);
            olds.pop();
            news.pop();
            left.old.end = x;
            left.new.end = y;
        }
        let (&[x], &[y]) = (olds.as_slice(), news.as_slice()) else {
            return left;
        };
        if old.label[x] != new.label[y] {
            return left;
        }
        left.pairs.push((x as u32, y as u32));
        left.old = old.below(x);
        left.new = new.below(y);
    }
}

/// A number for each subtree, equal exactly when the subtrees are.
///
/// A subtree is its label and its list of children, a list is its rest and its
/// first subtree; both are looked up by value, so nothing rests on a hash. Linear.
pub fn subtree_ids(old: &Forest, new: &Forest) -> (Vec<u32>, Vec<u32>) {
    let mut subtrees = HashMap::with_capacity(old.len());
    let mut lists = HashMap::with_capacity(old.len());
    let mut number = |forest: &Forest| {
        let mut ids = vec![0; forest.len()];
        // The list of siblings from the node last seen at each depth on; 0 is the empty list.
        let mut open: Vec<u32> = Vec::new();
        for x in (0..forest.len()).rev() {
            let depth = forest.depth[x] as usize;
            if open.len() < depth + 2 {
                open.resize(depth + 2, 0);
            }
            let children = std::mem::take(&mut open[depth + 1]);
            let next = subtrees.len() as u32;
            ids[x] = *subtrees.entry((forest.label[x], children)).or_insert(next);
            let next = lists.len() as u32 + 1;
            open[depth] = *lists.entry((open[depth], ids[x])).or_insert(next);
        }
        ids
    };
    (number(old), number(new))
}
