//! A run of sibling trees in pre-order, and the two post-orders the table walks.

use super::Tree;
use crate::page::tree::derive;
use std::ops::Range;

/// Sibling trees, in pre-order.
pub struct Forest {
    /// Label of each node.
    pub label: Vec<u32>,
    /// Nodes in each subtree, itself included.
    pub size: Vec<u32>,
    /// Ancestors of each node.
    pub depth: Vec<u32>,
}

impl Forest {
    /// The forest of one tree.
    pub fn new(tree: Tree) -> Self {
        assert_eq!(
            tree.children.len(),
            tree.labels.len(),
            "one label a node is expected"
        );
        let derived = derive(tree.children).expect("child counts of one tree are expected");
        Self {
            label: tree.labels.to_vec(),
            size: derived.size,
            depth: derived.depth,
        }
    }

    /// A run of sibling subtrees as a forest of its own.
    pub fn part(&self, nodes: Range<usize>) -> Self {
        let top = self.depth.get(nodes.start).copied().unwrap_or(0);
        Self {
            label: self.label[nodes.clone()].to_vec(),
            size: self.size[nodes.clone()].to_vec(),
            depth: self.depth[nodes].iter().map(|depth| depth - top).collect(),
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.label.len()
    }

    /// The siblings that fill a range of nodes.
    pub fn siblings(&self, nodes: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        let mut at = nodes.start;
        std::iter::from_fn(move || {
            (at < nodes.end).then(|| {
                let node = at;
                at += self.size[node] as usize;
                node
            })
        })
    }

    /// The nodes below a node.
    pub fn below(&self, node: usize) -> Range<usize> {
        node + 1..node + self.size[node] as usize
    }

    /// Place of a node in post-order.
    pub fn post(&self, node: usize) -> usize {
        // Before a node end all that started before it, less its ancestors, plus all below it.
        node + self.size[node] as usize - 1 - self.depth[node] as usize
    }
}

/// A forest in post-order, as it is or mirrored.
///
/// The program peels trees off one end of a forest; which end is cheaper
/// depends on where the deep branches are, so both are on offer.
pub struct PostOrder {
    /// Label of each place.
    pub label: Vec<u32>,
    /// Place of the first leaf below each place.
    pub first: Vec<u32>,
    /// Pre-order number of each place.
    pub node: Vec<u32>,
    /// Every leaf with the size of the largest subtree that starts with it, in order.
    pub spines: Vec<Spine>,
}

/// The nodes that share their first leaf; the root of a table.
#[derive(Clone, Copy)]
pub struct Spine {
    /// Place of the leaf.
    pub leaf: u32,
    /// Nodes below and including the highest node.
    pub size: u32,
}

impl PostOrder {
    /// Children from first to last.
    pub fn forward(forest: &Forest) -> Self {
        let n = forest.len();
        let mut node = vec![0; n];
        for x in 0..n {
            node[forest.post(x)] = x as u32;
        }
        Self::arrange(forest, node)
    }

    /// Children from last to first: post-order of the mirror image is pre-order backwards.
    pub fn mirrored(forest: &Forest) -> Self {
        Self::arrange(forest, (0..forest.len() as u32).rev().collect())
    }

    fn arrange(forest: &Forest, node: Vec<u32>) -> Self {
        let first: Vec<u32> = node
            .iter()
            .enumerate()
            .map(|(place, &x)| place as u32 + 1 - forest.size[x as usize])
            .collect();
        let mut highest = vec![0; node.len()];
        for (place, &leaf) in first.iter().enumerate() {
            highest[leaf as usize] = place as u32 + 1 - leaf;
        }
        let spines = highest
            .iter()
            .enumerate()
            .filter(|&(_, &size)| size > 0)
            .map(|(leaf, &size)| Spine {
                leaf: leaf as u32,
                size,
            })
            .collect();
        Self {
            label: node.iter().map(|&x| forest.label[x as usize]).collect(),
            first,
            node,
            spines,
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.node.len()
    }
}
