use super::*;
use crate::parse::json::oracle::Random;

fn utf16(text: &str, mark: bool, little: bool) -> Vec<u8> {
    let mark = mark.then_some(0xFEFF);
    let units = mark.into_iter().chain(text.encode_utf16());
    units
        .flat_map(|unit| {
            if little {
                unit.to_le_bytes()
            } else {
                unit.to_be_bytes()
            }
        })
        .collect()
}

#[test]
fn kinds_have_names_and_numbers() {
    for (number, kind) in Kind::ALL.into_iter().enumerate() {
        assert_eq!(kind as usize, number);
        assert_eq!(Kind::from_u8(number as u8), Some(kind));
        assert_eq!(Kind::from_name(kind.name()), Some(kind));
    }
    assert_eq!((Kind::from_u8(6), Kind::from_name("HTML")), (None, None));
}

#[test]
fn content_types_that_name_a_kind_are_believed() {
    let cases = [
        ("text/html; charset=utf-8", Kind::Html),
        (" TEXT/HTML ", Kind::Html),
        ("application/xhtml+xml", Kind::Xml),
        ("application/xml", Kind::Xml),
        ("text/xml", Kind::Xml),
        ("application/atom+xml;type=feed", Kind::Xml),
        ("application/json", Kind::Json),
        ("application/ld+json", Kind::Json),
        ("application/x-ndjson", Kind::Json),
        ("text/plain", Kind::Text),
        ("application/octet-stream", Kind::Bytes),
        ("", Kind::Bytes),
    ];
    for (content_type, kind) in cases {
        assert_eq!(
            sniff(b"\x00\x01\x02", Some(content_type)),
            kind,
            "{content_type}"
        );
    }
}

#[test]
fn content_decides_where_no_type_does() {
    let cases: [(&[u8], Kind); 44] = [
        (b"", Kind::Text),
        (b" \n", Kind::Text),
        (b"\xEF\xBB\xBF", Kind::Text),
        (b"just words", Kind::Text),
        (b"a < b and c > d", Kind::Text),
        (b"#include <map>\nstd::vector<int> v;", Kind::Text),
        (b"List<Object> a = new List<>();", Kind::Text),
        (b"<3 you", Kind::Text),
        (b"<", Kind::Text),
        (b"<someone@example.org> wrote:", Kind::Text),
        (b"\xEF\xBB\xBF \n<!DOCTYPE HTML><p>", Kind::Html),
        (b"<!doctype>", Kind::Html),
        (b"<!DOCTYPE html-like [ ]><a/>", Kind::Xml),
        (b"<html", Kind::Html),
        (b"<HTML lang=en>", Kind::Html),
        (b"<head>\0", Kind::Html),
        (b"<div class=a>x</div>", Kind::Html),
        (b"<P>one<P>two", Kind::Html),
        (b"</p>", Kind::Html),
        (b"<!-- only a comment", Kind::Html),
        (b"<!-- a --><!-- b --><html>", Kind::Html),
        (b"<!-- a --><rss></rss>", Kind::Xml),
        (b"<?php echo 1 ?><body>", Kind::Html),
        (b"<my-element>never closed", Kind::Html),
        (b"Hello <b>world</b>", Kind::Html),
        (b"one<br>two<BR/>three", Kind::Html),
        (
            b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'/>",
            Kind::Html,
        ),
        (
            b"<?xml version='1.0'?>\n<!-- x -->\n<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML'>",
            Kind::Html,
        ),
        (b"<?xml version='1.0'?><rss>", Kind::Xml),
        (b"<?xml version='1.0'?><title>x</title>", Kind::Xml),
        (b"<?xml version", Kind::Xml),
        (b"<?xml-stylesheet href='a'?><feed>", Kind::Xml),
        (b"<!DOCTYPE svg PUBLIC 'x' 'y'><svg/>", Kind::Xml),
        (
            b"<svg xmlns='http://www.w3.org/2000/svg'><path/></svg>\n",
            Kind::Xml,
        ),
        (b"<note a='1'/>", Kind::Xml),
        (b"<soap:Envelope><soap:Body/></soap:Envelope >\n", Kind::Xml),
        (b"{}", Kind::Json),
        (b"\xEF\xBB\xBF [1, 2]\n", Kind::Json),
        (b"{\"a\": 1}\n{\"a\": 2}", Kind::Json),
        (b"{\"html\": \"<p>cut off</p>", Kind::Text),
        (b"[draft] words", Kind::Text),
        (b"%PDF-1.4\n<p>", Kind::Bytes),
        (b"\x89PNG\r\n\x1A\n", Kind::Bytes),
        (b"text with a \0 in it", Kind::Bytes),
    ];
    for (source, kind) in cases {
        assert_eq!(
            sniff(source, None),
            kind,
            "{}",
            String::from_utf8_lossy(source)
        );
    }
}

#[test]
fn a_guess_of_xml_is_well_formed() {
    let cases: [(&[u8], Kind); 15] = [
        (b"<svg></svg><a href=q>", Kind::Html),
        (b"<svg><g></svg>", Kind::Html),
        (b"<svg width=5></svg>", Kind::Html),
        (b"<math><mi>x<mo>+</math>", Kind::Html),
        (b"<my-element><br></my-element>", Kind::Html),
        (b"<note a=1/>", Kind::Html),
        (b"<!-- a --><svg>&nbsp;</svg>", Kind::Html),
        (b"\x0C<note/>", Kind::Html),
        (b"<note>\xE9</note>", Kind::Html),
        (b"<!DOCTYPE doctype html><p>one<p>two", Kind::Html),
        (b"<math><mi>x</mi><mo>+</mo></math>", Kind::Xml),
        (b"\xEF\xBB\xBF\n<svg><g/></svg>", Kind::Xml),
        (
            b"<!DOCTYPE note [<!ENTITY e 'x'>]><note>&e;</note>",
            Kind::Xml,
        ),
        // A declared XML source that is not well-formed is XML, so that the user gets an error.
        (b"<?xml version='1.0'?><svg><g></svg>", Kind::Xml),
        (
            b"<?xml version='1.0'?><!DOCTYPE svg><svg><g></svg>",
            Kind::Xml,
        ),
    ];
    for (source, kind) in cases {
        let told = String::from_utf8_lossy(source);
        assert_eq!(sniff(source, None), kind, "{told}");
        assert_eq!(sniff(source, Some("image/svg+xml")), Kind::Xml, "{told}");
    }
    let cut = utf16("<svg><g></svg>", true, true);
    assert_eq!(sniff(&cut, None), Kind::Html);
}

#[test]
fn utf16_is_judged_by_what_it_says() {
    let cases = [
        ("<!doctype html><p>häß", Kind::Html),
        ("<?xml version='1.0'?><a>日本</a>", Kind::Xml),
        ("{\"日本\": [1]}", Kind::Json),
        ("just words, 日本", Kind::Text),
    ];
    for (text, kind) in cases {
        for (mark, little) in [(true, true), (true, false), (false, true), (false, false)] {
            assert_eq!(
                sniff(&utf16(text, mark, little), None),
                kind,
                "{text} {mark} {little}"
            );
        }
    }
    assert_eq!(sniff(&utf16("日本 words", true, false), None), Kind::Text);
    assert_eq!(sniff(&utf16("a\u{1}b", true, true), None), Kind::Bytes);
    assert_eq!(sniff(b"\x01\0\x02\0\x03\0", None), Kind::Bytes);
}

#[test]
fn html_names_are_those_of_html() {
    for name in [
        "a",
        "DIV",
        "xmp",
        "h6",
        "blockquote",
        "figcaption",
        "frameset",
    ] {
        assert!(is_html_name(name.as_bytes()), "{name}");
    }
    for name in [
        "",
        "svg",
        "math",
        "circle",
        "mi",
        "clippath",
        "foreignobject",
        "rss",
        "feed",
    ] {
        assert!(!is_html_name(name.as_bytes()), "{name}");
    }
    let longest = html_names::NAMES[..=html_names::XMP as usize]
        .iter()
        .map(|name| name.len())
        .max();
    assert_eq!(longest, Some(10));
}

// Pieces that the rules look for, in any order, with some bytes removed.
#[test]
fn any_bytes_get_a_kind() {
    let pieces: [&[u8]; 19] = [
        b"<?xml",
        b"?>",
        b"<!--",
        b"-->",
        b"<!doctype",
        b" html",
        b"<html",
        b"</a",
        b"<a",
        b">",
        b"/>",
        b"{",
        b"[",
        b"\0",
        b"\xFF\xFE",
        b"\xEF\xBB\xBF",
        b"\n",
        b"RIFF",
        b"{}",
    ];
    let mut random = Random(0x50FF);
    let mut seen = [0; 6];
    for _ in 0..20_000 {
        let mut source: Vec<u8> = (0..random.below(8))
            .flat_map(|_| pieces[random.below(pieces.len())])
            .copied()
            .collect();
        if !source.is_empty() && random.below(2) == 0 {
            let at = random.below(source.len());
            source[at] = random.below(256) as u8;
        }
        let kind = sniff(&source, None);
        assert_eq!(kind, sniff(&source, Some("image/png")));
        seen[kind as usize] += 1;
    }
    assert!(seen[..5].iter().all(|&count| count > 0), "{seen:?}");
}
