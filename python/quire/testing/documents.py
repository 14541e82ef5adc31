"""Generated XML in the paper's three shapes: bushy, mixed and deep.

The paper does not say how its generator draws trees, so the shapes are defined
here: a document is a random walk over depths. From a node at depth *d* the next
one is its child with the shape's chance of going down, its next sibling with
the chance of staying, and otherwise the next sibling of one of its ancestors.
``most`` bounds the depth: there, going down means going back up. Any number of nodes, in one pass; the same
bytes for the same seed, on every platform.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal, TypeAlias

Shape: TypeAlias = Literal["bushy", "mixed", "deep"]


@dataclass(frozen=True, slots=True)
class Walk:
    """How a shape moves: chance of going down, of staying, and the greatest depth."""

    down: float
    stay: float
    most: int


#: 250 keeps the deep shape below the 256 levels at which libxml2 refuses a document by default.
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
    """Write an XML document with exactly ``nodes`` elements.

    Leaves hold one to four words, every third element has one attribute; about
    25 to 35 bytes an element.

    >>> generate("mixed", 3, seed=1).count(b"</")
    3

    Args:
        shape: ``bushy`` is wide and up to 5 deep, ``mixed`` up to 30, ``deep`` up to 250 with hardly any branches.
        nodes: how many elements, the root included; at least one.
        seed: the same seed gives the same document.

    Raises:
        ValueError: there is no such shape, or no node to write.
    """
    if shape not in SHAPES:
        raise ValueError(f"shape {shape!r} is not known; known are {', '.join(SHAPES)}")
    if nodes < 1:
        raise ValueError(f"a document has at least one element, not {nodes}")
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
    """Write the paper's experiment 3: fixed tag length, a share of the tags the same, the rest unique.

    The tree is the mixed shape. ``text_bytes`` of text in every leaf; the paper
    does not say how much its documents held, so the size table shows two.

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
    """The depth of every node in pre-order; the root alone has depth 0."""
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
    """A name of exactly ``length`` letters that no other number below 25 ** length has, never all ``a``."""
    letters = []
    for _ in range(length):
        number, digit = divmod(number, 25)
        letters.append("bcdefghijklmnopqrstuvwxyz"[digit])
    return "".join(letters)
