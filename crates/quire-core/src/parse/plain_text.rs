//! Plain text as paragraphs and lines, and sources without a known structure.
//!
//! A line includes its end (LF, CRLF or CR), so the lines of a text are its bytes. Lines that
//! contain only white space separate paragraphs; a run of them is one `#blank` leaf between the
//! paragraphs. A byte order mark belongs to no node, so the first line compares equal with and
//! without it.
//!
//! Other Unicode line ends (U+0085, U+2028) are ordinary characters, as in editors and `diff`. One
//! pass; lines may have any length.

use memchr::memchr2_iter;

use crate::page::text_mode::Mode;
use crate::page::vocabulary::{BLANK, BYTES, LINE, PARAGRAPH};
use crate::parse::draft::{Draft, DraftNode, IMPLIED};

/// Parse a plain text.
///
/// ```
/// let draft = quire_core::plain_text::parse(b"one\ntwo\n\nthree");
/// let names = draft.iter().map(|node| draft.names.name(node.tag));
/// let names: Vec<_> = names.map(|name| std::str::from_utf8(name).unwrap()).collect();
/// assert_eq!(
///     names,
///     ["#document", "#paragraph", "#line", "#line", "#blank", "#paragraph", "#line"]
/// );
/// ```
#[must_use]
pub fn parse(source: &[u8]) -> Draft {
    let mut draft = Draft::new(source.len());
    let mut start = if source.starts_with(b"\xEF\xBB\xBF") {
        3
    } else {
        0
    };
    let mut open = Open::Nothing;
    for at in memchr2_iter(b'\n', b'\r', source) {
        // The LF of a CRLF belongs to the line that its CR ends.
        if source[at] == b'\r' && source.get(at + 1) == Some(&b'\n') {
            continue;
        }
        line(&mut draft, &mut open, source, start, at + 1);
        start = at + 1;
    }
    line(&mut draft, &mut open, source, start, source.len());
    draft
}

/// Make one leaf of a source without structure.
///
/// ```
/// assert_eq!(quire_core::plain_text::parse_bytes(b"\x00\x01").nodes.len(), 2);
/// assert_eq!(quire_core::plain_text::parse_bytes(b"").nodes.len(), 1);
/// ```
#[must_use]
pub fn parse_bytes(source: &[u8]) -> Draft {
    let mut draft = Draft::new(0);
    if !source.is_empty() {
        draft.leaf(0, BYTES, 0, source.len() as u32, Mode::Plain);
    }
    draft
}

/// The node that the next line may continue.
#[derive(Clone, Copy)]
enum Open {
    Nothing,
    Paragraph(u32),
    Blank(u32),
}

fn line(draft: &mut Draft, open: &mut Open, source: &[u8], start: usize, end: usize) {
    if start == end {
        return;
    }
    let blank = source[start..end]
        .iter()
        .all(|byte| b" \t\n\r\x0B\x0C".contains(byte));
    let (from, until) = (start as u32, end as u32);
    *open = match *open {
        Open::Blank(node) if blank => {
            draft.nodes[node as usize].end = until;
            *open
        }
        _ if blank => Open::Blank(draft.leaf(0, BLANK, from, until, Mode::Plain)),
        Open::Paragraph(node) => {
            draft.leaf(node, LINE, from, until, Mode::Plain);
            *open
        }
        _ => {
            let node = draft.push(DraftNode {
                tag: PARAGRAPH,
                parent: 0,
                start: from,
                run: from,
                end: from,
                flags: IMPLIED,
                mode: Mode::Plain,
            });
            draft.leaf(node, LINE, from, until, Mode::Plain);
            Open::Paragraph(node)
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::vocabulary::Tag;
    use crate::parse::json::oracle::Random;

    fn leaves(source: &[u8]) -> Vec<(Tag, u32, &[u8])> {
        let draft = parse(source);
        let nodes = draft
            .iter()
            .skip(1)
            .filter(|node| node.flags & IMPLIED == 0);
        nodes
            .map(|node| {
                (
                    node.tag,
                    node.parent,
                    &source[node.start as usize..node.end as usize],
                )
            })
            .collect()
    }

    #[test]
    fn lines_keep_their_ends_and_blank_ones_are_one_run() {
        let source = b"a\r\nb\rc\n \n\t\r\n\rd";
        let expected: [(Tag, u32, &[u8]); 5] = [
            (LINE, 1, b"a\r\n"),
            (LINE, 1, b"b\r"),
            (LINE, 1, b"c\n"),
            (BLANK, 0, b" \n\t\r\n\r"),
            (LINE, 6, b"d"),
        ];
        assert_eq!(leaves(source), expected);
    }

    #[test]
    fn edges_of_a_text_are_plain() {
        assert_eq!(leaves(b""), []);
        assert_eq!(leaves(b"\n"), [(BLANK, 0, &b"\n"[..])]);
        assert_eq!(leaves(b"  "), [(BLANK, 0, &b"  "[..])]);
        assert_eq!(leaves(b"\xEF\xBB\xBFa"), [(LINE, 1, &b"a"[..])]);
    }

    // Few different characters, so that blank lines and every mix of line ends are frequent.
    #[test]
    fn leaves_are_the_source_and_lines_are_what_splitting_gives() {
        let mut random = Random(0x7E87);
        for _ in 0..3000 {
            let source: Vec<u8> = (0..random.below(40))
                .map(|_| b"ab \n\r\n\t\xFF"[random.below(8)])
                .collect();
            let found = leaves(&source);
            let joined: Vec<u8> = found.iter().flat_map(|leaf| leaf.2).copied().collect();
            assert_eq!(joined, source);
            let text = String::from_utf8_lossy(&source)
                .replace("\r\n", "\n")
                .replace('\r', "\n");
            let lines = text
                .split('\n')
                .filter(|line| !line.trim_matches([' ', '\t']).is_empty());
            assert_eq!(
                found.iter().filter(|leaf| leaf.0 == LINE).count(),
                lines.count()
            );
            assert!(
                found
                    .windows(2)
                    .all(|pair| pair[0].0 == LINE || pair[1].0 == LINE)
            );
        }
    }
}
