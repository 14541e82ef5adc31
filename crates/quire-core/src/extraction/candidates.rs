//! Candidates: every node of a page whose children could be records.
//!
//! A pass over the neighbours of all nodes finds the few whose children resemble each other; only
//! those are looked at one by one.

use super::kinds::{OTHER_CLASS, SAME_CLASS, kinds, turns};
use super::lists::List;
use super::outline::Outline;
use super::runs::{Child, LEAST_RECORDS, Role, runs};
use super::shapes::Shapes;
use crate::digest::Digest;
use crate::page::tree::NONE;
use crate::page::vocabulary::{Class, Namespace};

/// Of a hostile page with very many small lists, only those with the most leaves are looked at.
pub(super) const MOST_PARENTS: usize = 2000;
/// Children further apart than this are not compared to find out whether a node may be a list.
const NEAR: usize = 3;
/// Text, code and controls: what repeats in them is not a record.
const NOT_LISTS: [&str; 26] = [
    "a", "b", "button", "cite", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "i", "label",
    "option", "p", "pre", "picture", "select", "small", "strong", "sub", "sup", "textarea",
    "video", "audio",
];
const NOT_RECORDS: [&str; 13] = [
    "b", "br", "code", "em", "i", "option", "small", "source", "strong", "sub", "sup", "u", "wbr",
];

/// All lists of a page, the outer ones before those inside them.
pub(super) fn candidates(page: &Digest, outline: &Outline, shapes: &mut Shapes<'_>) -> Vec<List> {
    let tags = &page.wide().tag;
    let children = ShownChildren::of(page, outline);
    let mut found = Vec::new();
    for parent in parents(page, outline, shapes, &children) {
        let nodes = children.of_parent(parent);
        let divided = |shapes: &mut Shapes<'_>, least: (f64, f64)| {
            let of = kinds(shapes, tags, nodes, least);
            let among: Vec<Child> = (nodes.iter().zip(of))
                .map(|(&node, kind)| Child {
                    node,
                    kind,
                    tag: tags[node as usize],
                    leaves: outline.leaf_count(node),
                    role: Role::of(page.tag_name(tags[node as usize] as usize)),
                })
                .collect();
            let records = runs(&among);
            let likeness = likeness(shapes, &records);
            (records, likeness)
        };
        let is_run = |record: &Vec<u32>| record.len() > 1;
        let (mut records, mut likeness) = divided(shapes, (SAME_CLASS, OTHER_CLASS));
        if !records.iter().any(is_run) {
            let rows: Vec<u32> = records.iter().map(|record| record[0]).collect();
            if let Some(least) = turns(shapes, tags, &rows, likeness) {
                let (runs, other) = divided(shapes, (least, least.max(OTHER_CLASS)));
                if runs.iter().any(is_run) {
                    (records, likeness) = (runs, other);
                }
            }
        }
        if records.len() >= LEAST_RECORDS {
            found.push(List {
                node: parent,
                records,
                likeness,
            });
        }
    }
    found
}

/// How alike neighbouring records are, on average; of runs, their first nodes count.
pub(super) fn likeness(shapes: &mut Shapes<'_>, records: &[Vec<u32>]) -> f64 {
    let first: Vec<u32> = records.iter().map(|record| record[0]).collect();
    shapes.mean_likeness(&first, 1)
}

/// The visible elements that show something and could be records, by parent.
struct ShownChildren {
    nodes: Vec<u32>,
    /// Where the children of each node begin; one entry more than nodes.
    starts: Vec<u32>,
}

impl ShownChildren {
    fn of(page: &Digest, outline: &Outline) -> Self {
        let tags = &page.wide().tag;
        let parents = &page.derived().parent;
        let in_text: Vec<bool> = (0..page.tag_count())
            .map(|tag| {
                let info = page.tag_info(tag);
                let is_svg = info.class == Class::Element && info.namespace == Namespace::Svg;
                is_svg || NOT_RECORDS.contains(&page.tag_name(tag))
            })
            .collect();
        let is_shown = |node: usize| {
            outline.elements[node]
                && parents[node] != NONE
                && outline.leaf_count(node as u32) > 0
                && !in_text[tags[node] as usize]
        };
        let mut starts = vec![0u32; outline.n() + 1];
        for node in (0..outline.n()).filter(|&node| is_shown(node)) {
            starts[parents[node] as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut nodes = vec![0u32; starts[outline.n()] as usize];
        for node in (0..outline.n()).filter(|&node| is_shown(node)) {
            let place = &mut next[parents[node] as usize];
            nodes[*place as usize] = node as u32;
            *place += 1;
        }
        Self { nodes, starts }
    }

    fn of_parent(&self, parent: u32) -> &[u32] {
        let (start, end) = (
            self.starts[parent as usize],
            self.starts[parent as usize + 1],
        );
        &self.nodes[start as usize..end as usize]
    }
}

/// The nodes that have at least three children, each like another one near it with its name.
fn parents(
    page: &Digest,
    outline: &Outline,
    shapes: &mut Shapes<'_>,
    children: &ShownChildren,
) -> Vec<u32> {
    let tags = &page.wide().tag;
    let not_list: Vec<bool> = (0..page.tag_count())
        .map(|tag| NOT_LISTS.contains(&page.tag_name(tag)))
        .collect();
    let mut found = Vec::new();
    let mut alike = Vec::new();
    for parent in 0..outline.n() as u32 {
        let nodes = children.of_parent(parent);
        if nodes.len() < LEAST_RECORDS || not_list[tags[parent as usize] as usize] {
            continue;
        }
        alike.clear();
        alike.resize(nodes.len(), false);
        let mut count = 0;
        'search: for distance in 1..=NEAR {
            for at in distance..nodes.len() {
                let (one, other) = (nodes[at - distance], nodes[at]);
                if (alike[at] && alike[at - distance])
                    || tags[one as usize] != tags[other as usize]
                    || shapes.likeness(one, other) < SAME_CLASS
                {
                    continue;
                }
                count += usize::from(!alike[at]) + usize::from(!alike[at - distance]);
                alike[at] = true;
                alike[at - distance] = true;
                if count >= LEAST_RECORDS {
                    break 'search;
                }
            }
        }
        if count >= LEAST_RECORDS {
            found.push(parent);
        }
    }
    if found.len() > MOST_PARENTS {
        found.sort_by_key(|&parent| std::cmp::Reverse(outline.leaf_count(parent)));
        found.truncate(MOST_PARENTS);
        found.sort_unstable();
    }
    found
}
