//! Columns of the new page, and the digest they are written to.
//!
//! Strings of the old page are taken over once each, however many nodes share them.

use std::collections::HashMap;

use super::predict::Whole;
use crate::base::error::Error;
use crate::base::int_column::{write_ids, write_ints};
use crate::digest::format::{Section, Signatures, Writer};
use crate::page::flags::Flags;
use crate::sdiff::script::model::{Content, NodeEdit, Raw, Row, StrayBytes, Tag};
use crate::sdiff::script::page_facts::{Facts, tag};
use crate::sdiff::script::refuse;

/// A node as the new page has it.
#[derive(Clone, Copy)]
struct Own {
    tag: u32,
    attr: i32,
    content: i32,
    implied: bool,
    end: bool,
}

/// Strings that end up in a heap, each kept once by whoever adds it.
#[derive(Default)]
struct Heap {
    lengths: Vec<u32>,
    bytes: Vec<u8>,
    /// For entries of the old page: where they are now, from 1.
    known: Vec<u32>,
}

impl Heap {
    fn new(old: usize) -> Self {
        Self {
            known: vec![0; old],
            ..Self::default()
        }
    }

    fn add(&mut self, bytes: &[u8]) -> i32 {
        self.bytes.extend_from_slice(bytes);
        self.lengths.push(bytes.len() as u32);
        self.lengths.len() as i32 - 1
    }
}

/// Columns in the making.
pub struct Columns<'a> {
    old: &'a Facts<'a>,
    nodes: Vec<Own>,
    tags: Vec<Tag>,
    tag_ids: HashMap<Tag, u32>,
    /// For tags of the old page: where they are now.
    known_tags: Vec<Option<u32>>,
    runs: Heap,
    contents: Heap,
    modes: Vec<u8>,
}

impl<'a> Columns<'a> {
    /// No node yet.
    pub fn new(old: &'a Facts<'a>) -> Self {
        Self {
            old,
            nodes: Vec::new(),
            tags: Vec::new(),
            tag_ids: HashMap::new(),
            known_tags: vec![None; old.page.tag_count()],
            runs: Heap::new(old.page.attr_count()),
            contents: Heap::new(old.page.content_count()),
            modes: Vec::new(),
        }
    }

    fn tag(&mut self, tag: &Tag) -> u32 {
        if let Some(&id) = self.tag_ids.get(tag) {
            return id;
        }
        let id = self.tags.len() as u32;
        self.tags.push(tag.clone());
        self.tag_ids.insert(tag.clone(), id);
        id
    }

    fn run(&mut self, run: Option<&Raw>) -> i32 {
        match run {
            Some(run) if !run.0.is_empty() => self.runs.add(&run.0),
            _ => -1,
        }
    }

    fn content(&mut self, content: Option<&Content>) -> i32 {
        let Some(content) = content else {
            return -1;
        };
        self.modes.push(content.mode as u8);
        self.contents.add(&content.raw.0)
    }

    /// Add a node that was on the old page, with what changed on it.
    pub fn keep(&mut self, node: usize, edits: &[&NodeEdit]) {
        let page = self.old.page;
        let wide = page.wide();
        let old_tag = wide.tag[node] as usize;
        let renamed = edits
            .iter()
            .find_map(|edit| edit.tag.as_ref()?.new.as_ref());
        let tag = if let Some(new) = renamed {
            self.tag(new)
        } else {
            let known = self.known_tags[old_tag];
            let id = known.unwrap_or_else(|| self.tag(&tag(page, old_tag)));
            self.known_tags[old_tag] = Some(id);
            id
        };
        let attr = match edits.iter().find_map(|edit| edit.attributes.as_ref()) {
            Some(change) => self.run(change.new.as_ref()),
            None => match usize::try_from(wide.attr[node]) {
                Ok(id) if self.runs.known[id] > 0 => self.runs.known[id] as i32 - 1,
                Ok(id) => {
                    let now = self.runs.add(page.attr_run(id));
                    self.runs.known[id] = now as u32 + 1;
                    now
                }
                Err(_) => -1,
            },
        };
        let content = match edits.iter().find_map(|edit| edit.content.as_ref()) {
            Some(change) => self.content(change.new.as_ref()),
            None => match usize::try_from(wide.content[node]) {
                Ok(id) if self.contents.known[id] > 0 => self.contents.known[id] as i32 - 1,
                Ok(id) => {
                    self.modes.push(page.content_mode(id) as u8);
                    let now = self.contents.add(page.content_raw(id));
                    self.contents.known[id] = now as u32 + 1;
                    now
                }
                Err(_) => -1,
            },
        };
        let flag =
            |select: fn(&NodeEdit) -> Option<bool>| edits.iter().find_map(|edit| select(edit));
        let own = Own {
            tag,
            attr,
            content,
            implied: flag(|edit| edit.implied.as_ref()?.new).unwrap_or(self.old.implied[node]),
            end: flag(|edit| edit.end.as_ref()?.new).unwrap_or(self.old.end[node]),
        };
        self.nodes.push(own);
    }

    /// Add a node that is new.
    pub fn insert(&mut self, row: &Row) -> Result<(), Error> {
        let tag = row.tag.as_ref().ok_or_else(|| {
            refuse("an inserted node has no tag; a script without old values cannot be inverted")
        })?;
        let own = Own {
            tag: self.tag(tag),
            attr: self.run(row.attributes.as_ref()),
            content: self.content(row.content.as_ref()),
            implied: row.implied,
            end: row.end,
        };
        self.nodes.push(own);
        Ok(())
    }

    /// Write the digest, without signatures.
    pub fn write(
        &self,
        whole: &Whole,
        source_bytes: u64,
        children: &[u32],
        strays: &[(u32, u32, &StrayBytes)],
        spellings: &HashMap<Tag, (&[u8], &[u8])>,
    ) -> Vec<u8> {
        let listed = |select: fn(&Own) -> bool| -> Vec<u32> {
            (self.nodes.iter().enumerate())
                .filter(|(_, own)| select(own))
                .map(|(at, _)| at as u32)
                .collect()
        };
        let put = |list: &[u32], out: &mut Vec<u8>| write_ints(list.iter().copied(), out);
        let column = |select: fn(&Own) -> i32| self.nodes.iter().map(select).collect::<Vec<i32>>();
        let (runs, contents) = (&self.runs, &self.contents);
        let mut out = Writer::new(self.nodes.len() * 8 + runs.bytes.len() + contents.bytes.len());
        out.section(Section::Children, |o| put(children, o));
        out.section(Section::Tag, |o| {
            write_ints(self.nodes.iter().map(|own| own.tag), o)
        });
        out.section(Section::Attr, |o| {
            write_ids(&column(|own| own.attr), runs.lengths.len(), o)
        });
        out.section(Section::Content, |o| {
            write_ids(&column(|own| own.content), contents.lengths.len(), o)
        });
        out.section(Section::TagInfo, |o| {
            // No end tag is predicted, so every one is listed.
            (self.tags.iter())
                .for_each(|tag| o.extend_from_slice(&[tag.class as u8, tag.namespace as u8, 0]));
            1
        });
        let strings: Vec<&[u8]> = (self.tags.iter())
            .flat_map(|tag| {
                let (start, end) = spellings.get(tag).copied().unwrap_or_default();
                [tag.name.as_bytes(), start, end]
            })
            .collect();
        out.section(Section::TagLengths, |o| {
            write_ints(strings.iter().map(|string| string.len() as u32), o)
        });
        out.section(Section::TagHeap, |o| {
            for string in &strings {
                o.extend_from_slice(string);
            }
            1
        });
        out.section(Section::AttrLengths, |o| put(&runs.lengths, o));
        out.section(Section::ContentLengths, |o| put(&contents.lengths, o));
        out.bytes(Section::ContentModes, &self.modes);
        out.section(Section::Implied, |o| put(&listed(|own| own.implied), o));
        out.section(Section::EndFlipped, |o| put(&listed(|own| own.end), o));
        let ints = |select: fn(&(u32, u32, &StrayBytes)) -> u32, o: &mut Vec<u8>| {
            write_ints(strays.iter().map(select), o)
        };
        out.section(Section::StrayNode, |o| ints(|&(node, _, _)| node, o));
        out.section(Section::StrayDepth, |o| ints(|&(_, depth, _)| depth, o));
        out.section(Section::StrayOffset, |o| {
            ints(|&(_, _, bytes)| bytes.offset, o)
        });
        out.section(Section::StrayLength, |o| {
            ints(|&(_, _, bytes)| bytes.raw.0.len() as u32, o)
        });
        out.section(Section::Meta, |o| {
            whole.meta.write(o);
            1
        });
        out.bytes(Section::AttrHeap, &runs.bytes);
        out.bytes(Section::ContentHeap, &contents.bytes);
        out.section(Section::StrayHeap, |o| {
            for (_, _, bytes) in strays {
                o.extend_from_slice(&bytes.raw.0);
            }
            1
        });
        let flags = Flags(whole.flags.0 & !Flags::VERBATIM.0);
        out.finish(
            whole.kind,
            flags,
            self.nodes.len() as u32,
            source_bytes,
            Signatures::default(),
        )
    }
}
