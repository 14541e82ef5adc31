"""TBC of pages in memory: the method of paper 003, with its names and parameters.

Pages are clustered by their templates. One page of each cluster, the reference, is stored whole;
every other page is stored as a delta against it. Pages without a template are stored whole. Each
stored page is then compressed with gzip or zstd, as in the paper's "TBC + Gzip", so reading a
page needs only its reference.

TBC is kept for comparison, in memory, with sizes and times for each step: ``Archive`` stores the
same pages in half the space. ``docs/papers.md`` says how open questions of the paper were
settled, and ``docs/concepts/tbc.md`` explains the steps.
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

#: Window of the paper, in tokens.
WINDOW = 7
GZIP_LEVEL = 9
ZSTD_LEVEL = 19
#: Bytes stored for each page besides its data: 32 bits each for length, packed length, reference.
DIRECTORY_BYTES = 12

#: Compression applied to each stored page.
Packing: TypeAlias = Literal["gzip", "zstd"]
#: Which page of a cluster becomes its reference.
ReferenceChoice: TypeAlias = Literal["template", "random"]

_GZIP_FORMAT = 31  # tells zlib to use the gzip format


@dataclass(frozen=True, slots=True)
class TbcSizes:
    """Bytes by part.

    Attributes:
        pages: Original pages.
        references: Stored references.
        deltas: Stored deltas.
        alone: Stored pages without a template.
        directory: Directory of all pages.
    """

    pages: int
    references: int
    deltas: int
    alone: int
    directory: int

    @property
    def stored(self) -> int:
        """Total bytes stored."""
        return self.references + self.deltas + self.alone + self.directory

    @property
    def ratio(self) -> float:
        """Stored bytes divided by original bytes: the compression ratio of table 1."""
        return self.stored / self.pages if self.pages else 1.0

    @property
    def saved(self) -> float:
        """Share of bytes saved: the compression ratio of figures 4 and 5."""
        return 1 - self.ratio


@dataclass(frozen=True, slots=True)
class TbcTimes:
    """Seconds by step: CPU time of the thread; wall-clock time for the parts of the delta.

    Attributes:
        sketch: Sketching the pages.
        cluster: Clustering the sketches.
        delta: Computing all deltas.
        cut: Part of delta: tokenizing the pages.
        filter: Part of delta: setting aside tokens that share no window.
        myers: Part of delta: finding the shortest edit script.
        merge: Part of delta: merging three scripts into one and serializing it.
        pack: Compressing with gzip or zstd.
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
        """Seconds of all steps."""
        return self.sketch + self.cluster + self.delta + self.pack


@dataclass(frozen=True, slots=True)
class TbcSteps:
    """Counts over all deltas.

    Attributes:
        deltas: Number of deltas.
        tokens: Tokens of references and pages.
        kept: Tokens left after the filter.
        edits: Edits between the remaining tokens (D in the paper).
        shortest: Number of scripts known to be shortest; the others ran out of budget.
    """

    deltas: int
    tokens: int
    kept: int
    edits: int
    shortest: int


@dataclass(frozen=True, slots=True)
class _Stored:
    """A stored page: length, reference (or -1), packed bytes or delta, and unpacked length."""

    length: int
    reference: int
    frame: bytes
    plain: int


class TbcArchive:
    """Pages stored with the method of paper 003; made by ``tbc_encode``.

    Attributes:
        clusters: Which pages have which template.
        sizes: Bytes by part.
        times: Seconds by step.
        steps: Counts over all deltas.
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
        """Get a page back, byte for byte.

        Raises:
            IndexError: The page does not exist.
        """
        page = self._stored[i]
        plain = unpack(page.frame, page.plain, self._packing)
        if page.reference < 0:
            return plain
        whole = self._stored[page.reference]
        reference = unpack(whole.frame, whole.plain, self._packing)
        return _core.tbc_apply(reference, plain, page.length)

    def reference(self, i: int) -> int | None:
        """Return the page that a page is stored against, or None if it is stored whole."""
        found = self._stored[i].reference
        return None if found < 0 else found

    def stored_bytes(self, i: int) -> bytes:
        """Return the bytes stored for a page: the page itself or its delta, compressed.

        Raises:
            IndexError: The page does not exist.
        """
        return self._stored[i].frame

    def __repr__(self) -> str:
        return (
            f"<TbcArchive: {len(self):,} pages, {self.clusters.count:,} clusters, "
            f"{self.sizes.ratio:.1%}>"
        )


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
    """Store pages with the method of paper 003.

    >>> pages = [b"<ul><li>Cod<li>Ham<li>Eel</ul><p>" + name for name in (b"One", b"Two", b"Three")]
    >>> stored = tbc_encode(pages, packing=None)
    >>> [stored.decode(i) for i in range(3)] == pages
    True
    >>> stored.clusters.count, sum(stored.reference(i) is None for i in range(3))
    (1, 1)

    Args:
        pages: Bytes of the pages.
        k: Number of templates drawn in each round of clustering.
        m: Number of values in a sketch.
        w: Number of consecutive tokens in a shingle.
        sim: Minimum similarity (exclusive) for a page to join a template.
        window: Window of the filter in tokens; 0 disables the filter.
        seed: Random seed; the same seed gives the same result.
        packing: Compression of each stored page: ``gzip`` (level 9), ``zstd`` (level 19) or None.
        reference: Use the cluster's own (randomly drawn) template, or draw again among its pages.
        clusters: Clusters made earlier for these pages; k, m, w and sim are then ignored.

    Raises:
        ValueError: A parameter is out of range, or the clusters belong to other pages.
    """
    check_delta(window, packing)
    start = time.thread_time()
    if clusters is None:
        matrix = token_sketches((encode(page) for page in pages), m=m, w=w)
        sketched = time.thread_time()
        clusters = random_sampling(matrix, k=k, sim=sim, seed=seed)
    else:
        sketched = start
        if len(clusters.template_of) != len(pages):
            raise ValueError(
                f"the clusters are of {len(clusters.template_of):,} pages, "
                f"but there are {len(pages):,}"
            )
    clustered = time.thread_time()
    reference_of = _references(clusters, reference, seed)
    plain, steps, nanoseconds = _deltas(pages, reference_of, window)
    compared = time.thread_time()
    stored = [
        _Stored(len(page), int(of), pack(body, packing), len(body))
        for page, of, body in zip(pages, reference_of, plain, strict=True)
    ]
    packed = time.thread_time()
    ends = (start, sketched, clustered, compared, packed)
    sketch, cluster, delta, packing_s = (after - before for before, after in pairwise(ends))
    cut, filtered, myers, merge = (nanoseconds / 1e9).tolist()
    times = TbcTimes(sketch, cluster, delta, cut, filtered, myers, merge, packing_s)
    return TbcArchive(stored, packing, clusters, times, steps)


def check_delta(window: int, packing: Packing | None) -> None:
    """Check the settings of deltas and their packing.

    Raises:
        ValueError: one is out of range or not known.
    """
    if window < 0:
        raise ValueError(f"window {window}: expected 0 tokens or more")
    if packing not in {"gzip", "zstd", None}:
        raise ValueError(f"packing {packing!r} is not known; expected gzip, zstd or None")


def _references(clusters: Clusters, choice: ReferenceChoice, seed: int) -> NDArray[np.int32]:
    """Return the reference of every page; -1 for pages that are stored whole."""
    of = clusters.template_of.copy()
    if choice == "random":
        draw = random.Random(seed)  # noqa: S311 - chance in an experiment, not a secret
        for template in np.unique(of[of >= 0]).tolist():
            members = np.flatnonzero(clusters.template_of == template)
            of[members] = members[draw.randrange(len(members))]
    elif choice != "template":
        raise ValueError(f"reference {choice!r} is not known; expected template or random")
    of[of == np.arange(len(of))] = -1
    return of


def _deltas(
    pages: Sequence[bytes], reference_of: NDArray[np.int32], window: int
) -> tuple[list[bytes], TbcSteps, NDArray[np.int64]]:
    """Return the bytes to store for every page, the counts, and the nanoseconds of each step."""
    plain = list(pages)
    counts = np.zeros(6, np.int64)
    nanoseconds = np.zeros(4, np.int64)
    deltas = 0
    # Cluster by cluster: each reference is tokenized once, and only one is in memory.
    order = np.argsort(reference_of, kind="stable")
    order = order[reference_of[order] >= 0]
    held, against = -1, None
    for i in order.tolist():
        if against is None or reference_of[i] != held:
            held = int(reference_of[i])
            against = _core.TbcReference(pages[held], window)
            nanoseconds += against.nanoseconds
        plain[i], counted, spent = against.delta(pages[i])
        counts += counted
        nanoseconds += spent
        deltas += 1
    tokens, page_tokens, kept, page_kept, edits, shortest = counts.tolist()
    steps = TbcSteps(deltas, tokens + page_tokens, kept + page_kept, edits, shortest)
    return plain, steps, nanoseconds


def pack(plain: bytes, packing: Packing | None) -> bytes:
    """Compress a page or a delta."""
    if packing == "gzip":
        return zlib.compress(plain, GZIP_LEVEL, _GZIP_FORMAT)
    if packing == "zstd":
        return PLAIN_ZSTD.encode(plain, ZSTD_LEVEL)
    return plain


def unpack(frame: bytes, plain: int, packing: Packing | None) -> bytes:
    """Undo ``pack``; ``plain`` is the length before it."""
    if packing == "gzip":
        return zlib.decompress(frame, _GZIP_FORMAT)
    if packing == "zstd":
        return PLAIN_ZSTD.decode(frame, plain)
    return frame


def _sizes(stored: Sequence[_Stored]) -> TbcSizes:
    references = {page.reference for page in stored}
    whole = [(i, page) for i, page in enumerate(stored) if page.reference < 0]
    return TbcSizes(
        pages=sum(page.length for page in stored),
        references=sum(len(page.frame) for i, page in whole if i in references),
        deltas=sum(len(page.frame) for page in stored if page.reference >= 0),
        alone=sum(len(page.frame) for i, page in whole if i not in references),
        directory=DIRECTORY_BYTES * len(stored),
    )
