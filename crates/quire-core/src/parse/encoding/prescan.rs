//! The prescan: search for a `meta` element or XML declaration that names the character set.
//!
//! The algorithm of the WHATWG standard, which is not the tokenizer: it knows comments, tags and
//! attributes, but no scripts or references. It stops at the end of the bytes, so a declaration
//! that is cut off is ignored. One pass; attributes of a tag are read once.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use memchr::{memchr, memmem};

/// The bytes ended, which also ends the prescan.
struct End;

/// Return the character set declared by the first `meta` that has one.
pub(super) fn meta(source: &[u8]) -> Option<&'static Encoding> {
    scan(source).ok()
}

fn scan(source: &[u8]) -> Result<&'static Encoding, End> {
    let mut at = 0;
    loop {
        at += memchr(b'<', &source[at..]).ok_or(End)?;
        let rest = &source[at..];
        let name = &rest[if rest.get(1) == Some(&b'/') { 2 } else { 1 }..];
        if rest.starts_with(b"<!--") {
            // The dashes that close a comment may be the ones that open it.
            at += 4 + memmem::find(&rest[2..], b"-->").ok_or(End)?;
        } else if is_meta(rest) {
            at += "<meta".len();
            if let Some(encoding) = meta_element(source, &mut at)? {
                return Ok(encoding);
            }
        } else if name.first().ok_or(End)?.is_ascii_alphabetic() {
            at = find(source, at, |byte| is_white(byte) || byte == b'>')?;
            while attribute(source, &mut at)?.is_some() {}
        } else if matches!(rest[1], b'!' | b'/' | b'?') {
            at += memchr(b'>', rest).ok_or(End)?;
        }
        at += 1;
    }
}

fn is_meta(rest: &[u8]) -> bool {
    rest.get(..5)
        .is_some_and(|tag| tag.eq_ignore_ascii_case(b"<meta"))
        && rest
            .get(5)
            .is_some_and(|&byte| is_white(byte) || byte == b'/')
}

/// Return the declaration of one `meta` element, starting after its name.
fn meta_element(source: &[u8], at: &mut usize) -> Result<Option<&'static Encoding>, End> {
    let (mut pragma, mut content, mut charset) = (None, None, None);
    while let Some((name, value)) = attribute(source, at)? {
        // Of a repeated attribute the first counts.
        if name.eq_ignore_ascii_case(b"http-equiv") {
            pragma.get_or_insert(value);
        } else if name.eq_ignore_ascii_case(b"content") {
            content.get_or_insert(value);
        } else if name.eq_ignore_ascii_case(b"charset") {
            charset.get_or_insert(value);
        }
    }
    let is_pragma = pragma.is_some_and(|value| value.eq_ignore_ascii_case(b"content-type"));
    let encoding = match (charset, content) {
        // A `charset` that names no character set also decides: `content` is not used.
        (Some(label), _) => Encoding::for_label(label),
        (None, Some(content)) if is_pragma => from_content(content),
        _ => None,
    };
    // These bytes could be read as ASCII, so the page is not UTF-16.
    Ok(encoding.map(|encoding| {
        if encoding == UTF_16LE || encoding == UTF_16BE {
            UTF_8
        } else if encoding == X_USER_DEFINED {
            WINDOWS_1252
        } else {
            encoding
        }
    }))
}

type Attribute<'a> = (&'a [u8], &'a [u8]);

/// Return the next attribute of a tag, or `None` at its `>`.
fn attribute<'a>(source: &'a [u8], at: &mut usize) -> Result<Option<Attribute<'a>>, End> {
    let start = find(source, *at, |byte| !is_white(byte) && byte != b'/')?;
    *at = start;
    if source[start] == b'>' {
        return Ok(None);
    }
    let end = find(source, start + 1, |byte| {
        is_white(byte) || matches!(byte, b'/' | b'>' | b'=')
    })?;
    let name = &source[start..end];
    *at = find(source, end, |byte| !is_white(byte))?;
    if source[*at] != b'=' {
        return Ok(Some((name, b"")));
    }
    let start = find(source, *at + 1, |byte| !is_white(byte))?;
    let quote = source[start];
    if matches!(quote, b'"' | b'\'') {
        let start = start + 1;
        let end = start + memchr(quote, &source[start..]).ok_or(End)?;
        *at = end + 1;
        return Ok(Some((name, &source[start..end])));
    }
    *at = find(source, start, |byte| is_white(byte) || byte == b'>')?;
    Ok(Some((name, &source[start..*at])))
}

/// Return the first position from `from` on with a wanted byte.
fn find(source: &[u8], from: usize, wanted: impl Fn(u8) -> bool) -> Result<usize, End> {
    let length = source[from..]
        .iter()
        .position(|&byte| wanted(byte))
        .ok_or(End)?;
    Ok(from + length)
}

/// Return the character set in the `content` of a `meta` element: `text/html; charset=...`.
fn from_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut rest = content;
    loop {
        let at = rest
            .windows(7)
            .position(|word| word.eq_ignore_ascii_case(b"charset"))?;
        rest = rest[at + 7..].trim_ascii_start();
        if let Some(value) = rest.strip_prefix(b"=") {
            rest = value.trim_ascii_start();
            break;
        }
    }
    let label = match rest.first()? {
        quote @ (b'"' | b'\'') => &rest[1..=memchr(*quote, &rest[1..])?],
        _ => rest.split(|&byte| is_white(byte) || byte == b';').next()?,
    };
    Encoding::for_label(label)
}

/// Return the character set in an XML declaration.
pub(super) fn xml_declaration(source: &[u8]) -> Option<&'static Encoding> {
    let rest = source.strip_prefix(b"<?xml")?;
    let rest = &rest[..memchr(b'>', rest)?];
    let rest = skip_controls(&rest[memmem::find(rest, b"encoding")? + 8..]);
    let rest = skip_controls(rest.strip_prefix(b"=")?);
    let quote = *rest.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let label = &rest[1..=memchr(quote, &rest[1..])?];
    if label.iter().any(|&byte| byte <= b' ') {
        return None;
    }
    let encoding = Encoding::for_label(label)?;
    Some(if encoding == UTF_16LE || encoding == UTF_16BE {
        UTF_8
    } else {
        encoding
    })
}

fn skip_controls(rest: &[u8]) -> &[u8] {
    &rest[rest
        .iter()
        .position(|&byte| byte > b' ')
        .unwrap_or(rest.len())..]
}

fn is_white(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}
