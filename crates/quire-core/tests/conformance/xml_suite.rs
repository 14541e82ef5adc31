//! The W3C XML conformance suite, and the speed of the XML parser on real documents.
//!
//! The suite is next to the repository (`../shared/corpus`); without it the tests print a message
//! and pass. Documents that the parser accepts although the suite calls them not well-formed are
//! listed in `docs/conformance-xml.md`, one row each with the reason; the test fails for one that
//! is not listed, and for a listed one that is refused.

use crate::common;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Instant;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use quire_core::xml::{Options, parse};
use quire_core::{Class, Flags};

const STRICT: Options = Options {
    recover: false,
    utf8: true,
};
const LENIENT: Options = Options {
    recover: true,
    utf8: true,
};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// One test of the catalogues.
struct Case {
    id: String,
    kind: String,
    namespaces: bool,
    editions: Option<String>,
    path: String,
}

/// Return the attributes of a start tag in a catalogue, which contains neither entities nor odd
/// spacing.
fn attributes(run: &str) -> HashMap<&str, &str> {
    let mut pairs = HashMap::new();
    let mut rest = run;
    while let Some((name, tail)) = rest.split_once('=') {
        let tail = tail.trim_start();
        let quote = tail.chars().next().expect("a quoted value");
        let (value, tail) = tail[1..].split_once(quote).expect("a closing quote");
        pairs.insert(name.trim(), value);
        rest = tail;
    }
    pairs
}

/// Return all tests of the suite, read with the parser under test.
fn cases(files: &HashMap<String, Vec<u8>>) -> Vec<Case> {
    let root = files
        .keys()
        .find(|path| path.ends_with("/xmlconf/xmlconf.xml"))
        .expect("a root");
    let folder = root.strip_suffix("xmlconf.xml").expect("a folder");
    let catalogue = String::from_utf8_lossy(&files[root]);
    let mut cases = Vec::new();
    for line in catalogue.lines().filter(|line| line.contains("<!ENTITY")) {
        let name = line.split('"').nth(1).expect("a system identifier");
        let path = format!("{folder}{name}");
        let base = &path[..=path.rfind('/').expect("a folder")];
        let source = &files[&path];
        // Catalogues are external entities, so they may have several roots.
        let draft = parse(source, &LENIENT).expect("recovery never fails");
        for node in draft.iter() {
            let class = draft.names.class(node.tag);
            if class != Class::Element || draft.names.name(node.tag) != b"TEST" {
                continue;
            }
            let run = String::from_utf8_lossy(&source[node.run as usize..node.end as usize - 1]);
            let found = attributes(&run);
            cases.push(Case {
                id: found["ID"].into(),
                kind: found["TYPE"].into(),
                namespaces: found
                    .get("RECOMMENDATION")
                    .is_some_and(|r| r.starts_with("NS")),
                editions: found.get("EDITION").map(|&editions| editions.into()),
                path: format!("{base}{}", found["URI"]),
            });
        }
    }
    cases
}

/// Return the document in UTF-8, or `None` if its bytes are not in the encoding it claims.
fn transcoded(source: &[u8]) -> Option<Vec<u8>> {
    let encoding = if let Some((encoding, _)) = Encoding::for_bom(source) {
        encoding
    } else if source.starts_with(b"<\0") {
        UTF_16LE
    } else if source.starts_with(b"\0<") {
        UTF_16BE
    } else {
        let head = String::from_utf8_lossy(&source[..source.len().min(200)]);
        let declared = head
            .starts_with("<?xml")
            .then(|| head.split("?>").next())
            .flatten();
        let label = declared
            .and_then(|text| text.split_once("encoding"))
            .and_then(|(_, rest)| {
                let rest = rest.trim_start_matches([' ', '=', '\t']);
                let quote = rest.chars().next()?;
                rest.get(1..)?.split(quote).next().map(str::to_owned)
            });
        label
            .and_then(|label| Encoding::for_label(label.as_bytes()))
            .unwrap_or(UTF_8)
    };
    if encoding == UTF_8 {
        return Some(source.to_vec());
    }
    if encoding == WINDOWS_1252 {
        // Browsers read ISO-8859-1 as windows-1252; XML takes the name literally (0x85 is U+0085).
        let text: String = source.iter().map(|&byte| byte as char).collect();
        return Some(text.into_bytes());
    }
    encoding
        .decode_without_bom_handling_and_without_replacement(source)
        .map(|text| text.into_owned().into_bytes())
}

/// Return the exceptions in the documentation: id and reason.
fn listed() -> BTreeMap<String, String> {
    let path = repository().join("docs/conformance-xml.md");
    let text = std::fs::read_to_string(path).expect("docs/conformance-xml.md");
    text.lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` | "))
        .map(|(id, reason)| (id.to_owned(), reason.trim_end_matches(" |").to_owned()))
        .collect()
}

#[test]
fn the_w3c_suite_is_judged_as_documented() {
    let Some(files) = common::archive("conformance-xml") else {
        return;
    };
    let files: HashMap<String, Vec<u8>> = files.into_iter().collect();
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    let mut wrongly_refused = Vec::new();
    let mut accepted = BTreeSet::new();
    for case in cases(&files) {
        if case
            .editions
            .as_ref()
            .is_some_and(|editions| !editions.contains('5'))
        {
            counts.entry("other editions, not run").or_default()[0] += 1;
            continue;
        }
        let source = files
            .get(&case.path)
            .unwrap_or_else(|| panic!("{} is missing", case.path));
        let outcome = match transcoded(source) {
            Some(text) => parse(&text, &STRICT)
                .map(|_| ())
                .map_err(|error| error.to_string()),
            None => Err("not in the encoding it declares".into()),
        };
        let group = match (case.kind.as_str(), case.namespaces) {
            ("valid" | "invalid", _) => "well-formed",
            ("not-wf", false) => "not well-formed",
            ("not-wf", true) => "namespace errors",
            _ => "errors a parser may pass over",
        };
        counts.entry(group).or_default()[usize::from(outcome.is_err())] += 1;
        match (group, outcome) {
            ("well-formed", Err(error)) => wrongly_refused.push(format!("{}: {error}", case.id)),
            ("not well-formed", Ok(())) => {
                accepted.insert(case.id);
            }
            _ => {}
        }
    }
    for (group, [accepted, refused]) in &counts {
        println!("{group}: {accepted} accepted, {refused} refused");
    }
    let run: usize = counts.values().flatten().sum();
    assert!(run > 2_000, "only {run} tests in the catalogues");
    let listed = listed();
    let unlisted: Vec<_> = accepted
        .iter()
        .filter(|&id| !listed.contains_key(id))
        .collect();
    let stale: Vec<_> = listed.keys().filter(|&id| !accepted.contains(id)).collect();
    assert_eq!(
        wrongly_refused,
        Vec::<String>::new(),
        "well-formed, but refused"
    );
    assert!(
        unlisted.is_empty(),
        "accepted and not listed: {unlisted:#?}"
    );
    assert!(stale.is_empty(), "listed, but refused: {stale:#?}");
    // A fault in a file that is not read cannot be found; of the others at least 95 % are.
    let inside = listed
        .values()
        .filter(|reason| !reason.starts_with("not read: "))
        .count();
    let refused = counts["not well-formed"][1];
    println!("fault in the document itself: {inside} accepted, {refused} refused");
    assert!(
        inside * 19 <= refused,
        "{inside} of {} accepted",
        inside + refused
    );
}

#[test]
fn every_document_of_the_suite_can_be_recovered() {
    let Some(files) = common::archive("conformance-xml") else {
        return;
    };
    for (path, source) in files {
        let Some(text) = transcoded(&source) else {
            continue;
        };
        let lenient = parse(&text, &LENIENT).unwrap_or_else(|error| panic!("{path}: {error}"));
        let strict = parse(&text, &STRICT);
        // The flag tells exactly whether strict parsing fails.
        assert_eq!(
            strict.is_err(),
            lenient.flags.has(Flags::RECOVERED),
            "{path}"
        );
        if let Ok(strict) = strict {
            assert_eq!(strict.nodes.len(), lenient.nodes.len(), "{path}");
            assert_eq!(strict.ends.len(), lenient.ends.len(), "{path}");
        }
    }
}

/// Run with `cargo test --release --test xml_suite -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement, worth something in a release build only"]
fn speed_on_real_documents() {
    let Some(files) = common::archive("xml-data") else {
        return;
    };
    let rate = |bytes: usize, seconds: f64| f64::from(bytes as u32) / seconds / 1e6;
    let (mut bytes, mut best) = (0, 0.0);
    for (path, source) in &files {
        let seconds = (0..9)
            .map(|_| {
                let start = Instant::now();
                let draft =
                    parse(source, &STRICT).unwrap_or_else(|error| panic!("{path}: {error}"));
                assert!(draft.nodes.len() > 1);
                start.elapsed().as_secs_f64()
            })
            .fold(f64::INFINITY, f64::min);
        bytes += source.len();
        best += seconds;
        if source.len() > 500_000 {
            let kilobytes = source.len() / 1000;
            println!(
                "{:7.0} MB/s  {path} ({kilobytes} kB)",
                rate(source.len(), seconds)
            );
        }
    }
    println!("{:7.0} MB/s  all {} kB", rate(bytes, best), bytes / 1000);
}
