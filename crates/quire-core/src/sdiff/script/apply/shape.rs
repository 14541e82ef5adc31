//! Shape: the tree of the new page, from the old one and the script.
//!
//! What is not deleted, moved or adopted stays in order below its nearest ancestor that is not
//! deleted. Everything else comes in lists, each at the front of a parent or right behind a sibling. A
//! node is in one list only and each list hangs in one place, so one walk from the root meets every
//! node at most once; a script that is not one tree leaves some out and is refused. Linear.

use std::collections::HashMap;

use crate::base::error::Error;
use crate::digest::Digest;
use crate::page::tree::NONE;
use crate::sdiff::Pairs;
use crate::sdiff::script::model::{Action, Layout, NodeRef, Piece, Position, Row, Script};
use crate::sdiff::script::refuse;

/// The tree of the new page.
pub struct Shape<'a> {
    /// Nodes in pre-order: of the old page, or from `old_count` on inserted.
    pub order: Vec<u32>,
    /// How many children each has, in that order.
    pub children: Vec<u32>,
    /// The inserted nodes.
    pub inserted: Vec<&'a Row>,
    /// How many nodes the old page has.
    pub old_count: usize,
}

impl<'a> Shape<'a> {
    /// Build the tree.
    pub fn new(script: &'a Script, old: &Digest) -> Result<Self, Error> {
        let mut build = Build::new(script, old)?;
        build.place_explicit(script)?;
        build.place_rest(old);
        build.walk(script)
    }

    /// Which node of the old page is which node of the new one.
    pub fn pairs(&self) -> Pairs {
        let mut pairs = Pairs::new(self.old_count, self.order.len());
        for (at, &node) in self.order.iter().enumerate() {
            if (node as usize) < self.old_count {
                pairs.join(node, at as u32);
            }
        }
        pairs
    }
}

struct Build<'a> {
    inserted: Vec<&'a Row>,
    /// Inserted nodes by their numbers on the new page.
    by_number: HashMap<u32, u32>,
    n: usize,
    deleted: Vec<bool>,
    /// Whether a node is in a list already.
    placed: Vec<bool>,
    parent: Vec<u32>,
    /// The next in the same list.
    next: Vec<u32>,
    /// The first and last of the list of own children.
    head: Vec<u32>,
    tail: Vec<u32>,
    /// The list in front of the own children.
    front: Vec<u32>,
    /// The list right behind a node.
    behind: Vec<u32>,
}

/// The pieces of a script that are inserted, or deleted.
fn pieces(script: &Script, inserted: bool) -> impl Iterator<Item = &Piece> {
    let actions = script
        .actions
        .iter()
        .filter_map(move |action| match action {
            Action::Insert(piece) if inserted => Some(piece),
            Action::Delete(piece) if !inserted => Some(piece),
            _ => None,
        });
    let layout = script.layout.iter().filter_map(move |layout| match layout {
        Layout::Insert(piece) if inserted => Some(piece),
        Layout::Delete(piece) if !inserted => Some(piece),
        _ => None,
    });
    actions.chain(layout)
}

impl<'a> Build<'a> {
    fn new(script: &'a Script, old: &Digest) -> Result<Self, Error> {
        let inserted: Vec<&Row> = pieces(script, true)
            .flat_map(|piece| &piece.nodes)
            .filter(|row| !row.is_hole())
            .collect();
        let n = old.n();
        let all = n + inserted.len();
        if all > i32::MAX as usize {
            return Err(refuse(format!(
                "the new page would have {all} nodes, but the limit is {}",
                i32::MAX
            )));
        }
        let mut by_number = HashMap::with_capacity(inserted.len());
        for (at, row) in inserted.iter().enumerate() {
            let (Some(number), None) = (row.new, row.old) else {
                return Err(refuse(
                    "an inserted node must have a number on the new page and none on the old page",
                ));
            };
            if by_number.insert(number, (n + at) as u32).is_some() {
                return Err(refuse(format!("script inserts node {number} twice")));
            }
        }
        let mut deleted = vec![false; n];
        for row in pieces(script, false).flat_map(|piece| &piece.nodes) {
            if row.is_hole() {
                continue;
            }
            let number = row.old.unwrap_or(NONE);
            match deleted.get_mut(number as usize) {
                Some(gone) if !*gone && number > 0 => *gone = true,
                Some(_) => {
                    return Err(refuse(format!(
                        "script deletes node {number} twice, or the root"
                    )));
                }
                None => return Err(missing(number, n)),
            }
        }
        Ok(Self {
            inserted,
            by_number,
            n,
            deleted,
            placed: vec![false; all],
            parent: vec![NONE; all],
            next: vec![NONE; all],
            head: vec![NONE; all],
            tail: vec![NONE; all],
            front: vec![NONE; all],
            behind: vec![NONE; all],
        })
    }

    /// The node a script speaks of.
    fn find(&self, node: NodeRef) -> Result<u32, Error> {
        match node {
            NodeRef { old: Some(old), .. } => match self.deleted.get(old as usize) {
                Some(false) => Ok(old),
                Some(true) => Err(refuse(format!(
                    "script places a node at node {old} of the old page, which it deletes"
                ))),
                None => Err(missing(old, self.n)),
            },
            NodeRef { new: Some(new), .. } => self.by_number.get(&new).copied().ok_or_else(|| {
                refuse(format!(
                    "script refers to node {new} of the new page, but does not insert it"
                ))
            }),
            NodeRef { .. } => Err(refuse("script refers to a node without a number")),
        }
    }

    fn claim(&mut self, node: u32, parent: u32) -> Result<(), Error> {
        if node == 0 || std::mem::replace(&mut self.placed[node as usize], true) {
            return Err(refuse(format!(
                "script places node {node} twice, or the root"
            )));
        }
        self.parent[node as usize] = parent;
        Ok(())
    }

    /// Make a list of nodes at a place.
    fn hang(&mut self, at: &Position, nodes: &[u32]) -> Result<(), Error> {
        let parent = self.find(at.parent)?;
        let Some(&first) = nodes.first() else {
            return Err(refuse("script has an action without nodes"));
        };
        let slot = match at.previous {
            None => &mut self.front[parent as usize],
            Some(previous) => {
                let previous = self.find(previous)?;
                &mut self.behind[previous as usize]
            }
        };
        if std::mem::replace(slot, first) != NONE {
            return Err(refuse(format!(
                "script puts two nodes in the same place, at node {:?}",
                at.previous.unwrap_or(at.parent)
            )));
        }
        for &node in nodes {
            self.claim(node, parent)?;
        }
        for pair in nodes.windows(2) {
            self.next[pair[0] as usize] = pair[1];
        }
        Ok(())
    }

    fn append(&mut self, parent: u32, child: u32) {
        let last = std::mem::replace(&mut self.tail[parent as usize], child);
        if last == NONE {
            self.head[parent as usize] = child;
        } else {
            self.next[last as usize] = child;
        }
    }

    /// Everything whose place the script states.
    fn place_explicit(&mut self, script: &Script) -> Result<(), Error> {
        let mut number = self.n as u32;
        for piece in pieces(script, true) {
            let mut tops = Vec::new();
            // Nodes with children to come.
            let mut open: Vec<(u32, u32)> = Vec::new();
            for row in &piece.nodes {
                let node = if row.is_hole() {
                    self.find(row.node())?
                } else {
                    number += 1;
                    number - 1
                };
                while open.last().is_some_and(|&(_, left)| left == 0) {
                    open.pop();
                }
                if let Some((parent, left)) = open.last_mut() {
                    *left -= 1;
                    let parent = *parent;
                    self.claim(node, parent)?;
                    self.append(parent, node);
                } else {
                    tops.push(node);
                }
                if row.children > 0 {
                    if row.is_hole() {
                        return Err(refuse("a hole of an inserted piece has children"));
                    }
                    open.push((node, row.children));
                }
            }
            if open.iter().any(|&(_, left)| left > 0) {
                return Err(refuse(
                    "an inserted piece has fewer nodes than its child counts need",
                ));
            }
            self.hang(&piece.at, &tops)?;
        }
        for action in &script.actions {
            let Action::Move(moved) = action else {
                continue;
            };
            for moved in &moved.nodes {
                let node = self.find(moved.node)?;
                self.hang(&moved.to, &[node])?;
            }
        }
        Ok(())
    }

    /// Everything that stays.
    fn place_rest(&mut self, old: &Digest) {
        let parents = &old.derived().parent;
        let mut above = vec![0u32; self.n];
        for node in 1..self.n {
            let parent = parents[node];
            above[node] = if self.deleted[parent as usize] {
                above[parent as usize]
            } else {
                parent
            };
            if !self.deleted[node] && !self.placed[node] {
                self.parent[node] = above[node];
                self.append(above[node], node as u32);
            }
        }
    }

    /// Pre-order from the root.
    fn walk(self, script: &Script) -> Result<Shape<'a>, Error> {
        let gone = self.deleted.iter().filter(|&&gone| gone).count();
        let expected = self.n - gone + self.inserted.len();
        let mut order = Vec::with_capacity(expected);
        let mut children = vec![0u32; expected];
        let mut number = vec![0u32; self.placed.len()];
        let mut stack = vec![0u32];
        while let Some(node) = stack.pop() {
            let at = node as usize;
            if node > 0 {
                children[number[self.parent[at] as usize] as usize] += 1;
            }
            number[at] = order.len() as u32;
            order.push(node);
            if let Some(row) = at.checked_sub(self.n).map(|at| self.inserted[at])
                && row.new != Some(number[at])
            {
                return Err(refuse(format!(
                    "script inserts a node with number {:?}, but its place is that of node {}",
                    row.new, number[at]
                )));
            }
            let behind = self.behind[at];
            if behind != NONE && self.parent[behind as usize] != self.parent[at] {
                return Err(refuse(
                    "script puts a node after a sibling with another parent",
                ));
            }
            let lists = [self.next[at], behind, self.head[at], self.front[at]];
            stack.extend(lists.into_iter().filter(|&list| list != NONE));
        }
        let n = order.len();
        if n != expected || n != script.new.n as usize {
            return Err(refuse(format!(
                "script connects {n} of {expected} nodes, but the new page has {}",
                script.new.n
            )));
        }
        Ok(Shape {
            order,
            children,
            inserted: self.inserted,
            old_count: self.n,
        })
    }
}

fn missing(node: u32, n: usize) -> Error {
    refuse(format!(
        "script refers to node {node} of the old page, which has nodes 0 to {}",
        n - 1
    ))
}
