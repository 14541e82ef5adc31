"""A shop page in six designs, with the watched parts marked by an attribute that nothing reads.

Every design has the same content in other elements, classes, order and nesting, and other prices and
stock notes nearby that must not be taken for the watched ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

PARTS = ("price", "stock", "title", "specs", "delivery")


@dataclass(frozen=True, slots=True)
class Product:
    """What the page says."""

    title: str = "Copper kettle, 1.5 litres"
    price: str = "€ 79.90"
    stock: str = "In stock, 14 left"
    delivery: str = "Delivered on Tuesday, 19 May"
    related: tuple[tuple[str, str], ...] = (("Tea pot", "€ 24.00"), ("Steel kettle", "€ 49.90"))
    specs: tuple[tuple[str, str], ...] = (
        ("Volume", "1.5 l"),
        ("Weight", "900 g"),
        ("Power", "2 kW"),
    )


def _mark(name: str) -> str:
    return f'data-truth="{name}"'


def first(page: Product) -> str:
    """Draw with classes and ids, as sites were made by hand."""
    specs = "".join(f"<tr><th>{name}<td>{value}" for name, value in page.specs)
    related = "".join(
        f"<li><a href=#>{name}</a> <span class=price>{price}</span>" for name, price in page.related
    )
    return (
        f"<html><body><div id=header><a href=/>Shop</a> <a href=/cart>Cart</a></div>"
        f"<div id=main><h1 class=title {_mark('title')}>{page.title}</h1>"
        f"<p>Price: <span id=price class=price {_mark('price')}>{page.price}</span></p>"
        f"<p class=stock {_mark('stock')}>{page.stock}</p>"
        f"<p class=delivery {_mark('delivery')}>{page.delivery}</p>"
        f"<h2>Specifications</h2><table class=specs {_mark('specs')}>{specs}</table></div>"
        f"<div id=related><h2>Others bought</h2><ul>{related}</ul></div>"
        f"<div id=footer>About us. Terms.</div></body></html>"
    )


def wrapped(page: Product) -> str:
    """Draw the first design inside more boxes, with other classes and without ids."""
    specs = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in page.specs)
    related = "".join(
        f"<div class=card><b>{name}</b><div class=amount>{price}</div></div>"
        for name, price in page.related
    )
    return (
        f"<html><body><header><nav><a href=/>Shop</a></nav></header><main><section class=product>"
        f"<div class=head><h1 {_mark('title')}>{page.title}</h1></div>"
        f"<div class=buy><div class=row><label>Price:</label>"
        f"<div class=amount {_mark('price')}>{page.price}</div></div>"
        f"<div class=availability><span {_mark('stock')}>{page.stock}</span></div>"
        f"<div class=shipping {_mark('delivery')}>{page.delivery}</div></div>"
        f"<h2>Specifications</h2><div><table {_mark('specs')}>{specs}</table></div></section>"
        f"<aside><h2>Others bought</h2>{related}</aside></main></body></html>"
    )


def generated(page: Product) -> str:
    """Draw with class names as tools generate them, and the related products first."""
    specs = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in page.specs)
    related = "".join(
        f"<div class=css-9x1><p>{name}</p><p class=css-77q>{price}</p></div>"
        for name, price in page.related
    )
    return (
        f"<html><body><div class=css-1><div class=css-2><h2>Others bought</h2>{related}</div>"
        f"<div class=css-3><h1 class=css-4a {_mark('title')}>{page.title}</h1>"
        f"<div class=css-5><p>Price:</p><p class=css-77q {_mark('price')}>{page.price}</p></div>"
        f"<p class=css-6 {_mark('stock')}>{page.stock}</p>"
        f"<p class=css-6 {_mark('delivery')}>{page.delivery}</p>"
        f"<h2>Specifications</h2><dl class=css-8 {_mark('specs')}>{specs}</dl></div></div></body></html>"
    )


def microdata(page: Product) -> str:
    """Draw with names for search engines, price and stock at the end."""
    specs = "".join(f"<li><b>{name}</b> {value}" for name, value in page.specs)
    related = "".join(
        f"<li itemprop=isRelatedTo>{name}: <data itemprop=price>{price}</data>"
        for name, price in page.related
    )
    return (
        f"<html><body itemscope><h1 itemprop=name {_mark('title')}>{page.title}</h1>"
        f"<h2>Specifications</h2><ul {_mark('specs')}>{specs}</ul>"
        f"<h2>Buy</h2><p>Price: <data itemprop=price {_mark('price')}>{page.price}</data></p>"
        f"<p><link itemprop=availability><span {_mark('stock')}>{page.stock}</span></p>"
        f"<p {_mark('delivery')}>{page.delivery}</p>"
        f"<h2>Others bought</h2><ul>{related}</ul></body></html>"
    )


def tables(page: Product) -> str:
    """Draw everything in tables, as in old times."""
    specs = "".join(f"<tr><td><b>{name}</b><td>{value}" for name, value in page.specs)
    related = "".join(f"<tr><td>{name}<td><font>{price}</font>" for name, price in page.related)
    return (
        f"<html><body><table><tr><td><a href=/>Shop</a><td><table>"
        f"<tr><td colspan=2><font size=5 {_mark('title')}>{page.title}</font>"
        f"<tr><td>Price:<td><font color=red {_mark('price')}>{page.price}</font>"
        f"<tr><td colspan=2 {_mark('stock')}>{page.stock}"
        f"<tr><td colspan=2 {_mark('delivery')}>{page.delivery}</table>"
        f"<h2>Specifications</h2><table {_mark('specs')}>{specs}</table>"
        f"<h2>Others bought</h2><table>{related}</table></table></body></html>"
    )


def components(page: Product) -> str:
    """Draw with elements and test names as component libraries give them."""
    specs = "".join(
        f"<x-row><span>{name}</span><span>{value}</span></x-row>" for name, value in page.specs
    )
    related = "".join(
        f"<x-card><span>{name}</span><span data-testid=price>{price}</span></x-card>"
        for name, price in page.related
    )
    return (
        f"<html><body><x-app><x-bar>Shop</x-bar><x-product>"
        f"<h1 data-testid=title {_mark('title')}>{page.title}</h1><div><span>Price:</span> "
        f"<span data-testid=price {_mark('price')}>{page.price}</span></div>"
        f"<span data-testid=stock {_mark('stock')}>{page.stock}</span><br>"
        f"<span data-testid=delivery {_mark('delivery')}>{page.delivery}</span>"
        f"<h2>Specifications</h2><x-table {_mark('specs')}>{specs}</x-table></x-product>"
        f"<x-related><h2>Others bought</h2>{related}</x-related></x-app></body></html>"
    )


DESIGNS: dict[str, Callable[[Product], str]] = {
    "first": first,
    "wrapped": wrapped,
    "generated": generated,
    "microdata": microdata,
    "tables": tables,
    "components": components,
}
