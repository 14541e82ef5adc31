//! Awkward pages, and properties that must hold for any page.
//!
//! Shared by the integration tests and the fuzz targets, so that a finding of one is a test of the
//! other. Everything is deterministic: each seed gives one page.

#![allow(dead_code)] // every test binary uses its own part of this

use std::fmt::Write;

use quire_core::html::Context;
use quire_core::{
    Class, Digest, Flags, Kind, Mode, Namespace, Options, Verify, decode, emit, encode, format,
};

/// xorshift64*: small, and the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 33) as usize % limit.max(1)
    }

    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// Elements by their role in the rules; mis-nesting comes from drawing start and end tags
/// separately.
const ELEMENTS: [&[&str]; 12] = [
    &["b", "i", "a", "nobr", "font", "code", "em", "u"],
    &[
        "table", "tbody", "thead", "tr", "td", "th", "caption", "colgroup", "col",
    ],
    &[
        "p", "div", "section", "address", "h1", "h2", "pre", "listing", "center",
    ],
    &["ul", "ol", "li", "dl", "dd", "dt"],
    &[
        "form", "button", "input", "select", "option", "optgroup", "textarea", "hr",
    ],
    &["template"],
    &[
        "svg",
        "math",
        "mi",
        "mtext",
        "foreignObject",
        "desc",
        "annotation-xml",
        "clipPath",
        "g",
    ],
    &[
        "html", "head", "body", "frameset", "frame", "noframes", "noscript",
    ],
    &["script", "style", "title", "xmp", "iframe", "noembed"],
    &[
        "object", "applet", "marquee", "ruby", "rb", "rt", "rp", "rtc",
    ],
    &["br", "img", "image", "meta", "link", "base", "wbr", "param"],
    &["x-own", "o:p", "h\u{e9}", "plaintext"],
];

const RUNS: [&str; 16] = [
    "",
    "",
    "",
    "",
    " a",
    " a=1",
    " a='1' b=\"2\"",
    " a a=2",
    " type=hidden",
    " /",
    "/",
    " a=/",
    " =",
    " color=red",
    " encoding=text/html",
    "\n\tclass = x ",
];

const TEXTS: [&str; 22] = [
    "x",
    " ",
    "\n",
    "\r\n",
    "\r",
    "\0",
    "a\0b",
    "&amp;",
    "&",
    "&#10;",
    "&#0;",
    "&#x110000;",
    "&notit;",
    "&lt",
    "<",
    "</",
    "<>",
    "</>",
    "word word",
    "\u{e9}\u{4e2d}",
    "\u{feff}",
    "]]>",
];

const MARKUP: [&str; 20] = [
    "<!doctype html>",
    "<!DOCTYPE HTML PUBLIC \"x\">",
    "<!doctype",
    "<!-- c -->",
    "<!---->",
    "<!-->",
    "<!--",
    "-->",
    "<!x>",
    "<?xml version='1.0'?>",
    "<?pi",
    "<![CDATA[x]]>",
    "<![CDATA[",
    "</ x>",
    "</p >",
    "</B x=1>",
    "<!--></script>",
    "<script><!--<script>",
    "</script>",
    "</template>",
];

/// Make a page of about `pieces` pieces.
pub fn page(random: &mut Random, pieces: usize) -> Vec<u8> {
    let mut out = String::new();
    if random.below(16) == 0 {
        out.push('\u{feff}');
    }
    if random.below(3) == 0 {
        out.push_str("<!doctype html>");
    }
    // Each page uses few kinds of elements, or the interesting ones would rarely meet.
    let kinds = [random.below(12), random.below(12), random.below(12)];
    for _ in 0..pieces {
        match random.below(12) {
            0..=4 => {
                let kind = if random.below(8) == 0 {
                    random.below(12)
                } else {
                    kinds[random.below(3)]
                };
                let name = spelled(random, kind);
                let run = random.pick(&RUNS);
                let _ = write!(out, "<{name}{run}>");
            }
            5..=7 => {
                let kind = if random.below(8) == 0 {
                    random.below(12)
                } else {
                    kinds[random.below(3)]
                };
                let name = spelled(random, kind);
                let _ = write!(out, "</{name}>");
            }
            8..=10 => out.push_str(random.pick(&TEXTS)),
            _ => out.push_str(random.pick(&MARKUP)),
        }
    }
    out.into_bytes()
}

fn spelled(random: &mut Random, kind: usize) -> String {
    let name = random.pick(ELEMENTS[kind]);
    // `plaintext` takes the rest of the page, so it is kept rare.
    let name = if name == "plaintext" && random.below(4) > 0 {
        "x-own"
    } else {
        name
    };
    if random.below(10) == 0 {
        name.to_uppercase()
    } else {
        name.to_owned()
    }
}

/// Damage a page: cut, duplicate, swap or overwrite something.
pub fn mutate(random: &mut Random, page: &mut Vec<u8>) {
    for _ in 0..=random.below(3) {
        if page.is_empty() {
            return;
        }
        let at = random.below(page.len());
        match random.below(5) {
            0 => page.truncate(at),
            1 => page[at] = random.next() as u8,
            2 => {
                let until = (at + random.below(30)).min(page.len());
                let copy = page[at..until].to_vec();
                let to = random.below(page.len());
                page.splice(to..to, copy);
            }
            3 => {
                page.remove(at);
            }
            _ => page.insert(at, b"<>/&\0\r!-"[random.below(8)]),
        }
    }
}

/// Return the options for a choice: scripting, fragment contexts.
pub fn html_options(choice: usize) -> Options {
    const CONTEXTS: [(Namespace, &str); 13] = [
        (Namespace::Html, "div"),
        (Namespace::Html, "table"),
        (Namespace::Html, "tr"),
        (Namespace::Html, "td"),
        (Namespace::Html, "template"),
        (Namespace::Html, "select"),
        (Namespace::Html, "title"),
        (Namespace::Html, "frameset"),
        (Namespace::Html, "form"),
        (Namespace::Html, "html"),
        (Namespace::Html, "colgroup"),
        (Namespace::Svg, "foreignObject"),
        (Namespace::MathMl, "annotation-xml"),
    ];
    let context = (choice / 2 % 20).checked_sub(7).map(|i| Context {
        namespace: CONTEXTS[i].0,
        name: CONTEXTS[i].1.to_owned(),
        html_integration: choice.is_multiple_of(3),
    });
    Options {
        kind: Some(Kind::Html),
        scripting: choice.is_multiple_of(2),
        context,
        ..Options::default()
    }
}

/// Check everything that must hold for the digest of any page.
pub fn assert_sound(source: &[u8], digest: &Digest) {
    assert!(
        decode(digest).expect("a fresh digest decodes") == source,
        "decode differs"
    );
    let stored = digest.whole().unwrap().into_owned();
    let again = Digest::open(Box::new(stored.clone()), Verify::All).expect("its own file opens");
    assert!(decode(&again).expect("a stored digest decodes") == source);
    if !digest.flags().has(Flags::VERBATIM) && !digest.flags().has(Flags::TRANSCODED) {
        let mut out = Vec::new();
        emit(&again, &mut out);
        assert!(out == source, "emit differs");
    }
    let packed = format::compress(&stored, 1).expect("compresses");
    assert!(format::decompress(&packed).expect("decompresses") == stored);
    visit(&again);
}

/// Encode and check a page.
pub fn sound(source: &[u8], options: &Options) -> Digest {
    let digest = encode(source, options).expect("this page encodes");
    assert_sound(source, &digest);
    digest
}

/// Encode a page with and without recovery, and check both: they differ only for pages with a
/// fault.
pub fn sound_with_and_without_recovery(source: &[u8], kind: Kind) {
    let mut options = Options {
        kind: Some(kind),
        recover: true,
        ..Options::default()
    };
    let recovered = sound(source, &options);
    options.recover = false;
    match encode(source, &options) {
        Ok(strict) => {
            assert_sound(source, &strict);
            assert!(
                strict.whole().unwrap() == recovered.whole().unwrap(),
                "recovery changes a sound page"
            );
        }
        Err(_) => assert!(
            recovered.flags().has(Flags::RECOVERED),
            "a fault that is not flagged"
        ),
    }
}

/// Read everything a digest offers. Returns the number of bytes seen, so that the work is not
/// optimised away.
pub fn visit(digest: &Digest) -> usize {
    let n = digest.n();
    let derived = digest.derived();
    assert_eq!(derived.size[0] as usize, n);
    let wide = digest.wide();
    let mut seen = wide.tag.len();
    for tag in 0..digest.tag_count() {
        seen += digest.tag_name(tag).len() + digest.tag_info(tag).class as usize;
        seen += digest.start_spelling(tag).map_or(0, <[u8]>::len);
        seen += digest.end_spelling(tag).map_or(0, <[u8]>::len);
    }
    for id in 0..digest.attr_count() {
        seen += digest.attr_run(id).len();
    }
    for id in 0..digest.content_count() {
        seen += digest.content_raw(id).len() + digest.content_text(id).len();
        seen += usize::from(digest.content_mode(id) == Mode::Plain);
    }
    for node in 0..n {
        let class = digest.class(node);
        assert_eq!(
            class == Class::Document,
            node == 0,
            "one document, and it is the root"
        );
        assert_eq!(
            class.is_leaf(),
            wide.content[node] >= 0,
            "leaves have content, no other node has"
        );
        let attributes = digest.attributes(node);
        seen += attributes
            .iter()
            .map(|(name, value)| name.len() + value.len())
            .sum::<usize>();
        assert!(
            wide.attr[node] < 0 || class == Class::Element,
            "only elements have attributes"
        );
    }
    seen + digest.meta().encoding.len() + digest.encoding().name().len()
}
