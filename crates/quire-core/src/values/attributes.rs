//! Attribute runs: the bytes between the name of a tag and its `>`.
//!
//! [`attribute_spans`] is the only scanner of runs. It covers the states of the WHATWG tokenizer
//! from "before attribute name" to "after attribute value (quoted)" in one pass, with a table of
//! byte classes for names and a vectorised search for the end of quoted values. Nothing is decoded
//! before [`attributes`] or [`attribute_value`] is called.
//!
//! All bytes that end a name or a value are below 0x30, or `=` or `>`. In none of the character
//! sets that pages are read in can these be the second byte of a character, so a run is scanned
//! before it is decoded.
//!
//! A `>` outside of quotes ends a tag, so no run contains one. Runs of several tags that became one
//! element can therefore be joined with it: `a=` and `b=c` become `a=>b=c`, not `a= b=c`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use encoding_rs::Encoding;

use super::decode;
use super::expand::{Nul, References, Rules, expand, expand_bytes};
use crate::page::kind::Kind;
use crate::page::vocabulary::Namespace;
use crate::values::scan;

/// The language a run is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// HTML, on an element of this namespace.
    Html(Namespace),
    /// XML.
    Xml,
}

/// Return the syntax of attribute runs on pages of this kind.
pub fn attribute_syntax(kind: Kind, namespace: Namespace) -> Syntax {
    if kind == Kind::Html {
        Syntax::Html(namespace)
    } else {
        Syntax::Xml
    }
}

const HTML_NAME: Rules = Rules {
    references: References::Ignored,
    nul: Nul::Replaced,
};
const HTML_VALUE: Rules = Rules {
    references: References::HtmlAttribute,
    nul: Nul::Replaced,
};
const XML_VALUE: Rules = Rules {
    references: References::Xml,
    nul: Nul::Kept,
};

/// Up to this number of attributes, a repeated name is found by comparing with all before it.
const FEW: usize = 16;

const WHITE: u8 = 1;
const SLASH: u8 = 2;
const EQUALS: u8 = 4;
const CLOSE: u8 = 8;

static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    class[b'\t' as usize] = WHITE;
    class[b'\n' as usize] = WHITE;
    class[0x0c] = WHITE;
    class[b'\r' as usize] = WHITE;
    class[b' ' as usize] = WHITE;
    class[b'/' as usize] = SLASH;
    class[b'=' as usize] = EQUALS;
    class[b'>' as usize] = CLOSE;
    class
};

/// Return the first position from `at` on whose class is (or is not) in `mask`.
#[inline]
fn until(run: &[u8], at: usize, mask: u8, wanted: bool) -> usize {
    let found = run[at..]
        .iter()
        .position(|&byte| (CLASS[byte as usize] & mask != 0) == wanted);
    found.map_or(run.len(), |found| at + found)
}

/// Return the name and the value (without quotes) of every attribute of a run, in source order.
///
/// Repeated names are included. An attribute without `=` has no value; one with `=` and nothing
/// after it has an empty value.
///
/// ```
/// let run = b" a='1'b=2/ c = x";
/// let spans: Vec<_> = quire_core::values::attribute_spans(run).collect();
/// assert_eq!(spans, [(1..2, Some(4..5)), (6..7, Some(8..10)), (11..12, Some(15..16))]);
/// ```
#[inline]
pub fn attribute_spans(run: &[u8]) -> impl Iterator<Item = (Range<usize>, Option<Range<usize>>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = until(run, at, WHITE | SLASH | CLOSE, false);
        if start == run.len() {
            at = start;
            return None;
        }
        // The first byte always belongs to the name, even if it is `=`.
        let end = scan::attribute_name_end(run, start + 1);
        let (value, next) = value_span(run, end);
        at = next;
        Some((start..end, value))
    })
}

/// Return the value that follows a name ending at `at`, and where to continue.
#[inline]
fn value_span(run: &[u8], at: usize) -> (Option<Range<usize>>, usize) {
    let equals = until(run, at, WHITE, false);
    if run.get(equals) != Some(&b'=') {
        return (None, equals);
    }
    let start = until(run, equals + 1, WHITE, false);
    if let Some(&quote @ (b'"' | b'\'')) = run.get(start) {
        let start = start + 1;
        let end = scan::find(run, start, quote);
        return (Some(start..end), (end + 1).min(run.len()));
    }
    let end = until(run, start, WHITE | CLOSE, true);
    (Some(start..end), end)
}

/// Decode the attributes of a run, in source order; of a repeated name the first one counts.
///
/// HTML names are in lower case, except those that SVG and `MathML` write with capitals; a prefix
/// (`xlink:href`) stays part of the name.
///
/// ```
/// use quire_core::values::{Syntax, attributes};
/// use quire_core::Namespace;
///
/// let run = b" VIEWBOX='0 0 1 1' href=?a&amp;b viewbox";
/// let pairs = attributes(run, Syntax::Html(Namespace::Svg), encoding_rs::UTF_8);
/// assert_eq!(pairs, [("viewBox".into(), "0 0 1 1".into()), ("href".into(), "?a&b".into())]);
/// ```
#[must_use]
pub fn attributes<'a>(
    run: &'a [u8],
    syntax: Syntax,
    encoding: &'static Encoding,
) -> Vec<(Cow<'a, str>, Cow<'a, str>)> {
    let mut found: Vec<_> = attribute_spans(run)
        .map(|(name, value)| (attribute_name(&run[name], syntax, encoding), value))
        .collect();
    if found.len() <= FEW {
        for at in (1..found.len()).rev() {
            if found[..at].iter().any(|(name, _)| *name == found[at].0) {
                found.remove(at);
            }
        }
    } else {
        let mut seen = HashSet::with_capacity(found.len());
        let first: Vec<bool> = found
            .iter()
            .map(|(name, _)| seen.insert(name.as_ref()))
            .collect();
        let mut first = first.into_iter();
        found.retain(|_| first.next() == Some(true));
    }
    found
        .into_iter()
        .map(|(name, value)| {
            let value = value.map_or(Cow::Borrowed(""), |value| {
                attribute_value(&run[value], syntax, encoding)
            });
            (name, value)
        })
        .collect()
}

/// Return the name of an attribute as it is in the tree.
#[must_use]
pub fn attribute_name<'a>(
    raw: &'a [u8],
    syntax: Syntax,
    encoding: &'static Encoding,
) -> Cow<'a, str> {
    let Syntax::Html(namespace) = syntax else {
        return decode(raw, encoding);
    };
    let as_written = |&byte: &u8| byte.is_ascii() && byte != 0 && !byte.is_ascii_uppercase();
    // True for nearly every name: one check instead of one for each possible change.
    let plain = std::str::from_utf8(raw)
        .ok()
        .filter(|_| raw.iter().all(as_written) && encoding.is_ascii_compatible());
    let name = plain.map_or_else(
        || {
            let mut name = super::map(decode(raw, encoding), |name| expand(name, HTML_NAME));
            name.to_mut().make_ascii_lowercase();
            name
        },
        Cow::Borrowed,
    );
    match namespace {
        Namespace::Svg => match SVG.binary_search_by(|known| compare(known, &name)) {
            Ok(at) => Cow::Borrowed(SVG[at]),
            Err(_) => name,
        },
        Namespace::MathMl if name == "definitionurl" => Cow::Borrowed("definitionURL"),
        _ => name,
    }
}

/// Compare a name in mixed case with one in lower case, ignoring case.
fn compare(mixed: &str, lower: &str) -> std::cmp::Ordering {
    mixed
        .bytes()
        .map(|byte| byte.to_ascii_lowercase())
        .cmp(lower.bytes())
}

/// Decode the value of an attribute from its bytes without quotes.
///
/// HTML: character references by the rules for attributes, line ends, NUL becomes U+FFFD. XML: only
/// the references that XML itself defines; each literal white space character becomes a space, as
/// the normalisation of XML 1.0 (section 3.3.3) requires.
#[must_use]
pub fn attribute_value<'a>(
    raw: &'a [u8],
    syntax: Syntax,
    encoding: &'static Encoding,
) -> Cow<'a, str> {
    let value = decode(raw, encoding);
    match syntax {
        Syntax::Html(_) => super::map(value, |value| expand(value, HTML_VALUE)),
        Syntax::Xml => {
            let value = super::map(value, spaces);
            super::map(value, |value| expand(value, XML_VALUE))
        }
    }
}

/// Append the value of an HTML attribute; the bytes must be valid UTF-8.
pub fn append_attribute_value(raw: &[u8], out: &mut Vec<u8>) {
    expand_bytes(raw, HTML_VALUE, out);
}

/// Replace every tab and line end with a space.
fn spaces(value: &str) -> Cow<'_, str> {
    if memchr::memchr3(b'\t', b'\n', b'\r', value.as_bytes()).is_none() {
        return Cow::Borrowed(value);
    }
    Cow::Owned(value.replace("\r\n", " ").replace(['\t', '\n', '\r'], " "))
}

/// SVG attributes with capitals, sorted by their lower-case form.
static SVG: [&str; 58] = [
    "attributeName",
    "attributeType",
    "baseFrequency",
    "baseProfile",
    "calcMode",
    "clipPathUnits",
    "diffuseConstant",
    "edgeMode",
    "filterUnits",
    "glyphRef",
    "gradientTransform",
    "gradientUnits",
    "kernelMatrix",
    "kernelUnitLength",
    "keyPoints",
    "keySplines",
    "keyTimes",
    "lengthAdjust",
    "limitingConeAngle",
    "markerHeight",
    "markerUnits",
    "markerWidth",
    "maskContentUnits",
    "maskUnits",
    "numOctaves",
    "pathLength",
    "patternContentUnits",
    "patternTransform",
    "patternUnits",
    "pointsAtX",
    "pointsAtY",
    "pointsAtZ",
    "preserveAlpha",
    "preserveAspectRatio",
    "primitiveUnits",
    "refX",
    "refY",
    "repeatCount",
    "repeatDur",
    "requiredExtensions",
    "requiredFeatures",
    "specularConstant",
    "specularExponent",
    "spreadMethod",
    "startOffset",
    "stdDeviation",
    "stitchTiles",
    "surfaceScale",
    "systemLanguage",
    "tableValues",
    "targetX",
    "targetY",
    "textLength",
    "viewBox",
    "viewTarget",
    "xChannelSelector",
    "yChannelSelector",
    "zoomAndPan",
];
