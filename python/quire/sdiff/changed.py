"""Tell whether a page changed, reading as little as possible.

There are three steps; each one returns as soon as it knows the answer:

1. Compare all signatures at once: equal bytes, parsed in the same way, are equal pages.
2. Compare the signatures of the facets: pages with different bytes can be equal in a facet. Without
   rules, this is the final answer.
3. With rules, and for JSON, whose signatures know the order of members and whose comparison
   ignores it, annotate both pages and see whether any difference is left that no rule ignores.

Steps 1 and 2 need only the header of a digest, so nothing else of a stored digest is read.
Signatures compare facets node by node in document order: after a new element, every facet with
values further down the page differs too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeAlias

from quire.digest.arguments import check_page
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

    Compares signatures first, so the columns of two stored digests are loaded only if there are
    rules to apply, or for JSON, where members of an object in another order do not count. Of two
    headers of JSON only the signatures are known, so there they are one.

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
        TypeError: a page is given as something else, or there are rules and of one page only the
            header was given.
        DigestFormatError: a file is not a digest.
        PatternError: a pattern of the rules is not valid.
        SelectorError: a selector of the rules is not valid.
    """
    wanted = check_facets(facets)
    before, after = _head("old", old), _head("new", new)
    if before.signatures == after.signatures:
        return False
    differing = tuple(facet for facet in wanted if _differs(before, after, facet))
    if not differing:
        return False
    is_json = before.kind == after.kind == "json"
    if rules == EVERYTHING and not (is_json and _are_whole(old, new)):
        return True
    return annotate(_whole(old), _whole(new), rules).differs(differing)


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
    before, after = _head("old", old), _head("new", new)
    if before.n != after.n:
        return True
    if isinstance(before, Digest) and isinstance(after, Digest):
        # One numpy call compares all entries. The columns may have different integer widths.
        return bool((before.children != after.children).any())
    return before.signatures.structure != after.signatures.structure


def _head(name: str, page: object) -> Digest | Header:
    if isinstance(page, Digest | Header):
        return page
    if isinstance(page, str | os.PathLike):
        return peek(page)
    return check_page(name, page)


def _whole(page: Comparable) -> Digest:
    if isinstance(page, Header):
        raise TypeError(
            "rules need the whole page, not its header; pass the digest or the path of its file"
        )
    return page if isinstance(page, Digest) else load(page)


def _are_whole(*pages: Comparable) -> bool:
    return not any(isinstance(page, Header) for page in pages)


def _differs(old: Digest | Header, new: Digest | Header, facet: Facet) -> bool:
    before: int = getattr(old.signatures, facet)
    after: int = getattr(new.signatures, facet)
    return before != after
