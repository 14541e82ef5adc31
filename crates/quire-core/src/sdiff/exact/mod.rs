//! The smallest number of node edits between two ordered trees, and which node became which.
//!
//! Inserting a node, deleting one (its children take its place) and relabelling
//! one cost 1 each; nothing moves. The answer comes with its mapping and says
//! whether it is proven minimal. Steps, each of which may settle the matter:
//!
//! 1. `trim`: equal subtrees at the same end of both forests, and single
//!    roots with equal labels, are matched. No other equal subtree may be:
//!    matching equal parts in the middle can cost edits. Linear.
//! 2. An upper bound: the mapping the caller knows, or a `greedy` one. Linear.
//! 3. A lower bound (`bounds`): sizes, labels, label strings. Where the two
//!    meet the mapping is minimal, and no table is made.
//! 4. `rounds`: Zhang and Shasha's dynamic program, restricted to what a
//!    mapping of at most `k` edits can touch (`table`), for growing `k`, from the
//!    left or the right end of the forests, whichever is cheaper. A round
//!    costs about `n · depth · k²`, so large trees that differ in few nodes are
//!    proven as well; a round that covers everything is the plain algorithm. Work
//!    is counted before it is done, and never exceeds [`Budget`].
//!
//! Past the budget the best mapping known is answered, not proven. Nothing
//! recurses; memory is `O(n1 · min(k, n2))`.

mod bounds;
mod forest;
mod greedy;
mod mapping;
mod rounds;
mod table;
mod trim;

#[cfg(test)]
mod tests;

use forest::Forest;

/// An ordered labelled tree in pre-order: child counts and labels. One root.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    /// Child counts; [`crate::page::tree::check`] says which sequences are trees.
    pub children: &'a [u32],
    /// One label a node; equal numbers are equal labels, in both trees.
    pub labels: &'a [u32],
}

/// How much may be spent on a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Cells of the table: `n1 · n2` of what trimming leaves, less where only few edits are looked for.
    /// A cell takes up to 16 bytes.
    pub cells: u64,
    /// Steps of all rounds together, of about two nanoseconds each. Reading a mapping
    /// back may take as many again.
    pub steps: u64,
}

impl Default for Budget {
    /// 4 million cells (64 MB at most) and 200 million steps (about half a second).
    fn default() -> Self {
        Self {
            cells: 4_000_000,
            steps: 200_000_000,
        }
    }
}

/// A mapping between two trees and what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exact {
    /// Nodes deleted, nodes inserted and pairs with unequal labels, added up.
    pub edits: u32,
    /// Old and new node of each pair, in pre-order: one to one, keeping order and ancestors.
    pub pairs: Vec<(u32, u32)>,
    /// No mapping has fewer edits than this.
    pub at_least: u32,
    /// Whether `edits` is the minimum, that is, equal to `at_least`.
    pub proven: bool,
}

/// Find a mapping with the fewest edits, as far as the budget goes.
///
/// `hint` is a mapping that is known already, in any order; one that is not one
/// to one or does not keep order and ancestors is not used.
///
/// # Panics
/// When child counts are not those of one tree, or there is not one label a node.
#[must_use]
pub fn edit_distance(old: Tree, new: Tree, budget: &Budget, hint: Option<&[(u32, u32)]>) -> Exact {
    search(&Forest::new(old), &Forest::new(new), budget, hint, true)
}

/// [`edit_distance`], with trimming as a choice so that tests can show it changes nothing.
fn search(
    old: &Forest,
    new: &Forest,
    budget: &Budget,
    hint: Option<&[(u32, u32)]>,
    trimming: bool,
) -> Exact {
    let (old_ids, new_ids) = trim::subtree_ids(old, new);
    let trimmed = if trimming {
        trim::trim(old, new, &old_ids, &new_ids)
    } else {
        trim::Trimmed::nothing(old, new)
    };
    let (a, b) = (old.part(trimmed.old.clone()), new.part(trimmed.new.clone()));
    let mut pairs = trimmed.pairs;
    let found = |pairs: Vec<(u32, u32)>, at_least| {
        let edits = mapping::edits(old, new, &pairs);
        Exact {
            edits,
            pairs,
            at_least,
            proven: edits == at_least,
        }
    };
    let mut at_least = bounds::counts(&a, &b);

    // Trimmed pairs cost nothing, so costs of the parts and of the wholes compare.
    let hint = hint.and_then(|hint| mapping::checked(old, new, hint));
    let hinted = hint.as_deref().map(|hint| mapping::edits(old, new, hint));
    if let (Some(hint), Some(edits)) = (&hint, hinted)
        && edits == at_least
    {
        return found(hint.clone(), at_least);
    }

    let ids = (&old_ids[trimmed.old.clone()], &new_ids[trimmed.new.clone()]);
    let mut best = greedy::mapping(&a, &b, ids.0, ids.1);
    let built = mapping::edits(&a, &b, &best);
    // Work of this order was done already, so no budget forbids it.
    let linear = 16 * (a.len() + b.len()) as u64;
    let at_most = hinted.map_or(built, |edits| edits.min(built));
    at_least = at_least.max(bounds::strings(&a, &b, at_most, budget.steps / 8 + linear));
    let proof = rounds::prove(&a, &b, at_least, at_most, budget);
    if let Some(better) = proof.pairs {
        best = better;
    } else if let (Some(hint), true) = (hint, hinted < Some(built)) {
        return found(hint, proof.at_least);
    }
    let (old_start, new_start) = (trimmed.old.start as u32, trimmed.new.start as u32);
    pairs.extend(best.iter().map(|&(x, y)| (x + old_start, y + new_start)));
    pairs.sort_unstable();
    found(pairs, proof.at_least)
}
