"""The clustering of paper 003: draw random pages as templates, and let similar pages join them.

It has the name and the parameters of the paper: sketches of m = 100 values over three tokens in a
row, k = 30 templates per round, and pages join a template if their similarity exceeds ``sim`` =
0.5. The same seed gives the same clusters. ``templates`` groups better; this function is the one
that the paper measures and that its compression uses.

The paper leaves two points open; we decided (``docs/papers.md``) that a template that no page joins
is removed alone, and that the clustering ends after ``patience`` rounds in which no page joins.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.digest.page import Digest
from quire.errors import SketchError
from quire.similar.sketches import VALUES

#: The paper's k: templates drawn in each round.
TEMPLATES_A_ROUND = 30
#: The paper's w: tokens in a shingle.
TOKENS_IN_A_ROW = 3
#: The paper's sim: pages join a template if their similarity is greater.
SIMILARITY = 0.5

_MOST_SEED = 2**64 - 1
_MOST = 2**16 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Clusters of pages.

    Attributes:
        template_of: for every page, the number of the page that is its template, or -1. A template
            is its own template.
    """

    template_of: NDArray[np.int32]

    @property
    def count(self) -> int:
        """The number of clusters (the paper's number of templates)."""
        return len(np.unique(self.template_of[self.template_of >= 0]))

    @property
    def coverage(self) -> float:
        """The share of pages that have a template (the paper's coverage rate)."""
        return float((self.template_of >= 0).mean()) if len(self.template_of) else 1.0


def token_sketches(
    pages: Iterable[Digest], *, m: int = VALUES, w: int = TOKENS_IN_A_ROW
) -> NDArray[np.uint32]:
    """Sketch pages as in paper 003: m values over w tokens in a row, one matrix row per page.

    With w = 3, a row equals the values of ``Sketch.of(page, "tokens")``. Only one page is in memory
    at a time.

    >>> import quire
    >>> token_sketches([quire.encode(b"<p>One<p>Two"), quire.encode(b"<p>Two")], m=8, w=2).shape
    (2, 8)

    Raises:
        ValueError: m or w is not 1 to 65,535.
    """
    for name, value in (("m", m), ("w", w)):
        if not 1 <= value <= _MOST:
            raise ValueError(f"{name} is {value}; expected 1 to {_MOST:,}")
    rows = [np.frombuffer(_core.token_bins(page._native, m, w), "<u4") for page in pages]
    return np.stack(rows) if rows else np.empty((0, m), np.uint32)


def random_sampling(
    matrix: NDArray[np.uint32],
    *,
    k: int = TEMPLATES_A_ROUND,
    sim: float = SIMILARITY,
    seed: int = 0,
    patience: int = 1,
) -> Clusters:
    """Cluster sketches, the rows of a matrix, as in paper 003.

    >>> import quire
    >>> from quire.similar import Sketch, sketches_to_matrix
    >>> pages = [b"<p>One<p>Two", b"<p>One<p>Two<p>Three", b"<ul><li>Four", b"<ul><li>Four</ul>"]
    >>> sketches = (Sketch.of(quire.encode(page), "tokens") for page in pages)
    >>> random_sampling(sketches_to_matrix(sketches), sim=0.3, seed=7).count
    2

    Args:
        matrix: min-wise sketches; the paper uses ``tokens`` with m = 100.
        k: number of templates drawn in each round.
        sim: pages join a template if their similarity is greater than this.
        seed: random seed; the same seed gives the same clusters.
        patience: stop after this many rounds in a row in which no page joins.

    Raises:
        SketchError: the matrix does not have two dimensions.
        ValueError: a parameter is out of its range.
    """
    check_sampling(k=k, sim=sim, seed=seed, patience=patience)
    rows = np.ascontiguousarray(matrix, np.uint32)
    if rows.ndim != 2:  # noqa: PLR2004 - rows and columns
        raise SketchError(f"a matrix of sketches has 2 dimensions, not {rows.ndim}")
    if not rows.size:
        return Clusters(np.full(len(rows), -1, np.int32))
    found = _core.random_sampling(rows, rows.shape[1], k, sim, seed, patience)
    return Clusters(np.frombuffer(found, "<i4"))


def check_sampling(*, k: int, sim: float, seed: int, patience: int = 1) -> None:
    """Check the settings of the clustering.

    Raises:
        ValueError: one is out of its range.
    """
    if k < 1 or patience < 1:
        raise ValueError(f"k is {k}, patience is {patience}; expected both to be 1 or more")
    if not 0 <= sim <= 1:
        raise ValueError(f"sim is {sim}; expected 0 to 1")
    if not 0 <= seed <= _MOST_SEED:
        raise ValueError(f"seed is {seed}; expected 0 to 2^64 - 1")
