//! Recovery: nodes that a redesign took out of their places.
//!
//! Two kinds of evidence. *Votes*: when most children of a node have gone to one parent,
//! that parent is the node. *Keys*: an id, a text with the address it links to, a text. A key
//! counts only when it is as frequent on the one side as on the other, and rare; then the k-th
//! is the k-th. Every find is aligned, and parents vote again, before weaker keys are tried.
//! Linear for each key.

use std::collections::HashMap;

use super::{Matcher, Tree};
use crate::base::hash::hash64;
use crate::page::tree::NONE;
use crate::page::vocabulary::Class;
use crate::sdiff::labels::mix;

/// Nodes with one key on a side.
const MAX_COPIES: usize = 4;
/// Letters that make a text a key,
const MANY_LETTERS: u64 = 16;
/// and in elements whose text is their name.
const FEW_LETTERS: u64 = 4;
/// Elements whose text is their name.
const NAMED: [&str; 12] = [
    "a", "h1", "h2", "h3", "h4", "button", "label", "th", "title", "summary", "legend", "option",
];

/// What a node is recognised by, from strong to weak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Id,
    TextAndAddress,
    /// With the part of the page it is in: navigation and footer often have the same links.
    TextAndLandmark,
    TagAndText,
    /// Headings of any level are headings.
    RoleAndText,
    Address,
    Text,
}

/// Elements that say which part of a page is below them.
const LANDMARKS: [&str; 7] = ["header", "nav", "main", "aside", "footer", "form", "dialog"];
/// Ancestors looked at for a landmark.
const MAX_ANCESTORS: usize = 64;

impl Matcher<'_> {
    /// Find nodes again by what they are called, say and link to.
    pub(super) fn recover(&mut self) {
        for key in [
            Key::Id,
            Key::TextAndAddress,
            Key::TextAndLandmark,
            Key::TagAndText,
            Key::RoleAndText,
            Key::Address,
            Key::Text,
        ] {
            if self.pair_by_key(key) {
                self.align_all();
                self.vote();
                self.align_all();
            }
        }
    }

    fn pair_by_key(&mut self, key: Key) -> bool {
        let mut found: HashMap<u64, [Vec<u32>; 2]> = HashMap::new();
        let max = if key == Key::Address { 1 } else { MAX_COPIES };
        for x in (0..self.old.n() as u32).filter(|&x| self.pairs.old_is_free(x)) {
            if let Some(hash) = self.key_of(self.old, x, key) {
                let list = &mut found.entry(hash).or_default()[0];
                if list.len() <= max {
                    list.push(x);
                }
            }
        }
        for y in (0..self.new.n() as u32).filter(|&y| self.pairs.new_is_free(y)) {
            if let Some(hash) = self.key_of(self.new, y, key)
                && let Some([_, list]) = found.get_mut(&hash)
                && list.len() <= max
            {
                list.push(y);
            }
        }
        let mut pairs: Vec<(u32, u32)> = (found.into_values())
            .filter(|[xs, ys]| xs.len() == ys.len() && xs.len() <= max)
            .flat_map(|[xs, ys]| xs.into_iter().zip(ys))
            .collect();
        pairs.sort_unstable();
        let any = !pairs.is_empty();
        for (x, y) in pairs {
            self.link(x, y);
        }
        any
    }

    /// The key of a node, if it has one that is strong enough.
    fn key_of(&self, tree: Tree, node: u32, key: Key) -> Option<u64> {
        if tree.class(node) != Class::Element {
            return None;
        }
        let address = || tree.link_path(node);
        let hash = match key {
            Key::Id => hash64(
                tree.attribute(node, "id")
                    .filter(|id| !id.is_empty())?
                    .as_bytes(),
            ),
            Key::TextAndAddress => mix(self.reading(tree, node)? ^ hash64(address()?.as_bytes())),
            Key::TextAndLandmark => mix(self.reading(tree, node)? ^ landmark(tree, node)?),
            Key::TagAndText => self.reading(tree, node)?,
            Key::RoleAndText => {
                let reading = self.reading(tree, node)?;
                return is_heading(tree, node).then_some(reading);
            }
            Key::Address => hash64(address()?.as_bytes()),
            Key::Text => {
                return self
                    .reading(tree, node)
                    .filter(|_| is_innermost(tree, node));
            }
        };
        Some(mix(hash ^ tree.tag(node)))
    }

    /// What a node reads, if that is enough to be recognised by.
    fn reading(&self, tree: Tree, node: u32) -> Option<u64> {
        let weights = if std::ptr::eq(tree.side, self.old.side) {
            &self.old_weights
        } else {
            &self.new_weights
        };
        let needed = if NAMED.contains(&tree.tag_name(node)) {
            FEW_LETTERS
        } else {
            MANY_LETTERS
        };
        (weights.letters(tree, node) >= needed)
            .then(|| weights.reading(tree, node))
            .filter(|&reading| reading != 0)
    }

    /// Pair parents whose children agree on a parent on the other side, from the leaves up.
    pub(super) fn vote(&mut self) {
        let mut votes: Vec<(u32, u64)> = Vec::new();
        for x in (0..self.old.n() as u32).rev() {
            if !self.pairs.old_is_free(x) || self.old.size(x) == 1 {
                continue;
            }
            votes.clear();
            let mut all = 0;
            for child in self.old.side.children(x) {
                let weight = 1 + u64::from(self.old_weights.texts(self.old, child));
                all += weight;
                let partner = self.pairs.to_new[child as usize];
                if partner == NONE {
                    continue;
                }
                let parent = self.new.parent(partner);
                if parent != NONE
                    && self.pairs.new_is_free(parent)
                    && self.new.tag(parent) == self.old.tag(x)
                {
                    votes.push((parent, weight));
                }
            }
            if let Some(y) = winner(&mut votes, all) {
                self.link(x, y);
            }
        }
    }
}

/// The candidate with at least half of all votes; of two, the first.
fn winner(votes: &mut [(u32, u64)], all: u64) -> Option<u32> {
    votes.sort_unstable();
    let sums = votes.chunk_by(|a, b| a.0 == b.0).map(|votes| {
        let sum: u64 = votes.iter().map(|&(_, weight)| weight).sum();
        (sum, std::cmp::Reverse(votes[0].0))
    });
    sums.max()
        .filter(|&(sum, _)| sum * 2 >= all)
        .map(|(_, std::cmp::Reverse(parent))| parent)
}

/// The part of the page a node is in.
fn landmark(tree: Tree, node: u32) -> Option<u64> {
    let above = std::iter::successors(tree.above(node), |&above| tree.above(above));
    above
        .take(MAX_ANCESTORS)
        .find(|&above| LANDMARKS.contains(&tree.tag_name(above)))
        .map(|above| tree.tag(above))
}

fn is_heading(tree: Tree, node: u32) -> bool {
    matches!(tree.tag_name(node).as_bytes(), [b'h', b'1'..=b'6'])
}

/// Whether no element below holds all the text of this one.
fn is_innermost(tree: Tree, node: u32) -> bool {
    let mut elements =
        (tree.side.children(node)).filter(|&child| tree.class(child) == Class::Element);
    let first = elements.next();
    first.is_none_or(|child| tree.size(child) + 1 < tree.size(node) || elements.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_votes_win() {
        assert_eq!(winner(&mut [(7, 2), (3, 2)], 4), Some(3));
        assert_eq!(winner(&mut [(7, 1)], 4), None);
        assert_eq!(winner(&mut [], 4), None);
    }
}
