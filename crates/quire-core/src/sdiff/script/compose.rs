//! Composing: two scripts, one after the other, as one.
//!
//! The pairings are composed and the script is derived again, so what one script did and the next
//! undid is gone, and what moved twice moved once. What one deleted and the next inserted again has
//! lost its partner on the way: equal subtrees below partners are paired once more. A way back to
//! the same page needs no search: every node is its own partner.

use std::collections::HashMap;

use super::apply::{Shape, check};
use super::model::{NodeRef, Script};
use super::{Head, Making, edit_script, refuse};
use crate::base::error::Error;
use crate::digest::Digest;
use crate::page::tree::NONE;
use crate::sdiff::blanks::pair_blanks;
use crate::sdiff::labels::Labels;
use crate::sdiff::matching::lcs::common;
use crate::sdiff::side::Side;
use crate::sdiff::{Pairs, Rules, Scope};

impl Script {
    /// Which node of the old page is which node of the new one.
    pub fn pairs(&self, old: &Digest) -> Result<Pairs, Error> {
        check(self, old)?;
        Ok(Shape::new(self, old)?.pairs())
    }

    /// Make the script of this one and the next, given the three pages they lead through.
    pub fn compose(
        &self,
        next: &Self,
        old: &Digest,
        between: &Digest,
        new: &Digest,
    ) -> Result<Self, Error> {
        if self.new != next.old {
            return Err(refuse(format!(
                "the first script gives the page with source signature {:032x}, but the second script is for {:032x}",
                self.new.signature, next.old.signature
            )));
        }
        if Head::of(new) != next.new {
            return Err(refuse(
                "the last page is not the result of the second script",
            ));
        }
        let (first, second) = (self.pairs(old)?, next.pairs(between)?);
        let step = |partners: &[u32], node: u32| match node {
            NONE => NONE,
            node => partners[node as usize],
        };
        old.check_heaps()?;
        new.check_heaps()?;
        let rules = Rules::default();
        let labels = [old, new].map(|page| Labels::new(page, &rules));
        let mut pairs = Pairs::new(old.n(), new.n());
        if self.old == next.new {
            (0..old.n() as u32).for_each(|node| pairs.join(node, node));
        } else {
            for (node, &middle) in first.to_new.iter().enumerate() {
                let target = step(&second.to_new, middle);
                if target != NONE {
                    pairs.join(node as u32, target);
                }
            }
            pair_again((old, &labels[0]), (new, &labels[1]), &mut pairs);
        }
        let making = Making {
            nodewise: false,
            invertible: self.invertible && next.invertible,
        };
        let mut script = edit_script(old, new, [&labels[0], &labels[1]], &pairs, making)?;
        let known = |old: Option<u32>, new: Option<u32>| NodeRef { old, new };
        let some = |node: u32| Some(node).filter(|&node| node != NONE);
        let known_node = |partners: &[u32], node: Option<u32>| {
            node.and_then(|node| partners.get(node as usize).copied())
                .and_then(some)
        };
        let before =
            (self.coarse.iter()).map(|at| known(at.old, known_node(&second.to_new, at.new)));
        let after = (next.coarse.iter()).map(|at| known(known_node(&first.to_old, at.old), at.new));
        script.coarse = before.chain(after).collect();
        Ok(script)
    }
}

/// Pair equal subtrees without partners whose parents are partners, in order; and the white space
/// around them.
fn pair_again(old: (&Digest, &Labels), new: (&Digest, &Labels), pairs: &mut Pairs) {
    let side = |(page, labels): (&Digest, &Labels)| Side::new(page, labels, &Scope::default());
    let (from, to) = (side(old), side(new));
    let mut place = vec![NONE; new.0.n()];
    for (at, &node) in to.node.iter().enumerate() {
        place[node as usize] = at as u32;
    }
    // Parents come first, so that the children of what is paired here are looked at, too.
    for x in 0..from.n() as u32 {
        let partner = pairs.to_new[from.node[x as usize] as usize];
        let y = match partner {
            NONE => NONE,
            partner => place[partner as usize],
        };
        if y == NONE {
            continue;
        }
        let free_old: Vec<u32> = (from.children(x))
            .filter(|&x| pairs.to_new[from.node[x as usize] as usize] == NONE)
            .collect();
        if free_old.is_empty() {
            continue;
        }
        let free_new: Vec<u32> = (to.children(y))
            .filter(|&y| pairs.to_old[to.node[y as usize] as usize] == NONE)
            .collect();
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        let mut number = |hash: u64| {
            let next = numbers.len() as u32;
            *numbers.entry(hash).or_insert(next)
        };
        let xs: Vec<u32> = (free_old.iter())
            .map(|&x| number(from.hash[x as usize]))
            .collect();
        let ys: Vec<u32> = (free_new.iter())
            .map(|&y| number(to.hash[y as usize]))
            .collect();
        let weight = |at: usize| u64::from(from.size[free_old[at] as usize]);
        for (i, j) in common(&xs, &ys, weight).0 {
            let (x, y) = (free_old[i] as usize, free_new[j] as usize);
            pairs.join(from.node[x], to.node[y]);
        }
    }
    pair_blanks(old, new, pairs);
}
