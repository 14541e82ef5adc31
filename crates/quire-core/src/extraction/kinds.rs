//! Kinds: the children of a node in groups of those that look alike.
//!
//! Children of one kind have the same name and similar shapes. Their classes may differ (`odd` and
//! `even`), but then their shapes have to agree more.

use super::shapes::Shapes;

/// Least likeness of two children of one kind with the same class.
pub(super) const SAME_CLASS: f64 = 0.40;
/// The same with different classes.
const OTHER_CLASS: f64 = 0.62;
/// Children that fit none of so many kinds are each alone; a node with more kinds is not a list.
const MOST_KINDS: u8 = 12;

/// Number the kind of each child; none for children that are of no kind.
///
/// The first kind is that of the most frequent name and class. A kind starts from the child of
/// median size, so that one odd child does not decide what all others are compared with.
pub(super) fn kinds(shapes: &mut Shapes<'_>, tags: &[u32], children: &[u32]) -> Vec<Option<u8>> {
    let name = |at: usize| tags[children[at] as usize];
    let label = |shapes: &Shapes<'_>, at: usize| (name(at), shapes.classes[children[at] as usize]);
    let mut found: Vec<Option<u8>> = vec![None; children.len()];
    // The children without a kind, sorted by label and then by place.
    let mut free: Vec<usize> = (0..children.len()).collect();
    free.sort_by_key(|&at| label(shapes, at));
    for kind in 0..MOST_KINDS {
        let mut most: &[usize] = &[];
        for same in free.chunk_by(|&a, &b| label(shapes, a) == label(shapes, b)) {
            if same.len() > most.len() {
                most = same;
            }
        }
        if most.is_empty() {
            break;
        }
        let mut sizes: Vec<(u32, usize)> = (most.iter())
            .map(|&at| (shapes.total(children[at]), at))
            .collect();
        let middle = sizes.len() / 2;
        let (_, &mut (_, leader), _) = sizes.select_nth_unstable(middle);
        let (tag, class) = label(shapes, leader);
        let mut left = Vec::with_capacity(free.len());
        for &at in &free {
            let is_kind = name(at) == tag && {
                let is_same = label(shapes, at).1 == class;
                let least = if is_same { SAME_CLASS } else { OTHER_CLASS };
                at == leader || shapes.likeness(children[at], children[leader]) >= least
            };
            if is_kind {
                found[at] = Some(kind);
            } else {
                left.push(at);
            }
        }
        free = left;
    }
    found
}
