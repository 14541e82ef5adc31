//! Cells: everything that a record shows, each with a key that says where in the record it is.
//!
//! The key of a cell is the path from the record down to it: names and the first class of every
//! element. Two cells with the same key in different records are probably the same field. Cells of
//! table rows also have the number of their column, so that an empty cell does not shift the others.
//!
//! A text with inline markup (`read <a>this</a> now`) is one cell, unless most records have the same
//! parts in it (`by <a>someone</a> on <i>some day</i>`): then each part is a cell.
//!
//! Tables of scratch space are as long as the part of the page that the records are in, so reading
//! all lists of a page is linear. A record is cut after [`MOST_LEAVES`] leaves, and so are the parts
//! of a text.

use std::borrow::Cow;
use std::collections::HashMap;

use super::attributes::attribute;
use super::outline::{Outline, parent};
use super::paths::{MOST_LEVELS, Paths};
use super::white_space::{joined, stripped};
use crate::digest::Digest;
use crate::text::{Reader, TagRoles};

/// A record with more leaves than this is cut: of a hostile page, not of a list.
const MOST_LEAVES: u32 = 400;
/// Parts of a text are fields of their own if so many records have the same parts.
const SAME_PARTS: f64 = 0.7;
const INLINE: [&str; 26] = [
    "a", "abbr", "b", "bdi", "br", "cite", "code", "del", "em", "font", "i", "img", "ins", "kbd",
    "mark", "q", "s", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "wbr",
];

/// The value of a node that a cell shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Source {
    /// Its text.
    Text = 0,
    /// The address that it links to.
    Link = 1,
    /// The address of its image.
    Image = 2,
    /// The value that it has for programs.
    Property = 3,
}

/// Where in a record a cell is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Labels from below the record down to the node.
    pub path: Vec<String>,
    /// The value of the node that the cell shows.
    pub source: Source,
    /// The number of the table column, or -1.
    pub column: i32,
}

/// One value of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The place of its key among the keys.
    pub key: u32,
    /// Its node.
    pub node: u32,
    /// Its value.
    pub value: String,
}

/// The cells of some records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells {
    /// All keys, in the order in which they are met.
    pub keys: Vec<Key>,
    /// The cells of each record, in the order of the page.
    pub rows: Vec<Vec<Cell>>,
}

/// Read the cells of every record. Each record is a sorted run of nodes of the page; no node is in
/// two records.
///
/// ```
/// use quire_core::extraction::{Outline, Source, cells};
/// use quire_core::{Options, encode};
///
/// let page = encode(b"<ul><li><a href=/cod>Cod</a><li><a>Hake</a></ul>", &Options::default()).unwrap();
/// let found = cells(&page, &Outline::of(&page), &[vec![5], vec![8]]);
/// assert_eq!(found.keys[0].source, Source::Link);
/// assert_eq!(found.rows[0][1].value, "Cod");
/// assert_eq!(found.rows[1].len(), 1);
/// ```
#[must_use]
pub fn cells(page: &Digest, outline: &Outline, records: &[Vec<u32>]) -> Cells {
    let roots = || records.iter().flatten().copied();
    let Some(low) = roots().min() else {
        return Cells {
            keys: Vec::new(),
            rows: vec![Vec::new(); records.len()],
        };
    };
    let high = roots().map(|root| outline.end[root as usize]).max();
    let mut reading = Reading::new(page, outline, low, high.unwrap_or(low), records);
    for record in records {
        let row = reading.record(record);
        reading.cells.rows.push(row);
    }
    reading.cells
}

/// Reads records; knows which texts have the same parts in most of them.
struct Reading<'a> {
    page: &'a Digest,
    outline: &'a Outline,
    reader: Reader<'a>,
    tags: &'a [u32],
    tag: OfTags,
    paths: Paths<'a>,
    low: u32,
    /// For each node from `low` on: whether it is the root of a record, or of a part of one.
    is_root: Vec<bool>,
    /// The same: elements in front of it that are not inline; one entry more.
    blocks_before: Vec<u32>,
    /// The same: whether it has texts of its own beside inline elements; found out when needed.
    is_mixed: Vec<Option<bool>>,
    /// The same: the last record that has it inside a text.
    merged_by: Vec<u32>,
    /// The paths of texts whose parts are cells.
    split: Vec<bool>,
    keys: HashMap<(u32, Source, i32), u32>,
    cells: Cells,
}

/// What the tags of a page are.
struct OfTags {
    inline: Vec<bool>,
    kind: Vec<TagKind>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TagKind {
    Link,
    Image,
    Meta,
    Other,
}

impl OfTags {
    fn of(page: &Digest) -> Self {
        let tags = || 0..page.tag_count();
        let meta = tags()
            .find(|&tag| page.tag_label(tag) == "meta")
            .or_else(|| tags().find(|&tag| page.tag_name(tag) == "meta"));
        Self {
            inline: tags()
                .map(|tag| INLINE.contains(&page.tag_name(tag)))
                .collect(),
            kind: tags()
                .map(|tag| match page.tag_name(tag) {
                    "a" => TagKind::Link,
                    "img" => TagKind::Image,
                    _ if Some(tag) == meta => TagKind::Meta,
                    _ => TagKind::Other,
                })
                .collect(),
        }
    }
}

impl<'a> Reading<'a> {
    fn new(
        page: &'a Digest,
        outline: &'a Outline,
        low: u32,
        high: u32,
        records: &[Vec<u32>],
    ) -> Self {
        let tags: &[u32] = &page.wide().tag;
        let tag = OfTags::of(page);
        let length = (high - low) as usize;
        let mut is_root = vec![false; length];
        for &root in records.iter().flatten() {
            is_root[(root - low) as usize] = true;
        }
        let is_block: Vec<bool> = (0..page.tag_count())
            .map(|of| !page.tag_name(of).starts_with('#') && !tag.inline[of])
            .collect();
        let mut blocks_before = Vec::with_capacity(length + 1);
        let mut blocks = 0;
        blocks_before.push(0);
        for &of in &tags[low as usize..high as usize] {
            blocks += u32::from(is_block[of as usize]);
            blocks_before.push(blocks);
        }
        let mut made = Self {
            page,
            outline,
            reader: Reader::with_roles(page, &TagRoles::default()),
            tags,
            tag,
            paths: Paths::new(page, outline, low, high),
            low,
            is_root,
            blocks_before,
            is_mixed: vec![None; length],
            merged_by: vec![0; length],
            split: Vec::new(),
            keys: HashMap::new(),
            cells: Cells::default(),
        };
        made.find_split(records);
        made
    }

    fn place(&self, node: u32) -> usize {
        (node - self.low) as usize
    }

    fn tag_of(&self, node: u32) -> usize {
        self.tags[node as usize] as usize
    }

    /// Find the paths of texts whose parts are the same in most records.
    fn find_split(&mut self, records: &[Vec<u32>]) {
        let mut parts: HashMap<u32, HashMap<u64, u32>> = HashMap::new();
        for record in records {
            self.paths.forget();
            for &root in record {
                let top = self.top(record, root);
                for node in self.nodes(root) {
                    if self.outline.own_text[node as usize] == 0 {
                        continue;
                    }
                    let Some(around) = parent(self.page, node).filter(|&around| around >= root)
                    else {
                        continue;
                    };
                    // The first of its own texts stands for all of them.
                    if !self.mixed(around) || self.first_own_text(around) != Some(node) {
                        continue;
                    }
                    let (path, _) = self.paths.path(around, top);
                    let found = self.parts(around);
                    *(parts.entry(path).or_default().entry(found)).or_default() += 1;
                }
            }
        }
        for (path, counts) in parts {
            let all: u32 = counts.values().sum();
            let most = counts.into_values().max().unwrap_or(0);
            if f64::from(most) >= SAME_PARTS * f64::from(all) {
                let path = path as usize;
                if self.split.len() <= path {
                    self.split.resize(path + 1, false);
                }
                self.split[path] = true;
            }
        }
    }

    /// The node that paths of a record begin below.
    fn top(&self, record: &[u32], root: u32) -> u32 {
        match record {
            [one] => *one,
            _ => parent(self.page, root).unwrap_or(0),
        }
    }

    /// A hash of the paths of all leaves in a text.
    fn parts(&mut self, around: u32) -> u64 {
        let end = self.outline.end[around as usize];
        let mut found = 0;
        let mut leaves = 0;
        // The nodes around the next one: where each ends, and the hash of its path.
        let mut open: Vec<(u32, u64)> = Vec::new();
        let mut at = around + 1;
        while at < end && leaves < MOST_LEAVES {
            let next = self.outline.end[at as usize];
            if self.outline.leaf_count(at) == 0 {
                at = next;
                continue;
            }
            while open.pop_if(|(end, _)| *end <= at).is_some() {}
            let above = open.last().map_or(0, |(_, path)| *path);
            let path = hashed(above, u64::from(self.paths.label(at)));
            if self.outline.leaves[at as usize] {
                found = hashed(found, path);
                leaves += 1;
            }
            open.push((next, path));
            at += 1;
        }
        found
    }

    fn record(&mut self, record: &[u32]) -> Vec<Cell> {
        self.paths.forget();
        let number = self.cells.rows.len() as u32 + 1;
        let mut found = Vec::new();
        for &root in record {
            let top = self.top(record, root);
            for node in self.nodes(root) {
                if self.merged_by[self.place(node)] == number {
                    continue;
                }
                if self.outline.own_text[node as usize] > 0 {
                    self.text(node, root, top, number, &mut found);
                } else {
                    self.attributes(node, top, &mut found);
                }
            }
        }
        found
    }

    /// The nodes of a record with something to show, without records inside it.
    fn nodes(&self, root: u32) -> Vec<u32> {
        let end = self.outline.end[root as usize];
        let mut found = Vec::new();
        let mut leaves = 0;
        let mut node = root;
        while node < end {
            if node != root && self.is_root[self.place(node)] {
                node = self.outline.end[node as usize];
                continue;
            }
            let at = node as usize;
            if self.outline.leaves[at] {
                leaves += 1;
                if leaves > MOST_LEAVES {
                    break;
                }
            }
            // A property may be in a `meta`, which readers do not see.
            if self.outline.elements[at]
                || self.outline.leaves[at]
                || self.tag.kind[self.tag_of(node)] == TagKind::Meta
            {
                found.push(node);
            }
            node += 1;
        }
        found
    }

    /// The cell of a text, and the links and images inside it.
    fn text(&mut self, node: u32, root: u32, top: u32, number: u32, into: &mut Vec<Cell>) {
        let around = self.text_around(node, root, top);
        let value = if around == node {
            let content = self.page.content().get(node as usize);
            joined(&self.page.content_text(content as usize))
        } else {
            joined(&self.reader.text(around as usize))
        };
        self.add(around, top, Source::Text, value, into);
        if around != node {
            let end = self.outline.end[around as usize];
            for inside in around..end {
                let place = self.place(inside);
                self.merged_by[place] = number;
                if inside > around {
                    self.attributes(inside, top, into);
                }
            }
        }
    }

    /// The element whose whole text is the cell of this text; the text itself if it is split.
    fn text_around(&mut self, node: u32, root: u32, top: u32) -> u32 {
        let mut best = node;
        let mut at = parent(self.page, node);
        for _ in 0..MOST_LEVELS {
            let Some(here) = at.filter(|&here| here >= root && here > 0) else {
                break;
            };
            if self.mixed(here) {
                let (path, _) = self.paths.path(here, top);
                if self.split.get(path as usize) != Some(&true) {
                    best = here;
                }
            }
            if !self.tag.inline[self.tag_of(here)] {
                break;
            }
            at = parent(self.page, here);
        }
        best
    }

    /// The cell of an element's attributes: an address, an image or a property.
    fn attributes(&mut self, node: u32, top: u32, into: &mut Vec<Cell>) {
        let at = node as usize;
        let kind = self.tag.kind[self.tag_of(node)];
        let is_meta = kind == TagKind::Meta || self.page.tag_name(self.tag_of(node)) == "meta";
        if (!self.outline.elements[at] && !is_meta) || self.page.attr().get(at) < 0 {
            return;
        }
        let of = |name| attribute(self.page, at, name);
        let (source, value) = match kind {
            TagKind::Link => (Source::Link, of("href")),
            TagKind::Image => {
                let late = of("data-src").filter(|value| !value.is_empty());
                (Source::Image, late.or_else(|| of("src")))
            }
            _ => {
                let content = of("content").filter(|_| of("itemprop").is_some());
                (Source::Property, content)
            }
        };
        let value = value.unwrap_or(Cow::Borrowed(""));
        let value = stripped(&value);
        if !value.is_empty() {
            self.add(node, top, source, value.to_owned(), into);
        }
    }

    fn add(&mut self, node: u32, top: u32, source: Source, value: String, into: &mut Vec<Cell>) {
        let (path, column) = self.paths.path(node, top);
        let next = self.keys.len() as u32;
        let key = *self.keys.entry((path, source, column)).or_insert(next);
        if key == next {
            let labels = self.paths.labels(path).into_iter();
            self.cells.keys.push(Key {
                path: labels.map(str::to_owned).collect(),
                source,
                column,
            });
        }
        into.push(Cell { key, node, value });
    }

    /// Whether an element has texts of its own beside inline elements with texts.
    fn mixed(&mut self, node: u32) -> bool {
        let place = self.place(node);
        if let Some(known) = self.is_mixed[place] {
            return known;
        }
        let (low, high) = (
            self.place(node + 1),
            self.place(self.outline.end[node as usize]),
        );
        let shown = self.outline.leaf_count(node) - u32::from(self.outline.leaves[node as usize]);
        let found = shown > 1
            && self.blocks_before[low] == self.blocks_before[high]
            && self.first_own_text(node).is_some();
        self.is_mixed[place] = Some(found);
        found
    }

    /// The first text that is a child of a node and not blank.
    fn first_own_text(&self, node: u32) -> Option<u32> {
        let end = self.outline.end[node as usize];
        let mut child = node + 1;
        while child < end {
            if self.outline.own_text[child as usize] > 0 {
                return Some(child);
            }
            child = self.outline.end[child as usize];
        }
        None
    }
}

fn hashed(before: u64, number: u64) -> u64 {
    let mut x =
        (before ^ number.wrapping_add(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^= x >> 31;
    x.wrapping_mul(0x94D0_49BB_1331_11EB)
        .wrapping_add(before.rotate_left(17))
}
