//! Whether a mapping is valid, and its cost.

use super::forest::Forest;

/// Deleted nodes, inserted nodes and relabelled pairs of a valid mapping.
pub fn edits(old: &Forest, new: &Forest, pairs: &[(u32, u32)]) -> u32 {
    let relabelled = pairs
        .iter()
        .filter(|&&(x, y)| old.label[x as usize] != new.label[y as usize])
        .count();
    (old.len() + new.len() - 2 * pairs.len() + relabelled) as u32
}

/// The pairs in order, or none when they are no mapping.
///
/// Two nodes stand in the same relation (before, after, above, below) on both
/// sides exactly when both pre-order and post-order agree.
pub fn checked(old: &Forest, new: &Forest, pairs: &[(u32, u32)]) -> Option<Vec<(u32, u32)>> {
    let mut pairs = pairs.to_vec();
    pairs.sort_unstable();
    let inside = |&(x, y): &(u32, u32)| (x as usize) < old.len() && (y as usize) < new.len();
    if !pairs.iter().all(inside) || !increases(&pairs) {
        return None;
    }
    let mut ends: Vec<(u32, u32)> = pairs
        .iter()
        .map(|&(x, y)| (old.post(x as usize) as u32, new.post(y as usize) as u32))
        .collect();
    ends.sort_unstable();
    increases(&ends).then_some(pairs)
}

/// Whether both sides grow from each pair to the next.
fn increases(pairs: &[(u32, u32)]) -> bool {
    pairs
        .windows(2)
        .all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1)
}
