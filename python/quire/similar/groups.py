"""Group the pages of a collection by the template they were made from.

A crawl has a few templates and many pages of each. ``templates`` finds them without knowing how
many there are, and without comparing every page with every other:

1. Sketch every page. Two pages *meet* if they share a value of their sketches.
2. Among the pages that share a value, the smallest is the *hub*, because it is closest to the bare
   template. Compare each page exactly with the twelve hubs it meets most often.
3. Two pages *match* if most of the smaller one (``threshold``, default 0.8) is in the larger one:
   pages of one template can differ in length by a factor of a hundred. They must also share a tenth
   of all their parts, because a nearly empty page is contained in everything.
4. Each page joins its best hub. Then groups merge by size: a small group joins another one through
   a single link, but two large groups merge only if half of the smaller one's pages have partners
   in the other.

Cost: steps 1 to 3 are linear in the number of pages. Step 4 compares samples of at most 64 pages
per linked group.

Columns of the result: ``group_of`` has the group of every page (-1 for a page that matches no
other), ``fits`` its resemblance to the representative of its group.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire import _core
from quire.digest.arguments import check_page
from quire.digest.page import Digest
from quire.similar.measures import BagMeasure
from quire.similar.sketches import EMPTY, VALUES, Sketch, sketches_to_matrix

#: Default measure: elements with their parents and grandparents, all with their classes.
MEASURE: BagMeasure = "structure+class"
#: Default share of the smaller page that must be in the larger one for the two to match.
THRESHOLD = 0.8
#: Maximum number of hubs to compare a page with.
MOST_HUBS = 12
#: Minimum share of all their parts that two pages must have in common to match.
LEAST_SHARED = 0.1
#: Maximum number of sampled pages per group.
SAMPLE = 64

#: An outlier's fit is below the median of its group by more than both of these: an absolute
#: difference, and a multiple of the group's deviation.
OUTLIER_FALL = 0.15
OUTLIER_DEVIATIONS = 4.0

#: Links between pages and hubs, as columns: page, hub, contained, resemblance.
Links: TypeAlias = tuple[
    NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64], NDArray[np.float64]
]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The pages of one template.

    Attributes:
        number: its number, from 0; the largest group is first.
        pages: the numbers of its pages in the collection, ascending.
        representative: the page most similar to the others.
        fit: the median resemblance of its pages to the representative, from 0 to 1.
        outliers: pages that fit much worse than the others, worst first.
    """

    number: int
    pages: NDArray[np.int64]
    representative: int
    fit: float
    outliers: NDArray[np.int64]

    @property
    def size(self) -> int:
        """The number of pages."""
        return len(self.pages)

    def __repr__(self) -> str:
        return (
            f"<Group {self.number}: {self.size:,} pages, representative {self.representative}, "
            f"fit {self.fit:.2f}, {len(self.outliers):,} outliers>"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Templates:
    """The templates of a collection.

    Attributes:
        on: the measure.
        threshold: minimum share of the smaller of two pages that is in the larger one.
        groups: the templates, largest first; each has at least two pages.
        singles: pages that match no other page.
        group_of: for every page, the number of its group, or -1.
        fits: for every page, its resemblance to the representative of its group; 1 for singles.
    """

    on: BagMeasure
    threshold: float
    groups: tuple[Group, ...]
    singles: NDArray[np.int64]
    group_of: NDArray[np.int32]
    fits: NDArray[np.float64]

    @property
    def coverage(self) -> float:
        """The share of pages that have a template (paper 003's coverage rate)."""
        n = len(self.group_of)
        return 1 - len(self.singles) / n if n else 1.0

    def renumbered(self, number_of: NDArray[np.int64]) -> Templates:
        """Return the same groups with pages renumbered: page ``i`` becomes ``number_of[i]``."""

        def moved(column: NDArray[Any]) -> NDArray[Any]:
            there = np.empty_like(column)
            there[number_of] = column
            return there

        groups = tuple(
            replace(
                group,
                pages=np.sort(number_of[group.pages]),
                representative=int(number_of[group.representative]),
                outliers=number_of[group.outliers],
            )
            for group in self.groups
        )
        # Among groups of the same size, the one with the first page comes first.
        order = sorted(groups, key=lambda group: (-group.size, group.pages[0]))
        number = np.full(len(groups) + 1, -1, np.int32)
        for new, group in enumerate(order):
            number[group.number] = new
        return replace(
            self,
            groups=tuple(replace(group, number=new) for new, group in enumerate(order)),
            singles=np.sort(number_of[self.singles]),
            group_of=number[moved(self.group_of)],
            fits=moved(self.fits),
        )

    def __repr__(self) -> str:
        return (
            f"<Templates of {len(self.group_of):,} pages: {len(self.groups):,} groups, "
            f"{len(self.singles):,} singles>"
        )


def templates(
    pages: Iterable[Digest], *, on: BagMeasure = MEASURE, threshold: float = THRESHOLD
) -> Templates:
    """Group pages by the template they were made from.

    >>> import quire
    >>> shop = [f"<h1 class=t>{i}</h1><table>{'<tr><td>Cod<td>9' * i}</table>" for i in range(3, 9)]
    >>> news = [f"<article><h2>{i}</h2>{'<p class=lead>Rain' * i}</article>" for i in range(4, 8)]
    >>> found = quire.templates(quire.encode(page.encode()) for page in [*shop, *news, "<b>Gone"])
    >>> [group.size for group in found.groups], found.singles.tolist()
    ([6, 4], [10])
    >>> found.group_of.tolist()
    [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, -1]

    Args:
        pages: the pages. For files, or more pages than fit in memory, use
            ``quire.similar.crawl.templates.crawl_templates``.
        on: the measure; any except Kang's.
        threshold: minimum share of the smaller of two pages that must be in the larger one for them
            to match.

    Raises:
        ValueError: the measure does not exist, or the threshold is not between 0 and 1.
    """
    check_threshold(threshold)
    all_pages = list(pages)
    n = len(all_pages)
    natives = [check_page(f"page {i}", page)._native for i, page in enumerate(all_pages)]
    bags = _core.Bags.of_pages(natives, on)
    matrix = sketches_to_matrix(Sketch.of(page, on, m=VALUES) for page in all_pages)
    keys, owners, sizes = meeting_rows(matrix, np.arange(n, dtype=np.uint64), sizes_of(bags))
    order = np.argsort(keys, kind="stable")
    met, hubs = hubs_of(keys[order], owners[order], sizes[order])
    order = np.argsort(met, kind="stable")
    page, hub = best_hubs(met[order], hubs[order])
    links = holding(page.astype(np.uint32), hub.astype(np.uint32), bags, threshold)
    label, sampled = first_groups(n, links)
    chosen = bags_at(bags, sampled)
    label = merged(label, links, sampled, chosen, threshold)
    representatives = representatives_of(label, sampled, chosen)
    every = np.arange(n, dtype=np.uint32)
    stands_for = every.copy()  # a single page represents itself
    for group, representative in representatives.items():
        stands_for[group] = representative
    _, fits = likenesses(every, bags, stands_for[label], bags)
    return arranged(label, fits, representatives, on, threshold)


def check_threshold(threshold: float) -> None:
    """Check that a threshold is between 0 and 1.

    Raises:
        ValueError: it is not.
    """
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold is {threshold}; expected 0 to 1")


def sizes_of(bags: _core.Bags) -> NDArray[np.uint32]:
    """Return the number of parts of each page."""
    totals: NDArray[np.uint64] = np.frombuffer(bags.totals(), "<u8")
    return totals.clip(max=0xFFFF_FFFF).astype(np.uint32)


def meeting_rows(
    matrix: NDArray[np.uint32], numbers: NDArray[np.uint64], sizes: NDArray[np.uint32]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint32]]:
    """Return a row for each value of each sketch: its key, its page and the size of the page."""
    if not matrix.size:
        return np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty(0, np.uint32)
    row, column = np.nonzero(matrix != EMPTY)
    keys: NDArray[np.uint64] = column.astype(np.uint64) << np.uint64(32)
    keys |= matrix[row, column]
    return keys, numbers[row], sizes[row]


def hubs_of(
    keys: NDArray[np.uint64], pages: NDArray[np.uint64], sizes: NDArray[np.uint32]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Link pages with the hub of each of their keys. Rows with the same key must be adjacent."""
    met, hubs = _core.hubs(keys, pages, sizes)
    return np.frombuffer(met, "<u8"), np.frombuffer(hubs, "<u8")


def best_hubs(
    pages: NDArray[np.uint64], hubs: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Keep the hubs that each page met most often. Rows of the same page must be adjacent."""
    kept, best = _core.most_met(pages, hubs, MOST_HUBS)
    return np.frombuffer(kept, "<u8"), np.frombuffer(best, "<u8")


def likenesses(
    these: NDArray[np.uint32], bags: _core.Bags, those: NDArray[np.uint32], others: _core.Bags
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how much of the smaller bag of each pair is in the larger, and their similarity."""
    contained, resemblance = bags.likenesses(these, others, those)
    return np.frombuffer(contained, "<f8"), np.frombuffer(resemblance, "<f8")


def holding(
    pages: NDArray[np.uint32], hubs: NDArray[np.uint32], bags: _core.Bags, threshold: float
) -> Links:
    """Compare pages with their hubs exactly, and keep the pairs that match."""
    contained, resemblance = likenesses(pages, bags, hubs, bags)
    return held(pages, hubs, contained, resemblance, threshold)


def held(
    pages: NDArray[np.uint32],
    hubs: NDArray[np.uint32],
    contained: NDArray[np.float64],
    resemblance: NDArray[np.float64],
    threshold: float,
) -> Links:
    """Keep the links between pages that match."""
    holds = (contained >= threshold) & (resemblance >= LEAST_SHARED)
    return pages[holds], hubs[holds], contained[holds], resemblance[holds]


def first_groups(n: int, links: Links) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Let pages join their best hubs.

    Returns the first page of each page's group, and the sampled pages of the groups.
    """
    label: NDArray[np.uint32] = np.frombuffer(_core.stars(n, links), "<u4")
    return label, np.frombuffer(_core.sample_groups(label), "<u4")


def merged(
    label: NDArray[np.uint32],
    links: Links,
    sampled: NDArray[np.uint32],
    bags: _core.Bags,
    threshold: float,
) -> NDArray[np.uint32]:
    """Merge groups along links, by size. The bags are those of the sampled pages."""
    return np.frombuffer(_core.merge_groups(label, links, sampled, bags, threshold), "<u4")


def representatives_of(
    label: NDArray[np.uint32], sampled: NDArray[np.uint32], bags: _core.Bags
) -> dict[int, int]:
    """Find, for every group of two or more, the sampled page most similar to the others."""
    sizes = np.bincount(label, minlength=len(label))
    order = np.argsort(label[sampled], kind="stable")
    groups, starts = np.unique(label[sampled][order], return_index=True)
    found: dict[int, int] = {}
    for group, places in zip(groups.tolist(), np.split(order, starts[1:]), strict=False):
        if sizes[group] > 1:
            # Merged groups have several samples; the size of one sample is enough.
            medoid = bags.medoid(np.sort(places)[:SAMPLE].astype(np.uint32))
            found[group] = int(sampled[places[0] if medoid is None else medoid])
    return found


def bags_at(bags: _core.Bags, chosen: NDArray[np.uint32]) -> _core.Bags:
    """Return the chosen bags, in this order."""
    return packed_bags(bags.packed(int(at)) for at in chosen)


def packed_bags(packed: Iterable[bytes]) -> _core.Bags:
    """Read bags from their packed form."""
    parts = list(packed)
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    return _core.Bags.from_packed(b"".join(parts), offsets)


def arranged(
    label: NDArray[np.uint32],
    fits: NDArray[np.float64],
    representatives: dict[int, int],
    on: BagMeasure,
    threshold: float,
) -> Templates:
    """Number groups by size and find their outliers."""
    n = len(label)
    order = np.argsort(label, kind="stable")
    labels, starts = np.unique(label[order], return_index=True)
    members = dict(zip(labels.tolist(), np.split(order, starts[1:]), strict=False))
    by_size = sorted(representatives, key=lambda group: (-len(members[group]), group))
    group_of = np.full(n, -1, np.int32)
    groups = []
    for number, label_of_group in enumerate(by_size):
        pages = members[label_of_group]
        group_of[pages] = number
        middle = float(np.median(fits[pages]))
        deviation = 1.4826 * float(np.median(np.abs(fits[pages] - middle)))
        far = pages[fits[pages] < middle - max(OUTLIER_FALL, OUTLIER_DEVIATIONS * deviation)]
        groups.append(
            Group(
                number=number,
                pages=pages,
                representative=representatives[label_of_group],
                fit=middle,
                outliers=far[np.argsort(fits[far], kind="stable")],
            )
        )
    return Templates(
        on=on,
        threshold=threshold,
        groups=tuple(groups),
        singles=np.flatnonzero(group_of < 0),
        group_of=group_of,
        fits=fits,
    )
