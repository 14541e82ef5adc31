//! Every path leads back, on pages made to mislead.

use super::*;
use crate::page::vocabulary::{Class, Namespace};
use crate::select::sample::{Dice, Sample, random_page};
use crate::select::xpath::{Test, tag_passes};
use crate::select::{Found, Limits, XPath, css};
use crate::select::{MAX_SELECTOR_BYTES, is_element};

fn class(page: &dyn Page, node: u32) -> Class {
    page.tag_class(page.tags()[node as usize])
}

fn check(page: &Sample) {
    let paths = Paths::default();
    let all: Vec<u32> = (0..page.n()).collect();
    let together = paths.css_all(page, &all);
    for node in 0..page.n() {
        let path = paths.xpath(page, node);
        assert_eq!(path, xpath(page, node));
        let found = XPath::parse(&path)
            .unwrap()
            .select(page, 0, Limits::default())
            .unwrap();
        let seen = tag_passes(page, page.tags()[node as usize], &Test::Node);
        if seen {
            assert_eq!(found, Found::Nodes(vec![node]), "{path}");
        }
        let path = paths.css(page, node);
        assert_eq!(path, css_path(page, node));
        assert_eq!(Some(&path), together[node as usize].as_ref());
        let found = css(page, &path, 0, Limits::default()).unwrap();
        let hidden = |mut node: u32| loop {
            node = page.parents()[node as usize];
            if node == u32::MAX {
                return false;
            }
            if class(page, node) == Class::Fragment {
                return true;
            }
        };
        if is_element(class(page, node)) && !hidden(node) {
            assert_eq!(found, [node], "{path}");
        } else {
            let around = |&it: &u32| node == 0 || it < node || path == ":root";
            assert!(
                found.len() <= 1 && found.iter().all(around),
                "{path} of {node}: {found:?}"
            );
        }
    }
}

#[test]
fn paths_of_random_pages_lead_back() {
    let mut dice = Dice(11);
    for _ in 0..40 {
        let nodes = 1 + dice.roll(50);
        check(&random_page(&mut dice, nodes));
    }
}

#[test]
fn paths_of_odd_pages_lead_back() {
    check(&Sample::read(
        "%doctype, html(head, body(p, p(\"a\", b, \"c\"), <!x>, <!y>, template(%fragment(p#x(i), p))))",
    ));
    // Several top elements, ids that are no identifiers, the same name in two namespaces.
    check(&Sample::read(
        "p, p(p#1a), b(p), p#1a, a, svg:a, a(svg:a, a, math:a), o:p, svg:linearGradient, lineargradient",
    ));
    check(&Sample::read(
        "html(html(html), html), é#é(div, mod, a\"x\"), <!last>",
    ));
    let mut page = Sample::read(
        "%xml:a(%xml:title, %xml:dc:title, %xml:title, %xml:x:y:z, %xml::q, %xml:dc:title)",
    );
    page.html = false;
    check(&page);
    for source in [
        "%xml:r(%xml:p:a, %xml:a)",
        "%xml:r(%xml:a, %xml:p:a, %xml:a, %xml:q:a(%xml:a), %xml:p:a)",
        "%xml:p:r(%xml:svg:a, %xml:a, %xml:html:a, %xml:A)",
    ] {
        let mut page = Sample::read(source);
        page.html = false;
        check(&page);
    }
    let mut page = Sample::read("%xml:r(%xml:p:a, %xml:a)");
    page.html = false;
    assert_eq!(
        (xpath(&page, 2), xpath(&page, 3)),
        ("/r/p:a".into(), "/r/a".into())
    );
    let mut page = Sample::read(
        "%array(%object(%member:name(\"a\"), %member:(\"b\")), %object(%member:name, %member:odd/key(%array(%object(%member:name), \"s\"))))",
    );
    page.html = false;
    check(&page);
}

#[test]
fn paths_of_deep_nodes_on_large_pages_lead_back() {
    let mut page = Sample::new();
    page.element("html");
    for _ in 0..500 {
        for _ in 0..50 {
            page.element("blockquote");
            page.close();
        }
        page.element("blockquote");
    }
    let page = page.done();
    let node = page.n() - 1;
    let found = css(&page, &css_path(&page, node), 0, Limits::default());
    assert_eq!(found, Ok(vec![node]));
    let path = XPath::parse(&xpath(&page, node)).unwrap();
    let found = path.select(&page, 0, Limits::default());
    assert_eq!(found, Ok(Found::Nodes(vec![node])));
}

#[test]
fn nodes_out_of_reach_get_the_path_of_what_is_around_them() {
    let paths = |page: &Sample, node| (css_path(page, node), xpath(page, node));
    let page = Sample::read("%doctype, html(template(%fragment(template(%fragment(p(\"x\"))))))");
    let template = "html > template";
    for (node, css, path) in [
        (0, ":root", "/"),
        (1, ":root", "/"),
        (4, template, "/html/template"),
        (5, template, "/html/template/template"),
        (6, template, "/html/template/template"),
        (7, template, "/html/template/template/p"),
        (8, template, "/html/template/template/p/text()"),
    ] {
        assert_eq!(paths(&page, node), (css.into(), path.into()), "{node}");
    }
    let mut page = Sample::read("%object(%member:a(%array(%object(%member:b(\"x\")))))");
    page.html = false;
    for (node, css, path) in [
        (1, ":root", "/"),
        (2, "a:not(* > *)", "/a"),
        (4, "a:not(* > *)", "/a"),
        (6, "a:not(* > *) > b", "/a/b/text()"),
    ] {
        assert_eq!(paths(&page, node), (css.into(), path.into()), "{node}");
    }
}

#[test]
fn long_ids_and_names_are_passed_over() {
    let long = "x".repeat(70_000);
    let page = Sample::read(&format!("html(p#{long}, {long}, p, {long}(b))"));
    check(&page);
    assert_eq!(css_path(&page, 2), "html > p:nth-of-type(1)");
    assert_eq!(css_path(&page, 6), "html > :nth-child(4) > b");
}

/// Elements of XML, one in the other, `depth` deep.
fn chain(depth: usize, name: impl Fn(usize) -> String) -> Sample {
    let mut page = Sample::new();
    page.html = false;
    for level in 0..depth {
        page.open(Namespace::Xml, Class::Element, &name(level), Vec::new());
    }
    page.done()
}

fn leads_back(page: &Sample, path: &str) -> Vec<u32> {
    assert!(path.len() <= MAX_SELECTOR_BYTES, "{} bytes", path.len());
    css(page, path, 0, Limits::default()).unwrap()
}

#[test]
fn a_path_that_would_be_too_long_starts_at_a_name_of_its_own() {
    // Of 9,000 levels each second one has a name of its own.
    let page = chain(9_000, |level| match level % 2 {
        0 => format!("level{level}"),
        _ => "a".to_owned(),
    });
    assert_eq!(css_path(&page, 9_000), "level8998>a");
    assert_eq!(leads_back(&page, "level8998>a"), [9_000]);
    assert_eq!(xpath(&page, 9_000), "/descendant::node()[9000]");
    for node in [1, 2, 5_000, 8_999] {
        assert_eq!(leads_back(&page, &css_path(&page, node)), [node]);
        let found = XPath::parse(&xpath(&page, node)).unwrap();
        let found = found.select(&page, 0, Limits::default());
        assert_eq!(found, Ok(Found::Nodes(vec![node])));
    }
}

#[test]
fn an_element_too_deep_for_any_selector_gets_the_path_of_one_around_it() {
    let page = chain(60_000, |_| "a".to_owned());
    let paths = Paths::default();
    let deepest = paths.css(&page, 60_000);
    let found = leads_back(&page, &deepest);
    assert!(found[0] > 30_000 && found.len() == 1, "{found:?}");
    assert_eq!(paths.css(&page, found[0]), deepest);
    let some = paths.css_all(&page, &[60_000, 1]);
    assert_eq!(some, [None, Some(":root".to_owned())]);
    let found = XPath::parse(&paths.xpath(&page, 60_000)).unwrap();
    let found = found.select(&page, 0, Limits::default());
    assert_eq!(found, Ok(Found::Nodes(vec![60_000])));
}

#[test]
fn all_paths_of_a_page_together_are_linear_in_it() {
    let mut page = Sample::new();
    for _ in 0..2 {
        page.element("main");
        for level in 0..400 {
            page.element(&format!("{}{level}", "x".repeat(100)));
        }
        for _ in 0..1_000 {
            page.element("b");
            page.close();
        }
        for _ in 0..401 {
            page.close();
        }
    }
    let page = page.done();
    let all: Vec<u32> = (0..page.n()).collect();
    let found = Paths::default().css_all(&page, &all);
    let bytes: usize = found.iter().flatten().map(String::len).sum();
    assert!(
        bytes < (1 << 20) + 1024 * page.n() as usize,
        "{bytes} bytes"
    );
    assert!(found.iter().flatten().count() > 400);
    for (node, path) in found.iter().enumerate() {
        if let Some(path) = path.as_ref().filter(|_| node > 0) {
            assert_eq!(leads_back(&page, path), [node as u32]);
        }
    }
}

#[test]
fn paths_are_short() {
    let page =
        Sample::read("html(head, body(div(p, p(\"one\", b, \"two\")), div#main(ul(li, li))))");
    let last = page.n() - 1;
    assert_eq!(css_path(&page, last), "#main > ul > li:nth-of-type(2)");
    assert_eq!(xpath(&page, last), "/html/body/div[2]/ul/li[2]");
    let two = 9;
    assert_eq!(
        css_path(&page, two),
        "html > body > div:nth-of-type(1) > p:nth-of-type(2)"
    );
    assert_eq!(xpath(&page, two), "/html/body/div[1]/p[2]/text()[2]");
    assert_eq!(
        (css_path(&page, 0), xpath(&page, 0)),
        (":root".to_owned(), "/".to_owned())
    );
}
