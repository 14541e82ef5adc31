//! Expectations by hand, steps on sets compared with steps node by node, hostile expressions.

use std::time::{Duration, Instant};

use super::*;
use crate::select::sample::{Dice, Sample, random_page};

fn run(page: &Sample, expression: &str) -> Result<Found, Error> {
    XPath::parse(expression)?.select(page, 0, Limits::default())
}

/// Return a result as text: nodes as `name#id`, the rest as `XPath` would print it.
fn shown(page: &Sample, expression: &str) -> String {
    match run(page, expression) {
        Ok(Found::Nodes(nodes)) => page.show(&nodes),
        Ok(Found::Strings(strings)) => format!("{strings:?}"),
        Ok(Found::Number(number)) => value::number_text(number),
        Ok(Found::Text(text)) => format!("{text:?}"),
        Ok(Found::Bool(value)) => value.to_string(),
        Err(Error::Selector {
            message, offset, ..
        }) => format!("{offset}: {message}"),
        Err(error) => error.to_string(),
    }
}

fn shop() -> Sample {
    Sample::read(
        "%doctype, html(head(title(\"Shop\")), body(<!top>,
         h1#h.big(\"Our  \", b(\"prices\"), \" \"),
         table#t(
          tr#r1.head(th#a(\"Name\"), th#b(\"Price\")),
          tr#r2[data-n=7](td#c(\"Pear\"), td#d.num(\"3\"), td#e(a#x[href=/pear])),
          tr#r3[data-n=12](td#f(\"Fig\"), td#g.num(\"12\"), td#i(a#y[href=/fig][rel=next]))),
         svg:svg#s(svg:a#z[xlink:href=q]), p#p1(\"end\"), p#p2))",
    )
}

#[test]
fn paths_and_axes() {
    let page = shop();
    let check = |expression: &str, expected: &str| {
        assert_eq!(shown(&page, expression), expected, "{expression}");
    };
    check("/html/body/p", "p#p1 p#p2");
    check("/HTML/Body/P[1]", "p#p1");
    check("//td[1]", "td#c td#f");
    check("(//td)[1]", "td#c");
    check("(//td)[last()]", "td#i");
    check("/descendant::td[2]", "td#d");
    check("//tr[2]/td/a/..", "td#e");
    check("//a", "a#x a#y a#z");
    check("//svg:a | //html:a[@rel]", "a#y a#z");
    check("//svg:*", "svg#s a#z");
    check("//a/@href", "[\"/pear\", \"/fig\"]");
    check(
        "//a/@*",
        "[\"x\", \"/pear\", \"y\", \"/fig\", \"next\", \"z\", \"q\"]",
    );
    check("//@xlink:href/..", "a#z");
    check("//td[@id='d']/ancestor::*", "html body table#t tr#r2");
    check("//td[@id='d']/ancestor::*[1]", "tr#r2");
    check("//td[@id='d']/ancestor-or-self::td", "td#d");
    check("//td[@id='d']/following-sibling::td", "td#e");
    check("//td[@id='e']/preceding-sibling::td", "td#c td#d");
    check("//td[@id='e']/preceding-sibling::td[1]", "td#d");
    check("//td/preceding-sibling::*", "td#c td#d td#f td#g");
    check("//td/following-sibling::*[2]", "td#e td#i");
    check("//tr/self::tr[@class]", "tr#r1");
    check("//comment()", "#comment");
    check("/html/body/node()[1]", "#comment");
    check("//h1//text()", "#text #text #text");
    check(
        "//table/descendant-or-self::table/child::tr[3]/child::td/attribute::class",
        "[\"num\"]",
    );
    check("/", "#document");
    check(".", "#document");
    check("//b/./../.", "h1#h");
    check("//th[2] | //th[1] | //th", "th#a th#b");
    check("//p1", "");
    check("//p2 | //@rel", "[\"next\"]");
    check("//p[2] | //@rel", "[\"next\", \"\"]");
    check("//@href/ancestor::td", "td#e td#i");
    check("//a[@href]/ancestor::tr/td[2]/text()", "#text #text");
}

#[test]
fn predicates_and_comparisons() {
    let page = shop();
    let check = |expression: &str, expected: &str| {
        assert_eq!(shown(&page, expression), expected, "{expression}");
    };
    check("//tr[td = 'Fig']", "tr#r3");
    check("//tr[td[2] > 5]", "tr#r3");
    check("//tr[@data-n <= 7]", "tr#r2");
    check("//tr[@data-n != '7']", "tr#r3");
    check("//tr[not(@data-n)]", "tr#r1");
    check("//tr[position() > 1][1]", "tr#r2");
    check("//tr[position() mod 2 = 1]/@id", "[\"r1\", \"r3\"]");
    check("//tr[last()]", "tr#r3");
    check("//tr[last() - 1]", "tr#r2");
    check("//td[contains(@class, 'nu') and . = 12]", "td#g");
    check(
        "//td[starts-with(., 'P') or starts-with(., 'F')]",
        "td#c td#f",
    );
    check("//*[normalize-space() = 'Our prices']", "h1#h");
    check("//*[text() = 'Pear']", "td#c");
    check("//td[string-length() = 4]", "td#c");
    check(
        "//*[name() = 'a'][local-name() = 'a'][count(@*) > 2]",
        "a#y",
    );
    check("//td[a/@href]", "td#e td#i");
    check("//tr[count(td) = count(//tr[2]/td)]", "tr#r2 tr#r3");
    check("//td[../@data-n = 12][3]", "td#i");
    check("//tr[.//a[@rel]]", "tr#r3");
    check("//td[@class='num'][. < //td[@class='num']]", "td#d");
    check("//tr[td][position() = last()]", "tr#r3");
    check("//td = 'Fig'", "true");
    check("//td != //td", "true");
    check("//h1 != //h1", "false");
    check("//nothing = //td", "false");
    check("//nothing != //td", "false");
    check("//nothing = false()", "true");
    check("//td = true()", "true");
    check("//td > 11", "true");
    check("12 = //td", "true");
    check("13 = //td", "false");
    check("13 != //td", "true");
    check("//td[@class] >= //td[@class='num']", "true");
    check("'a' = 'a' and 1 < 2", "true");
    check("1 = 1 = true()", "true");
}

#[test]
fn numbers_strings_and_functions() {
    let page = shop();
    let check = |expression: &str, expected: &str| {
        assert_eq!(shown(&page, expression), expected, "{expression}");
    };
    check("1 + 2 * 3 - 4 div 2", "5");
    check("-7 mod 3", "-1");
    check("--2", "2");
    check("- 2 * -3", "6");
    check("5 div 0", "Infinity");
    check("number('x')", "NaN");
    check("number(' -1.50 ')", "-1.5");
    check("number('1e3') = number('1e3')", "false");
    check(".5 + 1.", "1.5");
    check("count(//td)", "6");
    check("sum(//td[@class])", "15");
    check("string(//td[2])", "\"3\"");
    check("string(1 div 3 = 0)", "\"false\"");
    check("concat('a', 1, true())", "\"a1true\"");
    check("substring('12345', 2, 3)", "\"234\"");
    check("substring('12345', 1.5, 2.6)", "\"234\"");
    check("substring('12345', 0, 3)", "\"12\"");
    check("substring('12345', 0 div 0, 3)", "\"\"");
    check("substring('12345', -42, 1 div 0)", "\"12345\"");
    check("substring('héllo', 2)", "\"éllo\"");
    check("substring-before('a=b', '=')", "\"a\"");
    check("substring-after('a=b', '=')", "\"b\"");
    check("translate('bar', 'abr', 'AB')", "\"BA\"");
    check("string-length('é')", "1");
    check("normalize-space('  a \t b ')", "\"a b\"");
    check("round(2.5) + round(-2.5) + floor(1.9) + ceiling(1.1)", "4");
    check("boolean('') or not(boolean('x'))", "false");
    check("name(//@rel)", "\"rel\"");
    check("string(//@rel)", "\"next\"");
    check("local-name(/)", "\"\"");
    check("string(/html/head)", "\"Shop\"");
    check("//div or //mod", "false");
}

#[test]
fn templates_and_json_are_looked_through() {
    let page = Sample::read("html(template(%fragment(p#a(\"x\"), p#b), <!c>))");
    assert_eq!(shown(&page, "/html/template/p[2]"), "p#b");
    assert_eq!(shown(&page, "//p[2]/preceding-sibling::p"), "p#a");
    assert_eq!(shown(&page, "//comment()/preceding-sibling::*[1]"), "p#b");
    assert_eq!(shown(&page, "//p[1]/.."), "template");
    let mut page = Sample::read(
        "%object(%member:items(%array(%object, %object(%member:Name(\"a\"), %member:n(\"1\")), %object(%member:Name(\"b\")))))",
    );
    page.html = false;
    assert_eq!(shown(&page, "/items/Name[2]"), "Name");
    assert_eq!(shown(&page, "string(/items/Name[2])"), "\"b\"");
    assert_eq!(
        shown(&page, "/items/n/preceding-sibling::Name = 'a'"),
        "true"
    );
    assert_eq!(shown(&page, "/items/Name[1]/preceding-sibling::*"), "");
    assert_eq!(shown(&page, "//name"), "");
}

#[test]
fn names_in_xml() {
    let mut page = Sample::read("%xml:rss[xmlns:dc=u](%xml:title#a, %xml:dc:title#b[xml:lang=en])");
    page.html = false;
    assert_eq!(shown(&page, "//title"), "title#a");
    assert_eq!(shown(&page, "//svg:title"), "");
    assert_eq!(shown(&page, "//dc:title"), "dc:title#b");
    assert_eq!(shown(&page, "//dc:*/@xml:lang"), "[\"en\"]");
    assert_eq!(shown(&page, "count(/rss/@*)"), "0");
    assert_eq!(
        shown(&page, "name(//*[local-name() = 'title'][2])"),
        "\"dc:title\""
    );
}

#[test]
fn what_is_not_supported_is_named() {
    let page = shop();
    let check = |expression: &str, expected: &str| {
        let found = shown(&page, expression);
        assert!(found.starts_with(expected), "{expression}: {found}");
    };
    check(
        "//a[id('x')]",
        "4: unsupported function id(); expected one of boolean",
    );
    check(
        "//a[@href = $x]",
        "12: variables are not supported, found $x",
    );
    check(
        "//a/following::b",
        "4: unsupported axis following::; expected one of child",
    );
    check("//a/namespace::x", "4: unsupported axis namespace::");
    check("//a/count(b)", "4: function count() cannot be a step");
    check("count()", "0: count() takes 1 arguments, found 0");
    check(
        "concat('a')",
        "0: concat() takes 2 or more arguments, found 1",
    );
    check(
        "processing-instruction('x')",
        "23: processing-instruction() takes no arguments",
    );
    check("", "0: expected a step, found the end");
    check("//", "2: expected a step, found the end");
    check("//a[", "4: expected a step, found the end");
    check("//a]", "3: expected the end, found \"]\"");
    check("//a[1", "5: expected \"]\", found the end");
    check("é'", "1: the string has no closing quote");
    check("a b", "2: expected the end, found \"b\"");
    check("a # b", "2: unexpected character '#'");
    check("count(1)", "0: expected nodes, found a number");
    check("1 | //a", "0: expected nodes on both sides");
    check("'a'/b", "0: expected nodes, found a string");
    check(&"(".repeat(65), "65: nested more than 64 deep");
    check(&"a[".repeat(2000), "130: nested more than 64 deep");
    check(&"a".repeat(65_537), "0: has 65537 bytes");
}

#[test]
fn long_expressions_are_not_deep() {
    let page = shop();
    assert_eq!(shown(&page, &("1".to_owned() + &"+1".repeat(2000))), "2001");
    assert_eq!(shown(&page, &("-".repeat(4000) + "1")), "1");
    assert_eq!(
        shown(&page, &("//tr".to_owned() + &"/.".repeat(2000))),
        "tr#r1 tr#r2 tr#r3"
    );
    assert_eq!(
        shown(&page, &("//tr".to_owned() + &"[1]".repeat(1000))),
        "tr#r1"
    );
    assert_eq!(shown(&page, &("(".repeat(64) + "1" + &")".repeat(64))), "1");
}

#[test]
fn steps_of_sets_are_unions_of_steps_of_nodes() {
    // `position() > 0` is always true, but makes the step go node by node.
    let axes = [
        "child",
        "descendant",
        "descendant-or-self",
        "self",
        "parent",
        "ancestor",
        "ancestor-or-self",
        "attribute",
        "following-sibling",
        "preceding-sibling",
    ];
    let tests = ["node()", "*", "p", "text()", "svg:*", "id"];
    let mut dice = Dice(3);
    for _ in 0..30 {
        let nodes = 1 + dice.roll(60);
        let page = random_page(&mut dice, nodes);
        for axis in axes {
            let from = dice.pick(&[
                "//*",
                "//p",
                "//a | //b[2]",
                "//@* | //a",
                "//text()",
                "//b/..",
            ]);
            let test = dice.pick(&tests);
            let together = run(&page, &format!("({from})/{axis}::{test}")).unwrap();
            let apart = run(&page, &format!("({from})/{axis}::{test}[position() > 0]")).unwrap();
            assert_eq!(together, apart, "({from})/{axis}::{test}");
            let long = format!("({from})/descendant-or-self::node()/child::{test}[position() > 0]");
            let short = format!("({from})//{test}");
            assert_eq!(run(&page, &long), run(&page, &short), "{short}");
        }
    }
}

#[test]
fn axes_are_what_parents_say() {
    let mut dice = Dice(5);
    for _ in 0..30 {
        let nodes = 1 + dice.roll(60);
        let page = random_page(&mut dice, nodes);
        let node = 1 + dice.roll(page.n() as usize - 1) as u32;
        let parents = page.parents();
        let above = |below: u32| -> Vec<u32> {
            let climb = |&it: &u32| (it != 0).then(|| parents[it as usize]);
            std::iter::successors(Some(below), climb).skip(1).collect()
        };
        let expect = |axis: &str, holds: &dyn Fn(u32) -> bool| {
            let expected: Vec<u32> = (0..page.n()).filter(|&it| holds(it)).collect();
            let found = XPath::parse(&format!("{axis}::node()")).unwrap();
            let found = found.select(&page, node, Limits::default());
            assert_eq!(found, Ok(Found::Nodes(expected)), "{axis} of {node}");
        };
        let sibling = |it: u32| it != 0 && parents[it as usize] == parents[node as usize];
        expect("child", &|it| it != 0 && parents[it as usize] == node);
        expect("descendant", &|it| above(it).contains(&node));
        expect("ancestor", &|it| above(node).contains(&it));
        expect("following-sibling", &|it| sibling(it) && it > node);
        expect("preceding-sibling", &|it| sibling(it) && it < node);
    }
}

/// Longer than any answer takes, even on a machine that is busy with other work.
const HANG: Duration = Duration::from_secs(120);

#[test]
fn hostile_expressions_end() {
    let expressions = [
        "//*//*//*//*//*//*",
        "//*[//*[//*]]",
        "//*[count(.//*) > count(//*)]",
        "//*[contains(., 'x')]",
        "//*/ancestor::*/descendant::*/ancestor::*",
        "//*/preceding-sibling::*/following-sibling::*",
        "//*[preceding-sibling::*[1]]",
        "//p[last()]/following-sibling::p[position() < 3]",
        "//* = //*",
        "//* != //*",
        "//*[. = //*]",
    ];
    for deep in [false, true] {
        let mut page = Sample::new();
        page.element("html");
        for _ in 0..100_000 {
            page.element("p");
            if !deep {
                page.close();
            }
        }
        let page = page.done();
        for expression in expressions {
            let start = Instant::now();
            // A tenth of the default: these tests run without optimisation.
            let answer =
                XPath::parse(expression)
                    .unwrap()
                    .select(&page, 0, Limits { steps: 5_000_000 });
            let budget = matches!(answer, Err(Error::Budget { .. }));
            assert!(answer.is_ok() || budget, "{expression}: {answer:?}");
            // Steps on sets read nested subtrees once, so these are linear on any page.
            let linear = !expression.contains('[') && !expression.contains('=');
            assert!(answer.is_ok() || !linear, "{expression}: {answer:?}");
            let taken = start.elapsed();
            assert!(taken < HANG, "{expression} took {taken:?}");
        }
    }
}

#[test]
fn long_expressions_on_large_pages_end() {
    let mut page = Sample::new();
    page.element("html");
    for _ in 0..80_000 {
        page.element("p");
        page.close();
    }
    let page = page.done();
    let check = |expression: &str, expected: Option<Found>| {
        let start = Instant::now();
        let path = XPath::parse(expression).unwrap();
        let answer = path.select(&page, 0, Limits { steps: 5_000_000 });
        let head = &expression[..20];
        match expected {
            Some(found) => assert_eq!(answer, Ok(found), "{head}"),
            None => assert!(matches!(answer, Err(Error::Budget { .. })), "{head}"),
        }
        // Both kinds take less than a second; hundreds of times that without counting.
        let taken = start.elapsed();
        assert!(taken < HANG, "{head} took {taken:?}");
    };
    let nothing = || Some(Found::Nodes(Vec::new()));
    // Predicates on nothing are free.
    check(&("//q".to_owned() + &"[1]".repeat(5000)), nothing());
    check(&("//q".to_owned() + &"[a]".repeat(5000)), nothing());
    check(&("(//q)".to_owned() + &"[1]".repeat(5000)), nothing());
    check(&format!("//p[q{}]", "[a]".repeat(5000)), nothing());
    // Every other pass over many nodes is counted, also where each node costs nothing else.
    check(&("//p".to_owned() + &"[.]".repeat(5000)), None);
    check(&("//p".to_owned() + &"/.".repeat(5000)), None);
    check(&("//p".to_owned() + &" | /q".repeat(5000)), None);
    check(&format!("//p['{}']", "x".repeat(60_000)), None);
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
        ".",
        "..",
        "/",
        "//",
        "@",
        ",",
        " ",
        "=",
        "!=",
        "<",
        "1",
        "-",
        "+",
        "and",
        "or",
        "div",
        "mod",
        "text()",
        "node()",
        "last()",
        "position()",
        "not(",
        "count(",
        "string(",
        "concat(",
        "substring(",
        "ancestor::",
        "preceding-sibling::",
        "self::",
        "é",
        "\0",
        "$x",
        "9e9",
        "svg:",
    ];
    let mut dice = Dice(17);
    let page = random_page(&mut dice, 20);
    let mut read = 0;
    for _ in 0..20_000 {
        let length = 1 + dice.roll(8);
        let text: String = (0..length).map(|_| dice.pick(&pieces)).collect();
        if let Ok(path) = XPath::parse(&text) {
            read += 1;
            let answer = path.select(&page, 5, Limits::default());
            assert!(
                !matches!(answer, Err(Error::Budget { .. } | Error::Tree { .. })),
                "{text}"
            );
        }
    }
    assert!(read > 500, "{read} of 20000 were expressions");
}

#[test]
fn the_budget_is_kept() {
    let page = shop();
    let limited = |steps| {
        XPath::parse("//td")
            .unwrap()
            .select(&page, 0, Limits { steps })
    };
    assert!(matches!(limited(1000), Ok(Found::Nodes(nodes)) if nodes.len() == 6));
    assert_eq!(
        limited(20),
        Err(Error::Budget {
            selector: "//td".to_owned(),
            steps: 20
        })
    );
    let nowhere = XPath::parse("//td")
        .unwrap()
        .select(&page, 999, Limits::default());
    assert!(matches!(nowhere, Err(Error::Tree { .. })));
}
