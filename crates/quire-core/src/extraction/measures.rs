//! Measures: the numbers about a list that tell records from navigation, forms and prose.
//!
//! Every count is a difference of prefix sums, made once for a page. Only the texts of the first
//! [`MOST_COMPARED`] records are read.

use std::collections::{HashMap, HashSet};

use super::outline::Outline;
use crate::digest::Digest;
use crate::text::Reader;

/// Records whose texts are compared with each other.
const MOST_COMPARED: usize = 200;
/// A single text longer than this is prose.
const LONG_TEXT: f64 = 60.0;
/// A paragraph with so many line breaks is a record of several lines, as an address is.
const LINES: u64 = 2;
/// Runs that begin with a paragraph and differ more than this are prose.
const UNEVEN: f64 = 0.3;
const PROSE: [&str; 14] = [
    "p",
    "pre",
    "blockquote",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "figure",
    "hr",
    "table",
];

/// Elements in front of each node, by what they mean; one entry more than nodes.
#[derive(Debug)]
pub(super) struct Counts {
    links: Vec<u32>,
    /// Leaves inside links.
    linked: Vec<u32>,
    images: Vec<u32>,
    /// Leaves inside code.
    code: Vec<u32>,
    controls: Vec<u32>,
    breaks: Vec<u32>,
    /// Who said something: part of a quotation that is a record.
    sources: Vec<u32>,
}

impl Counts {
    pub(super) fn of(page: &Digest, outline: &Outline) -> Self {
        Self {
            links: outline.count(page, &["a"]),
            linked: outline.count_inside(page, "a"),
            images: outline.count(page, &["img"]),
            code: outline.count_inside(page, "pre"),
            controls: outline.count(page, &["input", "select", "textarea", "label"]),
            breaks: outline.count(page, &["br"]),
            sources: outline.count(page, &["cite", "footer"]),
        }
    }
}

/// The measures of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measures {
    /// Leaves of a record, on average.
    pub leaves: f64,
    /// Links for each leaf.
    pub links: f64,
    /// The share of leaves that are inside a link.
    pub linked: f64,
    /// Bytes of text for each text.
    pub leaf_bytes: f64,
    /// The share of records with an image.
    pub images: f64,
    /// Form controls for each leaf.
    pub controls: f64,
    /// The share of records that are a paragraph, code, or one long text; not several short lines.
    pub prose: f64,
    /// For runs of paragraphs and headings, the share that is unlike the most frequent run.
    pub uneven: f64,
    /// Bytes of text of a record, on average.
    pub record_bytes: f64,
    /// The share of records whose text is not that of another record.
    pub different: f64,
    /// The share of the page's text that is in the list.
    pub share: f64,
}

/// Measure a list. Each record has at least one node; there is at least one record.
#[must_use]
pub fn measure(page: &Digest, outline: &Outline, records: &[Vec<u32>]) -> Measures {
    let counts = outline.counts(page);
    let tags = page.tag();
    let name = |node: u32| page.tag_name(tags.get(node as usize) as usize);
    let all = records.len() as f64;
    let (mut leaves, mut text) = (0u64, 0u64);
    let (mut links, mut linked, mut images, mut controls) = (0u64, 0u64, 0u64, 0u64);
    let (mut with_image, mut prose) = (0u32, 0u32);
    let uneven = uneven(records, name);
    for record in records {
        let (Some(&first), Some(&last)) = (record.first(), record.last()) else {
            continue;
        };
        let (start, end) = (first as usize, outline.end[last as usize] as usize);
        let inside = |sums: &[u32]| u64::from(sums[end].saturating_sub(sums[start]));
        let own = inside(&outline.leaves_before);
        let bytes = inside(&outline.text_before);
        let pictures = inside(&counts.images);
        let in_links = inside(&counts.linked);
        leaves += own;
        text += bytes;
        links += inside(&counts.links);
        linked += in_links;
        controls += inside(&counts.controls);
        images += pictures;
        with_image += u32::from(pictures > 0);
        let is_long = bytes as f64 / own.max(1) as f64 > LONG_TEXT;
        let is_single = first == last;
        let is_paragraph = match name(first) {
            "p" if is_single => inside(&counts.breaks) < LINES,
            "p" => uneven > UNEVEN,
            "blockquote" => is_single && inside(&counts.sources) == 0,
            "pre" => is_single,
            _ => false,
        };
        let is_code = inside(&counts.code) * 2 > own;
        prose += u32::from(is_paragraph || is_code || (is_long && own < 2 && in_links == 0));
    }
    let total = leaves.max(1) as f64;
    let texts = leaves.max(1).saturating_sub(images).max(1);
    Measures {
        leaves: leaves as f64 / all,
        links: links as f64 / total,
        linked: linked as f64 / total,
        leaf_bytes: text as f64 / texts as f64,
        images: f64::from(with_image) / all,
        controls: controls as f64 / total,
        prose: f64::from(prose) / all,
        uneven,
        record_bytes: text as f64 / all,
        different: different(page, records),
        share: text as f64 / f64::from(outline.text_bytes(0).max(1)),
    }
}

/// Of runs of paragraphs and headings, the share that is unlike the most frequent run.
fn uneven<'a>(records: &[Vec<u32>], name: impl Fn(u32) -> &'a str) -> f64 {
    let is_prose = |record: &Vec<u32>| record.iter().all(|&node| PROSE.contains(&name(node)));
    if records.iter().all(|record| record.len() == 1) || !records.iter().all(is_prose) {
        return 0.0;
    }
    let mut counts: HashMap<Vec<&str>, u32> = HashMap::new();
    for record in records {
        let run = record.iter().map(|&node| name(node)).collect();
        *counts.entry(run).or_default() += 1;
    }
    let most = counts.into_values().max().unwrap_or(0);
    1.0 - f64::from(most) / records.len() as f64
}

/// The share of records whose text is not that of another record, among the first.
fn different(page: &Digest, records: &[Vec<u32>]) -> f64 {
    let reader = Reader::new(page);
    let shown = &records[..records.len().min(MOST_COMPARED)];
    let texts: HashSet<Vec<String>> = (shown.iter())
        .map(|record| {
            record
                .iter()
                .map(|&node| reader.text(node as usize))
                .collect()
        })
        .collect();
    texts.len() as f64 / shown.len() as f64
}
