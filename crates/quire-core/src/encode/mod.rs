//! Encoding: any bytes in, a digest out (the paper's Algorithm 1, for real pages).
//!
//! The kind is detected unless it is given; the parser of that kind writes a draft;
//! [`assemble`](mod@assemble) does the rest. For any bytes, decoding the result gives them back: a
//! page that cannot be described exactly keeps its source.

pub mod assemble;
pub mod chunks;
pub mod from_tree;
pub mod leftovers;
pub mod preorder;
pub mod tag_spelling;

use encoding_rs::{Encoding, UTF_8};

use crate::base::error::Error;
use crate::base::memory::hold;
use crate::digest::{Digest, Meta};
use crate::encode::assemble::{Job, assemble};
use crate::page::kind::Kind;
use crate::page::limits::{MAX_SOURCE, max_nodes};
use crate::parse::encoding::Sniffed;
use crate::parse::html::Context;
use crate::parse::sniff::sniff;
use crate::parse::{encoding, html, json, plain_text, xml};

/// How a source is parsed.
#[derive(Clone, Debug)]
pub struct Options {
    /// The kind; detected if `None`.
    pub kind: Option<Kind>,
    /// The `Content-Type` the source came with.
    pub content_type: Option<String>,
    /// The character set, if it is known for certain (a WHATWG label).
    pub encoding: Option<&'static Encoding>,
    /// HTML: whether scripting is enabled, as in a browser.
    pub scripting: bool,
    /// HTML: parse as a fragment inside this element.
    pub context: Option<Context>,
    /// XML, JSON: continue after faults.
    pub recover: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            kind: None,
            content_type: None,
            encoding: None,
            scripting: true,
            context: None,
            recover: false,
        }
    }
}

/// Make the digest of a page.
///
/// ```
/// use quire_core::{Options, encode};
/// use quire_core::decode;
/// let page = encode(b"<p>Hello <b>there", &Options::default()).unwrap();
/// assert_eq!(page.n(), 8); // document, html, head, body, p, text, b, text
/// assert_eq!(decode(&page).unwrap(), b"<p>Hello <b>there");
/// ```
pub fn encode(source: &[u8], options: &Options) -> Result<Digest, Error> {
    if source.len() > MAX_SOURCE {
        return Err(Error::TooLarge {
            bytes: source.len() as u64,
            limit: MAX_SOURCE as u64,
        });
    }
    let kind = options
        .kind
        .unwrap_or_else(|| sniff(source, options.content_type.as_deref()));
    let _held = hold(memory_for(source, kind))?;
    let sniffed = sniff_encoding(source, kind, options);
    let label = sniffed.encoding;
    // XML names may be in any script and are stored in UTF-8, so XML is parsed in UTF-8.
    let as_is = match kind {
        Kind::Bytes => true,
        Kind::Xml => label == UTF_8 || (encoding::is_ascii_compatible(label) && source.is_ascii()),
        _ => encoding::is_ascii_compatible(label),
    };
    if as_is {
        return encode_text(source, None, true, kind, &sniffed, label, options);
    }
    let (copy, invertible) = encoding::transcode(source, label);
    encode_text(
        &copy,
        Some(source),
        invertible,
        kind,
        &sniffed,
        UTF_8,
        options,
    )
    .map_err(|error| in_source(error, &copy, source, label))
}

/// Pages up to this length are encoded without asking for memory: 30 times as much, the most that
/// encoding takes, is less than the kernels ask for at all.
const MAX_UNASKED: usize = 256 << 10;
/// Bytes for each node at the peak: measured up to 30, and vectors may have twice the room they use.
const BYTES_PER_NODE: u64 = 64;
/// Bytes for each byte of the source at the peak, besides nodes: copies in UTF-8, heaps, the digest.
const BYTES_PER_BYTE: u64 = 8;

/// Estimate from above the memory that encoding takes, by the bytes that can begin a node.
fn memory_for(source: &[u8], kind: Kind) -> u64 {
    if source.len() <= MAX_UNASKED {
        return 0;
    }
    let count = |byte: u8| memchr::memchr_iter(byte, source).count();
    let nodes = match kind {
        Kind::Bytes => 1,
        // An element, its text and copies of formatting elements around both.
        Kind::Html | Kind::Xml => 4 * count(b'<'),
        Kind::Json => 2 * memchr::memchr3_iter(b',', b'[', b'{', source).count() + count(b':'),
        Kind::Text | Kind::Tree => 2 * (count(b'\n') + count(b'\r')),
    };
    BYTES_PER_NODE * (nodes as u64).min(max_nodes(source.len() as u64))
        + BYTES_PER_BYTE * source.len() as u64
}

/// Convert the position of a fault in a UTF-8 copy to its position in the source.
///
/// If the text before it cannot be converted back to the source (bytes that were not characters),
/// offset and column stay those of the copy.
fn in_source(error: Error, copy: &[u8], source: &[u8], label: &'static Encoding) -> Error {
    let length = |end: usize| {
        let before = encoding::transcode_back(copy.get(..end)?, label)?;
        source.starts_with(&before).then_some(before.len())
    };
    match error {
        Error::Syntax {
            kind,
            message,
            offset,
            line,
            column,
        } => {
            let start = (offset + 1).saturating_sub(column);
            let (offset, column) = match (length(start), length(offset)) {
                (Some(start), Some(offset)) => (offset, (offset + 1).saturating_sub(start)),
                _ => (offset, column),
            };
            Error::Syntax {
                kind,
                message,
                offset,
                line,
                column,
            }
        }
        other => other,
    }
}

fn sniff_encoding(source: &[u8], kind: Kind, options: &Options) -> Sniffed {
    let transport = options.content_type.as_deref().and_then(charset_of);
    let mut sniffed = match kind {
        Kind::Xml => encoding::sniff_xml(source, transport),
        _ => encoding::sniff_html(source, transport),
    };
    if let Some(given) = options.encoding {
        sniffed.encoding = given;
        sniffed.reason = encoding::Reason::Given;
    }
    sniffed
}

/// Return the `charset` of a content type.
fn charset_of(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| value.trim().trim_matches(['"', '\'']))
    })
}

fn encode_text(
    text: &[u8],
    original: Option<&[u8]>,
    invertible: bool,
    kind: Kind,
    sniffed: &Sniffed,
    encoding: &'static Encoding,
    options: &Options,
) -> Result<Digest, Error> {
    let mut meta = Meta {
        encoding: sniffed.encoding.name().to_ascii_lowercase(),
        encoding_reason: sniffed.reason.name().to_owned(),
        ..Meta::default()
    };
    let draft = match kind {
        Kind::Html => {
            meta.context = options
                .context
                .as_ref()
                .map(|c| c.name.clone())
                .unwrap_or_default();
            let skip = if text.starts_with(b"\xef\xbb\xbf") {
                3
            } else {
                0
            };
            html::parse(
                text,
                &html::Options {
                    scripting: options.scripting,
                    context: options.context.clone(),
                    encoding,
                    skip,
                },
            )
        }
        Kind::Xml => {
            let options = xml::Options {
                recover: options.recover,
                utf8: encoding == UTF_8,
            };
            xml::parse(text, &options)?
        }
        Kind::Json => {
            let (draft, layout) = json::parse(text, options.recover)?;
            meta.layout = layout.to_bytes().to_vec();
            draft
        }
        Kind::Bytes => plain_text::parse_bytes(text),
        Kind::Text | Kind::Tree => plain_text::parse(text),
    };
    assemble(
        draft,
        &Job {
            kind,
            meta,
            text,
            original,
            invertible,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::decode::decode;
    use crate::page::flags::Flags;

    /// Pages that once needed their source next to the columns, and the reason.
    const DESCRIBED: [(&str, &str); 9] = [
        (
            "space after a doctype",
            "<!doctype html>\n<html><head></head><body></body></html>\n",
        ),
        (
            "a second body with attributes",
            "<body class=a><p>x</p><body id=b>y</body>",
        ),
        (
            "a second html with attributes",
            "<html lang=en><html class=x><body>y</body></html>",
        ),
        (
            "attributes on implied html",
            "<title>x</title><html lang=en><p>y",
        ),
        (
            "text on both sides of an end tag",
            "<body>a</body>b</html>c",
        ),
        (
            "foster-parented text",
            "a<table>b<tr>c<td>d</td></tr></table>",
        ),
        ("mis-nested formatting", "<p>1<b>2<i>3</b>4</i>5</p>"),
        ("capitals", "<HTML><BODY><P>a<P>b<BR></BODY></HTML>"),
        ("image for img", "<p><image src=a>x</p>"),
    ];

    #[test]
    fn ordinary_disorder_is_described_and_not_kept_verbatim() {
        for (reason, page) in DESCRIBED {
            let digest = encode(page.as_bytes(), &Options::default()).unwrap();
            assert!(!digest.flags().has(Flags::VERBATIM), "{reason}");
            assert_eq!(decode(&digest).unwrap(), page.as_bytes(), "{reason}");
        }
    }

    #[test]
    fn a_fault_is_where_it_is_in_the_source() {
        use encoding_rs::{UTF_16BE, UTF_16LE, WINDOWS_1252};
        let text = "<?xml version='1.0'?>\n<r>\u{e9}\u{e9}\n<a>\u{e9}\u{fc}</b></r>";
        for (encoding, width) in [(WINDOWS_1252, 1), (UTF_16LE, 2), (UTF_16BE, 2)] {
            let source = encoding::transcode_back(text.as_bytes(), encoding).unwrap();
            let options = Options {
                kind: Some(Kind::Xml),
                encoding: Some(encoding),
                ..Options::default()
            };
            let Err(Error::Syntax {
                offset,
                line,
                column,
                ..
            }) = encode(&source, &options)
            else {
                panic!("{} is not well-formed", encoding.name());
            };
            // 22 characters before line 2, 6 in it, 5 before the wrong end tag.
            let expected = (width * (22 + 6 + 5), 3, width * 5 + 1);
            assert_eq!((offset, line, column), expected, "{}", encoding.name());
        }
    }

    #[test]
    fn a_fault_after_bytes_that_are_no_characters_is_where_it_is_in_the_copy() {
        let options = Options {
            kind: Some(Kind::Json),
            encoding: Some(encoding_rs::UTF_16LE),
            ..Options::default()
        };
        let source = b"\"\0\x00\xd8\"\0]\0"; // half of a surrogate pair
        let error = encode(source, &options).err().unwrap();
        assert!(
            matches!(error, Error::Syntax { offset: 5, .. }),
            "{error:?}"
        );
    }

    #[test]
    fn a_second_body_adds_its_attributes_to_the_first() {
        let page = encode(b"<body class=a><body id=b class=c>", &Options::default()).unwrap();
        let body = (0..page.n()).find(|&i| page.tag_name(page.tag().get(i) as usize) == "body");
        let attributes: Vec<(&str, &str)> = (page.attributes(body.unwrap()).iter())
            .map(|(name, value)| (&**name, &**value))
            .collect();
        assert_eq!(attributes, [("class", "a"), ("id", "b")]);
    }
}
