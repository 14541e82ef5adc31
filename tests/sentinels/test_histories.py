"""Real histories: groups with every shortcut answer as each sentinel would alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

import quire
from quire.sentinels.conditions import (
    All,
    AnyOf,
    Changed,
    Circumstances,
    Count,
    Not,
    Number,
    Similarity,
    Text,
)
from quire.sentinels.groups import Group, Shortcuts, Version
from quire.sentinels.groups.oracle import evaluate_alone
from quire.sentinels.parts import CONTENT, Ignore, Location, PageReader, Part
from quire.sentinels.sentinel import Sentinel
from tests import corpus

NOON = datetime(2026, 5, 17, 12, tzinfo=UTC)
ABOUT = Circumstances(NOON, NOON - timedelta(hours=3))

WHOLE = Part()
TABLE = Part(Location(("table", "main")))
LINKS = Part(Location(("body",), ("nav", "footer")), CONTENT)
SENTINELS = [
    Sentinel("text", (WHOLE,)),
    Sentinel("content", (Part(watch=CONTENT),)),
    Sentinel("links", (LINKS,)),
    Sentinel("structure", (Part(watch=("structure",)),)),
    Sentinel("tags", (Part(Location(("body",)), ("tags",)),)),
    Sentinel("classes", (Part(watch=("attributes",), attributes=("class", "href")),)),
    Sentinel("table", (TABLE,)),
    Sentinel("paragraphs", (Part(Location(("p",)), ignore=Ignore(order=True)),)),
    Sentinel("headings", (Part(Location(("h1", "h2", "//h3"))),), Not(Count("h2", ">=", 100))),
    Sentinel("words", (WHOLE,), Text(WHOLE, "added", ("the", "die"))),
    Sentinel("pattern", (WHOLE,), Text(WHOLE, "changed", pattern=r"\b20[0-9]{2}\b")),
    Sentinel("gone", (WHOLE,), Text(WHOLE, "removed", ("privacy", "und"))),
    Sentinel("falls", (TABLE,), Number(TABLE, "falls")),
    Sentinel("far", (TABLE,), Number(TABLE, "changes", 1.0, percent=True, pick="highest")),
    Sentinel("similar", (WHOLE,), Similarity("content", 0.98)),
    Sentinel("shape", (WHOLE,), AnyOf((Similarity("structure", 0.9), Changed(TABLE)))),
    Sentinel("both", (WHOLE, LINKS), All((Changed(WHOLE), Changed(LINKS, ("links",))))),
]


def histories(name: str, pages: int, versions: int) -> Iterator[list[Path]]:
    """Give the newest versions of some pages of a corpus, in order of time."""
    found: dict[Path, list[Path]] = {}
    for path in corpus.files(name):
        found.setdefault(path.parent, []).append(path)
    for folder in sorted(found)[:pages]:
        yield found[folder][-versions:]


@pytest.mark.skipif(not corpus.available(), reason=corpus.ABSENT)
@pytest.mark.parametrize("name", ["versions-fund", "versions-terms", "versions-news"])
def test_every_condition_is_judged_as_the_plain_definition_does(name: str) -> None:
    shortcuts = [Shortcuts(), Shortcuts(part_signatures=False), Shortcuts(facet_signatures=False)]
    fired = judged = 0
    for paths in histories(name, pages=4, versions=6):
        pages = [quire.encode(path) for path in paths]
        for taken in shortcuts:
            group = Group(pages.__getitem__)
            for sentinel in SENTINELS:
                group.install(sentinel, Version(0, pages[0].signatures), pages[0])
            for old, new in pairwise(range(len(pages))):
                version = Version(new, pages[new].signatures)
                outcomes = group.evaluate(version, PageReader(pages[new]), ABOUT, shortcuts=taken)
                group.accept(version, outcomes)
                for sentinel, outcome in zip(SENTINELS, outcomes, strict=True):
                    expected = evaluate_alone(sentinel, pages[old], pages[new], ABOUT)
                    assert (outcome.changed, outcome.fired) == (expected.changed, expected.fired), (
                        paths[new],
                        sentinel.name,
                        taken,
                    )
                    fired += outcome.fired
                    judged += 1

    assert judged > 0
    assert fired > 0
