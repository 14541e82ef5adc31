//! Attribute runs compared with the states of the standard, on every short run.

use std::borrow::Cow;

use encoding_rs::UTF_8;

use super::{HTML, all_strings};
use crate::page::vocabulary::Namespace;
use crate::values::{Syntax, attribute_spans, attribute_value, attributes};

/// The attribute states of the standard, one byte at a time; a `>` begins the next tag.
fn slow_attributes(run: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        BeforeName,
        Name,
        AfterName,
        SelfClosing,
        BeforeValue,
        Quoted(u8),
        Unquoted,
        AfterQuoted,
    }
    let mut out: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let mut state = State::BeforeName;
    let mut at = 0;
    while let Some(&byte) = run.get(at) {
        let white = matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ');
        at += 1;
        let reconsume = match state {
            State::BeforeName | State::AfterName | State::BeforeValue if white => false,
            State::BeforeName if matches!(byte, b'/' | b'>') => {
                state = State::AfterName;
                true
            }
            State::BeforeName => {
                out.push((Vec::new(), Vec::new()));
                state = State::Name;
                if byte == b'=' {
                    out.last_mut().unwrap().0.push(byte);
                }
                byte != b'='
            }
            State::Name if white || matches!(byte, b'/' | b'>') => {
                state = State::AfterName;
                true
            }
            State::Name if byte == b'=' => {
                state = State::BeforeValue;
                false
            }
            State::Name => {
                out.last_mut().unwrap().0.push(byte);
                false
            }
            State::AfterName | State::AfterQuoted if byte == b'/' => {
                state = State::SelfClosing;
                false
            }
            // Only a name can be followed by the `=` of this state; after `/` or `>` it is a name.
            State::AfterName if byte == b'=' => {
                state = State::BeforeValue;
                false
            }
            State::AfterName | State::AfterQuoted | State::SelfClosing => {
                state = State::BeforeName;
                byte != b'>'
            }
            State::BeforeValue if matches!(byte, b'"' | b'\'') => {
                state = State::Quoted(byte);
                false
            }
            State::BeforeValue if byte == b'>' => {
                state = State::BeforeName;
                false
            }
            State::BeforeValue => {
                state = State::Unquoted;
                true
            }
            State::Quoted(quote) if byte == quote => {
                state = State::AfterQuoted;
                false
            }
            State::Unquoted if white || byte == b'>' => {
                state = State::BeforeName;
                false
            }
            State::Quoted(_) | State::Unquoted => {
                out.last_mut().unwrap().1.push(byte);
                false
            }
        };
        if reconsume {
            at -= 1;
        }
    }
    out
}

#[test]
fn spans_are_those_of_the_states_of_the_standard_on_every_short_run() {
    for run in all_strings(b"a=/ \"'>", 6) {
        let spans: Vec<_> = attribute_spans(&run)
            .map(|(name, value)| {
                (
                    run[name].to_vec(),
                    value.map_or(Vec::new(), |v| run[v].to_vec()),
                )
            })
            .collect();
        assert_eq!(spans, slow_attributes(&run), "{}", run.escape_ascii());
    }
}

#[test]
fn odd_runs_give_the_attributes_a_browser_gives() {
    let of = |run: &str| {
        let pairs = attributes(run.as_bytes(), HTML, UTF_8);
        pairs
            .iter()
            .flat_map(|(name, value)| [name, "[", value, "]"])
            .collect::<String>()
    };
    for (run, expected) in [
        ("", ""),
        (" a=b/", "a[b/]"),
        (" a = 'b'c", "a[b]c[]"),
        (" \"x", "\"x[]"),
        (" =y", "=y[]"),
        (" ==y", "=[y]"),
        ("/ /a", "a[]"),
        (" a<b", "a<b[]"),
        (" a=b\"c'd", "a[b\"c'd]"),
        (" a=/", "a[/]"),
        (" a/=b", "a[]=b[]"),
        (" A=1 a=2 B\0=\r\n3&lt4", "a[1]b\u{fffd}[3&lt4]"),
        (" a='1\r\n&lt;\0'", "a[1\n<\u{fffd}]"),
        (" a=>b=c", "a[]b[c]"),
        (" a=", "a[]"),
    ] {
        assert_eq!(of(run), expected, "{run:?}");
    }
}

#[test]
fn many_attributes_are_deduplicated_as_few_are() {
    let names: Vec<_> = (0..40_000)
        .map(|n| format!("N{}={n}", n % 20_000))
        .collect();
    let run = names.join(" ");
    let pairs = attributes(run.as_bytes(), HTML, UTF_8);
    assert_eq!(pairs.len(), 20_000);
    assert!(
        pairs
            .iter()
            .enumerate()
            .all(|(n, (name, value))| { *name == format!("n{n}") && *value == n.to_string() })
    );
}

#[test]
fn names_take_the_capitals_of_their_namespace() {
    let name =
        |run: &'static str, syntax| attributes(run.as_bytes(), syntax, UTF_8)[0].0.to_string();
    let svg = Syntax::Html(Namespace::Svg);
    let math = Syntax::Html(Namespace::MathMl);
    assert_eq!(name("VIEWBOX", svg), "viewBox");
    assert_eq!(name("attributename", svg), "attributeName");
    assert_eq!(name("zoomandpan", svg), "zoomAndPan");
    assert_eq!(name("definitionurl", svg), "definitionurl");
    assert_eq!(name("definitionurl", math), "definitionURL");
    assert_eq!(name("viewBox", math), "viewbox");
    assert_eq!(name("viewBox", HTML), "viewbox");
    assert_eq!(name("XLink:Href", svg), "xlink:href");
    assert_eq!(name("viewBox", Syntax::Xml), "viewBox");
}

#[test]
fn xml_values_have_spaces_for_white_space_unless_it_is_referred_to() {
    let value = |raw: &'static str| attribute_value(raw.as_bytes(), Syntax::Xml, UTF_8);
    assert_eq!(value("a\r\nb\tc\nd&#10;&amp;&copy;"), "a b c d\n&&copy;");
    assert!(matches!(value("plain"), Cow::Borrowed("plain")));
}
