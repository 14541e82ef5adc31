"""Short histories: the detector finds what the plain definitions find with all captures at hand."""

from __future__ import annotations

import math
import random

from hypothesis import given, settings
from hypothesis import strategies as st

import quire
from quire import Lifetimes, LpFragment
from quire.fragments import LifetimeDetector
from tests.fragments.history_oracle import Fragment, History, Part
from tests.fragments.test_matching import edited, section, sentence

HOUR = 3600.0


def drawn_history(drawn: random.Random) -> list[quire.Digest]:
    """Versions of a page with sections that come, go, move and change; sometimes an error page, or another page."""
    pieces = [section(drawn) for _ in range(drawn.randint(1, 5))]
    pages = []
    for _ in range(drawn.randint(1, 8)):
        if drawn.random() < 0.1:
            rows = "".join(f"<tr><td>failure {drawn.random()}" for _ in range(drawn.randint(1, 9)))
            pages.append(quire.encode(f"<title>Error</title><table>{rows}</table>".encode()))
            continue
        if drawn.random() < 0.1:  # a drastic change
            pieces = [f"<p>{sentence(drawn)}</p>" for _ in range(drawn.randint(1, 5))]
        elif drawn.random() < 0.8:
            pieces = edited(drawn, pieces)
        pages.append(quire.encode("".join(pieces).encode()))
    return pages


def changed_in(one: LpFragment) -> tuple[int, ...]:
    """The captures in which a fragment changed: a life ends with each, and with the fragment."""
    ends = [int(time / HOUR) for time in one.lives.until if math.isfinite(time)]
    return tuple(ends[:-1] if one.gone else ends)


def as_plain(found: Lifetimes, parts: list[Part]) -> list[Fragment]:
    """The fragments of a result in the form of the definitions; ``parts`` names them in order."""
    return [
        Fragment(
            part=parts[one.number],
            parent=None if one.parent is None else parts[one.parent],
            depth=one.depth,
            last=one.last,
            node=one.node,
            value_bytes=one.value_bytes,
            gone=one.gone,
            changed=changed_in(one),
            moves=one.moves,
        )
        for one in found.fragments
    ]


@settings(deadline=None)
@given(
    st.integers(0, 1_000_000), st.sampled_from([0.2, 0.5]), st.sampled_from([0.3, 0.5, 0.7, 1.0])
)
def test_the_fragments_of_a_history_are_those_of_the_plain_definitions(
    seed: int, min_overlap: float, child_change: float
) -> None:
    pages = drawn_history(random.Random(seed))
    detector = LifetimeDetector(min_overlap=min_overlap, child_change=child_change, min_bytes=30)
    for hour, page in enumerate(pages):
        detector.add((hour * HOUR, page))
    found = detector.lifetimes()

    history = History(pages, min_overlap, child_change, 30)
    expected = history.fragments()

    assert (list(found.kinds), list(found.bases)) == (history.kinds, history.bases)
    assert [one.first for one in found.fragments] == [one.part[0] for one in expected]
    assert as_plain(found, [one.part for one in expected]) == expected
    last = len(pages) - 1
    numbers = {one.part: number for number, one in enumerate(expected)}
    assert found.latest_fragment.tolist() == [
        numbers.get(history.part(last, node), -1) for node in range(history.trees[last].n)
    ]
