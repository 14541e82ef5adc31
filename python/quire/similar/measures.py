"""The measures: one function for all of them, one for each, and bags for many comparisons.

A bag is the parts of a page with how often each occurs. Two bags are as alike as what they share,
divided by what either has: of each part the smaller count, divided by the larger one, summed. Sets are
bags where every count is 1. Two pages without any part are alike (1.0), one without and one with are not (0.0).

A page keeps the parts it was asked for, 12 bytes for each different one, as it keeps all that is derived from it. So
comparing it again is a walk along two arrays.

Parts are 64-bit hashes made by a kernel (``crates/quire-core/src/similarity``). They are the same on every
machine and in every version.
"""

from __future__ import annotations

from typing import Literal, Self, TypeAlias, cast, get_args, overload

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.digest.page import Digest
from quire.similar.kangs import kang, kang_likeness, kang_normalised
from quire.similar.likeness import DifferingPart, Likeness

#: Measures that are bags or sets of parts, and so have sketches and can be restricted to nodes.
BagMeasure: TypeAlias = Literal[
    "structure", "structure+class", "content", "paths", "paths+counts", "tokens"
]
#: Every measure.
Measure: TypeAlias = Literal[BagMeasure, "kang", "kang_normalised"]

BAG_MEASURES: tuple[BagMeasure, ...] = get_args(BagMeasure)
MEASURES: tuple[Measure, ...] = get_args(Measure)

# Names of bags among all that a page keeps: "content" is a column.
_KEPT_AS = {on: f"bag of {on}" for on in BAG_MEASURES}

#: How many differing parts an explanation has, unless asked otherwise.
MOST_PARTS = 20


@overload
def similarity(
    a: Digest,
    b: Digest,
    on: Measure = "structure",
    *,
    nodes: str | None = None,
    explain: Literal[False] = False,
    most: int = MOST_PARTS,
) -> float: ...
@overload
def similarity(
    a: Digest,
    b: Digest,
    on: Measure = "structure",
    *,
    nodes: str | None = None,
    explain: Literal[True],
    most: int = MOST_PARTS,
) -> Likeness: ...
def similarity(
    a: Digest,
    b: Digest,
    on: Measure = "structure",
    *,
    nodes: str | None = None,
    explain: bool = False,
    most: int = MOST_PARTS,
) -> float | Likeness:
    """Say how alike two pages are, from 0 to 1.

    >>> import quire
    >>> friday = quire.encode(b"<h1>Fish</h1><ul><li>Cod, fresh from the boat<li>Haddock</ul>")
    >>> monday = quire.encode(b"<h1>Fish</h1><ul><li>Cod, fresh from the boat<li>Plaice</ul>")
    >>> quire.similarity(friday, monday), round(quire.similarity(friday, monday, "content"), 2)
    (1.0, 0.5)
    >>> quire.similarity(friday, monday, "content", nodes="h1")
    1.0
    >>> quire.similarity(friday, monday, "content", explain=True).parts[0]
    DifferingPart(text='fresh from the boat haddock', in_a=1, in_b=0)

    Args:
        a: a page.
        b: another.
        on: what is compared.

            - ``structure``: four tags in a row, counted. Tells templates apart.
            - ``structure+class``: an element below its parent and grandparent, all with their classes, counted.
            - ``content``: five words in a row.
            - ``paths``: paths of tags from the root; ``paths+counts`` counts them.
            - ``tokens``: three tokens in a row, tags or whole texts (paper 003).
            - ``kang``: layers of the trees, place by place (paper 001); ``kang_normalised`` from 0 on.
        nodes: a CSS selector: compare only what it chooses, with all that is in it.
        explain: give a ``Likeness`` with the parts that differ, instead of the number alone.
        most: how many differing parts it has.

    Raises:
        ValueError: the measure is not known, or compares whole pages only.
        SelectorError: the selector cannot be read.
    """
    if on in {"kang", "kang_normalised"}:
        if nodes is not None:
            raise ValueError(f"{on} compares whole pages; nodes are for {', '.join(BAG_MEASURES)}")
        if explain:
            return kang_likeness(a, b, on)
        return kang(a, b) if on == "kang" else kang_normalised(a, b)
    if on not in BAG_MEASURES:
        raise ValueError(f"measure {on!r} is not known; known are {', '.join(MEASURES)}")
    if not explain:
        return _compared(a, b, on, nodes)
    if most < 0:
        raise ValueError(f"most {most}: a number of parts is not negative")
    shared, total, differing, parts = _core.likeness(a._native, b._native, on, nodes, most)
    return Likeness(
        on=on,
        value=shared / total if total else 1.0,
        shared=shared,
        total=total,
        differing=differing,
        parts=tuple(DifferingPart(*part) for part in parts),
    )


def structure(a: Digest, b: Digest, *, nodes: str | None = None) -> float:
    """Compare four tags in a row, in document order, counted.

    >>> import quire
    >>> structure(quire.encode(b"<p>One<p>Two"), quire.encode(b"<p>Three<p>Four"))
    1.0
    """
    return _compared(a, b, "structure", nodes)


def structure_class(a: Digest, b: Digest, *, nodes: str | None = None) -> float:
    """Compare elements with their classes, below parent and grandparent with theirs, counted.

    >>> import quire
    >>> structure_class(quire.encode(b"<p class=a>"), quire.encode(b"<p class=b>"))
    0.6
    """
    return _compared(a, b, "structure+class", nodes)


def content(a: Digest, b: Digest, *, nodes: str | None = None) -> float:
    """Compare five words in a row, of the text in reading order; capitals do not count.

    Where a script puts no spaces between words, each letter is one.

    >>> import quire
    >>> content(quire.encode(b"<p>Fish &amp; chips"), quire.encode(b"<b>FISH, chips</b>"))
    1.0
    """
    return _compared(a, b, "content", nodes)


def paths(a: Digest, b: Digest, *, nodes: str | None = None) -> float:
    """Compare the paths of tags from the root to each element, as sets.

    >>> import quire
    >>> paths(quire.encode(b"<p>One"), quire.encode(b"<p>One<p>Two"))
    1.0
    """
    return _compared(a, b, "paths", nodes)


def path_counts(a: Digest, b: Digest, *, nodes: str | None = None) -> float:
    """Compare the paths of tags from the root to each element, counted.

    >>> import quire
    >>> path_counts(quire.encode(b"<p>One"), quire.encode(b"<p>One<p>Two"))
    0.8
    """
    return _compared(a, b, "paths+counts", nodes)


def tokens(a: Digest, b: Digest, *, nodes: str | None = None) -> float:
    """Compare three tokens in a row: tags, and texts however long, one token each (paper 003).

    >>> import quire
    >>> tokens(quire.encode(b"<p>One</p>"), quire.encode(b"<p>Two</p>"), nodes="p")
    0.0
    """
    return _compared(a, b, "tokens", nodes)


def _compared(a: Digest, b: Digest, on: BagMeasure, nodes: str | None) -> float:
    if nodes is not None:
        return _core.similarity(a._native, b._native, on, nodes)
    return _bag(a, on).similarity(_bag(b, on))


def _bag(page: Digest, on: BagMeasure) -> _core.Bag:
    """The parts of a whole page. Kept with it: whoever compares a page once compares it again."""
    return page._keep(_KEPT_AS[on], lambda: _core.Bag(page._native, on, None))


class Bag:
    """The parts of a page, for whoever compares it with many others.

    >>> import quire
    >>> pages = [quire.encode(source) for source in (b"<p>One", b"<p>One<p>Two", b"<ul><li>One")]
    >>> first, *others = [Bag.of(page, "paths+counts") for page in pages]
    >>> [round(first.similarity(other), 2) for other in others]
    [0.8, 0.5]
    """

    __slots__ = ("_native",)

    def __init__(self, native: _core.Bag) -> None:
        self._native = native

    @classmethod
    def of(cls, page: Digest, on: BagMeasure = "structure", *, nodes: str | None = None) -> Self:
        """Take the parts of a page.

        Args:
            page: the page.
            on: which parts: any measure but Kang's.
            nodes: a CSS selector: only what it chooses, with all that is in it.

        Raises:
            ValueError: the measure is not known.
            SelectorError: the selector cannot be read.
        """
        return cls(
            _bag(page, on)
            if nodes is None and on in _KEPT_AS
            else _core.Bag(page._native, on, nodes)
        )

    @property
    def on(self) -> BagMeasure:
        """The measure."""
        return cast("BagMeasure", self._native.measure)

    @property
    def total(self) -> int:
        """How many parts there are, each as often as it occurs."""
        return self._native.total

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """The different parts as hashes, ascending."""
        return np.frombuffer(self._native.hashes(), np.dtype("<u8"))

    @property
    def counts(self) -> NDArray[np.uint32]:
        """How often each occurs."""
        return np.frombuffer(self._native.counts(), np.dtype("<u4"))

    def similarity(self, other: Bag) -> float:
        """Say how alike two pages are, as ``similarity`` does.

        Raises:
            ValueError: the bags are of different measures.
        """
        return self._native.similarity(other._native)

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<Bag on {self.on}: {len(self)} different parts, {self.total} in all>"
