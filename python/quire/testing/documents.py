"""Generate XML documents in the paper's three shapes: bushy, mixed and deep.

The paper does not say how its generator draws trees, so the shapes are defined here: a document is
a random walk over depths. Each shape has a probability of going down (the next node is a child of
the current one) and of staying (it is the next sibling); otherwise it is the next sibling of an
ancestor. ``most`` limits the depth: there, a step down becomes a step up. A document of any size
takes one pass, and the same seed gives the same bytes on every platform.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal, TypeAlias

Shape: TypeAlias = Literal["bushy", "mixed", "deep"]


@dataclass(frozen=True, slots=True)
class Walk:
    """The parameters of a shape: probability of going down, of staying, and the maximum depth."""

    down: float
    stay: float
    most: int


#: 250 keeps the deep shape below 256 levels, where libxml2 rejects a document by default.
SHAPES: dict[Shape, Walk] = {
    "bushy": Walk(down=0.30, stay=0.60, most=5),
    "mixed": Walk(down=0.45, stay=0.35, most=30),
    "deep": Walk(down=0.985, stay=0.005, most=250),
}

TAGS = tuple(
    f"{first}{second}"
    for first in ("item", "entry", "field", "group", "note")
    for second in "abcdefgh"
)
WORDS = ("open", "closed", "nine", "to", "five", "river", "stone", "paper", "quire", "folio")


def generate(shape: Shape, nodes: int, seed: int = 0) -> bytes:
    """Return an XML document with exactly ``nodes`` elements.

    Leaves have one to four words, every third element has one attribute; an element takes about 25
    to 35 bytes.

    >>> generate("mixed", 3, seed=1).count(b"</")
    3

    Args:
        shape: ``bushy`` is wide and up to 5 levels deep, ``mixed`` is up to 30 levels deep, and
            ``deep`` is up to 250 levels deep with hardly any branches.
        nodes: the number of elements, including the root; at least 1.
        seed: random seed; the same seed gives the same document.

    Raises:
        ValueError: the shape does not exist, or ``nodes`` is less than 1.
    """
    if shape not in SHAPES:
        raise ValueError(f"unknown shape {shape!r}; expected {', '.join(SHAPES)}")
    if nodes < 1:
        raise ValueError(f"nodes is {nodes}; expected 1 or more")
    draw = random.Random(seed)  # noqa: S311 - makes documents, not secrets
    depths = _depths(SHAPES[shape], nodes, draw)
    out: list[str] = []
    open_tags: list[str] = []
    for index, depth in enumerate(depths):
        while len(open_tags) > depth:
            out.append(f"</{open_tags.pop()}>")
        tag = "root" if index == 0 else draw.choice(TAGS)
        attribute = f' id="n{index}"' if index % 3 == 0 else ""
        out.append(f"<{tag}{attribute}>")
        open_tags.append(tag)
        is_leaf = index + 1 == nodes or depths[index + 1] <= depth
        if is_leaf:
            out.append(" ".join(draw.choices(WORDS, k=draw.randint(1, 4))))
    while open_tags:
        out.append(f"</{open_tags.pop()}>")
    return "".join(out).encode()


def generate_tags(
    nodes: int, tag_length: int, repetition_percent: int, text_bytes: int = 0, seed: int = 0
) -> bytes:
    """Return a document of the paper's experiment 3: one common tag, the other tags unique.

    All tags have the same length. The tree has the mixed shape. Every leaf has ``text_bytes`` of
    text; the paper does not say how much text its documents had, so the size table shows two.

    >>> generate_tags(2, 5, 100)
    b'<aaaaa><aaaaa></aaaaa></aaaaa>'
    """
    draw = random.Random(seed)  # noqa: S311 - makes documents, not secrets
    depths = _depths(SHAPES["mixed"], nodes, draw)
    repeated = round(nodes * repetition_percent / 100)
    same = "a" * tag_length
    names = [same] * repeated + [_unique(number, tag_length) for number in range(nodes - repeated)]
    draw.shuffle(names)
    out: list[str] = []
    open_tags: list[str] = []
    for index, (depth, name) in enumerate(zip(depths, names, strict=True)):
        while len(open_tags) > depth:
            out.append(f"</{open_tags.pop()}>")
        out.append(f"<{name}>")
        open_tags.append(name)
        if index + 1 == nodes or depths[index + 1] <= depth:
            out.append("".join(draw.choices("bcdefgh ", k=text_bytes)))
    while open_tags:
        out.append(f"</{open_tags.pop()}>")
    return "".join(out).encode()


def _depths(walk: Walk, nodes: int, draw: random.Random) -> list[int]:
    """Return the depth of every node in pre-order; only the root has depth 0."""
    depths = [0]
    depth = 0
    while len(depths) < nodes:
        chance = draw.random()
        is_down = depth == 0 or chance < walk.down
        if is_down and depth < walk.most:
            depth += 1
        elif is_down or chance >= walk.down + walk.stay:
            depth = draw.randint(1, depth)
        depths.append(depth)
    return depths


def _unique(number: int, length: int) -> str:
    """Return a name of ``length`` letters, unique for numbers below 25 ** length, not all ``a``."""
    letters = []
    for _ in range(length):
        number, digit = divmod(number, 25)
        letters.append("bcdefghijklmnopqrstuvwxyz"[digit])
    return "".join(letters)
