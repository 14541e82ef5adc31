"""Tell whether a page changed, reading as little as possible.

The answer is always that of ``Annotation.differs``; there is only one truth about change. But most
answers are known before the pages are compared node by node:

1. Equal signatures in all facets: nothing changed, under any rules.
2. Other signatures, and all facets asked for, without rules: something changed.
3. Everything else needs the annotation. A signature cannot tell which facet changed, because it
   covers the values of a facet in document order: after a new element without attributes, the
   signature of the attributes differs too.

Steps 1 and 2 need only the header of a digest, so nothing else of a stored digest is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeAlias

from quire.digest.files import Header, load, peek
from quire.digest.page import Digest
from quire.sdiff.annotation import annotate
from quire.sdiff.facets import ALL_FACETS, Facet, check_facets
from quire.sdiff.rules import EVERYTHING, Rules

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
    compared first, so the columns of two stored digests are loaded only if their signatures differ,
    and you ask for some of the facets or give rules.

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
        TypeError: signatures differ and there are rules, or not all facets are asked for, but of
            one page only the header was given.
        DigestFormatError: a file is not a digest.
        PatternError: a pattern of the rules is not valid.
        SelectorError: a selector of the rules is not valid.
    """
    wanted = check_facets(facets)
    before, after = _head(old), _head(new)
    if not any(_differs(before, after, facet) for facet in ALL_FACETS):
        return False
    if wanted == ALL_FACETS and rules == EVERYTHING:
        return True
    return annotate(_whole(old), _whole(new), rules).differs(wanted)


def structure_changed(old: Comparable, new: Comparable) -> bool:
    """Tell whether two pages differ in structure: the paper's Algorithm 3.

    Compares the numbers of nodes, then the child counts (the paper's ST) entry by entry, and stops
    at the first difference. Names, attributes and contents are ignored.

    >>> import quire
    >>> one, two = quire.encode(b"<p>Fish<p>Chips"), quire.encode(b"<p>Fish<br>Chips")
    >>> structure_changed(one, two), structure_changed(one, quire.encode(b"<p>Fish<p>Peas"))
    (True, False)

    A header has no columns; for headers, the signatures of the structure are compared instead.

    Raises:
        DigestFormatError: a file is not a digest.
    """
    before, after = _head(old), _head(new)
    if before.n != after.n:
        return True
    if isinstance(before, Digest) and isinstance(after, Digest):
        # One numpy call compares all entries. The columns may have different integer widths.
        return bool((before.children != after.children).any())
    return before.signatures.structure != after.signatures.structure


def _head(page: Comparable) -> Digest | Header:
    return page if isinstance(page, Digest | Header) else peek(page)


def _whole(page: Comparable) -> Digest:
    if isinstance(page, Header):
        raise TypeError(
            "rules and single facets need the whole page, not its header; "
            "pass the digest or the path of its file"
        )
    return page if isinstance(page, Digest) else load(page)


def _differs(old: Digest | Header, new: Digest | Header, facet: Facet) -> bool:
    before: int = getattr(old.signatures, facet)
    after: int = getattr(new.signatures, facet)
    return before != after
