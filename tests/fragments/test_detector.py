"""Captures one at a time: answers on the way change no later ones, and the cost does not grow.

``lifetimes`` is a loop over ``LifetimeDetector.add``, so here the two are only compared with each other. What fragments should be is in ``test_histories``.
"""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quire
from quire.errors import VersionOrderError
from quire.fragments import LifetimeDetector, Lifetimes, PageVersion, lifetimes
from quire.fragments.lifetime.matching import Matching, match_versions
from quire.fragments.lifetime.tracking import MOST_KINDS

HOUR = 3600.0


def plain(value: object) -> object:
    """A result as plain values that can be compared."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if dataclasses.is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    return value


def same(one: Lifetimes, other: Lifetimes) -> bool:
    return plain(one) == plain(other)


def drawn_captures(drawn: random.Random) -> list[PageVersion]:
    """A page with stories, a clock and a token; sometimes an error page, and another user."""
    stories = [f"Story {n} of the harbour, told in {n * 31} words and more" for n in range(5)]
    user, steady = "", drawn.randint(1, 9)
    captures = []
    time = 0.0
    for number in range(drawn.randint(1, 14)):
        time += HOUR * drawn.choice([1, 1, 1, 2, 50])
        # The clock changes at every capture until it stops: volatile first, and then not.
        clock = min(number, steady)
        if drawn.random() < 0.5:
            stories.insert(
                0, f"Story {drawn.randint(9, 999)} arrived, with {number} pictures of boats"
            )
        if len(stories) > 1 and drawn.random() < 0.3:
            stories.pop()
        if drawn.random() < 0.2:
            drawn.shuffle(stories)
        for user in ("", "mary") if drawn.random() < 0.3 else ("",):
            items = "".join(f"<li>{story}</li>" for story in stories)
            html = (
                f"<header>Good day, {user or 'reader'}, at the harbour shop of the town</header>"
                f"<p title=t{clock}>Clock shows {clock} and it is fine here</p><ul>{items}</ul>"
            )
            if drawn.random() < 0.1:
                html = f"<title>Error {drawn.randint(1, 12)}</title>" + "<br>".join(
                    f"failure {drawn.random()}" for _ in range(drawn.randint(1, 30))
                )
            captures.append(PageVersion(time + 5 * bool(user), quire.encode(html.encode()), user))
    return captures


@settings(deadline=None)
@given(st.integers(0, 1_000_000), st.floats(0, 1))
def test_every_step_has_the_answer_of_all_captures_at_once(seed: int, asked: float) -> None:
    """Answers on the way must not disturb later ones."""
    drawn = random.Random(seed)
    captures = drawn_captures(drawn)
    detector = LifetimeDetector()
    for count, capture in enumerate(captures, 1):
        update = detector.add(capture)
        if drawn.random() < asked or count == len(captures):
            expected = lifetimes(captures[:count])
            assert same(detector.lifetimes(), expected)
            if update is not None:
                shown = np.flatnonzero(expected.latest_fragment >= 0).tolist()
                assert update.fragments.tolist() == shown
                assert update.version == len(expected.times) - 1
                assert (update.kind, update.is_base) == (expected.kinds[-1], expected.bases[-1])


def shop(fish: str, extra: str = "") -> quire.Digest:
    hours = "<ul><li>Mondays from nine to five<li>Fridays from nine to two</ul>"
    return quire.encode(
        f"<h1>The fish shop</h1>{hours}<p>Fish of the day: {fish}</p>{extra}".encode()
    )


def test_an_update_names_the_parts_that_changed_and_they_keep_their_numbers() -> None:
    detector = LifetimeDetector()
    first = detector.add((0, shop("cod from the boat of Mary")))
    second = detector.add((1, shop("hake, caught off the island")))
    third = detector.add((2, shop("hake, caught off the island")))
    fourth = detector.add((3, shop("ray, which came by the train")))
    assert first is not None
    assert second is not None
    assert third is not None
    assert fourth is not None

    fish = int(first.part[-1])
    assert [one.changed.tolist() for one in (first, second, third, fourth)] == [
        [],
        [fish],
        [],
        [fish],
    ]
    assert [one.new_fragments for one in (first, second, third, fourth)] == [(), (fish,), (), ()]
    assert fourth.part.tolist() == first.part.tolist()
    assert fourth.part[fourth.fragments].tolist() == [int(first.part[0]), fish]


def test_another_user_has_no_update_and_is_compared() -> None:
    detector = LifetimeDetector()
    detector.add((0, shop("cod from the boat of Mary")))

    assert detector.add(PageVersion(1, shop("hake, caught off the island"), "mary")) is None
    detector.add((2, shop("cod from the boat of Mary")))
    assert [one.sharing for one in detector.lifetimes().parts] == ["private"]


def test_a_capture_is_compared_with_no_more_than_two_and_few_are_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = []

    def counted(*given: object) -> Matching:
        compared.append(given)
        return match_versions(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("quire.fragments.lifetime.tracking.match_versions", counted)
    detector = LifetimeDetector()
    for hour in range(60):
        compared.clear()
        # Every other capture is an error page of its own kind.
        other = quire.encode(
            b"<table>" + b"<tr><td>failure %d" % hour**5 * (1 + hour) + b"</table>"
        )
        page = shop(f"number {hour} of many kinds of fish") if hour % 2 else other
        detector.add((hour * HOUR, page))
        assert len(compared) <= 2
    assert len(detector._record.tracker.kinds) <= MOST_KINDS


def test_captures_out_of_order_and_no_captures_are_named() -> None:
    detector = LifetimeDetector()
    with pytest.raises(ValueError, match="no versions: expected at least one version of the page"):
        detector.lifetimes()
    detector.add((5, shop("cod")))
    with pytest.raises(VersionOrderError):
        detector.add((4, shop("cod")))
    with pytest.raises(ValueError, match="min_bytes 0: expected at least 1"):
        LifetimeDetector(min_bytes=0)
