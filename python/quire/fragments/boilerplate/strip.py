"""Stripping: pages without what most pages of their template have. For indexes, and for models that are paid by the word.

Pages are grouped by template (``quire.similarity``). In a group, a text that more than half of the pages have is a *common* one. Common
texts in a row, when there is enough of them, are a block, and blocks are left out: menus and footers go though one entry is marked as
the current one, a label such as "Price" stays. Pages that are equal count once; a group of fewer than three different pages, and a page
without a template, have nothing in common with most, and stay as they are.

Texts are the leaves of AF trees that a reader sees: none of scripts and styles. As HTML, the largest elements with nothing left to read are cut out of the source, so what stays is
byte for byte the page's; pages whose nodes have no place in the source stay whole, and so does an element with a text of another one between its tags.

Cost: linear in the pages, and their digests are in memory while they are grouped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire.digest import Digest, encode
from quire.errors import QuireError
from quire.fragments.boilerplate.moved_text import stray_texts
from quire.fragments.site.collection import SourcePage
from quire.fragments.site.spool import Spool
from quire.fragments.trees.af_tree import AfTree
from quire.similar.groups import templates

Form: TypeAlias = Literal["text", "html"]

#: Share of the pages of a template that have a common text; more than that.
SHARE = 0.5
#: Bytes of text that a block has at least.
MIN_BLOCK_BYTES = 30
#: Different pages of a template, from which one can speak of most.
MIN_GROUP = 3
#: Elements whose text is for no reader.
UNREAD: frozenset[str] = frozenset(
    {"iframe", "noembed", "noframes", "noscript", "script", "style", "template"}
)


@dataclass(frozen=True, slots=True)
class StrippedPage:
    """A page without what most pages of its template have.

    Attributes:
        name: what it is called where it came from.
        url: its address.
        sha256: of its bytes.
        is_first: whether no page before it was equal to it.
        template: the number of its template; -1 where it has none.
        data: what stays of it.
        text_bytes: bytes of its text.
        kept_bytes: those of it that stay. As HTML these may be more than as text: not every block can be cut out.
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
    r"""Leave out of pages what most pages of their template have.

    >>> menu = "<ul><li>Start<li>Fish of the day<li>Chips and more<li>Where to find us</ul>"
    >>> news = [f"{menu}<h1>Day {day}</h1><p>{day * 7} mm of rain".encode() for day in range(4)]
    >>> [page.data for page in strip(SourcePage(str(n), str(n), page) for n, page in enumerate(news))][:2]
    [b'Day 0\n0 mm of rain\n', b'Day 1\n7 mm of rain\n']

    Args:
        pages: the pages. All are read before the first one is given.
        form: what is made of them: their text, a line for each part of it, or HTML.
        share: a text is common when more than this share of the pages of a template have it.
        min_bytes: bytes of text that a block has at least.

    Raises:
        ValueError: the share is not between 0 and 1.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share {share}: a share is between 0 and 1")
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
        group_of = _groups(_encoded(spool.get(n), types[n]) for n in range(len(spool)))
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
                data = _text(tree, leaves[~lost])
            else:
                data, lost = _html(digest, tree, leaves, lost, source)
            text_bytes = int(tree.value_bytes[leaves].sum())
            kept = int(tree.value_bytes[leaves[~lost]].sum())
            digits = hashlib.sha256(source).hexdigest()
            yield StrippedPage(
                name, url, digits, number not in given, group, data, text_bytes, kept
            )
            given.add(number)


def _encoded(source: bytes, content_type: str | None) -> Digest:
    try:
        return encode(source, content_type=content_type)
    except QuireError:  # XML or JSON with a fault: its text is still there
        return encode(source, kind="text")


def _read_leaves(tree: AfTree, digest: Digest) -> NDArray[np.int64]:
    """The leaves that a reader sees: none of scripts, styles and the like."""
    leaves = np.flatnonzero(tree.size == 1)
    unread = np.array([name in UNREAD for name in digest.tags], np.bool_)[digest.tag]
    places = np.flatnonzero(unread)
    if not len(places):
        return leaves
    # How many such elements are open at each node, as steps up and down.
    steps = np.zeros(digest.n + 1, np.int64)
    np.add.at(steps, places, 1)
    np.add.at(steps, places + digest.size[places], -1)
    is_read: NDArray[np.bool_] = np.cumsum(steps)[tree.node[leaves]] == 0
    # A leaf may be an element around one of these, whose only part it is; or just have an empty one in it.
    before = np.concatenate([[0], np.cumsum(unread)])
    around = before[tree.node_end[leaves]] > before[tree.node[leaves]]
    for place in np.flatnonzero(is_read & around).tolist():
        is_read[place] = _has_text(
            digest, int(tree.node[leaves[place]]), int(tree.node_end[leaves[place]])
        )
    return leaves[is_read]


def _has_text(digest: Digest, node: int, end: int) -> bool:
    while node < end:
        if digest.text(node).strip():
            return True
        node += int(digest.size[node])
    return False


def _groups(digests: Iterable[Digest]) -> NDArray[np.int64]:
    return templates(digests).group_of.astype(np.int64)


def _common(
    spool: Spool, types: list[str | None], group_of: NDArray[np.int64], share: float
) -> dict[int, NDArray[np.uint64]]:
    """The hashes of the texts that are common in each group."""
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
    """Which leaves stand in blocks: in rows of common ones that are long enough."""
    if common is None:
        return np.zeros(len(leaves), np.bool_)
    is_common = np.isin(tree.value_hash[leaves], common)
    # A row begins where a common text follows one that is not, or the beginning.
    begins = is_common & ~np.concatenate([[False], is_common[:-1]])
    row = np.cumsum(begins) * is_common
    sizes = np.bincount(row, weights=tree.value_bytes[leaves])
    is_long: NDArray[np.bool_] = sizes[row] >= min_bytes
    return is_common & is_long


def _text(tree: AfTree, kept: NDArray[np.int64]) -> bytes:
    return b"".join(tree.value(node) for node in kept.tolist())


def _html(
    digest: Digest,
    tree: AfTree,
    leaves: NDArray[np.int64],
    lost: NDArray[np.bool_],
    source: bytes,
) -> tuple[bytes, NDArray[np.bool_]]:
    """The source without the largest elements that have nothing left in them to read, and which leaves went with them."""
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
    strays = stray_texts(digest, source)
    has_stray = np.searchsorted(strays, starts) < np.searchsorted(strays, stops)
    empty = (went > 0) & (were == went) & (starts >= 0) & (starts < stops) & ~has_stray
    empty[0] = False  # the page itself stays, with its head
    cut = np.zeros(tree.n, np.bool_)
    pieces: list[bytes] = []
    at = 0
    for node in np.flatnonzero(empty).tolist():
        if starts[node] >= at:  # else it is inside one that is gone
            pieces.append(source[at : starts[node]])
            at = int(stops[node])
            cut[node : ends[node]] = True
    # What was moved has no bytes where its element is, and those that it has are not cut.
    went_too = cut[leaves] & (starts[leaves] < stops[leaves])
    return b"".join([*pieces, source[at:]]), went_too
