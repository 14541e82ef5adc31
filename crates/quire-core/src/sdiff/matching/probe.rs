//! The probe: is it one edit?
//!
//! Nearly every version of a page differs from the last in one place or a few. So before
//! anything is counted or indexed, both trees are descended in step: equal children are trimmed
//! from both ends of each list, and the rest says which edit it could be. When all of it
//! is one action (update, rename, insert, delete, move, wrap or unwrap), the pairing is known, and it
//! is the best there is. Otherwise nothing is decided here.
//!
//! Where two readings are possible (the first of two siblings is gone and the second changed, or
//! the other way round) both are followed. Each uses up the one deletion or insertion there may be,
//! so there are never more than a few. Cost: the lists of children on the path to the edit.

use super::Pairs;
use super::tree::{Tree, trimmed};

/// Readings that are followed; a single edit needs four at most.
const MAX_READINGS: usize = 16;

/// A run of siblings: those with the numbers `nodes`.
type Run = Vec<u32>;

/// What has been found on the way down.
#[derive(Clone, Default)]
struct Reading {
    /// Pairs whose children are still to be compared.
    open: Vec<(u32, u32)>,
    /// Pairs of nodes that stay, but not their children.
    joined: Vec<(u32, u32)>,
    /// Pairs of runs of equal subtrees.
    equal: Vec<(Run, Run)>,
    deleted: Option<Run>,
    inserted: Option<Run>,
    /// Labels that differ, and wrappers.
    edits: usize,
}

/// Pair two sides that differ by one action at most.
pub fn probe(old: Tree, new: Tree) -> Option<Pairs> {
    let mut readings = vec![Reading {
        open: vec![(0, 0)],
        ..Reading::default()
    }];
    let mut followed = 0;
    while let Some(mut reading) = readings.pop() {
        followed += 1;
        if followed > MAX_READINGS {
            return None;
        }
        while let Some((x, y)) = reading.open.pop() {
            let mut others = Vec::new();
            if !reading.descend(old, new, x, y, &mut others) || !reading.is_one_action(old, new) {
                // The others were cut off at the same node.
                readings.append(&mut others);
                reading.edits = usize::MAX;
                break;
            }
            readings.append(&mut others);
        }
        if reading.edits != usize::MAX && reading.is_complete(old, new) {
            return Some(reading.pairs(old, new));
        }
    }
    None
}

impl Reading {
    /// Compare two partners and their children; `false` when this cannot be one action.
    fn descend(&mut self, old: Tree, new: Tree, x: u32, y: u32, others: &mut Vec<Reading>) -> bool {
        if old.hash(x) == new.hash(y) {
            self.equal.push((vec![x], vec![y]));
            return true;
        }
        self.joined.push((x, y));
        self.edits += usize::from(old.label(x) != new.label(y));
        let (xs, ys) = (old.children(x), new.children(y));
        let (head, tail) = trimmed(old, new, &xs, &ys);
        let (before, xs) = xs.split_at(head);
        let (xs, behind) = xs.split_at(xs.len() - tail);
        let (before_new, ys) = ys.split_at(head);
        let (ys, behind_new) = ys.split_at(ys.len() - tail);
        self.equal.push((before.to_vec(), before_new.to_vec()));
        self.equal.push((behind.to_vec(), behind_new.to_vec()));
        self.explain(old, new, xs, ys, others)
    }

    /// Explain what is left of two lists of children after trimming.
    fn explain(
        &mut self,
        old: Tree,
        new: Tree,
        xs: &[u32],
        ys: &[u32],
        others: &mut Vec<Reading>,
    ) -> bool {
        let same_run = |xs: &[u32], ys: &[u32]| {
            xs.len() == ys.len() && xs.iter().zip(ys).all(|(&x, &y)| old.hash(x) == new.hash(y))
        };
        if self.is_clean() && !xs.is_empty() && !ys.is_empty() {
            // A new element around the run, or the one around it is gone: that is all, then.
            let (inside, inside_new) = (old.children(xs[0]), new.children(ys[0]));
            if ys.len() == 1 && same_run(xs, &inside_new) {
                return self.wrap(xs, &inside_new);
            }
            if xs.len() == 1 && same_run(&inside, ys) {
                return self.wrap(&inside, ys);
            }
        }
        match (xs, ys) {
            ([], []) => true,
            ([], ys) => self.insert(ys),
            (xs, []) => self.delete(xs),
            (&[x], &[y]) => {
                if alike(old, new, x, y) {
                    self.open.push((x, y));
                    return true;
                }
                self.delete(xs) && self.insert(ys)
            }
            (xs, ys) if xs.len() == ys.len() => {
                let last = xs.len() - 1;
                if same_run(&xs[1..], &ys[..last]) && same_run(&xs[..1], &ys[last..]) {
                    self.equal.push((xs[1..].to_vec(), ys[..last].to_vec()));
                    return self.delete(&xs[..1]) && self.insert(&ys[last..]);
                }
                if same_run(&xs[..last], &ys[1..]) && same_run(&xs[last..], &ys[..1]) {
                    self.equal.push((xs[..last].to_vec(), ys[1..].to_vec()));
                    return self.delete(&xs[last..]) && self.insert(&ys[..1]);
                }
                let middle = 1..last;
                if !same_run(&xs[middle.clone()], &ys[middle.clone()]) {
                    return false;
                }
                self.equal
                    .push((xs[middle.clone()].to_vec(), ys[middle].to_vec()));
                self.open.push((xs[0], ys[0]));
                self.open.push((xs[last], ys[last]));
                old.class(xs[0]) == new.class(ys[0]) && old.class(xs[last]) == new.class(ys[last])
            }
            (xs, ys) => {
                let mut readings = Vec::new();
                // The longer list has one end more than the other; at the other end one changed.
                let (long, short) = if xs.len() > ys.len() {
                    (xs, ys)
                } else {
                    (ys, xs)
                };
                let extra = long.len() - short.len();
                let inner = short.len() - 1;
                for at_start in [true, false] {
                    let (gone, rest) = if at_start {
                        long.split_at(extra)
                    } else {
                        let (rest, gone) = long.split_at(short.len());
                        (gone, rest)
                    };
                    let (equal, changed) = if at_start {
                        (
                            (&rest[..inner], &short[..inner]),
                            (rest[inner], short[inner]),
                        )
                    } else {
                        ((&rest[1..], &short[1..]), (rest[0], short[0]))
                    };
                    let mut reading = self.clone();
                    let (equal, changed, fits) = if xs.len() > ys.len() {
                        (equal, changed, reading.delete(gone))
                    } else {
                        (
                            (equal.1, equal.0),
                            (changed.1, changed.0),
                            reading.insert(gone),
                        )
                    };
                    if fits
                        && same_run(equal.0, equal.1)
                        && old.class(changed.0) == new.class(changed.1)
                    {
                        reading.equal.push((equal.0.to_vec(), equal.1.to_vec()));
                        reading.open.push(changed);
                        readings.push(reading);
                    }
                }
                let Some(first) = readings.pop() else {
                    return false;
                };
                *self = first;
                others.append(&mut readings);
                true
            }
        }
    }

    /// Keep a run that is one level deeper or higher now.
    fn wrap(&mut self, xs: &[u32], ys: &[u32]) -> bool {
        self.edits += 1;
        self.equal.push((xs.to_vec(), ys.to_vec()));
        true
    }

    /// Whether nothing was found yet, and nothing else is left to look at.
    fn is_clean(&self) -> bool {
        self.open.is_empty() && self.edits == 0 && self.deleted.is_none() && self.inserted.is_none()
    }

    fn delete(&mut self, run: &[u32]) -> bool {
        self.deleted.replace(run.to_vec()).is_none()
    }

    fn insert(&mut self, run: &[u32]) -> bool {
        self.inserted.replace(run.to_vec()).is_none()
    }

    /// Whether what was found so far can still be one action.
    fn is_one_action(&self, old: Tree, new: Tree) -> bool {
        match (&self.deleted, &self.inserted) {
            (Some(deleted), Some(inserted)) => {
                self.edits == 0 && is_move(old, new, deleted, inserted)
            }
            // One of the two may still become a move.
            (Some(_), None) | (None, Some(_)) => self.edits == 0,
            (None, None) => self.edits <= 1,
        }
    }

    fn is_complete(&self, old: Tree, new: Tree) -> bool {
        self.open.is_empty() && self.is_one_action(old, new)
    }

    fn pairs(&self, old: Tree, new: Tree) -> Pairs {
        let mut pairs = Pairs::new(old.n(), new.n());
        for &(x, y) in &self.joined {
            pairs.join(x, y);
        }
        let moved = self.deleted.iter().zip(&self.inserted);
        for (xs, ys) in self.equal.iter().map(|(xs, ys)| (xs, ys)).chain(moved) {
            for (&x, &y) in xs.iter().zip(ys) {
                pairs.join_subtrees(x, y, old.size(x));
            }
        }
        pairs
    }
}

fn is_move(old: Tree, new: Tree, deleted: &[u32], inserted: &[u32]) -> bool {
    deleted.len() == inserted.len()
        && (deleted.iter().zip(inserted)).all(|(&x, &y)| old.hash(x) == new.hash(y))
}

/// Whether the only child that is left on each side may be the same node: it has its tag, or all
/// else.
fn alike(old: Tree, new: Tree, x: u32, y: u32) -> bool {
    if old.class(x) != new.class(y) {
        return false;
    }
    let same_rest = || old.attributes(x) == new.attributes(y) && old.content(x) == new.content(y);
    let same_children = || {
        let (xs, ys) = (old.children(x), new.children(y));
        !xs.is_empty()
            && xs.len() == ys.len()
            && xs
                .iter()
                .zip(&ys)
                .all(|(&x, &y)| old.hash(x) == new.hash(y))
    };
    old.tag(x) == new.tag(y) || same_rest() || same_children()
}
