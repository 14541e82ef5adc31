//! Converts creation order to pre-order.
//!
//! Parsers create nodes in source order, which on most pages is already pre-order. If it is not
//! (foster parenting, mis-nested formatting), the draft contains the order. Two linear passes give
//! child counts, sizes and depths in pre-order.

use crate::base::vec_pool::Reused;
use crate::page::tree::NONE;
use crate::parse::draft::Draft;

/// A draft in pre-order.
pub struct Order {
    /// Child counts.
    pub children: Reused<u32>,
    /// Subtree sizes.
    pub size: Reused<u32>,
    /// Depths.
    pub depth: Reused<u32>,
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
        // Nodes that were removed from the tree again have no position.
        let kept = if node_at.is_empty() { n } else { node_at.len() };
        let mut order = Self {
            children: Reused::filled(kept, 0),
            size: Reused::filled(kept, 1),
            depth: Reused::filled(kept, 0),
            node_at,
            place_of,
        };
        if order.is_reordered() {
            let parents: Vec<u32> = (order.node_at.iter())
                .map(|&node| match draft.nodes[node as usize].parent {
                    NONE => NONE, // the document
                    parent => order.place_of[parent as usize],
                })
                .collect();
            order.count(parents.iter().copied());
        } else {
            order.count(draft.nodes.iter().map(|node| node.parent));
        }
        order
    }

    /// Let go of sizes and depths, which only the walk along the source needs.
    pub fn forget_walk(&mut self) {
        self.size = Reused::default();
        self.depth = Reused::default();
        self.place_of = Vec::new();
    }

    /// Count children, from the parents of all nodes in pre-order.
    fn count(&mut self, parents: impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + Clone) {
        for (place, parent) in parents.clone().enumerate().skip(1) {
            self.children[parent as usize] += 1;
            self.depth[place] = self.depth[parent as usize] + 1;
        }
        for (place, parent) in parents.enumerate().skip(1).rev() {
            self.size[parent as usize] += self.size[place];
        }
    }

    /// Return the number of nodes in the tree.
    pub fn len(&self) -> usize {
        self.children.len()
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

    /// Whether nodes are in a different order than in the source.
    pub fn is_reordered(&self) -> bool {
        !self.node_at.is_empty()
    }
}
