//! The text of a page as passages: runs of words that no block, break or cell interrupts.
//!
//! A passage is a unit of reading: a heading, a paragraph with its links and emphasis, an entry of
//! a menu, a cell of a table, a preformatted text. Each visible text is in exactly one.

use super::{Reader, Span};
use crate::base::hash::hash64;
use crate::digest::Digest;

/// A passage of a page's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The hash of its text; equal texts have equal hashes on every page.
    pub hash: u64,
    /// Length of its text in bytes.
    pub bytes: u32,
    /// How many of the nodes are before the end of it.
    pub end: u32,
}

/// Return the nodes with words in document order, and the passages they are in.
///
/// Linear in the text.
///
/// ```
/// use quire_core::{Options, encode};
/// use quire_core::text::passages;
///
/// let page = encode(b"<p>Fish &amp; <b>chips</b><p>9.50", &Options::default()).unwrap();
/// let (nodes, found) = passages(&page);
/// assert_eq!(nodes, [5, 7, 9]);
/// assert_eq!(found.iter().map(|one| (one.bytes, one.end)).collect::<Vec<_>>(), [(12, 2), (4, 3)]);
/// ```
#[must_use]
pub fn passages(page: &Digest) -> (Vec<u32>, Vec<Passage>) {
    let mut spans: Vec<Span> = Vec::new();
    let text = Reader::new(page).text_heeding(0, |span| spans.push(span));
    let mut nodes = Vec::new();
    let mut found: Vec<Passage> = Vec::new();
    let (mut first, mut last) = (0, 0); // where the text of the passage begins and ends
    let mut blank = None; // texts without words since then
    for span in spans {
        // White space at the end of a text that keeps it was cut off.
        let (start, end) = (span.start.min(text.len()), span.end.min(text.len()));
        let (from, continues) = blank.unwrap_or((start, span.continues));
        if text[start..end].trim_ascii().is_empty() {
            blank = Some((from, continues));
            continue;
        }
        blank = None;
        if !nodes.is_empty() && !continues && begins(&text, from) {
            found.push(passage(&text[first..last], nodes.len()));
            first = from;
        }
        nodes.push(span.node);
        last = end;
    }
    if !nodes.is_empty() {
        found.push(passage(&text[first..last], nodes.len()));
    }
    (nodes, found)
}

fn passage(text: &str, end: usize) -> Passage {
    let words = text.trim_ascii();
    Passage {
        hash: hash64(words.as_bytes()),
        bytes: words.len() as u32,
        end: end as u32,
    }
}

/// Whether the words at this place of a text begin a line or a cell.
fn begins(text: &str, start: usize) -> bool {
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\t');
    let rest = &text.as_bytes()[start..];
    let blank = rest.len() - rest.trim_ascii_start().len();
    start == 0 || rest[..blank].iter().any(is_break) || text.as_bytes()[start - 1] == b'\n'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};

    fn read(source: &str) -> Vec<Vec<u32>> {
        let page = encode(source.as_bytes(), &Options::default()).unwrap();
        let (nodes, found) = passages(&page);
        let mut start = 0;
        (found.iter())
            .map(|one| {
                nodes[std::mem::replace(&mut start, one.end as usize)..one.end as usize].to_vec()
            })
            .collect()
    }

    #[test]
    fn inline_elements_do_not_end_a_passage() {
        assert_eq!(read("<p>a <a href=x>b</a> <i>c</i>d"), [vec![5, 7, 10, 11]]);
    }

    #[test]
    fn blocks_breaks_and_cells_do() {
        assert_eq!(read("a<br>b<div>c</div>d").len(), 4);
        assert_eq!(read("<table><tr><td>a<td><p>b</table>").len(), 2);
        assert_eq!(read("<pre>a\n<b>b\n</b>\nc\n</pre>d").len(), 2);
        assert_eq!(read("<pre>a\n</pre><pre>b</pre>").len(), 2);
        assert_eq!(read("<p>a</p><pre> <b>b</b></pre>").len(), 2);
        assert_eq!(read("<pre>a <b> </b>b</pre>").len(), 1);
    }

    #[test]
    fn pages_without_words_have_none() {
        assert_eq!(read(" <p> <pre>\n </pre>"), Vec::<Vec<u32>>::new());
        assert_eq!(read("\0\u{1}"), Vec::<Vec<u32>>::new());
    }
}
