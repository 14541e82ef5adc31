"""ESI scanner: where in a page an ESI processor would recognise an include.

Caches that compose pages do not parse HTML. They look for ``<``, and then for one of four
beginnings: ``<esi:``, ``<!--``, ``<![CDATA[``, and anything else, which they take for a tag that
lasts until the next ``>``. They recognise an include only between these. Processors differ in one
point, so there is a scanner for each way, and a place is safe when both are *between tags* there:

* **no backing up** (Varnish 7): the search for ``-->`` does not go back after a mismatch. ``--->``
  does not end a comment: the third dash restarts the search, and the ``>`` is alone.
* **backing up**: comments end at the first ``-->``, as a person would say.

A scanner reads a page up to a given place and continues from there. It looks at every byte once,
with patterns that do not backtrack: the cost is linear for any input.
"""

from __future__ import annotations

import re
from enum import Enum

# Possessive (``*+``): no backtracking, so that no page can make the search quadratic.
_BETWEEN = re.compile(rb"(?:[^<]++|<(?!/?(?:!--|esi:|!\[CDATA\[))[^>]*+>)*+")
_TAG_START = re.compile(rb"</?(?:(!--esi|esi:)|(!--)|(!\[CDATA\[))")
# Each step is one of a search without backing up: a mismatch also consumes the byte it is at.
_NO_BACKING_UP = {
    b"-->": re.compile(rb"(?:[^-]++|-[^-]|--[^>])*+"),
    b"]]>": re.compile(rb"(?:[^\]]++|\][^\]]|\]\][^>])*+"),
}


class Within(Enum):
    """The construct that a scanner is inside of."""

    NOTHING = "nothing"
    TAG = "tag"
    COMMENT = "comment"
    CDATA = "cdata"
    ESI = "esi"


_STARTS = (Within.TAG, Within.ESI, Within.COMMENT, Within.CDATA)


class EsiScanner:
    """Reads a page from left to right as an ESI processor does.

    >>> scanner = EsiScanner()
    >>> page = b"<p>1 < 2 and <b>so on</b>"
    >>> scanner.read(page, 12)
    <Within.TAG: 'tag'>
    >>> scanner.read(page)
    <Within.NOTHING: 'nothing'>

    Attributes:
        within: the construct that the bytes read so far end in.
        opened: where it begins.
    """

    def __init__(self, *, backs_up: bool = False) -> None:
        self.within: Within = Within.NOTHING
        self.opened: int = 0
        self._backs_up = backs_up
        self._at = 0

    def read(self, page: bytes | bytearray, end: int | None = None) -> Within:
        """Read on to a place, by default to the end; ``ESI`` is final."""
        stop = len(page) if end is None else end
        while self.within is not Within.ESI and self._step(page, stop):
            pass
        return self.within

    def skip_to(self, end: int) -> None:
        """Skip bytes that an include replaces.

        Raises:
            ValueError: the scanner is inside something.
        """
        if self.within is not Within.NOTHING:
            raise ValueError(f"inside a {self.within.value}: an include is not recognised here")
        self._at = end

    def _step(self, page: bytes | bytearray, end: int) -> bool:
        """Go to the next change of state; False at the end."""
        if self.within is Within.NOTHING:
            return self._find_tag(page, end)
        if self.within is Within.TAG:
            return self._find_end_of_tag(page, end)
        return self._find(b"-->" if self.within is Within.COMMENT else b"]]>", page, end)

    def _find_tag(self, page: bytes | bytearray, end: int) -> bool:
        found = _BETWEEN.match(page, self._at, end)
        self._at = found.end() if found else self._at
        if self._at >= end:
            return False
        self.within, self.opened = Within.TAG, self._at
        return True

    def _find_end_of_tag(self, page: bytes | bytearray, end: int) -> bool:
        # Only now may its kind be known: its first bytes could have been the last ones read.
        start = _TAG_START.match(page, self.opened, end)
        if start is not None:
            self.within = _STARTS[start.lastindex or 0]
            self._at = self.opened + len(start[0])
            return True
        place = page.find(b">", self._at, end)
        if place < 0:
            self._at = end
            return False
        self._at, self.within = place + 1, Within.NOTHING
        return True

    def _find(self, mark: bytes, page: bytes | bytearray, end: int) -> bool:
        if self._backs_up:
            place = page.find(mark, self._at, end)
            if place < 0:
                # Two bytes of the mark may be there; but never bytes from before the search began.
                self._at = max(self._at, end - 2)
                return False
        else:
            passed = _NO_BACKING_UP[mark].match(page, self._at, end)
            place = passed.end() if passed else self._at
            self._at = place
            if end - place < len(mark):
                return False
        self._at, self.within = place + len(mark), Within.NOTHING
        return True
