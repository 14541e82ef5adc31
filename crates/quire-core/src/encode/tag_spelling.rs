//! How a page spells its tags: `<DIV>`, `</TD >`, `<clipPath>`.
//!
//! Most pages spell every tag in one way. For each tag name, the more common spelling is predicted,
//! so a page in capitals costs a few bytes in the tag list instead of one exception per tag. Costs
//! nothing on pages without odd spellings.

use crate::page::vocabulary::{Class, Tag};
use crate::parse::draft::{Draft, EndTag, ODD};

/// The predicted spellings that differ from the name in the tree.
#[derive(Default)]
pub struct Spellings {
    /// Whether there are any.
    pub any: bool,
    /// By tag; empty if there are none.
    start: Vec<Option<Box<[u8]>>>,
    end: Vec<Option<Box<[u8]>>>,
}

/// Votes for one tag: all occurrences, odd ones, the first odd spelling.
#[derive(Clone, Default)]
struct Votes<'a> {
    all: u32,
    odd: u32,
    first_odd: &'a [u8],
}

impl Spellings {
    /// Choose the spellings by a vote over all tags of a page.
    pub fn choose(draft: &Draft, source: &[u8]) -> Self {
        if !draft.any_odd {
            return Self::default();
        }
        let mut starts = vec![Votes::default(); draft.names.len()];
        let mut ends = starts.clone();
        for node in draft.iter() {
            if draft.names.class(node.tag) == Class::Element && node.start < node.run {
                vote(
                    &mut starts[node.tag as usize],
                    node.flags & ODD != 0,
                    &source[node.start as usize + 1..node.run as usize],
                );
            }
        }
        for end in &draft.ends {
            let tag = draft.tag(end.node as usize);
            if draft.names.class(tag) == Class::Element {
                vote(
                    &mut ends[tag as usize],
                    end.odd,
                    &source[end.start as usize..end.end as usize],
                );
            }
        }
        let start = winners(&starts);
        let end = winners(&ends);
        Self {
            any: !start.is_empty() || !end.is_empty(),
            start,
            end,
        }
    }

    /// Return the predicted name in start tags, if it differs from the name in the tree.
    pub fn start(&self, tag: Tag) -> Option<&[u8]> {
        self.start.get(tag as usize)?.as_deref()
    }

    /// Return the predicted end tag, if it differs from `</name>`.
    pub fn end(&self, tag: Tag) -> Option<&[u8]> {
        self.end.get(tag as usize)?.as_deref()
    }

    /// Whether a node's own bytes match the prediction.
    pub fn start_is_predicted(&self, draft: &Draft, node: u32, source: &[u8]) -> bool {
        let node = draft.node(node as usize);
        if draft.names.class(node.tag) != Class::Element {
            return node.flags & ODD == 0;
        }
        let expected = self
            .start(node.tag)
            .unwrap_or_else(|| draft.names.name(node.tag));
        &source[node.start as usize + 1..node.run as usize] == expected
    }

    /// Whether the bytes of an end tag match the prediction.
    pub fn end_is_predicted(&self, draft: &Draft, end: &EndTag, source: &[u8]) -> bool {
        let tag = draft.tag(end.node as usize);
        match self.end(tag) {
            Some(expected) => &source[end.start as usize..end.end as usize] == expected,
            None => !end.odd,
        }
    }
}

fn vote<'a>(votes: &mut Votes<'a>, odd: bool, spelling: &'a [u8]) {
    votes.all += 1;
    if odd {
        if votes.odd == 0 {
            votes.first_odd = spelling;
        }
        votes.odd += 1;
    }
}

fn winners(votes: &[Votes]) -> Vec<Option<Box<[u8]>>> {
    let odd = |v: &Votes| v.odd * 2 > v.all;
    if !votes.iter().any(odd) {
        return Vec::new();
    }
    (votes.iter())
        .map(|v| odd(v).then(|| v.first_odd.into()))
        .collect()
}
