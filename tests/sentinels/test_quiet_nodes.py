"""Which nodes of two versions differ only in noise, and how redlines mark them."""

from __future__ import annotations

import pytest

import quire
from quire.digest.page import Digest
from quire.reports.changes.framed import FramedPage, Shown, framed_changes
from quire.reports.changes.marks import Quiet
from quire.sentinels.pages.gaps import gaps_between
from quire.sentinels.pages.noise import Noise, NoiseKind, PageNoise
from quire.sentinels.pages.places import Map, place_of
from quire.sentinels.pages.quiet import quiet_nodes


def noise_at(
    old: Digest, new: Digest, selector: str, kind: NoiseKind, *values: str, inside: int = 0
) -> PageNoise:
    """Return noise at an element, or at a node inside it."""
    one, other = (page.select(selector)[0].item() + inside for page in (old, new))
    place = place_of(Map(old), one, Map(new), other)
    assert place is not None
    gaps = gaps_between(*values) if values else ()
    return PageNoise((Noise(kind, place, 0.0, "probe", gaps=gaps),))


def drawn(noise: PageNoise, old: Digest, new: Digest, shown: Shown = Shown.BOTH) -> FramedPage:
    """Draw two versions with noise."""
    found = quiet_nodes(noise, old, new)
    quiet = Quiet(found.old, found.new, found.old_moved, found.new_moved)
    return framed_changes(quire.annotate(old, new), shown=shown, quiet=quiet)


def texts(page: FramedPage) -> list[set[str]]:
    """Return the texts of each change."""
    return [{text for _, text in mark.texts} for mark in page.marks]


@pytest.mark.parametrize("shown", list(Shown))
def test_a_text_is_quiet_only_if_nothing_but_noise_differs(shown: Shown) -> None:
    old, only_noise, price = (
        quire.encode(f"<p id=a>Cod {price} seen {count} times</p><p>Hake {count}</p>".encode())
        for price, count in ((8, 12), (8, 45), (9, 45))
    )
    noise = noise_at(
        old, price, "p", "text", "Cod 8 seen 12 times", "Cod 8 seen 45 times", inside=1
    )

    assert texts(drawn(noise, old, only_noise, shown)) == [{"12", "45"}]
    assert len(drawn(noise, old, price, shown).marks) == 3


def test_a_region_is_quiet_with_all_that_came_and_went() -> None:
    page = "<main><p>Cod {0}</p></main><aside>{1}</aside>"
    old = quire.encode(page.format(8, "<p>Buy soap</p><img src=a.png>").encode())
    new = quire.encode(page.format(9, "<h2>Fly to Rome</h2><hr><p>now</p>").encode())
    noise = noise_at(old, new, "aside", "region")
    both = drawn(noise, old, new)

    assert texts(both) == [{"8", "9"}]
    assert both.quiet >= 4
    assert "quire-fresh" not in both.document.partition("<quire-html")[2]
    assert "quire-lost" not in both.document.partition("<quire-html")[2]


def test_only_the_order_is_quiet_where_only_the_order_is_noise() -> None:
    rows = ["Alpha is the first fish", "Bravo is the second fish", "Carl sells the third fish"]
    first, last = rows, [rows[2], rows[0], "Bravo is the best fish"]
    old, new = (
        quire.encode(f"<ul>{''.join(f'<li>{row}</li>' for row in each)}</ul>".encode())
        for each in (first, last)
    )
    noise = noise_at(old, new, "ul", "order")

    assert len(drawn(PageNoise(), old, new).marks) == 2
    assert texts(drawn(noise, old, new)) == [{"second", "best"}]


def test_without_noise_everything_is_a_change() -> None:
    old, new = quire.encode(b"<p>Cod 8"), quire.encode(b"<p>Cod 9")

    assert drawn(PageNoise(), old, new) == framed_changes(quire.annotate(old, new))
