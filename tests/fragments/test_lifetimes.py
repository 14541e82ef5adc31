"""Lives of parts: what changed when, for whom, and how long it stayed."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire import Digest, Lifetimes, PageVersion, VersionOrderError, fragments, lifetimes
from quire.fragments import Lives, kaplan_meier
from tests.fragments import lp_oracle

HOUR = 3600.0
HOURS = "<ul><li>Mondays from nine to five<li>Fridays from nine to two<li>Never on Sundays</ul>"


def shop(fish: str = "cod", weather: str = "fair", extra: str = "", user: str = "you") -> Digest:
    """A page with parts that live at their own pace."""
    return quire.encode(
        f"""<header><p>The fish shop at the harbour</p><p>Good day to {user} and all of yours</p></header>
        <main>{HOURS}<p>Fish of the day is {fish}, as long as there is any</p>
        <p>The weather at sea is {weather}, says the harbour</p>{extra}</main>
        <footer>Written by the people who fish here</footer>""".encode()
    )


def hourly(pages: list[Digest]) -> list[tuple[float, Digest]]:
    return [(hour * HOUR, page) for hour, page in enumerate(pages)]


def by_path(found: Lifetimes, path: str) -> quire.LpFragment:
    (one,) = [one for one in found.parts if one.path.endswith(path)]
    return one


def test_lives_are_between_changes_and_censored_at_both_ends() -> None:
    fish = ["cod from the north", "hake", "hake", "ray", "ray", "ray", "ray"]
    found = lifetimes(
        hourly([shop(one, f"fair on day {day // 5}") for day, one in enumerate(fish)])
    )

    part = by_path(found, "p:nth-of-type(1)")
    assert part.changes == 2
    assert part.lives.seconds.tolist() == [HOUR, 2 * HOUR, 3 * HOUR]
    assert part.lives.at_least_s.tolist() == [0, HOUR, 3 * HOUR]
    assert part.lives.at_most_s.tolist() == [math.inf, 3 * HOUR, math.inf]
    assert (part.lives.begun.tolist(), part.lives.ended.tolist()) == (
        [False, True, True],
        [True, True, False],
    )
    weather = by_path(found, "p:nth-of-type(2)")
    assert (weather.changes, weather.lives.seconds.tolist()) == (1, [5 * HOUR, HOUR])
    assert part.change_rate == pytest.approx(2 / (6 * HOUR))
    # One life of an hour was seen from end to end: of two captures, so of less than an hour for all we know.
    assert (part.ttl_s(), weather.ttl_s()) == (0, 4 * HOUR)


def test_a_part_that_comes_and_goes_has_a_life_and_its_surroundings_change() -> None:
    note = "<p>Closed on the day of the regatta, as every year</p>"
    found = lifetimes(hourly([shop(), shop(extra=note), shop(extra=note), shop(), shop()]))

    part = by_path(found, "p:nth-of-type(3)")
    assert (part.first, part.last, part.gone, part.changes) == (1, 2, True, 0)
    assert part.lives.seconds.tolist() == [2 * HOUR]
    page = found.fragments[0]
    assert (page.parent, page.depth, page.changes) == (None, 1, 2)
    assert found.fragments[part.parent or 0] is page


def test_a_fragment_within_another_does_not_change_it() -> None:
    found = lifetimes(
        hourly(
            [shop(f"fish number {n}", extra="<div>" + HOURS * (n % 2) + "</div>") for n in range(6)]
        )
    )
    fish = by_path(found, "p:nth-of-type(1)")

    assert fish.changes == 5
    assert all(one.changes == 0 for one in found.parts if "footer" in one.path)


def test_what_differs_between_readers_is_private_unless_time_explains_it() -> None:
    versions = [
        PageVersion(0, shop("cod", user="Ann")),
        PageVersion(10, shop("cod", user="Bob"), "bob"),
        PageVersion(HOUR, shop("hake of the north", user="Ann")),
        PageVersion(HOUR + 10, shop("hake of the north", user="Bob"), "bob"),
        PageVersion(2 * HOUR, shop("hake of the north", user="Ann")),
        PageVersion(2 * HOUR + 10, shop("ray", user="Bob"), "bob"),
        PageVersion(3 * HOUR, shop("ray", user="Ann")),
    ]
    found = lifetimes(versions)

    assert by_path(found, "header > p:nth-of-type(2)").sharing == "private"
    assert by_path(found, "main > p:nth-of-type(1)").sharing == "shared"
    assert {one.sharing for one in lifetimes(versions[::2]).fragments} == {"unknown"}


def test_readers_of_the_same_time_are_compared_with_each_other() -> None:
    versions = [
        PageVersion(at * HOUR, shop(fish, user=user), user)
        for at, fish in enumerate(["cod", "hake of the north"])
        for user in ("Ann", "Bob")
    ]
    found = lifetimes(versions)

    assert by_path(found, "header > p:nth-of-type(2)").sharing == "private"
    assert by_path(found, "main > p:nth-of-type(1)").sharing == "shared"


def test_an_error_page_in_between_ends_no_life() -> None:
    error = quire.encode(b"<title>Oh</title><table><tr><td>502<td>Bad gateway</table>")
    found = lifetimes(hourly([shop("cod"), error, shop("cod"), shop("hake, mostly"), error]))

    assert found.kinds == (0, 1, 0, 0, 1)
    assert by_path(found, "main > p:nth-of-type(1)").lives.seconds.tolist() == [3 * HOUR, 0]
    assert len(found.pages) == 2
    assert found.verdicts == ("changed",) * 4


# ------------------------------------------------------------ volatile nodes and verdicts


def noisy(hour: int, text: str = "Open", link: str = "/menu") -> Digest:
    """A page that is another at every capture, though nobody sees it."""
    return quire.encode(
        f"""<head><script nonce=n{hour}>token({hour * 77})</script></head>
        <p>{text}</p><a href="mailto:{hour * 31:x}">Write</a><a href="{link}">Menu</a>""".encode()
    )


def test_what_changes_at_every_capture_is_found_and_left_out() -> None:
    pages = [noisy(hour) for hour in range(8)] + [noisy(8, "Closed"), noisy(9, "Closed", "/new")]
    found = lifetimes(hourly(pages))

    assert {(one.path, one.aspect, one.seen) for one in found.volatile} == {
        ("html > head > script", "attributes", False),
        ("html > head > script", "content", False),
        ("html > body > a:nth-of-type(1)", "links", True),
    }
    assert {(one.changes, one.captures) for one in found.volatile} == {(9, 9)}
    assert found.verdicts == ("unchanged",) * 7 + ("changed", "changed")
    assert found.plain_verdicts == ("changed",) * 9
    assert found.quiet == (True,) * 7 + (False, False)


def test_visible_text_that_changes_at_every_capture_is_never_hidden() -> None:
    found = lifetimes(hourly([noisy(hour, f"It is {hour} o'clock") for hour in range(9)]))

    assert ("content", True) in {(one.aspect, one.seen) for one in found.volatile}
    assert found.verdicts == ("changed",) * 8


def test_two_changes_are_no_habit() -> None:
    assert lifetimes(hourly([noisy(hour) for hour in range(3)])).volatile == ()


# ------------------------------------------------------------ bad input


def test_one_version_has_no_changes_and_a_life_without_ends() -> None:
    found = lifetimes([(HOUR, shop())])

    assert (len(found.fragments), found.parts, found.verdicts, found.depth) == (1, (), (), 1)
    assert (found.volatile, found.bases, found.curve().lives) == ((), (True,), 0)
    assert found.fragments[0].lives.at_most_s.tolist() == [math.inf]
    assert found.fragments[0].ttl_s() == math.inf


def test_identical_versions_are_the_same() -> None:
    found = lifetimes(hourly([shop()] * 5))

    assert (found.parts, found.verdicts, found.volatile) == ((), ("same",) * 4, ())
    assert found.fragments[0].lives.seconds.tolist() == [4 * HOUR]


def test_a_thousand_versions_are_followed() -> None:
    found = lifetimes(
        hourly([shop(f"fish number {n // 10} of many", f"wind of {n} knots") for n in range(1000)])
    )

    assert by_path(found, "main > p:nth-of-type(1)").changes == 99
    assert by_path(found, "main > p:nth-of-type(2)").changes == 999
    assert by_path(found, "main > p:nth-of-type(1)").ttl_s() == 9 * HOUR


def test_of_thousands_of_parts_the_first_are_named() -> None:
    pages = [
        quire.encode(
            "".join(
                f"<p>Number {n} of the list of many, at {hour * (n % 2)}" for n in range(2400)
            ).encode()
        )
        for hour in range(5)
    ]
    found = lifetimes(hourly(pages))

    assert len(found.parts) == len(found.volatile) == 1200
    assert [bool(one.path) for one in found.volatile] == [True] * 1000 + [False] * 200


@pytest.mark.parametrize("body", [b"", b" ", b"<!-- -->", b"<p></p>", b"<img src=a>"])
def test_empty_pages_have_lives_too(body: bytes) -> None:
    empty = quire.encode(body, kind="html")

    assert lifetimes(hourly([empty, empty, shop(), empty])).verdicts[0] == "same"


@pytest.mark.parametrize("times", [(0, 0), (5, 3), (1, 2, 2), (1, 3, 2)])
def test_times_that_do_not_ascend_are_refused(times: tuple[int, ...]) -> None:
    at = len(times) - 1
    with pytest.raises(
        VersionOrderError, match=rf"version {at}: captured at 1970-01-01T00:00:0"
    ) as caught:
        lifetimes([(time, shop()) for time in times])
    assert caught.value.version == at
    assert "ascend" in str(caught.value)


def test_other_nonsense_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="no versions"):
        lifetimes([])
    with pytest.raises(ValueError, match="min_bytes 0: expected at least 1"):
        lifetimes([], min_bytes=0)
    with pytest.raises(ValueError, match="version 0: nan is not a time"):
        lifetimes([(math.nan, shop())])
    with pytest.raises(ValueError, match="child_change 0: expected more than 0"):
        lifetimes([], child_change=0)


def test_times_without_a_zone_are_utc() -> None:
    naive, aware = datetime(2026, 1, 1), datetime(2026, 1, 1, 1, tzinfo=UTC)  # noqa: DTZ001 - the point
    assert lifetimes([(naive, shop()), (aware, shop())]).times.tolist()[1] == 1_767_229_200


# ------------------------------------------------------------ curves


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=12))
def test_curves_are_the_product_over_all_ends(lives: list[tuple[int, bool]]) -> None:
    curve = kaplan_meier([length for length, _ in lives], [ended for _, ended in lives])

    for at in range(8):
        assert curve.at(at) == pytest.approx(lp_oracle.kaplan_meier(lives, at))
    assert (curve.lives, curve.ended) == (len(lives), sum(ended for _, ended in lives))
    if lives and all(ended for _, ended in lives):
        assert curve.quantile(0.5) == sorted(length for length, _ in lives)[(len(lives) - 1) // 2]


def test_a_curve_of_censored_lives_finds_the_rate_that_made_them() -> None:
    drawn = np.random.default_rng(5)
    lives, limits = drawn.exponential(100, 20_000), drawn.uniform(0, 300, 20_000)
    curve = kaplan_meier(np.minimum(lives, limits), lives <= limits)

    for at in (20, 100, 200):
        assert curve.at(at) == pytest.approx(1 - math.exp(-at / 100), abs=0.015)


def test_lives_without_a_beginning_are_left_out_of_curves() -> None:
    lives = Lives(
        *(np.array(column) for column in ([-np.inf, 0.0], [0.0, 9.0], [5.0, 12.0], [9.0, 15.0]))
    )

    assert (lives.curve().lives, lives.curve().seconds.tolist()) == (1, [6.0])
    with pytest.raises(ValueError, match="2 lengths and 1 ends"):
        kaplan_meier([1, 2], [True])
    with pytest.raises(ValueError, match="life of -1 s: expected 0 or more"):
        kaplan_meier([-1], [True])
    with pytest.raises(ValueError, match="share 2: expected 0 to 1"):
        lives.curve().quantile(2)


# ------------------------------------------------------------ random histories and real pages


@given(st.integers(0, 100_000))
def test_of_any_history_the_lives_of_a_fragment_follow_each_other(seed: int) -> None:
    drawn = random.Random(seed)
    pages = [
        shop(
            drawn.choice(["cod", "hake and ling", "a ray of unusual size"]),
            drawn.choice(["fair", "foul, with rain from the west"]),
            "".join(
                f"<section>{HOURS}<p>note {drawn.randint(0, 3)} of the harbour master</p></section>"
                for _ in range(drawn.randint(0, 2))
            ),
        )
        for _ in range(drawn.randint(1, 7))
    ]
    found = lifetimes(hourly(pages), child_change=drawn.choice([0.3, 0.7, 1.0]))

    for one in found.fragments:
        lives = one.lives
        assert len(lives) == one.changes + 1
        assert (lives.until[:-1] == lives.first[1:]).all()
        assert (lives.after < lives.first).all()
        assert (lives.first <= lives.last).all()
        assert (lives.last < lives.until).all()
        assert lives.ended.tolist() == [True] * one.changes + [one.gone]
        assert one.parent is None or found.fragments[one.parent].depth == one.depth - 1


@pytest.mark.parametrize(
    "name", ["Open_Collective/Privacy_Policy", "Microsoft_Copilot/Privacy_Policy"]
)
def test_on_real_terms_noise_is_left_out_and_nothing_visible_hidden(
    corpus_files: Callable[[str], list[Path]], name: str
) -> None:
    files = [file for file in corpus_files("versions-terms") if name in file.as_posix()][-25:]
    pages = [quire.encode(file.read_bytes(), kind="html") for file in files]
    found = lifetimes(hourly(pages))

    hidden = ["changed" if a.text() != b.text() else "unchanged" for a, b in pairwise(pages)]
    assert list(found.verdicts) == hidden
    assert set(found.plain_verdicts) == {"changed"}


# ------------------------------------------------------------ old names


@pytest.mark.parametrize(
    ("old", "new"),
    [("Place", "ChangedAspect"), ("RestlessNode", "VolatileNode"), ("Verdict", "VersionVerdict")],
)
def test_old_names_of_the_package_still_work_and_warn(old: str, new: str) -> None:
    with pytest.warns(
        DeprecationWarning, match=rf"quire\.fragments\.{old} is deprecated: use .*{new}$"
    ):
        assert getattr(fragments, old) is getattr(fragments, new)
    assert old not in fragments.__all__


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("restless", "volatile"),
        ("retellings", "text_changes"),
        ("rewritings", "source_changes"),
    ],
)
def test_old_attributes_of_lifetimes_still_work_and_warn(old: str, new: str) -> None:
    found = lifetimes(hourly([noisy(hour) for hour in range(9)]))

    with pytest.warns(DeprecationWarning, match=rf"{old} is deprecated: use Lifetimes\.{new}$"):
        assert getattr(found, old) is getattr(found, new)
    with pytest.warns(DeprecationWarning, match=r"place is deprecated: use VolatileNode\.aspect$"):
        assert found.volatile[0].place == found.volatile[0].aspect


def test_a_name_that_never_was_is_still_missing() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Restless'"):
        _ = fragments.Restless
