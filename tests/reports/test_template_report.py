"""The report of a crawl: what is on it, that it stays small, and that it is safe whatever pages are called."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.display import escape
from quire.reports.templates import drawings
from quire.reports.templates import report as report_module
from quire.reports.templates.report import template_report
from quire.reports.templates.style import STYLE
from quire.similar.crawl.templates import CrawlTemplates, crawl_templates
from quire.sources import Trouble, find
from tests.similar.test_templates import page
from tests.sources.crawls import record, response, write

# Each would run, load, lead astray or reorder the line, were it copied.
HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "https://a.example/\"onclick='alert(1)'",
    "https://a.example/<script>alert(1)</script>",
    "data:text/html,<script>alert(1)</script>",
    "photo\u202egnp.exe\u2066\u200f",
    "two\nlines\r\x00\x1b[31m",
    "</title></style><script>alert(1)</script>",
    "&lt;b&gt; &#60;",
    "https://a.example/" + "a" * 10_000,
    "x" * 10_000,
    "]]></svg><script>alert(1)</script>",
]
ELEMENTS = {
    *[
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "main",
        "footer",
        "section",
        "article",
        "div",
    ],
    *[
        "h1",
        "h2",
        "h3",
        "h4",
        "p",
        "ul",
        "li",
        "b",
        "small",
        "span",
        "bdi",
        "a",
        "details",
        "summary",
    ],
    *["table", "thead", "tbody", "tr", "th", "td", "svg", "g", "path", "rect"],
}
ATTRIBUTES = {
    *[
        "charset",
        "http-equiv",
        "content",
        "name",
        "lang",
        "class",
        "id",
        "href",
        "rel",
        "title",
        "role",
        "aria-label",
    ],
    *["viewBox", "d", "x", "y", "width", "height", "preserveAspectRatio"],
}


def crawl_of(folder: Path, counts: tuple[int, ...]) -> CrawlTemplates:
    for kind, count in enumerate(counts):
        for i in range(count):
            (folder / f"{kind}-{i:03}.html").write_bytes(page(kind, 3 + i))
    return crawl_templates(find([str(folder)]))


def called(crawl: CrawlTemplates, names: list[str], urls: list[str]) -> CrawlTemplates:
    """The same pages under other names."""
    pages = crawl.pages.set_column(0, "name", pa.array(names, pa.string()))
    pages = pages.set_column(1, "url", pa.array(urls, pa.string()))
    troubles = tuple(Trouble(name, url) for name, url in zip(names, urls, strict=True))
    return CrawlTemplates(crawl.templates, pages, troubles)


def check_is_safe(drawn: str) -> None:
    """See that a browser would find nothing in it but what the report is made of."""
    found = quire.encode(drawn.encode("utf-8", "replace"), kind="html")
    policies = found.select("meta[http-equiv]").tolist()
    assert [found.attributes(node)["http-equiv"] for node in policies] == [
        "Content-Security-Policy"
    ]
    assert "default-src 'none'" in found.attributes(policies[0])["content"]
    assert len(found.select("style")) == 1
    assert f"<style>{STYLE}</style>" in drawn
    for node in range(found.n):
        name = found.tag_names[int(found.tag[node])]
        if name.startswith("#"):
            assert name in {"#document", "#text", "#doctype"}
            continue
        assert name in ELEMENTS, name
        attributes = found.attributes(node)
        assert set(attributes) <= ATTRIBUTES, attributes
        address = attributes.get("href", "#")
        if not address.startswith("#"):
            assert re.match(r"https?://", address, re.IGNORECASE)
            assert attributes["rel"] == "noreferrer noopener"
    # Nothing reorders or breaks a line, not even inside a title.
    assert not re.search("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f]", drawn)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> CrawlTemplates:
    return crawl_of(tmp_path_factory.mktemp("site"), (9, 4, 1))


def test_the_report_says_what_was_found(crawl: CrawlTemplates) -> None:
    drawn = template_report(crawl, title="The <market>")
    found = quire.encode(drawn.encode())

    assert found.text(found.select("h1")[0]) == "Templates: The <market>"
    totals = [found.text(node) for node in found.select(".totals b")]
    assert totals[:4] == ["14", "2", "92.9 %", "1"]
    cards = found.select("article").tolist()
    assert [found.attributes(card)["id"] for card in cards] == ["template-0", "template-1"]
    assert [found.text(found.select(".figures", card)[0]) for card in cards] == [
        f"9 pages 64.3 % fit {crawl.templates.groups[0].fit:.2f}",
        f"4 pages 28.6 % fit {crawl.templates.groups[1].fit:.2f}",
    ]
    for group, card in zip(crawl.templates.groups, cards, strict=True):
        assert Path(crawl.name(group.representative)).name in found.text(card)
        assert len(found.select(".thumbnail path, .thumbnail rect", card)) > 3
        bars = found.select(".histogram rect", card)
        assert len(bars) == len(
            np.flatnonzero(np.histogram(crawl.templates.fits[group.pages], 20, (0, 1))[0])
        )
        assert len(found.select("li", card)) == min(4, group.size - 1)
    assert "2-000.html" in found.text(found.select(".singles")[0])
    assert "structure+class" in found.text(found.select("footer")[0])


def test_the_policy_lets_in_the_style_and_nothing_else(crawl: CrawlTemplates) -> None:
    drawn = template_report(crawl)

    check_is_safe(drawn)
    assert " style=" not in drawn, "the policy would not let it in"
    assert "unsafe-inline" not in drawn


def test_what_could_not_be_read_is_named_with_its_reason(tmp_path: Path) -> None:
    for i in range(3):
        (tmp_path / f"{i}.html").write_bytes(page(0, 3 + i))
    (tmp_path / "empty.html").write_bytes(b"")
    drawn = template_report(crawl_templates(find([str(tmp_path)])))
    found = quire.encode(drawn.encode())

    assert [found.text(cell) for cell in found.select("#troubles td")] == [
        "empty.html",
        "empty: 0 bytes",
    ]


def test_a_representative_that_is_gone_leaves_the_rest_of_its_card(tmp_path: Path) -> None:
    crawl = crawl_of(tmp_path, (5, 3))
    Path(crawl.name(crawl.templates.groups[0].representative)).unlink()
    told: list[tuple[str, int, int]] = []
    drawn = template_report(crawl, progress=lambda *how: told.append(how))
    found = quire.encode(drawn.encode())

    assert [found.text(node) for node in found.select(".gone")] == [
        "Its representative could not be read again: no such file"
    ]
    assert len(found.select("article")) == 2
    assert told == [("report", 1, 2), ("report", 2, 2)]


def test_groups_that_are_near_are_named(tmp_path: Path) -> None:
    for i in range(4):
        for kind in ("a", "b"):
            rows = f'<tr class="{kind}"><td class="{kind}">x</tr>' * (9 + i)
            head = '<nav class="menu"><a class="item">x</a></nav>' * 8
            (tmp_path / f"{kind}{i}.html").write_text(f"<body>{head}<table>{rows}</table>")
    crawl = crawl_templates(find([str(tmp_path)]))
    found = quire.encode(template_report(crawl).encode())

    assert len(crawl.templates.groups) == 2
    links = [found.attributes(node)["href"] for node in found.select('.pages a[href^="#"]')]
    assert links == ["#template-1", "#template-0"]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_name_is_harmless(crawl: CrawlTemplates, hostile: str) -> None:
    n = len(crawl.pages)
    names = [f"{hostile}{i:02}" for i in range(n)]
    drawn = template_report(called(crawl, names, [hostile] * n), title=hostile)

    check_is_safe(drawn)
    assert len(drawn) < 200_000


def test_hostile_pages_of_a_crawl_are_harmless(tmp_path: Path) -> None:
    titles = "</title><script>alert(1)</script><title>\u202e"
    records = [
        record(
            response(f"<title>{escape(titles)}</title>".encode() + page(0, 3 + i)),
            url=f"https://a.example/?{i}&<script>\"'" + "a" * 9000 * (i % 2),
        )
        for i in range(4)
    ]
    write(tmp_path / "<b>.warc", records)
    crawl = crawl_templates(find([str(tmp_path)]))
    drawn = template_report(crawl)

    assert len(crawl.templates.groups) == 1
    check_is_safe(drawn)
    assert "&lt;script&gt;alert(1)" in drawn, "the title is there, as text"


@given(st.lists(st.text(max_size=60), min_size=14, max_size=14))
def test_the_report_is_safe_whatever_pages_are_called(
    crawl: CrawlTemplates, names: list[str]
) -> None:
    printable = [name.encode("utf-8", "replace").decode() for name in names]
    webby = [f"http://{name}" for name in printable]

    check_is_safe(template_report(called(crawl, printable, webby), title=printable[0]))


def test_only_addresses_of_the_web_become_links(crawl: CrawlTemplates) -> None:
    n = len(crawl.pages)
    names = [f"{i:02}" for i in range(n)]
    urls = ["https://a.example/?a&b", "ftp://a.example", "javascript:x", "//a", "HTTP://A/"]
    urls = [urls[i % len(urls)] for i in range(n)]
    found = quire.encode(template_report(called(crawl, names, urls)).encode())
    links = {found.attributes(node)["href"] for node in found.select('a:not([href^="#"])')}

    assert links == {"https://a.example/?a&b", "HTTP://A/"}


def test_a_large_crawl_makes_no_large_report(
    crawl: CrawlTemplates, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = CrawlTemplates(
        crawl.templates, crawl.pages, tuple(Trouble(f"{i}", "gone") for i in range(2500))
    )
    monkeypatch.setattr(report_module, "MOST_CARDS", 1)
    found = quire.encode(template_report(many).encode())

    assert len(found.select("article")) == 1
    assert "Smaller templates" in found.text()
    assert len(found.select("#troubles tr")) == 1001
    assert "and 1,500 more" in found.text(found.select("#troubles")[0])


@pytest.mark.parametrize(
    "source",
    [
        b"<div>" * 5000,
        b"<table>" + b"<tr><td>x" * 100_000,
        b"<p>x" * 200_000,
        b"",
        b"x",
        b"<frameset><frame></frameset>",
        b"<svg><title>x</title></svg>",
    ],
)
def test_the_drawing_of_any_page_is_small(source: bytes) -> None:
    drawn = drawings.thumbnail(quire.encode(source, kind="html"))

    assert len(drawn) < 40_000
    assert drawn.count("M") <= 100
    assert drawn.count("<rect") <= 200
    assert "nan" not in drawn


def test_pages_that_are_no_html_are_drawn_too() -> None:
    assert "<path" in drawings.thumbnail(quire.encode(b"<a><b/><c>x</c></a>", kind="xml"))
    assert "<path" in drawings.thumbnail(quire.encode(b'{"a": [1, 2]}', kind="json"))
