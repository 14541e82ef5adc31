"""TBC, template-based compression: paper 003's method, by its name and with its parameters.

Pages are clustered by their templates; of each cluster one page, the reference, is stored whole, and of every other
page the delta against it. Pages without a template are stored whole. gzip or zstd goes over each stored page, as the
paper's "TBC + Gzip" does, so that any page is read with its reference alone.

It is kept for comparison, in memory, with sizes and times by step: ``Archive`` stores pages in half of its bytes.
What the paper leaves open is settled in ``docs/papers.md``; ``docs/concepts/tbc.md`` tells the steps.
"""

from __future__ import annotations

import random
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.archive.format.record import PLAIN_ZSTD
from quire.digest.files import encode
from quire.similar.sampling import (
    SIMILARITY,
    TEMPLATES_A_ROUND,
    TOKENS_IN_A_ROW,
    Clusters,
    random_sampling,
    token_sketches,
)
from quire.similar.sketches import VALUES

#: The paper's window, in tokens.
WINDOW = 7
GZIP_LEVEL = 9
ZSTD_LEVEL = 19
#: What is kept of a page beside its bytes: length, length of what was packed, reference; 32 bits each.
DIRECTORY_BYTES = 12

#: What goes over each stored page.
Packing: TypeAlias = Literal["gzip", "zstd"]
#: Which page of a cluster is its reference.
ReferenceChoice: TypeAlias = Literal["template", "random"]

_GZIP_FORMAT = 31  # zlib's word for a gzip header


@dataclass(frozen=True, slots=True)
class TbcSizes:
    """Where the bytes are.

    Attributes:
        pages: of the pages as they came.
        references: of stored references.
        deltas: of stored deltas.
        alone: of stored pages without a template.
        directory: of what is kept beside.
    """

    pages: int
    references: int
    deltas: int
    alone: int
    directory: int

    @property
    def stored(self) -> int:
        """All that is stored."""
        return self.references + self.deltas + self.alone + self.directory

    @property
    def ratio(self) -> float:
        """What is stored as a share of the pages: table 1's compression ratio."""
        return self.stored / self.pages if self.pages else 1.0

    @property
    def saved(self) -> float:
        """The share that is saved: the compression ratio of figures 4 and 5."""
        return 1 - self.ratio


@dataclass(frozen=True, slots=True)
class TbcTimes:
    """Seconds by step: CPU time of the thread, but for the parts of the delta, which are wall clock.

    Attributes:
        sketch: pages to sketches.
        cluster: sketches to clusters.
        delta: references and pages to deltas, all of it.
        cut: of the delta, pages to tokens.
        filter: of the delta, what no window has in common is put aside.
        myers: of the delta, the shortest edit script.
        merge: of the delta, one script out of three, and its bytes.
        pack: gzip or zstd.
    """

    sketch: float
    cluster: float
    delta: float
    cut: float
    filter: float
    myers: float
    merge: float
    pack: float

    @property
    def total(self) -> float:
        """All steps."""
        return self.sketch + self.cluster + self.delta + self.pack


@dataclass(frozen=True, slots=True)
class TbcSteps:
    """What the steps of all deltas counted.

    Attributes:
        deltas: how many.
        tokens: of references and pages.
        kept: of those, left by the filter.
        edits: between what was left (the paper's D).
        shortest: how many scripts are known to be the shortest; others ran out of their budget.
    """

    deltas: int
    tokens: int
    kept: int
    edits: int
    shortest: int


@dataclass(frozen=True, slots=True)
class _Stored:
    """A page: its length, its reference or -1, its bytes or its delta, packed, and their length before."""

    length: int
    reference: int
    frame: bytes
    plain: int


class TbcArchive:
    """Pages stored as paper 003 stores them; made by ``tbc_encode``.

    Attributes:
        clusters: which pages have which template.
        sizes: where the bytes are.
        times: seconds by step.
        steps: what the steps counted.
    """

    __slots__ = ("_packing", "_stored", "clusters", "sizes", "steps", "times")

    def __init__(
        self,
        stored: list[_Stored],
        packing: Packing | None,
        clusters: Clusters,
        times: TbcTimes,
        steps: TbcSteps,
    ) -> None:
        self._stored: list[_Stored] = stored
        self._packing: Packing | None = packing
        self.clusters: Clusters = clusters
        self.times: TbcTimes = times
        self.steps: TbcSteps = steps
        self.sizes: TbcSizes = _sizes(stored)

    def __len__(self) -> int:
        return len(self._stored)

    def decode(self, i: int) -> bytes:
        """Give a page back, byte for byte.

        Raises:
            IndexError: there is no such page.
        """
        page = self._stored[i]
        plain = _unpack(page, self._packing)
        if page.reference < 0:
            return plain
        reference = _unpack(self._stored[page.reference], self._packing)
        return _core.tbc_apply(reference, plain, page.length)

    def reference(self, i: int) -> int | None:
        """Name the page that a page is stored against; none for one that is stored whole."""
        found = self._stored[i].reference
        return None if found < 0 else found

    def __repr__(self) -> str:
        return f"<TbcArchive: {len(self):,} pages, {self.clusters.count:,} clusters, {self.sizes.ratio:.1%}>"


def tbc_encode(
    pages: Sequence[bytes],
    *,
    k: int = TEMPLATES_A_ROUND,
    m: int = VALUES,
    w: int = TOKENS_IN_A_ROW,
    sim: float = SIMILARITY,
    window: int = WINDOW,
    seed: int = 0,
    packing: Packing | None = "gzip",
    reference: ReferenceChoice = "template",
    clusters: Clusters | None = None,
) -> TbcArchive:
    """Store pages as paper 003 does.

    >>> pages = [b"<ul><li>Cod<li>Ham<li>Eel</ul><p>" + name for name in (b"One", b"Two", b"Three")]
    >>> stored = tbc_encode(pages, packing=None)
    >>> [stored.decode(i) for i in range(3)] == pages
    True
    >>> stored.clusters.count, sum(stored.reference(i) is None for i in range(3))
    (1, 1)

    Args:
        pages: their bytes.
        k: templates drawn in each round of the clustering.
        m: values of a sketch.
        w: tokens in a row that make a shingle.
        sim: pages join a template that is more alike than this.
        window: tokens of the filter's window; 0 filters nothing.
        seed: what chance starts from.
        packing: what goes over each stored page: ``gzip`` (level 9), ``zstd`` (level 19), or nothing.
        reference: a cluster's own template, which was drawn by chance, or another draw among its pages.
        clusters: clusters of these pages that were made before; k, m, w and sim are not used then.

    Raises:
        ValueError: a parameter is out of its range, or the clusters are of other pages.
    """
    if window < 0:
        raise ValueError(f"window {window}: a window has 0 tokens or more")
    if packing not in {"gzip", "zstd", None}:
        raise ValueError(f"packing {packing!r} is not known; known are gzip, zstd and None")
    start = time.thread_time()
    if clusters is None:
        matrix = token_sketches((encode(page) for page in pages), m=m, w=w)
        sketched = time.thread_time()
        clusters = random_sampling(matrix, k=k, sim=sim, seed=seed)
    else:
        sketched = start
        if len(clusters.template_of) != len(pages):
            raise ValueError(
                f"the clusters are of {len(clusters.template_of):,} pages, but there are {len(pages):,}"
            )
    clustered = time.thread_time()
    reference_of = _references(clusters, reference, seed)
    plain, told, nanoseconds = _deltas(pages, reference_of, window)
    compared = time.thread_time()
    stored = [
        _Stored(len(page), int(of), _pack(body, packing), len(body))
        for page, of, body in zip(pages, reference_of, plain, strict=True)
    ]
    packed = time.thread_time()
    ends = (start, sketched, clustered, compared, packed)
    sketch, cluster, delta, pack = (after - before for before, after in pairwise(ends))
    cut, filtered, myers, merge = (nanoseconds / 1e9).tolist()
    times = TbcTimes(sketch, cluster, delta, cut, filtered, myers, merge, pack)
    return TbcArchive(stored, packing, clusters, times, told)


def _references(clusters: Clusters, choice: ReferenceChoice, seed: int) -> NDArray[np.int32]:
    """For every page its reference; -1 for pages that are stored whole."""
    of = clusters.template_of.copy()
    if choice == "random":
        draw = random.Random(seed)  # noqa: S311 - chance of an experiment, not a secret
        for template in np.unique(of[of >= 0]).tolist():
            members = np.flatnonzero(clusters.template_of == template)
            of[members] = members[draw.randrange(len(members))]
    elif choice != "template":
        raise ValueError(f"reference {choice!r} is not known; known are template and random")
    of[of == np.arange(len(of))] = -1
    return of


def _deltas(
    pages: Sequence[bytes], reference_of: NDArray[np.int32], window: int
) -> tuple[list[bytes], TbcSteps, NDArray[np.int64]]:
    """What is stored of every page, what the steps counted, and their nanoseconds."""
    plain = list(pages)
    counts = np.zeros(6, np.int64)
    nanoseconds = np.zeros(4, np.int64)
    deltas = 0
    # Cluster by cluster: a reference is cut once, and only one is held.
    order = np.argsort(reference_of, kind="stable")
    order = order[reference_of[order] >= 0]
    held, against = -1, None
    for i in order.tolist():
        if against is None or reference_of[i] != held:
            held = int(reference_of[i])
            against = _core.TbcReference(pages[held], window)
            nanoseconds += against.nanoseconds
        plain[i], told, spent = against.delta(pages[i])
        counts += told
        nanoseconds += spent
        deltas += 1
    tokens, page_tokens, kept, page_kept, edits, shortest = counts.tolist()
    steps = TbcSteps(deltas, tokens + page_tokens, kept + page_kept, edits, shortest)
    return plain, steps, nanoseconds


def _pack(plain: bytes, packing: Packing | None) -> bytes:
    if packing == "gzip":
        return zlib.compress(plain, GZIP_LEVEL, _GZIP_FORMAT)
    if packing == "zstd":
        return PLAIN_ZSTD.encode(plain, ZSTD_LEVEL)
    return plain


def _unpack(page: _Stored, packing: Packing | None) -> bytes:
    if packing == "gzip":
        return zlib.decompress(page.frame, _GZIP_FORMAT)
    if packing == "zstd":
        return PLAIN_ZSTD.decode(page.frame, page.plain)
    return page.frame


def _sizes(stored: Sequence[_Stored]) -> TbcSizes:
    leaned_on = {page.reference for page in stored}
    whole = [(i, page) for i, page in enumerate(stored) if page.reference < 0]
    return TbcSizes(
        pages=sum(page.length for page in stored),
        references=sum(len(page.frame) for i, page in whole if i in leaned_on),
        deltas=sum(len(page.frame) for page in stored if page.reference >= 0),
        alone=sum(len(page.frame) for i, page in whole if i not in leaned_on),
        directory=DIRECTORY_BYTES * len(stored),
    )
