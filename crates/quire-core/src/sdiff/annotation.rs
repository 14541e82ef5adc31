//! Annotation: a status for every node of both pages, and every node's partner.
//!
//! Partners come from the matching, moves from the placement; what differs within a pair is read
//! off the labels. Everything above asks these arrays and walks no trees.
//!
//! The columns of an [`Annotation`], in the nodes of the pages: `to_new` and `to_old` (partners),
//! `old` and `new` (a [`Status`] for each node). O(n log n) and the budget of the matching.

use super::blanks::pair_blanks;
use super::labels::Labels;
use super::matching::{Coarse, Granularity, Pairs, Tree, pair};
use super::placement::{Party, place};
use super::rules::{Rules, Scope};
use super::side::Side;
use crate::digest::Digest;
use crate::draft::NONE;
use crate::error::Error;

/// What became of a node: a set of these bits; none for a node that did not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status;

impl Status {
    /// The node has no partner: deleted on the old page, inserted on the new one.
    pub const ALONE: u8 = 1;
    /// The node is somewhere else now, and with it all below it.
    pub const MOVED: u8 = 2;
    /// Its tag changed.
    pub const TAG: u8 = 4;
    /// Its attributes changed.
    pub const ATTRIBUTES: u8 = 8;
    /// Its own content changed.
    pub const CONTENT: u8 = 16;
    /// White space that changed, or is new or gone, and only lays the source out.
    pub const LAYOUT: u8 = 32;
    /// The node was not compared: out of scope.
    pub const OUTSIDE: u8 = 64;
}

/// What became of every node.
pub struct Annotation {
    /// Partners.
    pub pairs: Pairs,
    /// Status of each node of the old page.
    pub old: Vec<u8>,
    /// Status of each node of the new page.
    pub new: Vec<u8>,
    /// Where a limit was met.
    pub coarse: Vec<Coarse>,
}

/// A page and what of it is compared.
pub struct Compared<'a> {
    /// The page.
    pub page: &'a Digest,
    /// Its parts that count.
    pub scope: Scope,
}

/// Say what became of every node.
///
/// ```
/// use quire_core::encode::{Options, encode};
/// use quire_core::sdiff::annotation::{Compared, Status, annotate};
/// use quire_core::sdiff::{Granularity, Rules, Scope};
///
/// let page = |source: &str| encode(source.as_bytes(), &Options::default()).unwrap();
/// let (old, new) = (page("<p>a<p>b"), page("<p>a<p>c"));
/// let [old, new] = [&old, &new].map(|page| Compared { page, scope: Scope::default() });
/// let annotation = annotate(&old, &new, &Rules::default(), Granularity::Normal).unwrap();
/// // document, html, head, body, p, text, p, text
/// assert_eq!(annotation.new, [0, 0, 0, 0, 0, 0, 0, Status::CONTENT]);
/// ```
pub fn annotate(
    old: &Compared,
    new: &Compared,
    rules: &Rules,
    granularity: Granularity,
) -> Result<Annotation, Error> {
    old.page.check_heaps()?;
    new.page.check_heaps()?;
    let old_labels = Labels::new(old.page, rules);
    let new_labels = Labels::new(new.page, rules);
    let old_side = Side::new(old.page, &old_labels, &old.scope);
    let new_side = Side::new(new.page, &new_labels, &new.scope);
    let (local, coarse) = pair(
        Tree {
            page: old.page,
            labels: &old_labels,
            side: &old_side,
        },
        Tree {
            page: new.page,
            labels: &new_labels,
            side: &new_side,
        },
        granularity,
    );

    let mut pairs = Pairs::new(old.page.n(), new.page.n());
    for (x, &y) in local.to_new.iter().enumerate() {
        if y != NONE {
            pairs.join(old_side.node[x], new_side.node[y as usize]);
        }
    }
    pair_blanks((old.page, &old_labels), (new.page, &new_labels), &mut pairs);
    let placement = place(
        Party {
            page: old.page,
            blank: &old_labels.blank,
            inside: Some(&old_side.inside),
        },
        Party {
            page: new.page,
            blank: &new_labels.blank,
            inside: Some(&new_side.inside),
        },
        &pairs,
        false,
    );

    let mut annotation = Annotation {
        old: alone(&old_labels, &old_side),
        new: alone(&new_labels, &new_side),
        coarse: (coarse.iter())
            .map(|at| Coarse {
                old: old_side.node[at.old as usize],
                new: new_side.node[at.new as usize],
            })
            .collect(),
        pairs: placement.pairs,
    };
    for (y, &x) in annotation.pairs.to_old.iter().enumerate() {
        if x == NONE {
            continue;
        }
        let x = x as usize;
        let mut status = 0;
        if old_labels.blank[x] && new_labels.blank[y] {
            if old_labels.content[x] != new_labels.content[y] {
                status = Status::LAYOUT;
            }
        } else {
            if placement.moved[y] {
                status |= Status::MOVED;
            }
            if old_labels.tag[x] != new_labels.tag[y] {
                status |= Status::TAG;
            }
            if old_labels.attributes[x] != new_labels.attributes[y] {
                status |= Status::ATTRIBUTES;
            }
            if old_labels.content[x] != new_labels.content[y] {
                status |= Status::CONTENT;
            }
        }
        annotation.old[x] = status;
        annotation.new[y] = status;
    }
    Ok(annotation)
}

/// The status of every node of a page if none had a partner.
fn alone(labels: &Labels, side: &Side) -> Vec<u8> {
    (side.inside.iter().zip(&labels.blank))
        .map(|(&inside, &blank)| match (inside, blank) {
            (false, _) => Status::OUTSIDE,
            (true, false) => Status::ALONE,
            (true, true) => Status::LAYOUT,
        })
        .collect()
}
