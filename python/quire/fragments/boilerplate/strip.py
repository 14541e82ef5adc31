"""Strip: remove boilerplate, the blocks that most pages of a template contain.

This is for search indexes, and for language models that charge by the word.

Pages are grouped by template (``quire.similar``). Within a group, a text is *common* if more than
half of the pages contain it. A run of consecutive common texts that is long enough is a block, and
blocks are removed. So menus and footers are removed even if each page marks a different entry as
current, but a label such as "Price" stays. Identical pages count once. Groups of fewer than three
different pages, and pages without a template, are left as they are.

Texts are the visible leaves of AF trees, so not scripts or styles. In HTML output, the largest
elements with no text left are cut out of the source; all other bytes are unchanged. A page without
source positions stays whole, and so does an element that has text of another element between its
tags.

Cost: linear in the pages. All digests are in memory while pages are grouped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire.digest import Digest, encode
from quire.errors import QuireError
from quire.fragments.boilerplate.moved_text import moved_texts
from quire.fragments.site.collection import SourcePage
from quire.fragments.trees.af_tree import AfTree
from quire.similar.groups import templates
from quire.spool import Spool

Form: TypeAlias = Literal["text", "html"]

#: A text is common if more than this share of a template's pages contain it.
SHARE = 0.5
#: Minimum bytes of text of a block.
MIN_BLOCK_BYTES = 30
#: Minimum number of different pages of a template; with fewer, "most pages" means little.
MIN_GROUP = 3


@dataclass(frozen=True, slots=True)
class StrippedPage:
    """A page without the blocks that most pages of its template contain.

    Attributes:
        name: name of the page in its source.
        url: address of the page.
        sha256: SHA-256 of its original bytes.
        is_first: whether this is not a duplicate of an earlier page.
        template: number of its template; -1 if it has none.
        data: the remaining text or HTML.
        text_bytes: bytes of text of the original page.
        kept_bytes: bytes of text that remain. HTML may keep more than text, because not every block
            can be cut out.
    """

    name: str
    url: str
    sha256: str
    is_first: bool
    template: int
    data: bytes
    text_bytes: int
    kept_bytes: int


def strip(
    pages: Iterable[SourcePage],
    *,
    form: Form = "text",
    share: float = SHARE,
    min_bytes: int = MIN_BLOCK_BYTES,
) -> Iterator[StrippedPage]:
    r"""Remove from pages the blocks that most pages of their template contain.

    >>> menu = "<ul><li>Start<li>Fish of the day<li>Chips and more<li>Where to find us</ul>"
    >>> news = [f"{menu}<h1>Day {day}</h1><p>{day * 7} mm of rain".encode() for day in range(4)]
    >>> pages = [SourcePage(str(n), str(n), page) for n, page in enumerate(news)]
    >>> [page.data for page in strip(pages)][:2]
    [b'Day 0\n0 mm of rain\n', b'Day 1\n7 mm of rain\n']

    Args:
        pages: the pages. All of them are read before the first result is returned.
        form: ``text`` for plain text with one line per part, or ``html``.
        share: remove a text if more than this share of the template's pages contain it.
        min_bytes: minimum bytes of text of a block.

    Raises:
        ValueError: the share is not between 0 and 1.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share {share}: expected 0 to 1")
    return _stripped(pages, form, share, min_bytes)


def _stripped(
    pages: Iterable[SourcePage], form: Form, share: float, min_bytes: int
) -> Iterator[StrippedPage]:
    with Spool() as spool:
        named: list[tuple[str, str, int]] = []
        types: list[str | None] = []
        for page in pages:
            number = spool.add(page.body)
            named.append((page.name, page.url, number))
            if number == len(types):
                types.append(page.content_type)
        digests = (_encoded(spool.get(n), types[n]) for n in range(len(spool)))
        group_of = templates(digests).group_of.astype(np.int64)
        common = _common(spool, types, group_of, share)
        given: set[int] = set()
        for name, url, number in named:
            group = int(group_of[number])
            source = spool.get(number)
            digest = _encoded(source, types[number])
            tree = AfTree.of(digest)
            leaves = _read_leaves(tree, digest)
            lost = _blocks(tree, leaves, common.get(group), min_bytes)
            if form == "text":
                data = b"".join(tree.value(node) for node in leaves[~lost].tolist())
            else:
                data, lost = _html(digest, tree, leaves, lost, source)
            text_bytes = int(tree.value_bytes[leaves].sum())
            kept = int(tree.value_bytes[leaves[~lost]].sum())
            sha256, is_first = spool.sha256(number), number not in given
            yield StrippedPage(name, url, sha256, is_first, group, data, text_bytes, kept)
            given.add(number)


def _encoded(source: bytes, content_type: str | None) -> Digest:
    try:
        return encode(source, content_type=content_type)
    except QuireError:  # malformed XML or JSON: use its text
        return encode(source, kind="text")


def _read_leaves(tree: AfTree, digest: Digest) -> NDArray[np.int64]:
    """Return the visible leaves: none in scripts, styles and the like."""
    leaves = np.flatnonzero(tree.size == 1)
    hidden = ~digest.visible
    is_read: NDArray[np.bool_] = ~hidden[tree.node[leaves]]
    # A leaf may be an element that contains only hidden text, or text and something hidden.
    before = np.concatenate([[0], np.cumsum(hidden)])
    around = before[tree.node_end[leaves]] > before[tree.node[leaves]]
    for place in np.flatnonzero(is_read & around).tolist():
        leaf = leaves[place]
        is_read[place] = _has_text(digest, int(tree.node[leaf]), int(tree.node_end[leaf]))
    return leaves[is_read]


def _has_text(digest: Digest, node: int, end: int) -> bool:
    while node < end:
        if digest.text(node).strip():
            return True
        node += int(digest.size[node])
    return False


def _common(
    spool: Spool, types: list[str | None], group_of: NDArray[np.int64], share: float
) -> dict[int, NDArray[np.uint64]]:
    """Return the hashes of the common texts of each group."""
    found: dict[int, NDArray[np.uint64]] = {}
    for group in np.unique(group_of[group_of >= 0]).tolist():
        members = np.flatnonzero(group_of == group)
        if len(members) < MIN_GROUP:
            continue
        values = []
        for number in members.tolist():
            digest = _encoded(spool.get(number), types[number])
            tree = AfTree.of(digest)
            values.append(np.unique(tree.value_hash[_read_leaves(tree, digest)]))
        key, count = np.unique(np.concatenate(values), return_counts=True)
        found[group] = key[count > share * len(members)]
    return found


def _blocks(
    tree: AfTree,
    leaves: NDArray[np.int64],
    common: NDArray[np.uint64] | None,
    min_bytes: int,
) -> NDArray[np.bool_]:
    """Return which leaves are in blocks: in runs of common leaves that are long enough."""
    if common is None:
        return np.zeros(len(leaves), np.bool_)
    is_common = np.isin(tree.value_hash[leaves], common)
    # A run begins at a common text that is the first text or follows one that is not common.
    begins = is_common & ~np.concatenate([[False], is_common[:-1]])
    run = np.cumsum(begins) * is_common
    sizes = np.bincount(run, weights=tree.value_bytes[leaves])
    is_long: NDArray[np.bool_] = sizes[run] >= min_bytes
    return is_common & is_long


def _html(
    digest: Digest,
    tree: AfTree,
    leaves: NDArray[np.int64],
    lost: NDArray[np.bool_],
    source: bytes,
) -> tuple[bytes, NDArray[np.bool_]]:
    """Cut the largest elements with no text left out of the source.

    Returns the remaining source, and which leaves were removed.
    """
    if not lost.any() or not tree.has_bytes:
        return source, np.zeros_like(lost)
    every, gone = np.zeros(tree.n + 1, np.int64), np.zeros(tree.n + 1, np.int64)
    every[leaves + 1] = 1
    gone[leaves[lost] + 1] = 1
    every, gone = np.cumsum(every), np.cumsum(gone)
    nodes = np.arange(tree.n)
    ends = nodes + tree.size
    were, went = every[ends] - every[nodes], gone[ends] - gone[nodes]
    starts, stops = tree.byte_start, tree.byte_end
    moved = moved_texts(digest, source)
    has_moved = np.searchsorted(moved, starts) < np.searchsorted(moved, stops)
    empty = (went > 0) & (were == went) & (starts >= 0) & (starts < stops) & ~has_moved
    empty[0] = False  # the page itself stays, with its head
    cut = np.zeros(tree.n, np.bool_)
    pieces: list[bytes] = []
    at = 0
    for node in np.flatnonzero(empty).tolist():
        if starts[node] >= at:  # otherwise it is inside an element that was cut
            pieces.append(source[at : starts[node]])
            at = int(stops[node])
            cut[node : ends[node]] = True
    # Moved text has no bytes inside its element, and the bytes it does have are not cut.
    went_too = cut[leaves] & (starts[leaves] < stops[leaves])
    return b"".join([*pieces, source[at:]]), went_too
