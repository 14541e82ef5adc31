//! Kinds: the children of a node in groups of those that look alike.
//!
//! Children of one kind have the same name and similar shapes. Their classes may differ (`odd` and
//! `even`), but then their shapes have to agree more, unless one class is the other with more names.

use super::runs::LEAST_RECORDS;
use super::shapes::Shapes;

/// Least likeness of two children of one kind with the same class, or with more names in one.
pub(super) const SAME_CLASS: f64 = 0.40;
/// The same if they have a class: its author says that they are of one kind.
const NAMED: f64 = 0.30;
/// The same with different classes.
pub(super) const OTHER_CLASS: f64 = 0.62;
/// Rows of one kind that are less alike than this may be the first and second rows of records...
const MIXED: f64 = 0.75;
/// ...if rows at the same place of their records are alike...
const SAME_PLACE: f64 = 0.7;
/// ...and so much more alike than neighbours are...
const BY_PLACE: f64 = 0.25;
/// ...and if so large a share of neighbours consist of other elements, not only of other classes.
const OTHER_NAMES: f64 = 0.6;
/// Rows, and nodes of each, that are compared to find this out.
const MOST_ROWS: usize = 64;
const MOST_NODES: u32 = 64;
/// Children that fit none of so many kinds are each alone; a node with more kinds is not a list.
const MOST_KINDS: u8 = 12;

/// Number the kind of each child; none for children that are of no kind.
///
/// The first kind is that of the most frequent name and class. A kind starts from the child of
/// median size, so that one odd child does not decide what all others are compared with.
pub(super) fn kinds(
    shapes: &mut Shapes<'_>,
    tags: &[u32],
    children: &[u32],
    (same_class, other_class): (f64, f64),
) -> Vec<Option<u8>> {
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
                let is_same = shapes.are_variants(label(shapes, at).1, class);
                let least = match (is_same, class) {
                    (true, 0) => same_class,
                    (true, _) => same_class.min(NAMED),
                    (false, _) => other_class,
                };
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

/// Where kinds end if every second or third row is of another kind; none for rows of one kind.
///
/// A row with a title and a row with details may be so alike that they are taken for records of one
/// kind. Then each resembles the row at the same place of the next record much more than it
/// resembles its neighbour.
pub(super) fn turns(
    shapes: &mut Shapes<'_>,
    tags: &[u32],
    rows: &[u32],
    likeness: f64,
) -> Option<f64> {
    if rows.len() < 2 * LEAST_RECORDS || likeness >= MIXED {
        return None;
    }
    let rows = &rows[..rows.len().min(MOST_ROWS)];
    let next = shapes.mean_likeness(rows, 1);
    let same = shapes.mean_likeness(rows, 2);
    let same = same.max(shapes.mean_likeness(rows, 3));
    if same < SAME_PLACE || same - next < BY_PLACE {
        return None;
    }
    let others = (rows.windows(2))
        .filter(|pair| !shapes.have_same_names(tags, pair[0], pair[1], MOST_NODES))
        .count();
    let is_enough = others as f64 >= OTHER_NAMES * (rows.len() - 1) as f64;
    is_enough.then_some(f64::midpoint(next, same))
}
