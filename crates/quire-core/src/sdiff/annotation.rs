//! Annotation: a status for every node of both pages, and every node's partner.
//!
//! Partners come from the matching, moves from the placement; what differs within a pair is read
//! off the labels. Rules that forgive (order, numbers that are close) are applied here, to pairs.
//! Everything above asks these arrays and walks no trees.
//!
//! The columns of an [`Annotation`], in the nodes of the pages: `to_new` and `to_old` (partners),
//! `old` and `new` (a [`Status`] for each node). O(n log n) and the budget of the matching.

use super::labels::Labels;
use super::matching::{Coarse, Granularity, Pairs};
use super::numbers::are_close;
pub use super::pairing::Compared;
use super::pairing::{Way, pair_pages};
use super::placement::{Party, Placement, place};
use super::references::References;
use super::rules::Rules;
use super::side::Side;
use crate::base::error::Error;
use crate::digest::Digest;
use crate::page::tree::NONE;

/// What became of a node: a set of these bits; none for a node that did not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status;

impl Status {
    /// The node has no partner: deleted on the old page, inserted on the new one.
    pub const ALONE: u16 = 1;
    /// The node is somewhere else now, and with it all below it.
    pub const MOVED: u16 = 2;
    /// Its tag changed.
    pub const TAG: u16 = 4;
    /// Its attributes changed.
    pub const ATTRIBUTES: u16 = 8;
    /// Its own content changed.
    pub const CONTENT: u16 = 16;
    /// White space that changed, or is new or gone, and only lays the source out.
    pub const LAYOUT: u16 = 32;
    /// The node was not compared: out of scope.
    pub const OUTSIDE: u16 = 64;
    /// What it links to changed, or it is new or gone and links somewhere.
    pub const LINKS: u16 = 128;
    /// The images it shows changed, or it is new or gone and shows some.
    pub const IMAGES: u16 = 256;
}

/// What became of every node.
pub struct Annotation {
    /// Partners.
    pub pairs: Pairs,
    /// Status of each node of the old page.
    pub old: Vec<u16>,
    /// Status of each node of the new page.
    pub new: Vec<u16>,
    /// Where a limit was met.
    pub coarse: Vec<Coarse>,
}

/// Say what became of every node.
///
/// ```
/// use quire_core::{Options, encode};
/// use quire_core::sdiff::{Compared, Status, annotate};
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
    let way = Way {
        granularity,
        exact: None,
    };
    let paired = pair_pages(old, new, rules, way)?;
    let (old_labels, new_labels) = (&paired.old.labels, &paired.new.labels);
    let mut placement = place(
        Party {
            page: old.page,
            blank: &old_labels.blank,
            inside: Some(&paired.old.side.inside),
        },
        Party {
            page: new.page,
            blank: &new_labels.blank,
            inside: Some(&paired.new.side.inside),
        },
        &paired.pairs,
        false,
    );
    if rules.ignore_order {
        forgive_order(old.page, new.page, &mut placement);
    }
    let mut annotation = Annotation {
        old: alone(old_labels, &paired.old.side),
        new: alone(new_labels, &paired.new.side),
        coarse: paired.coarse,
        pairs: placement.pairs,
    };
    for (y, &x) in annotation.pairs.to_old.iter().enumerate() {
        if x == NONE {
            continue;
        }
        let x = x as usize;
        let mut status = 0;
        if old_labels.blank[x] && new_labels.blank[y] {
            // White space of a text and of a page have different names.
            if old_labels.content[x] != new_labels.content[y]
                || old_labels.tag[x] != new_labels.tag[y]
            {
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
            if old_labels.content[x] != new_labels.content[y]
                && !is_close((old.page, x), (new.page, y), rules)
            {
                status |= Status::CONTENT;
            }
            if status & (Status::TAG | Status::ATTRIBUTES) != 0 {
                let was = References::of(old.page, x, rules);
                status |= was.differ(References::of(new.page, y, rules));
            }
        }
        annotation.old[x] = status;
        annotation.new[y] = status;
    }
    mark_references(old.page, &mut annotation.old, rules);
    mark_references(new.page, &mut annotation.new, rules);
    Ok(annotation)
}

/// Whether two contents differ only in numbers, and those by little.
fn is_close(old: (&Digest, usize), new: (&Digest, usize), rules: &Rules) -> bool {
    let Some(tolerance) = rules.tolerance else {
        return false;
    };
    let text = |(page, node): (&Digest, usize)| {
        let id = usize::try_from(page.content().get(node)).ok()?;
        let text = page.content_text(id);
        Some(if rules.rewrites_text() {
            rules.rewrite(&text)
        } else {
            text.into_owned()
        })
    };
    match (text(old), text(new)) {
        (Some(old), Some(new)) => are_close(&old, &new, tolerance),
        _ => false,
    }
}

/// A node that is still below the partner of its parent has not moved.
fn forgive_order(old: &Digest, new: &Digest, placement: &mut Placement) {
    let (old_parents, new_parents) = (&old.derived().parent, &new.derived().parent);
    let pairs = &placement.pairs;
    for (y, moved) in placement.moved.iter_mut().enumerate().skip(1) {
        let x = pairs.to_old[y];
        if *moved && x != NONE {
            let was = old_parents[x as usize];
            *moved = was == NONE || pairs.to_new[was as usize] != new_parents[y];
        }
    }
}

/// The status of every node of a page if none had a partner.
fn alone(labels: &Labels, side: &Side) -> Vec<u16> {
    (side.inside.iter().zip(&labels.blank))
        .map(|(&inside, &blank)| match (inside, blank) {
            (false, _) => Status::OUTSIDE,
            (true, false) => Status::ALONE,
            (true, true) => Status::LAYOUT,
        })
        .collect()
}

/// Say of the nodes without a partner what they link to and show.
fn mark_references(page: &Digest, status: &mut [u16], rules: &Rules) {
    for (node, status) in status.iter_mut().enumerate() {
        if *status & Status::ALONE != 0 {
            *status |= References::of(page, node, rules).differ(References::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};
    use crate::sdiff::{Scope, Tolerance};
    use crate::select::{CssSelector, Limits, View};

    /// The status of the new page's nodes, where there is one.
    fn statuses(old: &str, new: &str, rules: &Rules, only: Option<&str>) -> Vec<(usize, u16)> {
        let page = |source: &str| encode(source.as_bytes(), &Options::default()).unwrap();
        let (old, new) = (page(old), page(new));
        let [old, new] = [&old, &new].map(|page| Compared {
            page,
            scope: Scope {
                only: only.map(|selector| {
                    let selector = CssSelector::parse(selector).unwrap();
                    selector
                        .select(&View::new(page), 0, Limits::default())
                        .unwrap()
                }),
                without: vec![],
            },
        });
        let found = annotate(&old, &new, rules, Granularity::Normal).unwrap();
        let changed = |&(_, status): &(usize, u16)| status & !Status::OUTSIDE != 0;
        found.new.into_iter().enumerate().filter(changed).collect()
    }

    #[test]
    fn links_and_images_are_facets_of_their_own() {
        let rules = Rules::default();
        let found = statuses(
            "<a href=x>1</a><img src=p>",
            "<a href=y>1</a><img src=q>",
            &rules,
            None,
        );
        let attributes = Status::ATTRIBUTES;
        assert_eq!(
            found,
            [
                (4, attributes | Status::LINKS),
                (6, attributes | Status::IMAGES)
            ]
        );
        let found = statuses("<p>1</p>", "<p>1</p><a href=x></a>", &rules, None);
        assert_eq!(found, [(6, Status::ALONE | Status::LINKS)]);
        let found = statuses("<a href=x id=a></a>", "<a href=x id=b></a>", &rules, None);
        assert_eq!(found, [(4, attributes)]);
    }

    #[test]
    fn order_is_forgiven_among_siblings_and_nowhere_else() {
        let rules = Rules {
            ignore_order: true,
            ..Rules::default()
        };
        let swapped = ["<ul><li>a<li>b</ul>", "<ul><li>b<li>a</ul>"];
        assert_eq!(statuses(swapped[0], swapped[1], &rules, None), []);
        assert_eq!(
            statuses(swapped[0], swapped[1], &Rules::default(), None).len(),
            1
        );
        let sentence = "<p>a sentence that is long enough to be recognised</p>";
        let found = statuses(
            &format!("<div>{sentence}</div><section><hr></section>"),
            &format!("<div></div><section><hr>{sentence}</section>"),
            &rules,
            None,
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].1, Status::MOVED);
    }

    #[test]
    fn close_numbers_are_the_same() {
        let rules = Rules {
            tolerance: Some(Tolerance {
                absolute: 0.5,
                relative: 0.0,
            }),
            ..Rules::default()
        };
        assert_eq!(statuses("<p>12.3 %", "<p>12.5 %", &rules, None), []);
        assert_eq!(statuses("<p>12.3 %", "<p>13.5 %", &rules, None).len(), 1);
        assert_eq!(statuses("<p>12.3 %", "<p>12.3 m", &rules, None).len(), 1);
    }

    #[test]
    fn chosen_parts_stay_where_they_are_though_all_around_them_changes() {
        let rules = Rules::default();
        let old = "<div><b>1</b></div><p>x<p>y";
        let new = "<section><i><i><b>1</b></i></i></section>";
        assert_eq!(statuses(old, new, &rules, Some("b")), []);
    }
}
