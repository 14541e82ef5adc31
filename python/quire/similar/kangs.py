"""Kang's measure: the layers of two trees, compared position by position.

This is exactly the program of the paper; ``docs/papers.md`` says how we resolved its ambiguities.
It is here because it is well known and fast. Its limits: it does not distinguish the templates of
one site as well as ``structure`` does, its minimum is 0.4375 instead of 0, and shallow pages always
come out as similar.
"""

from __future__ import annotations

from typing import Literal

from quire import _core
from quire.digest.arguments import check_page
from quire.digest.page import Digest
from quire.similar.likeness import KangLayer, Likeness

#: The paper's D: number of layers to compare.
DEPTH = 8
#: The paper's Q: pages are similar if S is greater.
THRESHOLD = 0.8

# The kernel counts layers with 32 bits.
_MOST_DEPTH = 2**32 - 1


def kang(a: Digest, b: Digest, *, depth: int = DEPTH) -> float:
    """Compute Kang's S: 1 for equal trees, at least 0.4375 at the default depth.

    >>> import quire
    >>> one = quire.encode(b"<h1>Fish</h1><table><tr><td>Cod</table>")
    >>> two = quire.encode(b"<h1>Meat</h1><ul><li>Ham</ul>")
    >>> kang(one, two)
    0.6354166666666667

    Args:
        a: a page.
        b: another page.
        depth: the paper's D: number of layers below ``body`` to compare.

    Raises:
        ValueError: the depth is less than 1.
    """
    return _core.kang(check_page("a", a)._native, check_page("b", b)._native, _checked(depth))[0]


def kang_normalised(a: Digest, b: Digest, *, depth: int = DEPTH) -> float:
    """Compute Kang's S over the layers that the pages have, scaled to the range 0 to 1.

    >>> import quire
    >>> kang_normalised(quire.encode(b"<p>Fish"), quire.encode(b"<ul><li>Fish"))
    0.0

    Raises:
        ValueError: the depth is less than 1.
    """
    return _core.kang(check_page("a", a)._native, check_page("b", b)._native, _checked(depth))[1]


def kang_similar(a: Digest, b: Digest, *, depth: int = DEPTH, threshold: float = THRESHOLD) -> bool:
    """Tell whether two pages are similar in the sense of the paper: S is greater than Q.

    >>> import quire
    >>> kang_similar(quire.encode(b"<p>Fish"), quire.encode(b"<p>Meat"))
    True

    Raises:
        ValueError: the depth is less than 1.
    """
    return kang(a, b, depth=depth) > threshold


def kang_likeness(
    a: Digest, b: Digest, on: Literal["kang", "kang_normalised"], *, depth: int = DEPTH
) -> Likeness:
    """Compute Kang's measure layer by layer.

    >>> import quire
    >>> found = kang_likeness(quire.encode(b"<p>Fish"), quire.encode(b"<p><b>Fish"), "kang")
    >>> [(layer.layer, layer.value) for layer in found.layers], found.similar
    ([(1, 1.0), (2, 0.0)], True)

    Raises:
        ValueError: the depth is less than 1.
    """
    value, normalised, layers = _core.kang(
        check_page("a", a)._native, check_page("b", b)._native, _checked(depth)
    )
    return Likeness(
        on=on,
        value=value if on == "kang" else normalised,
        layers=tuple(KangLayer(i, *layer) for i, layer in enumerate(layers, 1)),
        similar=value > THRESHOLD,
    )


def _checked(depth: int) -> int:
    if depth < 1:
        raise ValueError(f"depth is {depth}; expected 1 or more")
    return min(depth, _MOST_DEPTH)
