//! Facts of a page by node: what its source has of each, and the bytes that no node accounts for.
//!
//! A digest keeps these as exceptions to what the tree predicts, in the order of the walk that emits
//! it. Here they belong to nodes, so that they go where the nodes go. Linear.

use std::collections::BTreeMap;

use super::model::{Content, Raw, Side, StrayBytes, Tag};
use crate::digest::Digest;
use crate::digest::decode::self_closed;
use crate::digest::format::Section;
use crate::page::flags::Flags;
use crate::page::tree::NONE;

/// Bytes that no node accounts for, by the node they go with.
pub type Strays = BTreeMap<(u32, Side), Vec<StrayBytes>>;

/// A page with its exceptions by node.
pub struct Facts<'a> {
    /// The page.
    pub page: &'a Digest,
    /// Whether each node has no bytes of its own.
    pub implied: Vec<bool>,
    /// Whether the end tag of each node is in the source.
    pub end: Vec<bool>,
    /// Bytes that no node accounts for.
    pub strays: Strays,
}

impl<'a> Facts<'a> {
    /// Read the exceptions of a page. One that keeps its source has none.
    pub fn new(page: &'a Digest) -> Self {
        let n = page.n();
        let mut facts = Self {
            page,
            implied: vec![false; n],
            end: vec![false; n],
            strays: Strays::new(),
        };
        if page.flags().has(Flags::VERBATIM) {
            return facts;
        }
        for node in page.ints(Section::Implied).to_vec() {
            facts.implied[node as usize] = true;
        }
        let wide = page.wide();
        let infos: Vec<_> = (0..page.tag_count()).map(|t| page.tag_info(t)).collect();
        for node in 0..n {
            let info = infos[wide.tag[node] as usize];
            facts.end[node] = info.ends
                && info.class.can_end()
                && !self_closed(info.namespace, || facts.attributes(node));
        }
        for node in page.ints(Section::EndFlipped).to_vec() {
            facts.end[node as usize] ^= true;
        }
        facts.strays = strays(page);
        facts
    }

    /// What a node is.
    pub fn tag(&self, node: usize) -> Tag {
        tag(self.page, self.page.wide().tag[node] as usize)
    }

    /// The attributes of a node as written; empty without any.
    pub fn attributes(&self, node: usize) -> &'a [u8] {
        usize::try_from(self.page.wide().attr[node]).map_or(&[][..], |id| self.page.attr_run(id))
    }

    /// The content of a node as written, and the number of its mode.
    pub fn content(&self, node: usize) -> Option<Content> {
        let id = usize::try_from(self.page.wide().content[node]).ok()?;
        Some(Content {
            raw: Raw(self.page.content_raw(id).to_vec()),
            mode: self.page.content_mode(id),
        })
    }
}

/// An entry of the list of tags.
pub fn tag(page: &Digest, id: usize) -> Tag {
    let info = page.tag_info(id);
    Tag {
        class: info.class,
        namespace: info.namespace,
        name: page.tag_name(id).to_owned(),
    }
}

/// Find the nodes that strays go with.
fn strays(page: &Digest) -> Strays {
    let nodes = page.ints(Section::StrayNode);
    let depths = page.ints(Section::StrayDepth);
    let offsets = page.ints(Section::StrayOffset);
    let lengths = page.ints(Section::StrayLength);
    let mut heap = page.section(Section::StrayHeap);
    let levels = &page.derived().depth;
    // The last node of each depth, up to the node of the stray.
    let mut path: Vec<u32> = Vec::new();
    let mut walked = 0;
    let mut found = Strays::new();
    for at in 0..nodes.len() {
        let node = nodes.get(at);
        let (bytes, rest) = heap.split_at((lengths.get(at) as usize).min(heap.len()));
        heap = rest;
        if node as usize >= page.n() {
            break;
        }
        for (passed, &level) in (levels.iter().enumerate())
            .take(node as usize + 1)
            .skip(walked)
        {
            let level = level as usize;
            if path.len() <= level {
                path.resize(level + 1, NONE);
            }
            path[level] = passed as u32;
        }
        walked = walked.max(node as usize + 1);
        let depth = depths.get(at);
        let key = if depth >= levels[node as usize] {
            (node, Side::Open)
        } else {
            (path[depth as usize + 1], Side::Close)
        };
        found.entry(key).or_default().push(StrayBytes {
            offset: offsets.get(at),
            raw: Raw(bytes.to_vec()),
        });
    }
    found
}
