"""Parts that no cache may keep are cut out of a page, so that the rest of it can be kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from quire.fragments import Manifest, plan_fragments, verify, write_composition
from quire.fragments.collected import Collection, Seen
from quire.fragments.measuring import measure_policies
from quire.fragments.plan import SourcePage
from quire.fragments.setting_apart import parts_apart, set_apart, take_back
from quire.fragments.watching import all_lifetimes
from tests.fragments.test_measuring import captured


def nothing(step: str, done: int, of: int) -> None:
    """Nobody listens."""


def apart(captures: list[Seen], folder: Path) -> tuple[Manifest, list[bytes]]:
    """What comes of pages, and the fragments that are cut out of them."""
    with Collection(captures) as site:
        latest = [
            SourcePage(page.name, page.url, site.source(page.versions[-1])) for page in site.pages
        ]
        lives = all_lifetimes(site, nothing, min_bytes=1)
        with plan_fragments(latest) as plan:
            keys = set_apart(plan, parts_apart(site, lives, nothing))
            for _ in range(2):
                found = measure_policies(plan, site, lives)
                plan.policies, plan.page_policies = found.fragments, found.pages
                take_back(plan, keys)
                keys = {}
            manifest = write_composition(plan, folder)
    assert verify(folder).unequal == 0
    cut = [(folder / "fragments" / f"{one.file}.html").read_bytes() for one in manifest.fragments]
    return manifest, sorted(cut)


def shop(reader: str, hour: int) -> str:
    """A page with a greeting, a clock, and news that come every other hour."""
    return (
        "<header><h1>The fish shop at the harbour</h1>"
        f"<p>Welcome back, {reader or 'stranger'}</p></header>"
        f"<main><p>It is {hour} o'clock</p><p>News number {hour // 5} of the market and its boats</p></main>"
        "<footer>Open from six until noon, every day but Monday</footer>"
    )


def test_a_greeting_and_a_clock_are_cut_out_and_the_rest_is_for_all(tmp_path: Path) -> None:
    captures = [
        captured("shop", hour, shop(reader, hour), reader)
        for hour in range(16)
        for reader in ("", "mary")
    ]
    manifest, cut = apart(captures, tmp_path / "esi")

    assert cut == [b"<p>It is 15 o'clock</p>", b"<p>Welcome back, stranger</p>"]
    (page,) = manifest.pages
    assert (page.policy.sharing, page.is_personal) == ("shared", True)
    assert page.policy.reason == "measured: 10 % change within 4 h"
    assert sorted((one.policy.sharing, one.policy.ttl_s) for one in manifest.fragments) == [
        ("private", 0),
        ("shared", 0),
    ]


def test_the_smallest_part_will_do(tmp_path: Path) -> None:
    """A box whose text changes with what is in it needs not go as a whole."""

    def page(hour: int) -> str:
        clock = f"<p>It is {hour} o'clock, said the clock of the harbour to the boats</p>"
        return f"<section><h2>The market by the harbour</h2>{clock}<p>Fish, chips and peas</p></section><p>Foot"

    manifest, cut = apart([captured("a", hour, page(hour)) for hour in range(8)], tmp_path / "esi")

    assert [part[:9] for part in cut] == [b"<p>It is "]
    assert manifest.pages[0].policy.is_cached


@pytest.mark.parametrize(
    "page",
    [
        # A token where no part is: what is left could not be kept all the same.
        lambda hour: f"<body data-token={hour * 7919}><p>It is {hour} o'clock</p><p>Fish and chips",
        # All of it changes.
        lambda hour: f"<p>It is {hour} o'clock",
        # Nothing does.
        lambda hour: f"<p>Fish</p><p>and chips{hour // 100}</p>",
        # What a cache would execute must not be cut.
        lambda hour: f"<p>It is {hour} o'clock</p><esi:remove>x</esi:remove><p>Fish and chips",
    ],
)
def test_where_it_does_not_help_nothing_is_cut_out(
    page: Callable[[int], str], tmp_path: Path
) -> None:
    manifest, cut = apart([captured("a", hour, page(hour)) for hour in range(8)], tmp_path / "esi")

    assert cut == []
    assert manifest.pages[0].folder == "whole"


def test_pages_with_one_capture_are_left_as_they_are(tmp_path: Path) -> None:
    manifest, cut = apart([captured("a", 0, shop("", 0))], tmp_path / "esi")

    assert cut == []
    assert manifest.pages[0].policy.reason == "no history: default"
