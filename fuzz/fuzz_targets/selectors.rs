//! A selector and a page, with a NUL between them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quire_core::Class;
use quire_core::Kind;
use quire_core::select::View;
use quire_core::select::{Found, Limits, XPath, css, css_path, xpath_of};
use quire_core::{Options, encode};

fuzz_target!(|input: &[u8]| {
    let at = input.iter().position(|&b| b == 0).unwrap_or(input.len());
    let (selector, page) = input.split_at(at);
    let Ok(selector) = std::str::from_utf8(selector) else {
        return;
    };
    let options = Options {
        kind: Some(Kind::Html),
        ..Options::default()
    };
    let digest = encode(page.get(1..).unwrap_or_default(), &options).expect("encodes");
    let view = View::new(&digest);
    let limits = Limits { steps: 1_000_000 };
    let in_order = |nodes: &[u32]| {
        assert!(nodes.is_sorted_by(|a, b| a < b), "{nodes:?}");
        assert!(
            nodes
                .last()
                .is_none_or(|&last| (last as usize) < digest.n())
        );
    };
    if let Ok(nodes) = css(&view, selector, 0, limits) {
        in_order(&nodes);
    }
    if let Ok(path) = XPath::parse(selector)
        && let Ok(Found::Nodes(nodes)) = path.select(&view, 0, limits)
    {
        in_order(&nodes);
    }
    // The path of a node matches this node and no other.
    let node = digest.n() as u32 - 1;
    if digest.class(node as usize) == Class::Element {
        let path = xpath_of(&view, node);
        let found = XPath::parse(&path).and_then(|p| p.select(&view, 0, Limits::default()));
        assert_eq!(found, Ok(Found::Nodes(vec![node])), "{path}");
        let in_template = (0..digest.n()).any(|n| digest.class(n) == Class::Fragment);
        if !in_template {
            let path = css_path(&view, node);
            assert_eq!(
                css(&view, &path, 0, Limits::default()),
                Ok(vec![node]),
                "{path}"
            );
        }
    }
});
