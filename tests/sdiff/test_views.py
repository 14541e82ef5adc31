"""Views as data: words, lines, columns, plain values."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire import Rules
from tests.strategies import html

# Few letters, so that texts have much in common; scripts with and without spaces, marks that combine.
texts = st.text(alphabet="ab .,9'\n東京ก็é\u0301\u200d👩", max_size=40)


def annotate(before: bytes, after: bytes, rules: Rules | None = None) -> quire.Annotation:
    old, new = quire.encode(before, kind="html"), quire.encode(after, kind="html")
    return quire.annotate(old, new, rules or Rules())


@given(texts, texts)
def test_segments_are_both_texts(old: str, new: str) -> None:
    segments = quire.word_changes(old, new)

    assert "".join(part.text for part in segments if part.kind != "inserted") == old
    assert "".join(part.text for part in segments if part.kind != "deleted") == new
    assert (old == new) == all(part.kind == "same" for part in segments)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("9 to 5", "9 to 6", "9 to [5|6]"),
        ("12.3 %", "12.4 %", "[12.3|12.4] %"),
        ("今天天气很好", "今天天气不好", "今天天气[很|不]好"),
        ("It's fine", "It isn't fine", "[It's|It isn't] fine"),
        ("same", "same", "same"),
    ],
)
def test_words_change_as_a_reader_would_say(old: str, new: str, expected: str) -> None:
    drawn = "".join(
        {"same": "{}", "deleted": "[{}|", "inserted": "{}]"}[part.kind].format(part.text)
        for part in quire.word_changes(old, new)
    )

    assert drawn == expected


def test_half_a_surrogate_pair_is_no_trouble() -> None:
    assert quire.word_changes("a \ud800 b", "a \ud800 c")[-1].text == "c"


@pytest.mark.timeout(120)  # quadratic, it would take hours
def test_hostile_texts_are_compared_in_bounded_time() -> None:
    old = " ".join(str(number * number % 97) for number in range(300_000))
    new = " ".join(str(number * number % 89) for number in range(300_000))
    segments = quire.word_changes(old, new)

    assert "".join(part.text for part in segments if part.kind != "inserted") == old


def test_long_texts_are_compared_between_words_that_occur_once() -> None:
    # Beyond any table: 200,000 words, every hundredth another; the rest is found word by word.
    words = [f"w{number}" for number in range(200_000)]
    edited = [f"x{at}" if at % 100 == 50 else word for at, word in enumerate(words)]
    segments = quire.word_changes(" ".join(words), " ".join(edited))

    inserted = [segment.text for segment in segments if segment.kind == "inserted"]
    assert inserted == [word for word in edited if word.startswith("x")]


def test_long_texts_without_such_words_are_one_change() -> None:
    draw = random.Random(13)
    old, new = (" ".join(draw.choices("abcdefgh", k=20_000)) for _ in range(2))
    changed = [segment for segment in quire.word_changes(old, new) if segment.kind != "same"]

    assert [segment.kind for segment in changed] == ["deleted", "inserted"]


@given(html, html)
def test_every_line_of_both_pages_is_in_the_rows_once(before: bytes, after: bytes) -> None:
    annotation = annotate(before, after)
    rows = quire.text_rows(annotation)
    old = [row.old.number for row in rows if row.old and row.kind != "moved_here"]
    new = [row.new.number for row in rows if row.new and row.kind != "moved_away"]

    assert sorted(old) == list(range(1, len(old) + 1))
    assert new == list(range(1, len(new) + 1))
    read = [line for line in annotation.new.text().split("\n") if line.strip(" \t\r\x0c")]
    assert [row.new.text for row in rows if row.new and row.kind != "moved_away"] == read


def test_lines_know_their_nodes() -> None:
    annotation = annotate(b"<p>Fish &amp; <b>chips</b><p>a", b"<p>Fish &amp; <b>peas</b><p>a")
    lines = quire.unified(annotation)[0].lines

    assert [(line.kind, line.text) for line in lines] == [
        ("deleted", "Fish & chips"),
        ("inserted", "Fish & peas"),
        ("same", "a"),
    ]
    assert [annotation.new.text(node) for node in lines[1].nodes] == ["Fish & ", "peas"]
    assert [part.text for part in lines[1].segments if part.kind == "inserted"] == ["peas"]


def test_context_is_what_is_asked_for() -> None:
    before = b"".join(b"<p>line %d" % number for number in range(30))
    after = before.replace(b"line 3<", b"line three<").replace(b"line 20<", b"line twenty<")
    annotation = annotate(before, after)

    assert [len(hunk.lines) for hunk in quire.unified(annotation, context=0)] == [2, 2]
    assert [len(hunk.lines) for hunk in quire.unified(annotation, context=2)] == [6, 6]
    assert [len(hunk.lines) for hunk in quire.unified(annotation, context=50)] == [32]
    assert quire.unified(annotation, context=2)[0].heading == "@@ -2,5 +2,5 @@"
    assert [len(group) for group in quire.side_by_side(annotation, context=None)] == [30]


@pytest.mark.parametrize(
    ("before", "after", "heading"),
    [
        (b"<p>Figs", b"<p>Kiwis", "@@ -1 +1 @@"),
        (b"<p>Figs", b"", "@@ -1 +0,0 @@"),
        (b"", b"<p>Figs<p>Kiwis", "@@ -0,0 +1,2 @@"),
    ],
)
def test_headings_are_written_as_diff_does(before: bytes, after: bytes, heading: str) -> None:
    assert [hunk.heading for hunk in quire.unified(annotate(before, after))] == [heading]


def test_side_by_side_has_each_line_on_its_side() -> None:
    rows = quire.side_by_side(annotate(b"<p>a<p>b<p>c", b"<p>a<p>c"), context=5)[0]

    left = [row.old.text for row in rows if row.old]
    right = [row.new.text for row in rows if row.new]
    assert left == ["a", "b", "c"]
    assert right == ["a", "c"]


def test_lines_outside_of_the_scope_are_not_shown() -> None:
    before = b"<nav>one</nav><div id=m><p>a<p>b</div>"
    after = b"<nav>two</nav><div id=m><p>a<p>c</div>"
    rows = quire.text_rows(annotate(before, after, Rules(only=("#m",))))

    assert [(row.kind, row.new and row.new.text) for row in rows] == [
        ("same", "a"),
        ("changed", "c"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (b'{"a": 1, "b": [2, 3]}', b'{"a": 1, "b": [2, 4]}', "json"),
        (b"one\ntwo\n\nthree\n", b"one\n2\n\nthree\n", "text"),
        (b"<a><b>x</b><c>y</c></a>", b"<a><b>x</b><c>z</c></a>", "xml"),
    ],
)
def test_pages_of_every_kind_have_lines(before: bytes, after: bytes, kind: str) -> None:
    old, new = (quire.encode(page, kind=kind) for page in (before, after))  # type: ignore[arg-type]
    (hunk,) = quire.unified(quire.annotate(old, new), context=0)

    assert [line.kind for line in hunk.lines] == ["deleted", "inserted"]
    assert all(line.nodes for line in hunk.lines)


@given(html, html)
def test_a_report_is_json_and_says_changed_when_it_is(before: bytes, after: bytes) -> None:
    annotation = annotate(before, after)
    found = json.loads(json.dumps(annotation.to_dict()))

    assert found["changed"] == bool(annotation) == bool(found["changes"])
    assert found["schema"] == "quire-changes/1"


def test_a_part_that_is_new_is_one_entry_of_a_report() -> None:
    found = annotate(b"<p>a", b"<p>a<ul><li>1<li>2</ul>").to_dict()

    (entry,) = json.loads(json.dumps(found["changes"]))
    assert entry["kind"] == "inserted"
    assert entry["old"] is None
    assert entry["new"]["name"] == "ul"
    assert entry["new"]["nodes"] == 5
    assert entry["new"]["path"] == "html > body > ul"


# Each of the parts holds all that follow, and each of the rows has an id.
NESTED = b"<?xml version='1.0'?>" + b"".join(b"<a i='%d'><b>t%d</b>" % (i, i) for i in range(8_000))
MOVED = b"<?xml version='1.0'?>" + b"".join(b"<a i='%d'>" % i for i in range(8_000))


@pytest.mark.timeout(120)  # quadratic, it would take hours
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            NESTED + b"</a>" * 8_000,
            MOVED + b"".join(b"<b>t%d</b></a>" % i for i in range(8_000)),
        ),
        (
            b"<!doctype html>" + b"".join(b"<p id=x%d>" % i for i in range(50_000)),
            b"<!doctype html>" + b"".join(b"<p id=y%d>" % i for i in range(50_000)),
        ),
    ],
    ids=["nested moves", "rows with ids"],
)
def test_a_report_is_linear_where_all_changed(old: bytes, new: bytes) -> None:
    annotation = quire.annotate(quire.encode(old), quire.encode(new))

    found = annotation.to_dict()

    assert len(found["changes"]) >= 8_000  # type: ignore[arg-type]


def test_a_context_below_zero_is_an_error() -> None:
    annotation = annotate(b"<p>a", b"<p>b")

    for view in (quire.unified, quire.side_by_side):
        with pytest.raises(ValueError, match="context is -1; expected"):
            view(annotation, context=-1)
