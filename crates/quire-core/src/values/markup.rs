//! Leaves with delimiters: comments, CDATA sections, processing instructions, JSON strings.
//!
//! The end of the page may cut off a leaf, so a missing closing delimiter is not an error. All
//! functions borrow from the source if nothing else changes.

use std::borrow::Cow;
use std::ops::Range;

use super::expand::{Nul, References, Rules, expand, expand_into};

/// Line ends, and U+FFFD for NUL.
pub(super) const RAW: Rules = Rules {
    references: References::Ignored,
    nul: Nul::Replaced,
};
const XML_RAW: Rules = Rules {
    references: References::Ignored,
    nul: Nul::Kept,
};
const FOREIGN: Rules = Rules {
    references: References::Html,
    nul: Nul::Replaced,
};

const CDATA_START: &str = "<![CDATA[";
const CDATA_END: &str = "]]>";

/// Return the data of an HTML comment, however it is opened and closed.
pub(super) fn comment(source: &str) -> Cow<'_, str> {
    expand(comment_data(source), RAW)
}

/// Where the data of a comment is, if it is written `<!--data-->` and reads as written. The source
/// must be UTF-8.
pub fn plain_comment(source: &[u8]) -> Option<Range<usize>> {
    let usual = source.len() >= 7 && source.starts_with(b"<!--") && source.ends_with(b"-->");
    let data = 4..source.len().saturating_sub(3);
    (usual && memchr::memchr2(b'\r', 0, source).is_none()).then_some(data)
}

fn comment_data(source: &str) -> &str {
    if let Some(body) = source.strip_prefix("<!--") {
        if matches!(body, ">" | "->") {
            return "";
        }
        // At the end of the page, dashes that could start the closing delimiter are part of it,
        // even though the rest never came.
        return ["-->", "--!>", "--!", "--", "-"]
            .into_iter()
            .find_map(|end| body.strip_suffix(end))
            .unwrap_or(body);
    }
    // Bogus comments: `<!x>`, `</ x>`; in `<?x>` the `?` is part of the data.
    let body = source
        .strip_prefix("<!")
        .or_else(|| source.strip_prefix("</"));
    let body = body.or_else(|| source.strip_prefix('<')).unwrap_or(source);
    body.strip_suffix('>').unwrap_or(body)
}

/// Decode text in SVG or `MathML`: CDATA sections are text in which `&` stands for itself.
pub(super) fn foreign(source: &str) -> Cow<'_, str> {
    let Some(mut start) = find_cdata(source) else {
        return expand(source, FOREIGN);
    };
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    loop {
        expand_into(&rest[..start], FOREIGN, &mut out);
        rest = &rest[start + CDATA_START.len()..];
        let end = rest.find(CDATA_END);
        expand_into(&rest[..end.unwrap_or(rest.len())], RAW, &mut out);
        rest = end.map_or("", |end| &rest[end + CDATA_END.len()..]);
        match find_cdata(rest) {
            Some(next) => start = next,
            None => break,
        }
    }
    expand_into(rest, FOREIGN, &mut out);
    Cow::Owned(out)
}

/// Return the position of the first CDATA section.
fn find_cdata(source: &str) -> Option<usize> {
    memchr::memmem::find(source.as_bytes(), CDATA_START.as_bytes())
}

/// Whether [`foreign`] returns the source unchanged.
pub(super) fn foreign_is_plain(source: &[u8]) -> bool {
    super::expand::next_change(source, 0, FOREIGN).is_none()
        && memchr::memmem::find(source, CDATA_START.as_bytes()).is_none()
}

/// Return the content of an XML comment, CDATA section or processing instruction; a doctype is
/// returned whole.
pub(super) fn xml(source: &str) -> Cow<'_, str> {
    let body = [("<!--", "-->"), (CDATA_START, CDATA_END), ("<?", "?>")]
        .into_iter()
        .find_map(|(start, end)| {
            let body = source.strip_prefix(start)?;
            Some(body.strip_suffix(end).unwrap_or(body))
        })
        .unwrap_or(source);
    expand(body, XML_RAW)
}

/// Whether [`xml`] returns the source unchanged.
pub(super) fn xml_is_plain(source: &[u8]) -> bool {
    memchr::memchr(b'\r', source).is_none()
        && !["<!--", CDATA_START, "<?"]
            .iter()
            .any(|start| source.starts_with(start.as_bytes()))
}

/// Decode a JSON string written with its quotes.
///
/// Half of a surrogate pair becomes U+FFFD; an unknown escape stays as written.
pub(super) fn json(source: &str) -> Cow<'_, str> {
    let body = source.strip_prefix('"').unwrap_or(source);
    // A quote after an odd number of backslashes is not the closing one.
    let open = body.strip_suffix('"').unwrap_or(body);
    let slashes = open.len() - open.trim_end_matches('\\').len();
    let body = if slashes.is_multiple_of(2) && source.starts_with('"') {
        open
    } else {
        body
    };
    let Some(first) = memchr::memchr(b'\\', body.as_bytes()) else {
        return Cow::Borrowed(body);
    };
    let mut out = String::with_capacity(body.len());
    out.push_str(&body[..first]);
    let mut rest = &body[first..];
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (character, used) = json_escape(rest.as_bytes()).unwrap_or(('\\', 1));
        out.push(character);
        rest = &rest[used..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Return the character an escape stands for, and the length of the escape.
fn json_escape(escape: &[u8]) -> Option<(char, usize)> {
    let character = match escape.get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let unit = json_unit(escape)?;
            // Only a high surrogate can start a pair.
            let low = escape
                .get(6..)
                .and_then(json_unit)
                .filter(|_| unit >> 10 == 0x36);
            let units = [unit, low.unwrap_or(0)];
            return match char::decode_utf16(units).next()? {
                Ok(character) => Some((character, 6 * character.len_utf16())),
                Err(_) => Some((char::REPLACEMENT_CHARACTER, 6)),
            };
        }
        _ => return None,
    };
    Some((character, 2))
}

/// Return the number in `\uXXXX`.
fn json_unit(escape: &[u8]) -> Option<u16> {
    let digits = escape.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, &byte| {
        Some(unit << 4 | char::from(byte).to_digit(16)? as u16)
    })
}
