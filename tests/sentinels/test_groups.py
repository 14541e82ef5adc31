"""Groups: every shortcut, alone and together, gives the answers of the plain definition."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quire
from quire.sentinels.conditions import (
    All,
    AnyOf,
    Changed,
    Circumstances,
    Condition,
    Count,
    Not,
    Number,
    Similarity,
    State,
    Text,
    Unchanged,
)
from quire.sentinels.groups import ALL_SHORTCUTS, NO_SHORTCUTS, Group, Shortcuts, Version
from quire.sentinels.groups.oracle import evaluate_alone
from quire.sentinels.parts import ASPECTS, Ignore, Location, PageReader, Part
from quire.sentinels.sentinel import Sentinel

NOON = datetime(2026, 5, 17, 12, tzinfo=UTC)
ABOUT = Circumstances(NOON, NOON - timedelta(hours=3), NOON - timedelta(hours=1))

# ------------------------------------------------------------ pages that share most of their parts

WORDS = st.sampled_from(["Fish 9.50", "Chips", "Open 9 to 5", "fish", "Peas 3,20", "x"])
ATTRIBUTES = st.sampled_from(["", "", " class=x", " class=y", " id=a", ' title="t"'])


def element(inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(st.sampled_from(["p", "div", "b", "li", "ul"]), ATTRIBUTES, inside).map(
            lambda parts: f"<{parts[0]}{parts[1]}>{parts[2]}</{parts[0]}>"
        ),
        inside.map(lambda text: f"<a href=/{len(text)}>{text}</a>"),
        st.sampled_from(
            ["<img src=1.png>", "<script>n=1</script>", "<script>n=2</script>", "<br>"]
        ),
    )


bodies = st.lists(
    st.one_of(WORDS, element(WORDS), element(st.lists(element(WORDS), max_size=3).map("".join))),
    max_size=6,
)


@st.composite
def histories(draw: st.DrawFn) -> list[quire.Digest]:
    """Draw three versions of a page; each differs from the one before in at most two blocks."""
    blocks = draw(bodies)
    pages = [blocks]
    for _ in range(2):
        blocks = list(blocks)
        for _ in range(draw(st.integers(0, 2))):
            at = draw(st.integers(0, len(blocks)))
            other = draw(st.one_of(WORDS, element(WORDS)))
            blocks[at : at + draw(st.integers(0, 2))] = [other] if draw(st.booleans()) else []
        pages.append(blocks)
    return [quire.encode("".join(page).encode(), kind="html") for page in pages]


# ------------------------------------------------------------ sentinels

SELECTORS = st.sampled_from(["p", "div", "#a", ".x", "li", "body", "//p[1]", "ul > li", ".y b"])
# Expressions that give texts: their values can change with nothing changing at any node they name.
GIVING_TEXTS = st.sampled_from(
    ["//a/@href", "//p/@class", "//@*", "xpath:string(//p)", "xpath:count(//li)", "//p | //a/@href"]
)
locations = st.builds(
    Location,
    st.lists(SELECTORS | GIVING_TEXTS, max_size=2, unique=True).map(tuple),
    st.lists(SELECTORS, max_size=1).map(tuple),
)
ignores = st.builds(
    Ignore,
    case=st.booleans(),
    order=st.booleans(),
    text=st.sampled_from([(), (r"\d+",)]),
)
parts = st.builds(
    Part,
    locations,
    st.lists(st.sampled_from(ASPECTS), min_size=1, max_size=3, unique=True).map(tuple),
    st.sampled_from([(), ("class",)]),
    ignores,
)
simple: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Changed, parts),
    st.builds(
        Text,
        parts,
        st.sampled_from(["new", "old", "added", "removed", "changed"]),
        st.sampled_from([("fish",), ("chips", "peas")]),
    ),
    st.builds(Text, parts, st.just("added"), st.just(()), st.just(r"[0-9]")),
    st.builds(
        Number,
        parts,
        st.sampled_from(["below", "above", "falls below", "rises", "changes"]),
        st.sampled_from([0.0, 5.0]),
    ),
    st.builds(
        Count, SELECTORS | st.just("//a/@href"), st.sampled_from([">=", "=="]), st.integers(0, 2)
    ),
    st.builds(Similarity, st.sampled_from(["structure", "content"]), st.just(0.9)),
    st.just(Unchanged(timedelta(minutes=30))),
    st.just(State(("gone",))),
)
conditions = st.recursive(
    simple,
    lambda inside: st.one_of(
        st.lists(inside, min_size=1, max_size=3).map(lambda each: All(tuple(each))),
        st.lists(inside, min_size=1, max_size=3).map(lambda each: AnyOf(tuple(each))),
        inside.map(Not),
    ),
    max_leaves=4,
)
groups_of = st.lists(
    st.builds(
        Sentinel,
        st.just("?"),
        st.lists(parts, min_size=1, max_size=2).map(tuple),
        st.none() | conditions,
    ),
    min_size=1,
    max_size=5,
).map(
    lambda found: [Sentinel(str(place), each.parts, each.when) for place, each in enumerate(found)]
)
one_off = st.sampled_from(Shortcuts.names()).map(lambda name: Shortcuts(**{name: False}))
one_on = st.sampled_from(Shortcuts.names()).map(
    lambda name: Shortcuts(**{each: each == name for each in Shortcuts.names()})
)
shortcuts = st.one_of(
    st.just(ALL_SHORTCUTS),
    st.just(NO_SHORTCUTS),
    one_off,
    one_on,
    st.builds(Shortcuts, **{name: st.booleans() for name in Shortcuts.names()}),
)


def version(pages: list[quire.Digest], number: int) -> Version:
    return Version(number, pages[number].signatures)


@given(histories(), groups_of, shortcuts, st.data())
@settings(max_examples=300)
def test_a_group_answers_as_its_sentinels_would_alone(
    pages: list[quire.Digest], sentinels: list[Sentinel], taken: Shortcuts, data: st.DataObject
) -> None:
    group = Group(pages.__getitem__)
    for sentinel in sentinels:
        read_ahead = data.draw(st.booleans())
        group.install(sentinel, version(pages, 0), pages[0] if read_ahead else None)
    base = dict.fromkeys(group.members, 0)
    for number in (1, 2):
        due = [name for name in group.members if data.draw(st.booleans())]

        found = group.evaluate(version(pages, number), PageReader(pages[number]), ABOUT, due, taken)
        if any(each.changed for each in found) or data.draw(st.booleans()):
            group.accept(version(pages, number), found)

        for name, outcome in zip(due, found, strict=True):
            expected = evaluate_alone(
                group.members[name].sentinel, pages[base[name]], pages[number], ABOUT
            )
            assert (outcome.sentinel, outcome.changed) == (name, expected.changed)
            assert (outcome.fired, outcome.missing) == (expected.fired, expected.missing)
            base[name] = group.members[name].base
        assert set(group.versions) == {member.base for member in group.members.values()}


def test_the_old_version_is_loaded_only_if_a_condition_asks_for_it() -> None:
    old = quire.encode(b"<p id=price>9.50</p><p>Fish</p><script>n=1</script>")
    new = quire.encode(b"<p id=price>8.50</p><p>Fish</p><script>n=2</script>")
    loads = []

    def load(number: int) -> quire.Digest:
        loads.append(number)
        return old

    price = Part(Location(("#price",)))
    group = Group(load)
    first = Version(1, old.signatures)
    group.install(Sentinel("noise", (Part(Location(("p + p",))),)), first, old)
    group.install(Sentinel("price", (price,), Number(price, "below", 9)), first, old)

    found = group.evaluate(Version(2, new.signatures), PageReader(new), ABOUT)
    group.accept(Version(2, new.signatures), found)

    assert [(each.sentinel, each.fired) for each in found] == [("noise", False), ("price", True)]
    assert loads == []

    group.members["price"].base, group.members["price"].signatures = 2, ()
    group.evaluate(Version(3, old.signatures), PageReader(old), ABOUT, ["price"])

    assert loads == [2]


@pytest.mark.parametrize("name", Shortcuts.names())
def test_every_shortcut_can_be_switched_off_alone(name: str) -> None:
    assert getattr(ALL_SHORTCUTS, name)
    assert not getattr(NO_SHORTCUTS, name)
