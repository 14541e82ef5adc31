//! Real pages and data files are detected as the kind that a person would name.
//!
//! Reads the shared corpus next to the repository; skips with a message if it is not available.

use std::io::Read;
use std::path::PathBuf;

use quire_core::{Kind, json, sniff};

/// Return every file of an archive, as (path, bytes); `None` if the corpus is not available.
fn corpus(name: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/corpus")
        .join(name)
        .with_extension("tar.zst");
    let Ok(file) = std::fs::File::open(&path) else {
        eprintln!("skipped: {} is absent", path.display());
        return None;
    };
    let mut archive = tar::Archive::new(zstd::Decoder::new(file).expect("zstd"));
    let mut files = Vec::new();
    for entry in archive.entries().expect("tar") {
        let mut entry = entry.expect("tar entry");
        if entry.header().entry_type().is_file() {
            let path = entry.path().expect("path").display().to_string();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("contents");
            files.push((path, bytes));
        }
    }
    assert!(!files.is_empty(), "{name} holds no files");
    Some(files)
}

fn kinds_by_extension(name: &str) {
    for (path, bytes) in corpus(name).unwrap_or_default() {
        let expected = match path.rsplit('.').next() {
            Some("json") => Kind::Json,
            Some("xml") => Kind::Xml,
            _ => Kind::Html,
        };
        assert_eq!(sniff(&bytes, None), expected, "{path}");
    }
}

#[test]
fn pages_are_html() {
    for name in [
        "pages-articlebench",
        "pages-readability",
        "pages-trafilatura",
    ] {
        kinds_by_extension(name);
    }
}

#[test]
fn data_files_are_xml() {
    kinds_by_extension("xml-data");
}

#[test]
fn json_files_are_read_as_serde_reads_them() {
    for name in ["pages-articlebench", "conformance-html5lib"] {
        for (path, bytes) in corpus(name).unwrap_or_default() {
            let oracle = serde_json::from_slice::<serde_json::Value>(&bytes);
            let found = json::parse(&bytes, false);
            // The oracle refuses halves of surrogate pairs, which JSON allows.
            let halves = oracle
                .as_ref()
                .is_err_and(|error| error.to_string().contains("surrogate"));
            assert_eq!(found.is_ok(), oracle.is_ok() || halves, "{path}");
            if let Ok((draft, layout)) = found {
                let odd = draft.iter().filter(|node| node.flags != 0).count() - 1;
                eprintln!(
                    "{path}: {odd} of {} nodes odd, {layout:?}",
                    draft.nodes.len()
                );
            }
        }
    }
}
