"""The report of fragments: that it is safe whatever pages say, that it has the numbers of the JSON, and that it stays small."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import quire
from quire.fragments.caching.site_plan import plan_site
from quire.fragments.site.collection import Collection
from quire.fragments.study.page_requests import PageRequests
from quire.fragments.study.study import study_fragments
from quire.reports.fragments.report import as_json, fragment_report, graph_of
from quire.reports.fragments.style import STYLE
from quire.sources.capture import Capture
from tests.conftest import require
from tests.fragments.test_pacing import front
from tests.fragments.test_statistics import MENU, START, capture, entry, small_site, write_log

# Each would run, load, lead astray or reorder the line, were it copied.
HOSTILE = [
    "<script>document.title='ran'</script>",
    "\"><img src=x onerror='document.title=1'>",
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "</title></style></svg><script>document.title='ran'</script>",
    "photo\u202egnp.exe\u2066\u200f",
    "&lt;b&gt; &#60;",
    "https://a.example/\"onclick='alert(1)'",
    "https://a.example/" + "a" * 10_000,
    "two\nlines\r\x00\x1b[31m",
]
ELEMENTS = re.compile(
    "html|head|meta|title|style|body|header|main|footer|section|article|div|h[123]|p|[uo]l|li|b|small|span|bdi|a|code|"
    "details|summary|table|thead|tbody|tr|th|td|svg|path|rect|ellipse|text|tspan|del|ins"
)
ATTRIBUTES = re.compile(
    "charset|http-equiv|content|name|lang|class|id|href|rel|title|role|aria-label|scope|viewBox|d|[rc]?[xy]|"
    "width|height|preserveAspectRatio|data-label|tabindex"
)


def drawn_of(captures: list[Capture], log: Path | None = None, title: str = "") -> tuple[str, Any]:
    with Collection(captures) as site:
        asked = PageRequests.once(site) if log is None else PageRequests.read(site, log)
        study = study_fragments(plan_site(site), asked=asked, min_bytes=30)
        graph = graph_of(study)
        numbers = json.loads(json.dumps(as_json(study, graph), allow_nan=False))
        return fragment_report(study, graph, title=title), numbers


def hostile_site() -> list[Capture]:
    """Names, texts, classes and paths that attack; versions of each page, so that everything is drawn."""
    quoted = [text.replace("<", "&lt;").replace(">", "&gt;") for text in HOSTILE]
    lists = "".join(
        f"<li id='{n}x'>{text} {n} and some words more</li>" for n, text in enumerate(quoted)
    )
    return [
        Capture(
            f"{name}#{hour}",
            name,
            START + timedelta(hours=hour),
            b"",
            f'<title>{name}</title><{"x" * 40}>{MENU}</{"x" * 40}><ul class="{page}">{lists}</ul>'
            f"<div>{hour} {quoted[(page + hour) % len(quoted)]} as long as it has to be</div>"
            f"<p>{name.replace('<', '&lt;')} alone {page * 99}".encode("utf-8", "replace"),
        )
        for page, name in enumerate(HOSTILE)
        for hour in range(3)
    ]


def check_is_safe(drawn: str) -> None:
    """See that a browser would find nothing in it but what the report is made of."""
    found = quire.encode(drawn.encode("utf-8", "replace"), kind="html")
    policies = found.select("meta[http-equiv]").tolist()
    assert [found.attributes(node)["http-equiv"] for node in policies] == [
        "Content-Security-Policy"
    ]
    assert "default-src 'none'" in found.attributes(policies[0])["content"]
    assert f"<style>{STYLE}</style>" in drawn
    assert len(found.select("style")) == 1
    for node in range(found.n):
        name = str(found.tag_names[int(found.tag[node])])
        if name.startswith("#"):
            continue
        assert ELEMENTS.fullmatch(name), name
        attributes = found.attributes(node)
        assert all(ATTRIBUTES.fullmatch(attribute) for attribute in attributes), attributes
        address = attributes.get("href") or "#"
        assert address.startswith(("#", "https://a.example/"))
    assert not re.search(r"[\u202a-\u202e\u2066-\u2069\x00\x1b]", drawn)


def rows_of(drawn: str, section: str) -> list[list[str]]:
    """The cells of a table that are numbers."""
    found = quire.encode(drawn.encode(), kind="html")
    rows = found.select(f"#{section} tbody tr").tolist()
    return [
        [
            found.text(cell)
            for cell in found.select("td.number").tolist()
            if row < cell < row + int(found.size[row])
        ]
        for row in rows
    ]


def test_what_pages_say_is_text_and_nothing_else() -> None:
    drawn, numbers = drawn_of(hostile_site(), title=HOSTILE[4])

    check_is_safe(drawn)
    for section in ("next", "painted", "exact", "approximate", "own-pace", "lifetimes", "graph"):
        assert f'<section id="{section}">' in drawn
    assert "&lt;script&gt;" in drawn
    assert numbers["totals"]["pages"] == len(HOSTILE)
    assert "\x1b" not in json.dumps(numbers, ensure_ascii=False)


def test_the_numbers_of_the_page_are_those_of_the_json(tmp_path: Path) -> None:
    log = write_log(tmp_path, [entry("/0.html", second=n) for n in range(5)])
    drawn, numbers = drawn_of(small_site(), log)

    keys = ["moved_saved", "stored_saved"]
    for tier in ("exact", "approximate"):
        expected = [
            [
                f"{one[key]:,}"
                for key in ["rank", "source_bytes", "pages", "uses", *keys, "requests"]
            ]
            for one in numbers["fragments"]
            if one["tier"] == tier
        ]
        assert [row[:-1] for row in rows_of(drawn, tier)] == expected
    assert len(rows_of(drawn, "exact")) == numbers["totals"]["worth_it"] == 2
    assert numbers["log"] == {
        "lines": 5,
        "skipped": 0,
        "others": 0,
        "seconds": 4.0,
        "damaged": False,
    }
    assert [page["requests"] for page in numbers["pages"]] == [5, 0, 0, 0]


def test_scripts_and_styles_are_named_and_not_painted() -> None:
    page = "<style>p{color:red}</style><script>const hidden = 1</script><p>Read me</p><noscript><p>not run</p><p>nor this</p></noscript><div><p><script>x()</script></div>"
    drawn, _ = drawn_of([capture("a", page), capture("b", page)])
    painting = drawn[
        drawn.index('id="painted"') : drawn.index("</section>", drawn.index('id="painted"'))
    ]

    assert "<p>Read me</p>" in painting
    assert '<p class="dim">script, 16 bytes</p>' in painting
    assert '<p class="dim">style, 12 bytes</p>' in painting
    assert "const hidden" not in painting
    assert "not run" not in painting
    assert "nor this" not in painting
    assert "x()" not in painting


def test_a_page_is_painted_with_words_beside_every_colour() -> None:
    drawn, _ = drawn_of(hostile_site())
    found = quire.encode(drawn.encode(), kind="html")

    boxes = found.select(".words .part").tolist()
    labels = {found.text(node) for node in found.select(".words .part > .label").tolist()}
    assert len(boxes) == len(found.select(".words .part > .label"))
    assert f"{len(HOSTILE)} pages, exact" in labels
    assert any("2 changes in" in label for label in labels)


def test_a_page_of_parts_with_their_own_pace_says_what_they_cost_and_save() -> None:
    """Each part is on one page: its include is stored, and nothing is stored less."""
    captures = [
        capture(f"{hour}", front(hour), url="/front", time=START + timedelta(hours=hour))
        for hour in range(8)
    ]
    drawn, numbers = drawn_of(captures)
    plain = re.sub("<[^>]*>", " ", drawn)

    assert numbers["totals"]["paced"] == 3
    assert numbers["totals"]["stored_saved"] < 0 < numbers["totals"]["moved_saved"]
    assert "more to store" in plain
    assert "less to move, while parts are fresh" in plain
    assert "No shared part is worth cutting out" not in plain
    assert drawn.count("cut out for its pace</span>") >= 3
    assert "The rest of its page changes at other times." in plain


@pytest.mark.parametrize("count", [0, 1])
def test_no_page_or_one_makes_a_report_too(count: int) -> None:
    drawn, numbers = drawn_of(small_site()[:count])

    check_is_safe(drawn)
    assert "No shared part is worth cutting out" in drawn
    assert (numbers["totals"]["pages"], numbers["fragments"]) == (count, [])


def test_a_long_and_deep_page_is_cut_short() -> None:
    deep = "<div>x" * 400 + "<p>many words of a leaf " * 5000
    drawn, _ = drawn_of([capture(f"{n}.html", f"{deep}{n}") for n in range(2)])

    assert "no more of it is painted" in drawn
    assert len(drawn) < 600_000


def test_a_browser_runs_nothing_of_it(tmp_path: Path) -> None:
    browser = require("chromium", "see that no script of a page runs in the report of fragments")
    (tmp_path / "report.html").write_text(drawn_of(hostile_site(), title="Market")[0], "utf-8")
    result = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--dump-dom",
            (tmp_path / "report.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    assert "<title>Fragments: Market</title>" in result.stdout
    check_is_safe(result.stdout)
