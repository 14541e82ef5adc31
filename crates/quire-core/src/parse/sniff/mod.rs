//! Sniffing: detects the kind of a source if it is not given: HTML, XML, JSON, text or bytes.
//!
//! Follows the WHATWG MIME Sniffing Standard in spirit, but detects kinds of trees instead of types
//! that a browser may run. Deterministic; at most a few linear passes over the source.
//!
//! The content type decides if it names a kind:
//!
//! * `text/html` is HTML. `application/xhtml+xml`, `text/xml`, `application/xml` and
//!   all of `+xml` are XML: a page served as XHTML is read by browsers as XML.
//! * `application/json`, `text/json`, `+json` and the types of JSON lines are JSON.
//! * `text/plain` is text. Other types do not imply a kind; then the content decides.
//!
//! By content, after skipping a byte order mark and white space:
//!
//! * UTF-16 (a byte order mark, or ASCII with every second byte zero) is decoded first and then
//!   treated like any other source; it is not binary.
//! * The first bytes of well-known binary formats: bytes.
//! * Comments, processing instructions and the XML declaration are skipped, and the next bytes
//!   decide. `<!doctype html` or an `html` element: HTML, even after an XML declaration, because
//!   such pages are served as `text/html`. Anything else after an XML declaration: XML. A comment
//!   followed by nothing that decides: HTML, as in the standard.
//! * Another known HTML element: HTML. Some starts only suggest XML: `svg`, `math` and unknown
//!   elements (if the last end tag of the source belongs to its first element, or the source is one
//!   empty element), and doctypes of anything else. These are XML if the source is well-formed XML
//!   in UTF-8 or UTF-16, else HTML, since any source can be read as HTML. This check runs the XML
//!   parser once.
//! * `{` or `[`: JSON if all of it is well-formed (also as JSON lines), else text. A truncated API
//!   response is not HTML, even if its strings contain markup.
//! * Bytes that never occur in text (as in the standard) in the first kB: bytes.
//! * Markup later in the first kB (an HTML end tag, or a start tag that is rare in prose and
//!   program text): HTML, else text. So `vector<map>` is text.
//! * An empty source is text.

use std::borrow::Cow;

use memchr::memmem;

use crate::page::html_names;
use crate::page::kind::Kind;
use crate::parse::json::is_json;
use crate::parse::xml;

/// Number of bytes searched for binary bytes and late markup.
const HEAD: usize = 1024;

/// Detect the kind of a source, from its content type if that names one, else from its bytes.
///
/// ```
/// use quire_core::Kind;
/// use quire_core::sniff;
///
/// assert_eq!(sniff(b"<p>hi", None), Kind::Html);
/// assert_eq!(sniff(b"<p>hi", Some("text/plain; charset=utf-8")), Kind::Text);
/// assert_eq!(sniff(b"<note><to>you</to></note>", None), Kind::Xml);
/// assert_eq!(sniff(b"{\"a\": 1}\n{\"a\": 2}\n", None), Kind::Json);
/// ```
#[must_use]
pub fn sniff(source: &[u8], content_type: Option<&str>) -> Kind {
    content_type
        .and_then(by_type)
        .unwrap_or_else(|| by_content(source))
}

fn by_type(content_type: &str) -> Option<Kind> {
    let essence = content_type
        .split(';')
        .next()
        .unwrap_or("")
        .trim()
        .to_ascii_lowercase();
    match essence.as_str() {
        "text/html" => Some(Kind::Html),
        "text/xml" | "application/xml" => Some(Kind::Xml),
        "application/json"
        | "text/json"
        | "application/x-ndjson"
        | "application/ndjson"
        | "application/jsonl"
        | "application/x-jsonlines"
        | "application/jsonlines" => Some(Kind::Json),
        "text/plain" => Some(Kind::Text),
        _ if essence.ends_with("+xml") => Some(Kind::Xml),
        _ if essence.ends_with("+json") => Some(Kind::Json),
        _ => None,
    }
}

fn by_content(source: &[u8]) -> Kind {
    let decoded = utf16(source);
    let source = decoded.as_ref().map_or(source, |text| text.as_bytes());
    let source = source.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(source);
    if is_known_binary(source) {
        return Kind::Bytes;
    }
    let body = source.trim_ascii();
    match body.first() {
        None => return Kind::Text,
        Some(b'<') => {
            if let Some(kind) = by_markup(body, source) {
                return kind;
            }
        }
        Some(b'{' | b'[') if is_json(body) => return Kind::Json,
        Some(_) => {}
    }
    let head = &source[..source.len().min(HEAD)];
    if head.iter().any(|&byte| is_binary(byte)) {
        Kind::Bytes
    } else if !matches!(body.first(), Some(b'{' | b'[')) && has_markup(head) {
        Kind::Html
    } else {
        Kind::Text
    }
}

/// Decode a UTF-16 source: one with a byte order mark, or whose first units are ASCII.
fn utf16(source: &[u8]) -> Option<Cow<'_, str>> {
    let ascii = |high: usize| {
        // Two units are enough: no text has a zero byte, and `{"` may be all the ASCII in the
        // source.
        source.len() >= 4
            && source.chunks_exact(2).take(2).all(|unit| {
                let low = unit[1 - high];
                unit[high] == 0 && (low.is_ascii_graphic() || low.is_ascii_whitespace())
            })
    };
    if source.starts_with(b"\xFF\xFE") || ascii(1) {
        Some(encoding_rs::UTF_16LE.decode_with_bom_removal(source).0)
    } else if source.starts_with(b"\xFE\xFF") || ascii(0) {
        Some(encoding_rs::UTF_16BE.decode_with_bom_removal(source).0)
    } else {
        None
    }
}

/// Whether the source has one of the formats that may start without any binary byte, or another
/// common binary format.
fn is_known_binary(source: &[u8]) -> bool {
    const MAGIC: [&[u8]; 14] = [
        b"%PDF-",
        b"%!PS-Adobe-",
        b"GIF87a",
        b"GIF89a",
        b"\x89PNG\r\n",
        b"\xFF\xD8\xFF",
        b"PK\x03\x04",
        b"\x1F\x8B",
        b"\x28\xB5\x2F\xFD",
        b"wOFF",
        b"wOF2",
        b"Rar!\x1A\x07",
        b"7z\xBC\xAF",
        b"OggS\0",
    ];
    MAGIC.iter().any(|magic| source.starts_with(magic))
        || source.starts_with(b"RIFF")
            && matches!(source.get(8..12), Some(b"WEBP" | b"WAVE" | b"AVI "))
}

/// Whether a byte is a "binary data byte" of the standard.
fn is_binary(byte: u8) -> bool {
    matches!(byte, 0x00..=0x08 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F)
}

/// Judge a source whose first byte is `<`; `None` if that does not start any markup. `body` is
/// `source` without the white space around it, some of which XML does not know.
fn by_markup(body: &[u8], source: &[u8]) -> Option<Kind> {
    let mut rest = body;
    // The answer if nothing later decides.
    let mut so_far = None;
    loop {
        rest = rest.trim_ascii_start();
        let past = if starts(rest, b"<!--") {
            so_far = so_far.or(Some(Kind::Html));
            memmem::find(rest, b"-->").map(|at| at + 3)
        } else if rest.starts_with(b"<?") {
            if starts(rest, b"<?xml") {
                so_far = Some(Kind::Xml);
            }
            memmem::find(rest, b"?>").map(|at| at + 2)
        } else {
            break;
        };
        match past {
            Some(past) => rest = &rest[past..],
            None => return so_far,
        }
    }
    if let Some(doctype) = after(rest, b"<!doctype") {
        let name = doctype.trim_ascii_start();
        let html = starts(name, b"html") && !name.get(4).is_some_and(|&byte| is_name(byte));
        // XML has no `<!doctype>` or `<!doctype [`.
        let named = name.first().is_some_and(|&byte| is_name(byte));
        let is_xml = !html && named && (so_far == Some(Kind::Xml) || is_well_formed(source));
        return Some(if is_xml { Kind::Xml } else { Kind::Html });
    }
    if rest.starts_with(b"</") {
        return so_far.or(Some(Kind::Html));
    }
    let Some(name) = tag_name(rest) else {
        return so_far;
    };
    Some(if name.eq_ignore_ascii_case(b"html") {
        Kind::Html
    } else if so_far == Some(Kind::Xml)
        || !is_html_name(name) && closes(rest, name) && is_well_formed(source)
    {
        Kind::Xml
    } else {
        Kind::Html
    })
}

/// Whether this is certainly XML. Without a declaration of another encoding it is UTF-8.
fn is_well_formed(source: &[u8]) -> bool {
    let options = xml::Options {
        recover: false,
        utf8: true,
    };
    xml::parse(source, &options).is_ok()
}

/// Whether the last end tag belongs to the first element, or the source is just that element,
/// empty.
fn closes(source: &[u8], name: &[u8]) -> bool {
    let source = source.trim_ascii_end();
    match memmem::rfind(source, b"</") {
        Some(at) => {
            let rest = &source[at + 2..];
            source.ends_with(b">")
                && rest.starts_with(name)
                && rest[name.len()..].trim_ascii_start().starts_with(b">")
        }
        None => source.ends_with(b"/>") && !source[1..].contains(&b'<'),
    }
}

/// Whether there is markup in the middle of something that looks like prose.
fn has_markup(head: &[u8]) -> bool {
    // Names that occur neither in program text (`<map>`, `<Object>`) nor in prose between angle
    // brackets.
    const TELLING: [&[u8]; 26] = [
        b"p",
        b"br",
        b"hr",
        b"img",
        b"div",
        b"span",
        b"table",
        b"tr",
        b"td",
        b"ul",
        b"ol",
        b"li",
        b"h1",
        b"h2",
        b"h3",
        b"h4",
        b"script",
        b"style",
        b"html",
        b"head",
        b"body",
        b"meta",
        b"title",
        b"iframe",
        b"noscript",
        b"blockquote",
    ];
    memchr::memchr_iter(b'<', head).any(|at| {
        let rest = &head[at..];
        if starts(rest, b"<!doctype") {
            return true;
        }
        match after(rest, b"</") {
            Some(end) => is_html_name(&end[..name_len(end)]),
            None => tag_name(rest).is_some_and(|name| {
                TELLING
                    .iter()
                    .any(|telling| telling.eq_ignore_ascii_case(name))
            }),
        }
    })
}

/// Return the name of the start tag at the start of `rest`: `<`, a letter or `_`, and a byte that
/// ends a name.
fn tag_name(rest: &[u8]) -> Option<&[u8]> {
    let rest = after(rest, b"<")?;
    let len = name_len(rest);
    let begins = rest
        .first()
        .is_some_and(|&byte| byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80);
    let ends = rest
        .get(len)
        .is_none_or(|byte| b" \t\n\r\x0C/>".contains(byte));
    (begins && ends).then(|| &rest[..len])
}

fn name_len(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|&&byte| is_name(byte)).count()
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_:-.".contains(&byte) || byte >= 0x80
}

/// Whether this is an element of HTML itself, not of `svg` or `math`.
fn is_html_name(name: &[u8]) -> bool {
    // The longest has ten letters; the table has lower-case names, those of HTML first.
    let mut lower = [0; 10];
    let Some(lower) = lower.get_mut(..name.len()) else {
        return false;
    };
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    html_names::lookup(lower).is_some_and(|known| {
        known <= html_names::XMP && known != html_names::SVG && known != html_names::MATH
    })
}

fn starts(source: &[u8], word: &[u8]) -> bool {
    after(source, word).is_some()
}

/// Return the bytes after `word`, ignoring case, if the source starts with it.
fn after<'a>(source: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    let (head, rest) = source.split_at_checked(word.len())?;
    head.eq_ignore_ascii_case(word).then_some(rest)
}

#[cfg(test)]
mod tests;
