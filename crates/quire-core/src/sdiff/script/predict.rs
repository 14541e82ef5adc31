//! Predicting: the source of the new page, from the old page and the layers of the script.
//!
//! Makes the columns of the new page and lets the one walk that emits digests write them
//! ([`crate::emit`]). Columns made from a script are checked like those of a file. Linear.

use std::collections::HashMap;

use super::facts::{Facts, tag};
use super::model::{
    Action, Change, Content, Layout, NodeEdit, NodeRef, PageEdit, Script, Side, StrayBytes, Tag,
    TagSpelling,
};
use super::raw::Raw;
use super::refuse;
use super::shape::Shape;
use crate::digest::{Digest, Meta, Verify};
use crate::encode::decode;
use crate::error::Error;
use crate::flags::Flags;
use crate::format::{Section, Signatures, Writer};
use crate::ints::{write_ids, write_ints};
use crate::sniff::Kind;
use crate::tree::derive;

/// What is known about the new page as a whole.
pub struct Whole {
    /// Its kind.
    pub kind: Kind,
    /// Its flags.
    pub flags: Flags,
    /// Other facts.
    pub meta: Meta,
}

impl Whole {
    /// The facts of the old page with those that differ.
    pub fn new(script: &Script, old: &Digest) -> Result<Self, Error> {
        fn renew<T: Clone>(value: &mut T, change: Option<&Change<T>>) {
            if let Some(new) = change.and_then(|change| change.new.as_ref()) {
                value.clone_from(new);
            }
        }
        let kind = Kind::from_name(&script.new.kind).ok_or_else(|| {
            let kind = crate::error::shortened(&script.new.kind);
            refuse(format!(
                "script makes a page of kind {kind:?}, which is unknown"
            ))
        })?;
        let mut meta = old.meta().clone();
        let PageEdit {
            encoding,
            encoding_reason,
            context,
            spacing,
            flags: named,
        } = &script.residual.page;
        renew(&mut meta.encoding, encoding.as_ref());
        renew(&mut meta.encoding_reason, encoding_reason.as_ref());
        renew(&mut meta.context, context.as_ref());
        let mut layout = Raw(std::mem::take(&mut meta.layout));
        renew(&mut layout, spacing.as_ref());
        meta.layout = layout.0;
        let mut flags = old.flags();
        if let Some(names) = named.as_ref().and_then(|change| change.new.as_ref()) {
            flags = Flags::default();
            for name in names {
                let known = Flags::NAMES.iter().find(|(_, known)| known == name);
                let (flag, _) = known.ok_or_else(|| {
                    let name = crate::error::shortened(name);
                    refuse(format!("script sets the flag {name:?}, which is unknown"))
                })?;
                flags.set(*flag);
            }
        }
        Ok(Self { kind, flags, meta })
    }
}

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
struct Columns<'a> {
    old: &'a Facts<'a>,
    tags: Vec<Tag>,
    tag_ids: HashMap<Tag, u32>,
    /// For tags of the old page: where they are now.
    known_tags: Vec<Option<u32>>,
    runs: Heap,
    contents: Heap,
    modes: Vec<u8>,
}

impl<'a> Columns<'a> {
    fn new(old: &'a Facts<'a>) -> Self {
        Self {
            old,
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

    /// A node that was on the old page, with what changed on it.
    fn kept(&mut self, node: usize, edits: &[&NodeEdit]) -> Own {
        let page = self.old.page;
        let wide = page.wide();
        let old_tag = wide.tag[node] as usize;
        let changed = |select: fn(&NodeEdit) -> bool| edits.iter().rev().find(|edit| select(edit));
        let renamed =
            changed(|edit| edit.tag.is_some()).and_then(|edit| edit.tag.as_ref()?.new.as_ref());
        let tag = if let Some(new) = renamed {
            self.tag(new)
        } else {
            let known = self.known_tags[old_tag];
            let id = known.unwrap_or_else(|| self.tag(&tag(page, old_tag)));
            self.known_tags[old_tag] = Some(id);
            id
        };
        let attr = match changed(|edit| edit.attributes.is_some())
            .and_then(|edit| edit.attributes.as_ref())
        {
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
        let content =
            match changed(|edit| edit.content.is_some()).and_then(|edit| edit.content.as_ref()) {
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
        Own {
            tag,
            attr,
            content,
            implied: flag(|edit| edit.implied.as_ref()?.new).unwrap_or(self.old.implied[node]),
            end: flag(|edit| edit.end.as_ref()?.new).unwrap_or(self.old.end[node]),
        }
    }
}

/// What changed on nodes that stay, by their number on the old page.
fn edits(script: &Script) -> HashMap<u32, Vec<&NodeEdit>> {
    let actions = script.actions.iter().filter_map(|action| match action {
        Action::Update(edit) | Action::Rename(edit) => Some(edit),
        _ => None,
    });
    let layout = script.layout.iter().filter_map(|layout| match layout {
        Layout::Blank(edit) | Layout::Spelling(edit) => Some(edit),
        _ => None,
    });
    let mut found: HashMap<u32, Vec<&NodeEdit>> = HashMap::new();
    for edit in actions.chain(layout) {
        if let Some(node) = edit.node.old {
            found.entry(node).or_default().push(edit);
        }
    }
    found
}

/// Bytes of the new page that no node accounts for, in the order of the walk.
fn strays<'a>(
    script: &'a Script,
    old: &'a Facts,
    shape: &Shape,
) -> Result<Vec<(u32, u32, &'a StrayBytes)>, Error> {
    let tree = derive(&shape.children)?;
    let places = shape.pairs().to_new;
    let mut changed: HashMap<(NodeRef, Side), &[StrayBytes]> = HashMap::new();
    for edit in &script.residual.strays {
        let node = NodeRef {
            old: edit.node.old,
            // A node of the old page is known by its number there.
            new: edit.node.new.filter(|_| edit.node.old.is_none()),
        };
        changed.insert((node, edit.at), &edit.new);
    }
    let mut found = Vec::new();
    let mut put = |node: usize, at: Side, bytes: &'a [StrayBytes]| {
        let (last, depth) = match at {
            Side::Open => (node as u32, tree.depth[node]),
            Side::Close if node == 0 => return,
            Side::Close => (node as u32 + tree.size[node] - 1, tree.depth[node] - 1),
        };
        found.extend(bytes.iter().map(|bytes| (last, depth, bytes)));
    };
    for (&(node, at), bytes) in &old.strays {
        let key = NodeRef {
            old: Some(node),
            new: None,
        };
        let place = places[node as usize] as usize;
        if place < shape.order.len() && !changed.contains_key(&(key, at)) {
            put(place, at, bytes);
        }
    }
    for edit in &script.residual.strays {
        let place = match edit.node {
            NodeRef { old: Some(old), .. } => places.get(old as usize).copied(),
            NodeRef { new, .. } => new,
        };
        let place = place.map_or(usize::MAX, |place| place as usize);
        if place < shape.order.len() {
            put(place, edit.at, &edit.new);
        }
    }
    found.sort_by_key(|&(node, depth, _)| (node, u32::MAX - depth));
    Ok(found)
}

/// How tags are written: as the script says, else as on the old page.
fn spellings<'a>(script: &'a Script, old: &'a Digest) -> HashMap<Tag, (&'a [u8], &'a [u8])> {
    let mut found = HashMap::new();
    for id in 0..old.tag_count() {
        let spelling = (
            old.start_spelling(id).unwrap_or_default(),
            old.end_spelling(id).unwrap_or_default(),
        );
        found.insert(tag(old, id), spelling);
    }
    for layout in &script.layout {
        if let Layout::Tag(TagSpelling { tag, start, end }) = layout {
            let new = |change: &'a Change<Raw>| change.new.as_ref().map_or(&[][..], |raw| &raw.0);
            found.insert(tag.clone(), (new(start), new(end)));
        }
    }
    found
}

/// The page that the layers of a script make of the old page. It has no signatures.
pub fn predict(script: &Script, old: &Digest, whole: &Whole) -> Result<Digest, Error> {
    let facts = Facts::new(old);
    let shape = Shape::new(script, old)?;
    let edits = edits(script);
    let mut columns = Columns::new(&facts);
    let nodes: Vec<Own> = (shape.order.iter())
        .map(|&node| match (node as usize).checked_sub(shape.old_count) {
            None => {
                let edits = edits.get(&node).map_or(&[][..], Vec::as_slice);
                Ok(columns.kept(node as usize, edits))
            }
            Some(at) => {
                let row = shape.inserted[at];
                let tag = row.tag.as_ref().ok_or_else(|| {
                    refuse(
                        "an inserted node has no tag; a script without old values has no way back",
                    )
                })?;
                Ok(Own {
                    tag: columns.tag(tag),
                    attr: columns.run(row.attributes.as_ref()),
                    content: columns.content(row.content.as_ref()),
                    implied: row.implied,
                    end: row.end,
                })
            }
        })
        .collect::<Result<_, Error>>()?;
    let strays = strays(script, &facts, &shape)?;
    let spellings = spellings(script, old);
    let buffer = write(script, whole, &shape, &columns, &nodes, &strays, &spellings);
    Digest::open(Box::new(buffer), Verify::Columns)
        .map_err(|error| refuse(format!("script does not describe a page: {error}")))
}

/// The bytes of that page.
pub fn source(script: &Script, old: &Digest, whole: &Whole) -> Result<Vec<u8>, Error> {
    let page = predict(script, old, whole)?;
    decode(&page).map_err(|error| refuse(format!("script does not give a source: {error}")))
}

fn write(
    script: &Script,
    whole: &Whole,
    shape: &Shape,
    columns: &Columns,
    nodes: &[Own],
    strays: &[(u32, u32, &StrayBytes)],
    spellings: &HashMap<Tag, (&[u8], &[u8])>,
) -> Vec<u8> {
    let listed = |select: fn(&Own) -> bool| -> Vec<u32> {
        (nodes.iter().enumerate())
            .filter(|(_, own)| select(own))
            .map(|(at, _)| at as u32)
            .collect()
    };
    let put = |list: &[u32], out: &mut Vec<u8>| write_ints(list.iter().copied(), out);
    let column = |select: fn(&Own) -> i32| nodes.iter().map(select).collect::<Vec<i32>>();
    let (runs, contents) = (&columns.runs, &columns.contents);
    let mut out = Writer::new(nodes.len() * 8 + runs.bytes.len() + contents.bytes.len());
    out.section(Section::Children, |o| put(&shape.children, o));
    out.section(Section::Tag, |o| {
        write_ints(nodes.iter().map(|own| own.tag), o)
    });
    out.section(Section::Attr, |o| {
        write_ids(&column(|own| own.attr), runs.lengths.len(), o)
    });
    out.section(Section::Content, |o| {
        write_ids(&column(|own| own.content), contents.lengths.len(), o)
    });
    out.section(Section::TagInfo, |o| {
        // No end tag is predicted, so every one is listed.
        (columns.tags.iter())
            .for_each(|tag| o.extend_from_slice(&[tag.class as u8, tag.namespace as u8, 0]));
        1
    });
    let strings: Vec<&[u8]> = (columns.tags.iter())
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
    out.bytes(Section::ContentModes, &columns.modes);
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
        nodes.len() as u32,
        script.new.bytes,
        Signatures::default(),
    )
}
