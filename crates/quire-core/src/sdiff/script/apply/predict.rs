//! Predicting: the source of the new page, from the old page and the layers of the script.
//!
//! Makes the columns of the new page and lets the one walk that emits digests write them
//! ([`crate::digest::decode`]). Columns made from a script are checked like those of a file. Linear.

use std::collections::HashMap;

use super::columns::Columns;
use super::shape::Shape;
use crate::base::error::Error;
use crate::digest::decode::decode;
use crate::digest::{Digest, Meta, Verify};
use crate::page::flags::Flags;
use crate::page::kind::Kind;
use crate::page::tree::derive;
use crate::sdiff::script::model::{
    Action, Change, Layout, NodeEdit, NodeRef, PageEdit, Raw, Script, Side, StrayBytes, Tag,
    TagSpelling,
};
use crate::sdiff::script::page_facts::{Facts, tag};
use crate::sdiff::script::refuse;

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
            let kind = crate::base::error::shortened(&script.new.kind);
            refuse(format!(
                "unknown kind {kind:?} of the new page in the script"
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
                    let name = crate::base::error::shortened(name);
                    refuse(format!("unknown flag {name:?} in the script"))
                })?;
                flags.set(*flag);
            }
        }
        Ok(Self { kind, flags, meta })
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
    for &node in &shape.order {
        match (node as usize).checked_sub(shape.old_count) {
            None => {
                let edits = edits.get(&node).map_or(&[][..], Vec::as_slice);
                columns.keep(node as usize, edits);
            }
            Some(at) => columns.insert(shape.inserted[at])?,
        }
    }
    let strays = strays(script, &facts, &shape)?;
    let spellings = spellings(script, old);
    let buffer = columns.write(
        whole,
        script.new.bytes,
        &shape.children,
        &strays,
        &spellings,
    );
    Digest::open(Box::new(buffer), Verify::Columns)
        .map_err(|error| refuse(format!("the script does not give a valid page: {error}")))
}

/// The bytes of that page.
pub fn source(script: &Script, old: &Digest, whole: &Whole) -> Result<Vec<u8>, Error> {
    let page = predict(script, old, whole)?;
    decode(&page)
        .map_err(|error| refuse(format!("the script does not give a valid source: {error}")))
}
