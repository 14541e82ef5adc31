//! The prescan: a `meta` element or XML declaration that names the character set.
//!
//! The algorithm of the WHATWG standard, which is not the tokenizer: it knows
//! comments, tags and attributes, but neither scripts nor references. It gives
//! up where the bytes end, so a declaration that is cut counts for nothing.
//! One pass; attributes of a tag are looked at once.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use memchr::{memchr, memmem};

/// The character set that the first `meta` with one declares.
pub(super) fn meta(source: &[u8]) -> Option<&'static Encoding> {
    let mut at = 0;
    loop {
        at += memchr(b'<', &source[at..])?;
        let rest = &source[at..];
        match rest.get(1)? {
            // The dashes that close a comment may be those that open it.
            b'!' if rest.starts_with(b"<!--") => at += 2 + memmem::find(&rest[2..], b"-->")? + 2,
            b'!' | b'?' => at += memchr(b'>', rest)?,
            b'/' if !rest.get(2)?.is_ascii_alphabetic() => at += memchr(b'>', rest)?,
            byte if *byte == b'/' || byte.is_ascii_alphabetic() => {
                let is_meta = rest
                    .get(..5)
                    .is_some_and(|tag| tag.eq_ignore_ascii_case(b"<meta"))
                    && rest
                        .get(5)
                        .is_some_and(|&byte| is_white(byte) || byte == b'/');
                if is_meta {
                    at += 5;
                    if let Some(encoding) = meta_element(source, &mut at)? {
                        return Some(encoding);
                    }
                } else {
                    at += rest
                        .iter()
                        .position(|&byte| is_white(byte) || byte == b'>')?;
                    while attribute(source, &mut at)?.is_some() {}
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// What one `meta` declares. The outer `None` is the end of the bytes.
fn meta_element(source: &[u8], at: &mut usize) -> Option<Option<&'static Encoding>> {
    let (mut seen_pragma, mut seen_content, mut seen_charset) = (false, false, false);
    let mut got_pragma = false;
    // Who named the character set decides whether a pragma is needed. A `charset`
    // that names none is an answer too: it keeps `content` from being heard.
    let mut found: Option<(Option<&'static Encoding>, bool)> = None;
    while let Some((name, value)) = attribute(source, at)? {
        if name.eq_ignore_ascii_case(b"http-equiv") {
            if !std::mem::replace(&mut seen_pragma, true) {
                got_pragma = value.eq_ignore_ascii_case(b"content-type");
            }
        } else if name.eq_ignore_ascii_case(b"content") {
            if !std::mem::replace(&mut seen_content, true)
                && found.is_none()
                && let Some(encoding) = from_content(value)
            {
                found = Some((Some(encoding), true));
            }
        } else if name.eq_ignore_ascii_case(b"charset")
            && !std::mem::replace(&mut seen_charset, true)
        {
            found = Some((Encoding::for_label(value), false));
        }
    }
    let Some((Some(encoding), needs_pragma)) = found else {
        return Some(None);
    };
    if needs_pragma && !got_pragma {
        return Some(None);
    }
    // Whoever could read this was not reading UTF-16.
    Some(Some(if encoding == UTF_16LE || encoding == UTF_16BE {
        UTF_8
    } else if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    }))
}

type Attribute<'a> = (&'a [u8], &'a [u8]);

/// The next attribute of the tag; the outer `None` is the end of the bytes, the inner that of the tag.
fn attribute<'a>(source: &'a [u8], at: &mut usize) -> Option<Option<Attribute<'a>>> {
    let skip = |from: usize, stop: fn(u8) -> bool| {
        source[from..]
            .iter()
            .position(|&byte| stop(byte))
            .map(|length| from + length)
    };
    let start = skip(*at, |byte| !is_white(byte) && byte != b'/')?;
    *at = start;
    if source[start] == b'>' {
        return Some(None);
    }
    let end = skip(start + 1, |byte| {
        is_white(byte) || matches!(byte, b'/' | b'>' | b'=')
    })?;
    let name = &source[start..end];
    *at = skip(end, |byte| !is_white(byte))?;
    // `a /=b` too is an attribute without a value.
    if source[*at] != b'=' {
        return Some(Some((name, b"")));
    }
    let start = skip(*at + 1, |byte| !is_white(byte))?;
    let quote = source[start];
    if matches!(quote, b'"' | b'\'') {
        let end = start + 1 + memchr(quote, &source[start + 1..])?;
        *at = end + 1;
        return Some(Some((name, &source[start + 1..end])));
    }
    let end = skip(start, |byte| is_white(byte) || byte == b'>')?;
    *at = end;
    Some(Some((name, &source[start..end])))
}

/// The character set in the `content` of a `meta` element: `text/html; charset=...`.
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

/// The character set in an XML declaration.
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
