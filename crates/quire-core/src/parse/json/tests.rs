//! Tests of JSON. `serde_json` is the oracle for syntax; for layouts it is a serializer written the
//! obvious way.

use serde_json::{Value, json};

use super::oracle::{Random, check_spans, dump, emit, every_layout, random_value, rebuilt, spans};
use super::*;
use crate::base::error::Error;
use crate::page::text_mode::Mode;
use crate::page::vocabulary::{ARRAY, NUMBER, OBJECT};
use crate::parse::draft::ODD;

/// Return nodes as (tag name, parent, own token); checks the spans as well.
fn outline(source: &[u8], draft: &Draft) -> Vec<(String, u32, String)> {
    check_spans(source, draft);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let nodes = draft.iter().skip(1);
    nodes
        .map(|node| {
            let token = &source[node.run as usize..node.end as usize];
            (text(draft.names.name(node.tag)), node.parent, text(token))
        })
        .collect()
}

fn sample() -> Value {
    json!({
        "name": "quire", "pages": [1, 2.5, -3e10, "x"], "empty": [[], {}], "deep": {"a": {"b": [[1, 2], [3]]}},
        "rows": [{"id": 1, "ok": true}, {"id": 2, "ok": null, "tags": ["a", "b"]}], "last": false
    })
}

#[test]
fn every_layout_is_found_and_predicts_every_byte() {
    for layout in every_layout() {
        let mut source = String::new();
        dump(&sample(), layout, 0, &mut source);
        let (draft, found) = parse(source.as_bytes(), false).unwrap();
        check_spans(source.as_bytes(), &draft);
        assert!(!draft.any_odd, "{layout:?} taken for {found:?}:\n{source}");
        let first = draft.node(1);
        assert_eq!(
            (first.start, draft.ends.last().unwrap().end as usize),
            (0, source.len())
        );
        let strays: usize = spans(&draft)
            .windows(2)
            .map(|pair| (pair[1].0 - pair[0].1) as usize)
            .sum();
        assert_eq!(strays, 0, "{layout:?} taken for {found:?}:\n{source}");
        assert_eq!(
            String::from_utf8(emit(source.as_bytes(), &draft, found)).unwrap(),
            source
        );
        assert_eq!(Layout::from_bytes(&found.to_bytes()), Some(found));
    }
}

#[test]
fn layouts_that_were_never_stored_are_refused() {
    assert_eq!(Layout::from_bytes(&[0; 8]), Some(Layout::default()));
    for bad in [
        [3, 0, 0, 0, 0, 0, 0, 0],
        [1, 17, 0, 0, 0, 0, 0, 0],
        [0, 2, 0, 0, 0, 0, 0, 0],
    ] {
        assert_eq!(Layout::from_bytes(&bad), None);
    }
    for at in 2..8 {
        let mut bad = [0; 8];
        bad[at] = 3;
        assert_eq!(Layout::from_bytes(&bad), None);
    }
    assert_eq!(Layout::from_bytes(&[0; 7]), None);
}

#[test]
fn objects_members_arrays_and_scalars_become_nodes() {
    let source = br#"{"a": [1, "b\n"], "c": {"a": null}, "d": [true, false]}"#;
    let (draft, _) = parse(source, false).unwrap();
    let expected = [
        ("#object", 0, "{"),
        ("a", 1, "\"a\""),
        ("#array", 2, "["),
        ("#number", 3, "1"),
        ("#string", 3, "\"b\\n\""),
        ("c", 1, "\"c\""),
        ("#object", 6, "{"),
        ("a", 7, "\"a\""),
        ("#null", 8, "null"),
        ("d", 1, "\"d\""),
        ("#array", 10, "["),
        ("#true", 11, "true"),
        ("#false", 11, "false"),
    ];
    let expected =
        expected.map(|(name, parent, token)| (name.to_owned(), parent, token.to_owned()));
    assert_eq!(outline(source, &draft), expected);
    assert_eq!(draft.node(2).tag, draft.node(8).tag);
    assert_eq!(
        (draft.node(5).mode, draft.node(4).mode),
        (Mode::JsonString, Mode::Plain)
    );
}

#[test]
fn odd_spacing_is_odd_and_extra_space_before_a_gap_is_left_to_nobody() {
    let source = b"  [1, 2 , 3,4,  5 ]";
    let (draft, _) = parse(source, false).unwrap();
    let odd: Vec<bool> = draft
        .iter()
        .skip(1)
        .map(|node| node.flags & ODD != 0)
        .collect();
    assert_eq!(odd, [false, false, false, false, true, true]);
    let starts: Vec<u32> = draft.iter().skip(1).map(|node| node.start).collect();
    assert_eq!(starts, [2, 3, 4, 8, 11, 13]);
    assert!(!draft.ends[0].odd);
    assert_eq!(
        emit(source, &draft, parse(source, false).unwrap().1),
        source
    );
}

#[test]
fn keys_are_decoded_and_escaped_ones_are_odd() {
    let source = "{\"\\u00e4\\ud83d\\ude00\\/\":1,\"ä\":2,\"\\ud800x\":3}".as_bytes();
    let (draft, _) = parse(source, false).unwrap();
    let keys: Vec<_> = [2, 4, 6]
        .map(|at| draft.names.name(draft.node(at).tag))
        .into();
    assert_eq!(
        keys,
        ["ä😀/".as_bytes(), "ä".as_bytes(), "\u{FFFD}x".as_bytes()]
    );
    let odd = [2, 4, 6].map(|at| draft.node(at).flags & ODD != 0);
    assert_eq!(odd, [true, false, true]);
    // Bytes that are not UTF-8 are kept; the name is the closest UTF-8, so the spelling is odd.
    let (draft, _) = parse(b"{\"\xFF\":\"\xFF\"}", false).unwrap();
    assert_eq!(draft.names.name(draft.node(2).tag), "\u{FFFD}".as_bytes());
    assert_eq!((draft.node(2).flags, draft.node(3).flags), (ODD, 0));
}

#[test]
fn duplicate_keys_and_a_byte_order_mark_are_kept_out_of_trouble() {
    let source = b"\xEF\xBB\xBF{\"a\":1,\"a\":2}\n";
    let (draft, layout) = parse(source, false).unwrap();
    assert_eq!(draft.nodes.len(), 6);
    assert_eq!((draft.node(1).start, draft.any_odd), (3, false));
    assert_eq!(emit(source, &draft, layout), source);
}

#[test]
fn values_on_lines_of_their_own_are_children_of_the_document() {
    let source = b"{\"a\": 1}\r\n{\"a\": 2}\r\n\r\n[]\r\n";
    let (draft, layout) = parse(source, false).unwrap();
    let top: Vec<_> = draft
        .iter()
        .filter(|node| node.parent == 0)
        .map(|node| node.tag)
        .collect();
    assert_eq!(top, [OBJECT, OBJECT, ARRAY]);
    assert_eq!((layout.newline, draft.any_odd), (Newline::CrLf, false));
    assert_eq!(emit(source, &draft, layout), source);
    assert!(parse(b"{} {}", false).is_err());
    assert!(parse(b"{}{}", false).is_err());
    assert!(parse(b"{}\n{\n", false).is_err());
}

#[test]
fn errors_name_place_finding_and_expectation() {
    let cases: [(&[u8], &str, usize); 12] = [
        (b"", "found the end of the source, expected a value", 0),
        (b"[1,]", "found ']', expected a value", 3),
        (b"{\"a\":1,}", "found '}', expected a key in quotes", 7),
        (b"{\"a\" 1}", "found '1', expected ':'", 5),
        (
            b"{\"a\":1",
            "found the end of the source, expected ',' or '}'",
            6,
        ),
        (b"[01]", "found '1', expected ',' or ']'", 2),
        (b"[nul]", "found ']', expected 'null'", 4),
        (b"[1.]", "found ']', expected a digit", 3),
        (
            b"[\"a\nb\"]",
            "found byte 0x0A, expected an escape such as '\\n' for it in a string",
            3,
        ),
        (
            b"[\"\\x\"]",
            "found 'x', expected one of '\"\\/bfnrtu' after a backslash",
            3,
        ),
        (
            b"[\"a",
            "found the end of the source, expected '\"' at the end of a string",
            3,
        ),
        (b"{} x", "found 'x', expected the end of the source", 3),
    ];
    for (source, expected, place) in cases {
        match parse(source, false).err() {
            Some(Error::Syntax {
                kind: "json",
                message,
                offset,
                ..
            }) => {
                assert_eq!((message.as_str(), offset), (expected, place));
            }
            other => panic!("{source:?}: {other:?}"),
        }
    }
}

#[test]
fn recovery_keeps_what_was_read() {
    let (draft, _) = parse(b"{\"a\": 1, \"b\": ?, \"c\": 2}", true).unwrap();
    assert!(draft.flags.has(Flags::RECOVERED));
    let tags: Vec<_> = draft.iter().skip(1).map(|node| node.tag).collect();
    assert_eq!(
        (tags[0], tags[2], tags.len(), draft.ends.len()),
        (OBJECT, NUMBER, 3, 0)
    );
    assert_eq!(parse(b"junk", true).unwrap().0.nodes.len(), 1);
    assert!(!parse(b"[]", true).unwrap().0.flags.has(Flags::RECOVERED));
}

#[test]
fn a_million_brackets_are_read_and_predicted_in_linear_time() {
    let depth = 1_000_000;
    let mut source = vec![b'['; depth];
    source.resize(2 * depth, b']');
    let (draft, _) = parse(&source, false).unwrap();
    assert_eq!(
        (draft.nodes.len(), draft.ends.len(), draft.any_odd),
        (depth + 1, depth, false)
    );
    // An indent as long as most of the source must not make every deeper gap that long.
    let mut source = b"[".to_vec();
    for _ in 0..2048 {
        source.extend_from_slice(b"\n  1,");
    }
    source.resize(depth, b'[');
    let (draft, layout) = parse(&source, true).unwrap();
    assert!(draft.nodes.len() > depth - 12_000);
    assert_eq!((layout.indent, draft.any_odd), (Indent::Spaces(2), true));
}

#[test]
fn random_values_read_as_serde_reads_them_and_come_back_exactly() {
    let mut random = Random(0x5EED);
    let layouts = every_layout();
    for _ in 0..2000 {
        let value = random_value(&mut random, 4);
        let layout = layouts[random.below(layouts.len())];
        let mut source = String::new();
        dump(&value, layout, 0, &mut source);
        let (draft, found) = parse(source.as_bytes(), false).unwrap();
        check_spans(source.as_bytes(), &draft);
        assert_eq!(rebuilt(source.as_bytes(), &draft, 1), value, "{source}");
        assert_eq!(emit(source.as_bytes(), &draft, found), source.as_bytes());
    }
}

// Mutations target the grammar: most hit a delimiter, a quote or a digit.
#[test]
fn mutated_sources_are_accepted_exactly_when_serde_accepts_them() {
    let alphabet = b"[]{},:\"\\ 01-+.eEntrufals\n\t\x01\xC3/";
    let mut random = Random(0xC0_FFEE);
    let layouts = every_layout();
    let mut accepted = 0;
    for _ in 0..20_000 {
        let mut text = String::new();
        dump(
            &random_value(&mut random, 3),
            layouts[random.below(layouts.len())],
            0,
            &mut text,
        );
        let mut source = text.into_bytes();
        for _ in 0..=random.below(2) {
            let at = random.below(source.len());
            let byte = alphabet[random.below(alphabet.len())];
            match random.below(3) {
                0 if source.len() > 1 => drop(source.remove(at)),
                1 => source.insert(at, byte),
                _ => source[at] = byte,
            }
        }
        let (draft, layout) = parse(&source, true).unwrap();
        check_spans(&source, &draft);
        assert_eq!(emit(&source, &draft, layout), source);
        let strict = parse(&source, false);
        assert_eq!(strict.is_ok(), !draft.flags.has(Flags::RECOVERED));
        assert_eq!(strict.is_ok(), is_json(&source));
        // The oracle does not support lines of values, requires UTF-8, and refuses numbers beyond
        // f64.
        let several = draft.iter().filter(|node| node.parent == 0).count() > 1;
        if !several && std::str::from_utf8(&source).is_ok() {
            let oracle = match serde_json::from_slice::<Value>(&source) {
                Err(error) if error.to_string().starts_with("number out of range") => continue,
                other => other.is_ok(),
            };
            assert_eq!(
                strict.is_ok(),
                oracle,
                "{}",
                String::from_utf8_lossy(&source)
            );
            accepted += usize::from(oracle);
        }
    }
    assert!(accepted > 1000, "only {accepted} mutations left JSON");
}
