//! The encoding tests of html5lib, and those of its tokenizer tests that are about references.

mod common;

use encoding_rs::{Encoding, UTF_8};
use quire_core::cook;
use quire_core::draft::Mode;
use quire_core::encoding::{Reason, sniff_html};
use quire_core::vocabulary::Namespace;
use serde_json::Value;

/// The pairs of `#data` and `#encoding` in a file.
fn cases(file: &[u8]) -> Vec<(&[u8], &'static Encoding)> {
    let mut cases = Vec::new();
    let mut rest = file;
    while let Some(start) = memchr::memmem::find(rest, b"#data\n") {
        rest = &rest[start + 6..];
        let end = memchr::memmem::find(rest, b"\n#encoding\n").expect("an encoding");
        let data = &rest[..end];
        rest = &rest[end + 11..];
        let line = rest.split(|&byte| byte == b'\n').next().unwrap();
        cases.push((data, Encoding::for_label(line).expect("a known encoding")));
    }
    cases
}

#[test]
fn pages_are_sniffed_as_html5lib_expects() {
    let Some(files) = common::archive("conformance-html5lib") else {
        return;
    };
    let (mut ran, mut late) = (0, 0);
    let mut wrong = Vec::new();
    for (path, bytes) in &files {
        if !path.contains("/encoding/") || !path.ends_with(".dat") || path.contains("/scripted/") {
            continue;
        }
        for (data, expected) in cases(bytes) {
            ran += 1;
            // The suite assumes windows-1252 where nothing is declared; we do for pages that
            // are not UTF-8, so each page gets a byte that is not. It is also what makes us look
            // for the declarations a browser would only meet while it builds the tree.
            let sniffed = sniff_html(&[data, b"\xe9"].concat(), None);
            if sniffed.encoding != expected {
                let start = String::from_utf8_lossy(&data[..data.len().min(200)]);
                wrong.push(format!(
                    "{path}: {sniffed:?} for {}: {start}",
                    expected.name()
                ));
            }
            late += usize::from(sniffed.reason == Reason::LateMeta);
        }
    }
    assert!(ran > 80 && late > 0, "{ran} cases, {late} of them late");
    assert!(
        wrong.is_empty(),
        "{} of {ran}:\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

/// The string, with `\uXXXX` read once more where the test asks for it.
fn string(value: &Value, double_escaped: bool) -> Option<String> {
    let text = value.as_str()?;
    if !double_escaped {
        return Some(text.to_owned());
    }
    serde_json::from_str(&format!("\"{}\"", text.replace('"', "\\\""))).ok()
}

#[test]
fn references_are_read_as_html5lib_expects() {
    let Some(files) = common::archive("conformance-html5lib") else {
        return;
    };
    let (mut texts, mut values) = (0, 0);
    for file in [
        "namedEntities.test",
        "numericEntities.test",
        "entities.test",
    ] {
        let (_, bytes) = files
            .iter()
            .find(|(path, _)| path.ends_with(&format!("/tokenizer/{file}")))
            .expect("the file is in the corpus");
        let tests: Value = serde_json::from_slice(bytes).expect("JSON");
        for test in tests["tests"].as_array().expect("tests") {
            let double_escaped = test["doubleEscaped"] == true;
            let Some(input) = string(&test["input"], double_escaped) else {
                continue;
            };
            let output = test["output"].as_array().expect("output");
            let states = test.get("initialStates").and_then(Value::as_array);
            let data = states.is_none_or(|states| states.iter().any(|state| state == "Data state"));
            let [token] = output.as_slice() else { continue };
            if token[0] == "Character" && data {
                let expected = string(&token[1], double_escaped).expect("text");
                let found = cook::text(input.as_bytes(), Mode::Data, UTF_8);
                assert_eq!(found, expected, "{input:?}");
                texts += 1;
            } else if token[0] == "StartTag" {
                let run = input
                    .strip_prefix("<h")
                    .and_then(|run| run.strip_suffix('>'));
                let syntax = cook::Syntax::Html(Namespace::Html);
                let found = cook::attributes(run.expect("a tag").as_bytes(), syntax, UTF_8);
                let expected = token[2].as_object().expect("attributes");
                assert_eq!(found.len(), expected.len(), "{input:?}");
                for (name, value) in found {
                    assert_eq!(expected[&*name], *value, "{input:?}");
                }
                values += 1;
            }
        }
    }
    eprintln!("{texts} texts, {values} tags");
    assert!(texts > 4_000 && values >= 9, "{texts} texts, {values} tags");
}
