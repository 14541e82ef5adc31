//! Deriving: from partners to actions and layout.
//!
//! Pieces that come or go, what moved, and what changed on partners, each in the order of the page. Linear.

use super::model::{Action, Layout, Move, Moved};
use super::page_facts::Facts;
mod edits;
mod pieces;
mod residual;

use self::pieces::{View, befores};
pub use self::residual::{page_edit, strays};
use crate::page::tree::NONE;
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
    /// The old page.
    pub old: &'a Page<'a>,
    /// The new page.
    pub new: &'a Page<'a>,
    /// Partners that are left.
    pub pairs: Pairs,
    moved: Vec<bool>,
    nodewise: bool,
    /// What was found.
    pub actions: Vec<Action>,
    /// What was found and is not seen.
    pub layout: Vec<Layout>,
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
}
