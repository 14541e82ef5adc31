//! Small documents, one rule each; [`hostile`] documents; and random bytes that check the
//! [`promises`].

use std::fmt::Write;

use super::{Options, parse};
use crate::page::flags::Flags;
use crate::page::text_mode::Mode;
use crate::page::vocabulary::DOCUMENT;
use crate::parse::draft::Draft;

mod hostile;
mod promises;

const STRICT: Options = Options {
    recover: false,
    utf8: true,
};
const LENIENT: Options = Options {
    recover: true,
    utf8: true,
};

/// Return the tree in brackets, leaves as written: `a[b[] "text"]`.
fn shape(source: &str, options: Options) -> String {
    let draft = parse(source.as_bytes(), &options).unwrap();
    let mut children = vec![Vec::new(); draft.nodes.len()];
    for (id, node) in draft.iter().enumerate().skip(1) {
        children[node.parent as usize].push(id);
    }
    let mut out = String::new();
    write(&mut out, 0, &draft, &children, source);
    out
}

/// Recursion is fine here: these documents are small.
fn write(out: &mut String, id: usize, draft: &Draft, children: &[Vec<usize>], source: &str) {
    let node = draft.node(id);
    if draft.names.class(node.tag).is_leaf() {
        let text = &source[node.start as usize..node.end as usize];
        write!(out, "{text:?}").unwrap();
        return;
    }
    if node.tag != DOCUMENT {
        out.push_str(std::str::from_utf8(draft.names.name(node.tag)).unwrap());
        out.push('[');
    }
    for (index, &child) in children[id].iter().enumerate() {
        if index > 0 {
            out.push(' ');
        }
        write(out, child, draft, children, source);
    }
    if node.tag != DOCUMENT {
        out.push(']');
    }
}

fn refusal(source: &str) -> String {
    match parse(source.as_bytes(), &STRICT) {
        Ok(_) => panic!("accepted: {source}"),
        Err(error) => error.to_string().replacen("not well-formed xml: ", "", 1),
    }
}

fn accepts(source: &str) {
    parse(source.as_bytes(), &STRICT).unwrap_or_else(|error| panic!("{source}: {error}"));
}

#[test]
fn every_construct_becomes_its_node() {
    let source = "\u{FEFF}<?xml version='1.0'?>\n<!DOCTYPE a [<!ENTITY e '>'>]>\n\
                  <a x=\"1\"> <!--c--><b/><![CDATA[<]]>&amp;t<?p i?></a>\n<!--d-->\n";
    assert_eq!(
        shape(source, STRICT),
        "\"<?xml version='1.0'?>\" \"<!DOCTYPE a [<!ENTITY e '>'>]>\" \
         a[\" \" \"<!--c-->\" b[] \"<![CDATA[<]]>\" \"&amp;t\" \"<?p i?>\"] \"<!--d-->\""
    );
}

#[test]
fn spans_are_those_of_tag_run_and_end_tag() {
    let source = b"<a x='1'><b /></a >";
    let draft = parse(source, &STRICT).unwrap();
    let [_, a, b] = draft.iter().collect::<Vec<_>>()[..] else {
        panic!("three nodes")
    };
    assert_eq!((a.start, a.run, a.end), (0, 2, 9));
    assert_eq!((b.start, b.run, b.end), (9, 11, 14)); // the run includes the slash
    assert_eq!(draft.ends.len(), 1);
    let end = draft.ends[0];
    assert_eq!((end.node, end.start, end.end, end.odd), (1, 14, 19, true));
    assert!(draft.any_odd);
    assert!(!parse(b"<a></a>", &STRICT).unwrap().any_odd);
}

#[test]
fn text_and_markup_are_read_in_their_modes() {
    let draft = parse(b"<a>t<!--c--></a>", &STRICT).unwrap();
    assert_eq!(draft.node(2).mode, Mode::XmlText);
    assert_eq!(draft.node(3).mode, Mode::XmlMarkup);
}

#[test]
fn a_refusal_names_the_finding_the_expectation_and_the_place() {
    let cases = [
        (
            "<a>\n<b></a>",
            "end tag </a>, but <b> from line 2 is still open (line 2, column 4)",
        ),
        (
            "<a>",
            "end of the source, but <a> from line 1 is still open (line 1, column 4)",
        ),
        (
            "</a>",
            "end tag </a>, but no element is open (line 1, column 1)",
        ),
        (
            "",
            "end of the source, expected a root element (line 1, column 1)",
        ),
        (
            "<a/><b/>",
            "second root element <b>, expected one (line 1, column 5)",
        ),
        ("<a/>x", "'x' outside the root element (line 1, column 5)"),
        (
            "<a x='1' x='2'/>",
            "duplicate attribute x in one tag (line 1, column 10)",
        ),
        (
            "<a x='1'y='2'/>",
            "'y' in tag <a>, expected white space (line 1, column 9)",
        ),
        (
            "<a x/>",
            "'/' after attribute x, expected \"=\" (line 1, column 5)",
        ),
        (
            "<a x=1/>",
            "'1' where a quoted value is expected (line 1, column 6)",
        ),
        (
            "<a x='<'/>",
            "\"<\" in an attribute value; write \"&lt;\" (line 1, column 7)",
        ),
        (
            "<a>&</a>",
            "\"&\" does not start a reference; write \"&amp;\" (line 1, column 4)",
        ),
        (
            "<a>&x;</a>",
            "reference to the undeclared entity &x; (line 1, column 4)",
        ),
        (
            "<a>&#0;</a>",
            "reference to U+0000, which XML does not allow (line 1, column 4)",
        ),
        (
            "<a>]]></a>",
            "\"]]>\" in text; write \"]]&gt;\" (line 1, column 4)",
        ),
        (
            "<a><!-- -- --></a>",
            "\"--\" inside a comment, expected \"-->\" (line 1, column 9)",
        ),
        (
            "<a>\x01</a>",
            "control character U+0001 is not allowed (line 1, column 4)",
        ),
        (
            "<a>\u{FFFF}</a>",
            "U+FFFF is not a character (line 1, column 4)",
        ),
        (
            "<1a/>",
            "\"<\" followed by '1', expected a name (line 1, column 1)",
        ),
        (
            "<?xml version='2.0'?><a/>",
            "version \"2.0\", expected \"1.0\" or \"1.1\" (line 1, column 6)",
        ),
    ];
    for (source, message) in cases {
        assert_eq!(refusal(source), message, "{source:?}");
    }
}

#[test]
fn the_first_of_two_faults_is_reported() {
    assert!(refusal("<a>\x01&</a>").contains("control"));
    assert!(refusal("<a>&\x01</a>").contains("does not start a reference"));
}

#[test]
fn bytes_that_are_not_utf8_are_refused_unless_another_encoding_is_meant() {
    let source = b"<a>\xE9</a>";
    assert!(parse(source, &STRICT).is_err());
    assert!(
        parse(
            source,
            &Options {
                utf8: false,
                recover: false
            }
        )
        .is_ok()
    );
    assert!(parse(source, &LENIENT).unwrap().flags.has(Flags::RECOVERED));
}

#[test]
fn version_1_1_has_its_own_characters_and_line_ends() {
    accepts("<?xml version='1.1'?><a\u{85}x='1'\u{2028}>&#1;</a>");
    refusal("<a\u{85}x='1'/>");
    refusal("<a>&#1;</a>");
    accepts("<a>\u{9F}</a>");
    assert!(refusal("<?xml version='1.1'?><a>\u{9F}</a>").contains("U+009F"));
    assert!(refusal("<?xml version='1.1'?><a>\x7F</a>").contains("U+007F"));
}

#[test]
fn entities_must_be_sound_where_they_are_used() {
    let with = |subset: &str, body: &str| format!("<!DOCTYPE a [{subset}]><a{body}</a>");
    let e = |value: &str| format!("<!ENTITY e '{value}'>");
    accepts(&with(&e("<b>x</b>"), ">&e;"));
    accepts(&with(&e("<b>"), ">"));
    assert!(refusal(&with(&e("<b>"), ">&e;")).contains("in entity &e;: element <b> without"));
    assert!(refusal(&with(&e("</b>"), ">&e;")).contains("does not match any start tag"));
    assert!(refusal(&with(&e("<b/>"), " x='&e;'>")).contains("\"<\" in an attribute value"));
    assert!(refusal(&with(&e("&#60;"), " x='&e;'>")).contains("\"<\" in an attribute value"));
    accepts(&with(&e("&#38;lt;"), " x='&e;'>"));
    assert!(refusal(&with(&e("&e;"), ">&e;")).contains("&e; refers to itself"));
    let two = "<!ENTITY e '&f;'><!ENTITY f '&e;'>";
    assert!(refusal(&with(two, ">&e;")).contains("refers to itself"));
    accepts(&with(two, ">"));
    let external = "<!ENTITY e SYSTEM 'file:///etc/passwd'>";
    accepts(&with(external, ">&e;"));
    assert!(refusal(&with(external, " x='&e;'>")).contains("which is external"));
    let unparsed = "<!ENTITY e SYSTEM 'x' NDATA n>";
    assert!(refusal(&with(unparsed, ">&e;")).contains("which is not parsed"));
}

#[test]
fn an_unknown_entity_is_a_fault_only_where_all_declarations_are_seen() {
    refusal("<!DOCTYPE a [<!ENTITY f ''>]><a>&e;</a>");
    accepts("<!DOCTYPE a SYSTEM 'http://host.invalid/a.dtd'><a>&e;</a>");
    accepts("<!DOCTYPE a [<!ENTITY % p ''> %p;]><a>&e;</a>");
    let alone = "<?xml version='1.0' standalone='yes'?>";
    refusal(&format!("{alone}<!DOCTYPE a SYSTEM 'a.dtd'><a>&e;</a>"));
    refusal(&format!(
        "{alone}<!DOCTYPE a [<!ENTITY % p \"<!ENTITY e ''>\"> %p;]><a>&e;</a>"
    ));
    // After a parameter entity that is not read, this may be the second declaration of `e`.
    accepts("<!DOCTYPE a [<!ENTITY % p SYSTEM 'p'> %p; <!ENTITY e '<b>'>]><a>&e;</a>");
}

#[test]
fn the_internal_subset_has_to_keep_its_syntax() {
    let model = "<!ELEMENT a (b,(c|d)*,e?)><!ELEMENT b (#PCDATA|a)*><!ELEMENT c ANY>";
    let list = "<!ATTLIST a x CDATA #IMPLIED y (u|v) 'u' z NOTATION (n) #REQUIRED>";
    let rest = "<!NOTATION n PUBLIC 'p'><!--]>--><?p ]>?>";
    accepts(&format!("<!DOCTYPE a [{model}{list}{rest}] ><a/>"));
    for wrong in [
        "<!ELEMENT a (b,c|d)>",
        "<!ELEMENT a (#PCDATA|b)>",
        "<!ELEMENT a>",
        "<!ATTLIST a x CDATA>",
        "<!ATTLIST a x NAME #IMPLIED>",
        "<!ATTLIST a x CDATA '<'>",
        "<!ENTITY e>",
        "<!ENTITY e '%p;'>",
        "<!ENTITY e PUBLIC 'p'>",
        "<!NOTATION n>",
        "<![INCLUDE[]]>",
        "<!ENTITY % p '%p;'>%p",
        "<!ENTITY % p '&#37;p;'>%p;",
        "x",
    ] {
        refusal(&format!("<!DOCTYPE a [{wrong}]><a/>"));
    }
}

#[test]
fn recovery_gives_a_sensible_tree_and_says_so() {
    let cases = [
        ("<a><b>x</a>y", "a[b[\"x\"]] \"y\""),
        ("<a></b>x</a>", "a[\"x\"]"),
        ("<a>1 < 2 & 3</a>", "a[\"1 < 2 & 3\"]"),
        ("<a><b", "a[\"<b\"]"),
        ("<a/><b/>t", "a[] b[] \"t\""),
        ("x<a/>", "\"x\" a[]"),
        ("<a x=1 y>t</a>", "a[\"t\"]"),
        ("<a x='<'>t</a>", "a[\"t\"]"),
        ("<a><!-- x</a>", "a[\"<!-- x\"]"),
        ("<a><!-- -- --></a>", "a[\"<!-- -- -->\"]"),
        (
            "<!DOCTYPE a [<!OOPS>]><a/>",
            "\"<!DOCTYPE a [<!OOPS>]>\" a[]",
        ),
        ("", ""),
    ];
    for (source, expected) in cases {
        assert_eq!(shape(source, LENIENT), expected, "{source:?}");
        assert!(
            parse(source.as_bytes(), &LENIENT)
                .unwrap()
                .flags
                .has(Flags::RECOVERED)
        );
    }
    assert!(
        !parse(b"<a>x</a>", &LENIENT)
            .unwrap()
            .flags
            .has(Flags::RECOVERED)
    );
}
