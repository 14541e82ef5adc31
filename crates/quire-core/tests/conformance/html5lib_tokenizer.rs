//! The html5lib-tests tokenizer suite: the decoded spans are the tokens it expects.
//!
//! The tokenizer returns spans and leaves decoding to `values`; this test combines the two and
//! prints the result in the notation of the suite. Three things in the suite have no equivalent in
//! ours and are emulated here:
//!
//! * A test that begins inside an element (RCDATA, RAWTEXT, script data) is `raw_text` with the
//!   name of the last start tag; without one no end tag is appropriate, and the whole page is text.
//!   PLAINTEXT is `rest`.
//! * The CDATA section state cannot be entered on its own: a section is one token. So the input
//!   gets a `<![CDATA[` in front, as the state implies.
//! * The suite's tokenizer passes on U+0000 in text, for the tree builder to drop it (HTML) or to
//!   replace it (SVG, `MathML`). Here `values` does both, so text is decoded between NULs, and
//!   these are put back.
//!
//! Parse errors are not compared: quire does not report them. Exceptions are listed with their
//! reason in `docs/conformance.md`; the test fails for one that is not listed, and for a listed one
//! that passes.

use crate::common;

use std::collections::BTreeSet;
use std::path::Path;

use encoding_rs::UTF_8;
use quire_core::html::{RawKind, TagToken, Token, Tokenizer};
use quire_core::{Mode, Namespace, values};
use serde_json::{Map, Value, json};

const CDATA: &str = "<![CDATA[";

/// Decode `\uXXXX` once more; `None` if that gives half a surrogate pair.
fn unescaped(text: &str) -> Option<String> {
    let mut units = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\u") {
        units.extend(rest[..at].encode_utf16());
        units.push(u16::from_str_radix(rest.get(at + 2..at + 6)?, 16).ok()?);
        rest = &rest[at + 6..];
    }
    units.extend(rest.encode_utf16());
    String::from_utf16(&units).ok()
}

/// Decode every string of a value.
fn all_unescaped(value: &Value) -> Option<Value> {
    Some(match value {
        Value::String(text) => Value::String(unescaped(text)?),
        Value::Array(values) => values.iter().map(all_unescaped).collect::<Option<_>>()?,
        Value::Object(pairs) => {
            let pairs = pairs
                .iter()
                .map(|(name, value)| Some((unescaped(name)?, all_unescaped(value)?)));
            Value::Object(pairs.collect::<Option<_>>()?)
        }
        other => other.clone(),
    })
}

/// Tokens in the notation of the suite.
struct Tokens<'a> {
    source: &'a [u8],
    found: Vec<Value>,
}

impl Tokens<'_> {
    /// Add text; adjacent texts are one token.
    fn characters(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if let Some(Value::Array(token)) = self.found.last_mut()
            && token[0] == "Character"
            && let Some(Value::String(before)) = token.get_mut(1)
        {
            before.push_str(text);
            return;
        }
        self.found.push(json!(["Character", text]));
    }

    fn decoded(&mut self, start: usize, end: usize, mode: Mode) {
        let raw = &self.source[start..end];
        self.characters(&values::text(raw, mode, UTF_8));
    }

    /// Add text whose NULs are handled by the tree builder.
    fn with_nuls(&mut self, raw: &[u8], mode: Mode) {
        for (index, part) in raw.split(|&byte| byte == 0).enumerate() {
            if index > 0 {
                self.characters("\0");
            }
            self.characters(&values::text(part, mode, UTF_8));
        }
    }

    fn name(&self, tag: &TagToken) -> String {
        let raw = &self.source[tag.name_start..tag.name_end];
        values::text(raw, Mode::RawText, UTF_8).to_ascii_lowercase()
    }

    fn start_tag(&mut self, tag: &TagToken) {
        let run = &self.source[tag.name_end..tag.end - 1];
        let syntax = values::Syntax::Html(Namespace::Html);
        let attributes: Map<String, Value> = values::attributes(run, syntax, UTF_8)
            .into_iter()
            .map(|(name, value)| (name.into_owned(), Value::from(value)))
            .collect();
        let mut token = vec![
            json!("StartTag"),
            json!(self.name(tag)),
            Value::from(attributes),
        ];
        if tag.self_closing {
            token.push(json!(true));
        }
        self.found.push(Value::from(token));
    }

    /// Add a token; returns whether it is the last one.
    fn push(&mut self, token: Token) -> bool {
        let source = self.source;
        match token {
            Token::Text { start, end } => self.with_nuls(&source[start..end], Mode::Data),
            Token::Cdata { start, end, .. } => {
                let body = &source[start + CDATA.len()..end];
                self.with_nuls(body.strip_suffix(b"]]>").unwrap_or(body), Mode::RawText);
            }
            Token::Start(tag) => self.start_tag(&tag),
            Token::End(tag) => self.found.push(json!(["EndTag", self.name(&tag)])),
            Token::Comment { start, end } => {
                let data = values::text(&source[start..end], Mode::Comment, UTF_8);
                self.found.push(json!(["Comment", data]));
            }
            Token::Doctype { start, end } => {
                let found = values::doctype(&source[start..end]);
                let correct = !found.force_quirks;
                let doctype = json!(["DOCTYPE", found.name, found.public, found.system, correct]);
                self.found.push(doctype);
            }
            Token::Eof => return true,
        }
        false
    }
}

fn tokens(input: &str, state: &str, last_start_tag: Option<&str>) -> Value {
    let prefixed = format!("{CDATA}{input}");
    let in_cdata = state == "CDATA section state";
    let source = if in_cdata { &prefixed } else { input }.as_bytes();
    let mut tokenizer = Tokenizer::new(source, 0);
    let mut out = Tokens {
        source,
        found: Vec::new(),
    };
    let mut text = |kind| match last_start_tag {
        Some(name) => tokenizer.raw_text(name.as_bytes(), kind),
        None => tokenizer.rest(),
    };
    let raw = match state {
        "Data state" | "CDATA section state" => None,
        "PLAINTEXT state" => Some((tokenizer.rest(), Mode::RawText)),
        "RCDATA state" => Some((text(RawKind::Simple), Mode::Rcdata)),
        "RAWTEXT state" => Some((text(RawKind::Simple), Mode::RawText)),
        "Script data state" => Some((text(RawKind::Script), Mode::RawText)),
        other => panic!("no such state: {other}"),
    };
    if let Some(((start, end), mode)) = raw {
        out.decoded(start, end, mode);
    }
    let mut done = out.push(tokenizer.next(in_cdata));
    while !done {
        done = out.push(tokenizer.next(false));
    }
    Value::from(out.found)
}

#[test]
fn the_tokens_are_those_the_suite_expects() {
    let Some(files) = common::archive("conformance-html5lib") else {
        return;
    };
    let listed = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/conformance.md"
    ))
    .unwrap_or_default();
    let (mut run, mut right) = (0u32, 0u32);
    let (mut excepted, mut unlisted) = (BTreeSet::new(), Vec::new());
    for (path, bytes) in &files {
        let Some((_, file)) = path.split_once("/tokenizer/") else {
            continue;
        };
        if Path::new(file).extension().is_none_or(|end| end != "test") {
            continue;
        }
        let suite: Value = serde_json::from_slice(bytes).expect("JSON");
        let tests = suite.get("tests").or(suite.get("xmlViolationTests"));
        for (index, test) in tests.and_then(Value::as_array).unwrap().iter().enumerate() {
            let double_escaped = test["doubleEscaped"] == true;
            let read = |value: &Value| {
                if double_escaped {
                    all_unescaped(value)
                } else {
                    Some(value.clone())
                }
            };
            let data_state = [json!("Data state")];
            let states = test.get("initialStates").and_then(Value::as_array);
            let case = read(&test["input"]).zip(read(&test["output"]));
            for state in states.map_or(&data_state[..], Vec::as_slice) {
                run += 1;
                let state = state.as_str().expect("a name");
                let found = case.as_ref().map(|(input, _)| {
                    let last_start_tag = test["lastStartTag"].as_str();
                    tokens(input.as_str().expect("a text"), state, last_start_tag)
                });
                if found.is_some() && found.as_ref() == case.as_ref().map(|(_, output)| output) {
                    right += 1;
                    continue;
                }
                let id = format!("{file}#{index}");
                excepted.insert(id.clone());
                if !listed.contains(&format!("`{id}`")) {
                    unlisted.push(format!(
                        "{id} {state}\n{}\nexpected {}\nfound {found:?}\n",
                        test["input"], test["output"]
                    ));
                }
            }
        }
    }
    println!(
        "tokenizer: {right} of {run} runs right ({:.2} %)",
        100.0 * f64::from(right) / f64::from(run)
    );
    assert!(
        unlisted.is_empty(),
        "{} unlisted exceptions:\n{}",
        unlisted.len(),
        unlisted.join("\n")
    );
    let stale: Vec<&str> = (listed.split('`'))
        .filter(|id| id.contains(".test#") && !excepted.contains(*id))
        .collect();
    assert!(stale.is_empty(), "no exceptions any more: {stale:?}");
    assert!(run > 6_800 && u64::from(right) * 1000 >= u64::from(run) * 995);
}
