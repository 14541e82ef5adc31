//! Measures the speed of encoding and decoding: `cargo run --release --example throughput --
//! FOLDER…`
//!
//! For a quick check after changing a kernel; the published figures come from `make bench`.

#![allow(clippy::cast_precision_loss)] // sizes and times for people

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use quire_core::{Digest, Flags, Options, Verify, decode, encode};

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let mut entries: Vec<_> = std::fs::read_dir(path)
            .into_iter()
            .flatten()
            .flatten()
            .collect();
        entries.sort_by_key(std::fs::DirEntry::path);
        for entry in entries {
            collect(&entry.path(), files);
        }
    } else {
        files.push(path.to_owned());
    }
}

#[allow(clippy::too_many_lines)] // one measurement after another
fn main() {
    let mut files = Vec::new();
    for argument in std::env::args().skip(1) {
        collect(Path::new(&argument), &mut files);
    }
    let options = Options {
        recover: true,
        ..Options::default()
    };
    let pages: Vec<Vec<u8>> = files.iter().filter_map(|f| std::fs::read(f).ok()).collect();
    let bytes: usize = pages.iter().map(Vec::len).sum();
    let (mut verbatim, mut reordered, mut wrong, mut nodes, mut held) = (0, 0, 0, 0, 0);
    for (page, file) in pages.iter().zip(&files) {
        let digest = encode(page, &options).expect("recovering never refuses");
        nodes += digest.n();
        held += digest.memory().len();
        if digest.flags().has(Flags::VERBATIM) {
            verbatim += 1;
            if std::env::var_os("VERBOSE").is_some() {
                println!("verbatim: {}", file.display());
            }
        }
        reordered += usize::from(digest.flags().has(Flags::REORDERED));
        let same = decode(&digest).is_ok_and(|out| out == *page);
        let opens =
            Digest::open(Box::new(digest.whole().unwrap().into_owned()), Verify::All).is_ok();
        if !same || !opens {
            wrong += 1;
            println!("wrong: {} {same} {opens}", file.display());
        }
    }
    println!(
        "{} files, {bytes} bytes, {nodes} nodes; digest/source {:.3}; verbatim {verbatim}, reordered {reordered}, wrong {wrong}",
        pages.len(),
        held as f64 / bytes as f64
    );
    let speed = |name: &str, run: &mut dyn FnMut() -> usize| {
        let mut best = Duration::MAX;
        for _ in 0..5 {
            let start = Instant::now();
            std::hint::black_box(run());
            best = best.min(start.elapsed());
        }
        println!(
            "{name:20} {:8.0} MB/s {:8.1} us a page",
            bytes as f64 / best.as_secs_f64() / 1e6,
            best.as_secs_f64() * 1e6 / pages.len() as f64
        );
    };
    if std::env::var_os("ENCODE_ONLY").is_some() {
        speed("encode", &mut || {
            pages
                .iter()
                .map(|p| encode(p, &options).map_or(0, |d| d.n()))
                .sum()
        });
        return;
    }
    let html = quire_core::html::Options {
        scripting: true,
        context: None,
        encoding: encoding_rs::UTF_8,
        skip: 0,
    };
    speed("tokenizer", &mut || {
        let mut tokens = 0;
        for page in &pages {
            let mut tokenizer = quire_core::html::Tokenizer::new(page, 0);
            while tokenizer.next(false) != quire_core::html::Token::Eof {
                tokens += 1;
            }
        }
        tokens
    });
    speed("html tree", &mut || {
        pages
            .iter()
            .map(|p| quire_core::html::parse(p, &html).nodes.len())
            .sum()
    });
    speed("encode", &mut || {
        pages
            .iter()
            .map(|p| encode(p, &options).map_or(0, |d| d.n()))
            .sum()
    });
    let digests: Vec<Digest> = pages
        .iter()
        .filter_map(|p| encode(p, &options).ok())
        .collect();
    speed("decode", &mut || {
        digests
            .iter()
            .map(|d| decode(d).map_or(0, |o| o.len()))
            .sum()
    });
    let stored: Vec<Arc<[u8]>> = digests
        .iter()
        .map(|d| d.whole().unwrap().into_owned().into())
        .collect();
    for verify in [Verify::All, Verify::Columns] {
        speed(&format!("open {verify:?}"), &mut || {
            (stored.iter())
                .map(|d| Digest::open(Box::new(Arc::clone(d)), verify).map_or(0, |d| d.n()))
                .sum()
        });
    }
}
