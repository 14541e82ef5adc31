//! The encoding tests of html5lib, and those of its tokenizer tests that give a single token.

use crate::common;

use encoding_rs::{Encoding, UTF_8};
use quire_core::encoding::{Reason, sniff_html};
use quire_core::{Mode, Namespace, values};
use serde_json::Value;

/// Return the pairs of `#data` and `#encoding` in a file.
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
        // `chardet/` is about guessing, `scripted/` about text that scripts write into the page.
        let file = path.strip_prefix("conformance-html5lib/encoding/");
        if file.is_none_or(|file| file.contains('/')) {
            continue;
        }
        for (data, expected) in cases(bytes) {
            ran += 1;
            // Without a declaration, the suite assumes windows-1252; we do so for pages that are
            // not UTF-8, so each page gets a byte that is not. It also makes us search for the
            // declarations that a browser would only find while it builds the tree.
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

/// Return the string, with `\uXXXX` decoded once more if the test requires it.
fn string(value: &Value, double_escaped: bool) -> Option<String> {
    let text = value.as_str()?;
    if !double_escaped {
        return Some(text.to_owned());
    }
    serde_json::from_str(&format!("\"{}\"", text.replace('"', "\\\""))).ok()
}

/// Number of tokens of each kind that agreed.
#[derive(Debug, Default)]
struct Tally {
    texts: usize,
    tags: usize,
    comments: usize,
    doctypes: usize,
}

#[test]
fn single_tokens_are_read_as_html5lib_expects() {
    let Some(files) = common::archive("conformance-html5lib") else {
        return;
    };
    let mut tally = Tally::default();
    for (path, bytes) in &files {
        let Some(file) = path.strip_prefix("conformance-html5lib/tokenizer/") else {
            continue;
        };
        // In other files a text token may contain a NUL, which only the tree builder drops.
        let texts = file.to_ascii_lowercase().ends_with("entities.test");
        let Ok(document) = serde_json::from_slice::<Value>(bytes) else {
            continue;
        };
        for case in document["tests"].as_array().into_iter().flatten() {
            let initial = case.get("initialStates").and_then(Value::as_array);
            let from_data = initial.is_none_or(|states| states.iter().any(|s| s == "Data state"));
            let escaped = case["doubleEscaped"] == true;
            let output = case["output"].as_array().expect("output");
            // A lone surrogate cannot occur in bytes.
            let Some(input) = string(&case["input"], escaped).filter(|_| from_data) else {
                continue;
            };
            if let [token] = output.as_slice()
                && (texts || token[0] != "Character")
            {
                check(&input, token, escaped, &mut tally);
            }
        }
    }
    eprintln!("{tally:?}");
    assert!(tally.texts > 4_000 && tally.tags > 400, "{tally:?}");
    assert!(tally.comments > 200 && tally.doctypes > 500, "{tally:?}");
}

fn check(input: &str, token: &Value, escaped: bool, tally: &mut Tally) {
    let part = |at: usize| string(&token[at], escaped);
    match token[0].as_str().expect("a kind") {
        "Character" => {
            let found = values::text(input.as_bytes(), Mode::Data, UTF_8);
            assert_eq!(Some(&*found), part(1).as_deref(), "{input:?}");
            tally.texts += 1;
        }
        "Comment" => {
            let found = values::text(input.as_bytes(), Mode::Comment, UTF_8);
            assert_eq!(Some(&*found), part(1).as_deref(), "{input:?}");
            tally.comments += 1;
        }
        "DOCTYPE" => {
            let found = values::doctype(input.as_bytes());
            let parts = [found.name, found.public, found.system];
            assert_eq!(parts, [part(1), part(2), part(3)], "{input:?}");
            assert_eq!(found.force_quirks, token[4] == false, "{input:?}");
            tally.doctypes += 1;
        }
        "StartTag" => {
            let tag = input.strip_suffix('>').expect("a whole tag");
            let name = tag.find(['\t', '\n', '\u{c}', '\r', ' ', '/']);
            let run = &tag.as_bytes()[name.unwrap_or(tag.len())..];
            let found = values::attributes(run, values::Syntax::Html(Namespace::Html), UTF_8);
            let expected = token[2].as_object().expect("attributes");
            assert_eq!(found.len(), expected.len(), "{input:?}");
            for (name, value) in found {
                let expected = expected.iter().find_map(|(key, value)| {
                    let key = string(&Value::String(key.clone()), escaped)?;
                    (key == name).then(|| string(value, escaped))?
                });
                assert_eq!(expected.as_deref(), Some(&*value), "{input:?}");
            }
            tally.tags += 1;
        }
        _ => {}
    }
}
