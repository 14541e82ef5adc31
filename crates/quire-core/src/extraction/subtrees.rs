//! The subtree heuristics of Omini: which node of a page holds its list of objects.
//!
//! Each heuristic gives every node a score; the subtree is the node with the highest, and of equal
//! nodes the last one, which is the innermost of those below each other. One pass each, backwards,
//! since children come after their parents.

use std::collections::HashMap;

use super::outline::Outline;
use crate::digest::Digest;
use crate::page::tree::NONE;

/// The subtree heuristics, by their names in the literature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subtree {
    /// Highest fan-out: the number of children.
    Hf,
    /// Greatest size increase: how much more text a node has than the largest of its children.
    Gsi,
    /// Largest tag count: of the nodes on the path to the most tags, the one with the most children
    /// of one name.
    Ltc,
    /// The product of fan-out, size increase and tag count, each as a share.
    Volume,
}

impl Subtree {
    /// The heuristic of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "HF" => Self::Hf,
            "GSI" => Self::Gsi,
            "LTC" => Self::Ltc,
            "volume" => Self::Volume,
            _ => return None,
        })
    }

    /// The score of each node.
    #[must_use]
    pub fn scores(self, page: &Digest, outline: &Outline) -> Vec<f64> {
        let counts = Counts::of(page, outline);
        let elements = &outline.elements;
        let only = |of: &dyn Fn(usize) -> u32| -> Vec<f64> {
            (0..outline.n())
                .map(|node| f64::from(if elements[node] { of(node) } else { 0 }))
                .collect()
        };
        let fan_out = || only(&|node| counts.fan_out[node]);
        let increase = || {
            only(&|node| match counts.fan_out[node] {
                0 => 0,
                _ => outline.text_bytes(node as u32) - counts.largest[node],
            })
        };
        match self {
            Self::Hf => fan_out(),
            Self::Gsi => increase(),
            Self::Ltc => tag_counts(page, outline, &counts),
            Self::Volume => {
                let mut product = vec![1.0; outline.n()];
                for scores in [fan_out(), increase(), only(&|node| counts.tags[node])] {
                    let most = scores.iter().fold(1.0, |most: f64, &score| most.max(score));
                    for (product, score) in product.iter_mut().zip(scores) {
                        *product *= score / most;
                    }
                }
                product
            }
        }
    }

    /// The node with the highest score; the last one if several have it.
    ///
    /// ```
    /// use quire_core::extraction::{Outline, Subtree};
    /// use quire_core::{Options, encode};
    ///
    /// let page = encode(b"<p>x<ul><li>one<li>two<li>three</ul>", &Options::default()).unwrap();
    /// let node = Subtree::Volume.best(&page, &Outline::of(&page));
    /// assert_eq!(page.tag_name(page.tag().get(node) as usize), "ul");
    /// ```
    #[must_use]
    pub fn best(self, page: &Digest, outline: &Outline) -> usize {
        let scores = self.scores(page, outline);
        let mut best = 0;
        for (node, score) in scores.iter().enumerate() {
            if *score >= scores[best] {
                best = node;
            }
        }
        best
    }
}

/// Counts about each node.
struct Counts {
    /// Visible elements among its children.
    fan_out: Vec<u32>,
    /// Visible elements below it.
    tags: Vec<u32>,
    /// Bytes of text of the largest child.
    largest: Vec<u32>,
}

impl Counts {
    fn of(page: &Digest, outline: &Outline) -> Self {
        let n = outline.n();
        let parents = &page.derived().parent;
        let mut found = Self {
            fan_out: vec![0; n],
            tags: vec![0; n],
            largest: vec![0; n],
        };
        for node in (0..n).rev() {
            let parent = parents[node];
            if parent == NONE {
                continue;
            }
            let parent = parent as usize;
            found.tags[parent] += found.tags[node];
            if outline.elements[node] {
                found.tags[parent] += 1;
                found.fan_out[parent] += 1;
                let bytes = outline.text_bytes(node as u32);
                found.largest[parent] = found.largest[parent].max(bytes);
            }
        }
        found
    }
}

/// LTC: scores of the nodes on the path from the root to the child with the most tags, again and
/// again; other nodes have the score 0.
fn tag_counts(page: &Digest, outline: &Outline, counts: &Counts) -> Vec<f64> {
    let mut scores = vec![0.0; outline.n()];
    let tags = page.tag();
    let total = f64::from(counts.tags.first().copied().unwrap_or(0).max(1));
    let mut next = (outline.n() > 0).then_some(0);
    while let Some(node) = next {
        let mut heaviest: Option<usize> = None;
        let mut names: HashMap<u32, u32> = HashMap::new();
        let mut child = node + 1;
        while child < outline.end[node] as usize {
            if outline.elements[child] {
                *names.entry(tags.get(child)).or_default() += 1;
                if heaviest.is_none_or(|best| counts.tags[child] > counts.tags[best]) {
                    heaviest = Some(child);
                }
            }
            child = outline.end[child] as usize;
        }
        if outline.elements[node] {
            let most = names.into_values().max().unwrap_or(0);
            scores[node] = f64::from(most) + f64::from(counts.tags[node]) / (total + 1.0);
        }
        next = heaviest;
    }
    scores
}
