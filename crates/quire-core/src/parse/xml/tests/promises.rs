//! Random input: no panic, and spans that [`crate::encode::leftovers`] can rely on. Fast code is
//! compared with plain code.

use std::collections::HashMap;

use super::super::chars::{Rules, first_forbidden};
use super::super::{Options, parse};
use super::STRICT;
use crate::base::error::Error;
use crate::page::flags::Flags;
use crate::page::vocabulary::{Class, Namespace};
use crate::parse::draft::{Draft, Names};

/// Check the properties that [`crate::encode::leftovers`] relies on.
fn check_spans(source: &[u8], draft: &Draft) {
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for (id, node) in draft.iter().enumerate().skip(1) {
        assert!((node.parent as usize) < id);
        assert!(
            !draft
                .names
                .class(draft.node(node.parent as usize).tag)
                .is_leaf()
        );
        assert!(node.start < node.end && node.start <= node.run && node.run <= node.end);
        assert!(
            spans.last().is_none_or(|last| last.1 <= node.start),
            "nodes in source order"
        );
        spans.push((node.start, node.end));
    }
    let ends = draft.ends.iter().map(|end| (end.start, end.end));
    assert!(ends.clone().is_sorted(), "end tags in source order");
    for end in &draft.ends {
        assert!(draft.node(end.node as usize).end <= end.start);
        let name = draft.names.name(draft.node(end.node as usize).tag);
        assert_eq!(&source[end.start as usize + 2..][..name.len()], name);
        assert_eq!(end.odd, (end.end - end.start) as usize != name.len() + 3);
    }
    spans.extend(ends);
    spans.sort_unstable();
    assert!(
        spans.windows(2).all(|pair| pair[0].1 <= pair[1].0),
        "spans are disjoint"
    );
    assert!(
        spans
            .last()
            .is_none_or(|last| last.1 as usize <= source.len())
    );
}

fn check_promises(source: &[u8]) {
    for utf8 in [true, false] {
        let lenient = parse(
            source,
            &Options {
                recover: true,
                utf8,
            },
        )
        .unwrap();
        check_spans(source, &lenient);
        let strict = parse(
            source,
            &Options {
                recover: false,
                utf8,
            },
        );
        assert_eq!(strict.is_err(), lenient.flags.has(Flags::RECOVERED));
        match strict {
            Ok(strict) => {
                check_spans(source, &strict);
                assert_eq!(strict.nodes.len(), lenient.nodes.len());
                assert_eq!(strict.ends.len(), lenient.ends.len());
            }
            Err(Error::Syntax { offset, .. }) => assert!(offset <= source.len()),
            Err(other) => panic!("{other}"),
        }
    }
}

/// A small random generator (xorshift), so that failures can be reproduced.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn scrap(&mut self) -> &'static [u8] {
        let count = SCRAPS.split('|').count();
        let chosen = self.below(count);
        SCRAPS.split('|').nth(chosen).unwrap_or_default().as_bytes()
    }
}

/// Pieces of markup, separated by bars.
const SCRAPS: &str = "<|>|/|a|b|é| |\n|=|'|\"|&|;|#|%|[|]|-|!|?|x|<a>|</a>|<b>|</b >|<a/>|<b x='1'| y=\"2\"|&amp;\
    |&e;|&#65;|&#x1;|<!--|-->|<![CDATA[|]]>|<?|?>|<?p |<!DOCTYPE a| [|]>|<!ENTITY e '|<!ENTITY % p \"|%p;|'>|\">\
    |<!ELEMENT a |(b,c)*|<!ATTLIST a |x CDATA |#IMPLIED|SYSTEM 'f'|<?xml version='1.0'?>|<?xml version='1.1'?>\
    |\u{85}|\0|\u{FFFE}|\u{FEFF}|<!|]]|\r\n";

#[test]
fn random_scraps_of_markup_keep_the_promises() {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    for _ in 0..20_000 {
        let mut source = Vec::new();
        for _ in 0..dice.below(40) {
            source.extend_from_slice(dice.scrap());
        }
        check_promises(&source);
    }
}

#[test]
fn damaged_documents_keep_the_promises() {
    const WHOLE: &[u8] = b"<?xml version='1.0' encoding='utf-8' standalone='no'?>\n\
        <!DOCTYPE a PUBLIC 'p' 's' [<!ENTITY e '<b>&#38;f;</b>'><!ENTITY f \"x\"><!ELEMENT a (b|c)*>\
        <!ATTLIST a x CDATA 'y&f;'><!ENTITY % p '<!ENTITY g \"h\">'>%p;]>\n<?p i?><!-- c -->\n\
        <a x='1' y=\"&f;\"><b/>t&e;&#233;<c>\xC3\xA9<![CDATA[ <x> ]]></c ><!----></a>\n<!-- d -->\n";
    check_promises(WHOLE);
    assert!(parse(WHOLE, &STRICT).is_ok());
    let mut dice = Dice(42);
    for _ in 0..20_000 {
        let mut source = WHOLE.to_vec();
        for _ in 0..=dice.below(4) {
            let from = dice.below(source.len());
            let to = (from + dice.below(12)).min(source.len());
            let scrap = match dice.below(4) {
                0 => Vec::new(),
                1 => vec![dice.below(256) as u8],
                2 => dice.scrap().to_vec(),
                _ => WHOLE[dice.below(WHOLE.len())..]
                    .iter()
                    .copied()
                    .take(20)
                    .collect(),
            };
            source.splice(from..to, scrap);
            if source.is_empty() {
                break;
            }
        }
        check_promises(&source);
    }
}

#[test]
fn forbidden_characters_are_found_as_a_plain_loop_finds_them() {
    let mut dice = Dice(7);
    let odd = [
        "\0", "\x1F", "\x7F", "\u{80}", "\u{85}", "\u{9F}", "\u{A0}", "\u{FFFD}", "\u{FFFE}",
        "\u{FFFF}",
    ];
    for _ in 0..2_000 {
        let mut source = "plain\ttext\r\n ".repeat(dice.below(60));
        for _ in 0..dice.below(3) {
            source.push_str(odd[dice.below(odd.len())]);
            source.push_str(&"é".repeat(dice.below(300)));
        }
        for v11 in [false, true] {
            let forbidden = |c: char| match c {
                '\t' | '\n' | '\r' | '\u{85}' => false,
                '\0'..='\x1F' | '\u{FFFE}' | '\u{FFFF}' => true,
                '\x7F'..='\u{9F}' => v11,
                _ => false,
            };
            let expected = source
                .char_indices()
                .find(|&(_, c)| forbidden(c))
                .map(|(at, _)| at);
            let found = first_forbidden(source.as_bytes(), Rules { utf8: true, v11 });
            assert_eq!(found.map(|(at, _)| at), expected, "{source:?}");
        }
    }
}

#[test]
fn names_are_interned_as_a_map_would() {
    let mut dice = Dice(99);
    let mut names = Names::default();
    let mut map = HashMap::new();
    let first = names.len() as u32;
    for _ in 0..20_000 {
        let name = dice.below(3_000).to_string();
        let (namespace, class) = match dice.below(3) {
            0 => (Namespace::Xml, Class::Element),
            1 => (Namespace::Json, Class::Element),
            _ => (Namespace::Json, Class::Member),
        };
        let next = first + map.len() as u32;
        let expected = *map.entry((namespace, class, name.clone())).or_insert(next);
        assert_eq!(names.intern(namespace, class, name.as_bytes()), expected);
        assert_eq!(
            names.find(namespace, class, name.as_bytes()),
            Some(expected)
        );
        assert_eq!(names.name(expected), name.as_bytes());
    }
    assert_eq!(names.find(Namespace::Xml, Class::Element, b"none"), None);
}
