"""Cutting: a page with includes in the place of what is cut out of it.

The template grows from left to right, and scanners read it as caches do. Where all of them are between tags an include is written;
elsewhere the part stays in the page, and the hazard that made it stay is named. So what is written is seen by a cache, by construction, and
the bytes of the page come together again.

Cost: linear in the page.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from quire.fragments.cuts.esi_scanner import EsiScanner, Within
from quire.fragments.cuts.hazards import Hazard, HazardKind, blocked
from quire.fragments.cuts.select import Cut


@dataclass(frozen=True, slots=True)
class Template:
    """A page or fragment that was cut.

    Attributes:
        data: its bytes, with includes.
        includes: how many.
        hazards: what kept parts in it.
    """

    data: bytes
    includes: int
    hazards: tuple[Hazard, ...]


def cut_out(
    source: bytes, cuts: Sequence[Cut], include_for: Callable[[Cut, bytes], bytes]
) -> Template:
    r"""Put includes in the place of parts.

    >>> page = b"<p>1 < 2</p><nav>Start</nav><nav>Start</nav>"
    >>> parts = [Cut(0, 12, 7), Cut(12, 28, 8), Cut(28, 44, 8)]
    >>> cut_out(page, parts, lambda cut, data: b'<esi:include src="/%d"/>' % cut.key).data
    b'<esi:include src="/7"/><esi:include src="/8"/><esi:include src="/8"/>'
    >>> cut_out(page, parts[1:], lambda cut, data: b'<esi:include src="/%d"/>' % cut.key).data
    b'<p>1 < 2</p><esi:include src="/8"/><esi:include src="/8"/>'

    Args:
        source: the bytes.
        cuts: the parts, ascending; none overlaps another.
        include_for: gives the include for a part and its bytes; asked only where it is written.
    """
    grown = bytearray()
    scanners = (EsiScanner(), EsiScanner(backs_up=True))
    # Where pieces of the source begin in the template, and in the source.
    pieces: list[tuple[int, int]] = [(0, 0)]
    kept: Counter[tuple[HazardKind, int]] = Counter()
    at = includes = 0
    for cut in cuts:
        grown += source[at : cut.start]
        part = source[cut.start : cut.end]
        stuck = next((one for one in scanners if one.read(grown) is not Within.NOTHING), None)
        if stuck is None:
            grown += include_for(cut, part)
            for scanner in scanners:
                scanner.skip_to(len(grown))
            pieces.append((len(grown), cut.end))
            includes += 1
        else:
            kept[blocked(stuck.within), _place(pieces, stuck.opened)] += 1
            grown += part
        at = cut.end
    grown += source[at:]
    hazards = tuple(Hazard(kind, offset, count) for (kind, offset), count in kept.items())
    return Template(bytes(grown), includes, hazards)


def made_cuts(source: bytes, cuts: Sequence[Cut]) -> list[Cut]:
    """Give the cuts that no hazard stops.

    Args:
        source: the bytes.
        cuts: the parts, ascending; none overlaps another.
    """
    made: list[Cut] = []

    def include_for(cut: Cut, _: bytes) -> bytes:
        made.append(cut)
        return b""  # scanners skip includes, whatever they are

    cut_out(source, cuts, include_for)
    return made


def _place(pieces: Sequence[tuple[int, int]], offset: int) -> int:
    """Where in the source a place of the template is."""
    there, source = pieces[bisect_right(pieces, (offset, 1 << 62)) - 1]
    return source + offset - there
