//! Converts creation order to pre-order.
//!
//! Parsers create nodes in source order, which on most pages is already pre-order. If it is not
//! (foster parenting, mis-nested formatting), the draft contains the order. Nothing else is stored
//! for each node: a page can have a node for each byte. Parents are looked up in the draft, and
//! child counts take one byte for nearly all nodes.

use std::collections::HashMap;

use crate::base::int_column::write_ints;
use crate::base::vec_pool::Reused;
use crate::page::tree::NONE;
use crate::parse::draft::Draft;

/// A draft in pre-order.
pub struct Order {
    /// Number of nodes in the tree.
    kept: usize,
    /// Creation index of each pre-order position; empty if they are equal.
    node_at: Vec<u32>,
    /// Pre-order position of each creation index; empty if they are equal.
    place_of: Vec<u32>,
}

impl Order {
    /// Order a draft.
    pub fn new(draft: &mut Draft) -> Self {
        let n = draft.nodes.len();
        let node_at = draft.order.take().unwrap_or_default();
        let mut place_of = Vec::new();
        if !node_at.is_empty() {
            place_of = vec![NONE; n];
            for (place, &node) in node_at.iter().enumerate() {
                place_of[node as usize] = place as u32;
            }
        }
        Self {
            // Nodes that were removed from the tree again have no position.
            kept: if node_at.is_empty() { n } else { node_at.len() },
            node_at,
            place_of,
        }
    }

    /// Count the children of every node.
    pub fn children(&self, draft: &Draft) -> ChildCounts {
        let mut counts = ChildCounts::new(self.kept);
        if self.is_reordered() {
            (1..self.kept).for_each(|place| counts.add(self.parent(draft, place)));
        } else {
            (draft.nodes.iter().skip(1)).for_each(|node| counts.add(node.parent));
        }
        counts.finish();
        counts
    }

    /// Let go of the positions by creation index.
    pub fn forget_places(&mut self) {
        self.place_of = Vec::new();
    }

    /// Return the number of nodes in the tree.
    pub fn len(&self) -> usize {
        self.kept
    }

    /// Return the creation index of a pre-order position.
    #[inline]
    pub fn node(&self, place: usize) -> usize {
        if self.node_at.is_empty() {
            place
        } else {
            self.node_at[place] as usize
        }
    }

    /// Return the pre-order position of a creation index; [`NONE`] if the node was removed.
    #[inline]
    pub fn place(&self, node: u32) -> u32 {
        if self.place_of.is_empty() {
            node
        } else {
            self.place_of[node as usize]
        }
    }

    /// Return the pre-order position of the parent of a pre-order position other than 0.
    #[inline]
    pub fn parent(&self, draft: &Draft, place: usize) -> u32 {
        self.place(draft.nodes[self.node(place)].parent)
    }

    /// Whether nodes are in a different order than in the source.
    pub fn is_reordered(&self) -> bool {
        !self.node_at.is_empty()
    }
}

/// Child counts in pre-order.
pub struct ChildCounts {
    /// One count for each node; [`MANY`] for those in `many`.
    few: Reused<u8>,
    /// Counts from [`MANY`] on, by node.
    many: HashMap<u32, u32>,
    /// The node of `many` that was counted last, and its count: children come in runs.
    last: (u32, u32),
}

/// Counts from here on are kept apart. One node in 255 can have so many children.
const MANY: u8 = u8::MAX;

impl ChildCounts {
    fn new(nodes: usize) -> Self {
        Self {
            few: Reused::filled(nodes, 0),
            many: HashMap::new(),
            last: (NONE, 0),
        }
    }

    /// Count one child.
    #[inline]
    fn add(&mut self, parent: u32) {
        let count = &mut self.few[parent as usize];
        if *count < MANY - 1 {
            *count += 1;
        } else if self.last.0 == parent {
            self.last.1 += 1;
        } else {
            self.switch(parent);
        }
    }

    #[cold]
    fn switch(&mut self, parent: u32) {
        self.finish();
        self.few[parent as usize] = MANY;
        let before = *(self.many.entry(parent)).or_insert(u32::from(MANY) - 1);
        self.last = (parent, before + 1);
    }

    fn finish(&mut self) {
        if self.last.0 != NONE {
            self.many.insert(self.last.0, self.last.1);
        }
    }

    /// Return the largest count.
    pub fn max(&self) -> u32 {
        let many = self.many.values().copied().max();
        many.unwrap_or_else(|| u32::from(self.few.iter().copied().max().unwrap_or(0)))
    }

    /// Append the counts to `out` in the narrowest width; return that width.
    pub fn write(&self, out: &mut Vec<u8>) -> u8 {
        if self.many.is_empty() {
            out.extend_from_slice(&self.few);
            return 1;
        }
        let count = |(place, &few): (usize, &u8)| match few {
            MANY => self.many[&(place as u32)],
            few => u32::from(few),
        };
        write_ints(self.few.iter().enumerate().map(count), out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::int_column::Ints;

    #[test]
    fn counts_are_right_on_both_sides_of_a_byte() {
        for most in [0u32, 1, 253, 254, 255, 256, 65_535, 65_536] {
            let expected = [most, 3, most / 2, 300, 0];
            let mut counts = ChildCounts::new(expected.len());
            // The parents take turns, so that the last one counted changes.
            for round in 0..most.max(300) {
                for (parent, &count) in expected.iter().enumerate() {
                    if round < count {
                        counts.add(parent as u32);
                    }
                }
            }
            counts.finish();
            let mut bytes = Vec::new();
            let width = counts.write(&mut bytes);
            assert_eq!(Ints::new(&bytes, width).unwrap().to_vec(), expected);
            assert_eq!(counts.max(), most.max(300));
        }
        let mut counts = ChildCounts::new(2);
        (0..255).for_each(|_| counts.add(0));
        counts.finish();
        let mut bytes = Vec::new();
        assert_eq!((counts.write(&mut bytes), bytes), (1, vec![255, 0]));
    }
}
