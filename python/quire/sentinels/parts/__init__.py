"""Parts: what a sentinel reads of a page, and what each version of the page says there.

A ``Part`` goes in (a location, the aspects to watch, differences to ignore) with a page; a
``Reading`` comes out: plain lists of strings, one for each aspect. Two versions differ in a part
if and only if their readings differ. Everything faster than that must give the same answer.
"""

from __future__ import annotations

from quire.sentinels.parts.location import Location, WrongLocation, outermost
from quire.sentinels.parts.part import ASPECTS, CONTENT, Aspect, Ignore, Part
from quire.sentinels.parts.reading import PageReader, Reading

__all__ = [
    "ASPECTS",
    "CONTENT",
    "Aspect",
    "Ignore",
    "Location",
    "PageReader",
    "Part",
    "Reading",
    "WrongLocation",
    "outermost",
]
