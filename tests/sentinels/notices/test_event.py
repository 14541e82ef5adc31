"""Events keep what they are about, and their ids."""

from __future__ import annotations

import json

import pytest

import quire
from quire.sentinels.conditions.finding import Finding
from quire.sentinels.notices import Event, differences, event_id
from quire.sentinels.notices.differences import (
    MOST_CHARACTERS,
    MOST_ENTRIES,
    MOST_VALUE,
    NO_DIFFERENCES,
    Difference,
    limited,
)
from tests.sentinels.notices.events import HOSTILE, event, hostile_event


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_an_event_comes_back_from_json_as_it_was(text: str) -> None:
    made = hostile_event(text)

    assert Event.from_json(made.to_json()) == made


def test_nested_findings_and_empty_events_come_back_from_json() -> None:
    inner = Finding("b", holds=None, reason="no number")
    made = event(
        kind="lost",
        finding=Finding("a", holds=False, reason="r", parts=(inner, inner)),
        old_version=None,
        new_version=None,
        old_time=None,
        new_time=None,
        differences=NO_DIFFERENCES,
    )

    assert Event.from_json(made.to_json()) == made


def test_the_id_depends_on_every_part_of_what_an_event_is_about() -> None:
    given = ("w1", "https://example.org/", "price", 3, 4, "")
    others = [
        ("w2", "https://example.org/", "price", 3, 4, ""),
        ("w1", "https://example.org/a", "price", 3, 4, ""),
        ("w1", "https://example.org/", "stock", 3, 4, ""),
        ("w1", "https://example.org/", "price", 2, 4, ""),
        ("w1", "https://example.org/", "price", 3, 5, ""),
        ("w1", "https://example.org/", "price", None, 4, ""),
        ("w1", "https://example.org/", "price", 3, 4, "error since 9:30"),
        # The same characters, divided in another way.
        ("w1h", "ttps://example.org/", "price", 3, 4, ""),
        ("w1", "https://example.org/", "price", 34, None, ""),
    ]

    ids = [
        event_id(watch, url, sentinel, old_version=old, new_version=new, occurrence=more)
        for watch, url, sentinel, old, new, more in [given, *others]
    ]

    assert len(set(ids)) == len(ids)
    assert ids[0] == event_id(*given[:3], old_version=3, new_version=4)


def test_an_event_does_not_keep_the_password_of_its_page() -> None:
    made = event(url="https://me:hush@example.org/a?b=c@d")

    assert made.url == "https://example.org/a?b=c@d"
    assert "hush" not in made.to_json()


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "quire-event/9"},
        {"kind": "party"},
        {"time": "noon"},
        {"aspects": ["smell"]},
        {"differences": {"entries": [{"kind": "eaten"}], "left_out": 0}},
        {"old": None},
        {"finding": {"holds": True}},
    ],
    ids=str,
)
def test_json_of_something_else_is_refused(change: dict[str, object]) -> None:
    data = {**event().to_dict(), **change}

    with pytest.raises(ValueError, match=r"expected|not an event|Invalid isoformat"):
        Event.from_json(json.dumps(data))


def test_json_that_is_not_an_object_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a JSON object"):
        Event.from_json("[1, 2]")


# ------------------------------------------------------------ differences

OLD = b"""<h1>Fish</h1><p id=a>Cod 8.40</p><p>Hake</p><a href=/menu>Menu</a><img src=cod.png>
<div class=x><b>Bold</b></div><footer>Open 9 to 5</footer>"""
NEW = b"""<h1>Fish</h1><p id=a>Cod 8.60</p><p>Plaice and chips</p><p>Squid</p><a href=/food>Menu</a>
<img src=ling.png><div class=y><i>Bold</i></div><footer>Open 9 to 6</footer>"""


def found(old: bytes, new: bytes, *aspects: str) -> list[tuple[str, str, str | None, str | None]]:
    annotation = quire.annotate(quire.encode(old), quire.encode(new))
    kinds = differences(annotation, aspects) if aspects else differences(annotation)  # type: ignore[arg-type]  # names
    return [(each.kind, each.what, each.before, each.after) for each in kinds.entries]


def test_differences_list_texts_links_images_and_attributes_with_their_values() -> None:
    assert found(OLD, NEW) == [
        ("edited", "text", "Cod 8.40", "Cod 8.60"),
        ("edited", "text", "Hake", "Plaice and chips"),
        ("inserted", "text", None, "Squid"),
        ("edited", "text", "Open 9 to 5", "Open 9 to 6"),
        ("edited", "href", "/menu", "/food"),
        ("edited", "src", "cod.png", "ling.png"),
        ("edited", "class", "x", "y"),
        ("renamed", "element", "b", "i"),
    ]


def test_differences_of_other_aspects_than_the_watched_ones_are_left_out() -> None:
    assert found(OLD, NEW, "links") == [("edited", "href", "/menu", "/food")]
    assert found(OLD, NEW, "images") == [("edited", "src", "cod.png", "ling.png")]
    assert found(OLD, NEW, "tags")[-1] == ("renamed", "element", "b", "i")


def test_differences_outside_the_watched_part_are_left_out() -> None:
    old, new = quire.encode(OLD), quire.encode(NEW)
    annotation = quire.annotate(old, new)
    inside = differences(
        annotation, old_roots=old.select("#a, footer"), new_roots=new.select("#a, footer")
    )

    assert [each.after for each in inside.entries] == ["Cod 8.60", "Open 9 to 6"]
    assert inside.left_out == 0


def test_a_deleted_part_is_inside_if_it_was() -> None:
    old, new = quire.encode(b"<ul><li>a<li>b</ul><p>c"), quire.encode(b"<ul><li>a</ul>")
    annotation = quire.annotate(old, new)
    inside = differences(annotation, old_roots=old.select("ul"), new_roots=new.select("ul"))

    assert [(each.kind, each.before) for each in inside.entries] == [("deleted", "b")]


def test_parts_inside_other_parts_and_parts_beside_them_are_told_apart() -> None:
    old = quire.encode(b"<div id=a><p>1</p><p id=b>2</p><p>3</p></div><p>4</p><p id=c>5</p><p>6")
    new = quire.encode(b"<div id=a><p>x</p><p id=b>y</p><p>z</p></div><p>u</p><p id=c>v</p><p>w")
    annotation = quire.annotate(old, new)
    inside = differences(
        annotation,
        old_roots=[],
        new_roots=[*new.select("#c"), *new.select("#b"), *new.select("#a")],
    )

    assert [each.after for each in inside.entries] == ["x", "y", "z", "v"]


def test_values_that_change_at_every_load_are_not_differences() -> None:
    old = b"<script nonce=a81f3bc9d2e4>f()</script><p>Fish"
    new = b"<script nonce=77b1e0cc41fa>f()</script><p>Fish"

    assert found(old, new) == []


def test_moved_parts_have_both_paths() -> None:
    old = b"<div id=a><p>The very long story of a fish</p></div><div id=b></div>"
    new = b"<div id=a></div><div id=b><p>The very long story of a fish</p></div>"
    (kind, what, before, after), *_ = found(old, new, "structure")

    assert (kind, what) == ("moved", "element")
    assert before != after
    assert before is not None
    assert "#a" in before


def test_a_page_with_many_long_changes_keeps_within_the_limits() -> None:
    old = b"".join(b"<p>%d old</p>" % n for n in range(500))
    new = b"".join(b"<p>%d %s</p>" % (n, b"new " * 2_000) for n in range(500))
    kept = differences(quire.annotate(quire.encode(old), quire.encode(new)), ["text"])
    characters = sum(len(each.before or "") + len(each.after or "") for each in kept.entries)

    assert characters <= MOST_CHARACTERS
    assert 0 < len(kept.entries) <= MOST_ENTRIES
    assert len(kept.entries) + kept.left_out == 500
    assert max(len(each.after or "") for each in kept.entries) == MOST_VALUE


def test_the_limit_of_entries_counts_what_it_leaves_out() -> None:
    entries = [Difference("edited", "p", "text", "a", str(n)) for n in range(MOST_ENTRIES + 7)]

    assert len(limited(entries[:MOST_ENTRIES]).entries) == MOST_ENTRIES
    assert limited(entries[:MOST_ENTRIES]).left_out == 0
    assert len(limited(entries).entries) == MOST_ENTRIES
    assert limited(entries, 5).left_out == 12
