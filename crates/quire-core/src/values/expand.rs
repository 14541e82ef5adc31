//! Line ends, NUL and character references: the three things in which a text differs from its
//! source.
//!
//! [`next_change`] finds the next of them, with one vectorised search per stretch of plain text;
//! [`expand`] copies the stretches and replaces the rest. A text without any of them is borrowed.

use std::borrow::Cow;

use super::references::{self, With};
use super::scan;

/// Which character references are decoded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum References {
    /// None: `&lt;` is four characters.
    Ignored,
    /// Those of HTML text.
    Html,
    /// Those of an HTML attribute value.
    HtmlAttribute,
    /// Numbers and the five names of XML.
    Xml,
}

/// How U+0000 is treated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nul {
    /// It stays.
    Kept,
    /// It is removed.
    Dropped,
    /// It becomes U+FFFD.
    Replaced,
}

/// How a text is decoded. CR and CRLF always become a line end.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// Which character references are decoded.
    pub references: References,
    /// How U+0000 is treated.
    pub nul: Nul,
}

/// A position where the text differs from the source.
pub(super) struct Change {
    /// Where it begins in the source.
    pub start: usize,
    /// Where the source continues.
    pub end: usize,
    /// The replacement.
    pub with: With,
}

/// Return the first change at or after `from`.
pub(super) fn next_change(source: &[u8], mut from: usize, rules: Rules) -> Option<Change> {
    while let Some(start) = candidate(&source[from..], rules).map(|at| from + at) {
        let after = &source[start + 1..];
        let found = match source[start] {
            b'\r' => Some((With::Text("\n"), usize::from(after.first() == Some(&b'\n')))),
            0 if rules.nul == Nul::Dropped => Some((With::Text(""), 0)),
            0 => Some((With::Char(char::REPLACEMENT_CHARACTER), 0)),
            _ => match rules.references {
                References::Ignored => None,
                References::Html => references::html(after, false),
                References::HtmlAttribute => references::html(after, true),
                References::Xml => references::xml(after),
            },
        };
        if let Some((with, used)) = found {
            return Some(Change {
                start,
                end: start + 1 + used,
                with,
            });
        }
        from = start + 1;
    }
    None
}

/// Return the next byte that can start a change.
fn candidate(source: &[u8], rules: Rules) -> Option<usize> {
    match (
        rules.references == References::Ignored,
        rules.nul == Nul::Kept,
    ) {
        (true, true) => memchr::memchr(b'\r', source),
        (true, false) => memchr::memchr2(b'\r', 0, source),
        (false, true) => memchr::memchr2(b'&', b'\r', source),
        // The most common one: values of attributes, which are short.
        (false, false) => {
            let found = scan::find_special(source, 0);
            (found < source.len()).then_some(found)
        }
    }
}

/// Decode a text; borrowed if nothing changes.
pub(super) fn expand(source: &str, rules: Rules) -> Cow<'_, str> {
    let Some(first) = next_change(source.as_bytes(), 0, rules) else {
        return Cow::Borrowed(source);
    };
    let mut out = String::with_capacity(source.len());
    expand_from(source, first, rules, &mut out);
    Cow::Owned(out)
}

/// Append a decoded text.
pub(super) fn expand_into(source: &str, rules: Rules, out: &mut String) {
    match next_change(source.as_bytes(), 0, rules) {
        Some(first) => expand_from(source, first, rules, out),
        None => out.push_str(source),
    }
}

/// Append a decoded text that is known to be UTF-8; it is not checked again.
pub(super) fn expand_bytes(source: &[u8], rules: Rules, out: &mut Vec<u8>) {
    let mut from = 0;
    while let Some(change) = next_change(source, from, rules) {
        out.extend_from_slice(&source[from..change.start]);
        change.with.push_bytes(out);
        from = change.end;
    }
    out.extend_from_slice(&source[from..]);
}

fn expand_from(source: &str, first: Change, rules: Rules, out: &mut String) {
    let mut from = 0;
    let mut next = Some(first);
    while let Some(change) = next {
        out.push_str(&source[from..change.start]);
        change.with.push(out);
        from = change.end;
        next = next_change(source.as_bytes(), from, rules);
    }
    out.push_str(&source[from..]);
}
