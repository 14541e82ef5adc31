//! Detects the layout of a source: the one that predicts most gaps at its start.
//!
//! The small settings are decided by a vote of the gaps that show them. The indent and the style of
//! arrays are tried out: at most four layouts on a bounded sample.

use super::layout::{Arrays, Gap, Indent, Layout, Newline};
use super::predict::{Place, Walk};
use crate::page::vocabulary::{Class, OBJECT};
use crate::parse::draft::{Draft, DraftNode};

/// Number of nodes examined. Enough to see every kind of gap, cheap compared to parsing the source.
const SAMPLE: usize = 2048;

/// Detect the layout of a draft in which the gap of every node is `start..run`.
pub(super) fn layout(source: &[u8], draft: &Draft) -> Layout {
    let (plain, line) = observe(source, draft);
    let Some(line) = line else { return plain };
    let arrays = [
        (Arrays::Lines, line.brackets),
        (Arrays::ScalarsInline, line.brackets),
        (Arrays::Inline, line.objects),
    ];
    let indented = arrays.into_iter().filter_map(|(arrays, depth)| {
        let width = line
            .count
            .checked_div(depth)
            .filter(|width| width * depth == line.count)?;
        plain.indented(line.fill, width, arrays)
    });
    // Of equals the first wins: the simplest explanation comes first.
    indented
        .chain([plain])
        .min_by_key(|layout| misses(source, draft, *layout))
        .unwrap_or(plain)
}

/// The first item found on a line of its own.
struct Line {
    fill: u8,
    count: usize,
    /// Number of brackets around it, and how many of them are objects.
    brackets: usize,
    objects: usize,
}

/// A vote on one setting.
#[derive(Default)]
struct Vote(i32);

impl Vote {
    fn cast(&mut self, yes: bool) {
        self.0 += if yes { 1 } else { -1 };
    }

    fn passed(&self) -> bool {
        self.0 > 0
    }
}

/// Return the settings shown by most gaps, without the indent, and the first line that may show the
/// indent.
fn observe(source: &[u8], draft: &Draft) -> (Layout, Option<Line>) {
    let (mut crlf, mut item, mut lead, mut key) = <(Vote, Vote, Vote, Vote)>::default();
    let (mut pad, mut empty, mut line) = (Vote::default(), Vote::default(), None);
    for (at, node) in draft.iter().enumerate().take(SAMPLE).skip(2) {
        let gap = &source[node.start as usize..node.run as usize];
        let parent = draft.names.class(draft.tag(node.parent as usize));
        if parent == Class::Member {
            lead.cast(gap.first() == Some(&b' '));
            key.cast(gap.last() == Some(&b' '));
        } else if let Some(end) = memchr::memrchr2(b'\n', b'\r', gap) {
            crlf.cast(gap[..=end].ends_with(b"\r\n"));
            if line.is_none() && parent != Class::Document {
                line = around(draft, &node, &gap[end + 1..]);
            }
        } else if node.parent as usize == at - 1 {
            pad.cast(gap == b" ");
        } else {
            item.cast(gap.ends_with(b" "));
        }
    }
    for end in draft.ends.iter().take(SAMPLE) {
        if end.start == draft.nodes[end.node as usize].end {
            empty.cast(source[end.start as usize..end.end as usize - 1] == *b" ");
        }
    }
    // If every item has its own line, only empty brackets show the padding.
    let pad = if pad.0 == 0 { empty } else { pad };
    let layout = Layout {
        indent: Indent::None,
        newline: if crlf.passed() {
            Newline::CrLf
        } else {
            Newline::Lf
        },
        item_gap: u8::from(item.passed()),
        key_lead: u8::from(lead.passed()),
        key_gap: u8::from(key.passed()),
        arrays: Arrays::Lines,
        pad: u8::from(pad.passed()),
    };
    (layout, line)
}

/// Return the line of a node with this indent; `None` if the indent mixes spaces and tabs.
fn around(draft: &Draft, node: &DraftNode, indent: &[u8]) -> Option<Line> {
    let fill = indent.first().copied().unwrap_or(b' ');
    if indent.iter().any(|&byte| byte != fill) {
        return None;
    }
    let mut line = Line {
        fill,
        count: indent.len(),
        brackets: 0,
        objects: 0,
    };
    let mut parent = node.parent;
    while parent != 0 {
        let node = draft.node(parent as usize);
        line.objects += usize::from(node.tag == OBJECT);
        line.brackets += usize::from(draft.names.class(node.tag) != Class::Member);
        parent = node.parent;
    }
    Some(line)
}

/// Count the gaps of the sample that the layout does not predict.
fn misses(source: &[u8], draft: &Draft, layout: Layout) -> usize {
    let mut walk = Walk::new(layout);
    let missed = |(place, gap): (Place, Gap)| {
        let found = match place {
            Place::Node(at) => {
                let node = draft.node(at);
                &source[node.start as usize..node.run as usize]
            }
            Place::End(at) => {
                let end = &draft.ends[at];
                &source[end.start as usize..end.end as usize - 1]
            }
        };
        usize::from(found.len() != gap.len() || !gap.ends(found))
    };
    (0..SAMPLE)
        .map_while(|_| walk.next(draft))
        .map(missed)
        .sum()
}
