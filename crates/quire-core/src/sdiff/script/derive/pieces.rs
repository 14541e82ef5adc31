//! Pieces: what has no partner on one page, as adjacent siblings with all below them.
//!
//! Inserted and deleted pieces are found by the same code, looking at one page and at the other.

use super::Page;
use crate::digest::Digest;
use crate::page::tree::NONE;
use crate::sdiff::script::model::{NodeRef, Piece, Position, Raw, Row};

/// A page seen from where pieces of it come or go.
pub struct View<'a> {
    /// The page.
    pub page: &'a Page<'a>,
    /// The partner of each node.
    pub partners: &'a [u32],
    /// Whether each node with a partner stays in its place.
    pub stays: Vec<bool>,
    /// The sibling before each node; [`NONE`] for the first.
    pub before: Vec<u32>,
    /// Whether it is the old page.
    pub is_old: bool,
}

/// The sibling before each node; [`NONE`] for the first.
pub fn befores(page: &Digest) -> Vec<u32> {
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
    /// A node with its partner.
    pub fn refer(&self, node: u32) -> NodeRef {
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

    /// Where a node stands.
    pub fn position(&self, node: u32) -> Position {
        let parent = self.page.facts.page.derived().parent[node as usize];
        let previous = Some(self.before[node as usize]).filter(|&before| before != NONE);
        Position {
            parent: self.refer(parent),
            previous: previous.map(|node| self.refer(node)),
        }
    }

    /// Whether a node has no partner.
    pub fn alone(&self, node: usize) -> bool {
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

    /// Which pieces, by their top nodes, have a node that stays in them.
    fn adopting(&self) -> Vec<bool> {
        let page = self.page.facts.page;
        let parents = &page.derived().parent;
        let mut top: Vec<u32> = (0..page.n() as u32).collect();
        let mut adopting = vec![false; page.n()];
        for node in 1..page.n() {
            let parent = parents[node] as usize;
            if !self.alone(parent) {
                continue;
            }
            if self.alone(node) {
                top[node] = top[parent];
            } else if self.stays[node] {
                adopting[top[parent] as usize] = true;
            }
        }
        adopting
    }

    /// The pieces without partners; white space between things apart.
    ///
    /// Adjacent siblings are one piece, but each piece adopts only once: taking away the elements around
    /// two siblings is two actions.
    pub fn pieces(&self, nodewise: bool) -> (Vec<Piece>, Vec<Piece>) {
        let page = self.page.facts.page;
        let sizes = &page.derived().size;
        let blank = &self.page.labels.blank;
        let adopting = self.adopting();
        let (mut solid, mut blanks) = (Vec::new(), Vec::new());
        let mut flush = |run: &mut Vec<u32>| {
            let Some(&first) = run.first() else {
                return;
            };
            let at = self.position(first);
            let nodes = if nodewise && !blank[first as usize] {
                self.single(first)
            } else {
                self.rows(run)
            };
            let blank = run.iter().all(|&node| blank[node as usize]);
            let pieces = if blank { &mut blanks } else { &mut solid };
            pieces.push(Piece { at, nodes });
            run.clear();
        };
        let apart = |run: &[u32], node: usize| {
            if nodewise {
                !(run.first()).is_none_or(|&first| blank[first as usize] && blank[node])
            } else {
                adopting[node] && run.iter().any(|&node| adopting[node as usize])
            }
        };
        let mut run: Vec<u32> = Vec::new();
        for parent in 0..page.n() {
            if sizes[parent] == 1 || (!nodewise && self.alone(parent)) {
                continue;
            }
            let end = parent + sizes[parent] as usize;
            let mut child = parent + 1;
            while child < end {
                let alone = self.alone(child);
                if !alone || apart(&run, child) {
                    flush(&mut run);
                }
                if alone {
                    run.push(child as u32);
                }
                child += sizes[child] as usize;
            }
            flush(&mut run);
        }
        for pieces in [&mut solid, &mut blanks] {
            pieces.sort_by_key(|piece| piece.nodes.first().map(|row| (row.old, row.new)));
        }
        (solid, blanks)
    }
}
