"""Markdown of a page: read by a CommonMark parser, it has the words and the structure of the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import quire
from quire.errors import NodeNotFound
from tests import strategies

# Strikethrough is no part of CommonMark, but many readers know it.
PARSER = MarkdownIt("commonmark", {"maxNesting": 1000}).enable(["table", "strikethrough"])


class Read(NamedTuple):
    """What a parser reads in a piece of Markdown."""

    words: str
    kinds: set[str]
    addresses: list[str]


def read(markdown: str) -> Read:
    words: list[str] = []
    kinds: set[str] = set()
    addresses: list[str] = []
    for token in PARSER.parse(markdown):
        kinds.add(token.type)
        if not token.children:
            words.append(token.content if token.type != "inline" else "")
        for child in token.children or ():
            kinds.add(child.type)
            if child.type != "image":
                words.append(child.content or " ")
            if child.type == "link_open":
                addresses.append(str(child.attrs["href"]))
    return Read("".join("".join(words).split()), kinds, addresses)


def written(source: str) -> str:
    return quire.encode(source.encode(), kind="html").markdown()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<title>T</title><h1>A <em>b</em></h1><h3>C</h3>", "T\n\n# A *b*\n\n### C"),
        ("<p>a<p>b<br>c<br><br>d", "a\n\nb\\\nc\n\nd"),
        ("<div>a <b>b</b><i>c</i> <b><i>d</i></b></div>", "a **b**c ***d***"),
        ("<p>a<b>b.</b>c <b> d </b>", "ab.c **d**"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
        ("<ol start=9><li>a<li><p>b<p>c</ol>", "9. a\n10. b\n\n    c"),
        ("<ul><li>a</ul><ul><li>b</ul><ol><li>c</ol>", "- a\n\n+ b\n\n1. c"),
        ("<ul><li>a<ol start=2><li>b</ol></ul>", "- a\n\n  2. b"),
        ("<ul><li><li>a<li> </ul>", "- a"),
        ("<blockquote><p>a<p>b</blockquote><blockquote>c</blockquote>", "> a\n>\n> b\n\n> c"),
        ("<blockquote>a<ul><li>b</ul></blockquote>", "> a\n>\n> - b"),
        ("<pre><code class='x language-py'>a\n  b `c`\n</code></pre>", "```py\na\n  b `c`\n```"),
        ("<ul><li><pre>a\n\n```</pre></ul>", "- ````\n  a\n\n  ```\n  ````"),
        ("<p><code>a`b</code> <kbd>`</kbd>", "``a`b`` `` ` ``"),
        ("<p>a<hr>b", "a\n\n___\n\nb"),
        ("<a href='/a b?c=(d)'>e*</a>", r"[e\*](/a%20b?c=\(d\))"),
        ("<a href=/x><h2>a</h2><p>b</p></a>", "## [a](/x)\n\nb"),
        ("<a href=javascript:x>a</a> <a href=#b>b</a> <a href=mailto:c@d>c</a>", "a b [c](mailto:c@d)"),
        ("<a href=x><img src=y alt='A boat'></a><img src=z><img src='data:,' alt=d>", "[![A boat](y)](x)![d]()"),
        ("<p>Hey!<a href=x>y</a>", r"Hey\![y](x)"),
        ("<h2>C #</h2><h2><div>a</div><div>b</div></h2>", "## C \\#\n\n## a b"),
        ("<h1>a<ul><li>b</ul></h1>", "a\n\n- b"),
        ("<svg><title>a</title><a href=x>b</a></svg>", "ab"),
        ("<script>a</script><style>b</style><!-- c --> ", ""),
    ],
)  # fmt: skip
def test_a_page_is_written_as_a_person_would(source: str, expected: str) -> None:
    assert written(source) == expected


def test_a_data_table_is_a_table_and_a_layout_is_not() -> None:
    data = "<caption>Fish</caption><tr><th>A<th>B<tr><td rowspan=2>1|2<td><code>x|y</code><tr><td>3"
    layout = "<tr><td><ul><li>menu</ul><td><p>a<p>b<tr><td>c<td>d"

    assert written(f"<table>{data}</table>") == (
        "Fish\n\n| A | B |\n| --- | --- |\n| 1\\|2 | `x\\|y` |\n| | 3 |"
    )
    assert written(f"<table>{layout}</table>") == "- menu\n\na\n\nb\n\nc\n\nd"
    assert written("<table><tr><td>a<td colspan=2>b<tr><td>c<td>d<td>e</table>") == (
        "| | | |\n| --- | --- | --- |\n| a | b | |\n| c | d | e |"
    )


@pytest.mark.parametrize(
    "text",
    ["# a", "#", "- a", "+", "1. a", "2) b", "> a", "---", "===", "***", "* a", "```", "~~~", "    a",
     "[a]: b", "[a](b)", "![a](b)", "<b>a</b>", "<!-- a -->", "&amp;", "&#35;", "_a_", "**a**", "`a`",
     "~~a~~", "a\\", "| - |", ":-", "<http://a>", "\\# a", "a  ", "__a__", "- - -", "1)", "|", "--- | ---"],
)  # fmt: skip
@pytest.mark.parametrize("before", ["", "a<br>", "a|b<br>", "<b>a</b>", "<div>a</div>"])
def test_text_that_looks_like_markdown_stays_text(text: str, before: str) -> None:
    source = text.replace("&", "&amp;").replace("<", "&lt;")
    page = quire.encode(f"<p>{before}{source}".encode())
    found = read(page.markdown())

    assert found.words == "".join(page.text().split())
    strong = {"strong_open", "strong_close"} if "<b>" in before else set()
    assert found.kinds <= {"paragraph_open", "inline", "paragraph_close", "text", "text_special",
                           "hardbreak"} | strong  # fmt: skip


# Where escaping goes wrong: marks beside elements, at the ends of lines, and split between texts.
_marks = st.sampled_from(
    ["#", "*", "**", "_", "__", "`", "```", "~~", "- ", "+ ", "1. ", "2) ", "&gt; ", "&lt;", "&gt;",
     "&amp;", "amp;", "#35;", "[", "](x)", "]: y", "!", "\\", "|", "---", "=", ":-", " ", "\n", "a",
     "b.", "(c)", "é", "。", "€", "&nbsp;", "\v", "\u2028", "\u3000"]
)  # fmt: skip
_tags = "p div b i code a pre ul ol li blockquote h1 h2 table tr td th caption br hr span textarea dl dt".split()  # noqa: SIM905 - read at a glance
_pieces = st.one_of(
    _marks,
    st.sampled_from([f"<{slash}{tag}>" for tag in _tags for slash in ("", "/")]),
    st.sampled_from(
        ["<a href='/(x`y)&lt;&amp;amp;[]*_| \\'>", "<a href=' javascript:x'>", "<img alt='a]*`![' src='x`)'>",
         "<ol start=7>", "<td colspan=3>", "<td rowspan=2>", "<script>x</script>"]
    ),
)  # fmt: skip
#: Which elements give rise to what a parser reads.
_SOURCES = {
    "heading_open": {"h1", "h2", "h3", "h4", "h5", "h6"},
    "bullet_list_open": {"ul", "li", "menu", "dir"},
    "ordered_list_open": {"ol"},
    "blockquote_open": {"blockquote"},
    "table_open": {"table"},
    "fence": {"pre", "textarea", "listing", "xmp", "plaintext"},
    "hr": {"hr"},
    "em_open": {"i", "em"},
    "strong_open": {"b", "strong"},
    "code_inline": {"code", "kbd", "samp", "tt"},
    "link_open": {"a"},
    "image": {"img"},
    "s_open": set(),
    "code_block": set(),
    "html_block": set(),
    "html_inline": set(),
}  # fmt: skip


def check(page: quire.Digest) -> None:
    found = read(page.markdown())

    assert found.words == "".join(page.text().split())
    names = {page.tags[tag] for tag in page.tag}
    assert all(names & sources for kind, sources in _SOURCES.items() if kind in found.kinds)
    assert not any(address.lower().startswith("javascript") for address in found.addresses)


@given(st.lists(_pieces, max_size=25).map("".join))
def test_a_parser_reads_the_words_of_the_page_and_no_structure_of_its_own(source: str) -> None:
    check(quire.encode(source.encode(), kind="html"))


@given(strategies.html.map(lambda source: source.replace(b"\0", b"")))
def test_the_same_for_any_page(source: bytes) -> None:
    page = quire.encode(source, kind="html")
    if "\0" not in page.text():  # a parser replaces it
        check(page)


def test_other_kinds_of_pages_are_one_block_of_code() -> None:
    assert quire.encode(b'{"a": "# b"}').markdown() == "```\na: # b\n```"
    assert quire.encode(b"# a\n\n```\n", kind="text").markdown() == "````\n# a\n\n```\n\n````"
    assert quire.encode(b"\0\x01", kind="bytes").markdown() == ""


def test_a_part_of_a_page_and_a_page_without_a_part() -> None:
    page = quire.encode(b"<h1>a</h1><ul><li>b<li>c</ul><p>d <b>e</b> f")
    (items, bold) = page.select_one("ul"), page.select_one("b")
    assert items is not None
    assert bold is not None

    assert page.markdown(items) == "- b\n- c"
    assert page.markdown(without=[items, bold]) == "# a\n\nd f"
    assert page.text(without=[items, bold]) == "a\nd f"
    assert page.markdown(items + 2) == "b"
    for call in (page.markdown, page.text):
        with pytest.raises(NodeNotFound):
            call(without=[page.n])


@pytest.mark.parametrize(
    "make",
    [
        lambda n: f"<a href=/{'x' * n}>" + "<p>x" * n,
        lambda n: f"<p><a href=/{'x' * n}>x" + "<p>y" * n,
        lambda n: "<ul><li>" * 400 + "x<p>" * n,
        lambda n: "<blockquote>" * 400 + "x<br>" * n,
        lambda n: "<table><tr>" + "<td colspan=200>x" * n + "<tr><td rowspan=9999>y<td>z" * n,
        lambda n: "<b>x</b><i>y</i>" * n,
        lambda n: "<h1>" + "x<div>" * n,
    ],
)
def test_the_result_is_at_most_some_times_as_large_as_the_page(make: Callable[[int], str]) -> None:
    for count in (500, 4000):
        source = make(count)

        assert len(written(source)) < 12 * len(source)


def test_real_pages_keep_their_words(corpus_files: Callable[[str], list[Path]]) -> None:
    files = corpus_files("pages-readability")[::12]
    assert len(files) > 10
    for file in files:
        page = quire.encode(file.read_bytes(), kind="html")
        assert read(page.markdown()).words == "".join(page.text().split()), file.name
