//! Doctypes: parse `<!DOCTYPE ...>` and find out whether it asks for quirks mode.
//!
//! The states of the WHATWG tokenizer from "DOCTYPE" to "bogus DOCTYPE", in one pass: each state is
//! a step forward and is never entered again.

use std::borrow::Cow;

use super::expand::expand;
use super::markup::RAW;

/// The parts of a doctype. An absent part is not the same as an empty one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Doctype {
    /// The name, in lower case.
    pub name: Option<String>,
    /// The public identifier.
    pub public: Option<String>,
    /// The system identifier.
    pub system: Option<String>,
    /// The doctype is so broken that the page is in quirks mode regardless of the rest.
    pub force_quirks: bool,
}

/// The layout mode that a page asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quirks {
    /// Standards mode.
    No,
    /// Standards mode, except for line heights in table cells.
    Limited,
    /// Like browsers of the nineties.
    Yes,
}

/// Parse a doctype, from its `<` to its `>` or to the end of the page.
///
/// ```
/// let doctype = quire_core::values::doctype(b"<!DOCTYPE HTML SYSTEM 'about:legacy-compat'>");
/// assert_eq!(doctype.name.as_deref(), Some("html"));
/// assert_eq!(doctype.public, None);
/// assert_eq!(doctype.system.as_deref(), Some("about:legacy-compat"));
/// assert!(!doctype.force_quirks);
/// ```
#[must_use]
pub fn doctype(raw: &[u8]) -> Doctype {
    parse(&String::from_utf8_lossy(raw))
}

/// Parse a doctype from decoded text, like [`doctype`].
pub(super) fn parse(source: &str) -> Doctype {
    const KEYWORD: &str = "<!doctype";
    let source = expand(source, RAW);
    let start = if has_prefix(&source, KEYWORD) {
        KEYWORD.len()
    } else {
        0
    };
    let mut rest = source[start..].trim_start_matches(WHITE);
    let mut doctype = Doctype::default();
    // `None` if the standard sets the force-quirks flag anywhere.
    doctype.force_quirks = read(&mut rest, &mut doctype).is_none();
    doctype
}

/// Fill in the parts; `None` if the standard sets the force-quirks flag on the way.
fn read(rest: &mut &str, doctype: &mut Doctype) -> Option<()> {
    let end = rest
        .find(|c| WHITE.contains(&c) || c == '>')
        .unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    if !name.is_empty() {
        doctype.name = Some(name.to_ascii_lowercase());
    }
    *rest = after.trim_start_matches(WHITE);
    if rest.starts_with('>') {
        return (!name.is_empty()).then_some(());
    }
    let public = has_prefix(rest, "public");
    if !public && !has_prefix(rest, "system") {
        return None;
    }
    *rest = rest[6..].trim_start_matches(WHITE);
    if public {
        identifier(rest, &mut doctype.public)?;
        if rest.starts_with('>') {
            return Some(());
        }
    }
    identifier(rest, &mut doctype.system)?;
    // Junk before the `>` is accepted here, a missing `>` is not.
    (!rest.is_empty()).then_some(())
}

/// Read a quoted identifier and the white space after it; `None` if it is absent or cut off.
fn identifier(rest: &mut &str, into: &mut Option<String>) -> Option<()> {
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let body = &rest[1..];
    let end = body.find([quote, '>']).unwrap_or(body.len());
    *into = Some(body[..end].to_owned());
    let closed = body[end..].starts_with(quote);
    *rest = body[end + usize::from(closed)..].trim_start_matches(WHITE);
    closed.then_some(())
}

/// Return the layout mode for a doctype. The document of an `iframe srcdoc` is never in quirks
/// mode.
#[must_use]
pub fn quirks(doctype: &Doctype, iframe_srcdoc: bool) -> Quirks {
    if iframe_srcdoc {
        return Quirks::No;
    }
    let public = doctype.public.as_deref().unwrap_or_default();
    let system = doctype.system.as_deref().unwrap_or_default();
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| has_prefix(public, prefix));
    let html_401 = starts(&HTML_401);
    if doctype.force_quirks
        || doctype.name.as_deref() != Some("html")
        || QUIRKY.iter().any(|id| id.eq_ignore_ascii_case(public))
        || system.eq_ignore_ascii_case(QUIRKY_SYSTEM)
        || starts(&QUIRKY_PREFIXES)
        || html_401 && doctype.system.is_none()
    {
        Quirks::Yes
    } else if html_401 || starts(&LIMITED) {
        Quirks::Limited
    } else {
        Quirks::No
    }
}

/// Print a doctype like the html5lib tests: `html`, or `html "public" "system"`.
pub(super) fn print(source: &str) -> Cow<'static, str> {
    let doctype = parse(source);
    let mut out = doctype.name.unwrap_or_default();
    let public = doctype.public.unwrap_or_default();
    let system = doctype.system.unwrap_or_default();
    if !public.is_empty() || !system.is_empty() {
        for part in [" \"", &public, "\" \"", &system, "\""] {
            out.push_str(part);
        }
    }
    Cow::Owned(out)
}

/// White space of markup; CR is already gone.
const WHITE: [char; 4] = ['\t', '\n', '\u{c}', ' '];

/// Whether `text` starts with `prefix`, ignoring case.
fn has_prefix(text: &str, prefix: &str) -> bool {
    text.as_bytes()
        .get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
}

const QUIRKY_SYSTEM: &str = "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd";
const QUIRKY: [&str; 3] = [
    "-//W3O//DTD W3 HTML Strict 3.0//EN//",
    "-/W3C/DTD HTML 4.0 Transitional/EN",
    "HTML",
];
const LIMITED: [&str; 2] = [
    "-//W3C//DTD XHTML 1.0 Frameset//",
    "-//W3C//DTD XHTML 1.0 Transitional//",
];
/// Limited quirks with a system identifier, full quirks without.
const HTML_401: [&str; 2] = [
    "-//W3C//DTD HTML 4.01 Frameset//",
    "-//W3C//DTD HTML 4.01 Transitional//",
];
const QUIRKY_PREFIXES: [&str; 55] = [
    "+//Silmaril//dtd html Pro v0r11 19970101//",
    "-//AS//DTD HTML 3.0 asWedit + extensions//",
    "-//AdvaSoft Ltd//DTD HTML 3.0 asWedit + extensions//",
    "-//IETF//DTD HTML 2.0 Level 1//",
    "-//IETF//DTD HTML 2.0 Level 2//",
    "-//IETF//DTD HTML 2.0 Strict Level 1//",
    "-//IETF//DTD HTML 2.0 Strict Level 2//",
    "-//IETF//DTD HTML 2.0 Strict//",
    "-//IETF//DTD HTML 2.0//",
    "-//IETF//DTD HTML 2.1E//",
    "-//IETF//DTD HTML 3.0//",
    "-//IETF//DTD HTML 3.2 Final//",
    "-//IETF//DTD HTML 3.2//",
    "-//IETF//DTD HTML 3//",
    "-//IETF//DTD HTML Level 0//",
    "-//IETF//DTD HTML Level 1//",
    "-//IETF//DTD HTML Level 2//",
    "-//IETF//DTD HTML Level 3//",
    "-//IETF//DTD HTML Strict Level 0//",
    "-//IETF//DTD HTML Strict Level 1//",
    "-//IETF//DTD HTML Strict Level 2//",
    "-//IETF//DTD HTML Strict Level 3//",
    "-//IETF//DTD HTML Strict//",
    "-//IETF//DTD HTML//",
    "-//Metrius//DTD Metrius Presentational//",
    "-//Microsoft//DTD Internet Explorer 2.0 HTML Strict//",
    "-//Microsoft//DTD Internet Explorer 2.0 HTML//",
    "-//Microsoft//DTD Internet Explorer 2.0 Tables//",
    "-//Microsoft//DTD Internet Explorer 3.0 HTML Strict//",
    "-//Microsoft//DTD Internet Explorer 3.0 HTML//",
    "-//Microsoft//DTD Internet Explorer 3.0 Tables//",
    "-//Netscape Comm. Corp.//DTD HTML//",
    "-//Netscape Comm. Corp.//DTD Strict HTML//",
    "-//O'Reilly and Associates//DTD HTML 2.0//",
    "-//O'Reilly and Associates//DTD HTML Extended 1.0//",
    "-//O'Reilly and Associates//DTD HTML Extended Relaxed 1.0//",
    "-//SQ//DTD HTML 2.0 HoTMetaL + extensions//",
    "-//SoftQuad Software//DTD HoTMetaL PRO 6.0::19990601::extensions to HTML 4.0//",
    "-//SoftQuad//DTD HoTMetaL PRO 4.0::19971010::extensions to HTML 4.0//",
    "-//Spyglass//DTD HTML 2.0 Extended//",
    "-//Sun Microsystems Corp.//DTD HotJava HTML//",
    "-//Sun Microsystems Corp.//DTD HotJava Strict HTML//",
    "-//W3C//DTD HTML 3 1995-03-24//",
    "-//W3C//DTD HTML 3.2 Draft//",
    "-//W3C//DTD HTML 3.2 Final//",
    "-//W3C//DTD HTML 3.2//",
    "-//W3C//DTD HTML 3.2S Draft//",
    "-//W3C//DTD HTML 4.0 Frameset//",
    "-//W3C//DTD HTML 4.0 Transitional//",
    "-//W3C//DTD HTML Experimental 19960712//",
    "-//W3C//DTD HTML Experimental 970421//",
    "-//W3C//DTD W3 HTML//",
    "-//W3O//DTD W3 HTML 3.0//",
    "-//WebTechs//DTD Mozilla HTML 2.0//",
    "-//WebTechs//DTD Mozilla HTML//",
];
