//! Blanks: partners for the white space that took no part in the matching.
//!
//! White space has no identity of its own: it stands before or after something. So
//! a blank is paired with the blank at the same end of the partner of its neighbour: after the
//! partner of the sibling before it, else before the partner of the sibling behind it, else, where
//! it is the only child, with the only child. One pass, linear.

use super::labels::Labels;
use super::matching::Pairs;
use crate::digest::Digest;
use crate::page::tree::NONE;

/// Pair the blanks of two pages whose other nodes are paired.
///
/// Only blanks whose parents are partners are paired, so a blank never moves.
pub fn pair_blanks(old: (&Digest, &Labels), new: (&Digest, &Labels), pairs: &mut Pairs) {
    if !old.1.has_blanks() || !new.1.has_blanks() {
        return;
    }
    let (befores, afters) = neighbours(new.0);
    let parents = &old.0.derived().parent;
    let (old_befores, old_afters) = neighbours(old.0);
    for at in 1..old.0.n() {
        if !old.1.blank[at] || pairs.to_new[at] != NONE {
            continue;
        }
        let parent = pairs.to_new[parents[at] as usize];
        if parent == NONE {
            continue;
        }
        let partner = |node: u32| match node {
            NONE => NONE,
            node => pairs.to_new[node as usize],
        };
        let before = partner(old_befores[at]);
        let behind = partner(old_afters[at]);
        let first = old_befores[at] == NONE && new.0.derived().size[parent as usize] > 1;
        let candidates = [
            if before == NONE {
                NONE
            } else {
                afters[before as usize]
            },
            if behind == NONE {
                NONE
            } else {
                befores[behind as usize]
            },
            if first { parent + 1 } else { NONE },
        ];
        let free = |&node: &u32| {
            node != NONE
                && new.1.blank[node as usize]
                && pairs.to_old[node as usize] == NONE
                && new.0.derived().parent[node as usize] == parent
        };
        if let Some(node) = candidates.into_iter().find(free) {
            pairs.join(at as u32, node);
        }
    }
}

/// The siblings before and behind each node; [`NONE`] at the ends.
fn neighbours(page: &Digest) -> (Vec<u32>, Vec<u32>) {
    let derived = page.derived();
    let n = page.n();
    let (mut before, mut behind) = (vec![NONE; n], vec![NONE; n]);
    for (at, &size) in derived.size.iter().enumerate() {
        let next = at + size as usize;
        if next < n && derived.parent[next] == derived.parent[at] {
            behind[at] = next as u32;
            before[next] = at as u32;
        }
    }
    (before, behind)
}
