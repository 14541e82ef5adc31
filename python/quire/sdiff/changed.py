"""Tell whether a page changed, reading as little as possible.

The answer is always that of ``Annotation.differs``, but most answers are known before the pages are
compared node by node:

1. Equal signatures of a facet: that facet did not change, under any rules.
2. Different signatures, all facets asked for, and no rules: something changed. JSON is an exception,
   because its signatures know the order of members, and its comparison ignores it.
3. Everything else needs the annotation. A signature covers the values of its facet node by node in
   document order, so after a new element without attributes the signature of the attributes differs
   too, although no attribute changed.

Steps 1 and 2 need only the header of a digest, so nothing else of a stored digest is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire.digest.arguments import check_page
from quire.digest.files import Header, load, peek
from quire.digest.page import Digest
from quire.sdiff.annotation import annotate
from quire.sdiff.facets import ALL_FACETS, Facet, check_facets, differing
from quire.sdiff.rules import EVERYTHING, Rules

#: Entries of a column that one numpy call compares: a call costs as much as 10,000 entries or so.
BLOCK = 32_768

# A page, or a stored digest: its path or its header.
Comparable: TypeAlias = Digest | Header | str | os.PathLike[str]


def changed(
    old: Comparable,
    new: Comparable,
    facets: Iterable[Facet] | Facet = ALL_FACETS,
    *,
    rules: Rules = EVERYTHING,
) -> bool:
    """Tell whether any of the facets differs between two pages.

    The answer is the same as that of ``annotate(old, new, rules).differs(facets)``. Signatures are
    compared first, so the columns of two stored digests are loaded only if the signatures of these
    facets differ, and there are rules, or not all facets are asked for, or the pages are JSON.

    >>> import quire
    >>> old = quire.encode(b"<p class=a>Open 9 to 5</p>")
    >>> new = quire.encode(b"<p class=b>Open 9 to 5</p>")
    >>> changed(old, new, "content"), changed(old, new, "attributes")
    (False, True)
    >>> changed(old, new, rules=quire.Rules(ignore_attributes=("class",)))
    False

    Args:
        old: the old page: its digest, or the path or header of a stored digest.
        new: the new page, likewise.
        facets: the facets to compare: ``structure``, ``tags``, ``attributes``, ``content``,
            ``links``, ``images``.
        rules: which differences to ignore.

    Raises:
        TypeError: a page is given as something else, or signatures do not decide and of one page
            only the header was given.
        DigestFormatError: a file is not a digest.
        PatternError: a pattern of the rules is not valid.
        SelectorError: a selector of the rules is not valid.
    """
    wanted = check_facets(facets)
    before, after = _head("old", old), _head("new", new)
    if not differing(before.signatures, after.signatures, wanted):
        return False
    is_json = before.kind == after.kind == "json"
    if wanted == ALL_FACETS and rules == EVERYTHING and not is_json:
        return True
    return annotate(_whole(old), _whole(new), rules).differs(wanted)


def structure_changed(old: Comparable, new: Comparable) -> bool:
    """Tell whether two pages differ in structure: the paper's Algorithm 3.

    Compares the numbers of nodes, then the child counts (the paper's ST) in blocks of 32,768, and
    stops after the first block with a difference. Names, attributes and contents are ignored.

    >>> import quire
    >>> one, two = quire.encode(b"<p>Fish<p>Chips"), quire.encode(b"<p>Fish<br>Chips")
    >>> structure_changed(one, two), structure_changed(one, quire.encode(b"<p>Fish<p>Peas"))
    (True, False)

    White space between elements is a node too, so another line break there is a difference, as it
    is in the paper. ``changed(old, new, "structure")`` calls it layout, and not a difference.

    Of a stored digest (its path or header) only the header is read. It has no columns; if one of
    the pages is stored, the signatures of the structure are compared instead.

    Raises:
        TypeError: a page is given as something else.
        DigestFormatError: a file is not a digest.
    """
    before, after = _head("old", old), _head("new", new)
    if before.n != after.n:
        return True
    if isinstance(before, Digest) and isinstance(after, Digest):
        return counts_differ(before.children, after.children)
    return before.signatures.structure != after.signatures.structure


def counts_differ(old: NDArray[Any], new: NDArray[Any]) -> bool:
    """Tell whether two columns of the same length differ, reading no block after the first one.

    The columns may have different integer widths.
    """
    return any(
        not np.array_equal(old[start : start + BLOCK], new[start : start + BLOCK])
        for start in range(0, len(old), BLOCK)
    )


def _head(name: str, page: object) -> Digest | Header:
    if isinstance(page, Digest | Header):
        return page
    if isinstance(page, str | os.PathLike):
        return peek(page)
    return check_page(name, page)


def _whole(page: Comparable) -> Digest:
    if isinstance(page, Header):
        raise TypeError(
            "the signatures differ, and with rules, for single facets or JSON the answer needs the "
            "whole page, not its header; pass the digest or the path of its file"
        )
    return page if isinstance(page, Digest) else load(page)
