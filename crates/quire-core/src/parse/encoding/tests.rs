//! Detection on pages that declare their character set in every possible way, and conversion in
//! both directions.

use encoding_rs::{EUC_JP, ISO_2022_JP, ISO_8859_2, REPLACEMENT, SHIFT_JIS};

use super::*;

fn html(source: &str) -> (&'static str, Reason) {
    let sniffed = sniff_html(source.as_bytes(), None);
    (sniffed.encoding.name(), sniffed.reason)
}

#[test]
fn a_byte_order_mark_beats_the_transport_and_that_beats_the_page() {
    let page = b"\xef\xbb\xbf<meta charset=euc-jp>";
    let sniffed = sniff_html(page, Some("shift_jis"));
    assert_eq!(
        sniffed,
        Sniffed {
            encoding: UTF_8,
            reason: Reason::Bom,
            bom: 3
        }
    );
    let sniffed = sniff_html(&page[3..], Some(" Shift_JIS "));
    assert_eq!(sniffed, Sniffed::new(SHIFT_JIS, Reason::Transport));
    let sniffed = sniff_html(&page[3..], Some("no such set"));
    assert_eq!(sniffed, Sniffed::new(EUC_JP, Reason::Meta));
    assert_eq!(sniff_html(b"\xfe\xff\0<", None).encoding, UTF_16BE);
    assert_eq!(sniff_html(b"\xff\xfe<\0", None).bom, 2);
}

#[test]
fn a_meta_element_is_found_behind_comments_and_tags() {
    for page in [
        "<meta charset=euc-jp>",
        "<META/CHARSET = 'EUC-JP' >",
        "<!--> <meta charset=euc-jp>",
        "<!-- <meta charset=utf-8> --><meta charset=euc-jp>",
        "<a title='<meta charset=utf-8>'><meta charset=euc-jp>",
        "</a title='<meta charset=utf-8>'><meta charset=euc-jp>",
        "<!x <meta charset=utf-8><meta charset=euc-jp>",
        "<? <meta charset=utf-8><meta charset=euc-jp>",
        "</ <meta charset=utf-8><meta charset=euc-jp>",
        "<meta charset=nonsense><meta charset=euc-jp>",
        "<metax charset=utf-8><meta charset=euc-jp>",
        "<meta charset=euc-jp charset=utf-8>",
        "<meta content='charset charset = \"euc-jp\"' http-equiv=content-type>",
        "<meta http-equiv=Content-Type content='a;charset=euc-jp; x'>",
        "<meta content='charset=utf-8' charset=euc-jp>",
    ] {
        assert_eq!(html(page), ("EUC-JP", Reason::Meta), "{page}");
    }
}

#[test]
fn what_is_not_a_declaration_declares_nothing() {
    for page in [
        "<meta charset=euc-jp",
        "<meta charset='euc-jp'",
        "<meta content='charset=euc-jp'>",
        "<meta http-equiv=refresh content='charset=euc-jp'>",
        "<meta charset=nonsense content='charset=euc-jp' http-equiv=content-type>",
        "<meta http-equiv=x http-equiv=content-type content='charset=euc-jp'>",
        "<meta http-equiv=content-type content='charset=\"euc-jp'>",
        "<!-- <meta charset=euc-jp>",
        "<",
        "<!",
        "</",
        "",
    ] {
        assert_eq!(html(page), ("UTF-8", Reason::Utf8Valid), "{page}");
    }
}

#[test]
fn sets_that_could_not_have_been_read_are_replaced() {
    assert_eq!(html("<meta charset=utf-16>"), ("UTF-8", Reason::Meta));
    assert_eq!(
        html("<meta charset=x-user-defined>"),
        ("windows-1252", Reason::Meta)
    );
    let declared = "<?xml version='1.0' encoding='utf-16be'?>";
    assert_eq!(html(declared), ("UTF-8", Reason::XmlDeclaration));
    assert_eq!(sniff_html(b"<\0?\0x\0", None).encoding, UTF_16LE);
}

#[test]
fn the_bytes_decide_when_nothing_else_does() {
    assert_eq!(
        sniff_html(b"caf\xe9", None),
        Sniffed::new(WINDOWS_1252, Reason::Default)
    );
    assert_eq!(html("caf\u{e9}"), ("UTF-8", Reason::Utf8Valid));
}

#[test]
fn a_late_declaration_is_heard_when_the_page_is_not_utf8() {
    let late = |fill: usize, tail: &[u8]| {
        [
            b"<!--",
            vec![b'x'; fill].as_slice(),
            b"--><meta charset=iso-8859-2>",
            tail,
        ]
        .concat()
    };
    let early = sniff_html(&late(900, b"\xe9"), None);
    assert_eq!(early, Sniffed::new(ISO_8859_2, Reason::Meta));
    let cut = sniff_html(&late(PRESCAN_BYTES - 20, b"\xe9"), None);
    assert_eq!(cut, Sniffed::new(ISO_8859_2, Reason::LateMeta));
    assert_eq!(
        sniff_html(&late(2000, b"e"), None).reason,
        Reason::Utf8Valid
    );
    let too_late = sniff_html(&late(LATE_PRESCAN_BYTES, b"\xe9"), None);
    assert_eq!(too_late, Sniffed::new(WINDOWS_1252, Reason::Default));
}

#[test]
fn xml_says_it_in_its_declaration() {
    let of = |source: &[u8], transport| {
        let sniffed = sniff_xml(source, transport);
        (sniffed.encoding.name(), sniffed.reason)
    };
    let declared = b"<?xml version=\"1.0\" encoding = 'ISO-8859-2' ?><a/>";
    assert_eq!(
        of(declared, Some("utf-8")),
        ("ISO-8859-2", Reason::XmlDeclaration)
    );
    assert_eq!(of(b"<a/>", Some("koi8-r")), ("KOI8-R", Reason::Transport));
    assert_eq!(of(b"<a>\xe9</a>", None), ("UTF-8", Reason::Default));
    assert_eq!(
        of(b"\0<\0?\0x", Some("utf-8")),
        ("UTF-16BE", Reason::XmlDeclaration)
    );
    assert_eq!(of(b"<\0?\0", None), ("UTF-16LE", Reason::XmlDeclaration));
    assert_eq!(
        of(b"\xef\xbb\xbf<?xml encoding='koi8-r'?>", None),
        ("UTF-8", Reason::Bom)
    );
    for broken in [
        "<?xml encoding='koi8-r'",
        "<?xml encoding=koi8-r?>",
        "<?xml encoding 'koi8-r'?>",
        "<?xml encoding='koi8 -r'?>",
        "<?xml encoding='koi8-r?>",
        "<?xml?><a encoding='koi8-r'>",
        " <?xml encoding='koi8-r'?>",
    ] {
        assert_eq!(
            of(broken.as_bytes(), None),
            ("UTF-8", Reason::Default),
            "{broken}"
        );
    }
}

#[test]
fn what_is_transcoded_comes_back_or_is_said_not_to() {
    for encoding in [UTF_16LE, UTF_16BE] {
        let text = "\u{feff}<p>\u{e9}\u{1f600}\r\n";
        let source = transcode_back(text.as_bytes(), encoding).unwrap();
        assert_eq!(
            transcode(&source, encoding),
            (text.as_bytes().to_vec(), true)
        );
        // Half a character, and half a surrogate pair.
        assert!(!transcode(&source[..source.len() - 1], encoding).1);
        assert!(!transcode(&source[..12], encoding).1);
    }
    let source = b"<p>\x1b$B$\"\x1b(B</p>";
    let (utf8, exact) = transcode(source, ISO_2022_JP);
    assert_eq!(
        (utf8.as_slice(), exact),
        ("<p>\u{3042}</p>".as_bytes(), true)
    );
    // The same text, with one escape more than needed.
    assert!(!transcode(b"\x1b(B<p>\x1b$B$\"\x1b(B</p>", ISO_2022_JP).1);
    assert_eq!(transcode_back("\u{1f600}".as_bytes(), ISO_2022_JP), None);
    assert_eq!(transcode_back(b"\xff", UTF_16LE), None);
    assert_eq!(
        transcode(b"x", REPLACEMENT),
        ("\u{fffd}".as_bytes().to_vec(), false)
    );
}

#[test]
fn only_sets_that_write_markup_in_ascii_are_parsed_as_they_are() {
    for encoding in [UTF_16LE, UTF_16BE, ISO_2022_JP, REPLACEMENT] {
        assert!(!is_ascii_compatible(encoding), "{}", encoding.name());
    }
    assert!(is_ascii_compatible(SHIFT_JIS) && is_ascii_compatible(UTF_8));
}

#[test]
fn reasons_keep_their_numbers() {
    for number in 0..=u8::MAX {
        assert!(Reason::from_u8(number).is_none_or(|reason| reason as u8 == number));
    }
    assert_eq!(Reason::from_u8(7), Some(Reason::Given));
    assert_eq!(Reason::Utf8Valid.name(), "utf8-valid");
}
