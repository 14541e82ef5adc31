"""Pages for ``shared-large``, made from their numbers by the tasks that read them: no page is ever a file."""

import random
from collections.abc import Iterator
from functools import cache

from quire.sources import Capture, Trouble

_WORDS = ["rain", "cod", "harbour", "nine", "open", "late", "ferry", "price", "table", "tower"]
_TEMPLATES, _PAGES_A_TEASER = 20, 10


@cache
def _sentences(seed: int) -> list[str]:
    """Texts with a ``#`` in every third word, for a number: so texts with different numbers share nothing."""
    draw = random.Random(seed)
    return [
        " ".join(
            draw.choice(_WORDS) + ("#" if n % 3 == 0 else str(draw.randint(0, 99)))
            for n in range(32)
        )
        for _ in range(512)
    ]


def made(seed: int, count: int, number: int) -> bytes:
    """One page of a site: menu and footer of its template, teasers that other pages have too (some edited), and texts of its own."""
    texts = _sentences(seed)
    draw = random.Random(seed * count + number)
    frame = draw.randrange(_TEMPLATES)
    menu = "".join(
        f"<li><a href=/{n}>{texts[frame + n].replace('#', str(frame))[:40]}</a>" for n in range(12)
    )
    footer = "".join(f"<p>{texts[n].replace('#', str(-frame))}</p>" for n in range(3))
    side = []
    for _ in range(3):
        teaser = draw.randrange(max(count // _PAGES_A_TEASER, 30))
        text = texts[teaser % 512].replace("#", f"t{teaser}")
        if draw.random() < 0.2:
            text = text.replace("rain", f"snow{number}", 1)
        side.append(f"<div class=teaser><h3>Teaser {teaser}</h3><p>{text}</p></div>")
    own = "".join(
        f"<p>{texts[draw.randrange(512)].replace('#', f'{number}n{n}')}</p>"
        for n in range(draw.randint(2, 4))
    )
    return (
        f"<!doctype html><title>{number}</title><nav><ul>{menu}</ul></nav><main><h1>{number}</h1>{own}</main>"
        f"<aside>{''.join(side)}</aside><footer>{footer}</footer>"
    ).encode()


def read_made(path: str, /, *, most_bytes: int) -> Iterator[Capture | Trouble]:
    """Make the pages of a range."""
    seed, count, first, end = map(int, path.split())
    for number in range(first, end):
        body = made(seed, count, number)
        if len(body) <= most_bytes:
            yield Capture(f"{number}.html", f"https://a.example/{number}", None, b"", body)
