//! Whatever goes in comes out, and what was written can be read: on pages made to be mis-nested.

#[path = "common/pages.rs"]
mod pages;

use pages::{Random, html_options, mutate, page, sound};
use quire_core::encode::{Options, encode};
use quire_core::flags::Flags;
use quire_core::sniff::Kind;

/// Pages a seed range makes; more with `QUIRE_PAGES=1000000`.
fn seeds() -> u64 {
    std::env::var("QUIRE_PAGES").map_or(4000, |n| n.parse().expect("a number of pages"))
}

#[test]
fn mis_nested_pages_come_back_and_their_files_open() {
    let mut verbatim = 0;
    for seed in 1..=seeds() {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let pieces = 1 + random.below(40);
        let mut source = page(&mut random, pieces);
        if random.below(3) == 0 {
            mutate(&mut random, &mut source);
        }
        let options = html_options(random.below(40));
        let found = std::panic::catch_unwind(|| sound(&source, &options).flags());
        let Ok(flags) = found else {
            panic!(
                "seed {seed}: {:?} in {options:?}",
                String::from_utf8_lossy(&source)
            );
        };
        if flags.has(Flags::VERBATIM) {
            verbatim += 1;
            if std::env::var("QUIRE_SHOW").is_ok() {
                println!(
                    "verbatim, seed {seed}: {:?} in {:?}",
                    String::from_utf8_lossy(&source),
                    options.context
                );
            }
        }
    }
    println!("{verbatim} of {} pages were kept verbatim", seeds());
    // Strays of small pages are free, so the source is kept only where the walk cannot say it.
    assert!(
        verbatim * 50 <= seeds(),
        "{verbatim} pages of {} could not be described",
        seeds()
    );
}

#[test]
fn every_other_kind_comes_back_too() {
    for seed in 1..=seeds() / 4 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let pieces = 1 + random.below(20);
        let mut source = page(&mut random, pieces);
        mutate(&mut random, &mut source);
        for kind in [
            None,
            Some(Kind::Xml),
            Some(Kind::Json),
            Some(Kind::Text),
            Some(Kind::Bytes),
        ] {
            let options = Options {
                kind,
                recover: true,
                ..Options::default()
            };
            sound(&source, &options);
        }
    }
}

#[test]
fn a_page_cut_at_any_byte_comes_back() {
    for seed in 1..=20 {
        let mut random = Random(seed * 0x1234_5677);
        let source = page(&mut random, 30);
        for cut in 0..=source.len() {
            for choice in [0, 1, 16] {
                sound(&source[..cut], &html_options(choice));
            }
        }
    }
}
