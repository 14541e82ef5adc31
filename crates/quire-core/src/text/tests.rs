use super::{Reader, text};
use crate::encode::{Options, encode};
use crate::page::kind::Kind;

fn read(kind: Kind, source: &str) -> String {
    let options = Options {
        kind: Some(kind),
        ..Options::default()
    };
    text(&encode(source.as_bytes(), &options).unwrap(), 0)
}

#[test]
fn html_reads_as_a_reader_would() {
    for (source, expected) in [
        ("<p>a<p>b", "a\nb"),
        ("a <b> b</b>\n c", "a b c"),
        ("a<b>b</b>c", "abc"),
        ("a<br>b<br><br>c<br>", "a\nb\n\nc"),
        ("<div><div>a</div></div>b", "a\nb"),
        ("<p>  a \u{a0} </p>", "a \u{a0}"),
        (
            "a<script>x</script><style>y</style><template>z</template>b",
            "ab",
        ),
        ("a<noscript>x</noscript><iframe>y</iframe><!--z-->b", "ab"),
        ("<pre>\n  a\n b \n</pre>c", "  a\n b \nc"),
        ("x<pre>a</pre>y", "x\na\ny"),
        ("<table><tr><td>a<td>b<tr><td>c<td>d</table>", "a\tb\nc\td"),
        ("<table><tr><td><p>a</p><td><p>b</table>", "a\tb"),
        (
            "<table><tr><td>x<tr><td><td>b<td><td>d</table>",
            "x\n\tb\t\td",
        ),
        ("<table><tr><td>a<br>b<td>c</table>d", "a\nb\tc\nd"),
        (
            "<table><tr><td>a<table><tr><td>b<td>c</table><td>d</table>",
            "a\nb\tc\td",
        ),
        ("<title>t</title><ul><li>a<li>b</ul>", "t\na\nb"),
        ("<svg><style>x</style><text>a</text></svg>", "a"),
        ("&lt;b&gt; &amp;", "<b> &"),
        ("", ""),
    ] {
        assert_eq!(read(Kind::Html, source), expected, "{source}");
    }
}

#[test]
fn other_kinds_read_sensibly() {
    for (kind, source, expected) in [
        (Kind::Xml, "<a><b>1</b>\n<c>2</c></a>", "1\n2"),
        (
            Kind::Xml,
            "<a>x <b>y<i>z</i></b> w<![CDATA[<&]]></a>",
            "x yz w<&",
        ),
        (
            Kind::Xml,
            "<html><p>a<br/>b</p><script>c</script></html>",
            "a\nb",
        ),
        (
            Kind::Json,
            r#"{"a": 1, "b\\n": ["x", {"c": null}]}"#,
            "a: 1\nb\\n:\nx\nc: null",
        ),
        (Kind::Text, "a\r\nb\r\rc  d\n", "a\nb\n\nc  d\n"),
        (Kind::Bytes, "abc", ""),
    ] {
        assert_eq!(read(kind, source), expected, "{source}");
    }
}

#[test]
fn what_is_asked_for_itself_is_never_hidden() {
    let page = encode(b"<script>x  y</script>", &Options::default()).unwrap();
    let script = (0..page.n())
        .find(|&node| page.tag_name(page.tag().get(node) as usize) == "script")
        .unwrap();
    assert_eq!(text(&page, script), "x y");
    assert_eq!(text(&page, script + 1), "x  y");
}

#[test]
fn a_beginning_is_that_of_the_text() {
    for (kind, source) in [
        (Kind::Html, "<p>a  b<p>&copy;&amp;c<br><pre> d </pre>"),
        (Kind::Xml, "<a>x <b>y<i>z</i></b> w<![CDATA[<&]]></a>"),
        (Kind::Xml, "<a><b>1</b>\n<c>2&#x4e00;</c></a>"),
    ] {
        let options = Options {
            kind: Some(kind),
            ..Options::default()
        };
        let page = encode(source.as_bytes(), &options).unwrap();
        let whole = text(&page, 0);
        assert_eq!(Reader::new(&page).beginning(0, 1_000), whole, "{source}");
        for most in 0..40 {
            let beginning = Reader::new(&page).beginning(0, most);
            assert!(whole.starts_with(&beginning), "{most}: {beginning:?}");
            assert!(beginning.chars().count() <= most);
        }
    }
}

#[test]
fn a_long_beginning_is_cut_and_a_reference_is_not() {
    let page = |source: &str| encode(source.as_bytes(), &Options::default()).unwrap();
    let long = page(&format!("<p>{}", "\u{4e00} ".repeat(50_000)));
    assert_eq!(Reader::new(&long).beginning(0, 999).chars().count(), 999);
    let spaced = page(&format!("<p>a{}&amp;&amp;b", " ".repeat(16 * 10 - 5)));
    assert_eq!(Reader::new(&spaced).beginning(0, 10), "a");
}
