//! Edits: what changed on nodes that are on both pages.
//!
//! Labels say what a reader sees, bytes what the source has. What differs in bytes alone is layout.

use std::collections::BTreeMap;

use super::Derivation;
use crate::digest::Digest;
use crate::page::flags::Flags;
use crate::sdiff::script::model::{
    Action, Change, Content, Layout, NodeEdit, NodeRef, Raw, Tag, TagSpelling,
};
use crate::sdiff::script::page_facts::tag;

impl<'a> Derivation<'a> {
    /// What changed on two partners.
    pub fn edit(&mut self, x: usize, y: usize, found: &mut Vec<(u32, Action)>) {
        let (old, new) = (&self.old.facts, &self.new.facts);
        let (was, is) = (self.old.labels, self.new.labels);
        let (run, next_run) = (old.attributes(x), new.attributes(y));
        let attributes_seen = was.attributes[x] != is.attributes[y];
        let content_seen = was.content[x] != is.content[y];
        let attributes = (run != next_run || attributes_seen).then(|| Change {
            old: Some(Raw(run.to_vec())).filter(|raw| !raw.0.is_empty()),
            new: Some(Raw(next_run.to_vec())).filter(|raw| !raw.0.is_empty()),
        });
        let content = self.content_change(x, y);
        let differ = |old: bool, new: bool| {
            (old != new && !self.verbatim()).then_some(Change {
                old: Some(old),
                new: Some(new),
            })
        };
        let implied = differ(old.implied[x], new.implied[y]);
        let end = differ(old.end[x], new.end[y]);
        let node = NodeRef {
            old: Some(x as u32),
            new: Some(y as u32),
        };
        let (mut beside, mut seen) = (NodeEdit::of(node), NodeEdit::of(node));
        (beside.implied, beside.end) = (implied, end);
        if was.tag[x] == is.tag[y] {
            let part = if attributes_seen {
                &mut seen
            } else {
                &mut beside
            };
            part.attributes = attributes;
            let part = if content_seen { &mut seen } else { &mut beside };
            part.content = content;
            if (attributes_seen || content_seen) && was.blank[x] && is.blank[y] {
                self.layout.push(Layout::Blank(seen));
            } else if attributes_seen || content_seen {
                let tag = new.page.wide().tag[y] as usize;
                seen.name = Some(new.page.tag_name(tag).to_owned());
                found.push((y as u32, Action::Update(seen)));
            }
        } else {
            let tag = Change {
                old: Some(old.tag(x)),
                new: Some(new.tag(y)),
            };
            found.push((
                y as u32,
                Action::Rename(NodeEdit {
                    tag: Some(tag),
                    attributes,
                    content,
                    ..seen
                }),
            ));
        }
        if beside != NodeEdit::of(node) {
            self.layout.push(Layout::Spelling(beside));
        }
    }

    /// What became of the content of two partners, where it is not the same bytes read the same way.
    fn content_change(&self, x: usize, y: usize) -> Option<Change<Content>> {
        let (old, new) = (self.old.facts.page, self.new.facts.page);
        let read = |page: &'a Digest, node: usize| {
            let id = usize::try_from(page.wide().content[node]).ok()?;
            Some((page.content_raw(id), page.content_mode(id)))
        };
        let differs = read(old, x) != read(new, y)
            || self.old.labels.content[x] != self.new.labels.content[y];
        differs.then(|| Change {
            old: self.old.facts.content(x),
            new: self.new.facts.content(y),
        })
    }

    /// Whether a page keeps its source, so that nothing is known about its exceptions.
    fn verbatim(&self) -> bool {
        [self.old, self.new]
            .iter()
            .any(|page| page.facts.page.flags().has(Flags::VERBATIM))
    }

    /// How tags are written, name by name.
    pub fn spellings(&mut self) {
        let old = spelled(self.old.facts.page);
        let new = spelled(self.new.facts.page);
        let gone = old.keys().filter(|tag| !new.contains_key(tag));
        for tag in new.keys().chain(gone) {
            let [was, is] = [&old, &new].map(|all| all.get(tag).cloned().unwrap_or_default());
            if was != is {
                let [start, end] =
                    [(was.0, is.0), (was.1, is.1)].map(|(old, new)| Change { old, new });
                let tag = tag.clone();
                self.layout
                    .push(Layout::Tag(TagSpelling { tag, start, end }));
            }
        }
    }
}

/// The tags that are not written by their names: in start tags, and as end tags.
fn spelled(page: &Digest) -> BTreeMap<Tag, (Option<Raw>, Option<Raw>)> {
    let raw = |bytes: Option<&[u8]>| bytes.map(|bytes| Raw(bytes.to_vec()));
    (0..page.tag_count())
        .map(|id| {
            let spelling = (raw(page.start_spelling(id)), raw(page.end_spelling(id)));
            (tag(page, id), spelling)
        })
        .filter(|(_, spelling)| *spelling != (None, None))
        .collect()
}
