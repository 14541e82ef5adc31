//! A step from a few nodes: along their children or subtrees, not over the whole page.
//!
//! `#main > ul > li:nth-of-type(2)` has one node after its first compound. From there on only
//! children are visited, which makes long paths cheap on large pages.

use std::collections::HashMap;

use selectors::parser::{Combinator, Component, NthSelectorData};

use super::evaluate::Evaluation;
use super::names::Types;
use super::sets::{Set, is_through};
use crate::base::error::Error;

// More nodes than this are handled by passes over the page.
const FEW: usize = 64;

impl Evaluation<'_> {
    /// Return the nodes of a set, if there are few.
    pub(super) fn few(&self, set: &Set) -> Result<Option<Vec<u32>>, Error> {
        self.domain.pass()?;
        let some = self.domain.nodes().filter(|&node| set[node as usize]);
        let few: Vec<u32> = some.take(FEW + 1).collect();
        Ok((few.len() <= FEW).then_some(few))
    }

    /// Return the set of these nodes.
    pub(super) fn set_of(&self, nodes: &[u32]) -> Set {
        let mut set = self.domain.none();
        for &node in nodes {
            set[node as usize] = true;
        }
        set
    }

    /// Return where a combinator and a compound lead from `nodes`, in order; `None` if that needs
    /// more than children, descendants and columns.
    pub(super) fn step_from(
        &self,
        nodes: &[u32],
        combinator: Combinator,
        compound: &[Component<Types>],
    ) -> Result<Option<Vec<u32>>, Error> {
        let window = self.domain.window();
        if !nodes.iter().all(|node| window.contains(node)) {
            return Ok(None);
        }
        let candidates = match combinator {
            Combinator::Child => self.children(nodes)?,
            Combinator::Descendant => match self.descendants(nodes)? {
                Some(candidates) => candidates,
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let mut kept = vec![true; candidates.len()];
        for component in compound {
            match component {
                // All siblings of a candidate are candidates, so they can be counted here.
                Component::Nth(data) => self.count(data, &candidates, &mut kept),
                Component::ExplicitUniversalType | Component::ExplicitAnyNamespace => {}
                _ => match self.column_test(component) {
                    Some(test) => {
                        for (&node, kept) in candidates.iter().zip(&mut kept) {
                            *kept = *kept && self.passes(&test, node)?;
                        }
                    }
                    None => return Ok(None),
                },
            }
        }
        let found = candidates.into_iter().zip(kept);
        Ok(Some(found.filter(|it| it.1).map(|it| it.0).collect()))
    }

    fn children(&self, nodes: &[u32]) -> Result<Vec<u32>, Error> {
        let (page, sizes) = (self.page, self.page.sizes());
        let mut found = Vec::new();
        for &node in nodes {
            let end = node + sizes[node as usize];
            let mut child = node + 1;
            while child < end {
                self.domain.take(1)?;
                if self.domain.elements[child as usize] {
                    found.push(child);
                }
                let through = is_through(page.tag_class(page.tags()[child as usize]));
                child += if through { 1 } else { sizes[child as usize] };
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Return the elements below any of `nodes`, unless they are a large part of the page.
    fn descendants(&self, nodes: &[u32]) -> Result<Option<Vec<u32>>, Error> {
        let sizes = self.page.sizes();
        let all: u64 = nodes
            .iter()
            .map(|&node| u64::from(sizes[node as usize]))
            .sum();
        if all > self.domain.window().len() as u64 / 4 {
            return Ok(None);
        }
        self.domain.take(all as usize)?;
        let mut found = Vec::new();
        let mut done = 0;
        for &node in nodes {
            let end = node + sizes[node as usize];
            let below = (node + 1).max(done)..end.max(done);
            found.extend(below.filter(|&it| self.domain.elements[it as usize]));
            done = done.max(end);
        }
        Ok(Some(found))
    }

    fn count(&self, data: &NthSelectorData, candidates: &[u32], kept: &mut [bool]) {
        let tags = self.page.tags();
        let key = |node: u32| {
            let kind = if data.ty.is_of_type() {
                tags[node as usize]
            } else {
                0
            };
            (self.domain.parent(node), kind)
        };
        let mut counts: HashMap<(u32, u32), i32> = HashMap::new();
        for &node in candidates {
            *counts.entry(key(node)).or_insert(0) += 1;
        }
        let mut place = |index: usize| {
            let left = counts.entry(key(candidates[index])).or_insert(0);
            if data.ty.is_only() {
                kept[index] &= *left == 1;
            } else {
                kept[index] &= data.an_plus_b.matches_index(*left);
                *left -= 1;
            }
        };
        // As in `nth`: the remaining count is from the other side.
        if data.ty.is_from_end() {
            (0..candidates.len()).for_each(&mut place);
        } else {
            (0..candidates.len()).rev().for_each(&mut place);
        }
    }
}
