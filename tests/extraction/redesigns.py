"""One shop in many designs: an extractor learned on the first finds the others, or refuses them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.extraction.list_pages.words import values

Row = dict[str, str]
FIELDS = ("title", "price", "maker", "date", "text")


def rows(seed: int, count: int = 12) -> list[Row]:
    """Products; the same seed gives the same ones."""
    random = Random(seed)
    found = []
    for number in range(1, count + 1):
        given = values(random, number)
        found.append(
            {
                "title": f"{given['thing']} {given['id']}",
                "price": f"{given['price']} €",
                "maker": f"{given['firm']} {given['town']}",
                "date": given["date"],
                "text": given["text"],
                "url": f"/p/{given['id']}",
            }
        )
    return found


def half_new(seed: int) -> list[Row]:
    """The products of a later day: six of the first day, and six new ones."""
    return rows(0)[6:] + rows(seed)[:6]


def page(body: str) -> bytes:
    menu = "".join(f"<li><a href=/{n}>Page {n}</a></li>" for n in range(6))
    return f"<!doctype html><title>Shop</title><nav><ul>{menu}</ul></nav><main><h1>Shop</h1>{body}</main>".encode()


def first(data: list[Row]) -> bytes:
    """The design that extractors are learned on."""
    items = "".join(
        f'<li class="product"><a class="title" href="{row["url"]}">{row["title"]}</a>'
        f'<span class="price">{row["price"]}</span><span class="maker">{row["maker"]}</span>'
        f'<time class="date">{row["date"]}</time><p class="text">{row["text"]}</p></li>'
        for row in data
    )
    return page(f'<ul class="products">{items}</ul>')


def _each(data: list[Row], template: str) -> str:
    found = []
    for row in data:
        item = template
        for name, value in row.items():
            item = item.replace("{" + name + "}", value)
        found.append(item)
    return "".join(found)


_NAMED = (
    '<a class="title" href="{url}">{title}</a><span class="price">{price}</span>'
    '<span class="maker">{maker}</span><time class="date">{date}</time><p class="text">{text}</p>'
)
_BARE = "<a href='{url}'>{title}</a><b>{price}</b><i>{maker}</i><u>{date}</u><p>{text}</p>"


def _wrapped(
    item: str, around: str = "<div class='list'>{items}</div>"
) -> Callable[[list[Row]], bytes]:
    return lambda data: page(around.replace("{items}", _each(data, item)))


def _grid(data: list[Row]) -> bytes:
    cells = [_each([row], f"<div class='cell'>{_NAMED}</div>") for row in data]
    lines = ["".join(cells[at : at + 3]) for at in range(0, len(cells), 3)]
    return page(
        "<div class='grid'>"
        + "".join(f"<div class='line'>{line}</div>" for line in lines)
        + "</div>"
    )


def _twice(data: list[Row]) -> bytes:
    items = _each(data, f"<article class='teaser'>{_NAMED}</article>")
    others = _each(rows(99), f"<article class='teaser'>{_NAMED}</article>")
    return page(f"<div class='a'>{items}</div><h2>Others bought</h2><div class='b'>{others}</div>")


#: By name, each design with whether an extractor may find the records again.
DESIGNS: dict[str, Callable[[list[Row]], bytes]] = {
    "the same": first,
    "list of divs": _wrapped(f"<div class='card'>{_NAMED}</div>"),
    "new class of the list": _wrapped(
        f"<li class='product'>{_NAMED}</li>", "<ul class='goods'>{items}</ul>"
    ),
    "new class of the items": _wrapped(
        f"<li class='good'>{_NAMED}</li>", "<ul class='products'>{items}</ul>"
    ),
    "deeper": _wrapped(f"<section><div><div class='x'>{_NAMED}</div></div></section>"),
    "a grid": _grid,
    "a table": _wrapped(
        "<tr><td><a href='{url}'>{title}</a><td>{price}<td>{maker}<td>{date}<td>{text}</tr>",
        "<table><tr><th>Title<th>Price<th>Maker<th>Date<th>Text</tr>{items}</table>",
    ),
    "a table with other names": _wrapped(
        "<tr><td><a href='{url}'>{title}</a><td>{price}<td>{maker}<td>{date}<td>{text}</tr>",
        "<table><tr><th>Produkt<th>Preis<th>Firma<th>Datum<th>Info</tr>{items}</table>",
    ),
    "no classes": _wrapped(f"<div>{_BARE}</div>"),
    "another order": _wrapped(
        "<li class='product'><p class='text'>{text}</p><time class='date'>{date}</time>"
        "<span class='maker'>{maker}</span><span class='price'>{price}</span>"
        "<a class='title' href='{url}'>{title}</a></li>",
        "<ul class='products'>{items}</ul>",
    ),
    "another order, no classes": _wrapped(
        "<div><u>{date}</u><i>{maker}</i><b>{price}</b><a href='{url}'>{title}</a><p>{text}</p></div>"
    ),
    "more fields": _wrapped(
        f"<li class='product'><span class='stock'>in stock</span>{_NAMED}<em class='score'>4.5</em></li>",
        "<ul class='products'>{items}</ul>",
    ),
    "a field is gone": _wrapped(
        "<li class='product'><a class='title' href='{url}'>{title}</a><time class='date'>{date}</time></li>",
        "<ul class='products'>{items}</ul>",
    ),
    "prices are gone": _wrapped(
        f"<li class='product'>{_NAMED}</li>".replace("{price}", "on request"),
        "<ul class='products'>{items}</ul>",
    ),
    "title and maker swapped": _wrapped(
        "<li class='product'><a class='title' href='{url}'>{maker}</a><span class='price'>{price}</span>"
        "<span class='maker'>{title}</span><time class='date'>{date}</time><p class='text'>{text}</p></li>",
        "<ul class='products'>{items}</ul>",
    ),
    "two lists of the same form": _twice,
    "the list is gone": lambda _: page("<p>Nothing found.</p>"),
    "an empty list": lambda _: page("<ul class='products'></ul>"),
    "only navigation": _wrapped(
        "<li class='product'><a href='{url}'>{title}</a></li>", "<ul class='products'>{items}</ul>"
    ),
    "a definition list": _wrapped(
        "<dt><a class='title' href='{url}'>{title}</a></dt><dd class='price'>{price}</dd><dd class='maker'>{maker}</dd>"
        "<dd class='date'>{date}</dd><dd class='text'>{text}</dd>",
        "<dl>{items}</dl>",
    ),
    "prefixed classes": _wrapped(
        f"<li class='product'>{_NAMED}</li>".replace('class="', 'class="v2-'),
        "<ul class='products'>{items}</ul>",
    ),
    "other words in the prices": _wrapped(
        f"<li class='product'>{_NAMED}</li>".replace("{price}", "from {price}"),
        "<ul class='products'>{items}</ul>",
    ),
    "another list with the old selectors": lambda data: page(
        "<ul class='products'>"
        + "".join(
            f"<li class='product'><a class='title' href=/c/{n}>Category {n}</a></li>"
            for n in range(9)
        )
        + "</ul>"
        + "<div class='new'>"
        + _each(data, f"<div class='card'>{_NAMED}</div>")
        + "</div>"
    ),
}
