"""A cache's eye: where in a page an ESI processor would see an include.

Caches that compose pages do not read HTML. They look for ``<``, and then for one of four beginnings: ``<esi:``, ``<!--``,
``<![CDATA[``, and anything else, which to them is a tag that lasts until the next ``>``. An include is seen only between these.
Processors differ in two points, so there is a scanner for each way, and a place is safe when all of them are *between tags* there:

* **no backing up** (Varnish 7): the end ``-->`` is looked for without going back after a mismatch. ``--->`` does not end a comment:
  the third dash starts the search anew, and the ``>`` is alone.
* **backing up**: comments end at the first ``-->``, as a reader would say.

A scanner is fed a growing buffer and goes on where it stopped. Every byte is looked at once, by patterns that do not backtrack: linear,
whatever the bytes are.
"""

from __future__ import annotations

import re
from enum import Enum

# Possessive (``*+``): what was read is not given back, so that a page cannot make the search quadratic.
_BETWEEN = re.compile(rb"(?:[^<]++|<(?!/?(?:!--|esi:|!\[CDATA\[))[^>]*+>)*+")
_TAG_START = re.compile(rb"</?(?:(!--esi|esi:)|(!--)|(!\[CDATA\[))")
# Each step is what a search without backing up takes in: a mismatch takes the byte it was found at with it.
_NO_BACKING_UP = {
    b"-->": re.compile(rb"(?:[^-]++|-[^-]|--[^>])*+"),
    b"]]>": re.compile(rb"(?:[^\]]++|\][^\]]|\]\][^>])*+"),
}


class Within(Enum):
    """What a scanner is in the middle of."""

    NOTHING = "nothing"
    TAG = "tag"
    COMMENT = "comment"
    CDATA = "cdata"
    ESI = "esi"


_STARTS = (Within.TAG, Within.ESI, Within.COMMENT, Within.CDATA)


class EsiScanner:
    """Reads a growing buffer as an ESI processor does.

    >>> scanner = EsiScanner()
    >>> page = bytearray(b"<p>1 < 2 and")
    >>> scanner.read(page)
    <Within.TAG: 'tag'>
    >>> page += b" <b>so on</b>"
    >>> scanner.read(page)
    <Within.NOTHING: 'nothing'>

    Attributes:
        within: what the buffer ended in the middle of.
        opened: where that began.
    """

    def __init__(self, *, backs_up: bool = False) -> None:
        self.within: Within = Within.NOTHING
        self.opened: int = 0
        self._backs_up = backs_up
        self._at = 0

    def read(self, buffer: bytearray) -> Within:
        """Read on to the end of a buffer that has grown; ``ESI`` is final."""
        while self.within is not Within.ESI and self._step(buffer):
            pass
        return self.within

    def skip_to(self, end: int) -> None:
        """Take what was appended between tags as read: an include, which a processor replaces.

        Raises:
            ValueError: the scanner is in the middle of something.
        """
        if self.within is not Within.NOTHING:
            raise ValueError(f"inside a {self.within.value}: an include is not seen here")
        self._at = end

    def _step(self, buffer: bytearray) -> bool:
        """Go to the next change of state; False at the end of the buffer."""
        if self.within is Within.NOTHING:
            return self._find_tag(buffer)
        if self.within is Within.TAG:
            return self._find_end_of_tag(buffer)
        return self._find(b"-->" if self.within is Within.COMMENT else b"]]>", buffer)

    def _find_tag(self, buffer: bytearray) -> bool:
        found = _BETWEEN.match(buffer, self._at)
        self._at = found.end() if found else self._at
        if self._at >= len(buffer):
            return False
        self.within, self.opened = Within.TAG, self._at
        return True

    def _find_end_of_tag(self, buffer: bytearray) -> bool:
        # What it is may be known only now: its first bytes could have been the last of the buffer.
        start = _TAG_START.match(buffer, self.opened)
        if start is not None:
            self.within = _STARTS[start.lastindex or 0]
            self._at = self.opened + len(start[0])
            return True
        end = buffer.find(b">", self._at)
        if end < 0:
            self._at = len(buffer)
            return False
        self._at, self.within = end + 1, Within.NOTHING
        return True

    def _find(self, end: bytes, buffer: bytearray) -> bool:
        if self._backs_up:
            place = buffer.find(end, self._at)
            if place < 0:
                # Two bytes of the end may be there; but never bytes from before the search began.
                self._at = max(self._at, len(buffer) - 2)
                return False
        else:
            passed = _NO_BACKING_UP[end].match(buffer, self._at)
            place = passed.end() if passed else self._at
            self._at = place
            if len(buffer) - place < len(end):
                return False
        self._at, self.within = place + len(end), Within.NOTHING
        return True
