"""Sketches: a few hundred bytes per page, from which similarity is estimated.

A *min-wise* sketch sorts the parts of a page into m bins and keeps the smallest hash of each bin;
the probability that two sketches agree in a bin equals the similarity of the pages. A *bottom-k*
sketch keeps the m smallest hashes overall, as in paper 004. Both can be merged. They work with
every measure based on bags or sets, and respect counts.

The stored form (``to_bytes``) is sixteen bytes followed by the values; it is the same on every
machine and in every version. Keep many min-wise sketches as rows of one array: ``resemblances`` and
``resemblance_matrix`` read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.digest.page import Digest
from quire.errors import SketchError
from quire.similar.measures import BagMeasure

SketchKind: TypeAlias = Literal["min-wise", "bottom-k"]

#: Default number of values in a sketch, as in paper 003.
VALUES = 100
#: The value of an empty bin.
EMPTY = 0xFFFF_FFFF

_MOST_VALUES = 2**16 - 1
_HEADER_BYTES = 16


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimated similarity.

    Attributes:
        value: the estimate, from 0 to 1.
        error: its standard error; the true value is this close about two times in three. 0 if the
            estimate is exact.
    """

    value: float
    error: float


class Sketch:
    """A sample of the parts of a page.

    >>> import quire
    >>> words = [f"word{i}" for i in range(2000)]
    >>> one, two = (quire.encode(" ".join(part).encode()) for part in (words[:1500], words[500:]))
    >>> estimate = Sketch.of(one, "content", m=400).resemblance(Sketch.of(two, "content", m=400))
    >>> abs(estimate.value - 0.5) < 3 * estimate.error < 0.1
    True
    """

    __slots__ = ("_native",)

    def __init__(self, native: _core.Sketch) -> None:
        self._native = native

    @classmethod
    def of(
        cls,
        page: Digest,
        on: BagMeasure = "structure",
        *,
        m: int = VALUES,
        nodes: str | None = None,
        kind: SketchKind = "min-wise",
    ) -> Self:
        """Sketch a page.

        Args:
            page: the page.
            on: the measure; any except Kang's.
            m: number of values to keep. The error falls with its square root.
            nodes: a CSS selector; use only the elements it selects and everything in them.
            kind: ``min-wise``, or ``bottom-k``, which is exact for pages with fewer than m parts.

        Raises:
            ValueError: the measure or the kind does not exist, or m is not 1 to 65,535.
            SelectorError: the selector is not valid.
        """
        if not 1 <= m <= _MOST_VALUES:
            raise ValueError(f"m is {m}; expected 1 to {_MOST_VALUES:,} values")
        if kind not in {"min-wise", "bottom-k"}:
            raise ValueError(f"unknown kind {kind!r}; expected min-wise or bottom-k")
        return cls(_core.sketch(page._native, on, m, nodes, kind == "bottom-k"))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read a stored sketch.

        Raises:
            SketchError: the bytes are not a sketch, or are damaged.
        """
        return cls(_core.sketch_from_bytes(data))

    def to_bytes(self) -> bytes:
        r"""Return the stored form: sixteen bytes, then the values.

        >>> import quire
        >>> Sketch.of(quire.encode(b"<p>"), m=3).to_bytes()[:8]
        b'qsk\x01\x01\x01\x03\x00'
        """
        return self._native.to_bytes()

    @property
    def on(self) -> BagMeasure:
        """The measure."""
        return cast("BagMeasure", self._native.measure)

    @property
    def m(self) -> int:
        """The number of values it can keep."""
        return self._native.m

    @property
    def kind(self) -> SketchKind:
        """``min-wise`` or ``bottom-k``."""
        return "bottom-k" if self._native.is_bottom_k else "min-wise"

    @property
    def values(self) -> NDArray[Any]:
        """The values: a 32-bit hash per bin (min-wise), or up to m 64-bit hashes (bottom-k)."""
        dtype = "<u8" if self._native.is_bottom_k else "<u4"
        return np.frombuffer(self.to_bytes(), np.dtype(dtype), offset=_HEADER_BYTES)

    def resemblance(self, other: Sketch) -> Estimate:
        """Estimate how similar two pages are.

        Raises:
            SketchError: the sketches have different measures, nodes, kinds or lengths.
        """
        return Estimate(*self._native.resemblance(other._native))

    def overlap(self, other: Sketch) -> float:
        """Divide the values two bottom-k sketches share by the values of either (paper 004).

        This is biased for pages with more than m parts; ``resemblance`` is not.

        Raises:
            SketchError: the sketches cannot be compared, or are not bottom-k.
        """
        return self._native.overlap(other._native)

    def merge(self, other: Sketch) -> Sketch:
        """Return the sketch of two pages combined, with the larger count of each part.

        Raises:
            SketchError: the sketches have different measures, nodes, kinds or lengths.
        """
        return Sketch(self._native.merge(other._native))

    __or__ = merge

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sketch) and self._native == other._native

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self).from_bytes, (self.to_bytes(),))

    def __repr__(self) -> str:
        return f"<Sketch on {self.on}: {self.kind}, m = {self.m}>"


def sketches_to_matrix(sketches: Iterable[Sketch]) -> NDArray[np.uint32]:
    """Put min-wise sketches into one array, one row per sketch.

    >>> import quire
    >>> sketches = [Sketch.of(quire.encode(page), m=8) for page in (b"<p>One", b"<p>Two")]
    >>> sketches_to_matrix(sketches).shape
    (2, 8)

    Raises:
        SketchError: a sketch is bottom-k, or the sketches cannot be compared.
    """
    rows: list[NDArray[np.uint32]] = []
    first: Sketch | None = None
    for sketch in sketches:
        if sketch.kind != "min-wise":
            raise SketchError("a bottom-k sketch has no bins; a matrix needs min-wise sketches")
        first = first or sketch
        if (sketch.on, sketch.m, sketch._native.nodes) != (first.on, first.m, first._native.nodes):
            raise SketchError(
                f"row {len(rows)} is a sketch of {sketch.on} with m = {sketch.m}, but row 0 is of "
                f"{first.on} with m = {first.m}; all rows need the same measure, m and selector"
            )
        rows.append(sketch.values)
    return np.stack(rows) if rows else np.empty((0, 0), np.uint32)


def resemblances(sketch: Sketch, matrix: NDArray[np.uint32]) -> NDArray[np.float32]:
    """Estimate how similar one page is to each row of a matrix.

    >>> import quire
    >>> one, two = (Sketch.of(quire.encode(page)) for page in (b"<p>One", b"<ul><li>Two"))
    >>> resemblances(one, sketches_to_matrix([one, two])).tolist()
    [1.0, 0.0]

    Raises:
        SketchError: the sketch is bottom-k, or has another length than the rows.
    """
    if sketch.kind != "min-wise":
        raise SketchError("a bottom-k sketch has no bins; use a min-wise sketch")
    rows = _rows(matrix)
    if rows.size and rows.shape[1] != sketch.m:
        raise SketchError(f"rows have {rows.shape[1]} values, but the sketch has {sketch.m}")
    return np.frombuffer(_core.view(_core.resemblances(sketch.values, rows)), np.float32)


def resemblance_matrix(matrix: NDArray[np.uint32]) -> NDArray[np.float32]:
    """Estimate how similar each row of a matrix is to every other.

    Takes 4 bytes per pair: 400 MB for 10,000 pages.

    >>> import quire
    >>> pages = [quire.encode(page) for page in (b"<p>One", b"<p>Two", b"<ul><li>Three")]
    >>> resemblance_matrix(sketches_to_matrix(map(Sketch.of, pages))).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]

    Raises:
        SketchError: the matrix does not have two dimensions.
        MemoryError: there are too many rows.
    """
    rows = _rows(matrix)
    if not rows.size:
        return np.empty((len(rows), len(rows)), np.float32)
    found = np.frombuffer(_core.view(_core.all_resemblances(rows, rows.shape[1])), np.float32)
    return found.reshape(len(rows), len(rows))


def _rows(matrix: NDArray[np.uint32]) -> NDArray[np.uint32]:
    rows = np.ascontiguousarray(matrix, np.uint32)
    if rows.ndim != 2:  # noqa: PLR2004 - rows and columns
        raise SketchError(f"a matrix of sketches has 2 dimensions, not {rows.ndim}")
    return rows
