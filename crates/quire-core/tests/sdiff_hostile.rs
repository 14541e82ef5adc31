//! Pairs of pages designed to be slow: each one ends within its budget, the pairing is one to one,
//! and shortcuts are reported.
//!
//! `cargo test --release -p quire-core --test sdiff_hostile -- --nocapture` shows the times.

use std::time::Instant;

use quire_core::sdiff::{Annotation, Compared, Granularity, Rules, Scope, Status, annotate};
use quire_core::{Digest, Options, encode};

const NONE: u32 = u32::MAX;
/// Rows of two cells: five nodes each.
const ROWS: usize = if cfg!(debug_assertions) {
    2_000
} else {
    20_000
};

fn page(source: &str) -> Digest {
    encode(source.as_bytes(), &Options::default()).unwrap()
}

fn table(rows: impl Iterator<Item = (String, String)>) -> String {
    let rows: Vec<String> = rows
        .map(|(a, b)| format!("<tr><td>{a}</td><td>{b}</td></tr>"))
        .collect();
    format!("<table>{}</table>", rows.concat())
}

fn plain(rows: impl Iterator<Item = usize>) -> String {
    table(rows.map(|row| (format!("row number {row}"), format!("{}", row * 7))))
}

/// Return the numbers below `count` in a shuffled order.
fn shuffled(count: usize) -> Vec<usize> {
    let mut keys: Vec<(u64, usize)> = (0..count)
        .map(|i| ((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7, i))
        .collect();
    keys.sort_unstable();
    keys.into_iter().map(|(_, i)| i).collect()
}

fn compare(name: &str, old: &str, new: &str) -> Annotation {
    let (old, new) = (page(old), page(new));
    let start = Instant::now();
    let compared = |page| Compared {
        page,
        scope: Scope::default(),
    };
    let found = annotate(
        &compared(&old),
        &compared(&new),
        &Rules::default(),
        Granularity::Normal,
    )
    .unwrap();
    let time = start.elapsed();
    let of = |bits: u16| {
        found
            .new
            .iter()
            .filter(|&&status| status & bits != 0)
            .count()
    };
    println!(
        "{name}: {} nodes, {:.0} ms, {} moved, {} changed, {} inserted, {} coarse",
        new.n(),
        time.as_secs_f64() * 1e3,
        of(Status::MOVED),
        of(Status::TAG | Status::ATTRIBUTES | Status::CONTENT),
        of(Status::ALONE),
        found.coarse.len(),
    );
    assert_eq!(found.pairs.to_new[0], 0);
    for (x, &y) in found.pairs.to_new.iter().enumerate() {
        assert!(y == NONE || found.pairs.to_old[y as usize] == x as u32);
    }
    found
}

fn count(found: &Annotation, bits: u16) -> usize {
    found
        .new
        .iter()
        .filter(|&&status| status & bits != 0)
        .count()
}

#[test]
fn identical_rows_have_no_order() {
    let rows = plain((0..ROWS).map(|_| 1));
    let found = compare("identical rows reversed", &rows, &rows);
    assert!(found.new.iter().all(|&status| status == 0));
}

#[test]
fn reversed_rows_are_one_move_less_than_rows() {
    let found = compare(
        "distinct rows reversed",
        &plain(0..ROWS),
        &plain((0..ROWS).rev()),
    );
    assert_eq!(count(&found, Status::MOVED), ROWS - 1);
}

#[test]
fn shuffled_rows_only_move() {
    let found = compare(
        "distinct rows shuffled",
        &plain(0..ROWS),
        &plain(shuffled(ROWS).into_iter()),
    );
    assert_eq!(count(&found, !Status::MOVED), 0);
    let kinds = |order: Vec<usize>| plain(order.into_iter().map(|i| i % 2));
    let found = compare(
        "two kinds of rows shuffled",
        &kinds((0..ROWS).collect()),
        &kinds(shuffled(ROWS)),
    );
    assert_eq!(count(&found, !Status::MOVED), 0);
}

#[test]
fn half_of_the_rows_gone_are_half_of_the_rows() {
    let found = compare(
        "half of equal rows deleted",
        &plain((0..ROWS).map(|_| 1)),
        &plain((0..ROWS / 2).map(|_| 1)),
    );
    assert_eq!(count(&found, !0), 0);
}

#[test]
fn every_text_changed_is_every_text() {
    let rows = |offset: usize| {
        table(
            (0..ROWS).map(move |row| (format!("a{}", row + offset), format!("b{}", row + offset))),
        )
    };
    let found = compare("every text changed", &rows(0), &rows(ROWS));
    assert_eq!(count(&found, Status::CONTENT), 2 * ROWS);
    assert_eq!(count(&found, !Status::CONTENT), 0);
}

#[test]
fn every_row_changed_and_shuffled_ends() {
    let rows = |order: Vec<usize>, version: u32| {
        table(
            order
                .into_iter()
                .map(move |row| (format!("row number {row}"), format!("{version} {row}"))),
        )
    };
    let found = compare(
        "every row changed and shuffled",
        &rows((0..ROWS).collect(), 1),
        &rows(shuffled(ROWS), 2),
    );
    assert!(!found.coarse.is_empty());
}

#[test]
fn an_edit_in_each_row_and_a_row_on_top_is_found() {
    let rows = |from: usize, price: usize| {
        table(
            (from..ROWS)
                .map(move |row| (format!("row number {row}"), format!("{}", row * 7 + price))),
        )
    };
    let found = compare("each row edited, one on top", &rows(1, 0), &rows(0, 1));
    assert_eq!(count(&found, Status::CONTENT), ROWS - 1);
    assert_eq!(count(&found, Status::MOVED), 0);
}

#[test]
fn unrelated_and_empty_pages_end() {
    let list: String =
        (0..2 * ROWS).fold(String::new(), |list, i| list + &format!("<li><b>{i} x</b>"));
    compare("unrelated", &plain(0..ROWS), &format!("<ul>{list}</ul>"));
    let found = compare("page from nothing", "<p>", &plain(0..ROWS));
    assert_eq!(count(&found, Status::MOVED), 0);
    compare("nothing from page", &plain(0..ROWS), "");
}

#[test]
fn equal_texts_everywhere_end() {
    let nested = |inner: &str| {
        format!(
            "{}{inner}{}",
            "<div><p>x</p>".repeat(ROWS / 4),
            "<p>x</p></div>".repeat(ROWS / 4)
        )
    };
    compare(
        "nested equal texts",
        &nested("<b>x</b>"),
        &nested("<i>x</i><b>y</b>"),
    );
    let flat = |count: usize, every: usize| {
        (0..count).fold(String::new(), |page, i| {
            page + if i % every == 0 {
                "<p><b>x</b></p>"
            } else {
                "<p>x</p>"
            }
        })
    };
    compare("equal texts, other mixture", &flat(ROWS, 2), &flat(ROWS, 3));
}

#[test]
fn chains_do_not_recurse() {
    let chain = |levels: usize, inner: &str| {
        format!(
            "<?xml version='1.0'?>{}{inner}{}",
            "<a>".repeat(levels),
            "</a>".repeat(levels)
        )
    };
    compare("a box in a chain", &chain(ROWS, "x"), &chain(ROWS + 1, "x"));
    compare(
        "two ends of a chain",
        &chain(ROWS, "x"),
        &chain(ROWS / 2, "<b>x</b><c/>"),
    );
    let capped = |text: &str| format!("{}{text}", "<div><i>".repeat(ROWS));
    compare(
        "depth-capped",
        &capped("one text"),
        &capped("another <b>text</b>"),
    );
}

#[test]
fn attributes_that_all_changed_end() {
    let rows = |class: &str| {
        (0..ROWS).fold(String::new(), |page, i| {
            page + &format!("<p class='{class}{i}' data-x={i}><a href=/{i}>link {i}</a></p>")
        })
    };
    let found = compare("every class changed", &rows("a"), &rows("b"));
    assert_eq!(count(&found, Status::ATTRIBUTES), ROWS);
}
