//! Placement: which pairs stayed where they were, and which moved.
//!
//! A node stays when its parent's partner is its partner's parent and it is among the longest
//! increasing run of its siblings that stay; all others moved. So the number of moves
//! among siblings is the smallest possible. O(n log n).

use super::matching::Pairs;
use crate::digest::Digest;
use crate::draft::NONE;

/// Whether each node of the new page moved there, by node.
pub fn moved(old: &Digest, new: &Digest, pairs: &Pairs) -> Vec<bool> {
    let (old_tree, new_tree) = (old.derived(), new.derived());
    let mut moved = vec![false; new.n()];
    let mut stays = Vec::new();
    for parent in 0..new.n() {
        stays.clear();
        let was = pairs.to_old[parent];
        let end = parent + new_tree.size[parent] as usize;
        let mut child = parent + 1;
        while child < end {
            let source = pairs.to_old[child];
            if source != NONE {
                if was != NONE && old_tree.parent[source as usize] == was {
                    stays.push((child, source));
                } else {
                    moved[child] = true;
                }
            }
            child += new_tree.size[child] as usize;
        }
        let sources: Vec<u32> = stays.iter().map(|&(_, source)| source).collect();
        let mut kept = longest_increasing(&sources).into_iter().peekable();
        for (i, &(child, _)) in stays.iter().enumerate() {
            if kept.next_if_eq(&i).is_none() {
                moved[child] = true;
            }
        }
    }
    moved
}

/// The places of a longest increasing subsequence of different numbers.
///
/// ```
/// # use quire_core::sdiff::placement::longest_increasing;
/// assert_eq!(longest_increasing(&[3, 0, 1, 2]), [1, 2, 3]);
/// ```
pub fn longest_increasing(values: &[u32]) -> Vec<usize> {
    let mut ends: Vec<usize> = Vec::new();
    let mut before = vec![usize::MAX; values.len()];
    for (i, &value) in values.iter().enumerate() {
        let length = ends.partition_point(|&end| values[end] < value);
        if length > 0 {
            before[i] = ends[length - 1];
        }
        if length == ends.len() {
            ends.push(i);
        } else {
            ends[length] = i;
        }
    }
    let mut kept = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied().unwrap_or(usize::MAX);
    while let Some(&next) = before.get(at) {
        kept.push(at);
        at = next;
    }
    kept.reverse();
    kept
}
