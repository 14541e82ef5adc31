"""The pages of the newspaper, as they look after some seconds.

A page is a function of its path, of the seconds since the site was started, and of the number of
the response, so that tests see every state of the site without waiting for it:

* headlines and prices depend on the time: these are changes that people want to hear about;
* the advertisement, the counter of visitors and a token depend on the number of the response: they
  differ in every response, and a watch that announces them is useless;
* every ``BOATS_S`` seconds another boat is for sale, at the top of a list;
* after ``REDESIGN_S`` seconds the fish market has a new design with the same prices.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from html import escape

#: How long a headline stays, in seconds.
HEADLINE_S = 20
#: How long the prices of the fish market stay, in seconds.
PRICES_S = 15
#: How often another boat is for sale, in seconds, and how many are listed.
BOATS_S = 25
MOST_BOATS = 8
#: When the fish market gets its new design, in seconds.
REDESIGN_S = 75

HEADLINES = (
    ("New ferry arrives two weeks early", "Its first crossing is on Monday, coffee included."),
    ("Lighthouse gets its paint", "Forty litres of white, twelve of red. The gulls do not help."),
    ("Harbour master finds lost anchor", "It was under the boat. It was lost in 1987."),
    ("School choir sings at the quay", "Two songs about the sea, one about mathematics."),
    ("Fog expected until Thursday", "The horn will sound every two minutes. Earplugs are free."),
    ("Bakery wins at the county fair", "The rye bread took all three prizes."),
)
#: The price of a kilo in each state of the market. Cod falls below 8.00 now and then.
PRICES = {
    "Cod": ("8.40", "7.90", "8.10", "7.60", "8.60", "7.95"),
    "Haddock": ("7.95", "7.95", "8.10", "8.10", "7.80", "7.80"),
    "Mackerel": ("5.20", "5.20", "5.20", "5.40", "5.40", "5.40"),
    "Lemon sole": ("14.60", "14.60", "14.90", "14.90", "14.60", "14.60"),
}
#: Names of boats, in two parts, and their kinds. No two boats for sale have the same name.
BOATS = ("Marigold", "Guillemot", "Ida", "Patience", "Kittiwake", "Thomas", "Wind")
BOAT_FIRST = ("Old", "Little", "Lucky", "Second", "Aunt")
BOAT_KINDS = ("rowing boat", "sloop", "dinghy", "cutter", "punt", "ketch")
ADVERTISEMENTS = (
    ("Knots & Co.", "Ropes of every length. Today: long ones."),
    ("The Dry Dock", "Raincoats for the optimist."),
    ("Auk Insurance", "Because the gulls do not help."),
    ("Perpetua Tours", "See the harbour from the harbour."),
    ("Lantern Oil", "Now with more light."),
)
TIDES = (
    ("Monday", "05:12", "17:40"),
    ("Tuesday", "06:03", "18:29"),
    ("Wednesday", "06:51", "19:15"),
)

_STYLE = """
  body { font: 17px/1.5 Georgia, serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
  nav a { margin-right: 1rem; }
  .ad { border: 1px dashed #999; padding: 0.5rem 1rem; margin: 1.5rem 0; color: #555; }
  table { border-collapse: collapse; } td, th { padding: 0.2rem 1.5rem 0.2rem 0; text-align: left; }
  .catch { display: inline-block; border: 1px solid #ccc; padding: 0 1rem; margin: 0 1rem 1rem 0; }
  .boats { list-style: none; padding: 0; } .boat { border-top: 1px solid #ccc; padding: 0.4rem 0; }
  .boat h3, .boat p { display: inline-block; margin: 0 1.5rem 0 0; }
  footer { color: #777; font-size: 0.85rem; }
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """A response of the site."""

    status: int
    content_type: str
    body: bytes


def answer(path: str, seconds: float, response: int) -> Answer:
    """Return a page.

    >>> answer("/", 0, 1).body == answer("/", 0, 2).body
    False
    >>> answer("/tides.html", 0, 1) == answer("/tides.html", 1000, 2)
    True
    >>> answer("/nothing", 0, 1).status
    404

    Args:
        path: the path, such as ``/market.html``.
        seconds: how long the site has been running.
        response: the number of the response.
    """
    if path in {"/", "/index.html"}:
        return _html("The Harbour Lantern", _front(seconds, response), response)
    if path == "/market.html":
        is_new = seconds >= REDESIGN_S
        return _html("Fish market", _cards(seconds) if is_new else _table(seconds))
    if path == "/boats.html":
        return _html("Boats for sale", _boats(seconds))
    if path == "/tides.html":
        return _html("Tides", _tides())
    if path == "/feed.xml":
        return Answer(200, "application/rss+xml", _feed(seconds).encode())
    return Answer(404, "text/plain; charset=utf-8", b"There is no such page.\n")


def headlines(seconds: float) -> list[tuple[str, str]]:
    """Return the stories on the front page, the newest first."""
    newest = int(seconds // HEADLINE_S)
    return [HEADLINES[number % len(HEADLINES)] for number in range(newest, newest - 3, -1)]


def prices(seconds: float) -> dict[str, str]:
    """Return what a kilo costs."""
    state = int(seconds // PRICES_S)
    return {name: costs[state % len(costs)] for name, costs in PRICES.items()}


def boats(seconds: float) -> list[tuple[int, str, str, str]]:
    """Return the boats for sale, the newest first: number, name, kind and price."""
    newest = 4 + int(seconds // BOATS_S)
    return [
        (
            number,
            _boat_name(number),
            BOAT_KINDS[number % len(BOAT_KINDS)],
            f"{900 + 370 * number % 2900:,} €",
        )
        for number in range(newest, max(newest - MOST_BOATS, 0), -1)
    ]


def _boat_name(number: int) -> str:
    name = f"{BOAT_FIRST[number % len(BOAT_FIRST)]} {BOATS[number % len(BOATS)]}"
    again = number // (len(BOAT_FIRST) * len(BOATS))
    return f"{name} {again + 1}" if again else name


def _front(seconds: float, response: int) -> str:
    stories = headlines(seconds)
    title, words = stories[0]
    seller, slogan = ADVERTISEMENTS[response % len(ADVERTISEMENTS)]
    older = "\n".join(f"      <li>{escape(each)}</li>" for each, _ in stories[1:])
    return f"""\
  <main>
    <article id="lead">
      <h2 id="headline">{escape(title)}</h2>
      <p>{escape(words)}</p>
    </article>
    <aside class="ad" id="ad-{response}"><b>{escape(seller)}</b>: {escape(slogan)}</aside>
    <h3>Earlier</h3>
    <ul class="stories">
{older}
    </ul>
  </main>
  <footer><p>You are visitor number <span class="visitors">{14_000 + response:,}</span>.</p></footer>"""


def _table(seconds: float) -> str:
    rows = "\n".join(
        f'      <tr id="{_name(name)}"><td>{name}</td><td class="price">{price}</td></tr>'
        for name, price in prices(seconds).items()
    )
    return f"""\
  <main>
    <table class="prices">
      <tr><th>Catch</th><th>A kilo</th></tr>
{rows}
    </table>
    <p>Prices at the quay, before nine.</p>
  </main>"""


def _cards(seconds: float) -> str:
    cards = "\n".join(
        f'      <section class="catch"><h3>{name}</h3><p>A kilo: <b class="cost">{price}</b></p></section>'
        for name, price in prices(seconds).items()
    )
    return f"""\
  <main class="market">
    <p class="hint">Prices at the quay, before nine.</p>
    <div class="cards">
{cards}
    </div>
  </main>"""


def _boats(seconds: float) -> str:
    offers = "\n".join(
        f'      <li class="boat" id="boat-{number}"><h3>{name}</h3><p class="kind">{kind}, '
        f'{3 + number % 6} m</p><p class="price">{price}</p></li>'
        for number, name, kind, price in boats(seconds)
    )
    return f"""\
  <main>
    <p>Seen at the quay, sold as they float.</p>
    <ul class="boats" id="boats">
{offers}
    </ul>
  </main>"""


def _tides() -> str:
    rows = "\n".join(
        f"      <tr><td>{day}</td><td>{first}</td><td>{second}</td></tr>"
        for day, first, second in TIDES
    )
    return f"""\
  <main>
    <table>
      <tr><th>Day</th><th>High water</th><th>High water</th></tr>
{rows}
    </table>
  </main>"""


def _feed(seconds: float) -> str:
    newest = int(seconds // HEADLINE_S)
    items = "\n".join(
        f"    <item><title>{escape(HEADLINES[number % len(HEADLINES)][0])}</title>"
        f'<guid isPermaLink="false">story-{number}</guid></item>'
        for number in range(newest, max(newest - 10, -1), -1)
    )
    return f"""\
<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0">
  <channel>
    <title>The Harbour Lantern</title>
    <link>/</link>
    <description>Printed when there is news.</description>
{items}
  </channel>
</rss>
"""


def _html(title: str, main: str, response: int | None = None) -> Answer:
    token = ""
    if response is not None:
        secret = blake2b(str(response).encode(), digest_size=12).hexdigest()
        token = f'\n  <meta name="token" content="{secret}">'
    text = f"""\
<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">{token}
  <title>{escape(title)}</title>
  <link rel="alternate" type="application/rss+xml" href="/feed.xml">
  <style>{_STYLE}</style>
</head>
<body>
  <header>
    <h1>{escape(title)}</h1>
    <nav><a href="/">Front page</a><a href="/market.html">Fish market</a><a href="/boats.html">Boats</a><a href="/tides.html">Tides</a></nav>
  </header>
{main}
</body>
</html>
"""
    return Answer(200, "text/html; charset=utf-8", text.encode())


def _name(catch: str) -> str:
    return catch.lower().replace(" ", "-")
