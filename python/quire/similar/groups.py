"""Group the pages of a collection by the template they were made from.

A crawl has a few templates and many pages of each. ``templates`` finds them without knowing how
many there are, and without comparing every page with every other:

1. Sketch every page. Two pages *meet* if they share a value of their sketches.
2. Among the pages that share a value, the smallest is the *hub*, because it is closest to the bare
   template. Compare each page exactly with the twelve hubs it meets most often.
3. Two pages *match* if most of the smaller one (``threshold``, default 0.8) is in the larger one:
   pages of one template can differ in length by a factor of a hundred. They must also share a tenth
   of all their parts, because a nearly empty page is contained in everything. A page that shows
   only a few elements, such as a redirect, must share half of all that the two show: every page has
   ``html``, ``head`` and ``title``, and a paragraph with a link proves nothing.
4. Each page joins its best hub. Then groups merge by size: a small group joins another one through
   a single link, but two large groups merge only if half of the smaller one's pages have partners
   in the other.

Cost: steps 1 to 3 are linear in the number of pages. Step 4 compares samples of at most 64 pages
per linked group.

Columns of the result: ``group_of`` has the group of every page (-1 for a page that matches no
other), ``fits`` how well it fits its group, by the rule that grouped them: how much of the smaller
page is in the larger one, for the page and the best of up to eight exemplars of all lengths.
``resemblances`` has its resemblance to the representative, by which outliers are found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
#: A page with fewer elements for readers than this shows a few, like a redirect: so much of all
#: that it and another page show must be shared.
FEW_SHOWN = 8
LEAST_SHARED_OF_FEW = 0.5
#: Elements that any HTML page has, whatever its template, and that show nothing.
_FRAME = "html, head, head *, body, body :is(script, style, noscript, link, meta)"
#: The measures that have one part for each element.
_BY_ELEMENT = ("structure+class", "paths+counts")
#: Maximum number of sampled pages per group.
SAMPLE = 64

#: The positions of a group's exemplars among its pages sorted by length.
_QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)

#: An outlier's resemblance to the representative is below the median of its group by more than both of these: an absolute
#: difference, and a multiple of the group's deviation.
OUTLIER_FALL = 0.15
OUTLIER_DEVIATIONS = 4.0

#: A group is loose with less closeness (the second is for thresholds below the default), or with
#: this share of outliers. Chosen by looking at all four labelled corpora, at thresholds of 0.4 to
#: 0.8: 6 of 8 groups of several templates are loose, and 1 of 139 groups of one.
LOOSE_CLOSENESS = 0.5
LOOSE_CLOSENESS_BELOW = 0.7
LOOSE_OUTLIERS = 0.25

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
        fit: how well the median page fits the group, from 0 to 1; see ``Templates.fits``.
        closeness: the same for the representative alone: how much of the smaller of it and the
            median page is in the larger one.
        outliers: pages that resemble the representative much less than the others do, worst first.
    """

    number: int
    pages: NDArray[np.int64]
    representative: int
    fit: float
    closeness: float
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
        fits: for every page, how much of the smaller of it and an exemplar of its group is in the
            larger one, for the best of up to eight exemplars; 1 for representatives and singles.
        resemblances: for every page, its resemblance to the representative of its group; 1 for
            singles.
    """

    on: BagMeasure
    threshold: float
    groups: tuple[Group, ...]
    singles: NDArray[np.int64]
    group_of: NDArray[np.int32]
    fits: NDArray[np.float64]
    resemblances: NDArray[np.float64]

    @property
    def coverage(self) -> float:
        """The share of pages that have a template (paper 003's coverage rate)."""
        n = len(self.group_of)
        return 1 - len(self.singles) / n if n else 1.0

    @property
    def loose(self) -> tuple[Group, ...]:
        """The groups that may be more than one template; a higher threshold may split them.

        The median page matches no exemplar, or shares too little with the representative, or a
        quarter of the pages are outliers.
        """
        # Chains of weak matches lead astray sooner.
        least = LOOSE_CLOSENESS if self.threshold >= THRESHOLD else LOOSE_CLOSENESS_BELOW
        return tuple(
            group
            for group in self.groups
            if group.closeness < least
            or group.fit < self.threshold
            or len(group.outliers) >= LOOSE_OUTLIERS * group.size
        )

    @property
    def tighter_threshold(self) -> float:
        """A higher threshold to try if groups are loose: halfway to 1.

        >>> templates([]).tighter_threshold
        0.9
        """
        return round((1 + self.threshold) / 2, 2)

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
            resemblances=moved(self.resemblances),
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
    totals = sizes_of(bags)
    keys, owners, sizes = meeting_rows(matrix, np.arange(n, dtype=np.uint64), totals)
    order = np.argsort(keys, kind="stable")
    met, hubs = hubs_of(keys[order], owners[order], sizes[order])
    order = np.argsort(met, kind="stable")
    page, hub = best_hubs(met[order], hubs[order])
    frames = np.fromiter((frame_of(page, on) for page in all_pages), np.uint32, n)
    contained, resemblance = likenesses(page.astype(np.uint32), bags, hub.astype(np.uint32), bags)
    asked = (page.astype(np.uint32), hub.astype(np.uint32), contained, resemblance)
    links = held(asked, totals, frames, threshold)
    label, sampled = first_groups(n, links)
    chosen = bags_at(bags, sampled)
    label = merged(label, links, sampled, chosen, threshold)
    representatives = representatives_of(label, sampled, chosen)
    these, those = exemplar_pairs(label, representatives, totals)
    found = (these, those, *likenesses(these, bags, those, bags))
    return arranged(label, found, representatives, on, threshold)


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


def frame_of(page: Digest, on: BagMeasure) -> int:
    """Count the parts of a page that any HTML page has, whatever its template.

    >>> import quire
    >>> frame_of(quire.encode(b"<title>Moved</title><p>See <a href=/new>the new page</a>"), MEASURE)
    4
    """
    if page.kind != "html" or on not in _BY_ELEMENT:
        return 0
    return len(page.select(_FRAME))


def matching(
    contained: NDArray[np.float64],
    resemblance: NDArray[np.float64],
    sizes: tuple[NDArray[np.uint32], NDArray[np.uint32]],
    frames: tuple[NDArray[np.uint32], NDArray[np.uint32]],
    threshold: float,
) -> NDArray[np.bool_]:
    """Tell which pairs of pages match.

    Args:
        contained: for each pair, how much of the smaller page is in the larger one.
        resemblance: the share of all their parts that both have.
        sizes: the number of parts of the first and of the second page of each pair.
        frames: how many of them any page has; see ``frame_of``.
        threshold: minimum of ``contained``.
    """
    first_is_small = sizes[0] <= sizes[1]
    size = np.minimum(*sizes).astype(float)
    frame = np.where(first_is_small, *frames).astype(float)
    shown = size - frame
    other_shown = np.maximum(*sizes) - np.where(first_is_small, *frames[::-1]).astype(float)
    # The two share at least so much of what they show, even if they share their frames entirely.
    shared = np.maximum(np.rint(contained * size) - frame, 0)
    few = (frame > 0) & (shown < FEW_SHOWN)
    shares_enough = shared >= LEAST_SHARED_OF_FEW * (shown + other_shown - shared)
    found: NDArray[np.bool_] = (
        (contained >= threshold) & (resemblance >= LEAST_SHARED) & (shares_enough | ~few)
    )
    return found


def held(
    links: Links, sizes: NDArray[np.uint32], frames: NDArray[np.uint32], threshold: float
) -> Links:
    """Keep the links between pages that match. Sizes and frames are those of all pages."""
    pages, hubs, contained, resemblance = links
    holds = matching(
        contained,
        resemblance,
        (sizes[pages], sizes[hubs]),
        (frames[pages], frames[hubs]),
        threshold,
    )
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


def exemplar_pairs(
    label: NDArray[np.uint32], representatives: dict[int, int], sizes: NDArray[np.uint32]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Pair every page of a group with the other pages that are exemplars of the group."""
    order = np.lexsort((np.arange(len(label)), sizes, label))
    labels, starts = np.unique(label[order], return_index=True)
    pages, others = [np.empty(0, np.uint32)], [np.empty(0, np.uint32)]
    for group, by_size in zip(labels.tolist(), np.split(order, starts[1:]), strict=False):
        if group in representatives:
            chosen = exemplars_of(representatives[group], by_size.tolist())
            pages.append(np.repeat(by_size, len(chosen)).astype(np.uint32))
            others.append(np.tile(np.array(chosen, np.uint32), len(by_size)))
    page, other = np.concatenate(pages), np.concatenate(others)
    return page[page != other], other[page != other]


def exemplars_of(representative: int, by_size: Sequence[int]) -> list[int]:
    """Choose pages that stand for a group: the representative, and some of all lengths.

    >>> exemplars_of(7, range(100, 201))
    [7, 100, 110, 125, 150, 175, 190, 200]
    """
    places = [round(share * (len(by_size) - 1)) for share in _QUANTILES]
    return list(dict.fromkeys([representative, *(by_size[at] for at in places)]))


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
    found: Links,
    representatives: dict[int, int],
    on: BagMeasure,
    threshold: float,
) -> Templates:
    """Number groups by size and find their outliers. ``found`` are the pairs with exemplars."""
    n = len(label)
    fits, close, resemblances = _fits(n, found, representatives)
    order = np.argsort(label, kind="stable")
    labels, starts = np.unique(label[order], return_index=True)
    members = dict(zip(labels.tolist(), np.split(order, starts[1:]), strict=False))
    by_size = sorted(representatives, key=lambda group: (-len(members[group]), group))
    group_of = np.full(n, -1, np.int32)
    groups = []
    for number, label_of_group in enumerate(by_size):
        pages = members[label_of_group]
        group_of[pages] = number
        alike = resemblances[pages]
        middle = float(np.median(alike))
        deviation = 1.4826 * float(np.median(np.abs(alike - middle)))
        far = pages[alike < middle - max(OUTLIER_FALL, OUTLIER_DEVIATIONS * deviation)]
        groups.append(
            Group(
                number=number,
                pages=pages,
                representative=representatives[label_of_group],
                fit=float(np.median(fits[pages])),
                closeness=float(np.median(close[pages])),
                outliers=far[np.argsort(resemblances[far], kind="stable")],
            )
        )
    return Templates(
        on=on,
        threshold=threshold,
        groups=tuple(groups),
        singles=np.flatnonzero(group_of < 0),
        group_of=group_of,
        fits=fits,
        resemblances=resemblances,
    )


def _fits(
    n: int, found: Links, representatives: dict[int, int]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Compare every page with exemplars.

    Returns how well it fits the best one, how well the representative, and its resemblance to the
    representative.
    """
    page, other, contained, resemblance = found
    fits = np.zeros(n)
    np.maximum.at(fits, page, contained)
    close, resemblances = np.ones(n), np.ones(n)
    is_single = np.ones(n, bool)
    is_single[page] = False
    chosen = np.array(list(representatives.values()), np.int64)
    fits[is_single] = 1
    fits[chosen] = 1
    with_representative = np.isin(other, chosen)
    close[page[with_representative]] = contained[with_representative]
    resemblances[page[with_representative]] = resemblance[with_representative]
    return fits, close, resemblances
