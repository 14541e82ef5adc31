//! Rows: the lines of two pages side by side, for people who read.
//!
//! Lines are those of [`crate::text::read_lines`]. Two lines are in one row when a node of one
//! is the partner of a node of the other. What has no such partner is compared by its
//! text. So a line follows its nodes through every move and edit, and one
//! that was written anew with the same words is still the same to a reader. A line that moved
//! must read mostly the same (see [`super::common_words`]): one node in common is not enough, for
//! a reader takes the whole line for an old one.
//!
//! O(n log n) in lines, and the limits of the comparison of words.

use std::collections::HashMap;

use super::annotation::Status;
use super::common_words::{mostly_same, word_hashes};
use super::matching::Pairs;
use super::placement::longest_increasing;
use super::words::{sequence_changes, tokens};
use crate::page::tree::NONE;
use crate::text::Line;

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RowKind {
    /// The same, or different only in what the rules ignore.
    Same = 0,
    /// Its words changed.
    Changed = 1,
    /// Gone.
    Deleted = 2,
    /// New.
    Inserted = 3,
    /// It is somewhere else now, and this is where it was.
    MovedAway = 4,
    /// It was somewhere else, and this is where it is.
    MovedHere = 5,
}

/// One row: the places of its lines, [`NONE`] where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// What became of the line.
    pub kind: RowKind,
    /// The line of the old page.
    pub old: u32,
    /// The line of the new page.
    pub new: u32,
}

/// One page: its lines and the status of its nodes.
pub struct Page<'a> {
    /// The lines.
    pub lines: &'a [Line],
    /// What became of each node.
    pub status: &'a [u16],
}

impl Page<'_> {
    /// Whether a line is compared: any of its nodes is.
    fn compares(&self, line: usize) -> bool {
        let nodes = &self.lines[line].nodes;
        nodes.is_empty() || (nodes.iter()).any(|&node| !self.has(node, Status::OUTSIDE))
    }

    fn has(&self, node: u32, status: u16) -> bool {
        self.status[node as usize] & status != 0
    }

    fn text(&self, line: u32) -> &str {
        &self.lines[line as usize].text
    }

    /// The line of each node that is on exactly one.
    fn line_of(&self) -> Vec<u32> {
        const SEVERAL: u32 = NONE - 1;
        let mut found = vec![NONE; self.status.len()];
        for (line, Line { nodes, .. }) in self.lines.iter().enumerate() {
            for &node in nodes {
                let at = &mut found[node as usize];
                *at = if *at == NONE { line as u32 } else { SEVERAL };
            }
        }
        for at in &mut found {
            if *at == SEVERAL {
                *at = NONE;
            }
        }
        found
    }
}

/// Put the lines of two pages side by side, in the order of the new page.
///
/// With `ignore_order`, lines that moved are in the row of their new place and are the same.
pub fn rows(old: &Page, new: &Page, pairs: &Pairs, ignore_order: bool) -> Vec<Row> {
    let mut partner = partners(old, new, pairs);
    let candidates: Vec<(u32, u32)> = (partner.iter().enumerate())
        .filter(|&(_, &line)| line != NONE)
        .map(|(new, &old)| (old, new as u32))
        .collect();
    let sources: Vec<u32> = candidates.iter().map(|&(old, _)| old).collect();
    let anchors: Vec<(u32, u32)> = longest_increasing(&sources)
        .into_iter()
        .map(|at| candidates[at])
        .collect();
    let mut moved_to = vec![NONE; old.lines.len()];
    let mut kept = anchors.iter().peekable();
    for &(from, to) in &candidates {
        let stays = kept.next_if(|&&anchor| anchor == (from, to)).is_some();
        if stays || read_alike(old.text(from), new.text(to)) {
            moved_to[from as usize] = to;
        } else {
            partner[to as usize] = NONE;
        }
    }
    let mut build = Build {
        old,
        new,
        pairs,
        ignore_order,
        partner,
        moved_to,
        rows: Vec::with_capacity(old.lines.len().max(new.lines.len())),
    };
    let (mut i, mut j) = (0, 0);
    for (x, y) in anchors {
        build.gap((i, x), (j, y));
        build.pair(x, y);
        (i, j) = (x + 1, y + 1);
    }
    build.gap((i, old.lines.len() as u32), (j, new.lines.len() as u32));
    build.rows
}

/// Whether a line that stands somewhere else may be called the same.
fn read_alike(old: &str, new: &str) -> bool {
    let words = |text: &str| word_hashes(text).collect::<Vec<_>>();
    old == new || mostly_same(&words(old), &words(new))
}

/// The old line that each new line was, by the partners of its nodes; one to one.
fn partners(old: &Page, new: &Page, pairs: &Pairs) -> Vec<u32> {
    let line_of_old = old.line_of();
    let line_of_new = new.line_of();
    let mut taken = vec![false; old.lines.len()];
    (0..new.lines.len())
        .map(|line| {
            if !new.compares(line) {
                return NONE;
            }
            let found = (new.lines[line].nodes.iter())
                .filter(|&&node| line_of_new[node as usize] != NONE)
                .map(|&node| pairs.to_old[node as usize])
                .filter(|&node| node != NONE)
                .map(|node| line_of_old[node as usize])
                .find(|&line| line != NONE && !taken[line as usize]);
            if let Some(line) = found {
                taken[line as usize] = true;
            }
            found.unwrap_or(NONE)
        })
        .collect()
}

struct Build<'a> {
    old: &'a Page<'a>,
    new: &'a Page<'a>,
    pairs: &'a Pairs,
    ignore_order: bool,
    partner: Vec<u32>,
    moved_to: Vec<u32>,
    rows: Vec<Row>,
}

impl Build<'_> {
    fn push(&mut self, kind: RowKind, old: u32, new: u32) {
        self.rows.push(Row { kind, old, new });
    }

    fn pair(&mut self, old: u32, new: u32) {
        let kind = if self.is_same(old, new) {
            RowKind::Same
        } else {
            RowKind::Changed
        };
        self.push(kind, old, new);
    }

    /// Whether two lines are the same, or differ only in what the rules ignore: then the words
    /// differ, but every node has its partner on the other line, and none says it changed.
    fn is_same(&self, old: u32, new: u32) -> bool {
        if self.old.text(old) == self.new.text(new) {
            return true;
        }
        let (old_nodes, new_nodes) = (
            &self.old.lines[old as usize].nodes,
            &self.new.lines[new as usize].nodes,
        );
        let differs = Status::ALONE | Status::CONTENT | Status::TAG | Status::LAYOUT;
        old_nodes.len() == new_nodes.len()
            && (old_nodes.iter().zip(new_nodes)).all(|(&old, &new)| {
                self.pairs.to_new[old as usize] == new && !self.new.has(new, differs)
            })
    }

    /// The lines between two anchors: `old.0..old.1` and `new.0..new.1`.
    fn gap(&mut self, old: (u32, u32), new: (u32, u32)) {
        let free_old: Vec<u32> = (old.0..old.1)
            .filter(|&line| {
                self.moved_to[line as usize] == NONE && self.old.compares(line as usize)
            })
            .collect();
        let free_new: Vec<u32> = (new.0..new.1)
            .filter(|&line| self.partner[line as usize] == NONE && self.new.compares(line as usize))
            .collect();
        let same = equal_lines(self.old, &free_old, self.new, &free_new);
        let (mut i, mut j) = (old.0, new.0);
        for (x, y) in same {
            self.leave(i, x);
            self.enter(j, y);
            self.push(RowKind::Same, x, y);
            (i, j) = (x + 1, y + 1);
        }
        self.leave(i, old.1);
        self.enter(j, new.1);
    }

    /// Old lines that are no longer here.
    fn leave(&mut self, start: u32, end: u32) {
        for line in start..end {
            let to = self.moved_to[line as usize];
            if to != NONE {
                if !self.ignore_order {
                    self.push(RowKind::MovedAway, line, to);
                }
            } else if self.old.compares(line as usize) {
                self.push(RowKind::Deleted, line, NONE);
            }
        }
    }

    /// New lines that were not here.
    fn enter(&mut self, start: u32, end: u32) {
        for line in start..end {
            let from = self.partner[line as usize];
            if from != NONE {
                if self.ignore_order {
                    self.pair(from, line);
                } else {
                    self.push(RowKind::MovedHere, from, line);
                }
            } else if self.new.compares(line as usize) {
                self.push(RowKind::Inserted, NONE, line);
            }
        }
    }
}

/// Lines of equal text, in order on both sides.
fn equal_lines(old: &Page, free_old: &[u32], new: &Page, free_new: &[u32]) -> Vec<(u32, u32)> {
    if free_old.is_empty() || free_new.is_empty() {
        return Vec::new();
    }
    let old_texts: Vec<&str> = free_old.iter().map(|&line| old.text(line)).collect();
    let new_texts: Vec<&str> = free_new.iter().map(|&line| new.text(line)).collect();
    let mut known = HashMap::new();
    let old_tokens = tokens(&old_texts, &mut known);
    let new_tokens = tokens(&new_texts, &mut known);
    let mut same = Vec::new();
    let (mut i, mut j) = (0, 0);
    let end = (
        old_texts.len()..old_texts.len(),
        new_texts.len()..new_texts.len(),
    );
    let changes = sequence_changes(&old_tokens, &new_tokens, known.len() as u32);
    for (old, new) in changes.into_iter().chain([end]) {
        same.extend(
            (i..old.start)
                .zip(j..new.start)
                .map(|(i, j)| (free_old[i], free_new[j])),
        );
        (i, j) = (old.end, new.end);
    }
    same
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};
    use crate::sdiff::annotation::{Compared, annotate};
    use crate::sdiff::{Granularity, Rules, Scope};
    use crate::text::read_lines;

    fn table(old: &str, new: &str) -> Vec<(RowKind, String, String)> {
        let page = |source: &str| encode(source.as_bytes(), &Options::default()).unwrap();
        let (old, new) = (page(old), page(new));
        let [from, to] = [&old, &new].map(|page| Compared {
            page,
            scope: Scope::default(),
        });
        let found = annotate(&from, &to, &Rules::default(), Granularity::Normal).unwrap();
        let (old_lines, new_lines) = (read_lines(&old), read_lines(&new));
        let text = |lines: &[Line], at: u32| match at {
            NONE => String::new(),
            at => lines[at as usize].text.clone(),
        };
        rows(
            &Page {
                lines: &old_lines,
                status: &found.old,
            },
            &Page {
                lines: &new_lines,
                status: &found.new,
            },
            &found.pairs,
            false,
        )
        .iter()
        .map(|row| {
            (
                row.kind,
                text(&old_lines, row.old),
                text(&new_lines, row.new),
            )
        })
        .collect()
    }

    #[test]
    fn a_changed_line_is_one_row() {
        let rows = table("<p>a<p>9 to 5<p>c", "<p>a<p>9 to 6<p>c");
        let kinds: Vec<_> = rows.iter().map(|row| row.0).collect();
        assert_eq!(kinds, [RowKind::Same, RowKind::Changed, RowKind::Same]);
        assert_eq!(rows[1].2, "9 to 6");
    }

    #[test]
    fn lines_of_one_node_are_compared_by_text() {
        let rows = table("<pre>a\nb\nc\n</pre>", "<pre>x\na\nb\nc\n</pre>");
        let kinds: Vec<_> = rows.iter().map(|row| row.0).collect();
        let same = RowKind::Same;
        assert_eq!(kinds, [RowKind::Inserted, same, same, same]);
    }

    #[test]
    fn every_line_is_in_a_row_once_or_moved() {
        let rows = table("<p>a<p>b<div>c</div>", "<div>c</div><p>a");
        let old = rows
            .iter()
            .filter(|row| !row.1.is_empty() && row.0 != RowKind::MovedHere);
        assert_eq!(old.count(), 3);
        let new = rows
            .iter()
            .filter(|row| !row.2.is_empty() && row.0 != RowKind::MovedAway);
        assert_eq!(new.count(), 2);
    }
}
