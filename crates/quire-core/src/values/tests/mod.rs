//! Decoding compared with obvious code: the states of the standard, one character at a time.

mod attributes;
mod markup;

use std::borrow::Cow;

use encoding_rs::{
    BIG5, EUC_KR, Encoding, GB18030, GBK, SHIFT_JIS, UTF_8, WINDOWS_1252, X_USER_DEFINED,
};

use super::*;
use crate::page::vocabulary::Namespace;

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

/// Pseudo-random numbers, the same in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    /// Join up to `most` of the parts.
    fn join(&mut self, parts: &[&[u8]], most: usize) -> Vec<u8> {
        (0..self.below(most + 1))
            .flat_map(|_| parts[self.below(parts.len())])
            .copied()
            .collect()
    }
}

/// Return every string of up to `longest` of these characters.
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

fn decoded(raw: &[u8], mode: Mode) -> String {
    text(raw, mode, UTF_8).into_owned()
}

// Pieces on which modes, references, line ends and character sets are likely to go wrong.
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
            let decoded = text(&raw, mode, encoding);
            let plain = is_plain(&raw, mode, encoding);
            let leaf = !matches!(mode, Mode::Comment | Mode::Doctype | Mode::JsonString);
            if leaf || plain {
                assert_eq!(
                    plain,
                    decoded.as_bytes() == raw,
                    "{raw:?} {mode:?} {}",
                    encoding.name()
                );
            }
            if plain {
                assert!(matches!(decoded, Cow::Borrowed(_)), "{raw:?} {mode:?}");
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
        let lossy = String::from_utf8_lossy(&raw);
        let slow = slow_data(&lossy, "");
        assert_eq!(decoded(&raw, Mode::Data), slow, "{raw:?}");
        assert_eq!(
            decoded(&raw, Mode::Rcdata),
            slow_data(&lossy, "\u{fffd}"),
            "{raw:?}"
        );
        let after_pre = slow.strip_prefix('\n').filter(|_| !raw.starts_with(b"\0"));
        assert_eq!(
            decoded(&raw, Mode::DataAfterPre),
            after_pre.unwrap_or(&slow),
            "{raw:?}"
        );
    }
}

#[test]
fn one_line_end_after_pre_is_swallowed_however_it_is_written() {
    for raw in ["\nx", "\rx", "\r\nx", "&#10;x", "&NewLine;x"] {
        assert_eq!(decoded(raw.as_bytes(), Mode::DataAfterPre), "x", "{raw:?}");
        assert_eq!(
            decoded(raw.as_bytes(), Mode::RcdataAfterTextarea),
            "x",
            "{raw:?}"
        );
    }
    assert_eq!(decoded(b"\n\nx", Mode::DataAfterPre), "\nx");
    assert_eq!(decoded(b"\0\nx", Mode::DataAfterPre), "\nx");
    assert_eq!(decoded(b"&#13;x", Mode::DataAfterPre), "\rx");
}

#[test]
fn foreign_text_reads_references_outside_of_cdata_only() {
    let of = |raw: &str| decoded(raw.as_bytes(), Mode::Foreign);
    assert_eq!(
        of("a&lt;<![CDATA[b&lt;\r\n\0]]>c&lt;"),
        "a<b&lt;\n\u{fffd}c<"
    );
    assert_eq!(of("<![CDATA[a]]]]><![CDATA[>b]]>"), "a]]>b");
    assert_eq!(of("<![CDATA[x]]"), "x]]");
    assert_eq!(of("<![CDATA["), "");
    assert_eq!(of("a < b <![cdata[ & c"), "a < b <![cdata[ & c");
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
    // Quadratic code would take many minutes for these; linear code less than a second.
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
            let decoded = text(raw.as_bytes(), mode, UTF_8);
            assert!(decoded.len() <= 3 * raw.len());
        }
        assert!(!attributes(raw.as_bytes(), HTML, UTF_8).is_empty() || unit == "\r");
    }
    let digits = format!("&#{}", "7".repeat(LENGTH));
    assert_eq!(decoded(digits.as_bytes(), Mode::Data), "\u{fffd}");
    assert_eq!(decoded(digits.as_bytes(), Mode::XmlText), digits);
}
