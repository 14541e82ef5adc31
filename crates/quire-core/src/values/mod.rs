//! Values: from raw bytes of a leaf or an attribute run to the text a reader sees.
//!
//! A digest stores pages as they are written. Everything that a browser changes on the way to the
//! tree (character sets, character references, line ends, NUL, delimiters, the case of names) is
//! derived here, on demand. Most texts need none of it: [`is_plain`] finds that out without
//! building a string, and [`text`] borrows.
//!
//! The character set comes first: bytes are decoded without looking for a byte order mark, then
//! references are read in the result. Every function is linear in its input and never panics.
//!
//! | file | job |
//! | --- | --- |
//! | `references`, `entities` | character references such as `&amp;` |
//! | `expand` | finds the places where a text changes, and changes them |
//! | `markup`, `doctype` | take delimiters off |
//! | `attributes` | cuts a run into names and values |
//! | `run_hash` | hashes a run so that spelling and order do not count |
//! | `scan`, `charset` | byte search; strings that need no decoding |

mod attributes;
pub(crate) mod charset;
mod doctype;
mod entities;
mod expand;
mod markup;
mod references;
pub(crate) mod run_hash;
pub(crate) mod scan;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use encoding_rs::{Encoding, GB18030, GBK, UTF_8};

pub use self::attributes::{
    Syntax, append_attribute_value, attribute_name, attribute_spans, attribute_syntax,
    attribute_value, attributes,
};
pub use self::doctype::{Doctype, Quirks, doctype, quirks};
use self::expand::{Nul, References, Rules, expand, expand_bytes, next_change};
pub(crate) use self::markup::plain_comment;
use crate::page::text_mode::Mode;

const DATA: Rules = Rules {
    references: References::Html,
    nul: Nul::Dropped,
};
const RCDATA: Rules = Rules {
    references: References::Html,
    nul: Nul::Replaced,
};
const XML_TEXT: Rules = Rules {
    references: References::Xml,
    nul: Nul::Kept,
};

/// Decode raw bytes of a leaf to the text a reader sees; borrowed if nothing changes.
///
/// ```
/// use encoding_rs::{UTF_8, WINDOWS_1252};
/// use quire_core::values::text;
/// use quire_core::Mode;
///
/// assert_eq!(text(b"fish &amp; chips\r\n", Mode::Data, UTF_8), "fish & chips\n");
/// assert_eq!(text(b"caf\xe9", Mode::Data, WINDOWS_1252), "café");
/// assert_eq!(text(b"<!-- &amp; -->", Mode::Comment, UTF_8), " &amp; ");
/// ```
#[must_use]
pub fn text<'a>(raw: &'a [u8], mode: Mode, encoding: &'static Encoding) -> Cow<'a, str> {
    if raw.is_empty() {
        return Cow::Borrowed("");
    }
    let decoded = decode(raw, encoding);
    match mode {
        Mode::Plain => decoded,
        Mode::Data => map(decoded, |text| expand(text, DATA)),
        Mode::Rcdata => map(decoded, |text| expand(text, RCDATA)),
        Mode::RawText => map(decoded, |text| expand(text, markup::RAW)),
        Mode::Foreign => map(decoded, markup::foreign),
        Mode::Comment => map(decoded, markup::comment),
        Mode::Doctype => doctype::print(&decoded),
        Mode::XmlText => map(decoded, |text| expand(text, XML_TEXT)),
        Mode::XmlMarkup => map(decoded, markup::xml),
        Mode::JsonString => map(decoded, markup::json),
        Mode::DataAfterPre => map(decoded, |text| without_line_end(text, DATA)),
        Mode::RcdataAfterTextarea => map(decoded, |text| without_line_end(text, RCDATA)),
    }
}

/// Append HTML text as a reader sees it, from bytes known to be UTF-8. Returns `false` for any
/// other `mode`; then use [`text`].
pub fn append_html_text(raw: &[u8], mode: Mode, out: &mut Vec<u8>) -> bool {
    let rules = match mode {
        Mode::Data => DATA,
        Mode::Rcdata => RCDATA,
        Mode::RawText => markup::RAW,
        _ => return false,
    };
    expand_bytes(raw, rules, out);
    true
}

/// Whether [`text`] returns the raw bytes unchanged; does not allocate.
///
/// In a character set other than UTF-8 only ASCII counts as unchanged.
///
/// ```
/// use encoding_rs::UTF_8;
/// use quire_core::values::is_plain;
/// use quire_core::Mode;
///
/// assert!(is_plain(b"Q & A", Mode::Data, UTF_8));
/// assert!(!is_plain(b"Q &amp; A", Mode::Data, UTF_8));
/// ```
#[must_use]
pub fn is_plain(raw: &[u8], mode: Mode, encoding: &'static Encoding) -> bool {
    if raw.is_empty() {
        return true;
    }
    let unchanged = |rules| next_change(raw, 0, rules).is_none();
    let by_mode = match mode {
        Mode::Plain => true,
        Mode::Data => unchanged(DATA),
        Mode::Rcdata => unchanged(RCDATA),
        Mode::RawText => unchanged(markup::RAW),
        Mode::Foreign => markup::foreign_is_plain(raw),
        // Their delimiters are always removed.
        Mode::Comment | Mode::Doctype | Mode::JsonString => false,
        Mode::XmlText => unchanged(XML_TEXT),
        Mode::XmlMarkup => markup::xml_is_plain(raw),
        Mode::DataAfterPre => raw[0] != b'\n' && unchanged(DATA),
        Mode::RcdataAfterTextarea => raw[0] != b'\n' && unchanged(RCDATA),
    };
    by_mode && charset_is_plain(raw, encoding)
}

/// Whether the bytes are already UTF-8.
fn charset_is_plain(raw: &[u8], encoding: &'static Encoding) -> bool {
    if encoding == UTF_8 {
        std::str::from_utf8(raw).is_ok()
    } else {
        encoding.is_ascii_compatible() && raw.is_ascii()
    }
}

/// Decode bytes to characters; invalid ones become U+FFFD.
fn decode<'a>(raw: &'a [u8], encoding: &'static Encoding) -> Cow<'a, str> {
    if encoding == UTF_8
        && let Ok(text) = std::str::from_utf8(raw)
    {
        return Cow::Borrowed(text);
    }
    let (decoded, had_errors) = encoding.decode_without_bom_handling(raw);
    if !had_errors || encoding != GBK && encoding != GB18030 {
        return decoded;
    }
    // Four-byte characters contain digits. If markup cuts off such a character, its digits are
    // text; if the end of the page does, they are not. A leaf nearly always ends at markup, so the
    // decoder is given some.
    let mut closed = Vec::with_capacity(raw.len() + 1);
    closed.extend_from_slice(raw);
    closed.push(b'<');
    let (decoded, _) = encoding.decode_without_bom_handling(&closed);
    let mut decoded = decoded.into_owned();
    decoded.pop();
    Cow::Owned(decoded)
}

/// Apply a step that may borrow from its input to a text that may itself be borrowed.
fn map<'a>(text: Cow<'a, str>, step: impl for<'b> Fn(&'b str) -> Cow<'b, str>) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => step(text),
        Cow::Owned(text) => {
            let changed = match step(&text) {
                Cow::Borrowed(same) if same.len() == text.len() => None,
                changed => Some(changed.into_owned()),
            };
            Cow::Owned(changed.unwrap_or(text))
        }
    }
}

/// Return the text without the line end that `<pre>` and `<textarea>` drop.
///
/// It may be written as a reference. After a NUL it is no longer the first character, even though
/// the NUL itself is dropped.
fn without_line_end(source: &str, rules: Rules) -> Cow<'_, str> {
    let text = expand(source, rules);
    if source.starts_with('\0') || !text.starts_with('\n') {
        return text;
    }
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[1..]),
        Cow::Owned(mut text) => {
            text.remove(0);
            Cow::Owned(text)
        }
    }
}
