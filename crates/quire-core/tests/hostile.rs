//! Pages that could cause more work than they have bytes: the cost stays linear in their size.
//!
//! The tests assert counts, not times: nodes, bytes of the digest, depth of the tree. `cargo test
//! --release --test hostile -- --nocapture` prints the time of each shape, for `n` and `4 n`; the
//! last column should stay near 1.

#![allow(clippy::cast_precision_loss)] // figures for people

#[path = "common/pages.rs"]
mod pages;

use std::fmt::Write;
use std::time::Instant;

use pages::{html_options, sound};
use quire_core::html::MAX_DEPTH;
use quire_core::{Digest, Flags, Kind, Options, decode, encode};

/// Debug builds check the same counts on smaller pages.
const SCALE: usize = if cfg!(debug_assertions) { 16 } else { 1 };

/// Maximum number of nodes per byte: a copied formatting element for every two nodes of its own,
/// and no node of its own in less than three bytes except implied ones.
const NODES_PER_BYTE: usize = 2;
/// Maximum number of digest bytes per byte of page. Columns take at most 16 bytes per node.
const DIGEST_PER_BYTE: usize = 24;

fn repeat(text: &str, n: usize) -> String {
    text.repeat(n)
}

fn numbered(n: usize, line: impl Fn(&mut String, usize)) -> String {
    let mut out = String::new();
    for i in 0..n {
        line(&mut out, i);
    }
    out
}

type Make = fn(usize) -> String;
type Shape = (&'static str, usize, Make);

/// Name, size, page. Sizes make pages of a few MB.
const SHAPES: &[Shape] = &[
    ("nested div", 1_000_000, |n| repeat("<div>", n)),
    ("nested div, closed", 400_000, |n| {
        repeat("<div>", n) + &repeat("</div>", n)
    }),
    ("nested ul li", 64_000, |n| repeat("<ul><li>", n)),
    ("nested dl dd", 200_000, |n| repeat("<dl><dd>", n)),
    ("nested b", 1_000_000, |n| repeat("<b>", n)),
    ("nested svg", 500_000, |n| repeat("<svg>", n)),
    ("nested math mi", 300_000, |n| repeat("<math><mi>", n)),
    ("nested template", 200_000, |n| repeat("<template>", n)),
    ("nested table cell", 200_000, |n| {
        repeat("<table><tr><td>", n)
    }),
    ("nested table", 500_000, |n| repeat("<table>", n)),
    ("nested select", 500_000, |n| repeat("<select>", n)),
    ("nested button", 500_000, |n| repeat("<button>", n)),
    ("nested object", 300_000, |n| repeat("<object>", n)),
    ("nested a", 500_000, |n| repeat("<a>", n)),
    ("nested nobr", 500_000, |n| repeat("<nobr>", n)),
    ("nested form template", 200_000, |n| {
        repeat("<template><form>", n)
    }),
    ("b i x over", 10_000, |n| {
        repeat("<b i>", n) + &repeat("<i i>", n) + &repeat("x</b>", n)
    }),
    ("b p over", 100_000, |n| {
        repeat("<b><p>", n) + &repeat("</b>", n)
    }),
    ("b p x", 200_000, |n| repeat("<b><p></b>x", n)),
    ("a div", 200_000, |n| repeat("<a><div>", n)),
    ("a div over", 200_000, |n| {
        repeat("<a><div>", n) + &repeat("</a>", n)
    }),
    ("b under many b", 40_000, |n| {
        repeat("<b>", n) + &repeat("<p><b></p>x", n)
    }),
    ("many b under objects", 40_000, |n| {
        repeat("<b><object>", n) + &repeat("<p><b></p>x", n)
    }),
    ("different b", 300_000, |n| {
        numbered(n, |o, i| write!(o, "<b {i}>").unwrap())
    }),
    ("different long b", 10_000, |n| {
        numbered(n, |o, i| {
            write!(o, "<b {i} c='{}' d e f g h j k>", "x".repeat(200)).unwrap();
        })
    }),
    ("different b reopened", 100_000, |n| {
        numbered(64, |o, i| write!(o, "<b {i}>").unwrap()) + &repeat("<p>x</p>", n)
    }),
    ("b closed outside, p x", 200_000, |n| {
        format!("<div>{}</div>", repeat("<b><i><u>", 20)) + &repeat("<p>x</p>", n)
    }),
    ("long run copied", 200_000, |n| {
        format!("<div><b {}></div>", "a".repeat(4 * n)) + &repeat("<p>x</p>", n)
    }),
    ("adoption of deep formatting", 20_000, |n| {
        repeat(
            &(repeat("<b 1><i><u><s>", 100) + "<div>" + &repeat("</b>", 100)),
            n / 200,
        )
    }),
    ("adoption over many spans", 2_000, |n| {
        repeat(
            &("<b>".to_owned() + &repeat("<span>", 400) + "<div></b></div>"),
            n / 2,
        )
    }),
    ("fostered text", 300_000, |n| {
        "<table>".to_owned() + &repeat("x<tr>", n)
    }),
    ("fostered elements", 300_000, |n| {
        "<table>".to_owned() + &repeat("<b>x", n)
    }),
    ("fostered div table", 200_000, |n| repeat("<table><div>", n)),
    ("tables in fostered cells", 100_000, |n| {
        repeat("<table><tr><td><b>x<table>y", n)
    }),
    ("text in pieces", 300_000, |n| {
        "<table>".to_owned() + &repeat("x</b>", n)
    }),
    ("text in pieces, two places", 200_000, |n| {
        "<table>".to_owned() + &repeat("x<td> </td>", n)
    }),
    ("space after body", 300_000, |n| {
        "<body>x</body>".to_owned() + &repeat(" <!---->", n)
    }),
    ("comments after html", 300_000, |n| {
        "<body>x</body></html>".to_owned() + &repeat("<!----> y", n)
    }),
    ("html again", 200_000, |n| {
        numbered(n, |o, i| write!(o, "<html a{i}>").unwrap())
    }),
    ("body again", 200_000, |n| {
        numbered(n, |o, i| write!(o, "<body a{i}=>").unwrap())
    }),
    ("attributes", 1_000_000, |n| {
        "<p".to_owned() + &numbered(n, |o, i| write!(o, " a{i}").unwrap()) + ">"
    }),
    ("attributes twice", 1_000_000, |n| {
        "<p".to_owned() + &repeat(" a=1", n) + ">"
    }),
    ("one wide run and many small", 100_000, |n| {
        let wide = numbered(8 * n, |o, i| write!(o, " a{i}").unwrap());
        let small = numbered(n, |o, i| {
            write!(o, "<p a{i} b c d e f g h i j k l m n o p q r s>").unwrap();
        });
        format!("<p{wide}>{small}")
    }),
    ("ampersands", 10_000_000, |n| repeat("&", n)),
    ("ampersands in a value", 5_000_000, |n| {
        format!("<p a='{}'>", repeat("&", n))
    }),
    ("long references", 500_000, |n| {
        repeat("&CounterClockwiseContourIntegra", n)
    }),
    ("digits of a reference", 5_000_000, |n| {
        format!("&#{}", repeat("1", n))
    }),
    ("less-than", 5_000_000, |n| repeat("<", n)),
    ("empty ends", 2_000_000, |n| repeat("</>", n)),
    ("stray ends", 1_000_000, |n| repeat("</p>", n)),
    ("stray br ends", 1_000_000, |n| repeat("</br>", n)),
    ("stray own ends", 1_000_000, |n| repeat("</x-y>", n)),
    ("own names", 300_000, |n| {
        numbered(n, |o, i| write!(o, "<x{i}>").unwrap())
    }),
    ("own end names in svg", 200_000, |n| {
        "<svg>".to_owned() + &numbered(n, |o, i| write!(o, "</x{i}>").unwrap())
    }),
    ("open comment", 10_000_000, |n| {
        "<!--".to_owned() + &repeat("x", n)
    }),
    ("comment with dashes", 5_000_000, |n| {
        "<!--".to_owned() + &repeat("->", n)
    }),
    ("open script", 10_000_000, |n| {
        "<script>".to_owned() + &repeat("x", n)
    }),
    ("script with openings", 1_000_000, |n| {
        "<script>".to_owned() + &repeat("<!--<script>", n)
    }),
    ("script with near ends", 1_000_000, |n| {
        "<script>".to_owned() + &repeat("</scrip", n)
    }),
    ("plaintext", 10_000_000, |n| {
        "<plaintext>".to_owned() + &repeat("x", n)
    }),
    ("open title", 2_000_000, |n| {
        "<title>".to_owned() + &repeat("</titl", n)
    }),
    ("open cdata", 3_000_000, |n| {
        "<svg><![CDATA[".to_owned() + &repeat("]]", n)
    }),
    ("cdata sections", 300_000, |n| {
        "<svg>".to_owned() + &repeat("<![CDATA[]]>", n)
    }),
    ("doctypes", 300_000, |n| repeat("<!doctype html>", n)),
    ("nul bytes", 5_000_000, |n| repeat("\0", n)),
    ("nul bytes in a table", 5_000_000, |n| {
        "<table>".to_owned() + &repeat("\0", n)
    }),
    ("carriage returns", 5_000_000, |n| repeat("\r", n)),
    ("capitals", 500_000, |n| repeat("<P>", n)),
    ("mixed capitals", 500_000, |n| repeat("<P><p>", n)),
    ("framesets", 300_000, |n| repeat("<frameset>", n)),
    ("frameset text", 1_000_000, |n| {
        "<frameset>".to_owned() + &repeat("x ", n)
    }),
    ("options", 300_000, |n| {
        "<select>".to_owned() + &repeat("<optgroup><option>", n)
    }),
    ("ruby", 300_000, |n| repeat("<ruby><rb><rt>", n)),
    ("headings", 500_000, |n| repeat("<h1>", n)),
    ("forms", 300_000, |n| repeat("<form><div></form>", n)),
    ("form over divs", 300_000, |n| {
        "<form>".to_owned() + &repeat("<div>", n) + "</form>" + &repeat("<form></form>", n)
    }),
    ("pre line ends", 500_000, |n| repeat("<pre>\n", n)),
    ("inputs with wide runs", 30_000, |n| {
        repeat("<input a b c d e f g h type=hidden>", n)
    }),
    ("svg font with wide runs", 100_000, |n| {
        "<svg>".to_owned() + &repeat("<font a b c d e f g h>", n)
    }),
    ("metas", 300_000, |n| repeat("<meta charset=x>", n)),
];

/// As above, for the other kinds.
const OTHER: &[(&str, Kind, usize, Make)] = &[
    ("xml: nested", Kind::Xml, 500_000, |n| repeat("<a>", n)),
    ("xml: nested, closed", Kind::Xml, 500_000, |n| {
        repeat("<a>", n) + &repeat("</a>", n)
    }),
    ("xml: wrong ends", Kind::Xml, 300_000, |n| {
        repeat("<a>", n) + &repeat("</b>", n)
    }),
    ("xml: attributes", Kind::Xml, 500_000, |n| {
        "<a".to_owned() + &numbered(n, |o, i| write!(o, " a{i}=''").unwrap()) + "/>"
    }),
    ("xml: attributes twice", Kind::Xml, 500_000, |n| {
        "<a".to_owned() + &repeat(" a=''", n) + "/>"
    }),
    ("xml: references", Kind::Xml, 500_000, |n| {
        format!("<a>{}</a>", repeat("&amp;", n))
    }),
    ("xml: bare ampersands", Kind::Xml, 1_000_000, |n| {
        format!("<a>{}</a>", repeat("&", n))
    }),
    ("xml: open comment", Kind::Xml, 5_000_000, |n| {
        "<a><!--".to_owned() + &repeat("x", n)
    }),
    ("xml: dashes in a comment", Kind::Xml, 2_000_000, |n| {
        "<a><!--".to_owned() + &repeat("- ", n)
    }),
    ("xml: open cdata", Kind::Xml, 2_000_000, |n| {
        "<a><![CDATA[".to_owned() + &repeat("]]", n)
    }),
    ("xml: open doctype", Kind::Xml, 500_000, |n| {
        "<!DOCTYPE a [".to_owned() + &repeat("<!ENTITY a 'b'>", n)
    }),
    ("xml: entities", Kind::Xml, 100_000, |n| {
        let entities = numbered(n, |o, i| write!(o, "<!ENTITY e{i} 'x'>").unwrap());
        let uses = numbered(n, |o, i| write!(o, "&e{i};").unwrap());
        format!("<!DOCTYPE a [{entities}]><a>{uses}</a>")
    }),
    ("xml: entities of entities", Kind::Xml, 50_000, |n| {
        let entities = numbered(n, |o, i| {
            write!(o, "<!ENTITY e{} '&e{i};&e{i};'>", i + 1).unwrap();
        });
        format!("<!DOCTYPE a [<!ENTITY e0 'x'>{entities}]><a>&e{n};</a>")
    }),
    ("xml: prefixes", Kind::Xml, 200_000, |n| {
        numbered(n, |o, i| write!(o, "<p{i}:a xmlns:p{i}='u'>").unwrap())
    }),
    ("xml: less-than", Kind::Xml, 2_000_000, |n| repeat("<", n)),
    ("xml: instructions", Kind::Xml, 500_000, |n| {
        repeat("<?a?>", n)
    }),
    ("json: nested", Kind::Json, 2_000_000, |n| repeat("[", n)),
    ("json: nested, closed", Kind::Json, 1_000_000, |n| {
        repeat("[", n) + &repeat("]", n)
    }),
    ("json: nested objects", Kind::Json, 300_000, |n| {
        repeat("{\"a\":", n) + "1" + &repeat("}", n)
    }),
    ("json: indented", Kind::Json, 1_000, |n| {
        numbered(n, |o, i| writeln!(o, "{}[", " ".repeat(i)).unwrap())
    }),
    ("json: indent claimed", Kind::Json, 500_000, |n| {
        format!(
            "[\n                [\n                                1]\n,{}",
            repeat("[", n)
        )
    }),
    ("json: lines", Kind::Json, 500_000, |n| repeat("{}\n", n)),
    ("json: keys", Kind::Json, 300_000, |n| {
        format!(
            "{{{}\"z\":0}}",
            numbered(n, |o, i| write!(o, "\"k{i}\":0,").unwrap())
        )
    }),
    ("json: open string", Kind::Json, 5_000_000, |n| {
        format!("[\"{}", repeat("\\", n))
    }),
    ("json: odd spaces", Kind::Json, 500_000, |n| {
        format!("[{}0]", repeat("0 ,  ", n))
    }),
    ("json: digits", Kind::Json, 5_000_000, |n| repeat("1", n)),
    ("text: line ends", Kind::Text, 5_000_000, |n| {
        repeat("\n", n)
    }),
    ("text: paragraphs", Kind::Text, 1_000_000, |n| {
        repeat("a\n\n", n)
    }),
];

/// Encode, count, decode; returns seconds.
fn measure(name: &str, source: &[u8], options: &Options) -> f64 {
    let begin = Instant::now();
    let digest = encode(source, options).expect("a hostile page encodes");
    let seconds = begin.elapsed().as_secs_f64();
    let (n, bytes) = (digest.n(), source.len() + 64);
    assert!(
        n <= bytes * NODES_PER_BYTE,
        "{name}: {n} nodes for {bytes} bytes"
    );
    let size = digest.memory().len();
    assert!(
        size <= bytes * DIGEST_PER_BYTE + 4096,
        "{name}: {size} bytes of digest for {bytes}"
    );
    if digest.kind() == Kind::Html {
        let deepest = digest.derived().depth.iter().max().copied().unwrap_or(0) as usize;
        assert!(deepest <= 2 * MAX_DEPTH, "{name}: {deepest} levels");
    }
    assert!(
        decode(&digest).expect("decodes") == source,
        "{name}: decode differs"
    );
    seconds
}

fn measure_both(name: &str, size: usize, shape: fn(usize) -> String, options: &Options) {
    let n = (size / 4 / SCALE).max(8);
    let (small, large) = (shape(n), shape(4 * n));
    let first = measure(name, small.as_bytes(), options);
    let second = measure(name, large.as_bytes(), options);
    let speed = large.len() as f64 / second / 1e6;
    let growth = (second / large.len() as f64) / (first / small.len() as f64);
    println!(
        "{name:32} {:>9} bytes {speed:8.1} MB/s  {growth:5.2}x per byte",
        large.len()
    );
}

#[test]
fn hostile_html_stays_linear() {
    for &(name, size, shape) in SHAPES {
        measure_both(name, size, shape, &html_options(0));
    }
}

#[test]
fn hostile_xml_json_and_text_stay_linear() {
    for &(name, kind, size, shape) in OTHER {
        let options = Options {
            kind: Some(kind),
            recover: true,
            ..Options::default()
        };
        measure_both(name, size, shape, &options);
    }
}

/// Return the markup around `levels` levels that are open at the start of the page's own element.
fn nested(name: &str, levels: usize) -> String {
    let (before, open, close) = match name {
        "table" => (
            "",
            "<table><tr><td>".to_owned(),
            "</td></tr></table>".to_owned(),
        ),
        "svg" => ("<svg>", "<g>".to_owned(), "</g>".to_owned()),
        "math" => ("<math>", "<mrow>".to_owned(), "</mrow>".to_owned()),
        "select" => ("<select>", "<div>".to_owned(), "</div>".to_owned()),
        _ => ("", format!("<{name}>"), format!("</{name}>")),
    };
    format!(
        "<!doctype html><html><head></head><body>{before}{}x{}",
        open.repeat(levels),
        close.repeat(levels)
    )
}

fn deepest(digest: &Digest) -> usize {
    digest.derived().depth.iter().max().copied().unwrap_or(0) as usize
}

#[test]
fn the_depth_cap_is_met_exactly_and_flagged_exactly() {
    // Levels on the stack before the first of these is opened, and levels that each of them opens.
    for (name, before, each) in [
        ("div", 2, 1),
        ("template", 2, 1),
        ("b", 2, 1),
        ("svg", 3, 1),
        ("math", 3, 1),
        ("select", 3, 1),
        ("table", 2, 4),
        ("ul", 2, 1),
        ("object", 2, 1),
        ("x-own", 2, 1),
    ] {
        let fits = (MAX_DEPTH - before) / each;
        for levels in [fits - 1, fits, fits + 1, fits + 2, fits + 100] {
            let source = nested(name, levels);
            let digest = sound(source.as_bytes(), &html_options(0));
            let capped = digest.flags().has(Flags::DEPTH_CAPPED);
            assert_eq!(
                capped,
                levels > fits,
                "{levels} levels of {name}, {fits} fit"
            );
            assert!(
                !digest.flags().has(Flags::VERBATIM),
                "{levels} levels of {name}"
            );
            // Templates have their content node between themselves and their children.
            let limit = if name == "template" {
                2 * MAX_DEPTH
            } else {
                MAX_DEPTH + 1
            };
            assert!(
                deepest(&digest) <= limit,
                "{levels} levels of {name} are {} deep",
                deepest(&digest)
            );
        }
    }
}
