"""A shop whose list of products the tests change, and a watch of it that is replayed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from quire.sentinels.checking.replay import Capture, Firing, replay
from quire.sentinels.form import read_watch

START = datetime(2026, 5, 1, 9, tzinfo=UTC)
NEW_RECORD: dict[str, Any] = {"preset": "new record", "where": "ul.products"}


@dataclass(frozen=True, slots=True)
class Fish:
    """A product: its address, its name and its price."""

    address: str
    name: str
    price: str = "9.50 €"

    def costs(self, price: str) -> Fish:
        """The same product with another price."""
        return replace(self, price=price)


COD, CHIPS = Fish("/p/1", "Cod"), Fish("/p/2", "Chips", "4.00 €")
PEAS, PLAICE = Fish("/p/3", "Peas", "2.00 €"), Fish("/p/4", "Plaice", "12.00 €")
HAKE = Fish("/p/5", "Hake", "11.00 €")


def shop(*products: Fish, above: str = "", linked: bool = True) -> bytes:
    """A page with a list of products between other lists."""
    menu = "".join(f"<li><a href=/menu/{n}>Page {n}</a></li>" for n in range(6))
    items = "".join(
        "<li class=product>"
        + (
            f'<a class=name href="{each.address}">{each.name}</a>'
            if linked
            else f"<b>{each.name}</b>"
        )
        + f" <span class=price>{each.price}</span></li>"
        for each in products
    )
    return (
        f"<!doctype html><title>Shop</title><nav><ul>{menu}</ul></nav><main><h1>Fish</h1>{above}"
        f"<ul class=products>{items}</ul></main><footer>Fresh every day</footer></html>"
    ).encode()


def told(*pages: bytes, **form: Any) -> list[list[Firing]]:  # noqa: ANN401 - as in a form
    """What a watch tells about each of several captures of a page, one an hour."""
    watch = read_watch({"url": "https://example.org/", **NEW_RECORD, **form})
    captures = [
        Capture(START + timedelta(hours=hour), page, "text/html") for hour, page in enumerate(pages)
    ]
    found = replay(watch, captures).firings
    return [[each for each in found if each.time == capture.time] for capture in captures]


def kinds(*pages: bytes, **form: Any) -> list[list[str]]:  # noqa: ANN401 - as in a form
    """The kinds of what is told about each capture."""
    return [[each.kind for each in some] for some in told(*pages, **form)]
