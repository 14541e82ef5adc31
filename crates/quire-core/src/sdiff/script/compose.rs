//! Composing: two scripts, one after the other, as one.
//!
//! The pairings are composed and the script is derived again, so what one script did and the next
//! undid is gone, and what moved twice moved once.

use super::apply::{Shape, check};
use super::model::{NodeRef, Script};
use super::{Head, Making, edit_script, refuse};
use crate::base::error::Error;
use crate::digest::Digest;
use crate::page::tree::NONE;
use crate::sdiff::labels::Labels;
use crate::sdiff::{Pairs, Rules};

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
                "the first script makes the page with source signature {:032x}, but the second is for {:032x}",
                self.new.signature, next.old.signature
            )));
        }
        if Head::of(new) != next.new {
            return Err(refuse(
                "the last page is not the one that the second script makes",
            ));
        }
        let (first, second) = (self.pairs(old)?, next.pairs(between)?);
        let step = |partners: &[u32], node: u32| match node {
            NONE => NONE,
            node => partners[node as usize],
        };
        let mut pairs = Pairs::new(old.n(), new.n());
        for (node, &middle) in first.to_new.iter().enumerate() {
            let target = step(&second.to_new, middle);
            if target != NONE {
                pairs.join(node as u32, target);
            }
        }
        old.check_heaps()?;
        new.check_heaps()?;
        let rules = Rules::default();
        let labels = [old, new].map(|page| Labels::new(page, &rules));
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
