"""Hostile pairs: one generator for each way known to make the comparing of trees slow, or its answer long.

A pair takes ``n`` and gives two sources whose lengths are proportional to ``n``, so that a growth exponent above 1
is the comparison's doing. Where the fewest actions are known they are stated; a longer script must say that
it is coarse.
"""

import random
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from quire.testing import generate

Kind = Literal["html", "xml"]
SEED = 2003


@dataclass(frozen=True, slots=True)
class HostilePair:
    """A family of pairs of growing size.

    ``nodes`` is how many nodes one of ``n`` stands for, so that all pairs can be asked for at one size.
    """

    name: str
    kind: Kind
    nodes: int
    make: Callable[[int], tuple[bytes, bytes]]
    fewest: Callable[[int], int] | None = None


def _table(rows: Sequence[str], title: str = "t") -> bytes:
    return f"<table><caption>{title}</caption>{''.join(rows)}</table>".encode()


def _row(first: object, second: object) -> str:
    return f"<tr><td>{first}</td><td>{second}</td></tr>"


def _words(number: int, salt: str) -> str:
    """A text that no other number has, of words that others have too."""
    draw = random.Random(f"{salt} {number}")
    return f"{draw.choice(('north', 'south', 'east', 'west'))} {draw.choice(('open', 'closed'))} {salt}{number:06}"


def _distinct(n: int, salt: str = "row") -> list[str]:
    return [_row(f"{number:06}", _words(number, salt)) for number in range(n)]


def _shuffled(rows: Sequence[str]) -> list[str]:
    return random.Random(SEED).sample(rows, len(rows))


def _fewest_moves(n: int) -> int:
    """All but the longest part that kept its order."""
    ends: list[int] = []
    for value in random.Random(SEED).sample(range(n), n):
        place = bisect_left(ends, value)
        ends[place : place + 1] = [value]
    return n - len(ends)


def _same_text(n: int) -> tuple[bytes, bytes]:
    paragraphs = ["<p>same</p>"] * n
    middle = n // 2
    new = [*paragraphs[:middle], "<p>same</p>", *paragraphs[middle:]]
    return "".join(paragraphs).encode(), "".join(new).encode()


def _same_text_regrouped(n: int) -> tuple[bytes, bytes]:
    """Equal leaves in groups of seven, then of five: equal texts everywhere, parents nowhere."""

    def grouped(by: int) -> bytes:
        return b"".join(b"<div>" + b"<p>same</p>" * by + b"</div>" for _ in range(n // by))

    return grouped(7), grouped(5)


def _two_kinds(n: int) -> tuple[bytes, bytes]:
    rows = [_row("a", "x") if number % 2 else _row("b", "y") for number in range(n)]
    return _table(rows), _table(_shuffled(rows))


def _alternating(n: int) -> tuple[bytes, bytes]:
    rows = [_row("a", "x") if number % 2 else _row("b", "y") for number in range(n)]
    return _table(rows), _table(rows[1:] + rows[:1])


def _edited_rows(n: int, top: Sequence[str] = (), *, shuffle: bool = False) -> tuple[bytes, bytes]:
    old = [_row(f"{number:06}", _words(number, "row")) for number in range(n)]
    new = [_row(f"{number:06}", _words(number, "other")) for number in range(n)]
    return _table(old), _table([*top, *(_shuffled(new) if shuffle else new)])


def _attributes_changed(n: int) -> tuple[bytes, bytes]:
    def written(value: str) -> bytes:
        return "".join(f"<p class={value}{number:06}>same</p>" for number in range(n)).encode()

    return written("a"), written("b")


def _renamed(n: int) -> tuple[bytes, bytes]:
    def written(name: str) -> bytes:
        body = "".join(f"<{name}>{_words(number, 'r')}</{name}>" for number in range(n))
        return f"<r>{body}</r>".encode()

    return written("a"), written("b")


def _depth_capped(n: int) -> tuple[bytes, bytes]:
    """Far more levels than are kept: what is deeper is beside the deepest."""
    old = b"<div>" * n + b"x" + b"</div>" * n
    middle = n // 2
    new = b"<div>" * middle + b"<section>" + b"<div>" * (n - middle) + b"y" + b"</div>" * n
    return old, new


def _depth_capped_levels(n: int) -> tuple[bytes, bytes]:
    return b"<div>x" * n, b"<div>y" + b"<div>x" * (n - 1)


def _chain_wrapped(n: int) -> tuple[bytes, bytes]:
    middle = n // 2
    old = "<a>" * n + "x" + "</a>" * n
    wrapped = "<a>" * (n - middle) + "x" + "</a>" * (n - middle)
    new = "<a>" * middle + f"<b>{wrapped}</b>" + "</a>" * middle
    return old.encode(), new.encode()


def _chain_turned(n: int) -> tuple[bytes, bytes]:
    """A chain of distinct names, inside out."""
    names = [f"e{number:06}" for number in range(n)]

    def written(order: Sequence[str]) -> bytes:
        opening = "".join(f"<{name}>" for name in order)
        return (opening + "x" + "".join(f"</{name}>" for name in reversed(order))).encode()

    return written(names), written(names[::-1])


def _reversed_identical(n: int) -> tuple[bytes, bytes]:
    rows = [_row("a", "x")] * n
    return _table(rows), _table(rows[::-1])


def _reversed_identical_retitled(n: int) -> tuple[bytes, bytes]:
    """The same with another title, so that no signature settles it."""
    rows = [_row("a", "x")] * n
    return _table(rows), _table(rows[::-1], "u")


def _halved(n: int) -> tuple[bytes, bytes]:
    return _table([_row("a", "x")] * n), _table([_row("a", "x")] * (n // 2))


PAIRS = [
    HostilePair("all texts equal, one more", "html", 2, _same_text, lambda _: 1),
    HostilePair("all texts equal, regrouped", "html", 2, _same_text_regrouped),
    HostilePair("identical rows reversed", "html", 5, _reversed_identical, lambda _: 0),
    HostilePair(
        "identical rows reversed, retitled", "html", 5, _reversed_identical_retitled, lambda _: 1
    ),
    HostilePair("half of the identical rows", "html", 5, _halved, lambda _: 1),
    HostilePair(
        "distinct rows reversed",
        "html",
        5,
        lambda n: (_table(_distinct(n)), _table(_distinct(n)[::-1])),
        lambda n: n - 1,
    ),
    HostilePair(
        "distinct rows shuffled",
        "html",
        5,
        lambda n: (_table(_distinct(n)), _table(_shuffled(_distinct(n)))),
        _fewest_moves,
    ),
    HostilePair("two kinds of rows shuffled", "html", 5, _two_kinds),
    HostilePair("two kinds of rows, turned by one", "html", 5, _alternating, lambda _: 1),
    HostilePair("every text changed", "html", 5, _edited_rows, lambda n: n),
    HostilePair(
        "every text changed, a row on top",
        "html",
        5,
        lambda n: _edited_rows(n, [_row("new", "first")]),
        lambda n: n + 1,
    ),
    HostilePair("every text changed, shuffled", "html", 5, lambda n: _edited_rows(n, shuffle=True)),
    HostilePair("every attribute changed", "html", 2, _attributes_changed, lambda n: n),
    HostilePair("every name changed", "xml", 2, _renamed, lambda n: n),
    HostilePair("page to empty", "html", 5, lambda n: (_table(_distinct(n)), b""), lambda _: 1),
    HostilePair("empty to page", "html", 5, lambda n: (b"", _table(_distinct(n))), lambda _: 1),
    HostilePair(
        "root emptied",
        "xml",
        2,
        lambda n: (b"<r>" + b"<a>x</a>" * n + b"</r>", b"<r/>"),
        lambda _: 1,
    ),
    HostilePair("depth-capped, wrapped and edited", "html", 1, _depth_capped),
    HostilePair("depth-capped, first text changed", "html", 2, _depth_capped_levels, lambda _: 1),
    HostilePair("chain, a box wrapped in", "xml", 1, _chain_wrapped, lambda _: 1),
    HostilePair("chain of names, inside out", "xml", 1, _chain_turned),
    HostilePair(
        "unrelated, bushy", "xml", 1, lambda n: (generate("bushy", n, 1), generate("bushy", n, 2))
    ),
    HostilePair(
        "unrelated, mixed", "xml", 1, lambda n: (generate("mixed", n, 1), generate("mixed", n, 2))
    ),
    HostilePair(
        "unrelated, deep", "xml", 1, lambda n: (generate("deep", n, 1), generate("deep", n, 2))
    ),
    HostilePair(
        "unrelated, shapes", "xml", 1, lambda n: (generate("bushy", n, 1), generate("deep", n, 2))
    ),
]
BY_NAME = {pair.name: pair for pair in PAIRS}
