//! Every path leads back, on pages made to mislead.

use super::*;
use crate::select::sample::{Dice, Sample, random_page};
use crate::select::{Found, Limits, XPath, css};

fn check(page: &Sample) {
    for node in 0..page.n() {
        let path = xpath(page, node);
        let found = XPath::parse(&path)
            .unwrap()
            .select(page, 0, Limits::default())
            .unwrap();
        let seen = tag_passes(page, page.tags()[node as usize], &Test::Node);
        if seen {
            assert_eq!(found, Found::Nodes(vec![node]), "{path}");
        }
        let path = css_path(page, node);
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
    let page = Sample::read(&format!("html(p#{})", "x".repeat(70_000)));
    let path = css_path(&page, 2);
    assert_eq!(path.len(), 70_001);
    assert!(css(&page, &path, 0, Limits::default()).is_err());
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
