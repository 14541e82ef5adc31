//! The text of a page as lines, each with the nodes whose words it contains.

use super::{Reader, Span};
use crate::digest::Digest;
use crate::page::kind::Kind;

/// One line of a page's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The text, without a line end.
    pub text: String,
    /// The nodes whose words are on it, in document order.
    pub nodes: Vec<u32>,
}

/// Return the text of a page as lines: those of [`super::text`], without empty ones.
///
/// Empty lines of a plain text are kept. Linear in the text.
///
/// ```
/// use quire_core::{Options, encode};
/// use quire_core::text::read_lines;
///
/// let page = encode(b"<p>Fish &amp; <b>chips</b><p>9.50", &Options::default()).unwrap();
/// let lines = read_lines(&page);
/// assert_eq!(lines[0].text, "Fish & chips");
/// assert_eq!(lines[0].nodes, [5, 7]);
/// assert_eq!(lines[1].nodes, [9]);
/// ```
#[must_use]
pub fn read_lines(page: &Digest) -> Vec<Line> {
    let mut spans: Vec<Span> = Vec::new();
    let text = Reader::new(page).text_heeding(0, |span| spans.push(span));
    let keeps_empty = page.kind() == Kind::Text;
    let mut lines = Vec::new();
    let mut first = 0; // the first span that may extend into the line
    let mut start = 0;
    for line in text.split('\n') {
        let end = start + line.len();
        while spans.get(first).is_some_and(|span| span.end <= start) {
            first += 1;
        }
        let nodes = (spans[first..].iter())
            .take_while(|span| span.start < end)
            .filter(|span| {
                // The break before words does not count as words: there must be more on this line.
                let (from, until) = (span.start.max(start), span.end.min(end));
                from < until && !text[from..until].trim_ascii().is_empty()
            })
            .map(|span| span.node)
            .collect::<Vec<_>>();
        if keeps_empty || !line.trim_ascii().is_empty() {
            lines.push(Line {
                text: line.to_owned(),
                nodes,
            });
        }
        start = end + 1;
    }
    // A text that ends its last line does not start another one.
    if keeps_empty && text.ends_with('\n') {
        lines.pop();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};

    fn lines(source: &str) -> Vec<(String, Vec<u32>)> {
        let page = encode(source.as_bytes(), &Options::default()).unwrap();
        (read_lines(&page).into_iter())
            .map(|line| (line.text, line.nodes))
            .collect()
    }

    #[test]
    fn a_node_may_be_on_several_lines() {
        // document, html, head, body, pre, text
        let expected = [("a".to_owned(), vec![5]), ("b".to_owned(), vec![5])];
        assert_eq!(lines("<pre>a\n\nb</pre>"), expected);
    }

    #[test]
    fn cells_of_a_row_share_a_line() {
        let found = lines("<table><tr><td>Fish<td>9.50</table>");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, "Fish\t9.50");
        assert_eq!(found[0].1.len(), 2);
    }

    #[test]
    fn keys_and_values_of_json_share_a_line() {
        // document, object, member, string
        assert_eq!(lines("{\"a\": \"b\"}"), [("a: b".to_owned(), vec![2, 3])]);
    }

    #[test]
    fn empty_lines_of_a_text_stay() {
        let found = lines("one\n\nthree\n");
        let texts: Vec<_> = found.iter().map(|line| line.0.as_str()).collect();
        assert_eq!(texts, ["one", "", "three"]);
    }
}
