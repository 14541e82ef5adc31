//! Nesting: a list, or the lists inside its records.
//!
//! Three cases look alike from outside: records that hold a short list each (a job and its perks),
//! rows or sections that hold the records (a grid), and records that hold answers of their own kind
//! (a thread). This module tells them apart and leaves every part of the page in one list at most.

use std::collections::HashMap;

use super::candidates::likeness;
use super::lists::List;
use super::outline::{Outline, parent};
use super::shapes::Shapes;
use super::white_space::stripped;
use crate::digest::Digest;

/// The lists inside hold nearly all of the outer list...
const HOLDS: f64 = 0.7;
/// ...in most of its records.
const HAVE_ONE: f64 = 0.6;
/// Records have several fields; cells of a table mostly have one.
const RICH_LEAVES: f64 = 2.0;
/// Records of lists next to each other that are one list.
const ALIKE: f64 = 0.55;
/// Records at the start of each list that are compared to find out whether two lists are of one kind.
const COMPARED: usize = 3;
/// If nearly all elements named like a record inside others are answers, the rest are, too.
const NEARLY_ALL: f64 = 0.8;
/// Answers inside a record, compared with the record.
const ANSWER: f64 = 0.45;
/// Labels of facts (`Maker`, `Weight`) are the same in every record.
const SAME_LABELS: f64 = 0.5;

/// Choose lists that do not overlap, in the order of the page.
pub(super) fn resolve<'a>(
    page: &'a Digest,
    outline: &'a Outline,
    shapes: &mut Shapes<'a>,
    mut found: Vec<List>,
) -> Vec<List> {
    let mut search = Search::new(page, outline, shapes);
    // Those that were decided so far; the one with the smallest node is the last.
    let mut kept: Vec<List> = Vec::new();
    // From the innermost to the outermost: lists inside a list have been decided before it.
    found.sort_by_key(|one| one.node);
    while let Some(outer) = found.pop() {
        let end = outline.end[outer.node as usize];
        let below = kept.partition_point(|one| one.node >= end);
        let mut below: Vec<List> = kept.split_off(below);
        below.reverse();
        let roots = outer.roots();
        let (inside, beside): (Vec<List>, Vec<List>) =
            (below.into_iter()).partition(|one| within(outline, &roots, one.node).is_some());
        match search.nested(&outer, &roots, &inside) {
            Nested::Apart => {
                let mut all = inside;
                all.extend(beside);
                all.sort_by_key(|one| std::cmp::Reverse(one.node));
                kept.extend(all);
            }
            Nested::Joined(whole) => {
                kept.extend(beside.into_iter().rev());
                kept.push(whole);
            }
            Nested::Fields => {
                let whole = search.thread(outer, &roots);
                // A thread may have grown over lists that were beside its records.
                let tops: Vec<u32> = (whole.records.iter().map(|record| record[0]))
                    .filter(|&node| parent(page, node) == Some(whole.node))
                    .collect();
                let is_beside = |one: &List| within(outline, &tops, one.node).is_none();
                kept.extend(beside.into_iter().rev().filter(is_beside));
                kept.push(whole);
            }
        }
    }
    let mut kept = search.neighbours(kept);
    kept.sort_by_key(|one| one.node);
    kept
}

/// The meaning of lists inside the records of a list.
enum Nested {
    /// They are fields of the records.
    Fields,
    /// The records are rows or sections of one list.
    Joined(List),
    /// The records are sections with a list of another kind each.
    Apart,
}

/// The place of the root that a node is in; roots are sorted.
fn within(outline: &Outline, roots: &[u32], node: u32) -> Option<usize> {
    let place = roots.partition_point(|&root| root <= node).checked_sub(1)?;
    (node < outline.end[roots[place] as usize]).then_some(place)
}

struct Search<'s, 'a> {
    page: &'a Digest,
    outline: &'a Outline,
    shapes: &'s mut Shapes<'a>,
    tags: &'a [u32],
    /// The texts that are not blank, in order.
    texts: Vec<u32>,
    /// The visible elements of each name and class, in order; made when first needed.
    labelled: Option<HashMap<(u32, u32), Vec<u32>>>,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(page: &'a Digest, outline: &'a Outline, shapes: &'s mut Shapes<'a>) -> Self {
        let tags = &page.wide().tag;
        let texts = (0..outline.n() as u32)
            .filter(|&node| outline.own_text[node as usize] > 0)
            .collect();
        Self {
            page,
            outline,
            shapes,
            tags,
            texts,
            labelled: None,
        }
    }

    fn name(&self, node: u32) -> &'a str {
        self.page.tag_name(self.tags[node as usize] as usize)
    }

    fn label(&self, node: u32) -> (u32, u32) {
        (self.tags[node as usize], self.shapes.classes[node as usize])
    }

    /// The visible elements of a name and class among some nodes.
    fn same(&mut self, label: (u32, u32), low: u32, high: u32) -> Vec<u32> {
        let (outline, tags, classes) = (self.outline, self.tags, &self.shapes.classes);
        let labelled = self.labelled.get_or_insert_with(|| {
            let mut found: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
            for node in (0..outline.n()).filter(|&node| outline.elements[node]) {
                let nodes = found.entry((tags[node], classes[node])).or_default();
                nodes.push(node as u32);
            }
            found
        });
        let Some(nodes) = labelled.get(&label) else {
            return Vec::new();
        };
        let from = nodes.partition_point(|&node| node < low);
        let to = nodes.partition_point(|&node| node < high);
        nodes[from..to].to_vec()
    }

    /// Decide between a list and those inside its records.
    fn nested(&mut self, outer: &List, roots: &[u32], inside: &[List]) -> Nested {
        if inside.is_empty() {
            return Nested::Fields;
        }
        let outline = self.outline;
        let leaf_sum = |nodes: &mut dyn Iterator<Item = u32>| -> u64 {
            nodes.map(|node| u64::from(outline.leaf_count(node))).sum()
        };
        let leaves = leaf_sum(&mut roots.iter().copied());
        let mut records: Vec<Vec<u32>> =
            inside.iter().flat_map(|one| one.records.clone()).collect();
        let nodes: Vec<u32> = records.iter().flatten().copied().collect();
        let held = leaf_sum(&mut nodes.iter().copied());
        let starts: Vec<u32> = outer.records.iter().map(|record| record[0]).collect();
        let mut having: Vec<usize> = (inside.iter())
            .map(|one| starts.partition_point(|&start| start <= one.node))
            .collect();
        having.dedup();
        if (held as f64) < HOLDS * leaves as f64
            || (having.len() as f64) < HAVE_ONE * outer.records.len() as f64
            || (held as f64) < RICH_LEAVES * records.len() as f64
            || self.are_cells(&nodes, held)
            || self.have_same_labels(inside)
        {
            return Nested::Fields;
        }
        if !self.are_alike(inside) {
            return Nested::Apart;
        }
        // A last row may have fewer records than a list needs; they belong to the whole.
        records.extend(self.short_rows(roots, inside, nodes));
        records.sort();
        let likeness = likeness(self.shapes, &records);
        Nested::Joined(List {
            node: outer.node,
            records,
            likeness,
        })
    }

    /// Whether most nodes are cells of table rows that have one field each or a heading.
    fn are_cells(&self, nodes: &[u32], leaves: u64) -> bool {
        let count = |name| {
            nodes
                .iter()
                .filter(|&&node| self.name(node) == name)
                .count()
        };
        if count("th") > 0 {
            return true;
        }
        2 * count("td") > nodes.len() && (leaves as f64) / (nodes.len() as f64) < RICH_LEAVES
    }

    /// Whether each list has a record like one of the list before it.
    fn are_alike(&mut self, inside: &[List]) -> bool {
        let first = |one: &List| -> Vec<u32> {
            (one.records.iter().take(COMPARED))
                .map(|record| record[0])
                .collect()
        };
        inside.windows(2).all(|pair| {
            let others = first(&pair[1]);
            (first(&pair[0]).iter())
                .any(|&one| (others.iter()).any(|&other| self.shapes.likeness(one, other) >= ALIKE))
        })
    }

    /// Whether the records at the same place of each list start with the same text.
    fn have_same_labels(&self, inside: &[List]) -> bool {
        if inside.len() == 1 {
            return false;
        }
        let mut counts: HashMap<(usize, String), usize> = HashMap::new();
        let mut all = 0usize;
        for one in inside {
            for (place, record) in one.records.iter().enumerate() {
                if let Some(text) = self.first_text(record[0]) {
                    *counts.entry((place, text)).or_default() += 1;
                    all += 1;
                }
            }
        }
        let repeated: usize = counts.into_values().filter(|&count| count > 1).sum();
        repeated as f64 >= SAME_LABELS * all.max(1) as f64
    }

    /// The first text of a node that is not blank.
    fn first_text(&self, node: u32) -> Option<String> {
        let at = self.texts.partition_point(|&text| text < node);
        let text = (self.texts.get(at)).filter(|&&text| text < self.outline.end[node as usize])?;
        let content = self.page.content().get(*text as usize);
        Some(stripped(&self.page.content_text(content as usize)).to_owned())
    }

    fn short_rows(
        &mut self,
        roots: &[u32],
        inside: &[List],
        mut covered: Vec<u32>,
    ) -> Vec<Vec<u32>> {
        let leader = inside[0].records[0][0];
        let label = self.label(leader);
        let depths = &self.page.derived().depth;
        covered.sort_unstable();
        let mut found = Vec::new();
        for &root in roots {
            let high = self.outline.end[root as usize];
            let at = covered.partition_point(|&node| node < root);
            if covered.get(at).is_some_and(|&node| node < high) {
                continue;
            }
            for node in self.same(label, root, high) {
                if depths[node as usize] == depths[leader as usize]
                    && self.shapes.likeness(node, leader) >= ALIKE
                {
                    found.push(vec![node]);
                }
            }
        }
        found
    }

    /// The list with the answers inside its records, if they are of the same kind.
    fn thread(&mut self, outer: List, roots: &[u32]) -> List {
        if outer.records.iter().any(|record| record.len() > 1) {
            return outer;
        }
        let label = self.label(roots[0]);
        let (low, high) = (outer.node + 1, self.outline.end[outer.node as usize]);
        let (beside, below): (Vec<u32>, Vec<u32>) = (self.same(label, low, high).into_iter())
            .filter(|&node| self.outline.leaf_count(node) > 1)
            .partition(|&node| parent(self.page, node) == Some(outer.node));
        let mut tops = roots.to_vec();
        if label.1 != 0 {
            // A comment with many answers may be unlike the others.
            tops.extend(beside);
            tops.sort_unstable();
            tops.dedup();
        }
        let nodes: Vec<(u32, u32)> = (below.into_iter())
            .filter_map(|node| Some((node, tops[within(self.outline, &tops, node)?])))
            .collect();
        if nodes.is_empty() {
            return outer;
        }
        // An answer looks like a comment without answers.
        let mut plain = roots[0];
        for &root in roots {
            if self.shapes.total(root) < self.shapes.total(plain) {
                plain = root;
            }
        }
        let mut alike: Vec<u32> = (nodes.iter())
            .filter(|&&(node, root)| {
                self.shapes.likeness(node, plain) >= ANSWER
                    || self.shapes.likeness(node, root) >= ANSWER
            })
            .map(|&(node, _)| node)
            .collect();
        if (label.1 == 0 && alike.len() < nodes.len()) || 2 * alike.len() < nodes.len() {
            return outer;
        }
        let is_named = label.1 != 0 && alike.len() as f64 >= NEARLY_ALL * nodes.len() as f64;
        if is_named {
            alike = tops;
            alike.extend(nodes.iter().map(|&(node, _)| node));
        } else {
            alike.retain(|&node| within(self.outline, roots, node).is_some());
            alike.extend(roots);
        }
        let mut records: Vec<Vec<u32>> = alike.into_iter().map(|node| vec![node]).collect();
        records.sort();
        List { records, ..outer }
    }

    /// Join lists in two columns: siblings of one name and class, without anything between them.
    fn neighbours(&mut self, mut kept: Vec<List>) -> Vec<List> {
        kept.sort_by_key(|one| one.node);
        let mut joined: Vec<List> = Vec::new();
        // Whether the last list has grown since its likeness was computed.
        let mut grown = false;
        for one in kept {
            if let Some(before) = joined.last_mut()
                && let Some(around) = self.are_columns(before, &one)
            {
                before.records.extend(one.records);
                before.node = around;
                grown = true;
                continue;
            }
            self.finish(&mut joined, grown);
            grown = false;
            joined.push(one);
        }
        self.finish(&mut joined, grown);
        joined
    }

    fn finish(&mut self, joined: &mut [List], grown: bool) {
        if let Some(last) = joined.last_mut()
            && grown
        {
            last.likeness = likeness(self.shapes, &last.records);
        }
    }

    /// The node around two lists, if they are columns of one.
    fn are_columns(&mut self, one: &List, other: &List) -> Option<u32> {
        if matches!(self.name(other.node), "tbody" | "table" | "tr" | "thead") {
            return None; // each table is a list of its own
        }
        let around = parent(self.page, other.node)?;
        let last_record = one.records.last()?[0];
        let last = if one.node == around {
            // Joined before.
            parent(self.page, last_record).filter(|&last| parent(self.page, last) == Some(around))
        } else {
            Some(one.node).filter(|&node| parent(self.page, node) == Some(around))
        }?;
        if self.label(last) != self.label(other.node) {
            return None;
        }
        let end = self.outline.end[last as usize] as usize;
        let before = &self.outline.leaves_before;
        let is_close = before[other.node as usize] == before[end];
        (is_close && self.shapes.likeness(last_record, other.records[0][0]) >= ALIKE)
            .then_some(around)
    }
}
