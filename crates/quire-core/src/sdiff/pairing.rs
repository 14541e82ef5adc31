//! From two pages to partners: labels, sides, matching, blanks.
//!
//! The one place where these steps are put together, for [`super::annotation`] and
//! [`super::script`] alike.

use std::collections::HashMap;

use super::blanks::pair_blanks;
use super::exact::{self, Budget, edit_distance};
use super::labels::Labels;
use super::matching::{Coarse, Granularity, Pairs, Tree, pair};
use super::rules::{Rules, Scope};
use super::side::Side;
use crate::base::error::Error;
use crate::digest::Digest;
use crate::page::tree::NONE;

/// A page and what of it is compared.
pub struct Compared<'a> {
    /// The page.
    pub page: &'a Digest,
    /// Its parts that count.
    pub scope: Scope,
}

/// One page on the way to partners.
pub struct Labelled<'a> {
    /// The page.
    pub page: &'a Digest,
    /// What counts of each node.
    pub labels: Labels,
    /// The nodes that take part.
    pub side: Side,
}

/// Two pages whose nodes are partners.
pub struct Paired<'a> {
    /// The old page.
    pub old: Labelled<'a>,
    /// The new page.
    pub new: Labelled<'a>,
    /// Partners, in nodes of the pages.
    pub pairs: Pairs,
    /// Where a limit was met, in nodes of the pages.
    pub coarse: Vec<Coarse>,
    /// Whether no pairing without moves has fewer node edits.
    pub proven: bool,
}

/// How partners are found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Way {
    /// What the matching prefers.
    pub granularity: Granularity,
    /// The fewest node edits without moves, as far as this goes.
    pub exact: Option<Budget>,
}

impl<'a> Labelled<'a> {
    /// Label both pages; what they have in common is hashed once.
    fn both(old: &Compared<'a>, new: &Compared<'a>, rules: &Rules) -> Result<[Self; 2], Error> {
        old.page.check_heaps()?;
        new.page.check_heaps()?;
        let (labels, strings) = Labels::beside(old.page, rules, None);
        let side = Side::new(old.page, &labels, &old.scope);
        let (new_labels, _) = Labels::beside(new.page, rules, Some((old.page, &strings)));
        let new_side = Side::beside(new.page, &new_labels, &new.scope, &side);
        Ok([
            Self {
                page: old.page,
                labels,
                side,
            },
            Self {
                page: new.page,
                labels: new_labels,
                side: new_side,
            },
        ])
    }

    /// Whether all nodes of the page take part.
    fn is_whole(&self) -> bool {
        self.side.n() == self.page.n()
    }

    fn tree(&self) -> Tree<'_> {
        Tree {
            page: self.page,
            labels: &self.labels,
            side: &self.side,
        }
    }
}

/// Find the partners of the nodes of two pages.
pub fn pair_pages<'a>(
    old: &Compared<'a>,
    new: &Compared<'a>,
    rules: &Rules,
    way: Way,
) -> Result<Paired<'a>, Error> {
    let [old, new] = Labelled::both(old, new, rules)?;
    let (mut local, coarse) = pair(old.tree(), new.tree(), way.granularity);
    let mut proven = false;
    if let Some(budget) = way.exact {
        (local, proven) = exact_pairs(&old.side, &new.side, local, &budget);
    }
    let mut pairs = if old.is_whole() && new.is_whole() {
        local
    } else {
        let mut pairs = Pairs::new(old.page.n(), new.page.n());
        for (x, &y) in local.to_new.iter().enumerate() {
            if y != NONE {
                pairs.join(old.side.node[x], new.side.node[y as usize]);
            }
        }
        pairs
    };
    pair_blanks((old.page, &old.labels), (new.page, &new.labels), &mut pairs);
    let coarse = (coarse.iter())
        .map(|at| Coarse {
            old: old.side.node[at.old as usize],
            new: new.side.node[at.new as usize],
        })
        .collect();
    Ok(Paired {
        old,
        new,
        pairs,
        coarse,
        proven,
    })
}

/// The partners with the fewest node edits, as far as the budget goes, and whether there are none
/// with fewer. The roots stay partners.
fn exact_pairs(old: &Side, new: &Side, known: Pairs, budget: &Budget) -> (Pairs, bool) {
    let mut numbers: HashMap<u64, u32> = HashMap::new();
    let mut labels = |side: &Side| -> Vec<u32> {
        (side.label.iter())
            .map(|&label| {
                let next = numbers.len() as u32;
                *numbers.entry(label).or_insert(next)
            })
            .collect()
    };
    let (old_labels, new_labels) = (labels(old), labels(new));
    let (old_children, new_children) = (old.child_counts(), new.child_counts());
    let hint: Vec<(u32, u32)> = (known.to_new.iter().enumerate())
        .filter(|&(_, &y)| y != NONE)
        .map(|(x, &y)| (x as u32, y))
        .collect();
    let tree = |children, labels| exact::Tree { children, labels };
    let found = edit_distance(
        tree(&old_children, &old_labels),
        tree(&new_children, &new_labels),
        budget,
        Some(&hint),
    );
    if found.pairs.iter().all(|&pair| pair != (0, 0)) {
        // Only where the kinds of the pages differ, and then there is nothing to keep.
        return (known, false);
    }
    let mut pairs = Pairs::new(old.n(), new.n());
    for (x, y) in found.pairs {
        pairs.join(x, y);
    }
    (pairs, found.proven)
}
