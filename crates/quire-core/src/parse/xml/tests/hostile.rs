//! Documents designed to be slow or large.

use std::fmt::Write;
use std::time::{Duration, Instant};

use super::super::parse;
use super::{LENIENT, STRICT};
use crate::page::flags::Flags;

/// A quadratic step takes minutes on any of these, a linear one at most a second or two.
#[test]
fn hostile_shapes_are_read_in_linear_time() {
    const N: usize = 400_000;
    // Enough for the faulty shapes: with a quadratic step these are still 10^10 bytes to look at.
    const M: usize = N / 4;
    let attributes: String = (0..N).fold("<a".into(), |mut tag: String, i| {
        write!(tag, " x{i}=''").unwrap();
        tag
    });
    let laughs = (1..N / 20).fold("<!DOCTYPE a [<!ENTITY e0 'ha'>".to_owned(), |mut dtd, i| {
        write!(dtd, "<!ENTITY e{i} '&e{0};&e{0};'>", i - 1).unwrap();
        dtd
    });
    let big = format!("<!DOCTYPE a [<!ENTITY e '<b>{}'>]><a>", "x".repeat(N));
    let parameters = (1..N / 20).fold("<!DOCTYPE a [<!ENTITY % p0 ''>".to_owned(), |mut dtd, i| {
        write!(dtd, "<!ENTITY % p{i} '&#37;p{0};&#37;p{0};'>", i - 1).unwrap();
        dtd
    });
    let shapes = [
        (
            "nesting",
            format!("{}{}", "<a>".repeat(N), "</a>".repeat(N)),
        ),
        ("attributes", format!("{attributes}/>")),
        ("a long name", format!("<{0}></{0}>", "n".repeat(N))),
        (
            "a deep content model",
            format!(
                "<!DOCTYPE a [<!ELEMENT a {}b{}>]><a/>",
                "(".repeat(N),
                ")".repeat(N)
            ),
        ),
        ("laughs", format!("{laughs}]><a>&e{};</a>", N / 20 - 1)),
        (
            "laughs in an attribute",
            format!("{laughs}]><a x='&e{};'/>", N / 20 - 1),
        ),
        (
            "parameter entities",
            format!("{parameters}%p{};]><a/>", N / 20 - 1),
        ),
        (
            "a broken entity used often",
            format!("{big}{}</a>", "&e;".repeat(N / 10)),
        ),
        ("comments without end", "<a><!--".repeat(M)),
        ("comments without end, dashes", "<!--x--y".repeat(M)),
        ("instructions without end", "<a><?p ".repeat(M)),
        ("sections without end", "<a><![CDATA[".repeat(M)),
        ("document types", "<!DOCTYPE a [".repeat(M)),
        ("quotes", "<a x=\"'".repeat(M)),
        (
            "quotes without end",
            format!("<a x='{}", "<a x=\"".repeat(M)),
        ),
        ("tags without end", "<a b='1' ".repeat(M)),
        (
            "end tags without elements",
            format!("{}{}", "<a>".repeat(M), "</b>".repeat(M)),
        ),
        (
            "end tags of the outermost",
            format!("<b>{}{}", "<a>".repeat(M), "</b>".repeat(M)),
        ),
        ("brackets", "<a>]]".repeat(M)),
    ];
    for (name, source) in &shapes {
        let start = Instant::now();
        let strict = parse(source.as_bytes(), &STRICT);
        let lenient = parse(source.as_bytes(), &LENIENT).unwrap();
        assert_eq!(
            strict.is_err(),
            lenient.flags.has(Flags::RECOVERED),
            "{name}"
        );
        println!("{:6.3} s  {name}", start.elapsed().as_secs_f64());
        // Not a measure of speed: with a quadratic step, one shape takes hours.
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "{name}: {:?}",
            start.elapsed()
        );
    }
}
