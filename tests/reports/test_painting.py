"""A redline marks what a reader would call changed, and nothing else.

``painted`` judges finished redlines. Here it judges pages that are edited at known places, and real
versions of pages.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from tests.reports.painted import Fault, faults, painted
from tests.strategies import html


def judge(before: str, after: str) -> tuple[list[Fault], str]:
    """Draw a redline, and return its faults and its marks: ``-deleted-``, ``+inserted+``, ``>moved>``."""
    old, new = quire.encode(before.encode(), kind="html"), quire.encode(after.encode(), kind="html")
    drawn = quire.redline(quire.annotate(old, new))
    signs = {"plain": "", "inserted": "+", "deleted": "-", "moved": ">", "moved away": "-"}
    said = "".join(
        f"{signs[run.paint]}{run.text}{signs[run.paint]}"
        for run in painted(drawn)
        if run.text.strip()
    )
    return faults(old, new, drawn), " ".join(said.split())


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        # Kept content in a new wrapper.
        (
            "<p>A one<p>B two",
            "<div class=x><section><p>A one<p>B two</section></div>",
            "A oneB two",
        ),
        ("<div class=x><p>A one<p>B two</div>", "<p>A one<p>B two", "A oneB two"),
        (
            "<div><p>Version 1<p>Text</div>",
            "<main><p>Version 2<p>Text</main>",
            "Version -1-+2+Text",
        ),
        # Another tag, a text that was split or joined.
        ("<p>a <b>Word</b> b", "<p>a <strong>Word</strong> b", "a Word b"),
        ("<p>a <font>Word</font> b", "<p>a <a href=x>Word</a> b", "a Word b"),
        ("<p>foo <b>bar</b> baz", "<p>foo bar baz", "foo bar baz"),
        ("<p>foo bar baz", "<p>foo <b>bar</b> baz", "foo bar baz"),
        ("<p>ver<b>sion</b> one", "<p>version <i>two</i>", "version -one-+two+"),
        ("<h2>Title</h2><p>Text", "<div><h3>Title</h3></div><p>Text", "TitleText"),
        # Deletions stand where they were.
        ("<div><p>A a<p>gone here<p>B b</div>", "<p>A a<p>B b", "A a-gone here-B b"),
        ("<ul><li>a<li>gone<li>c</ul>", "<ul><li>a<li>c</ul>", "a-gone-c"),
        ("<ul><li>gone<li>b<li>c</ul>", "<ul><li>b<li>c</ul>", "-gone-bc"),
        ("<p>a<p>b<p>gone", "<p>a<p>b", "ab-gone-"),
        ("<p>foo <b>gone</b> baz", "<p>foo baz", "foo -gone -baz"),
        # The order of a pair: first what was, then what is.
        ("<p><a>392</a> comments", "<p><a>394</a> comments", "-392-+394+ comments"),
        ("<b>5</b>", "<b>6</b>", "-5-+6+"),
        # Figures of a table are compared with the figure that was there.
        (
            "<table><tr><td>Berth<td>5<tr><td>Buoy<td>7</table>",
            "<table><tr><td>Berth<td>7<tr><td>Buoy<td>9</table>",
            "Berth-5-+7+Buoy-7-+9+",
        ),
        # Moves: only what is in another order.
        (
            "<p>one one<p>two two<p>three three three",
            "<p>three three three<p>one one<p>two two",
            ">three three three>one onetwo two",
        ),
    ],
)
def test_only_what_changed_is_marked(before: str, after: str, expected: str) -> None:
    found, said = judge(before, after)

    assert found == []
    assert said == expected


NOISE = " ".join(f"old{number}" for number in range(400))
OTHER = " ".join(f"new{number}" for number in range(400))


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        # A sentence in a section that was rewritten, across paragraphs and other punctuation.
        (
            f"<p>{NOISE}<p>We use your data to provide, improve and develop our products. {NOISE}",
            f"<p>{OTHER} We use your data to provide, improve, and develop our products.<p>{OTHER}",
            "We use your data to provide, improve",
        ),
        # A line of four words, but not a label.
        (
            f"<p>{NOISE}<p>How to reach us<p>x",
            f"<p>y<p>How to reach us<p>{OTHER}",
            "How to reach us",
        ),
        # Other white space.
        ("<p>x<p>ends&nbsp;at nine<p>y", "<p>a<p>b<p>ends at nine<p>c", "ends at nine"),
        # The words that deleted and inserted text begin and end with.
        ("<p>Like most sites, we do this", "<p>Like most others who do this", "Like most"),
    ],
)
def test_long_runs_are_kept_however_much_is_rewritten(before: str, after: str, kept: str) -> None:
    old, new = quire.encode(before.encode(), kind="html"), quire.encode(after.encode(), kind="html")
    drawn = quire.redline(quire.annotate(old, new))

    assert faults(old, new, drawn) == []
    plain = " ".join(" ".join(run.text for run in painted(drawn) if run.paint == "plain").split())
    assert kept in plain


def test_an_image_between_rewritten_texts_is_kept() -> None:
    map_ = "<img src=data:image/png;base64,AAAA alt='A map of the harbour'>"
    old = quire.encode(f"<div><p>{NOISE}</div>{map_}".encode(), kind="html")
    new = quire.encode(f"<section>{map_}<p>{OTHER}</section>".encode(), kind="html")
    page = quire.encode(quire.redline(quire.annotate(old, new)).encode())

    assert page.select("img").size == 1
    assert page.select("img.quire-ins, img.quire-del").size == 0


def test_a_short_phrase_in_a_rewritten_part_is_rewritten() -> None:
    _, said = judge(
        f"<p>{NOISE} in accordance with the {NOISE}", f"<p>{OTHER} in accordance with the {OTHER}"
    )

    assert said.startswith("-old0 ")
    assert said.count("in accordance with the") == 2


def test_a_new_container_is_marked_without_its_content() -> None:
    old = quire.encode(b"<p>A one<p>B two", kind="html")
    new = quire.encode(b"<section><p>A one<p>B two</section>", kind="html")
    drawn = quire.redline(quire.annotate(old, new))
    page = quire.encode(drawn.encode())

    assert [page.attributes(int(node))["title"] for node in page.select(".quire-around")] == [
        "<section> is new; what it holds was here before"
    ]
    assert page.select("quire-html .quire-ins, quire-html .quire-del").size == 0


# Paragraphs of few words, so that some are alike, in wrappers that come, go and change their names.
WORDS = ["fee", "harbour", "boat", "the", "of", "week", "free", "10", "12", "is"]
paragraphs = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)
Block = tuple[str, str]  # a shape, and a text


def written(blocks: list[Block]) -> str:
    """Write blocks; a shape says what is around a text."""
    return "".join(shape.replace("_", text) for shape, text in blocks)


SHAPES = [
    "<p>_</p>",
    "<div><p>_</p></div>",
    "<section class=a><div>_</div></section>",
    "<ul><li>_</li></ul>",
    "<p><b>_</b></p>",
    "<p>so <a href=x>_</a>, yes</p>",
    "<table><tr><td>_</td></tr></table>",
    "<blockquote>_</blockquote>",
]
blocks = st.lists(st.tuples(st.sampled_from(SHAPES), paragraphs), max_size=8)
edits = st.lists(
    st.tuples(
        st.sampled_from(["delete", "insert", "reshape", "move", "word", "wrap"]),
        st.integers(0, 99),
        st.integers(0, 99),
        st.sampled_from(SHAPES),
        paragraphs,
    ),
    max_size=4,
)


def edited(page: list[Block], edits: list[tuple[str, int, int, str, str]]) -> str:
    """Edit a page as its author would."""
    page = list(page)
    wrapped = False
    for kind, at, to, shape, text in edits:
        place = at % len(page) if page else 0
        if kind == "insert":
            page.insert(place, (shape, text))
        elif kind == "wrap":
            wrapped = True
        elif not page:
            continue
        elif kind == "delete":
            del page[place]
        elif kind == "reshape":
            page[place] = (shape, page[place][1])
        elif kind == "move":
            page.insert(to % len(page), page.pop(place))
        else:
            words = page[place][1].split()
            words[to % len(words)] = text.split()[0]
            page[place] = (page[place][0], " ".join(words))
    return f"<main><div>{written(page)}</div></main>" if wrapped else written(page)


@given(blocks, edits)
def test_edited_pages_are_painted_truly(
    page: list[Block], changes: list[tuple[str, int, int, str, str]]
) -> None:
    found, _ = judge(written(page), edited(page, changes))

    assert found == []


def rewritten(draw: random.Random, stock: list[str]) -> str:
    """Write a page of some sentences of a stock and of other words, in any order and shape."""
    page: list[Block] = []
    for _ in range(draw.randrange(2, 8)):
        parts = [
            draw.choice(stock)
            if draw.random() < 0.6
            else " ".join(f"w{draw.randrange(30)}" for _ in range(draw.randrange(1, 14)))
            for _ in range(draw.randrange(1, 4))
        ]
        page.append((draw.choice(SHAPES), " ".join(parts)))
    return written(page)


def test_rewritten_pages_are_painted_truly() -> None:
    """Sentences that go from one paragraph to another are where painting goes wrong."""
    wrong: dict[int, list[Fault]] = {}
    for seed in range(600):
        draw = random.Random(seed)
        stock = [
            " ".join(f"w{draw.randrange(200)}" for _ in range(draw.randrange(3, 14)))
            for _ in range(6)
        ]
        found, _ = judge(rewritten(draw, stock), rewritten(draw, stock))
        if found:
            wrong[seed] = found

    assert wrong == {}


# Tag soup cannot always be written so that it reads the same again, so only what was painted counts.
@given(html, html)
def test_nothing_that_is_kept_is_struck_and_inserted(before: bytes, after: bytes) -> None:
    old, new = quire.encode(before, kind="html"), quire.encode(after, kind="html")
    found = faults(old, new, quire.redline(quire.annotate(old, new)))

    assert [fault for fault in found if fault.kind in {"line", "run", "same"}] == []


@pytest.mark.parametrize("corpus", ["versions-terms", "versions-news", "versions-fund"])
def test_real_versions_are_painted_truly(
    corpus: str, corpus_files: Callable[[str], list[Path]]
) -> None:
    files = sorted(path for path in corpus_files(corpus) if path.suffix == ".html")
    pairs = [(old, new) for old, new in pairwise(files) if old.parent == new.parent]
    for before, after in random.Random(13).sample(pairs, 12):
        old, new = quire.encode(before.read_bytes()), quire.encode(after.read_bytes())
        assert faults(old, new, quire.redline(quire.annotate(old, new))) == [], before


# Each pair of pages, its redline, and the same with false paint.
ONE = "The harbour is open from nine to five on all days."
TWO = "Bring your own rope and two fenders, please."


def ins(text: str) -> str:
    return f'<ins class="quire-ins">{text}</ins>'


def gone(text: str) -> str:
    return f'<del class="quire-del">{text}</del>'


@pytest.mark.parametrize(
    ("before", "after", "true", "false", "kinds"),
    [
        # A paragraph that did not change is painted: as inserted, as both, as moved.
        (f"<p>{ONE}<p>a", f"<p>{ONE}<p>b", ONE, ins(ONE), {"balance"}),
        (f"<p>{ONE}<p>a", f"<p>{ONE}<p>b", ONE, f"{gone(ONE)}{ins(ONE)}", {"same"}),
        (
            f"<p>{ONE}<p>a",
            f"<p>{ONE}<p>b",
            f"<p>{ONE}",
            f"<p>{gone(ONE)}<p>{ins(TWO)}<p>{ins(ONE)}",
            {"line", "new text"},
        ),
        (
            f"<p>{ONE}<p>a",
            f"<p>{ONE}<p>b",
            ONE,
            f'<span class="quire-moved">{ONE}</span>',
            {"not moved"},
        ),
        # A part of a line is painted.
        (
            f"<p>{ONE} {TWO}<p>a",
            f"<p>{ONE} {TWO}<p>b",
            f"{ONE} {TWO}",
            f"{gone(ONE + ' Or')}{ins('Yes: ' + ONE)} {TWO}",
            {"run", "new text", "old text", "balance"},
        ),
        # A single word is struck and inserted beside itself.
        (
            "<p>a word here",
            "<p>a word there",
            "a word ",
            f"a {gone('word')} {ins('word')} ",
            {"same"},
        ),
        # Deletions are not where they were.
        (
            "<p>one<p>gone<p>two",
            "<p>one<p>two",
            "<p>two</p>",
            f"<p>two</p><p>{gone('gone')}</p>",
            {"old text", "balance"},
        ),
        # Words are lost, or come from nowhere.
        ("<p>one two", "<p>one three", "three", "", {"new text"}),
        ("<p>one two", "<p>one three", "two", "", {"balance"}),
        ("<p>one two", "<p>one three", ">one ", ">one more ", {"new text", "old text", "balance"}),
    ],
)
def test_the_judge_finds_false_paint(
    before: str, after: str, true: str, false: str, kinds: set[str]
) -> None:
    old, new = quire.encode(before.encode(), kind="html"), quire.encode(after.encode(), kind="html")
    drawn = quire.redline(quire.annotate(old, new))

    assert faults(old, new, drawn) == []
    head, _, body = drawn.partition("<quire-body")
    assert true in body
    painted_falsely = f"{head}<quire-body{body.replace(true, false, 1)}"
    assert {fault.kind for fault in faults(old, new, painted_falsely)} == kinds
