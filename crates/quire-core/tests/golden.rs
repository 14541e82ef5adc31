//! Digests of every released format stay readable: files written then can be read now.
//!
//! `tests/golden/v1` contains small sources and their digests. While format 1 is the one being
//! written, today's encoder must also write the same bytes; after an intended change, write them
//! again with `QUIRE_WRITE_GOLDEN=1 cargo test -p quire-core --test golden`. Once a version is
//! released its folder is never written again: a changed format gets a new number.

use std::path::PathBuf;
use std::sync::Once;

use quire_core::format::{Header, VERSION, compress, decompress};
use quire_core::html::Context;
use quire_core::{Digest, Flags, Kind, Namespace, Options, Verify, decode, encode};

struct Case {
    name: &'static str,
    source: Vec<u8>,
    options: Options,
    flags: &'static [Flags],
}

fn case(name: &'static str, source: &[u8], kind: Kind, flags: &'static [Flags]) -> Case {
    Case {
        name,
        source: source.to_vec(),
        options: Options {
            kind: Some(kind),
            ..Options::default()
        },
        flags,
    }
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Return one page for every feature of the format.
fn cases() -> Vec<Case> {
    let mut fragment = case(
        "fragment",
        b"<tr><td class=a>one<td>two",
        Kind::Html,
        &[Flags::FRAGMENT],
    );
    fragment.options.context = Some(Context {
        namespace: Namespace::Html,
        name: "tbody".to_owned(),
        html_integration: false,
    });
    let mut broken = case(
        "broken-xml",
        b"<a><b>x</a>&nope;</c>",
        Kind::Xml,
        &[Flags::RECOVERED],
    );
    broken.options.recover = true;
    vec![
        case(
            "page",
            b"<!doctype html>\n<html lang=en>\n<head><title>Fish &amp; chips</title></head>\n\
              <body><h1 class='big'>Prices</h1><ul><li>Fish<li>Chips</ul><br></body>\n</html>\n",
            Kind::Html,
            &[],
        ),
        case(
            "exceptions",
            b"\xef\xbb\xbf<HTML a><P>1<b x=1>2<i>3</b>4</i>5</P ><table>6<tr>7<td>8</table>\r\n</x>\
              <template><td>9</template><svg viewbox=1><g/></svg><image src=q><body b=c></body> 10",
            Kind::Html,
            &[Flags::QUIRKS, Flags::REORDERED],
        ),
        fragment,
        case(
            "feed",
            b"<?xml version='1.0' encoding='utf-8'?>\n<!DOCTYPE feed [<!ENTITY e 'x'>]>\n\
              <feed xmlns='urn:a' xmlns:m='urn:m'>\n  <m:entry id='1'/><!-- c --><?p i?>\
              &e;<![CDATA[<raw>]]></feed >\n",
            Kind::Xml,
            &[],
        ),
        broken,
        case(
            "indented",
            b"{\n  \"name\": \"fish \\u0026 chips\",\n  \"prices\": [9.50, 10, null],\n  \"open\":true ,\n  \"more\": {}\n}\n",
            Kind::Json,
            &[],
        ),
        case("lines", b"{\"a\":1}\r\n{\"a\":[]}\r\n", Kind::Json, &[]),
        case("text", b"one\ntwo\r\n\n\t\nthree", Kind::Text, &[]),
        case("bytes", b"\0\x01\xfe\xff", Kind::Bytes, &[]),
        case("empty", b"", Kind::Text, &[]),
        case("utf-16", &utf16("\u{feff}<p>caf\u{e9} \u{1f41f}</p>"), Kind::Html, &[Flags::TRANSCODED]),
        case(
            "verbatim",
            &[&utf16("\u{feff}<p>")[..], b"\x00\xd8x\0"].concat(),
            Kind::Html,
            &[Flags::TRANSCODED, Flags::VERBATIM],
        ),
    ]
}

fn path(name: &str, ending: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1");
    folder.join(format!("{name}.{ending}"))
}

/// Return a stored file, after writing it again if that was requested.
fn read(name: &str, ending: &str) -> Vec<u8> {
    static WRITTEN: Once = Once::new();
    if std::env::var_os("QUIRE_WRITE_GOLDEN").is_some() {
        WRITTEN.call_once(write);
    }
    let path = path(name, ending);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn write() {
    for case in cases() {
        let digest = encode(&case.source, &case.options).expect("encodes");
        let bytes = &digest.whole().unwrap();
        std::fs::write(path(case.name, "source"), &case.source).expect("written");
        std::fs::write(path(case.name, "qd"), bytes).expect("written");
        if case.name == "page" {
            let packed = compress(bytes, 3).expect("compresses");
            std::fs::write(path("page.compressed", "qd"), packed).expect("written");
        }
    }
}

#[test]
fn digests_of_format_1_are_read_and_decode_to_their_sources() {
    for case in cases() {
        let made = encode(&case.source, &case.options).expect("encodes");
        let stored = read(case.name, "qd");
        let digest = Digest::open(Box::new(stored.clone()), Verify::All).expect(case.name);
        assert_eq!(decode(&digest).as_ref(), Ok(&case.source), "{}", case.name);
        assert_eq!(read(case.name, "source"), case.source, "{}", case.name);
        for &flag in case.flags {
            assert!(
                digest.flags().has(flag),
                "{}: {:?}",
                case.name,
                digest.flags()
            );
        }
        if VERSION == 1 {
            assert!(
                *made.whole().unwrap() == stored,
                "{}: the encoder writes other bytes than before; if that is meant, write the files anew",
                case.name
            );
        }
    }
}

#[test]
fn a_compressed_digest_of_format_1_is_read() {
    let stored = read("page", "qd");
    // Not compared with today's output: zstd may compress differently from version to version.
    let packed = read("page.compressed", "qd");
    assert!(Header::read(&packed).expect("a header").compressed);
    assert!(decompress(&packed).expect("unpacks") == stored);
}

#[test]
fn every_section_and_width_of_one_is_in_the_golden_files() {
    let mut seen = Vec::new();
    for case in cases() {
        let header = Header::read(&read(case.name, "qd")).expect("a header");
        seen.extend((1..header.places.len()).filter(|&id| header.places[id].width != 0));
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, (1..quire_core::format::SECTIONS).collect::<Vec<_>>());
}
