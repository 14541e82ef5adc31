//! JSON: objects, arrays and members as nodes, scalars as content.
//!
//! Strict RFC 8259 (no comments, no trailing commas, no `NaN`), with three exceptions: a byte order
//! mark is skipped, bytes inside strings need not be UTF-8 (they are kept), and several values on
//! lines of their own (`.jsonl`, NDJSON) become several children of `#document`. Duplicate keys
//! stay as written.
//!
//! Spacing is predicted, not stored. The usual styles of JSON differ in a few settings, held in a
//! [`Layout`]; from it the [`Predictor`] derives the bytes before every token. The parser marks a
//! node `ODD` by asking the same predictor, so the code that writes the bytes back cannot disagree.
//!
//! The spans of a [`DraftNode`](crate::parse::draft::DraftNode) have a different meaning here than
//! in markup:
//!
//! * `start .. run` is the gap before the node (comma or colon, line end, indent);
//! * `run .. end` is its token: `{`, `[`, `"key"` or the scalar. **The content of
//!   a scalar is `source[run..end]`**, not `start..end`;
//! * the end tag of an object or array is the gap before its bracket and the bracket;
//! * white space before a predicted gap belongs to no node, so a stray space costs one byte instead
//!   of a second copy of the token after it.
//!
//! Linear in the source, no recursion: nesting is kept on an explicit stack.

mod detect;
mod layout;
mod parser;
mod predict;
mod token;

#[cfg(test)]
pub(crate) mod oracle;
#[cfg(test)]
mod tests;

pub use layout::{Arrays, Gap, Indent, Layout, Newline, gap_before, gap_close};
pub use predict::{Predictor, all_scalars, closing, write_token};

use crate::base::error::{Error, position};
use crate::page::flags::Flags;
use crate::parse::draft::Draft;

/// Parse a JSON source, or a sequence of JSON values on lines of their own.
///
/// With `recover` it never fails: everything before the fault becomes the tree, the rest belongs to
/// no node, and the draft is flagged [`RECOVERED`](Flags::RECOVERED). A member always has its
/// value: a key whose value cannot be parsed is not a node.
///
/// ```
/// use quire_core::json::parse;
///
/// let (draft, layout) = parse(br#"{"a": [1, 2]}"#, false).unwrap();
/// assert_eq!(draft.nodes.len(), 6); // document, object, member, array, two numbers
/// assert!(!draft.any_odd);
/// assert_eq!((layout.item_gap, layout.key_gap), (1, 1));
///
/// let error = parse(b"[1,\n2,]", false).err().unwrap();
/// assert_eq!(
///     error.to_string(),
///     "not well-formed json: found ']', expected a value (line 2, column 3)"
/// );
/// ```
pub fn parse(source: &[u8], recover: bool) -> Result<(Draft, Layout), Error> {
    let (mut draft, fault) = parser::read(source);
    if let Some(fault) = fault {
        if !recover {
            let (line, column) = position(source, fault.offset);
            return Err(Error::Syntax {
                kind: "json",
                message: fault.message(source),
                offset: fault.offset,
                line,
                column,
            });
        }
        draft.flags.set(Flags::RECOVERED);
    }
    let layout = detect::layout(source, &draft);
    predict::mark(source, &mut draft, layout);
    Ok((draft, layout))
}

/// Whether the source parses without an error. Keeps no columns after the call.
#[must_use]
pub fn is_json(source: &[u8]) -> bool {
    parser::read(source).1.is_none()
}
