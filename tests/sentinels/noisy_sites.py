"""Sites that change at every fetch, besides what they have to say.

Each kind of noise is one function. A page can have several; its facts change only when the test says
so. Random numbers come from one generator, so that a run can be repeated.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

ADS = (
    '<a href="https://ads.example/cars?c={n}"><img src="/ad/cars-{n}.png"> Cars from {n}</a>',
    "<p>Fly to the sea</p><p>from {n} a seat</p>",
    '<iframe src="/ad/{n}"></iframe><b>Tea of the day</b>',
    "<div><h4>Shoes</h4><ul><li>red</li><li>blue</li></ul></div>",
    "A loan in {n} minutes",
)
QUOTES = ("Very good fish.", "We come every week!", "Best chips in town.", "Cheap, and warm.")


@dataclass
class Site:
    """A page with facts, and noise around them.

    Attributes:
        seed: the seed of the generator.
        noises: the kinds of noise.
        facts: what the page says.
    """

    seed: int
    noises: tuple[str, ...]
    facts: list[str] = field(
        default_factory=lambda: [f"Dish {n} costs {n + 5}.50" for n in range(9)]
    )
    fetches: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def fetch(self) -> bytes:
        """Return the page, with fresh noise."""
        self.fetches += 1
        parts: dict[str, list[str]] = {"top": [], "bottom": [], "head": []}
        items = [
            f"<li class=dish><a href='/dish/{n}'>{fact}</a></li>"
            for n, fact in enumerate(self.facts)
        ]
        for name in self.noises:
            if name == "shuffle":
                self.chance.shuffle(items)
            else:
                place, text = NOISES[name](self)
                parts[place].append(text)
        return (
            f"<html><head><title>Menu</title>{''.join(parts['head'])}</head><body><h1>Menu</h1>{''.join(parts['top'])}"
            f"<main><p>{'Our kitchen is open every day of the week. ' * 12}</p>"
            f"<ul class=menu>{''.join(items)}</ul></main>"
            f"<footer>{''.join(parts['bottom'])}<p>Fish House, Pier 4</p></footer></body></html>"
        ).encode()


def _number(site: Site) -> int:
    return site.chance.randrange(10**8, 10**9)


def nonce(site: Site) -> tuple[str, str]:
    """Give a script a new nonce."""
    return "head", f'<script nonce="{_number(site):x}">var t = {_number(site)};</script>'


def token(site: Site) -> tuple[str, str]:
    """Give a form a new token, and show a reference number."""
    form = (
        f'<form><input type=hidden name=csrf value="{_number(site):x}"><button>Send</button></form>'
    )
    return "bottom", f"{form}<p>Request id <code>{_number(site):x}</code></p>"


def clock(site: Site) -> tuple[str, str]:
    """Show the time of the server, which goes over midnight now and then."""
    time = datetime.fromtimestamp(1_790_000_000 + site.fetches * 9_001, UTC)
    return "top", f"<div class=now>It is {time:%A, %d %B %Y, %H:%M:%S} UTC</div>"


def views(site: Site) -> tuple[str, str]:
    """Count the views, in a text that also says something."""
    return "bottom", f"<p class=views>Seen {990 + site.fetches:,} times. Owner: Mary.</p>"


def speed(site: Site) -> tuple[str, str]:
    """Show how long the page took, without an element of its own."""
    return "bottom", f"Made in {site.chance.randrange(5, 900)} ms"


def advertisement(site: Site) -> tuple[str, str]:
    """Show one of several advertisements, each made of other elements."""
    shown = site.chance.choice(ADS).format(n=site.chance.randrange(10, 99))
    return "top", f"<div class=ad>{shown}</div>"


def popup(site: Site) -> tuple[str, str]:
    """Show a box at some fetches only."""
    shown = f"<div class=promo>Offer {_number(site)}</div>" if site.chance.random() < 0.5 else ""
    return "top", shown


def quote(site: Site) -> tuple[str, str]:
    """Show a random quote in the same element."""
    return "bottom", f"<blockquote>{site.chance.choice(QUOTES)} {_number(site)}</blockquote>"


def images(site: Site) -> tuple[str, str]:
    """Give an image and a link a parameter against caches."""
    n = _number(site)
    return "bottom", f'<img src="/logo.png?v={n}"><a href="/app?session={n:x}&lang=en">App</a>'


def classes(site: Site) -> tuple[str, str]:
    """Make up the names of an element anew."""
    return (
        "bottom",
        f'<div id="w{_number(site)}" class="box c{_number(site)}">Ref {_number(site)}</div>',
    )


NOISES: dict[str, Callable[[Site], tuple[str, str]]] = {
    "nonce": nonce,
    "token": token,
    "clock": clock,
    "views": views,
    "speed": speed,
    "advertisement": advertisement,
    "popup": popup,
    "quote": quote,
    "images": images,
    "classes": classes,
}
KINDS = (*NOISES, "shuffle")
