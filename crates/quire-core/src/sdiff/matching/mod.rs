//! Matching: which node of the old page is which node of the new one.
//!
//! Any one-to-one pairing with the roots as partners gives a right script, so this is all
//! about a good one: short scripts, and nodes that keep their identity through redesigns. The
//! steps, each on what the steps before have left:
//!
//! 1. [`probe`]: is it one edit? Settles most pairs of versions in the time of the path to it.
//! 2. [`align`]: from partners to their children. Equal subtrees in order, then equal ones out of order,
//!    then between those the cheapest way to turn one list into the other ([`gap`]).
//! 3. [`moves`]: equal subtrees left anywhere, the largest first, when they say enough to be
//!    recognised.
//! 4. [`recover`]: parents by the votes of their children; then nodes by id, by text and address, by text.
//!    Each find is aligned again.
//! 5. Alignment once more, with everything that is still left.
//! 6. [`strangers`]: what moved, but does not read mostly the same, is parted again.
//!
//! Cost: O(n log n) for the orders and sixteen steps a node for sketches; alignment is exact up to a
//! limit for each list of children and a budget for all of them, and takes shorter ways beyond,
//! which are reported as [`Coarse`]. Candidates are ordered by size and place, never
//! by hash, so the answer is always the same.

mod align;
mod gap;
mod ladder;
pub mod lcs;
mod moves;
mod probe;
mod recover;
mod sketch;
mod strangers;
mod tree;
mod twins;
mod weights;

use std::cell::OnceCell;

use self::sketch::Sketches;
pub use self::tree::Tree;
use self::twins::Twins;
use self::weights::{LETTER, Weights};
use crate::page::tree::NONE;

/// Partners, both ways; [`NONE`] for nodes without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs {
    /// The partner of each node of the old page.
    pub to_new: Vec<u32>,
    /// The partner of each node of the new page.
    pub to_old: Vec<u32>,
}

/// What the matching prefers where it has to choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Granularity {
    /// Short scripts: parts that changed a lot are replaced.
    Brief,
    /// The middle.
    #[default]
    Normal,
    /// Nodes keep their identity as long as anything speaks for it.
    Fine,
}

impl Granularity {
    /// How alike two elements with equal labels must be, not to be replaced.
    fn floor(self) -> f64 {
        match self {
            Self::Brief => 0.4,
            Self::Normal => 0.15,
            Self::Fine => 0.05,
        }
    }
}

/// Where a limit was met and the pairing is coarser than it could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coarse {
    /// The node of the old page whose children were paired by a shorter way.
    pub old: u32,
    /// Its partner.
    pub new: u32,
}

impl Pairs {
    /// No partners yet.
    pub fn new(old: usize, new: usize) -> Self {
        Self {
            to_new: vec![NONE; old],
            to_old: vec![NONE; new],
        }
    }

    /// Make two nodes partners. Both must be free.
    #[inline]
    pub fn join(&mut self, old: u32, new: u32) {
        debug_assert_eq!(self.to_new[old as usize], NONE);
        debug_assert_eq!(self.to_old[new as usize], NONE);
        self.to_new[old as usize] = new;
        self.to_old[new as usize] = old;
    }

    /// Make the nodes of two equal subtrees partners. All must be free.
    pub fn join_subtrees(&mut self, old: u32, new: u32, size: u32) {
        for i in 0..size {
            self.join(old + i, new + i);
        }
    }

    /// Whether no node of two subtrees of one size has a partner.
    fn are_free(&self, old: u32, new: u32, size: u32) -> bool {
        let free = |partners: &[u32], from: u32| {
            partners[from as usize..(from + size) as usize]
                .iter()
                .all(|&partner| partner == NONE)
        };
        free(&self.to_new, old) && free(&self.to_old, new)
    }

    #[inline]
    fn old_is_free(&self, node: u32) -> bool {
        self.to_new[node as usize] == NONE
    }

    #[inline]
    fn new_is_free(&self, node: u32) -> bool {
        self.to_old[node as usize] == NONE
    }
}

/// Information that a subtree needs to be recognised under another parent: 24 letters.
///
/// On 445 pairs of news pages: none, 133,000 actions; 12, 109,000; 24, a little less.
const ENOUGH: u64 = 24 * LETTER;

/// Steps of alignment for a pair of pages: some 100 ms.
const BUDGET: u64 = 50_000_000;

/// The state of a matching.
struct Matcher<'a> {
    old: Tree<'a>,
    new: Tree<'a>,
    twins: Twins,
    old_weights: Weights,
    new_weights: Weights,
    sketches: OnceCell<(Sketches, Sketches)>,
    pairs: Pairs,
    /// Partners whose children wait to be aligned.
    work: Vec<(u32, u32)>,
    coarse: Vec<Coarse>,
    floor: f64,
    steps_left: u64,
    /// Only the first alignment knows that whatever is below free nodes is free.
    first: bool,
    /// The last alignment takes every child that is left.
    late: bool,
}

/// Pair the nodes of two sides. The roots are partners.
pub fn pair(old: Tree, new: Tree, granularity: Granularity) -> (Pairs, Vec<Coarse>) {
    if let Some(pairs) = probe::probe(old, new) {
        return (pairs, Vec::new());
    }
    let mut matcher = Matcher::new(old, new, granularity);
    matcher.link(0, 0);
    matcher.align_all();
    matcher.first = false;
    matcher.pair_moved();
    matcher.vote();
    matcher.align_all();
    matcher.recover();
    matcher.late = true;
    matcher.align_again();
    matcher.part_strangers();
    (matcher.pairs, matcher.coarse)
}

impl<'a> Matcher<'a> {
    fn new(old: Tree<'a>, new: Tree<'a>, granularity: Granularity) -> Self {
        Self {
            twins: Twins::new(old, new),
            old_weights: Weights::new(old),
            new_weights: Weights::new(new),
            sketches: OnceCell::new(),
            pairs: Pairs::new(old.n(), new.n()),
            work: Vec::new(),
            coarse: Vec::new(),
            floor: granularity.floor(),
            steps_left: BUDGET,
            first: true,
            late: false,
            old,
            new,
        }
    }

    /// Make two nodes partners and have their children aligned.
    fn link(&mut self, x: u32, y: u32) {
        self.pairs.join(x, y);
        self.work.push((x, y));
    }

    /// Make two equal subtrees partners, as far as they are free.
    fn link_equal(&mut self, x: u32, y: u32) {
        let size = self.old.size(x);
        if self.first || self.pairs.are_free(x, y, size) {
            self.pairs.join_subtrees(x, y, size);
        } else {
            self.link(x, y);
        }
    }

    /// What changed subtrees are made of.
    fn sketches(&self) -> &(Sketches, Sketches) {
        self.sketches.get_or_init(|| {
            let twins = &self.twins;
            let copies_old = |node: u32| twins.counts[twins.old[node as usize] as usize].0;
            let copies_new = |node: u32| twins.counts[twins.new[node as usize] as usize].1;
            (
                Sketches::new(
                    self.old,
                    &twins.old,
                    |node| twins.novel_old(node),
                    copies_old,
                ),
                Sketches::new(
                    self.new,
                    &twins.new,
                    |node| twins.novel_new(node),
                    copies_new,
                ),
            )
        })
    }

    fn old_info(&self, node: u32) -> u64 {
        self.old_weights.info(self.old, node)
    }

    fn new_info(&self, node: u32) -> u64 {
        self.new_weights.info(self.new, node)
    }
}
