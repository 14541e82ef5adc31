//! Small pairs of pages, and the changes that a person would report.
//!
//! Each is a pitfall of some tool. A case states how many runs were inserted, deleted and moved,
//! and how many nodes changed themselves.

use quire_core::sdiff::script::{Wanted, between};
use quire_core::sdiff::{Annotation, Compared, Granularity, Rules, Scope, annotate};
use quire_core::{Digest, Options, decode, encode};

fn page(source: &str) -> Digest {
    encode(source.as_bytes(), &Options::default()).unwrap()
}

fn compare(old: &Digest, new: &Digest) -> Annotation {
    let compared = |page| Compared {
        page,
        scope: Scope::default(),
    };
    annotate(
        &compared(old),
        &compared(new),
        &Rules::default(),
        Granularity::Normal,
    )
    .unwrap()
}

fn count(old: &str, new: &str) -> [usize; 4] {
    let (old, new) = (page(old), page(new));
    let script = between(&old, &new, Wanted::default()).unwrap();
    let made = script.apply(&old).unwrap();
    assert_eq!(decode(&made).unwrap(), decode(&new).unwrap());
    let counts = script.counts();
    let changes = counts.updates + counts.renames;
    [counts.inserts, counts.deletes, counts.moves, changes]
}

#[track_caller]
fn case(old: &str, new: &str, expected: [usize; 4]) {
    assert_eq!(
        count(old, new),
        expected,
        "[inserted, deleted, moved, changed]\n{old}\n{new}"
    );
}

#[test]
fn one_change_in_one_node_is_one_change() {
    case("<p>a</p>", "<p>b</p>", [0, 0, 0, 1]);
    case("<p>a</p>", "<div>a</div>", [0, 0, 0, 1]);
    case("<p class=x>a</p>", "<p class=y>a</p>", [0, 0, 0, 1]);
    case("<td>12.3 %", "<td>12.4 %", [0, 0, 0, 1]);
}

#[test]
fn a_row_less_or_more_is_one_row() {
    case(
        "<ul><li>1<li>2<li>3</ul>",
        "<ul><li>1<li>3</ul>",
        [0, 1, 0, 0],
    );
    case("<li>x<li>x<li>x", "<li>x<li>x<li>x<li>x", [1, 0, 0, 0]);
    case("<li>x<li>x<li>x", "<li>x<li>y<li>x", [0, 0, 0, 1]);
    let nodes = |ids: &[u32]| {
        let nodes: Vec<String> = ids.iter().map(|id| format!("<node id='{id}'/>")).collect();
        format!("<?xml version='1.0'?><r>{}</r>", nodes.concat())
    };
    case(
        &nodes(&[1, 2, 3, 4, 5]),
        &nodes(&[1, 2, 4, 5]),
        [0, 1, 0, 0],
    );
}

#[test]
fn reordering_is_as_few_moves_as_can_be() {
    let list = |items: &str| {
        let items: Vec<String> = items.chars().map(|item| format!("<li>{item}")).collect();
        format!("<ul>{}</ul>", items.concat())
    };
    case(&list("abcd"), &list("dabc"), [0, 0, 1, 0]);
    case(&list("abcd"), &list("dcba"), [0, 0, 3, 0]);
    case(&list("aaaaaaa"), &list("aaaaaaa"), [0, 0, 0, 0]);
}

#[test]
fn new_dates_in_a_list_are_new_texts() {
    let list = |dates: [&str; 4]| {
        let items = dates.map(|date| format!("<li>{date}</li>"));
        format!("<ul>{}</ul>", items.concat())
    };
    case(
        &list([
            "9 April 10:00",
            "8 April 11:00",
            "3 April 12:00",
            "2 April 13:00",
        ]),
        &list([
            "15 April 10:30",
            "14 April 11:30",
            "9 April 12:30",
            "8 April 13:30",
        ]),
        [0, 0, 0, 4],
    );
}

#[test]
fn a_part_that_went_to_its_neighbour_moved() {
    let x = "<h2>The fish is fresh today</h2><p>and the chips are hot, with salt</p>";
    case(
        &format!("<section><div>{x}</div></section><article><p>small</p></article>"),
        &format!("<section></section><article><p>small</p><div>{x}</div></article>"),
        [0, 0, 1, 0],
    );
    case(
        &format!("<div>{x}</div><hr><hr><section><p>a</p></section>"),
        &format!("<hr><hr><section><div>{x}</div><p>a</p></section>"),
        [0, 0, 1, 0],
    );
}

#[test]
fn a_replaced_teaser_is_not_four_updates() {
    let teaser = |n: u32, title: &str, when: &str| {
        format!(
            "<article><a href='/{n}'><img src='/{n}.jpg'><h3>{title}</h3></a><time>{when}</time></article>"
        )
    };
    let page = |middle: &str| {
        let first = teaser(1, "Storm over the coast tonight", "9:00");
        let last = teaser(3, "Museum opens its doors again", "7:00");
        format!("<main>{first}{middle}{last}</main>")
    };
    case(
        &page(&teaser(2, "Council votes on budget plans", "8:00")),
        &page(&teaser(9, "Train drivers announce strike", "11:30")),
        [1, 1, 0, 0],
    );
}

#[test]
fn counters_that_swap_are_updated_in_place() {
    let page = |a: u32, b: u32| {
        format!(
            "<article><h2>First story of the day</h2><span>{a}</span></article>\
             <article><h2>Second story of the day</h2><span>{b}</span></article>"
        )
    };
    case(&page(72, 51), &page(51, 72), [0, 0, 0, 2]);
}

#[test]
fn a_new_row_on_top_of_rows_that_all_changed_is_one_row() {
    let table = |rows: std::ops::Range<u32>, price: u32| {
        let rows: Vec<String> = rows
            .map(|row| {
                format!(
                    "<tr><td>item number {row}</td><td>{}</td></tr>",
                    row * 7 + price
                )
            })
            .collect();
        format!("<table>{}</table>", rows.concat())
    };
    for rows in [20, 1000] {
        case(
            &table(1..rows + 1, 3),
            &table(0..rows + 1, 5),
            [1, 0, 0, rows as usize],
        );
    }
}

#[test]
fn navigation_is_recognised_by_its_texts() {
    case(
        "<nav><a class=x href=/p>Politik</a><a class=x href=/s>Sport</a><a class=x href=/k>Kultur</a></nav>",
        "<nav><a class=y href=/s>Sport</a><a class=y href=/p>Politik</a><a class=y href=/k>Kultur</a></nav>",
        [0, 0, 1, 3],
    );
}

#[test]
fn a_box_around_things_is_one_action() {
    case(
        "<div><a>1</a><b>2</b></div>",
        "<div><section><a>1</a><b>2</b></section></div>",
        [1, 0, 0, 0],
    );
    case(
        "<div><p>0</p><section><a>1</a><b>2</b><i>3</i></section></div>",
        "<div><p>0</p><a>1</a><b>2</b><i>3</i></div>",
        [0, 1, 0, 0],
    );
}

#[test]
fn layout_is_no_change() {
    case(
        "<ul><li>a</li><li>b</li></ul>",
        "<ul>\n  <li>a</li>\n  <li>b</li>\n</ul>",
        [0, 0, 0, 0],
    );
    case("<p>a &amp; b", "<p>a &#38; b", [0, 0, 0, 0]);
    case("<DIV>a</DIV>", "<div>a</div>", [0, 0, 0, 0]);
}

#[test]
fn an_empty_page_keeps_its_root() {
    let (old, new) = (page(""), page("<h1>a</h1><p>b</p>"));
    assert_eq!(compare(&old, &new).pairs.to_new[0], 0);
    assert_eq!(count("", "<h1>a</h1><p>b</p>"), [1, 0, 0, 0]);
    assert_eq!(count("<h1>a</h1><p>b</p>", ""), [0, 1, 0, 0]);
}

#[test]
fn inside_out_is_still_one_to_one() {
    let [inserted, deleted, moved, changed] = count(
        "<?xml version='1.0'?><r><x><y><z/></y></x></r>",
        "<?xml version='1.0'?><r><y><x><z/></x></y></r>",
    );
    assert!(inserted + deleted + moved + changed <= 3);
}

#[test]
fn headings_are_followed_through_a_redesign() {
    let old = page(
        "<div class=a><div class=b><h2 class=c>News of the city</h2><p>one text here</p></div></div>",
    );
    let new = page(
        "<section id=q><span><h2 data-x=1>News of the city</h2></span><ul><li>other words now</ul></section>",
    );
    let found = compare(&old, &new);
    let heading = |page: &Digest| {
        (0..page.n())
            .find(|&node| page.tag_name(page.tag().get(node) as usize) == "h2")
            .unwrap()
    };
    assert_eq!(found.pairs.to_new[heading(&old)], heading(&new) as u32);
}

#[test]
fn a_new_name_outside_and_a_new_text_inside_are_two_actions() {
    let page = |name: &str, text: &str| {
        format!(
            "<?xml version='1.0'?><r><a><{name}><b id='n3'><c><d>{text}</d></c></b></{name}></a></r>"
        )
    };
    case(
        &page("note", "river"),
        &page("other", "river more"),
        [0, 0, 0, 2],
    );
}
