//! Placement: which pairs stayed where they were, and which moved.
//!
//! A node is *below* its nearest ancestor that has a partner, so that an element put around some
//! siblings, or taken away from around them, moves nothing. Partners stay when what they are below
//! are partners too and they are among the longest increasing subsequence of all that
//! stay there; all others moved. So the number of moves among siblings is the smallest possible.
//!
//! What is inserted in one piece adopts the children of one of its nodes; what else stands in it
//! moved there. Likewise a piece that is deleted leaves behind the children of one of its nodes.
//!
//! White space has no identity of its own and never moves: blanks that would have to, and those
//! between nodes that come or go together, lose their partners. O(n log n).

use super::matching::Pairs;
use crate::digest::Digest;
use crate::page::tree::NONE;

/// One page as the placement sees it.
#[derive(Clone, Copy)]
pub struct Party<'a> {
    /// The page.
    pub page: &'a Digest,
    /// White space that only lays the source out, by node.
    pub blank: &'a [bool],
    /// Nodes that take part, by node; all of them when absent.
    pub inside: Option<&'a [bool]>,
}

/// Where partners are.
pub struct Placement {
    /// The partners, without the blanks that do not stay.
    pub pairs: Pairs,
    /// Whether each node of the new page moved there.
    pub moved: Vec<bool>,
}

/// Find out what moved. The roots must be partners.
///
/// With `freely`, pieces adopt and leave behind whatever stays in order: the rules of the tree
/// edit distance.
pub fn place(old: Party, new: Party, pairs: &Pairs, freely: bool) -> Placement {
    let mut placed = Placement {
        pairs: pairs.clone(),
        moved: vec![false; new.page.n()],
    };
    // Most often nothing moved at all, and then nothing needs to be sorted, and no piece adopts.
    let in_place = placed.is_in_place(old, new);
    if !in_place {
        placed.keep_order(old, new);
    }
    if !freely {
        if !in_place {
            placed.adopt(old, new);
        }
        if old.blank.contains(&true) || new.blank.contains(&true) {
            placed.release_blanks(old, new);
        }
    }
    placed
}

/// Two partners below partners.
struct Candidate {
    old: u32,
    new: u32,
    blank: bool,
}

impl Placement {
    /// Whether the parents of all partners are partners, and all stand in order.
    fn is_in_place(&self, old: Party, new: Party) -> bool {
        let (parents, old_parents) = (&new.page.derived().parent, &old.page.derived().parent);
        let to_old = &self.pairs.to_old;
        let mut last = 0;
        (to_old.iter().zip(parents).skip(1)).all(|(&source, &parent)| {
            if source == NONE {
                return true;
            }
            let in_order = last < source;
            last = source;
            in_order && to_old[parent as usize] == old_parents[source as usize]
        })
    }

    /// The longest sequences that stay in order.
    fn keep_order(&mut self, old: Party, new: Party) {
        let above_old = effective_parents(old.page, &self.pairs.to_new);
        let above_new = effective_parents(new.page, &self.pairs.to_old);
        let (parent_old, parent_new) = (&old.page.derived().parent, &new.page.derived().parent);
        // Most often nothing moved at all, and then nothing needs to be sorted.
        let mut last = 0;
        let in_place = (1..new.page.n()).all(|node| {
            let source = self.pairs.to_old[node];
            if source == NONE {
                return true;
            }
            let in_order = last < source;
            last = source;
            let above = above_new[node];
            let was = self.pairs.to_old[above as usize];
            let source = source as usize;
            let beside = parent_old[source] == was && parent_new[node] == above;
            in_order && above_old[source] == was && (beside || !old.blank[source])
        });
        if in_place {
            return;
        }
        let (starts, members) = grouped(&above_new, &self.pairs.to_old);
        let mut staying: Vec<Candidate> = Vec::new();
        let mut released = Vec::new();
        for (above, bounds) in starts.windows(2).enumerate() {
            staying.clear();
            let was = self.pairs.to_old[above];
            for &node in &members[bounds[0] as usize..bounds[1] as usize] {
                let source = self.pairs.to_old[node as usize];
                let blank = old.blank[source as usize] && new.blank[node as usize];
                let stays = above_old[source as usize] == was
                    && (!blank
                        || (parent_old[source as usize] == was
                            && parent_new[node as usize] as usize == above));
                if stays {
                    staying.push(Candidate {
                        old: source,
                        new: node,
                        blank,
                    });
                } else if blank {
                    released.push(node);
                } else {
                    self.moved[node as usize] = true;
                }
            }
            self.keep_longest(&staying, &mut released);
        }
        self.release(&released);
    }

    /// Keep as many as stay in order; blanks only where they fit between the others.
    fn keep_longest(&mut self, staying: &[Candidate], released: &mut Vec<u32>) {
        if staying.is_sorted_by_key(|candidate| candidate.old) {
            return;
        }
        let solid: Vec<&Candidate> = staying.iter().filter(|c| !c.blank).collect();
        let sources: Vec<u32> = solid.iter().map(|c| c.old).collect();
        let kept = longest_increasing(&sources);
        let mut next_kept = kept.iter().map(|&i| solid[i]).peekable();
        let mut last = 0;
        for candidate in staying {
            let next = next_kept.peek().map_or(NONE, |c| c.old);
            if candidate.blank {
                if last < candidate.old && candidate.old < next {
                    last = candidate.old;
                } else {
                    released.push(candidate.new);
                }
            } else if candidate.old == next {
                last = next;
                next_kept.next();
            } else {
                self.moved[candidate.new as usize] = true;
            }
        }
    }

    /// Let a piece adopt, or leave behind, the children of one of its nodes only.
    fn adopt(&mut self, old: Party, new: Party) {
        let (to_old, moved) = (&self.pairs.to_old, &self.moved);
        let strangers = others(new, to_old, |node| !moved[node]);
        for node in strangers {
            self.moved[node as usize] = true;
        }
        let (to_new, moved) = (&self.pairs.to_new, &self.moved);
        let strangers = others(old, to_new, |node| !moved[to_new[node] as usize]);
        for node in strangers {
            self.moved[self.pairs.to_new[node as usize] as usize] = true;
        }
    }

    /// Blanks between two nodes that come, go or move belong to them and not to the place.
    fn release_blanks(&mut self, old: Party, new: Party) {
        let Pairs { to_new, to_old } = &self.pairs;
        let moved = &self.moved;
        let mut released = between(
            new.page,
            |node| new.blank[node] && (to_old[node] == NONE || old.blank[to_old[node] as usize]),
            |node| to_old[node] == NONE || moved[node],
        );
        let gone = between(
            old.page,
            |node| old.blank[node] && (to_new[node] == NONE || new.blank[to_new[node] as usize]),
            |node| to_new[node] == NONE || moved[to_new[node] as usize],
        );
        released.extend(gone.iter().map(|&node| to_new[node as usize]));
        self.release(&released);
    }

    /// Part blanks of the new page from their partners.
    fn release(&mut self, nodes: &[u32]) {
        for &node in nodes {
            if node == NONE {
                continue;
            }
            let source = std::mem::replace(&mut self.pairs.to_old[node as usize], NONE);
            if source != NONE {
                self.pairs.to_new[source as usize] = NONE;
            }
        }
    }
}

/// The nearest ancestor of each node that has a partner; [`NONE`] for the root.
fn effective_parents(page: &Digest, partners: &[u32]) -> Vec<u32> {
    let parents = &page.derived().parent;
    let mut above = vec![NONE; page.n()];
    for node in 1..page.n() {
        let parent = parents[node] as usize;
        above[node] = if partners[parent] == NONE {
            above[parent]
        } else {
            parent as u32
        };
    }
    above
}

/// The nodes that have partners by what they are above, in pre-order: where each group starts, and
/// all groups one after another.
fn grouped(above: &[u32], partners: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let n = above.len();
    let mut starts = vec![0u32; n + 1];
    let paired = |&node: &usize| partners[node] != NONE;
    for node in (1..n).filter(paired) {
        starts[above[node] as usize + 1] += 1;
    }
    for at in 0..n {
        starts[at + 1] += starts[at];
    }
    let mut next = starts.clone();
    let mut members = vec![0; starts[n] as usize];
    for node in (1..n).filter(paired) {
        let slot = &mut next[above[node] as usize];
        members[*slot as usize] = node as u32;
        *slot += 1;
    }
    (starts, members)
}

/// The nodes that stay, but stand in a piece without partners that adopts others.
///
/// Of each piece, the node with the most below the children that stay is the one that adopts.
fn others(party: Party, partners: &[u32], stays: impl Fn(usize) -> bool) -> Vec<u32> {
    let derived = party.page.derived();
    let n = party.page.n();
    let alone =
        |node: usize| partners[node] == NONE && party.inside.is_none_or(|inside| inside[node]);
    let adopted = |&node: &usize| {
        partners[node] != NONE && alone(derived.parent[node] as usize) && stays(node)
    };
    if !(1..n).any(|node| adopted(&node)) {
        return Vec::new();
    }
    let mut weight = vec![0u32; n];
    for node in (1..n).filter(adopted) {
        weight[derived.parent[node] as usize] += derived.size[node];
    }
    // The top of the piece that each node is in, and of each piece the node that adopts.
    let mut top: Vec<u32> = (0..n as u32).collect();
    let mut adopts: Vec<u32> = top.clone();
    for node in (1..n).filter(|&node| alone(node)) {
        let parent = derived.parent[node] as usize;
        if alone(parent) {
            top[node] = top[parent];
        }
        let best = &mut adopts[top[node] as usize];
        if weight[node] > weight[*best as usize] {
            *best = node as u32;
        }
    }
    (1..n)
        .filter(adopted)
        .filter(|&node| {
            let parent = derived.parent[node];
            adopts[top[parent as usize] as usize] != parent
        })
        .map(|node| node as u32)
        .collect()
}

/// The blanks between two siblings that are both free to go.
fn between(page: &Digest, blank: impl Fn(usize) -> bool, free: impl Fn(usize) -> bool) -> Vec<u32> {
    let sizes = &page.derived().size;
    let mut found = Vec::new();
    for parent in 0..page.n() {
        let end = parent + sizes[parent] as usize;
        let mut pending = found.len();
        let mut before = false;
        let mut child = parent + 1;
        while child < end {
            if blank(child) {
                found.push(child as u32);
            } else {
                let free = free(child);
                if !(free && before) {
                    found.truncate(pending);
                }
                pending = found.len();
                before = free;
            }
            child += sizes[child] as usize;
        }
        found.truncate(pending);
    }
    found
}

/// The places of a longest increasing subsequence of different numbers.
pub fn longest_increasing(values: &[u32]) -> Vec<usize> {
    if values.is_sorted() {
        return (0..values.len()).collect();
    }
    let mut ends: Vec<usize> = Vec::new();
    let mut before = vec![usize::MAX; values.len()];
    for (i, &value) in values.iter().enumerate() {
        let length = ends.partition_point(|&end| values[end] < value);
        if length > 0 {
            before[i] = ends[length - 1];
        }
        if length == ends.len() {
            ends.push(i);
        } else {
            ends[length] = i;
        }
    }
    let mut kept = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied().unwrap_or(usize::MAX);
    while let Some(&next) = before.get(at) {
        kept.push(at);
        at = next;
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};
    use crate::sdiff::Rules;
    use crate::sdiff::labels::Labels;

    /// The ids of the elements that moved, when all with an id are partners, and html and body.
    fn moved(before: &str, after: &str, freely: bool) -> String {
        let pages = [before, after].map(|source| {
            encode(source.as_bytes(), &Options::default()).expect("HTML is never refused")
        });
        let labels = [&pages[0], &pages[1]].map(|page| Labels::new(page, &Rules::default()));
        let named = |page: &Digest, node: usize| {
            let id = page
                .attributes(node)
                .iter()
                .find(|(name, _)| &**name == "id");
            id.map(|(_, value)| value.to_string())
        };
        let [old, new] = &pages;
        let mut pairs = Pairs::new(old.n(), new.n());
        (0..4).for_each(|node| pairs.join(node, node));
        for x in 4..old.n() {
            let partner = named(old, x).and_then(|id| {
                (4..new.n()).find(|&y| named(new, y).as_deref() == Some(id.as_str()))
            });
            if let Some(y) = partner {
                pairs.join(x as u32, y as u32);
            }
        }
        let party = |at: usize| Party {
            page: &pages[at],
            blank: &labels[at].blank,
            inside: None,
        };
        let placement = place(party(0), party(1), &pairs, freely);
        (0..new.n())
            .filter(|&node| placement.moved[node])
            .filter_map(|node| named(new, node))
            .collect()
    }

    #[test]
    fn the_fewest_siblings_move() {
        let (a, b, c) = ("<p id=a></p>", "<p id=b></p>", "<p id=c></p>");
        assert_eq!(moved(&[a, b, c].concat(), &[c, a, b].concat(), false), "c");
        assert_eq!(moved(&[a, b, c].concat(), &[c, b, a].concat(), false), "cb");
        assert_eq!(
            moved(&format!("{a} {b} {c}"), &format!("{b} {c} {a}"), false),
            "a"
        );
    }

    #[test]
    fn what_is_put_around_siblings_moves_nothing() {
        let (a, b, c) = ("<p id=a></p>", "<p id=b></p>", "<p id=c></p>");
        let bare = [a, b, c].concat();
        let inside = format!("{a}<div>{b} {c}</div>");
        assert_eq!(moved(&bare, &inside, false), "");
        assert_eq!(moved(&inside, &bare, false), "");
        let other = format!("{a}<section><h1>x</h1>{b}{c}</section>");
        assert_eq!(moved(&inside, &other, false), "");
    }

    #[test]
    fn a_piece_adopts_the_children_of_one_node() {
        let (a, b, c) = ("<p id=a></p>", "<p id=b></p>", "<p id=c></p>");
        let bare = [a, b, c].concat();
        let apart = format!("<div><div>{a}</div><div>{b}{c}</div></div>");
        assert_eq!(moved(&bare, &apart, false), "a");
        assert_eq!(moved(&apart, &bare, false), "a");
        assert_eq!(moved(&bare, &apart, true), "");
    }

    #[test]
    fn nodes_that_are_not_compared_adopt_nothing() {
        let page = |source: &str| {
            encode(source.as_bytes(), &Options::default()).expect("HTML is never refused")
        };
        // document, html, head, body, div, p, div, p
        let (old, new) = (
            page("<div><p></p></div><div><p></p></div>"),
            page("<ul><p></p></ul><ol><p></p></ol>"),
        );
        let mut pairs = Pairs::new(old.n(), new.n());
        for node in [0, 5, 7] {
            pairs.join(node, node);
        }
        let blank = [false; 8];
        let inside = [true, false, false, false, false, true, false, true];
        let party = |page, inside| Party {
            page,
            blank: &blank,
            inside,
        };
        let moved = |inside| place(party(&old, inside), party(&new, inside), &pairs, false).moved;
        assert!(!moved(Some(&inside)).contains(&true));
        assert!(moved(None).contains(&true));
    }

    #[test]
    fn the_longest_increasing_run_leaves_out_the_one_that_moved() {
        assert_eq!(longest_increasing(&[3, 0, 1, 2]), [1, 2, 3]);
    }
}
