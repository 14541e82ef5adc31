//! The kernel against the definition, and against hostile shapes.

mod answers;
mod hostile;
mod oracle;
mod parts;

use super::forest::Forest;
use super::{Budget, Exact, Tree, edit_distance, mapping};

/// A tree that owns its columns.
#[derive(Clone, Debug, PartialEq)]
struct Owned {
    children: Vec<u32>,
    labels: Vec<u32>,
}

impl Owned {
    /// From the depth and label of each node in pre-order.
    fn new(nodes: &[(usize, u32)]) -> Self {
        let mut children = vec![0; nodes.len()];
        let mut path: Vec<usize> = Vec::new();
        for (node, &(depth, _)) in nodes.iter().enumerate() {
            path.truncate(depth);
            if let Some(&parent) = path.last() {
                children[parent] += 1;
            }
            path.push(node);
        }
        Self {
            children,
            labels: nodes.iter().map(|&(_, label)| label).collect(),
        }
    }

    /// From text such as `r(s L(a b))`, where a node is one letter.
    fn parse(text: &str) -> Self {
        let mut nodes = Vec::new();
        let mut depth = 0;
        for letter in text.chars() {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                ' ' => {}
                label => nodes.push((depth, label as u32)),
            }
        }
        Self::new(&nodes)
    }

    fn tree(&self) -> Tree<'_> {
        Tree {
            children: &self.children,
            labels: &self.labels,
        }
    }

    fn forest(&self) -> Forest {
        Forest::new(self.tree())
    }
}

/// xorshift: the same trees at every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % bound
    }

    /// Depths and labels. The shape itself is drawn: bushy, deep, or between.
    fn nodes(&mut self, size: usize, labels: usize) -> Vec<(usize, u32)> {
        let shape = self.below(3);
        let mut depth = 0;
        let mut nodes = vec![(0, self.below(labels) as u32)];
        while nodes.len() < size {
            let deepest = depth + 1;
            depth = match shape {
                0 => 1 + self.below(deepest),
                1 => deepest - self.below(deepest.min(2)),
                _ => 1 + self.below(deepest.min(3)),
            };
            nodes.push((depth, self.below(labels) as u32));
        }
        nodes
    }

    fn tree(&mut self, size: usize, labels: usize) -> Owned {
        Owned::new(&self.nodes(size, labels))
    }

    /// Two trees of which one came from the other by a few edits.
    fn pair(&mut self, size: usize, labels: usize, edits: usize) -> (Owned, Owned) {
        let old = self.nodes(size, labels);
        let mut new = old.clone();
        for _ in 0..edits {
            let at = self.below(new.len());
            let end = (at + 1..new.len()).find(|&x| new[x].0 <= new[at].0);
            let end = end.unwrap_or(new.len());
            match self.below(3) {
                0 => new[at].1 = self.below(labels) as u32,
                1 if at > 0 => {
                    new[at..end].iter_mut().for_each(|node| node.0 -= 1);
                    new.remove(at);
                }
                _ => {
                    let depth = new[at].0;
                    new[at..end].iter_mut().for_each(|node| node.0 += 1);
                    new.insert(at, (depth, self.below(labels) as u32));
                }
            }
        }
        (Owned::new(&old), Owned::new(&new))
    }
}

fn distance(old: &Owned, new: &Owned) -> Exact {
    let found = edit_distance(old.tree(), new.tree(), &Budget::default(), None);
    assert_valid(old, new, &found);
    found
}

/// The definition of a mapping, pair by pair, and of its cost.
fn assert_valid(old: &Owned, new: &Owned, found: &Exact) {
    let (a, b) = (old.forest(), new.forest());
    let relation = |forest: &Forest, x: u32, y: u32| {
        let (first, second) = (x.min(y) as usize, x.max(y) as usize);
        let above = second < first + forest.size[first] as usize;
        (x.cmp(&y), above)
    };
    if found.pairs.len() <= 100 {
        for &(x, y) in &found.pairs {
            for &(v, w) in &found.pairs {
                assert_eq!(relation(&a, x, v), relation(&b, y, w), "{found:?}");
            }
        }
    }
    let in_order = mapping::checked(&a, &b, &found.pairs);
    assert_eq!(in_order.as_ref(), Some(&found.pairs), "{old:?} {new:?}");
    assert_eq!(found.edits, mapping::edits(&a, &b, &found.pairs));
    assert!(found.at_least <= found.edits);
    assert_eq!(found.proven, found.at_least == found.edits);
}
