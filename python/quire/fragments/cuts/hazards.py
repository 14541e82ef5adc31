"""Hazards: anything in a page that would make a cache compose something other than the page.

Three kinds, each found before anything is written:

* **ESI in the page itself**: ``<esi:``, ``</esi:`` and ``<!--esi``, in any case. The cache would
  execute it, so quire refuses the page and leaves it whole.
* **A page that caches do not take for markup**: its first byte other than white space is not ``<``,
  for example because of a byte order mark. No include in it would be recognised, so it stays whole,
  unless the cache is configured not to check (``xml_check``).
* **A place where an include is not recognised**: inside what the cache takes for a comment, a tag
  or a CDATA section, though a browser does not. Comments that end in extra dashes and a raw ``<``
  do that. The part stays in the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from quire.fragments.cuts.esi_scanner import Within

_ESI = re.compile(rb"(</?esi:)|<!--esi", re.IGNORECASE)
_FIRST = re.compile(rb"[ \t\r\n]*+")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Of a page with thousands of ``<esi:``, these many are listed.
MOST_LISTED = 20


class HazardKind(StrEnum):
    """The kind of hazard."""

    esi_tag = "esi-tag"
    esi_comment = "esi-comment"
    byte_order_mark = "byte-order-mark"
    no_leading_tag = "no-leading-tag"
    open_comment = "open-comment"
    open_tag = "open-tag"
    open_cdata = "open-cdata"


#: What each means, for people.
MEANINGS: dict[HazardKind, str] = {
    HazardKind.esi_tag: "an ESI tag of the page's own, which a cache would execute",
    HazardKind.esi_comment: "an ESI comment of the page's own, which a cache would execute",
    HazardKind.byte_order_mark: (
        "a byte order mark before the first tag: caches do not look for includes"
    ),
    HazardKind.no_leading_tag: "does not begin with a tag: caches do not look for includes",
    HazardKind.open_comment: "a comment that caches do not see the end of, as after extra dashes",
    HazardKind.open_tag: "a < that caches take for a tag until the next >",
    HazardKind.open_cdata: "a CDATA section that caches do not see the end of",
}
#: The hazard of a place that a scanner takes for the inside of something.
OF_STATES: dict[Within, HazardKind] = {
    Within.COMMENT: HazardKind.open_comment,
    Within.TAG: HazardKind.open_tag,
    Within.CDATA: HazardKind.open_cdata,
    Within.ESI: HazardKind.esi_tag,
}


@dataclass(frozen=True, slots=True)
class Hazard:
    """A hazard of one page.

    Attributes:
        kind: the kind.
        offset: where it is in the page, in bytes.
        kept: how many parts stay in the page because of it.
    """

    kind: HazardKind
    offset: int
    kept: int = 0


def refusals(source: bytes, *, xml_check: bool = True) -> list[Hazard]:
    """List the reasons why a page must not be composed at all; empty if it may be.

    >>> refusals(b"<p>How to write &lt;esi:include&gt;")
    []
    >>> refusals(b'<p>x</p><esi:include src="/admin"/>')
    [Hazard(kind=<HazardKind.esi_tag: 'esi-tag'>, offset=8, kept=0)]

    Args:
        source: the page.
        xml_check: whether the cache ignores includes in pages that do not begin with a tag.
    """
    found = []
    blank = _FIRST.match(source)
    first = blank.end() if blank else 0
    if xml_check and source[first : first + 1] != b"<":
        marked = source.startswith(_BYTE_ORDER_MARK)
        kind = HazardKind.byte_order_mark if marked else HazardKind.no_leading_tag
        found.append(Hazard(kind, first))
    for match in islice(_ESI.finditer(source), MOST_LISTED):
        kind = HazardKind.esi_tag if match[1] else HazardKind.esi_comment
        found.append(Hazard(kind, match.start()))
    return found
