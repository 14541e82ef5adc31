//! Cooking against obvious code: the states of the standard, one character at a time.

use std::borrow::Cow;

use encoding_rs::{
    BIG5, EUC_KR, Encoding, GB18030, GBK, SHIFT_JIS, UTF_8, WINDOWS_1252, X_USER_DEFINED,
};

use super::*;
use crate::vocabulary::Namespace;

const MODES: [Mode; 12] = [
    Mode::Plain,
    Mode::Data,
    Mode::Rcdata,
    Mode::RawText,
    Mode::Foreign,
    Mode::Comment,
    Mode::Doctype,
    Mode::XmlText,
    Mode::XmlMarkup,
    Mode::JsonString,
    Mode::DataAfterPre,
    Mode::RcdataAfterTextarea,
];
const HTML: Syntax = Syntax::Html(Namespace::Html);

/// The same numbers at every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    /// Up to `most` of the parts, one after the other.
    fn join(&mut self, parts: &[&[u8]], most: usize) -> Vec<u8> {
        (0..self.below(most + 1))
            .flat_map(|_| parts[self.below(parts.len())])
            .copied()
            .collect()
    }
}

/// Every string of up to `longest` of these characters.
fn all_strings(alphabet: &[u8], longest: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..longest {
        let to = all.len();
        for at in from..to {
            for &byte in alphabet {
                let mut next = all[at].clone();
                next.push(byte);
                all.push(next);
            }
        }
        from = to;
    }
    all
}

fn cooked(raw: &[u8], mode: Mode) -> String {
    text(raw, mode, UTF_8).into_owned()
}

// Pieces where modes, references, line ends and character sets go wrong.
const PIECES: &[&[u8]] = &[
    b"&",
    b"&amp;",
    b"&not",
    b"it;",
    b"&#13;",
    b"&#x",
    b"41",
    b";",
    b"&nbsp",
    b"&nGt;",
    b"\r",
    b"\n",
    b"\0",
    b"x",
    b" ",
    b"<",
    b">",
    b"-",
    b"!",
    b"?",
    b"\"",
    b"\\",
    b"u",
    b"d83d",
    b"=",
    b"<![CDATA[",
    b"]]>",
    b"]",
    "\u{e9}".as_bytes(),
    "\u{feff}".as_bytes(),
    b"\x81",
    b"\x30",
    b"\xff",
    b"<!--",
    b"<!doctype ",
    b"&quot;",
];

#[test]
fn plain_is_what_text_leaves_alone_and_what_it_leaves_alone_is_borrowed() {
    let mut numbers = Numbers(0x5eed);
    for _ in 0..10_000 {
        let raw = numbers.join(PIECES, 6);
        for mode in MODES {
            let encoding = [UTF_8, WINDOWS_1252, GB18030][numbers.below(3)];
            let cooked = text(&raw, mode, encoding);
            let plain = is_plain(&raw, mode, encoding);
            let leaf = !matches!(mode, Mode::Comment | Mode::Doctype | Mode::JsonString);
            if leaf || plain {
                assert_eq!(
                    plain,
                    cooked.as_bytes() == raw,
                    "{raw:?} {mode:?} {}",
                    encoding.name()
                );
            }
            if plain {
                assert!(matches!(cooked, Cow::Borrowed(_)), "{raw:?} {mode:?}");
            }
        }
    }
}

/// Line ends first, then references, then NUL: three passes instead of one.
fn slow_data(raw: &str, nul: &str) -> String {
    let source = raw.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::new();
    let mut rest = source.as_str();
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        if first == '&'
            && let Some((with, used)) = references::html(after.as_bytes(), false)
        {
            with.push(&mut out);
            rest = &after[used..];
        } else if first == '\0' {
            out.push_str(nul);
            rest = after;
        } else {
            out.push(first);
            rest = after;
        }
    }
    out
}

#[test]
fn text_is_line_ends_then_references_then_nul() {
    let mut numbers = Numbers(0xda7a);
    for _ in 0..10_000 {
        let raw = numbers.join(PIECES, 8);
        let decoded = String::from_utf8_lossy(&raw);
        let slow = slow_data(&decoded, "");
        assert_eq!(cooked(&raw, Mode::Data), slow, "{raw:?}");
        assert_eq!(
            cooked(&raw, Mode::Rcdata),
            slow_data(&decoded, "\u{fffd}"),
            "{raw:?}"
        );
        let after_pre = slow.strip_prefix('\n').filter(|_| !raw.starts_with(b"\0"));
        assert_eq!(
            cooked(&raw, Mode::DataAfterPre),
            after_pre.unwrap_or(&slow),
            "{raw:?}"
        );
    }
}

#[test]
fn one_line_end_after_pre_is_swallowed_however_it_is_written() {
    for raw in ["\nx", "\rx", "\r\nx", "&#10;x", "&NewLine;x"] {
        assert_eq!(cooked(raw.as_bytes(), Mode::DataAfterPre), "x", "{raw:?}");
        assert_eq!(
            cooked(raw.as_bytes(), Mode::RcdataAfterTextarea),
            "x",
            "{raw:?}"
        );
    }
    assert_eq!(cooked(b"\n\nx", Mode::DataAfterPre), "\nx");
    assert_eq!(cooked(b"\0\nx", Mode::DataAfterPre), "\nx");
    assert_eq!(cooked(b"&#13;x", Mode::DataAfterPre), "\rx");
}

#[test]
fn foreign_text_reads_references_outside_of_cdata_only() {
    let of = |raw: &str| cooked(raw.as_bytes(), Mode::Foreign);
    assert_eq!(
        of("a&lt;<![CDATA[b&lt;\r\n\0]]>c&lt;"),
        "a<b&lt;\n\u{fffd}c<"
    );
    assert_eq!(of("<![CDATA[a]]]]><![CDATA[>b]]>"), "a]]>b");
    assert_eq!(of("<![CDATA[x]]"), "x]]");
    assert_eq!(of("<![CDATA["), "");
    assert_eq!(of("a < b <![cdata[ & c"), "a < b <![cdata[ & c");
}

/// The comment states of the standard. `None`: the input goes on after the comment, or it is none.
fn slow_comment(body: &str) -> Option<String> {
    #[derive(Clone, Copy)]
    enum State {
        Start,
        StartDash,
        Comment,
        EndDash,
        End,
        Bang,
    }
    let mut data = String::new();
    let mut state = State::Start;
    let mut characters = body.chars().peekable();
    while let Some(&next) = characters.peek() {
        let (to, append, consume) = match (state, next) {
            (State::Start | State::StartDash | State::End | State::Bang, '>') => {
                return (characters.count() == 1).then_some(data);
            }
            (State::Start, '-') => (State::StartDash, "", true),
            (State::StartDash | State::EndDash, '-') => (State::End, "", true),
            (State::StartDash | State::EndDash, _) => (State::Comment, "-", false),
            (State::Start, _) => (State::Comment, "", false),
            (State::Comment, '-') => (State::EndDash, "", true),
            (State::Comment, _) => {
                data.push(next);
                (State::Comment, "", true)
            }
            (State::End, '!') => (State::Bang, "", true),
            (State::End, '-') => (State::End, "-", true),
            (State::End, _) => (State::Comment, "--", false),
            (State::Bang, '-') => (State::EndDash, "--!", true),
            (State::Bang, _) => (State::Comment, "--!", false),
        };
        data.push_str(append);
        state = to;
        if consume {
            characters.next();
        }
    }
    Some(data)
}

#[test]
fn comments_end_as_the_states_of_the_standard_say() {
    let mut tried = 0;
    for body in all_strings(b"-!><x", 7) {
        let body = String::from_utf8(body).unwrap();
        if let Some(expected) = slow_comment(&body) {
            tried += 1;
            assert_eq!(
                cooked(format!("<!--{body}").as_bytes(), Mode::Comment),
                expected,
                "{body}"
            );
        }
    }
    assert!(tried > 50_000);
}

#[test]
fn bogus_comments_lose_their_brackets() {
    for (raw, expected) in [
        ("<?x y?>", "?x y?"),
        ("<!x>", "x"),
        ("</ x>", " x"),
        ("<!-x>", "-x"),
        ("<![CDATA[x]]>", "[CDATA[x]]"),
        ("<!>", ""),
        ("<!", ""),
        ("<?", "?"),
        ("</\0\r\n", "\u{fffd}\n"),
    ] {
        assert_eq!(cooked(raw.as_bytes(), Mode::Comment), expected, "{raw}");
    }
}

#[test]
fn doctypes_are_read_as_the_standard_says() {
    let of = |raw: &str| {
        let doctype = doctype(raw.as_bytes());
        (
            doctype.name,
            doctype.public,
            doctype.system,
            doctype.force_quirks,
        )
    };
    let some = |text: &str| Some(text.to_owned());
    for (raw, expected) in [
        ("<!DOCTYPE html>", (some("html"), None, None, false)),
        ("<!doctypeHTML\t>", (some("html"), None, None, false)),
        ("<!DOCTYPE", (None, None, None, true)),
        ("<!DOCTYPE >", (None, None, None, true)),
        ("<!DOCTYPE h\0", (some("h\u{fffd}"), None, None, true)),
        ("<!DOCTYPE a b>", (some("a"), None, None, true)),
        ("<!DOCTYPE a PUBLIC>", (some("a"), None, None, true)),
        ("<!DOCTYPE a PUBLIC''>", (some("a"), some(""), None, false)),
        ("<!DOCTYPE a PUBLIC 'p", (some("a"), some("p"), None, true)),
        ("<!DOCTYPE a PUBLIC 'p>", (some("a"), some("p"), None, true)),
        (
            "<!DOCTYPE a PUBLIC 'p'x>",
            (some("a"), some("p"), None, true),
        ),
        (
            "<!DOCTYPE a PUBLIC 'p'\"s\">",
            (some("a"), some("p"), some("s"), false),
        ),
        (
            "<!DOCTYPE a PUBLIC 'p' 's",
            (some("a"), some("p"), some("s"), true),
        ),
        (
            "<!DOCTYPE a public 'p' 's' x>",
            (some("a"), some("p"), some("s"), false),
        ),
        (
            "<!DOCTYPE a SYSTEM's\r\n'x",
            (some("a"), None, some("s\n"), false),
        ),
        ("<!DOCTYPE a SYSTEM 's'", (some("a"), None, some("s"), true)),
        ("<!DOCTYPE a SYSTEM s>", (some("a"), None, None, true)),
    ] {
        assert_eq!(of(raw), expected, "{raw}");
    }
}

#[test]
fn doctypes_print_as_html5lib_prints_them() {
    assert_eq!(cooked(b"<!DOCTYPE HTML>", Mode::Doctype), "html");
    assert_eq!(cooked(b"<!DOCTYPE>", Mode::Doctype), "");
    assert_eq!(
        cooked(b"<!DOCTYPE a SYSTEM 's'>", Mode::Doctype),
        r#"a "" "s""#
    );
    assert_eq!(
        cooked(b"<!DOCTYPE a PUBLIC 'p'>", Mode::Doctype),
        r#"a "p" """#
    );
    assert_eq!(cooked(b"<!DOCTYPE a PUBLIC ''>", Mode::Doctype), "a");
}

#[test]
fn quirks_follow_the_lists_of_the_standard() {
    let of = |raw: &str| quirks(&doctype(raw.as_bytes()), false);
    assert_eq!(of("<!DOCTYPE html>"), Quirks::No);
    assert_eq!(of("<!DOCTYPE html"), Quirks::Yes);
    assert_eq!(of("<!DOCTYPE potato>"), Quirks::Yes);
    assert_eq!(of("<!DOCTYPE html PUBLIC 'html'>"), Quirks::Yes);
    assert_eq!(
        of("<!DOCTYPE html PUBLIC '-//w3c//dtd html 3.2//EN'>"),
        Quirks::Yes
    );
    let transitional = "<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 4.01 Transitional//EN'";
    assert_eq!(of(&format!("{transitional}>")), Quirks::Yes);
    assert_eq!(of(&format!("{transitional} ''>")), Quirks::Limited);
    assert_eq!(
        of("<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Frameset//EN'>"),
        Quirks::Limited
    );
    assert_eq!(
        of("<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 4.01//EN'>"),
        Quirks::No
    );
    assert_eq!(quirks(&Doctype::default(), true), Quirks::No);
}

#[test]
fn xml_text_and_markup() {
    assert_eq!(
        cooked(b"&lt;&#65;&nbsp;&\r\n&#13;", Mode::XmlText),
        "<A&nbsp;&\n\r"
    );
    for (raw, expected) in [
        ("<!--a-->", "a"),
        ("<!--a", "a"),
        ("<![CDATA[a&amp;\r]]>", "a&amp;\n"),
        ("<?a b?>", "a b"),
        ("<?a?", "a?"),
        ("<!DOCTYPE a [\r\n]>", "<!DOCTYPE a [\n]>"),
    ] {
        assert_eq!(cooked(raw.as_bytes(), Mode::XmlMarkup), expected, "{raw}");
    }
}

#[test]
fn json_strings_agree_with_another_reader() {
    let parts: &[&[u8]] = &[
        b"\\",
        b"u",
        b"\\ud83d",
        b"\\ude00",
        b"\\u0041",
        b"n",
        b"\\n",
        b"\\\"",
        b"x",
        b"/",
        "\u{e9}".as_bytes(),
        b"00e9",
    ];
    let mut numbers = Numbers(0x750);
    let mut tried = 0;
    for _ in 0..20_000 {
        let raw = [b"\"", numbers.join(parts, 6).as_slice(), b"\""].concat();
        if let Ok(expected) = serde_json::from_slice::<String>(&raw) {
            tried += 1;
            assert_eq!(
                cooked(&raw, Mode::JsonString),
                expected,
                "{}",
                raw.escape_ascii()
            );
        }
    }
    assert!(tried > 2_000);
}

#[test]
fn broken_json_strings_keep_what_can_be_kept() {
    for (raw, expected) in [
        (r#""\ud83d""#, "\u{fffd}"),
        (r#""\ude00\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
        (r#""\ud83d\u0041""#, "\u{fffd}A"),
        (r#""\x\u12""#, r"\x\u12"),
        (r#""a"#, "a"),
        (r#""a\""#, "a\""),
        (r#"""#, ""),
        ("", ""),
    ] {
        assert_eq!(cooked(raw.as_bytes(), Mode::JsonString), expected, "{raw}");
    }
}

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
            State::BeforeName if white => false,
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
            State::AfterName if white => false,
            State::AfterName | State::AfterQuoted if byte == b'/' => {
                state = State::SelfClosing;
                false
            }
            // Only a name is followed by this state's `=`; what follows `/` or `>` is not.
            State::AfterName if byte == b'=' => {
                state = State::BeforeValue;
                false
            }
            State::AfterName | State::AfterQuoted | State::SelfClosing => {
                state = State::BeforeName;
                byte != b'>'
            }
            State::BeforeValue if white => false,
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
            .map(|(name, value)| format!("{name}[{value}]"))
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
    let run: String = (0..40_000)
        .map(|n| format!(" N{}={n}", n % 20_000))
        .collect();
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

#[test]
fn bytes_are_decoded_before_anything_is_read_in_them() {
    // The second byte of a character may be a letter or a bracket, never markup.
    assert_eq!(
        text(b"<![CDATA[\x83\x5d]>", Mode::Foreign, SHIFT_JIS),
        "\u{30be}]>"
    );
    assert_eq!(text(b"\x83\x41&lt;", Mode::Data, SHIFT_JIS), "\u{30a2}<");
    assert_eq!(attributes(b" \x83\x41=1", HTML, SHIFT_JIS)[0].0, "\u{30a2}");
    assert_eq!(text(b"\xef\xbb\xbfx", Mode::Data, UTF_8), "\u{feff}x");
    assert_eq!(
        text(b"\x80\xff", Mode::RawText, WINDOWS_1252),
        "\u{20ac}\u{ff}"
    );
    assert_eq!(
        text(b"a\xffb\xe2\x82", Mode::Data, UTF_8),
        "a\u{fffd}b\u{fffd}"
    );
}

#[test]
fn a_leaf_is_decoded_as_it_is_in_the_page() {
    let parts: &[&[u8]] = &[
        b"\x81", b"0", b"9", b"\x84", b"\xfe", b"a", b"\x8e", b"\xe3", b"\xa4", b"@", b"\xff",
    ];
    let encodings: [&'static Encoding; 8] = [
        GBK,
        GB18030,
        BIG5,
        EUC_KR,
        SHIFT_JIS,
        UTF_8,
        WINDOWS_1252,
        X_USER_DEFINED,
    ];
    let mut numbers = Numbers(0xc4a7);
    for _ in 0..20_000 {
        let raw = numbers.join(parts, 6);
        let encoding = encodings[numbers.below(encodings.len())];
        let page = [raw.as_slice(), b"<p>"].concat();
        let (whole, _) = encoding.decode_without_bom_handling(&page);
        let leaf = text(&raw, Mode::Plain, encoding);
        assert_eq!(format!("{leaf}<p>"), whole, "{raw:?} {}", encoding.name());
    }
}

#[test]
fn hostile_texts_take_linear_time() {
    // Quadratic code would need many minutes for these, not a second.
    const LENGTH: usize = 100_000;
    for unit in [
        "&",
        "&a",
        "&#",
        "&#x",
        "&notit",
        "\r",
        "\0",
        "<![CDATA[",
        "]]",
        "<",
        "\\u",
        "&#1",
    ] {
        let raw = unit.repeat(LENGTH / unit.len());
        for mode in MODES {
            let cooked = text(raw.as_bytes(), mode, UTF_8);
            assert!(cooked.len() <= 3 * raw.len());
        }
        assert!(!attributes(raw.as_bytes(), HTML, UTF_8).is_empty() || unit == "\r");
    }
    let digits = format!("&#{}", "7".repeat(LENGTH));
    assert_eq!(cooked(digits.as_bytes(), Mode::Data), "\u{fffd}");
    assert_eq!(cooked(digits.as_bytes(), Mode::XmlText), digits);
}
