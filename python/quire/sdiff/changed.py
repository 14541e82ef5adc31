"""Changed or not: the first question, answered from as little as possible.

A ladder; each step stops as soon as it can answer:

1. all signatures together: equal bytes, read in the same way, are equal pages;
2. the signatures of the facets: equal in a facet, whatever the bytes. Without rules this is the answer;
3. with rules, the annotation: what is left once all that is ignored is ignored.

The first two are in the header of a digest, so of stored digests nothing else is
read. Facets are compared node by node in document order: where an element is new, every
facet that has something to say after it has moved too.
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

# A page, or a stored digest as its path or its header.
Comparable: TypeAlias = Digest | Header | str | os.PathLike[str]


def changed(
    old: Comparable,
    new: Comparable,
    facets: Iterable[Facet] | Facet = ALL_FACETS,
    *,
    rules: Rules = EVERYTHING,
) -> bool:
    """Tell whether any of the facets differs between two pages.

    Reads signatures first, so two stored digests are compared without loading
    their columns, and without rules they never are.

    >>> import quire
    >>> old = quire.encode(b"<p class=a>Open 9 to 5</p>")
    >>> new = quire.encode(b"<p class=b>Open 9 to 5</p>")
    >>> changed(old, new, "content"), changed(old, new, "attributes")
    (False, True)
    >>> changed(old, new, rules=quire.Rules(ignore_attributes=("class",)))
    False

    Args:
        old: a page: its digest, or the path or header of a stored one.
        new: another.
        facets: what to look at: ``structure``, ``tags``, ``attributes``, ``content``, ``links``, ``images``.
        rules: what is not a difference.

    Raises:
        TypeError: there are rules to apply, but only the header of a page to apply them to.
        DigestFormatError: a file is not a digest.
        PatternError: a pattern of the rules cannot be read.
        SelectorError: a selector of the rules cannot be read.
    """
    wanted = check_facets(facets)
    before, after = _head(old), _head(new)
    if before.signatures == after.signatures:
        return False
    differing = tuple(facet for facet in wanted if _differs(before, after, facet))
    if not differing or rules == EVERYTHING:
        return bool(differing)
    return annotate(_whole(old), _whole(new), rules).differs(differing)


def structure_changed(old: Comparable, new: Comparable) -> bool:
    """Tell whether two pages differ in structure: the paper's Algorithm 3.

    First the numbers of nodes are compared, then the child counts (the paper's ST) entry by
    entry; the first difference ends it. Names, attributes and contents play no part.

    >>> import quire
    >>> one, two = quire.encode(b"<p>Fish<p>Chips"), quire.encode(b"<p>Fish<br>Chips")
    >>> structure_changed(one, two), structure_changed(one, quire.encode(b"<p>Fish<p>Peas"))
    (True, False)

    Of headers, there are no columns to read; then the signature of the structure stands for them.

    Raises:
        DigestFormatError: a file is not a digest.
    """
    before, after = _head(old), _head(new)
    if before.n != after.n:
        return True
    if isinstance(before, Digest) and isinstance(after, Digest):
        # Entry by entry, in one step of numpy: a column is as wide as its largest entry needs.
        return bool((before.children != after.children).any())
    return before.signatures.structure != after.signatures.structure


def _head(page: Comparable) -> Digest | Header:
    return page if isinstance(page, Digest | Header) else peek(page)


def _whole(page: Comparable) -> Digest:
    if isinstance(page, Header):
        raise TypeError(
            "rules need the whole page, not its header; give the digest, or the path of its file"
        )
    return page if isinstance(page, Digest) else load(page)


def _differs(old: Digest | Header, new: Digest | Header, facet: Facet) -> bool:
    before: int = getattr(old.signatures, facet)
    after: int = getattr(new.signatures, facet)
    return before != after
