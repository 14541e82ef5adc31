//! Results compared with the crate's own matcher, expectations by hand, hostile selectors.

use std::time::{Duration, Instant};

use super::*;
use crate::page::vocabulary::{Class, Namespace};
use crate::select::sample::{Dice, Sample, random_page};

mod oracle;

fn select(page: &Sample, selector: &str) -> Result<Vec<u32>, Error> {
    css(page, selector, 0, Limits::default())
}

fn shown(page: &Sample, selector: &str) -> String {
    match select(page, selector) {
        Ok(nodes) => page.show(&nodes),
        Err(error) => error.to_string(),
    }
}

fn random_compound(dice: &mut Dice, depth: usize) -> String {
    let mut text =
        String::from(dice.pick(&["", "", "a", "b", "p", "*", "svg|a", "*|b", "html|*", "A"]));
    let parts = dice.roll(3) + usize::from(text.is_empty());
    for _ in 0..parts {
        let part = match dice.roll(if depth == 0 { 8 } else { 12 }) {
            0 => dice.pick(&["#x", "#y"]).to_owned(),
            1 | 2 => dice.pick(&[".u", ".v", ".w"]).to_owned(),
            3 => {
                let name = dice.pick(&["title", "type", "class", "TITLE"]);
                let operator = dice.pick(&["=", "~=", "|=", "^=", "$=", "*="]);
                let value = dice.pick(&["ab", "a", "b", "text", "u", "''"]);
                format!("[{name}{operator}{value}{}]", dice.pick(&["", " i", " s"]))
            }
            4 => dice.pick(&["[title]", "[*|class]"]).to_owned(),
            5 => dice
                .pick(&[
                    ":empty",
                    ":root",
                    ":first-child",
                    ":last-child",
                    ":only-child",
                    ":scope",
                ])
                .to_owned(),
            6 => dice
                .pick(&[":first-of-type", ":last-of-type", ":only-of-type"])
                .to_owned(),
            7 => {
                let name = dice.pick(&[
                    "nth-child",
                    "nth-last-child",
                    "nth-of-type",
                    "nth-last-of-type",
                ]);
                format!(
                    ":{name}({})",
                    dice.pick(&["2", "2n+1", "-n+2", "n", "3n-1", "even"])
                )
            }
            8 => format!(":is({})", random_list(dice, depth - 1)),
            9 => format!(":not({})", random_list(dice, depth - 1)),
            10 => {
                let name = dice.pick(&["nth-child", "nth-last-child"]);
                format!(
                    ":{name}({} of {})",
                    dice.pick(&["1", "2n+1", "-n+2"]),
                    random_list(dice, depth - 1)
                )
            }
            _ => format!(
                ":has({}{})",
                dice.pick(&["", "> ", "+ ", "~ "]),
                random_list(dice, 0)
            ),
        };
        text.push_str(&part);
    }
    text
}

fn random_list(dice: &mut Dice, depth: usize) -> String {
    let complex = |dice: &mut Dice| {
        let mut text = random_compound(dice, depth);
        for _ in 0..dice.roll(3) {
            text += dice.pick(&[" ", " > ", " + ", " ~ "]);
            text += &random_compound(dice, depth);
        }
        text
    };
    let mut text = complex(dice);
    if dice.roll(4) == 0 {
        text = text + ", " + &complex(dice);
    }
    text
}

#[test]
fn random_selectors_find_what_the_crates_matcher_finds() {
    let mut dice = Dice(7);
    let mut found = 0;
    for round in 0..60 {
        // Also large ones, because few nodes and many are handled differently.
        let nodes = 2 + dice.roll(if round % 12 == 0 { 300 } else { 40 });
        let page = random_page(&mut dice, nodes);
        for _ in 0..60 {
            let text = random_list(&mut dice, 2);
            let selector = match CssSelector::parse(&text) {
                Ok(selector) => selector,
                Err(error) => panic!("{error}"),
            };
            let scope = if dice.roll(2) == 0 {
                0
            } else {
                dice.roll(page.n() as usize) as u32
            };
            let expected = oracle::select(&page, &selector.list, scope);
            let answer = selector.select(&page, scope, Limits::default()).unwrap();
            assert_eq!(answer, expected, "{text} below {scope}");
            found += usize::from(!answer.is_empty());
            let node = dice.roll(page.n() as usize) as u32;
            let expected = oracle::matches(&page, &selector.list, node);
            let answer = selector.matches(&page, node, Limits::default()).unwrap();
            assert_eq!(answer, expected, "{text} on {node}");
        }
    }
    assert!(
        found > 600,
        "selectors that match nothing test little: {found} of 3600 do"
    );
}

#[test]
fn selectors_below_a_scope_may_name_what_is_above_it() {
    let page = Sample::read("html(body.top(div#one(p#a(i#b)), div#two(p#c)))");
    let div = select(&page, "#one").unwrap()[0];
    let below = |selector| page.show(&css(&page, selector, div, Limits::default()).unwrap());
    assert_eq!(below("body.top p"), "p#a");
    assert_eq!(below(":scope > p"), "p#a");
    assert_eq!(below("div"), "");
    assert_eq!(below("div:first-child i"), "i#b");
    assert_eq!(below("body:has(#c) i"), "i#b");
}

#[test]
fn html_ignores_the_case_of_names_and_quirks_that_of_classes() {
    let mut page = Sample::read("html(DIV, div.Big#One[Data-X=1], svg:linearGradient)");
    assert_eq!(shown(&page, "DIV.Big[data-x]"), "div#One");
    assert_eq!(shown(&page, "div.big"), "");
    assert_eq!(shown(&page, "linearGradient"), "linearGradient");
    assert_eq!(shown(&page, "lineargradient"), "");
    page.quirks = true;
    assert_eq!(shown(&page, "div.big#ONE"), "div#One");
}

#[test]
fn namespaces_are_prefixes() {
    let page = Sample::read("html(a#h, svg:a#s(svg:path#p), math:mi#m)");
    assert_eq!(shown(&page, "svg|a"), "a#s");
    assert_eq!(shown(&page, "html|a"), "a#h");
    assert_eq!(shown(&page, "a, math|*"), "a#h a#s mi#m");
    assert_eq!(shown(&page, "*|path"), "path#p");
    assert!(shown(&page, "foo|a").contains("unknown namespace prefix \"foo\""));
    let mut page = Sample::read("%xml:rss(%xml:title#one, %xml:dc:title#two[xml:lang=en])");
    page.html = false;
    assert_eq!(shown(&page, "title"), "title#one dc:title#two");
    assert_eq!(shown(&page, "dc|title"), "dc:title#two");
    assert_eq!(shown(&page, "|title"), "title#one");
    assert_eq!(shown(&page, r"dc\:title"), "dc:title#two");
    assert_eq!(shown(&page, "[xml|lang=en], TITLE"), "dc:title#two");
}

#[test]
fn templates_hide_their_content() {
    let page = Sample::read("html(p#a, template#t(%fragment(p#b(p#c))), p#d)");
    assert_eq!(shown(&page, "p"), "p#a p#d");
    assert_eq!(shown(&page, "template:has(p)"), "");
    assert_eq!(shown(&page, "template:empty + p"), "p#d");
    let inside = page.parents().len() as u32 - 3;
    assert_eq!(css(&page, "p", inside, Limits::default()), Ok(vec![]));
}

#[test]
fn members_of_json_are_elements() {
    let page = Sample::read(
        "%object(%member:items(%array(%object(%member:name(\"a\"), %member:price), %object(%member:name))))",
    );
    assert_eq!(shown(&page, "items > name"), "name name");
    assert_eq!(shown(&page, "items:has(> price) name:first-child"), "name");
    assert_eq!(
        shown(&page, "name + price, price ~ name:nth-of-type(2)"),
        "price name"
    );
    let second = page.n() - 2;
    assert_eq!(
        css(&page, "name:nth-child(3)", second, Limits::default()),
        Ok(vec![second + 1])
    );
    assert_eq!(shown(&page, "name:empty"), "name");
    assert_eq!(shown(&page, ":root"), "");
}

#[test]
fn states_are_read_from_attributes() {
    let page = Sample::read(
        "html(a#l[href=x], a#n, fieldset#f[disabled](div(input#i1), legend(input#i2), legend(input#i3)),
         input#c[type=CheckBox][checked], input#t[type=text][checked], input#r[required],
         select(optgroup#g[disabled](option#o1), option#o2[selected]))",
    );
    assert_eq!(shown(&page, ":link"), "a#l");
    assert_eq!(shown(&page, ":ANY-link"), "a#l");
    assert_eq!(shown(&page, ":checked"), "input#c option#o2");
    assert_eq!(
        shown(&page, ":disabled"),
        "fieldset#f input#i1 input#i3 optgroup#g option#o1"
    );
    assert_eq!(
        shown(&page, "[id]:enabled"),
        "input#i2 input#c input#t input#r option#o2"
    );
    assert_eq!(shown(&page, ":required, select:optional"), "input#r select");
}

#[test]
fn faults_are_named_with_their_place() {
    let place = |text: &str| match CssSelector::parse(text) {
        Err(Error::Selector {
            message, offset, ..
        }) => format!("{offset}: {message}"),
        other => format!("{other:?}"),
    };
    assert_eq!(place("p:hover"), "1: :hover is not supported");
    assert_eq!(place("é, p::before"), "4: ::before is not supported");
    assert_eq!(place("a:is(b:foo(1))"), "6: :foo() is not supported");
    assert_eq!(place(""), "0: expected a selector, found nothing");
    assert_eq!(place("a,"), "2: expected a selector, found nothing");
    assert_eq!(place("a >"), "3: expected a selector after the combinator");
    assert_eq!(place("a[="), "3: expected an attribute name after '['");
    assert_eq!(place("a."), "2: unexpected end of the selector");
    assert_eq!(place("a.>"), "3: expected a class name after '.'");
    assert!(place("a:has(b:has(c))").contains("not allowed here"));
    assert!(place(&":not(".repeat(800)).contains("nested more than 32 deep"));
    assert!(place(&"a".repeat(65_537)).contains("more than the limit of 65536"));
    assert!(CssSelector::parse(&"a ".repeat(32_768)).is_ok());
}

/// Make a page of `n` elements, each inside the previous one, or all in one.
fn big_page(n: u32, deep: bool) -> Sample {
    let mut page = Sample::new();
    page.element("html");
    for _ in 0..n {
        page.open(Namespace::Html, Class::Element, "p", Vec::new());
        if !deep {
            page.close();
        }
    }
    page.done()
}

#[test]
fn hostile_selectors_end() {
    let selectors = [
        "* * * * * * * * * *",
        "* ~ * ~ * ~ * + * ~ *",
        "p:nth-child(2n+1):nth-last-of-type(odd):nth-last-child(2 of p)",
        ":has(* * * *):has(~ * p):not(:has(p ~ p + p)) *",
        ":is(:is(:is(* *) *) *):not(:not(p p p p) p)",
    ];
    for deep in [false, true] {
        let page = big_page(100_000, deep);
        for selector in selectors {
            let start = Instant::now();
            // 60 passes are enough for each; 2 s with optimisation, but these tests run without.
            let answer = css(&page, selector, 0, Limits { steps: 6_000_000 });
            assert!(answer.is_ok(), "{selector}: {answer:?}");
            let elapsed = start.elapsed();
            // Longer than any answer takes, even on a machine that is busy with other work.
            let hang = Duration::from_secs(120);
            assert!(elapsed < hang, "{selector} took {elapsed:?}");
        }
    }
    let page = big_page(100_000, false);
    let long = "*:not(*) ".repeat(400);
    assert!(matches!(select(&page, &long), Err(Error::Budget { .. })));
}

#[test]
fn garbage_is_an_error_or_an_answer() {
    let pieces = [
        "a",
        "*",
        "|",
        ":",
        "::",
        "(",
        ")",
        "[",
        "]",
        "\"",
        "'",
        "\\",
        "\\41 ",
        ".",
        "#",
        ",",
        " ",
        ">",
        "+",
        "~",
        "=",
        "^=",
        "i",
        "not",
        ":is(",
        ":has(",
        ":nth-child(",
        "2n",
        "of",
        "&",
        "/*",
        "*/",
        "é",
        "\0",
        "{",
        "}",
        ";",
        "!",
        "@x",
        "url(",
        "1e9",
        "-",
        "--",
        "<!--",
        "svg|",
        ":host",
        "::slotted(",
        "::part(",
        ":root",
    ];
    let mut dice = Dice(13);
    let page = random_page(&mut dice, 20);
    let mut read = 0;
    for _ in 0..20_000 {
        let length = 1 + dice.roll(8);
        let text: String = (0..length).map(|_| dice.pick(&pieces)).collect();
        if let Ok(selector) = CssSelector::parse(&text) {
            read += 1;
            selector
                .select(&page, 0, Limits::default())
                .or_else(refused)
                .unwrap();
            selector
                .matches(&page, 5, Limits::default())
                .map(|_| vec![])
                .or_else(refused)
                .unwrap();
        }
    }
    assert!(read > 500, "{read} of 20000 were selectors");
}

/// A prefix that turns out to be unknown only on the page is an ordinary fault.
fn refused(error: Error) -> Result<Vec<u32>, Error> {
    if matches!(error, Error::Selector { .. }) {
        Ok(Vec::new())
    } else {
        Err(error)
    }
}

#[test]
fn the_budget_counts_passes() {
    let page = big_page(100, false);
    let limited = |steps| css(&page, "p:nth-child(50)", 0, Limits { steps });
    assert_eq!(limited(10_000).unwrap().len(), 1);
    let selector = "p:nth-child(50)".to_owned();
    assert_eq!(
        limited(300),
        Err(Error::Budget {
            selector,
            steps: 300
        })
    );
    assert!(matches!(
        css(&page, "p", 5000, Limits::default()),
        Err(Error::Tree { .. })
    ));
}

#[test]
fn a_small_scope_costs_little() {
    let mut page = Sample::new();
    page.element("html");
    for _ in 0..10_000 {
        page.element("p");
        page.close();
    }
    let row = page.element("tr");
    page.element("td");
    let page = page.done();
    let limits = Limits { steps: 200 };
    assert_eq!(
        css(&page, "html tr > td:first-child", row, limits).unwrap(),
        [row + 1]
    );
    assert!(matches!(
        css(&page, "p + tr > td", row, limits),
        Err(Error::Budget { .. })
    ));
}

#[test]
fn selectors_are_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>(_: &T) {}
    shared(&CssSelector::parse("a").unwrap());
}
