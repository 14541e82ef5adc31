//! The html5lib-tests tree construction suite, scripting on and off.
//!
//! Every case must also be restored byte for byte. Exceptions are listed with their reason in
//! `docs/conformance.md`; the test fails for one that is not listed.

use crate::common;

use std::fmt::Write as _;
use std::path::Path;

use quire_core::html::Context;
use quire_core::{Class, Digest, Kind, Namespace, Options, decode, encode};

/// One case of a `.dat` file.
#[derive(Default)]
struct Case {
    data: Vec<u8>,
    expected: String,
    context: Option<String>,
    scripting: Option<bool>,
}

fn cases(file: &[u8]) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut case = Case::default();
    let mut section = "";
    let mut seen = false;
    let mut data: Vec<&[u8]> = Vec::new();
    let lines = file.split(|&b| b == b'\n');
    for line in lines {
        let text = String::from_utf8_lossy(line);
        let opens_case = text == "#data";
        match &*text {
            "#data" | "#errors" | "#new-errors" | "#document-fragment" | "#document"
            | "#script-on" | "#script-off"
                if opens_case || seen =>
            {
                if opens_case {
                    if seen {
                        case.data = data.join(&b'\n');
                        cases.push(std::mem::take(&mut case));
                    }
                    data.clear();
                    seen = true;
                    section = "data";
                } else {
                    section = match &*text {
                        "#document-fragment" => "fragment",
                        "#document" => "document",
                        "#script-on" => {
                            case.scripting = Some(true);
                            ""
                        }
                        "#script-off" => {
                            case.scripting = Some(false);
                            ""
                        }
                        _ => "",
                    };
                }
            }
            _ => match section {
                "data" => data.push(line),
                "fragment" => {
                    case.context = Some(text.into_owned());
                    section = "";
                }
                "document" => {
                    case.expected.push_str(&text);
                    case.expected.push('\n');
                }
                _ => {}
            },
        }
    }
    if seen {
        case.data = data.join(&b'\n');
        cases.push(case);
    }
    for case in &mut cases {
        case.expected
            .truncate(case.expected.trim_end_matches('\n').len());
    }
    cases
}

fn context(name: &str) -> Context {
    let (namespace, name) = match name.split_once(' ') {
        Some(("svg", name)) => (Namespace::Svg, name),
        Some(("math", name)) => (Namespace::MathMl, name),
        _ => (Namespace::Html, name),
    };
    Context {
        namespace,
        name: name.to_owned(),
        html_integration: false,
    }
}

/// Return the tree in the notation of the suite.
fn dump(page: &Digest) -> String {
    let mut out = String::new();
    let derived = page.derived();
    for node in 1..page.n() {
        let tag = page.tag().get(node) as usize;
        let info = page.tag_info(tag);
        let indent = "  ".repeat(derived.depth[node] as usize - 1);
        let content = page.content().get(node);
        let text = if content < 0 {
            "".into()
        } else {
            page.content_text(content as usize)
        };
        match info.class {
            Class::Element => {
                let prefix = match info.namespace {
                    Namespace::Svg => "svg ",
                    Namespace::MathMl => "math ",
                    _ => "",
                };
                let _ = writeln!(out, "| {indent}<{prefix}{}>", page.tag_name(tag));
                let mut attributes: Vec<(String, &str)> = (page.attributes(node).iter())
                    .map(|(name, value)| (shown_name(name, info.namespace), &**value))
                    .collect();
                attributes.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
                for (name, value) in attributes {
                    let _ = writeln!(out, "| {indent}  {name}=\"{value}\"");
                }
            }
            Class::Comment => {
                let _ = writeln!(out, "| {indent}<!-- {text} -->");
            }
            Class::Doctype => {
                let _ = writeln!(out, "| {indent}<!DOCTYPE {text}>");
            }
            Class::Fragment => {
                let _ = writeln!(out, "| {indent}content");
            }
            _ => {
                let _ = writeln!(out, "| {indent}\"{text}\"");
            }
        }
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}

fn shown_name(name: &str, namespace: Namespace) -> String {
    const FOREIGN: [&str; 10] = [
        "xlink:actuate",
        "xlink:arcrole",
        "xlink:href",
        "xlink:role",
        "xlink:show",
        "xlink:title",
        "xlink:type",
        "xml:lang",
        "xml:space",
        "xmlns:xlink",
    ];
    if namespace != Namespace::Html && FOREIGN.contains(&name) {
        return name.replace(':', " ");
    }
    name.to_owned()
}

#[test]
fn the_tree_is_the_one_the_suite_expects() {
    let Some(files) = common::archive("conformance-html5lib") else {
        println!("skipped: ../shared/corpus is not there");
        return;
    };
    let listed = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/conformance.md"
    ))
    .unwrap_or_default();
    let (mut run, mut right) = (0, 0);
    let mut unlisted = Vec::new();
    for (name, bytes) in &files {
        if !name.contains("tree-construction/")
            || Path::new(name).extension().is_none_or(|ext| ext != "dat")
            || name.contains("/scripted/")
        {
            continue;
        }
        let file = name.rsplit('/').next().unwrap_or_default();
        for (index, case) in cases(bytes).iter().enumerate() {
            for scripting in [true, false] {
                if case.scripting.is_some_and(|wanted| wanted != scripting) {
                    continue;
                }
                run += 1;
                let options = Options {
                    kind: Some(Kind::Html),
                    encoding: Some(encoding_rs::UTF_8),
                    scripting,
                    context: case.context.as_deref().map(context),
                    ..Options::default()
                };
                let page = encode(&case.data, &options).expect("HTML is never refused");
                assert_eq!(decode(&page).unwrap(), case.data, "{file} case {index}");
                let found = dump(&page);
                if found == case.expected {
                    right += 1;
                } else {
                    let id = format!("{file}#{index}");
                    if !listed.contains(&format!("`{id}`")) {
                        unlisted.push(format!(
                            "{id} scripting={scripting} context={:?}\n{}\nexpected\n{}\nfound\n{found}\n",
                            case.context,
                            String::from_utf8_lossy(&case.data),
                            case.expected
                        ));
                    }
                }
            }
        }
    }
    println!(
        "tree construction: {right} of {run} cases right ({:.2} %)",
        100.0 * f64::from(right) / f64::from(run)
    );
    assert!(
        unlisted.is_empty(),
        "{} unlisted exceptions:\n{}",
        unlisted.len(),
        unlisted.join("\n")
    );
    assert!(right * 100 >= run * 99);
}
