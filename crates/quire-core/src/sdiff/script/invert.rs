//! The way back: the same script with old and new exchanged.

use std::mem::swap;

use super::model::{Action, Change, Layout, Move, NodeEdit, NodeRef, Piece, Position, Row, Script};
use super::refuse;
use crate::base::error::Error;

impl Script {
    /// Return how much memory a copy of the script takes, or a little more: every row, and every
    /// byte of both pages at most.
    pub fn memory(&self) -> u64 {
        let actions = self.actions.iter().map(|action| match action {
            Action::Insert(piece) | Action::Delete(piece) => piece.nodes.len(),
            Action::Move(moved) => moved.nodes.len(),
            Action::Update(_) | Action::Rename(_) => 1,
        });
        let layout = self.layout.iter().map(|entry| match entry {
            Layout::Insert(piece) | Layout::Delete(piece) => piece.nodes.len(),
            Layout::Blank(_) | Layout::Spelling(_) | Layout::Tag(_) => 1,
        });
        let rows = actions.chain(layout).sum::<usize>() + self.residual.strays.len();
        let row = size_of::<Row>() + size_of::<Action>();
        (rows as u64)
            .saturating_mul(row as u64)
            .saturating_add(self.old.bytes)
            .saturating_add(self.new.bytes)
    }

    /// Make the script that undoes this one.
    pub fn invert(&self) -> Result<Self, Error> {
        if !self.invertible {
            return Err(refuse(
                "script cannot be inverted, because it has no old values; make it with invertible=True",
            ));
        }
        let mut script = self.clone();
        swap(&mut script.old, &mut script.new);
        for action in &mut script.actions {
            *action = match std::mem::replace(action, NOTHING) {
                Action::Insert(piece) => Action::Delete(exchanged(piece)),
                Action::Delete(piece) => Action::Insert(exchanged(piece)),
                Action::Move(mut moved) => {
                    moved.exchange();
                    Action::Move(moved)
                }
                Action::Update(mut edit) => {
                    edit.exchange();
                    Action::Update(edit)
                }
                Action::Rename(mut edit) => {
                    edit.exchange();
                    Action::Rename(edit)
                }
            };
        }
        for entry in &mut script.layout {
            let taken = std::mem::replace(entry, Layout::Insert(EMPTY));
            *entry = match taken {
                Layout::Insert(piece) => Layout::Delete(exchanged(piece)),
                Layout::Delete(piece) => Layout::Insert(exchanged(piece)),
                Layout::Blank(mut edit) => {
                    edit.exchange();
                    Layout::Blank(edit)
                }
                Layout::Spelling(mut edit) => {
                    edit.exchange();
                    Layout::Spelling(edit)
                }
                Layout::Tag(mut spelling) => {
                    spelling.start.exchange();
                    spelling.end.exchange();
                    Layout::Tag(spelling)
                }
            };
        }
        let residual = &mut script.residual;
        swap(&mut residual.old_patch, &mut residual.new_patch);
        for stray in &mut residual.strays {
            stray.node.exchange();
            swap(&mut stray.old, &mut stray.new);
        }
        let page = &mut residual.page;
        exchange(&mut page.encoding);
        exchange(&mut page.encoding_reason);
        exchange(&mut page.context);
        exchange(&mut page.spacing);
        exchange(&mut page.flags);
        script.coarse.iter_mut().for_each(NodeRef::exchange);
        Ok(script)
    }
}

/// What stands in for a part while it is exchanged.
const NOWHERE: NodeRef = NodeRef {
    old: None,
    new: None,
};
const EMPTY: Piece = Piece {
    at: Position {
        parent: NOWHERE,
        previous: None,
    },
    nodes: Vec::new(),
};
const NOTHING: Action = Action::Insert(EMPTY);

fn exchanged(mut piece: Piece) -> Piece {
    piece.at.exchange();
    piece.nodes.iter_mut().for_each(Row::exchange);
    piece
}

fn exchange<T>(change: &mut Option<Change<T>>) {
    if let Some(change) = change {
        change.exchange();
    }
}

impl<T> Change<T> {
    fn exchange(&mut self) {
        swap(&mut self.old, &mut self.new);
    }
}

impl NodeRef {
    fn exchange(&mut self) {
        swap(&mut self.old, &mut self.new);
    }
}

impl Row {
    fn exchange(&mut self) {
        swap(&mut self.old, &mut self.new);
    }
}

impl Position {
    fn exchange(&mut self) {
        self.parent.exchange();
        if let Some(previous) = &mut self.previous {
            previous.exchange();
        }
    }
}

impl Move {
    fn exchange(&mut self) {
        for moved in &mut self.nodes {
            moved.node.exchange();
            swap(&mut moved.from, &mut moved.to);
            moved.from.exchange();
            moved.to.exchange();
        }
    }
}

impl NodeEdit {
    fn exchange(&mut self) {
        self.node.exchange();
        exchange(&mut self.tag);
        exchange(&mut self.attributes);
        exchange(&mut self.content);
        exchange(&mut self.implied);
        exchange(&mut self.end);
    }
}
