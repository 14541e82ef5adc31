//! Deriving: from partners to actions and layout.
//!
//! Inserted and deleted pieces are found by the same code, looking at one page and at the other;
//! then what changed on partners is read off labels (what a reader sees) and bytes (what the source has). Linear.

use std::collections::BTreeMap;

use super::facts::{Facts, tag};
use super::model::{
    Action, Change, Content, Layout, Move, Moved, NodeEdit, NodeRef, Piece, Position, Row, Tag,
    TagSpelling,
};
use super::raw::Raw;
use crate::digest::Digest;
use crate::draft::NONE;
use crate::flags::Flags;
use crate::sdiff::Pairs;
use crate::sdiff::labels::Labels;
use crate::sdiff::placement::{Party, Placement, place};

/// One page as it is derived from.
pub struct Page<'a> {
    /// Its nodes and exceptions.
    pub facts: Facts<'a>,
    /// What counts of each node.
    pub labels: &'a Labels,
}

/// Both pages with their partners.
pub struct Derivation<'a> {
    old: &'a Page<'a>,
    new: &'a Page<'a>,
    /// Partners that are left.
    pub pairs: Pairs,
    moved: Vec<bool>,
    nodewise: bool,
    /// What was found.
    pub actions: Vec<Action>,
    /// What was found and is not seen.
    pub layout: Vec<Layout>,
}

/// A page seen from where pieces of it come or go.
struct View<'a> {
    page: &'a Page<'a>,
    partners: &'a [u32],
    /// Whether each node with a partner stays in its place.
    stays: Vec<bool>,
    before: Vec<u32>,
    is_old: bool,
}

/// The sibling before each node; [`NONE`] for the first.
fn befores(page: &Digest) -> Vec<u32> {
    let derived = page.derived();
    let mut before = vec![NONE; page.n()];
    for node in 1..page.n() {
        let next = node + derived.size[node] as usize;
        if next < page.n() && derived.parent[next] == derived.parent[node] {
            before[next] = node as u32;
        }
    }
    before
}

impl View<'_> {
    fn refer(&self, node: u32) -> NodeRef {
        let partner = Some(self.partners[node as usize]).filter(|&other| other != NONE);
        if self.is_old {
            NodeRef {
                old: Some(node),
                new: partner,
            }
        } else {
            NodeRef {
                old: partner,
                new: Some(node),
            }
        }
    }

    fn position(&self, node: u32) -> Position {
        let parent = self.page.facts.page.derived().parent[node as usize];
        let previous = Some(self.before[node as usize]).filter(|&before| before != NONE);
        Position {
            parent: self.refer(parent),
            previous: previous.map(|node| self.refer(node)),
        }
    }

    fn alone(&self, node: usize) -> bool {
        self.partners[node] == NONE
    }

    fn row(&self, node: usize) -> Row {
        let NodeRef { old, new } = self.refer(node as u32);
        if !self.alone(node) {
            return Row {
                old,
                new,
                ..Row::default()
            };
        }
        let facts = &self.page.facts;
        Row {
            old,
            new,
            children: 0,
            tag: Some(facts.tag(node)),
            attributes: Some(facts.attributes(node))
                .filter(|run| !run.is_empty())
                .map(|run| Raw(run.to_vec())),
            content: facts.content(node),
            implied: facts.implied[node],
            end: facts.end[node],
        }
    }

    /// The rows of adjacent siblings and all below them.
    fn rows(&self, tops: &[u32]) -> Vec<Row> {
        let sizes = &self.page.facts.page.derived().size;
        let mut rows: Vec<Row> = Vec::new();
        // Rows whose subtrees are not done, with the ends of those.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for &top in tops {
            let mut node = top as usize;
            let end = node + sizes[node] as usize;
            while node < end {
                while open.last().is_some_and(|&(_, end)| end <= node) {
                    open.pop();
                }
                let alone = self.alone(node);
                let after = node + sizes[node] as usize;
                if alone || self.stays[node] {
                    if let Some(&(parent, _)) = open.last() {
                        rows[parent].children += 1;
                    }
                    if alone {
                        open.push((rows.len(), after));
                    }
                    rows.push(self.row(node));
                }
                node = if alone { node + 1 } else { after };
            }
        }
        rows
    }

    /// The row of one node, with holes for the children that stay.
    fn single(&self, node: u32) -> Vec<Row> {
        let sizes = &self.page.facts.page.derived().size;
        let end = node + sizes[node as usize];
        let mut rows = vec![self.row(node as usize)];
        let mut child = node + 1;
        while child < end {
            if !self.alone(child as usize) && self.stays[child as usize] {
                rows[0].children += 1;
                rows.push(self.row(child as usize));
            }
            child += sizes[child as usize];
        }
        rows
    }

    /// The pieces without partners, by their first nodes; white space between things apart.
    fn pieces(&self, nodewise: bool) -> (Vec<Piece>, Vec<Piece>) {
        let page = self.page.facts.page;
        let sizes = &page.derived().size;
        let blank = &self.page.labels.blank;
        let (mut solid, mut blanks) = (Vec::new(), Vec::new());
        let mut run: Vec<u32> = Vec::new();
        for parent in 0..page.n() {
            if sizes[parent] == 1 || (!nodewise && self.alone(parent)) {
                continue;
            }
            let end = parent + sizes[parent] as usize;
            let mut child = parent + 1;
            while child <= end {
                let ends = child == end || !self.alone(child);
                let lone = nodewise
                    && (ends
                        || (run.first())
                            .is_some_and(|&top| !(blank[top as usize] && blank[child])));
                if (ends || lone) && !run.is_empty() {
                    let at = self.position(run[0]);
                    if run.iter().all(|&node| blank[node as usize]) {
                        let nodes = self.rows(&run);
                        blanks.push(Piece { at, nodes });
                    } else if nodewise {
                        let nodes = self.single(run[0]);
                        solid.push(Piece { at, nodes });
                    } else {
                        let nodes = self.rows(&run);
                        solid.push(Piece { at, nodes });
                    }
                    run.clear();
                }
                if child == end {
                    break;
                }
                if !ends {
                    run.push(child as u32);
                }
                child += sizes[child] as usize;
            }
        }
        for pieces in [&mut solid, &mut blanks] {
            pieces.sort_by_key(|piece| piece.nodes.first().map(|row| (row.old, row.new)));
        }
        (solid, blanks)
    }
}

impl<'a> Derivation<'a> {
    /// Find everything.
    pub fn new(old: &'a Page<'a>, new: &'a Page<'a>, pairs: &Pairs, nodewise: bool) -> Self {
        let party = |page: &'a Page<'a>| Party {
            page: page.facts.page,
            blank: &page.labels.blank,
            inside: None,
        };
        let Placement { pairs, moved } = place(party(old), party(new), pairs, nodewise);
        let mut derivation = Self {
            old,
            new,
            pairs,
            moved,
            nodewise,
            actions: Vec::new(),
            layout: Vec::new(),
        };
        derivation.run();
        derivation
    }

    fn run(&mut self) {
        let pairs = self.pairs.clone();
        let new = View {
            page: self.new,
            partners: &pairs.to_old,
            stays: self.moved.iter().map(|&moved| !moved).collect(),
            before: befores(self.new.facts.page),
            is_old: false,
        };
        let stays = |&other: &u32| other != NONE && !self.moved[other as usize];
        let old = View {
            page: self.old,
            partners: &pairs.to_new,
            stays: pairs.to_new.iter().map(stays).collect(),
            before: befores(self.old.facts.page),
            is_old: true,
        };
        let (inserted, blanks) = new.pieces(self.nodewise);
        self.layout.extend(blanks.into_iter().map(Layout::Insert));
        let mut found: Vec<(u32, Action)> = (inserted.into_iter())
            .map(|piece| (piece.nodes[0].new.unwrap_or(NONE), Action::Insert(piece)))
            .collect();
        self.moves(&old, &new, &mut found);
        for node in 0..new.partners.len() {
            let source = new.partners[node];
            if source != NONE {
                self.edit(source as usize, node, &mut found);
            }
        }
        found.sort_by_key(|&(node, _)| node);
        self.actions
            .extend(found.into_iter().map(|(_, action)| action));
        let (deleted, blanks) = old.pieces(self.nodewise);
        self.actions.extend(deleted.into_iter().map(Action::Delete));
        self.layout.extend(blanks.into_iter().map(Layout::Delete));
        self.spellings();
    }

    /// Whether two neighbours of the new page went there together.
    fn together(&self, old: &View, last: u32, next: u32) -> bool {
        let (from, mut to) = (
            self.pairs.to_old[last as usize],
            self.pairs.to_old[next as usize],
        );
        // Back over blanks that are gone to the neighbour.
        loop {
            to = old.before[to as usize];
            if to == NONE || to == from {
                return to == from;
            }
            if !(old.alone(to as usize) && old.page.labels.blank[to as usize]) {
                return false;
            }
        }
    }

    fn moves(&self, old: &View, new: &View, found: &mut Vec<(u32, Action)>) {
        let page = new.page.facts.page;
        let derived = page.derived();
        let mut run: Vec<u32> = Vec::new();
        let mut flush = |run: &mut Vec<u32>| {
            let Some(&first) = run.first() else {
                return;
            };
            let nodes = (run.iter())
                .map(|&node| Moved {
                    node: new.refer(node),
                    name: (page.tag_name(page.wide().tag[node as usize] as usize)).to_owned(),
                    from: old.position(self.pairs.to_old[node as usize]),
                    to: new.position(node),
                })
                .collect();
            found.push((first, Action::Move(Move { nodes })));
            run.clear();
        };
        for parent in 0..page.n() {
            let end = parent + derived.size[parent] as usize;
            let mut child = parent + 1;
            while child < end {
                let blank = new.alone(child) && new.page.labels.blank[child];
                if !new.alone(child) && self.moved[child] {
                    let joins = !self.nodewise
                        && (run.last()).is_some_and(|&last| self.together(old, last, child as u32));
                    if !joins {
                        flush(&mut run);
                    }
                    run.push(child as u32);
                } else if !blank {
                    flush(&mut run);
                }
                child += derived.size[child] as usize;
            }
            flush(&mut run);
        }
    }

    /// What changed on two partners.
    fn edit(&mut self, x: usize, y: usize, found: &mut Vec<(u32, Action)>) {
        let (old, new) = (&self.old.facts, &self.new.facts);
        let (was, is) = (self.old.labels, self.new.labels);
        let renamed = was.tag[x] != is.tag[y];
        let (run, next_run) = (old.attributes(x), new.attributes(y));
        let attributes =
            (run != next_run || was.attributes[x] != is.attributes[y]).then(|| Change {
                old: Some(Raw(run.to_vec())).filter(|raw| !raw.0.is_empty()),
                new: Some(Raw(next_run.to_vec())).filter(|raw| !raw.0.is_empty()),
            });
        let content = self.content_change(x, y);
        let node = NodeRef {
            old: Some(x as u32),
            new: Some(y as u32),
        };
        let mut edit = NodeEdit {
            node,
            name: None,
            tag: None,
            attributes: None,
            content: None,
            implied: None,
            end: None,
        };
        let mut beside = edit.clone();
        if renamed {
            edit.tag = Some(Change {
                old: Some(old.tag(x)),
                new: Some(new.tag(y)),
            });
            edit.attributes = attributes;
            edit.content = content;
            found.push((y as u32, Action::Rename(edit)));
        } else {
            let seen = was.attributes[x] != is.attributes[y];
            *(if seen {
                &mut edit.attributes
            } else {
                &mut beside.attributes
            }) = attributes;
            let seen = was.content[x] != is.content[y];
            *(if seen {
                &mut edit.content
            } else {
                &mut beside.content
            }) = content;
            if edit.attributes.is_some() || edit.content.is_some() {
                if was.blank[x] && is.blank[y] {
                    self.layout.push(Layout::Blank(edit));
                } else {
                    let tag = new.page.wide().tag[y] as usize;
                    edit.name = Some(new.page.tag_name(tag).to_owned());
                    found.push((y as u32, Action::Update(edit)));
                }
            }
        }
        if !self.verbatim() {
            let differ = |old: bool, new: bool| {
                (old != new).then_some(Change {
                    old: Some(old),
                    new: Some(new),
                })
            };
            beside.implied = differ(old.implied[x], new.implied[y]);
            beside.end = differ(old.end[x], new.end[y]);
        }
        if beside.attributes.is_some()
            || beside.content.is_some()
            || beside.implied.is_some()
            || beside.end.is_some()
        {
            self.layout.push(Layout::Spelling(beside));
        }
    }

    /// What became of the content of two partners, where it is not the same bytes read the same way.
    fn content_change(&self, x: usize, y: usize) -> Option<Change<Content>> {
        let (old, new) = (self.old.facts.page, self.new.facts.page);
        let read = |page: &'a Digest, node: usize| {
            let id = usize::try_from(page.wide().content[node]).ok()?;
            Some((page.content_raw(id), page.content_mode(id)))
        };
        let differs = read(old, x) != read(new, y)
            || self.old.labels.content[x] != self.new.labels.content[y];
        differs.then(|| Change {
            old: self.old.facts.content(x),
            new: self.new.facts.content(y),
        })
    }

    /// Whether a page keeps its source, so that nothing is known about its exceptions.
    fn verbatim(&self) -> bool {
        [self.old, self.new]
            .iter()
            .any(|page| page.facts.page.flags().has(Flags::VERBATIM))
    }

    /// How tags are written, name by name.
    fn spellings(&mut self) {
        let old = spelled(self.old.facts.page);
        let new = spelled(self.new.facts.page);
        let gone = old.keys().filter(|tag| !new.contains_key(tag));
        for tag in new.keys().chain(gone) {
            let [was, is] = [&old, &new].map(|all| all.get(tag).cloned().unwrap_or_default());
            if was != is {
                let [start, end] =
                    [(was.0, is.0), (was.1, is.1)].map(|(old, new)| Change { old, new });
                let tag = tag.clone();
                self.layout
                    .push(Layout::Tag(TagSpelling { tag, start, end }));
            }
        }
    }
}

/// The tags that are not written by their names: in start tags, and as end tags.
fn spelled(page: &Digest) -> BTreeMap<Tag, (Option<Raw>, Option<Raw>)> {
    let raw = |bytes: Option<&[u8]>| bytes.map(|bytes| Raw(bytes.to_vec()));
    (0..page.tag_count())
        .map(|id| {
            let spelling = (raw(page.start_spelling(id)), raw(page.end_spelling(id)));
            (tag(page, id), spelling)
        })
        .filter(|(_, spelling)| *spelling != (None, None))
        .collect()
}
