"""What changes or is for one reader is kept by no cache, whatever else a page does: the safe side of measured policies."""

from __future__ import annotations

import pytest

from quire.fragments import Manifest, PlanRules, SourcePage, plan_fragments
from quire.fragments.caching.outline import outline
from quire.fragments.caching.region import regions_of
from quire.fragments.caching.site_plan import plan_site
from quire.fragments.cuts.includes import name_of
from quire.fragments.esi.composition import Composition
from quire.fragments.site.collection import Collection, Seen
from quire.fragments.site.site_lifetimes import page_lifetimes
from tests.fragments.test_measuring import MENU, PAGES, captured

FOOT = "<footer>Some words at the end of the page, which stay as they are</footer>"


def manifest_of(captures: list[Seen]) -> Manifest:
    with Collection(captures) as site:
        return Composition.of(plan_site(site, rules=PlanRules(min_bytes=100))).manifest


# Extra dashes, raw brackets: what is behind them cannot be cut out, and so it is in the template.
@pytest.mark.parametrize("hazard", ["<!-- greeting --->", "<p>1 < 2", "<![CDATA[ x ]]]>"])
def test_a_part_for_one_reader_that_a_hazard_keeps_in_its_page_makes_the_page_private(
    hazard: str,
) -> None:
    manifest = manifest_of(
        [
            captured(
                name,
                3,
                f"<h1>{name}</h1>{MENU}<p>Text of {name}</p>{hazard}<p>Parcel 77 is on its way to {reader or 'nobody'}</p>{FOOT}",
                reader,
            )
            for reader in ("", "mary", "bob")
            for name in PAGES
        ]
    )

    assert {(page.policy.sharing, page.policy.ttl_s) for page in manifest.pages} == {("private", 0)}
    assert all(page.is_personal for page in manifest.pages)


def test_a_clock_that_a_hazard_keeps_in_its_page_is_not_kept_with_it() -> None:
    manifest = manifest_of(
        [
            captured(
                name,
                hour,
                f"<h1>{name}</h1>{MENU}<!-- now ---><p>It is {hour} hours and {hour**2} minutes</p>{FOOT}",
            )
            for hour in range(12)
            for name in PAGES
        ]
    )

    assert {page.policy.ttl_s for page in manifest.pages} == {0}


def test_what_comes_and_goes_beside_a_part_that_is_set_apart_changes_the_page() -> None:
    manifest = manifest_of(
        [
            captured(
                name,
                hour,
                f"<h1>{name}</h1>{MENU}<p>It is {hour} hours and {hour**2} minutes</p>"
                + (f"<p class=warning>Storm warning {hour * 7} for {name}</p>" if hour % 2 else "")
                + FOOT,
            )
            for hour in range(12)
            for name in PAGES
        ]
    )

    assert {page.policy.ttl_s for page in manifest.pages} == {0}


def test_what_readers_get_beside_a_part_that_all_get_makes_the_page_private() -> None:
    form = "<form><input type=hidden name=token value={}></form>"
    manifest = manifest_of(
        [
            captured(
                name,
                3,
                f"<h1>{name}</h1>{MENU}{form.format(reader + name) if reader else ''}<p>Text of {name}</p>{FOOT}",
                reader,
            )
            for reader in ("", "mary", "bob")
            for name in PAGES
        ]
    )

    assert {page.policy.sharing for page in manifest.pages} == {"private"}
    assert {one.policy.sharing for one in manifest.fragments} == {"shared"}


def test_a_part_that_is_for_one_reader_on_the_last_of_many_pages_is_private() -> None:
    basket = f"<aside>{'Your basket is empty. ' * 12}</aside>"
    manifest = manifest_of(
        [
            captured(
                f"page{number}",
                3,
                f"<h1>Page {number}</h1>"
                + (basket.replace("empty", "full") if reader and number > 104 else basket)
                + f"<p>Text of page {number}, a line of its own</p>",
                reader,
            )
            for reader in ("", "mary")
            for number in range(110)
        ]
    )

    assert [one.policy.sharing for one in manifest.fragments] == ["private"]
    assert all(page.is_personal for page in manifest.pages)


def test_what_one_reader_was_never_seen_with_is_not_for_all() -> None:
    """Her picture was another one before the news changed; only somebody else was seen afterwards."""

    def at(hour: int, face: str) -> str:
        return f"{MENU}<div><img src=/face/{face}><p>News of part {hour // 6} of the day</p></div>{FOOT}"

    captures = [captured(name, hour, at(hour, "none")) for hour in range(9) for name in PAGES]
    captures += [
        captured(name, hour, at(hour, "mary"), "mary") for hour in range(6) for name in PAGES
    ]
    captures += [captured(name, 7, at(7, "none"), "bob") for name in PAGES]
    manifest = manifest_of(captures)

    assert "shared" not in {page.policy.sharing for page in manifest.pages}
    assert {one.policy.sharing for one in manifest.fragments if one.length < len(MENU)} <= {
        "private",
        "unknown",
    }


def test_a_page_that_is_another_for_one_reader_is_not_for_all() -> None:
    captures = [
        captured(name, hour, f"<h1>{name}</h1>{MENU}<p>Welcome to the harbour</p>{FOOT}", reader)
        for hour in range(6)
        for reader in ("", "bob")
        for name in PAGES
    ]
    board = f"<main><table>{''.join(f'<tr><td>Order {n}<td>{n * 7} boxes' for n in range(30))}</table></main>"
    captures += [captured(name, hour, board, "mary") for hour in range(6) for name in PAGES]
    manifest = manifest_of(captures)

    assert {page.policy.sharing for page in manifest.pages} == {"unknown"}
    assert {one.policy.sharing for one in manifest.fragments} == {"unknown"}


def test_a_page_that_is_of_another_kind_every_other_hour_is_not_kept() -> None:
    warning = "<div>Storm warning for the harbour and all of the boats in it tonight</div>"
    captures = [
        captured(
            "a", hour, f"<h1>Harbour</h1>{warning if hour % 2 else ''}<p>Open from six</p>{FOOT}"
        )
        for hour in range(48)
    ]
    with Collection(captures) as site:
        assert len(set(page_lifetimes(site, site.pages[0]).kinds)) == 2
    manifest = manifest_of(captures)

    assert {page.policy.ttl_s for page in manifest.pages} == {0}


def test_a_slot_that_changes_among_what_stays_on_the_page_is_seen_to_change() -> None:
    """The tip of the hour, above a list of all tips: its bytes are on the page at any hour."""
    tips = [f"<section>{f'Tip number {n} of six for cooks. ' * 9}</section>" for n in range(6)]
    pages = [
        SourcePage(name, name, f"<h1>{name}</h1><div>{tip}</div><hr>{name}{''.join(tips)}".encode())
        for name, tip in (("fish", tips[0]), ("peas", tips[0]), ("chips", tips[1]))
    ]
    with plan_fragments(pages, rules=PlanRules(min_bytes=100)) as plan:
        found = {
            region.name: region
            for region in regions_of(plan.cuts, plan.cuts.pages[0], pages[0].body)
        }
        tip = found[name_of(tips[0].encode())]

    assert tip.copies == 2
    assert tip.is_in(pages[1].body)
    assert not tip.is_in(pages[2].body)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", ()),
        (b" \n", ()),
        (b"<p>one<p>two", ("p", "p")),
        (b"<tr><td>1</tr><tr><td>2</tr>", ("tr", "tr")),
        (b"<li>1</li>\n<li>2</li>", ("li", "li")),
        (b"<DIV><b>x</b></DIV>", ("div",)),
        (b"words", ("#other",)),
        (b"<b>x</b><!-- said --><i>y</i>", ("b", "#other", "i")),
        (b"<script>a<b</script>", ("script",)),
    ],
)
def test_outlines_name_what_stands_side_by_side(data: bytes, expected: tuple[str, ...]) -> None:
    assert outline(data) == expected
