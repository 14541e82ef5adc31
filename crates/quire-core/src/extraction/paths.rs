//! Paths: where in a record a node is, as numbers.
//!
//! A label is the name of a node with its first class that has no digits; a path is the labels from
//! below a record down to a node. Both are numbered, so that two places are compared as two
//! numbers. Paths are a trie: a path is a shorter path and one more label.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::attributes::attribute;
use super::outline::{Outline, parent};
use super::white_space::words;
use crate::digest::Digest;
use crate::page::tree::NONE;

/// Deeper nodes have the key of the node this far above them.
pub(super) const MOST_LEVELS: usize = 48;
/// Browsers treat larger spans of cells as this.
const MOST_SPAN: u32 = 1000;
/// The path without labels.
pub(super) const EMPTY: u32 = 0;

/// Numbers the paths of a page.
pub(super) struct Paths<'a> {
    page: &'a Digest,
    outline: &'a Outline,
    tags: &'a [u32],
    /// Whether nodes with each tag are cells of a table.
    is_cell: Vec<bool>,
    /// The labels of the nodes from `low` on, or [`NONE`] before they are needed.
    low: u32,
    of_node: Vec<u32>,
    /// The label of each tag and attribute run.
    of_run: HashMap<(u32, i32), u32>,
    numbers: HashMap<String, u32>,
    labels: Vec<String>,
    /// The longer path for a path and a label, and for each path the shorter one and its last label.
    longer: HashMap<(u32, u32), u32>,
    shorter: Vec<(u32, u32)>,
    /// The path of a node below a top node, and its column.
    known: HashMap<(u32, u32), (u32, i32)>,
    /// The first columns of the cells of each row.
    columns: HashMap<u32, HashMap<u32, u32>>,
}

impl<'a> Paths<'a> {
    /// Prepare to number paths down to nodes from `low` to before `high`.
    pub(super) fn new(page: &'a Digest, outline: &'a Outline, low: u32, high: u32) -> Self {
        Self {
            page,
            outline,
            tags: &page.wide().tag,
            is_cell: (0..page.tag_count())
                .map(|tag| matches!(page.tag_name(tag), "td" | "th"))
                .collect(),
            low,
            of_node: vec![NONE; (high - low) as usize],
            of_run: HashMap::new(),
            numbers: HashMap::new(),
            labels: Vec::new(),
            longer: HashMap::new(),
            shorter: vec![(EMPTY, 0)],
            known: HashMap::new(),
            columns: HashMap::new(),
        }
    }

    /// The path from below `top` down to a node, and the column of the table cell it is in, or -1.
    pub(super) fn path(&mut self, node: u32, top: u32) -> (u32, i32) {
        if let Some(&found) = self.known.get(&(node, top)) {
            return found;
        }
        let mut above = [0u32; MOST_LEVELS];
        let mut length = 0;
        let mut column = -1;
        let mut at = Some(node);
        while let Some(here) = at.filter(|&here| here > top && length < MOST_LEVELS) {
            above[length] = here;
            length += 1;
            if column < 0 && self.is_cell[self.tags[here as usize] as usize] {
                column = self.column(here).min(i32::MAX as u32) as i32;
            }
            at = parent(self.page, here);
        }
        if self.is_cell[self.tags[top as usize] as usize] {
            column = -1; // the record is a cell itself
        }
        let mut path = EMPTY;
        for &here in above[..length].iter().rev() {
            let label = self.label(here);
            path = self.step(path, label);
        }
        self.known.insert((node, top), (path, column));
        (path, column)
    }

    /// Forget the paths of nodes; their numbers stay. For the next record.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }

    /// The path that is one label longer.
    fn step(&mut self, path: u32, label: u32) -> u32 {
        let next = self.shorter.len() as u32;
        let found = *self.longer.entry((path, label)).or_insert(next);
        if found == next {
            self.shorter.push((path, label));
        }
        found
    }

    /// The labels of a path.
    pub(super) fn labels(&self, path: u32) -> Vec<&str> {
        let mut found = Vec::new();
        let mut at = path;
        while at != EMPTY {
            let (shorter, label) = self.shorter[at as usize];
            found.push(self.labels[label as usize].as_str());
            at = shorter;
        }
        found.reverse();
        found
    }

    /// The label of a node.
    pub(super) fn label(&mut self, node: u32) -> u32 {
        let place = (node - self.low) as usize;
        if self.of_node[place] == NONE {
            self.of_node[place] = self.find_label(node);
        }
        self.of_node[place]
    }

    fn find_label(&mut self, node: u32) -> u32 {
        let tag = self.tags[node as usize];
        let run = self.page.attr().get(node as usize);
        if let Some(&label) = self.of_run.get(&(tag, run)) {
            return label;
        }
        let mut label = self.page.tag_name(tag as usize).to_owned();
        let class = attribute(self.page, node as usize, "class").unwrap_or_default();
        if let Some(word) = words(&class).find(|word| !has_digit(word)) {
            label.push('.');
            label.push_str(word);
        }
        let next = self.labels.len() as u32;
        let number = *self.numbers.entry(label.clone()).or_insert(next);
        if number == next {
            self.labels.push(label);
        }
        self.of_run.insert((tag, run), number);
        number
    }

    /// The number of the table column that a cell begins in.
    fn column(&mut self, cell: u32) -> u32 {
        let Some(row) = parent(self.page, cell) else {
            return 0;
        };
        let (page, outline) = (self.page, self.outline);
        let columns = self.columns.entry(row).or_insert_with(|| {
            let mut found = HashMap::new();
            let mut column = 0u32;
            let mut child = row + 1;
            while child < outline.end[row as usize] {
                if outline.elements[child as usize] {
                    found.insert(child, column);
                    column = column.saturating_add(span(page, child as usize));
                }
                child = outline.end[child as usize];
            }
            found
        });
        columns.get(&cell).copied().unwrap_or(0)
    }
}

/// How many columns a cell is wide.
fn span(page: &Digest, cell: usize) -> u32 {
    let written = attribute(page, cell, "colspan").unwrap_or_default();
    let is_number = (1..5).contains(&written.len()) && written.bytes().all(|b| b.is_ascii_digit());
    let wide = if is_number {
        written.parse().unwrap_or(1)
    } else {
        1
    };
    wide.clamp(1, MOST_SPAN)
}

/// A decimal digit of any script.
static DIGIT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\d").expect("the pattern is valid"));

/// Whether a word has a decimal digit of any script.
pub(super) fn has_digit(word: &str) -> bool {
    if word.is_ascii() {
        return word.bytes().any(|byte| byte.is_ascii_digit());
    }
    DIGIT.is_match(word)
}
