"""Parts that no cache may keep are cut out of a page, so that the rest of it can be kept."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.fragments import Manifest, PlanRules, plan_fragments, verify, write_composition
from quire.fragments.caching.site_plan import plan_site
from quire.fragments.site.collection import Collection, Seen
from tests.fragments.hostile import bodies, pages_of
from tests.fragments.test_measuring import MENU, captured


def apart(captures: list[Seen], folder: Path) -> tuple[Manifest, list[bytes]]:
    """What comes of pages, and the fragments that are cut out of them."""
    with Collection(captures) as site, plan_site(site) as plan:
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
    assert page.policy.why == "measured: 10 % change within 4 h"
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


def test_tokens_that_nobody_sees_are_set_apart_too(tmp_path: Path) -> None:
    def page(hour: int) -> str:
        token = f"<script nonce=n{hour * 7919}>start({hour * 31})</script>"
        form = f"<form><input name=token value={hour * 101}><button>Send it to the harbour</button></form>"
        return f"<head>{token}<title>Fish</title></head><h1>The fish shop at the harbour</h1>{form}<p>Open</p>"

    manifest, cut = apart([captured("a", hour, page(hour)) for hour in range(8)], tmp_path / "esi")

    assert [part[:14] for part in cut] == [b"<input name=to", b"<script nonce="]
    assert {one.policy.ttl_s for one in manifest.fragments} == {0}
    assert manifest.pages[0].policy.why == "measured: no change in 7 h"


def test_what_is_most_of_a_page_is_not_set_apart_from_it(tmp_path: Path) -> None:
    def page(hour: int) -> str:
        return f"<p>Fish</p><div data-token={hour * 7919}><h1>All of it</h1><p>{'and more ' * 30}</p></div>"

    manifest, cut = apart([captured("a", hour, page(hour)) for hour in range(8)], tmp_path / "esi")

    assert cut == []
    assert manifest.pages[0].policy.ttl_s == 0


def test_pages_with_one_capture_are_left_as_they_are(tmp_path: Path) -> None:
    manifest, cut = apart([captured("a", 0, shop("", 0))], tmp_path / "esi")

    assert cut == []
    assert manifest.pages[0].policy.why == "default: no history"


def test_a_greeting_in_a_header_that_all_pages_have_is_cut_out_of_it(tmp_path: Path) -> None:
    """The header is the same on all pages, for one reader; the menu in it is for all of them."""

    def page(name: str, reader: str) -> str:
        return f"<header>{MENU}<p>Welcome back, {reader or 'stranger'}</p></header><h1>All about {name}</h1>"

    captures = [
        captured(name, 0, page(name, reader), reader)
        for name in ("fish", "chips", "peas")
        for reader in ("", "mary")
    ]
    # Nobody fetched this one for Mary.
    captures.append(captured("more", 0, page("more", "")))
    manifest, cut = apart(captures, tmp_path / "esi")

    assert cut == [MENU.encode(), b"<p>Welcome back, stranger</p>"]
    assert {one.policy.sharing for one in manifest.fragments} == {"shared", "private"}
    assert [one.is_personal for one in manifest.pages] == [True, True, True, False]
    assert [one.policy.sharing for one in manifest.pages] == ["shared"] * 3 + ["unknown"]


@settings(max_examples=60)
@given(bodies, st.sampled_from([1, 2, 5]), st.randoms(use_true_random=False))
def test_whatever_is_set_apart_every_page_comes_together_again(
    sources: list[bytes], depth: int, draw: Random
) -> None:
    """Parts may be anywhere: across the ends of elements, in comments, of no bytes to speak of."""
    spans = {}
    for place, source in enumerate(sources):
        edges = sorted({draw.randint(0, len(source)) for _ in range(6)})
        spans[place] = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=False) if a < b]
    rules = PlanRules(min_bytes=100, max_depth=depth)
    with tempfile.TemporaryDirectory() as folder:
        with plan_fragments(pages_of(sources), rules=rules, apart=spans) as plan:
            write_composition(plan, Path(folder, "esi"))
        found = verify(Path(folder, "esi"))

    assert found.unequal == 0
    assert found.pages == len(sources) == found.equal + found.refused
