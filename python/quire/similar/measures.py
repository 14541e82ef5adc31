"""The similarity measures: one function for all of them, one for each, and bags of parts.

A bag holds the parts of a page and how often each one occurs. The similarity of two bags is the sum
of the smaller counts of all parts divided by the sum of the larger counts. A set is a bag in which
every count is 1. Two pages without any parts have similarity 1.0; a page without parts and a page
with some have 0.0.

A page caches its bags, at 12 bytes per distinct part, like everything derived from it. Comparing
the page again only walks along two arrays. On structure, a page makes its bag when it is compared
for the second time: comparing two pages without bags is faster than making one.

Parts are 64-bit hashes made by a kernel (``crates/quire-core/src/similarity``). They are the same
on every machine and in every version.
"""

from __future__ import annotations

from typing import Literal, Self, TypeAlias, cast, get_args, overload

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.digest.arguments import check_page
from quire.digest.page import Digest
from quire.similar.kangs import kang, kang_likeness, kang_normalised
from quire.similar.likeness import DifferingPart, Likeness

#: Measures based on bags or sets of parts. They have sketches and can be restricted to nodes.
BagMeasure: TypeAlias = Literal[
    "structure", "structure+class", "content", "paths", "paths+counts", "tokens"
]
#: All measures.
Measure: TypeAlias = Literal[BagMeasure, "kang", "kang_normalised"]

BAG_MEASURES: tuple[BagMeasure, ...] = get_args(BagMeasure)
MEASURES: tuple[Measure, ...] = get_args(Measure)

# Names of the bags in the cache of a page. Plain "content" is a column.
_KEPT_AS = {on: f"bag of {on}" for on in BAG_MEASURES}
# A page that was compared on structure before.
_COMPARED = "compared on structure"

#: Default number of differing parts in an explanation.
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
    """Measure how similar two pages are, from 0 to 1.

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
        b: another page.
        on: the measure.

            - ``structure``: four tags in a row, counted. Distinguishes templates.
            - ``structure+class``: an element with its parent and grandparent, all with their
              classes, counted.
            - ``content``: five words in a row.
            - ``paths``: paths of tags from the root; ``paths+counts`` counts them.
            - ``tokens``: three tokens in a row, tags or whole texts (paper 003).
            - ``kang``: layers of the trees, position by position (paper 001);
              ``kang_normalised`` scales this to start at 0.
        nodes: a CSS selector; compare only the elements it selects and everything in them.
        explain: return a ``Likeness`` with the parts that differ, instead of only the number.
        most: maximum number of differing parts in the explanation.

    Raises:
        ValueError: the measure does not exist, or only compares whole pages.
        SelectorError: the selector is not valid.
    """
    _check_pages(a, b)
    if on in {"kang", "kang_normalised"}:
        if nodes is not None:
            raise ValueError(
                f"{on} only compares whole pages; nodes work with {', '.join(BAG_MEASURES)}"
            )
        if explain:
            return kang_likeness(a, b, on)
        return kang(a, b) if on == "kang" else kang_normalised(a, b)
    if on not in BAG_MEASURES:
        raise ValueError(f"unknown measure {on!r}; expected {', '.join(MEASURES)}")
    if not explain:
        return _compared(a, b, on, nodes)
    if most < 0:
        raise ValueError(f"most is {most}; expected 0 or more")
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
    """Compare elements with their parents and grandparents, all with their classes, counted.

    >>> import quire
    >>> structure_class(quire.encode(b"<p class=a>"), quire.encode(b"<p class=b>"))
    0.6
    """
    return _compared(a, b, "structure+class", nodes)


def content(a: Digest, b: Digest, *, nodes: str | None = None) -> float:
    """Compare five words in a row of the text in reading order, ignoring upper and lower case.

    If a script has no spaces between words, each letter counts as a word.

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
    """Compare three tokens in a row; each tag and each whole text is one token (paper 003).

    >>> import quire
    >>> tokens(quire.encode(b"<p>One</p>"), quire.encode(b"<p>Two</p>"), nodes="p")
    0.0
    """
    return _compared(a, b, "tokens", nodes)


def _compared(a: Digest, b: Digest, on: BagMeasure, nodes: str | None) -> float:
    _check_pages(a, b)
    if nodes is not None:
        return _core.similarity(a._native, b._native, on, nodes)
    # Not `or`: both pages are marked.
    if on == "structure" and _is_first(a) | _is_first(b):
        return _core.similarity(a._native, b._native, on, None)
    return _bag(a, on).similarity(_bag(b, on))


def _check_pages(a: object, b: object) -> None:
    """Check that both are pages; comparing them takes microseconds, so this must not."""
    if not (isinstance(a, Digest) and isinstance(b, Digest)):
        check_page("a", a)
        check_page("b", b)


def _is_first(page: Digest) -> bool:
    """Tell whether a page is compared on structure for the first time, and remember it."""
    if _COMPARED in page._kept:
        return False
    page._kept[_COMPARED] = True
    return True


def _bag(page: Digest, on: BagMeasure) -> _core.Bag:
    """Return the parts of a whole page, cached: a page compared once is usually compared again."""
    return page._keep(_KEPT_AS[on], lambda: _core.Bag(page._native, on, None))


class Bag:
    """The parts of a page, for comparing it with many others.

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
        """Collect the parts of a page.

        Args:
            page: the page.
            on: the measure; any except Kang's.
            nodes: a CSS selector; use only the elements it selects and everything in them.

        Raises:
            ValueError: the measure does not exist.
            SelectorError: the selector is not valid.
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
        """The number of parts, counting repeated ones."""
        return self._native.total

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """The hashes of the distinct parts, ascending."""
        return np.frombuffer(self._native.hashes(), np.dtype("<u8"))

    @property
    def counts(self) -> NDArray[np.uint32]:
        """How often each part occurs."""
        return np.frombuffer(self._native.counts(), np.dtype("<u4"))

    def similarity(self, other: Bag) -> float:
        """Measure how similar two pages are, like ``quire.similarity``.

        Raises:
            ValueError: the bags have different measures.
        """
        return self._native.similarity(other._native)

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<Bag on {self.on}: {len(self)} different parts, {self.total} in all>"
