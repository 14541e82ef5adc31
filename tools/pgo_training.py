"""Work for the instrumented build of `make pgo`: generated pages, encoded, stored, read, compared.

The profile decides which code the compiler lays out for speed, so the pages must look like pages
of the web: long attributes, inline scripts and styles, icons as SVG, character references,
comments, tables, and the usual mistakes (tags without end, tags in the wrong order, capitals).
They are made from a seed, so every build trains on the same pages.

Run by `tools/pgo_wheel.sh` with the instrumented package on the path.
"""

import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import quire

PAGES = 60
ROUNDS = 6
SEED = 20260601

WORDS = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "a",
    "is",
    "that",
    "for",
    "it",
    "as",
    "was",
    "with",
    "be",
    "by",
    "on",
    "not",
    "he",
    "his",
    "but",
    "at",
    "are",
    "this",
    "have",
    "from",
    "or",
    "had",
    "an",
    "they",
    "which",
    "one",
    "you",
    "were",
    "her",
    "all",
    "their",
    "there",
    "been",
    "if",
    "more",
    "when",
    "will",
    "would",
    "who",
    "so",
    "no",
    "price",
    "delivery",
    "harbour",
    "weather",
    "council",
    "election",
    "village",
    "museum",
    "engine",
    "concert",
    "library",
    "season",
]
CLASSES = [
    "container",
    "row",
    "col-md-6",
    "col-lg-4",
    "card",
    "card-body",
    "card-title",
    "btn",
    "btn-primary",
    "nav-item",
    "nav-link",
    "text-muted",
    "mb-3",
    "mt-auto",
    "d-flex",
    "align-items-center",
    "c-article__lead",
    "o-grid__item",
    "is-hidden",
    "wp-block-image",
    "size-large",
    "figure-caption",
    "js-toggle",
]
REFERENCES = ("&amp;", "&nbsp;", "&quot;", "&#39;", "&#8217;", "&eacute;", "&copy;", "&lt;")
LETTERS = ("é", "ü", "ß", "—", "“", "…")


class Pages:
    """Writes pages; each call makes another one."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - pages, not secrets

    def page(self) -> bytes:
        """Write one page of 10 to 400 KB, in UTF-8."""
        some = self._random
        parts = ['<!DOCTYPE html>\n<html lang="en">\n<head>\n  <meta charset="utf-8">\n']
        parts += [self._head() for _ in range(some.randrange(5, 40))]
        parts.append('</head>\n<body class="home page-template">\n')
        blocks: tuple[Callable[[], str], ...] = (
            self._navigation,
            self._article,
            self._article,
            self._article,
            self._cards,
            self._cards,
            self._table,
            self._form,
            self._script,
            self._icon,
            self._mistakes,
        )
        parts += [some.choice(blocks)() for _ in range(some.randrange(8, 120))]
        parts.append("</body>\n</html>\n")
        return "".join(parts).encode()

    def changed(self, page: bytes) -> bytes:
        """Return another version of a page: a few words and one block differ."""
        word = self._random.choice(WORDS).encode()
        return page.replace(b" " + word + b" ", b" changed ", 3).replace(
            b"</body>", self._article().encode() + b"</body>"
        )

    def _text(self, words: int) -> str:
        some = self._random
        text = [some.choice(WORDS) for _ in range(words)]
        if some.random() < 0.3:  # noqa: PLR2004 - about a third of real texts
            text[some.randrange(len(text))] = some.choice(REFERENCES + LETTERS)
        return " ".join(text)

    def _attributes(self) -> str:
        some = self._random
        names = " ".join(some.sample(CLASSES, some.randrange(1, 4)))
        out = f' class="{names}"'
        if some.random() < 0.4:  # noqa: PLR2004 - a guess from many pages
            out += f' id="block-{some.randrange(10**6)}"'
        if some.random() < 0.2:  # noqa: PLR2004 - as above
            out += f' data-track-position="{some.randrange(50)}" aria-hidden="true"'
        if some.random() < 0.1:  # noqa: PLR2004 - as above
            out += f' style="width: {some.randrange(900)}px;color:#fff" data-x=\'{{"a":1}}\''
        return out

    def _link(self) -> str:
        some = self._random
        address = f"/{some.choice(WORDS)}/{some.randrange(10**5)}-{some.choice(WORDS)}"
        query = f"?utm_source=page&utm_id={some.randrange(99)}&amp;x" if some.random() < 0.2 else ""  # noqa: PLR2004
        text = self._text(some.randrange(1, 6))
        return f'<a href="https://www.example.org{address}{query}"{self._attributes()}>{text}</a>'

    def _image(self) -> str:
        name = f"https://cdn.example.org/image/{self._random.randrange(10**6)}"
        return (
            f'<img src="{name}.jpg" srcset="{name}-480.jpg 480w, {name}-960.jpg 960w" '
            f'alt="{self._text(4)}" width="640" height=480 loading="lazy" />'
        )

    def _head(self) -> str:
        some = self._random
        return some.choice(
            (
                f'  <meta property="og:title" content="{self._text(6)}" />\n',
                f"  <title>{self._text(5)}</title>\n",
                f'  <link rel="stylesheet" href="/style-{some.randrange(99)}.css?ver=6.1">\n',
                f"<style>\n{'.a > .b { margin: 0 auto; } ' * some.randrange(1, 60)}</style>\n",
                f'<script async src="https://cdn.example.org/{some.randrange(99)}.js"></script>\n',
                self._script(),
                f"<!-- {self._text(5)} -->\n",
            )
        )

    def _script(self) -> str:
        some = self._random
        line = f"if (a < {some.randrange(99)} && b > 2) {{ window.items.push({{'id': 7}}); }}\n"
        data = '{"@type": "Article", "name": "x", "url": "https:\\/\\/example.org\\/"}, '
        body = some.choice((line, data)) * some.randrange(1, 150)
        return f'<script type="text/javascript">\n{body}</script>\n'

    def _navigation(self) -> str:
        items = "".join(f"\n    <li{self._attributes()}>{self._link()}</li>" for _ in range(12))
        return f'  <nav role="navigation">\n  <ul class="menu">{items}\n  </ul>\n  </nav>\n'

    def _article(self) -> str:
        some = self._random
        paragraphs = "".join(
            f"<p>{self._text(some.randrange(8, 60))} {self._link()}, <b>{self._text(2)}</b>.</p>\n"
            for _ in range(some.randrange(1, 8))
        )
        return f"<article{self._attributes()}><h2>{self._text(5)}</h2>\n{paragraphs}</article>\n"

    def _cards(self) -> str:
        card = (
            f'<div{self._attributes()}>\n\t<div class="card-body">\n\t\t{self._image()}\n'
            f"\t\t<h3>{self._link()}</h3><span>{self._text(8)}</span>\n\t</div>\n</div>\n"
        )
        other = f'<div class="card"><div>{self._text(3)}</div><br></div>\n'
        return (card + other) * self._random.randrange(1, 5)

    def _table(self) -> str:
        row = "".join(f"<td>{self._random.randrange(1000)}</td>" for _ in range(5))
        rows = f"<tr{self._attributes()}>{row}</tr>\n" * self._random.randrange(2, 12)
        return f"<table border=0><tbody>\n{rows}</tbody></table>\n"

    def _form(self) -> str:
        options = "".join(f"<option value={i}>{self._text(1)}" for i in range(6))
        return (
            f'<form action="/search" method="get"><input type="text" name="q" '
            f'placeholder="{self._text(2)}"><select name=s>{options}</select>'
            f'<button type="submit" disabled>{self._text(1)}</button></form>\n'
        )

    def _icon(self) -> str:
        path = "".join(f"M{self._random.randrange(24)} 4.2l-3 7.1z" for _ in range(6))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"{self._attributes()}>'
            f'<clipPath id="c"><path d="{path}" /></clipPath><use xlink:href="#c"/></svg>\n'
        )

    def _mistakes(self) -> str:
        return self._random.choice(
            (
                f"<P>{self._text(9)}<BR>{self._text(3)}\n",
                f"<p><b><i>{self._text(4)}</b>{self._text(2)}</i>\n",
                f"<ul><li>{self._text(4)}<li>{self._text(4)}</ul></div>\n",
                f"<table><tr><div>{self._text(3)}</div><td>{self._text(2)}</table>\n",
                "<!--[if lt IE 9]><script src='a.js'></script><![endif]-->\n",
            )
        )


def use(page: bytes, other: bytes, folder: Path) -> None:
    """Do with a page what users do with pages."""
    digest = quire.encode(page)
    if digest.decode() != page:
        raise SystemExit("error: a page did not decode to its bytes; the build is broken")
    newer = quire.encode(other, kind="html")
    assert digest.signatures.source  # noqa: S101 - computes the signatures
    for compress in (False, True):
        path = folder / f"page-{compress}.qd"
        digest.save(path, compress=compress)
        loaded = quire.load(path)
        assert loaded.n == digest.n  # noqa: S101 - reads the columns
        quire.load(path, verify="columns").tag_counts()
    digest.text()
    digest.select("div > a[href], .card img")
    quire.annotate(digest, newer)
    quire.similarity(digest, newer)


def main() -> None:
    """Train on all pages, several times, so that rare code stays rare in the profile."""
    pages = Pages(SEED)
    made = [pages.page() for _ in range(PAGES)]
    pairs = [(page, pages.changed(page)) for page in made]
    with tempfile.TemporaryDirectory() as folder:
        for page, other in pairs:
            use(page, other, Path(folder))
    for _ in range(ROUNDS):
        for page in made:
            quire.encode(page, kind="html")
    total = sum(map(len, made))
    sys.stdout.write(f"trained on {len(made)} pages, {total / 1e6:.1f} MB\n")


if __name__ == "__main__":
    main()
