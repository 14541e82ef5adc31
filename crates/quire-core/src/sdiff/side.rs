//! A side of the comparison: the nodes that take part, as a tree of their own.
//!
//! White space that only lays the source out takes no part, nor do nodes out of
//! scope; often that is half of the nodes. What is left is numbered anew in
//! pre-order, so that a subtree is a slice again. The root of the page is always node 0.
//! With a scope, the chosen subtrees are its children.
//!
//! Columns, one entry a node: `parent`, `size`, `children`; `label` (one hash of tag, attributes and
//! content); `hash` (the label and, in order, the hashes of the children). Two passes.

use super::labels::{Labels, mix};
use super::rules::Scope;
use crate::base::common_ends::CommonEnds;
use crate::digest::Digest;
use crate::page::tree::NONE;

/// Base of the polynomials of children.
const BASE: u64 = 0x2545_f491_4f6c_dd1d;

/// One page as the matching sees it.
pub struct Side {
    /// The node of the page that each node is.
    pub node: Vec<u32>,
    /// Parent; [`NONE`] for the root.
    pub parent: Vec<u32>,
    /// Nodes in the subtree, itself included.
    pub size: Vec<u32>,
    /// Hash of the node alone.
    pub label: Vec<u64>,
    /// Hash of the subtree.
    pub hash: Vec<u64>,
    /// Whether each node of the page is in scope; blanks may be.
    pub inside: Vec<bool>,
}

impl Side {
    /// Take the nodes of a page that are compared.
    pub fn new(page: &Digest, labels: &Labels, scope: &Scope) -> Self {
        let mut side = Self::select(page, labels, scope);
        side.fold();
        side
    }

    /// Take the nodes of a page that are compared. Hashes of subtrees that another side has too,
    /// before the first and behind the last difference, are copied from it.
    pub fn beside(page: &Digest, labels: &Labels, scope: &Scope, other: &Self) -> Self {
        let mut side = Self::select(page, labels, scope);
        side.fold_beside(other);
        side
    }

    /// Number of nodes.
    pub fn n(&self) -> usize {
        self.node.len()
    }

    fn select(page: &Digest, labels: &Labels, scope: &Scope) -> Self {
        let n = page.n();
        let derived = page.derived();
        if scope.only.is_none() && scope.without.is_empty() && !labels.has_blanks() {
            return Self {
                node: (0..n as u32).collect(),
                parent: derived.parent.clone(),
                size: derived.size.clone(),
                label: (0..n).map(|node| labels.whole(node)).collect(),
                hash: Vec::new(),
                inside: vec![true; n],
            };
        }
        let sizes = &derived.size;
        let mut side = Self {
            node: Vec::with_capacity(n),
            parent: Vec::with_capacity(n),
            size: Vec::with_capacity(n),
            label: Vec::with_capacity(n),
            hash: Vec::new(),
            inside: vec![false; n],
        };
        let only = scope.only.as_ref().map(|nodes| sorted(nodes));
        let mut without = sorted(&scope.without).into_iter().peekable();
        // The node that is in scope up to here, and the chain of open subtrees.
        let mut chosen_until = if only.is_none() { n } else { 1 };
        let mut only = only.into_iter().flatten().peekable();
        let mut open: Vec<(u32, usize)> = Vec::with_capacity(64);
        let mut at = 0;
        while at < n {
            let end = at + sizes[at] as usize;
            while only.next_if(|&root| (root as usize) < at).is_some() {}
            if at >= chosen_until && only.peek() == Some(&(at as u32)) {
                chosen_until = end;
            }
            while without.next_if(|&root| (root as usize) < at).is_some() {}
            if at > 0 && without.peek() == Some(&(at as u32)) {
                at = end;
                continue;
            }
            side.inside[at] = at < chosen_until;
            if side.inside[at] && !labels.blank[at] {
                while open.last().is_some_and(|&(_, end)| end <= at) {
                    open.pop();
                }
                let local = side.node.len() as u32;
                side.parent
                    .push(open.last().map_or(NONE, |&(node, _)| node));
                side.node.push(at as u32);
                side.size.push(1);
                side.label.push(labels.whole(at));
                open.push((local, end));
            }
            at += 1;
        }
        for i in (1..side.node.len()).rev() {
            let below = side.size[i];
            side.size[side.parent[i] as usize] += below;
        }
        side
    }

    /// Hash subtrees from the leaves up.
    fn fold(&mut self) {
        // Children come last to first, so a product is as good as an order.
        let mut below = vec![0u64; self.n()];
        self.hash = vec![0; self.n()];
        for i in (0..self.n()).rev() {
            let hash = self.hash_of(i, below[i]);
            self.hash[i] = hash;
            if let Some(above) = below.get_mut(self.parent[i] as usize) {
                *above = above.wrapping_mul(BASE).wrapping_add(hash);
            }
        }
    }

    /// The same, copying the hashes of subtrees that another side has too.
    ///
    /// Behind the last difference, nodes are equal with everything below them. Before the first,
    /// all nodes are but the ancestors of a difference: those reach beyond the equal start, or have
    /// an ancestor of one below them, which then has another size.
    fn fold_beside(&mut self, other: &Self) {
        let n = self.n();
        let CommonEnds { start, .. } = CommonEnds::of(&self.label, &other.label);
        let behind = (self.label[start..].iter().zip(&self.size[start..])).rev();
        let others = (other.label[start..].iter().zip(&other.size[start..])).rev();
        let end = behind.zip(others).take_while(|(a, b)| a == b).count();
        self.hash = vec![0; n];
        CommonEnds { start: 0, end }.copy(&other.hash, &mut self.hash);
        let mut resized = (0..start).filter(|&node| self.size[node] != other.size[node]);
        let mut next_resized = resized.next().unwrap_or(n);
        let mut left = Vec::new();
        let mut node = 0;
        while node < start {
            let until = node + self.size[node] as usize;
            while next_resized < node {
                next_resized = resized.next().unwrap_or(n);
            }
            if until <= start && next_resized >= until {
                self.hash[node..until].copy_from_slice(&other.hash[node..until]);
                node = until;
            } else {
                left.push(node);
                node += 1;
            }
        }
        left.extend(start..n - end);
        for node in left.into_iter().rev() {
            let (mut below, mut power) = (0u64, 1u64);
            for child in self.children(node as u32) {
                below = below.wrapping_add(self.hash[child as usize].wrapping_mul(power));
                power = power.wrapping_mul(BASE);
            }
            self.hash[node] = self.hash_of(node, below);
        }
    }

    /// The hash of a subtree from those of the children, as a polynomial.
    #[inline]
    fn hash_of(&self, node: usize, below: u64) -> u64 {
        mix(self.label[node] ^ mix(below.wrapping_add(u64::from(self.size[node]))))
    }

    /// Number of children of each node.
    pub fn child_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.n()];
        for &parent in self.parent.iter().skip(1) {
            counts[parent as usize] += 1;
        }
        counts
    }

    /// The children of a node.
    pub fn children(&self, node: u32) -> impl Iterator<Item = u32> {
        let end = node + self.size[node as usize];
        let mut next = node + 1;
        std::iter::from_fn(move || {
            let child = next;
            (child < end).then(|| {
                next += self.size[child as usize];
                child
            })
        })
    }
}

fn sorted(nodes: &[u32]) -> Vec<u32> {
    let mut nodes = nodes.to_vec();
    nodes.sort_unstable();
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};
    use crate::sdiff::Rules;

    fn side(source: &str, scope: &Scope) -> Side {
        let page = encode(source.as_bytes(), &Options::default()).unwrap();
        Side::new(&page, &Labels::new(&page, &Rules::default()), scope)
    }

    // document 0, html 1, head 2, body 3, ul 4, li 5, text 6, blank 7, li 8, b 9, text 10
    const LIST: &str = "<ul><li>a</li> <li><b>c</b></li></ul>";

    #[test]
    fn blanks_take_no_part() {
        let side = side(LIST, &Scope::default());
        assert_eq!(side.node, [0, 1, 2, 3, 4, 5, 6, 8, 9, 10]);
        assert_eq!(side.size, [10, 9, 1, 7, 6, 2, 1, 3, 2, 1]);
        assert_eq!(side.children(4).collect::<Vec<_>>(), [5, 7]);
    }

    #[test]
    fn chosen_subtrees_hang_from_the_root() {
        let scope = Scope {
            only: Some(vec![9, 5]),
            without: vec![],
        };
        let side = side(LIST, &scope);
        assert_eq!(side.node, [0, 5, 6, 9, 10]);
        assert_eq!(side.size, [5, 2, 1, 2, 1]);
    }

    #[test]
    fn left_out_subtrees_are_gone_even_inside_chosen_ones() {
        let scope = Scope {
            only: Some(vec![4, 9]),
            without: vec![5, 6, 10],
        };
        assert_eq!(side(LIST, &scope).node, [0, 4, 8, 9]);
    }

    // Labels that are equal while shapes differ are where copying goes wrong.
    #[test]
    fn copied_hashes_are_those_that_folding_gives() {
        let sources = [
            "<p>a</p><p>b</p>",
            "<p>a</p><p>b</p><p>c</p>",
            "<p>a</p><p>c</p><p>b</p>",
            "<p>a<p>b</p>",
            "<b></b><i></i><u></u>",
            "<b><i></i></b><u></u>",
            "<b><i></i><u></u></b>",
            "<b><i><u></u></i></b>",
            "<ul><li>a</li> <li><b>c</b></li></ul><p>z</p>",
            "<ul><li>a</li><li><i>c</i></li></ul><p>z</p>",
            "<p>x</p><ul><li>a</li><li><b>c</b></li></ul><p>z</p>",
            "<p>z</p>",
            "",
        ];
        for old in sources {
            for new in sources {
                let other = side(old, &Scope::default());
                let page = encode(new.as_bytes(), &Options::default()).unwrap();
                let labels = Labels::new(&page, &Rules::default());
                let copied = Side::beside(&page, &labels, &Scope::default(), &other);
                assert_eq!(
                    copied.hash,
                    side(new, &Scope::default()).hash,
                    "{old} {new}"
                );
            }
        }
    }

    #[test]
    fn hashes_know_order_and_depth() {
        let hash = |source| side(source, &Scope::default()).hash[0];
        assert_eq!(hash("<p>a</p><p>b</p>"), hash("<p>a</p>\n<p>b</p>"));
        assert_ne!(hash("<p>a</p><p>b</p>"), hash("<p>b</p><p>a</p>"));
        assert_ne!(hash("<b></b><i></i>"), hash("<b><i></i></b>"));
    }
}
