"""Strip: remove boilerplate, the blocks that most pages of a template contain.

This is for search indexes, and for language models that charge by the word.

Pages are grouped by template (``quire.similar``). Within a group, a passage (``digest.passages``)
is *common* if more than half of the pages contain it. A run of consecutive common passages that is
long enough is a block, and blocks are removed. So menus and footers are removed even if each page
marks a different entry as current, but a label such as "Price" stays, and no sentence is cut in
two. Identical pages count once. Groups of fewer than three different pages, and pages without a
template, are left as they are.

The largest elements without a word left, and texts beside others that stay, are removed. As text
and as Markdown the result is ``Digest.text`` and ``Digest.markdown`` without these nodes. As HTML
their bytes are cut out of the source; all other bytes are unchanged. A node without source
positions stays there, and so does one that has text of another element between its tags.

Cost: linear in the pages. All digests are in memory while pages are grouped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire.digest import Digest, encode
from quire.digest.passages import Passages, passages
from quire.digest.source_spans import source_spans
from quire.errors import QuireError
from quire.fragments.boilerplate.moved_text import moved_texts
from quire.fragments.site.collection import SourcePage
from quire.similar.groups import templates
from quire.spool import Spool

Form: TypeAlias = Literal["text", "markdown", "html"]

#: A passage is common if more than this share of a template's pages contain it.
SHARE = 0.5
#: Minimum bytes of text of a block.
MIN_BLOCK_BYTES = 30
#: Minimum number of different pages of a template; with fewer, "most pages" means little.
MIN_GROUP = 3
# Elements that stay even if nothing is left in them.
_FRAME = frozenset({"html", "head", "body"})
# Kinds of pages whose elements can be cut out of the source; JSON would not be JSON any more.
_CUTTABLE = frozenset({"html", "xml", "text"})


@dataclass(frozen=True, slots=True)
class StrippedPage:
    """A page without the blocks that most pages of its template contain.

    Attributes:
        name: name of the page in its source.
        url: address of the page.
        sha256: SHA-256 of its original bytes.
        is_first: whether this is not a duplicate of an earlier page.
        template: number of its template; -1 if it has none.
        data: the remaining text, Markdown or HTML. Text and Markdown are in UTF-8 and end with a line
            end, unless nothing remains.
        text_bytes: bytes of text of the original page, with the last line end.
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
        form: ``text`` for plain text as by ``Digest.text``, ``markdown`` as by ``Digest.markdown``, or
            ``html``.
        share: remove a passage if more than this share of the template's pages contain it.
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
            empty = _without_words(digest, common.get(group), min_bytes)
            gone = _outermost(digest, empty)
            if form == "html":
                data, gone = _html(digest, empty, source)
            elif form == "markdown":
                data = _lines(digest.markdown(without=gone))
            else:
                data = _lines(digest.text(without=gone))
            text_bytes = len(_lines(digest.text()))
            kept = len(_lines(digest.text(without=gone)))
            sha256, is_first = spool.sha256(number), number not in given
            yield StrippedPage(name, url, sha256, is_first, group, data, text_bytes, kept)
            given.add(number)


def _encoded(source: bytes, content_type: str | None) -> Digest:
    try:
        return encode(source, content_type=content_type)
    except QuireError:  # malformed XML or JSON: use its text
        return encode(source, kind="text")


def _lines(text: str) -> bytes:
    """Return a text in UTF-8, with a line end."""
    ended = f"{text}\n" if text and not text.endswith("\n") else text
    return ended.encode("utf-8", "replace")


def _common(
    spool: Spool, types: list[str | None], group_of: NDArray[np.int64], share: float
) -> dict[int, NDArray[np.uint64]]:
    """Return the hashes of the common passages of each group."""
    found: dict[int, NDArray[np.uint64]] = {}
    for group in np.unique(group_of[group_of >= 0]).tolist():
        members = np.flatnonzero(group_of == group)
        if len(members) < MIN_GROUP:
            continue
        values = []
        for number in members.tolist():
            found_here = passages(_encoded(spool.get(number), types[number]))
            values.append(np.unique(found_here.hash))
        key, count = np.unique(np.concatenate(values), return_counts=True)
        found[group] = key[count > share * len(members)]
    return found


def _without_words(
    page: Digest, common: NDArray[np.uint64] | None, min_bytes: int
) -> NDArray[np.bool_]:
    """Return which nodes may be removed: those that have words, all of them in blocks."""
    if common is None:
        return np.zeros(page.n, np.bool_)
    found = passages(page)
    in_block = _blocks(found, common, min_bytes)[found.passage]
    # How many of the text nodes with words, and of those in blocks, are before each node.
    words, lost = np.zeros(page.n + 1, np.int64), np.zeros(page.n + 1, np.int64)
    words[found.node + 1] = 1
    lost[found.node[in_block] + 1] = 1
    words, lost = np.cumsum(words), np.cumsum(lost)
    nodes = np.arange(page.n)
    ends = nodes + page.size
    were, went = words[ends] - words[nodes], lost[ends] - lost[nodes]
    # The frame of the page stays.
    is_frame = np.array([name in _FRAME for name in page.tag_names], np.bool_)[page.tag]
    empty: NDArray[np.bool_] = (went > 0) & (were == went) & ~is_frame
    empty[0] = False
    return empty


def _outermost(page: Digest, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the chosen nodes that are in no other: they come after the ends of all before them."""
    nodes = np.arange(page.n)
    ends = np.maximum.accumulate(np.where(chosen, nodes + page.size, 0))
    return np.flatnonzero(chosen & (np.concatenate([[0], ends[:-1]]) <= nodes))


def _blocks(found: Passages, common: NDArray[np.uint64], min_bytes: int) -> NDArray[np.bool_]:
    """Return which passages are in blocks: in runs of common passages that are long enough."""
    is_common = np.isin(found.hash, common)
    # A run begins at a common passage that is the first one or follows one that is not common.
    begins = is_common & ~np.concatenate([[False], is_common[:-1]])
    run = np.cumsum(begins) * is_common
    sizes = np.bincount(run, weights=found.bytes)
    is_long: NDArray[np.bool_] = sizes[run] >= min_bytes
    return is_common & is_long


def _html(page: Digest, empty: NDArray[np.bool_], source: bytes) -> tuple[bytes, NDArray[np.int64]]:
    """Cut the outermost nodes that can be cut out of the source.

    Returns the remaining source, and the nodes that were cut out.
    """
    spans = source_spans(page) if page.kind in _CUTTABLE else None
    if spans is None or not empty.any():
        return source, np.empty(0, np.int64)
    moved = moved_texts(page, source)
    has_moved = np.searchsorted(moved, spans.start) < np.searchsorted(moved, spans.end)
    pieces: list[bytes] = []
    cut: list[int] = []
    at = 0
    for node in _outermost(page, empty & (spans.start < spans.end) & ~has_moved).tolist():
        if spans.start[node] >= at:  # what browsers move may come later, and be written before
            pieces.append(source[at : spans.start[node]])
            cut.append(node)
            at = int(spans.end[node])
    return b"".join([*pieces, source[at:]]), np.array(cut, np.int64)
