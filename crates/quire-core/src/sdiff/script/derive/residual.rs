//! The residual: bytes that no node accounts for, and facts about whole pages, where they differ.

use crate::digest::{Digest, Meta};
use crate::page::flags::Flags;
use crate::page::tree::NONE;
use crate::sdiff::Pairs;
use crate::sdiff::script::model::{Change, NodeRef, PageEdit, Raw, StrayEdit};
use crate::sdiff::script::page_facts::Facts;

/// Bytes that no node accounts for and that are not at the partner too.
pub fn strays(old: &Facts, new: &Facts, pairs: &Pairs) -> Vec<StrayEdit> {
    let mut found = Vec::new();
    let verbatim = |facts: &Facts| facts.page.flags().has(Flags::VERBATIM);
    if verbatim(old) || verbatim(new) {
        return found;
    }
    let partner = |partners: &[u32], node: u32| {
        Some(partners[node as usize]).filter(|&partner| partner != NONE)
    };
    for (&(node, at), bytes) in &new.strays {
        let source = partner(&pairs.to_old, node);
        let was = source.and_then(|source| old.strays.get(&(source, at)));
        if was != Some(bytes) {
            found.push(StrayEdit {
                node: NodeRef {
                    old: source,
                    new: Some(node),
                },
                at,
                old: was.cloned().unwrap_or_default(),
                new: bytes.clone(),
            });
        }
    }
    for (&(node, at), bytes) in &old.strays {
        let target = partner(&pairs.to_new, node);
        if target.is_some_and(|target| new.strays.contains_key(&(target, at))) {
            continue;
        }
        found.push(StrayEdit {
            node: NodeRef {
                old: Some(node),
                new: target,
            },
            at,
            old: bytes.clone(),
            new: Vec::new(),
        });
    }
    found
}

/// Facts about the whole page that differ.
pub fn page_edit(old: &Digest, new: &Digest) -> PageEdit {
    fn differ<T: PartialEq>(old: T, new: T) -> Option<Change<T>> {
        (old != new).then_some(Change {
            old: Some(old),
            new: Some(new),
        })
    }
    let text = |get: fn(&Meta) -> &String| differ(get(old.meta()).clone(), get(new.meta()).clone());
    let flags = |page: &Digest| page.flags().names().map(str::to_owned).collect::<Vec<_>>();
    PageEdit {
        encoding: text(|meta| &meta.encoding),
        encoding_reason: text(|meta| &meta.encoding_reason),
        context: text(|meta| &meta.context),
        spacing: differ(
            Raw(old.meta().layout.clone()),
            Raw(new.meta().layout.clone()),
        ),
        flags: differ(flags(old), flags(new)),
    }
}
