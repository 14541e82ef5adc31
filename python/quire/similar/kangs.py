"""Kang's measure: the layers of two trees, compared place by place.

The program of the paper to the letter, with every ambiguity settled as ``docs/papers.md`` says. It is here
because people know it, and it is quick. It cannot tell the templates of one site apart as ``structure``
does, its least value is 0.4375 and not 0, and shallow pages come out alike.
"""

from __future__ import annotations

from typing import Literal

from quire import _core
from quire.digest.page import Digest
from quire.similar.likeness import KangLayer, Likeness

#: The paper's D: how many layers are looked at.
DEPTH = 8
#: The paper's Q: pages are similar when S is greater.
THRESHOLD = 0.8

# What the kernel counts layers with.
_MOST_DEPTH = 2**32 - 1


def kang(a: Digest, b: Digest, *, depth: int = DEPTH) -> float:
    """Give Kang's S: 1 for equal trees, at least 0.4375 at the usual depth.

    >>> import quire
    >>> one = quire.encode(b"<h1>Fish</h1><table><tr><td>Cod</table>")
    >>> two = quire.encode(b"<h1>Meat</h1><ul><li>Ham</ul>")
    >>> kang(one, two)
    0.6354166666666667

    Args:
        a: a page.
        b: another.
        depth: the paper's D: how many layers below ``body`` are looked at.

    Raises:
        ValueError: the depth is not at least 1.
    """
    return _core.kang(a._native, b._native, _checked(depth))[0]


def kang_normalised(a: Digest, b: Digest, *, depth: int = DEPTH) -> float:
    """Give Kang's S stretched to 0 to 1, over the layers that the pages have.

    >>> import quire
    >>> kang_normalised(quire.encode(b"<p>Fish"), quire.encode(b"<ul><li>Fish"))
    0.0

    Raises:
        ValueError: the depth is not at least 1.
    """
    return _core.kang(a._native, b._native, _checked(depth))[1]


def kang_similar(a: Digest, b: Digest, *, depth: int = DEPTH, threshold: float = THRESHOLD) -> bool:
    """Tell whether two pages are similar by the paper: S is greater than Q.

    >>> import quire
    >>> kang_similar(quire.encode(b"<p>Fish"), quire.encode(b"<p>Meat"))
    True

    Raises:
        ValueError: the depth is not at least 1.
    """
    return kang(a, b, depth=depth) > threshold


def kang_likeness(
    a: Digest, b: Digest, on: Literal["kang", "kang_normalised"], *, depth: int = DEPTH
) -> Likeness:
    """Give Kang's measure layer by layer.

    >>> import quire
    >>> found = kang_likeness(quire.encode(b"<p>Fish"), quire.encode(b"<p><b>Fish"), "kang")
    >>> [(layer.layer, layer.value) for layer in found.layers], found.similar
    ([(1, 1.0), (2, 0.0)], True)

    Raises:
        ValueError: the depth is not at least 1.
    """
    value, normalised, layers = _core.kang(a._native, b._native, _checked(depth))
    return Likeness(
        on=on,
        value=value if on == "kang" else normalised,
        layers=tuple(KangLayer(i, *layer) for i, layer in enumerate(layers, 1)),
        similar=value > THRESHOLD,
    )


def _checked(depth: int) -> int:
    if depth < 1:
        raise ValueError(f"depth {depth}: at least one layer has to be looked at")
    return min(depth, _MOST_DEPTH)
