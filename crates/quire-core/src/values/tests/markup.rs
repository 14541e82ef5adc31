//! Comments, doctypes, XML markup and JSON strings without their delimiters.

use super::{Numbers, all_strings, decoded};
use crate::page::text_mode::Mode;
use crate::values::{Doctype, Quirks, doctype, plain_comment, quirks};

/// The comment states of the standard. `None`: the input continues after the comment, or is
/// not a comment.
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
                decoded(format!("<!--{body}").as_bytes(), Mode::Comment),
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
        assert_eq!(decoded(raw.as_bytes(), Mode::Comment), expected, "{raw}");
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
    assert_eq!(decoded(b"<!DOCTYPE HTML>", Mode::Doctype), "html");
    assert_eq!(decoded(b"<!DOCTYPE>", Mode::Doctype), "");
    assert_eq!(
        decoded(b"<!DOCTYPE a SYSTEM 's'>", Mode::Doctype),
        r#"a "" "s""#
    );
    assert_eq!(
        decoded(b"<!DOCTYPE a PUBLIC 'p'>", Mode::Doctype),
        r#"a "p" """#
    );
    assert_eq!(decoded(b"<!DOCTYPE a PUBLIC ''>", Mode::Doctype), "a");
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
        decoded(b"&lt;&#65;&nbsp;&\r\n&#13;", Mode::XmlText),
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
        assert_eq!(decoded(raw.as_bytes(), Mode::XmlMarkup), expected, "{raw}");
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
                decoded(&raw, Mode::JsonString),
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
        assert_eq!(decoded(raw.as_bytes(), Mode::JsonString), expected, "{raw}");
    }
}

// Everything that opens or closes a comment, and everything that changes in one.
#[test]
fn the_data_of_a_plain_comment_is_what_it_reads_as() {
    let parts: &[&[u8]] = &[
        b"<!--", b"-->", b"--!>", b"-", b">", b"!", b"a", b"&lt;", b"\r", b"\0",
    ];
    let mut numbers = Numbers(0x51);
    let mut plain = 0;
    for _ in 0..20_000 {
        let raw = [b"<!--", numbers.join(parts, 5).as_slice(), b"-->"].concat();
        for raw in [&raw[..], &raw[..raw.len() - 1], &raw[1..]] {
            if let Some(data) = plain_comment(raw) {
                plain += 1;
                assert_eq!(
                    decoded(raw, Mode::Comment).as_bytes(),
                    &raw[data],
                    "{}",
                    raw.escape_ascii()
                );
            }
        }
    }
    assert!(plain > 5_000, "{plain}");
}
