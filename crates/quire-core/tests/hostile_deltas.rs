//! TBC deltas of all sorts of pages, and deltas that no encoder wrote.

#[path = "common/deltas.rs"]
mod deltas;

use quire_core::codec::tbc::{WINDOW, delta};
use quire_core::hash::hash64;

fn draw(seed: u64, at: u64) -> u64 {
    hash64(&[seed, at].map(u64::to_le_bytes).concat())
}

/// Make a page of few tokens in many orders, some of them without an end.
fn page(seed: u64, tokens: u64) -> Vec<u8> {
    let words: [&[u8]; 8] = [
        b"<p>",
        b"</p>",
        b"cod",
        b" ham ",
        b"<!-- x -->",
        b"<",
        b"<a b='c'>",
        b"<!--",
    ];
    let kinds = 5 + u64::from(seed.is_multiple_of(5)) * 3;
    (0..tokens)
        .flat_map(|at| words[(draw(seed, at) % kinds) as usize])
        .copied()
        .collect()
}

#[test]
fn pages_come_back_whatever_the_window() {
    for seed in 0..200 {
        let (reference, page) = (
            page(seed, draw(seed, 1) % 60),
            page(seed + 1, draw(seed, 2) % 60),
        );
        for window in [0, 1, 2, 7, usize::MAX] {
            deltas::comes_back(&reference, &page, window);
        }
    }
}

#[test]
fn forged_deltas_are_refused_or_make_a_page_of_the_length_asked_for() {
    for seed in 0..300 {
        let (reference, page) = (page(seed, 80), page(seed + 1, 80));
        let (mut forged, _) = delta(&reference, &page, WINDOW);
        for edit in 0..=seed % 4 {
            let at = draw(seed, 3 * edit) as usize % forged.len();
            let value = draw(seed, 3 * edit + 1) as u8;
            match draw(seed, 3 * edit + 2) % 3 {
                0 => forged[at] = value,
                1 => forged.insert(at, value),
                _ => forged.truncate(at.max(1)),
            }
        }
        for length in [0, 1, page.len() - 1, page.len(), page.len() + 1, usize::MAX] {
            deltas::refused_or_of_length(&reference, &forged, length);
        }
    }
}

#[test]
fn pages_made_to_cost_much_come_back() {
    // No token in common, all tokens equal, and two orders of few tokens: Myers' worst cases; and
    // long comments without an end.
    let tags = |from: usize| -> Vec<u8> {
        (from..from + 3_000)
            .flat_map(|n| format!("<t{n}>").into_bytes())
            .collect()
    };
    let pairs = [
        (tags(0), tags(100_000)),
        (b"<p>".repeat(3_000), b"<p>".repeat(2_500)),
        (page(1, 3_000), page(2, 3_000)),
        (b"<!--".repeat(3_000), b"<!".repeat(3_000)),
        (b"<".repeat(20_000), b"<p".repeat(10_000)),
    ];
    for (reference, page) in &pairs {
        for window in [0, 1, 7] {
            deltas::comes_back(reference, page, window);
        }
    }
}
