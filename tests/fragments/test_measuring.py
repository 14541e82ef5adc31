"""Policies that are measured: what versions and readers tell of the files of a plan."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from quire.fragments import Manifest, PlanRules
from quire.fragments.caching.region_history import PRIVATE
from quire.fragments.caching.site_plan import Keeping, plan_site
from quire.fragments.esi.composition import Composition
from quire.fragments.site.collection import Collection, Seen
from quire.fragments.site.site_lifetimes import all_lifetimes
from quire.sources.capture import Capture

START = datetime(2026, 5, 17, 6, tzinfo=UTC)
MENU = "<nav>" + "".join(f"<a href=/{n}>Entry number {n}</a> " for n in range(20)) + "</nav>"
PAGES = ("fish", "chips", "peas")


def captured(page: str, hour: int, body: str, reader: str = "") -> Seen:
    url = f"https://a.example/{page}"
    capture = Capture(f"{url} {hour}", url, START + timedelta(hours=hour), b"", body.encode())
    return Seen(capture, url, reader)


def manifest_of(captures: list[Seen], *, depth: int = 1) -> Manifest:
    rules = PlanRules(min_bytes=100, max_depth=depth)
    with Collection(captures) as site:
        plan = plan_site(site, rules=rules, keeping=Keeping(apart=False))
    return Composition.of(plan).manifest


def news(hour: int, every: int) -> str:
    item = f"News number {hour // every} of the harbour, the market and the boats. " * 3
    return f"<aside>{item}</aside>"


def page(name: str, hour: int, teaser: str = "", token: str = "") -> str:
    about = f"All that there is to say about {name}, in one line of some length."
    return (
        f"<main><h1 {token}>{name}</h1><p>{about}</p>{MENU}{teaser}<p>Hour {hour // 100}</p></main>"
    )


def fragments(manifest: Manifest, body: str) -> dict[str, tuple[int, str, str]]:
    """What is said of fragments, by their tags in the first page."""
    return {
        body[one.first_offset :].split(">", maxsplit=1)[0].split(maxsplit=1)[0]: (
            one.policy.ttl_s,
            one.policy.sharing,
            one.policy.why,
        )
        for one in manifest.fragments
    }


def test_a_fragment_is_kept_as_long_as_it_lives_and_the_page_around_it_by_itself() -> None:
    captures = [
        captured(name, hour, page(name, hour, news(hour, 6)))
        for hour in range(25)
        for name in PAGES
    ]
    manifest = manifest_of(captures)
    last = page(PAGES[0], 24, news(24, 6))

    assert fragments(manifest, last) == {
        "<nav": (8600, "unknown", "measured: no change in 1 d"),
        "<aside": (18_000, "unknown", "measured: 10 % change within 5 h"),
    }
    assert {one.policy.why for one in manifest.pages} == {"measured: no change in 1 d"}


def test_what_nobody_sees_ends_a_life_too() -> None:
    """A token in an attribute is no change of text, and other bytes all the same."""
    captures = [
        captured(name, hour, page(name, hour, f"<aside data-t={hour}>{news(0, 6)}</aside>"))
        for hour in range(8)
        for name in PAGES
    ]
    manifest = manifest_of(captures)
    last = page(PAGES[0], 7, f"<aside data-t=7>{news(0, 6)}</aside>")

    found = fragments(manifest, last)
    assert found["<aside"][0] == 0
    assert found["<aside"][2] == "measured: 100 % change between two captures, 1 h apart"
    assert found["<nav"][2] == "measured: no change in 7 h"
    assert {one.policy.why for one in manifest.pages} == {"measured: no change in 7 h"}


def test_a_page_with_a_token_is_not_kept_but_its_menu_is() -> None:
    captures = [
        captured(name, hour, page(name, hour, token=f"data-token={hour * 7919}"))
        for hour in range(8)
        for name in PAGES
    ]
    manifest = manifest_of(captures)

    assert {one.policy.ttl_s for one in manifest.pages} == {0}
    assert [one.policy.why for one in manifest.fragments] == ["measured: no change in 7 h"]


def test_a_script_that_stays_is_kept_though_all_around_it_changes() -> None:
    """Elements without text are in no tree of parts: they are told by their bytes alone."""
    script = f"<script>{'work(); ' * 40}</script>"
    captures = [
        captured(
            name, hour, f"<head data-n={name}{hour}>{script}</head><p>{name} for everybody</p>"
        )
        for hour in range(8)
        for name in PAGES
    ]
    manifest = manifest_of(captures)

    assert [one.policy.why for one in manifest.fragments] == ["measured: no change in 7 h"]
    assert {one.policy.ttl_s for one in manifest.pages} == {0}


# What is in the place of another need not be like it: other words, another element, deeper.
@pytest.mark.parametrize(
    "teaser",
    [
        "<aside>{}</aside>",
        "<{tag}>{}</{tag}>",
        "<{tag}><b>{}</b></{tag}><hr>",
        "<div>{filler}<{tag}><ul><li>{}</ul></{tag}></div>",
    ],
)
@pytest.mark.parametrize("around", ["<main>{}</main>", "<main>{}<p>{words}</p></main>"])
def test_what_is_new_at_every_capture_is_not_kept(teaser: str, around: str) -> None:
    def words(hour: int, count: int) -> str:
        return " ".join(f"word{hour}x{n}" for n in range(count))

    def at(name: str, hour: int) -> str:
        tag = ("aside", "section", "article", "nav")[hour % 4]
        filler = "<p>x</p>" * (hour % 3)
        inside = teaser.format(words(hour, 40), tag=tag, filler=filler)
        return around.format(f"<h1>{name}</h1>{inside}", words=words(hour, 80) + name)

    captures = [captured(name, hour, at(name, hour)) for hour in range(9) for name in PAGES]
    manifest = manifest_of(captures)

    assert manifest.fragments
    assert {one.policy.ttl_s for one in manifest.fragments} == {0}


def test_what_is_on_pages_that_are_never_alike_is_not_kept_but_what_stays_there_is() -> None:
    def at(name: str, hour: int) -> str:
        rows = "".join(
            f"<x-{hour}><y-{hour} z-{n}>word{hour}x{n}</y-{hour}></x-{hour}>" for n in range(200)
        )
        return f"<h1>{name}</h1>{MENU}<w-{hour}>{rows}</w-{hour}>"

    captures = [captured(name, hour, at(name, hour)) for hour in range(8) for name in PAGES]
    with Collection(captures) as site:
        assert all(
            len(set(one.kinds)) == 8 for one in all_lifetimes(site, lambda *_: None).values()
        )
    found = {one.length: one.policy for one in manifest_of(captures, depth=2).fragments}

    assert found[len(MENU)].why == "measured: no change in 7 h"
    assert {one.ttl_s for length, one in found.items() if length != len(MENU)} == {0}


def test_fragments_in_fragments_have_lives_of_their_own() -> None:
    """On two pages the menu is in a box that other pages do not have."""
    captures = []
    for hour in range(10):
        box = f"<section><h2>{'Prices of the day ' * 12}{hour}</h2>{MENU}</section>"
        captures += [
            captured(name, hour, f"<p>{name}</p>{box if name in PAGES else MENU}")
            for name in (*PAGES, "more", "other", "last")
        ]
    manifest = manifest_of(captures, depth=2)

    by_folder = {one.folder: one.policy for one in manifest.fragments}
    assert by_folder["templates"].ttl_s == 0
    assert by_folder["fragments"].why == "measured: no change in 9 h"


def test_without_versions_all_is_kept_as_by_default() -> None:
    manifest = manifest_of([captured(name, 0, page(name, 0)) for name in PAGES])

    assert {one.policy.why for one in manifest.fragments} == {"default: no history"}
    assert {one.policy.why for one in manifest.pages} == {"default: no history"}


def test_the_pages_of_a_fragment_tell_of_it_together() -> None:
    """One page was seen to change it; that it has no history elsewhere does not hide that."""
    captures = [captured("fish", hour, page("fish", hour, news(hour, 4))) for hour in range(13)]
    captures += [captured(name, 12, page(name, 12, news(12, 4))) for name in ("chips", "peas")]
    manifest = manifest_of(captures)

    found = fragments(manifest, page("fish", 12, news(12, 4)))
    assert found["<aside"] == (10_800, "unknown", "measured: 10 % change within 3 h")


def greeting(reader: str) -> str:
    return f"<aside>{f'Welcome back, {reader}, to the harbour and its market. ' * 3}</aside>"


@pytest.mark.parametrize("timed", [True, False])
def test_what_readers_get_differently_is_private_and_the_rest_is_shared(*, timed: bool) -> None:
    captures = []
    for reader in ("", "mary", "bob"):
        for name in PAGES:
            one = captured(name, 3, page(name, 3, greeting(reader)), reader)
            capture = one.capture if timed else Capture(name, name, None, b"", one.capture.body)
            captures.append(one._replace(capture=capture))
    manifest = manifest_of(captures)

    assert len(manifest.pages) == len(PAGES)
    found = fragments(manifest, page(PAGES[0], 3, greeting("")))
    assert found["<aside"] == (0, "private", f"measured: {PRIVATE}")
    assert found["<nav"] == (3600, "shared", "default: no history")
    assert {(one.policy.sharing, one.is_personal) for one in manifest.pages} == {("shared", True)}


def test_a_token_for_each_reader_is_private_though_its_text_is_the_same() -> None:
    captures = [
        captured(name, 3, page(name, 3, f"<aside data-t='{reader}'>{news(0, 6)}</aside>"), reader)
        for reader in ("", "mary")
        for name in PAGES
    ]
    manifest = manifest_of(captures)

    found = fragments(manifest, page(PAGES[0], 3, f"<aside data-t=''>{news(0, 6)}</aside>"))
    assert found["<aside"][1] == "private"


def test_time_explains_what_differs_where_it_can() -> None:
    """Another reader came an hour later, and the news had changed for everybody."""
    captures = [
        captured(name, hour, page(name, hour, news(hour, 1)), "mary" if hour == 1 else "")
        for hour in range(3)
        for name in PAGES
    ]
    manifest = manifest_of(captures)

    found = fragments(manifest, page(PAGES[0], 2, news(2, 1)))
    assert found["<aside"][1] == "unknown"
    assert found["<nav"][1] == "shared"


def test_a_form_to_log_in_is_no_version_of_a_page() -> None:
    captures = [captured(name, 3, page(name, 3)) for name in PAGES]
    form = "<form><label>Name<input></label><label>Password<input></label><button>Enter</button></form>"
    captures += [captured(name, 3, form, "stranger") for name in PAGES]
    manifest = manifest_of(captures)

    assert {one.policy.sharing for one in manifest.pages} == {"unknown"}
    assert {one.policy.sharing for one in manifest.fragments} == {"unknown"}
