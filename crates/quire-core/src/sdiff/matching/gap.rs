//! Gaps: two short lists of siblings that changed, and the cheapest way from one to the other.
//!
//! Costs estimate actions, so that keeping a node competes with deleting it and inserting
//! another:
//!
//! | | cost |
//! | --- | --- |
//! | text for text | 0.6, and up to 0.4 more the less they share: always less than delete and insert |
//! | element for element | 1 for another tag (only for alike ones), 1 for other attributes, half for each unit that is not shared, half for each novel node below in so far as the two are not alike |
//! | delete, insert | 1, and half for each unit below, which must go elsewhere or come from there |
//!
//! So a cell whose figure changed is updated, and a slot whose article was replaced is
//! emptied and filled. Two elements with equal labels that are alike enough are never dearer than
//! to be replaced; `floor` is the least likeness that is enough.

use super::sketch::Sketch;
use super::{Matcher, Tree};
use crate::page::vocabulary::Class;

/// Cells of the table for one gap.
const MAX_CELLS: usize = 20_000;
/// Elements this alike may be the same under another tag.
const SAME_IN_OTHER_CLOTHES: f64 = 0.5;

const NEVER: f64 = f64::INFINITY;

impl Matcher<'_> {
    /// Pair what belongs together of two lists of siblings, in order.
    pub(super) fn fill_gap(&mut self, x: u32, y: u32, xs: &[u32], ys: &[u32]) {
        if let Some((i, j)) = self.heavy(x, y, xs, ys) {
            self.link(xs[i], ys[j]);
            for (xs, ys) in [(&xs[..i], &ys[..j]), (&xs[i + 1..], &ys[j + 1..])] {
                if !xs.is_empty() && !ys.is_empty() {
                    self.fill_gap(x, y, xs, ys);
                }
            }
            return;
        }
        if let (&[only], &[only_new]) = (xs, ys)
            && self.is_plain_pair(only, only_new)
        {
            self.link(only, only_new);
            return;
        }
        let cells = xs.len() * ys.len();
        let steps = cells as u64 * super::sketch::WIDTH as u64;
        if cells > MAX_CELLS || steps > self.steps_left {
            self.report(x, y);
            self.climb(xs, ys);
            return;
        }
        self.steps_left -= steps;
        for (i, j) in self.cheapest(xs, ys) {
            self.link(xs[i], ys[j]);
        }
    }

    /// A child that is most of its parent and a good part of its page, on both sides.
    ///
    /// Without this rule a redesign replaces `html` and `body`.
    fn heavy(&self, x: u32, y: u32, xs: &[u32], ys: &[u32]) -> Option<(usize, usize)> {
        let is_heavy =
            |size: u32, parent: u32, n: usize| size * 2 > parent && u64::from(size) * 10 > n as u64;
        let (old, new) = (self.old, self.new);
        let i = xs
            .iter()
            .position(|&child| is_heavy(old.size(child), old.size(x), old.n()))?;
        let j = ys
            .iter()
            .position(|&child| is_heavy(new.size(child), new.size(y), new.n()))?;
        (old.tag(xs[i]) == new.tag(ys[j])).then_some((i, j))
    }

    /// The only candidates for each other, and nothing speaks against it.
    ///
    /// An element with an equal label has kept its role. One of a list has none: whether the
    /// slot was filled anew is a question of cost.
    fn is_plain_pair(&self, x: u32, y: u32) -> bool {
        let (old, new) = (self.old, self.new);
        if old.class(x) != Class::Element || new.class(y) != Class::Element {
            return false;
        }
        let equal_label = old.label(x) == new.label(y);
        equal_label && !is_one_of_a_list(old, x) && !is_one_of_a_list(new, y)
            || old.is_top(x) && new.is_top(y)
            || is_renamed(old, new, x, y)
    }

    /// Places of the pairs of a cheapest alignment.
    fn cheapest(&self, xs: &[u32], ys: &[u32]) -> Vec<(usize, usize)> {
        let (old_sketches, new_sketches) = self.sketches();
        let width = ys.len() + 1;
        let mut best = vec![0.0f64; (xs.len() + 1) * width];
        let mut costs = vec![0.0f64; xs.len() * ys.len()];
        let gone: Vec<f64> = xs.iter().map(|&x| alone(old_sketches.get(x))).collect();
        let come: Vec<f64> = ys.iter().map(|&y| alone(new_sketches.get(y))).collect();
        for i in (0..=xs.len()).rev() {
            for j in (0..=ys.len()).rev() {
                let mut least = if i == xs.len() && j == ys.len() {
                    0.0
                } else {
                    NEVER
                };
                if i < xs.len() {
                    least = least.min(gone[i] + best[(i + 1) * width + j]);
                }
                if j < ys.len() {
                    least = least.min(come[j] + best[i * width + j + 1]);
                }
                if i < xs.len() && j < ys.len() {
                    let cost = self.cost(
                        xs[i],
                        ys[j],
                        old_sketches.get(xs[i]),
                        new_sketches.get(ys[j]),
                    );
                    costs[i * ys.len() + j] = cost;
                    least = least.min(cost + best[(i + 1) * width + j + 1]);
                }
                best[i * width + j] = least;
            }
        }
        let mut pairs = Vec::new();
        let (mut i, mut j) = (0, 0);
        while i < xs.len() && j < ys.len() {
            let here = best[i * width + j];
            let cost = costs[i * ys.len() + j];
            // The same sums as above, so that equality is exact.
            if here.to_bits() == (cost + best[(i + 1) * width + j + 1]).to_bits() {
                pairs.push((i, j));
                i += 1;
                j += 1;
            } else if here.to_bits() == (gone[i] + best[(i + 1) * width + j]).to_bits() {
                i += 1;
            } else {
                j += 1;
            }
        }
        pairs
    }

    /// What it costs to keep `x` as `y`.
    pub(super) fn cost(&self, x: u32, y: u32, a: &Sketch, b: &Sketch) -> f64 {
        let (old, new) = (self.old, self.new);
        if old.class(x) != new.class(y) {
            return NEVER;
        }
        if old.hash(x) == new.hash(y) {
            return 0.0;
        }
        let alike = a.likeness(b);
        if old.class(x).is_leaf() {
            if old.tag(x) != new.tag(y) {
                return NEVER;
            }
            return 0.6 + 0.4 * (1.0 - alike);
        }
        if self.are_other_links(x, y) {
            return NEVER;
        }
        let same_id = self.have_same_id(x, y);
        let mut label = 0.0;
        if old.tag(x) != new.tag(y) {
            if alike < SAME_IN_OTHER_CLOTHES && !same_id {
                return NEVER;
            }
            label += 1.0;
        }
        if old.attributes(x) != new.attributes(y) {
            label += 1.0;
        }
        if same_id {
            label /= 10.0;
        }
        let units = f64::from(a.units + b.units) * (1.0 - alike) / (1.0 + alike);
        let novel = f64::from(a.novel + b.novel) / 2.0 - 1.0;
        let below = 0.5 * units + 0.5 * (1.0 - alike) * novel.max(0.0);
        let same_label = old.label(x) == new.label(y);
        let cost = label + below - if same_label { 0.05 } else { 0.0 };
        if same_label && alike >= self.floor {
            return cost.min(alone(a) + alone(b) - 0.05);
        }
        cost
    }

    /// A link that reads otherwise and leads elsewhere is another link, in whatever place it stands.
    fn are_other_links(&self, x: u32, y: u32) -> bool {
        let (old, new) = (self.old, self.new);
        old.attributes(x) != new.attributes(y)
            && self.old_weights.reading(old, x) != self.new_weights.reading(new, y)
            && matches!((old.link_path(x), new.link_path(y)), (Some(a), Some(b)) if a != b)
    }

    fn have_same_id(&self, x: u32, y: u32) -> bool {
        let id = self.old.attribute(x, "id");
        id.is_some_and(|id| !id.is_empty()) && id == self.new.attribute(y, "id")
    }
}

/// Whether all but the name is as it was: the attributes, and which children there are.
fn is_renamed(old: Tree, new: Tree, x: u32, y: u32) -> bool {
    let (xs, ys) = (old.side.children(x), new.side.children(y));
    old.tag(x) != new.tag(y)
        && old.attributes(x) == new.attributes(y)
        && old.size(x) > 1
        && xs.map(|x| old.tag(x)).eq(ys.map(|y| new.tag(y)))
}

/// Siblings looked at to see whether an element is one of a list.
const MAX_SIBLINGS: usize = 16;

/// Whether a neighbour has the same label.
fn is_one_of_a_list(tree: Tree, node: u32) -> bool {
    let Some(parent) = tree.above(node) else {
        return false;
    };
    let end = parent + tree.size(parent);
    let mut next = node + tree.size(node);
    for _ in 0..MAX_SIBLINGS {
        if next >= end {
            break;
        }
        if tree.label(next) == tree.label(node) {
            return true;
        }
        next += tree.size(next);
    }
    // There is no way back to the sibling before, so the first ones stand for those.
    (tree.side.children(parent).take(MAX_SIBLINGS))
        .any(|sibling| sibling != node && tree.label(sibling) == tree.label(node))
}

/// What it costs to delete or to insert a subtree.
fn alone(sketch: &Sketch) -> f64 {
    1.0 + 0.5 * f64::from(sketch.units)
}
