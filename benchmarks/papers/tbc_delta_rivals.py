"""The delta step of paper 003 beside others: VCDIFF, which its section II names through vdelta, and zstd with a dictionary.

Every way gets the same pairs of a reference and a page: those of TBC's clusters with the paper's parameters. TBC cuts a
page into tags and strings and copies whole ones; VCDIFF and zstd copy any bytes, also from the page itself. So
they are compared with the deltas of TBC alone, and with TBC + gzip, which also sees repetitions.
"""

import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import zstandard

from benchmarks.context import Context
from benchmarks.papers import tbc_runs
from benchmarks.papers.tbc_runs import Collection
from benchmarks.peers import xdelta
from benchmarks.report import Report, Right, Table
from quire.archive import tbc_encode
from quire.similar import Clusters, random_sampling

#: Most pairs of a collection, evenly spaced: xdelta3 is a process for each.
MOST_PAIRS, QUICK_PAIRS = 600, 30
CHECKED = 50
Pair = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Way:
    """Deltas of all pairs by one way, and CPU seconds."""

    deltas: list[bytes]
    seconds: float
    right: int
    checked: int

    @property
    def bytes(self) -> int:
        """All deltas."""
        return sum(map(len, self.deltas))


def run(context: Context) -> Report:
    """Compare sizes and times on every collection."""
    found = [one for one in tbc_runs.collections(context) if one.name != tbc_runs.TOGETHER]
    has_xdelta = xdelta.is_installed()
    report = Report(
        title="Paper 003: the delta step beside VCDIFF and zstd",
        inputs=", ".join(one.words() for one in found),
        method=(
            "pairs of TBC's clusters (sim = 0.5, seed 0), the same for all; CPU time of all deltas, once; "
            + (
                f"{xdelta.version()}, level 9, no secondary compression, without the starts of its processes; "
                if has_xdelta
                else ""
            )
            + "zstd: the reference as dictionary"
        ),
        notes=[] if has_xdelta else [xdelta.MISSING],
    )
    for one in found:
        pairs = _pairs(one, context.pick(MOST_PAIRS, QUICK_PAIRS))
        context.say(f"{one.name}: {len(pairs):,} pairs")
        ways = _ways(pairs)
        report.tables.append(_table(one, pairs, ways))
        for name, way in ways.items():
            if way.checked:
                report.right.append(
                    Right(name, way.right, way.checked, f"{one.name}: pages restored")
                )
        report.data[one.name] = {name: [way.bytes, way.seconds] for name, way in ways.items()}
        if has_xdelta:
            report.notes.append(_words(one.name, ways))
    return report


def _pairs(one: Collection, most: int) -> list[Pair]:
    template_of = random_sampling(one.matrix, seed=0).template_of.tolist()
    pairs = [(of, page) for page, of in enumerate(template_of) if of not in (-1, page)]
    step = max(1, len(pairs) // most)
    # By reference: TBC cuts each reference once.
    return [(one.pages[of], one.pages[page]) for of, page in sorted(pairs[::step][:most])]


TBC, MYERS, VCDIFF = "TBC, window 7", "Myers alone, window 0", "VCDIFF (xdelta3 -9)"
ZSTD3, ZSTD19 = "zstd -3, reference as dictionary", "zstd -19, reference as dictionary"
GZIP = "gzip -9, no reference"


def _ways(pairs: list[Pair]) -> dict[str, Way]:
    ways = {TBC: _tbc(pairs, 7), MYERS: _tbc(pairs, 0)}
    if xdelta.is_installed():
        made = xdelta.encode(pairs)
        chosen = range(0, len(pairs), max(1, len(pairs) // CHECKED))
        right = sum(xdelta.decode(pairs[i][0], made.deltas[i]) == pairs[i][1] for i in chosen)
        ways[VCDIFF] = Way(made.deltas, made.without_starts, right, len(chosen))
    ways[ZSTD3] = _zstd(pairs, 3)
    ways[ZSTD19] = _zstd(pairs, 19)
    ways[GZIP] = _timed(pairs, lambda pair: zlib.compress(pair[1], 9, 31))
    return ways


def _tbc(pairs: list[Pair], window: int) -> Way:
    """TBC of two pages at a time would cut a reference again for every page: all pairs of one at once."""
    pages: list[bytes] = []
    of: list[int] = []
    places = []
    for reference, page in pairs:
        if not pages or pages[of[-1]] is not reference:
            pages.append(reference)
            of.append(len(pages) - 1)
        places.append(len(pages))
        of.append(of[-1])
        pages.append(page)
    stored = tbc_encode(
        pages, clusters=Clusters(np.array(of, np.int32)), window=window, packing=None
    )
    deltas = [stored.stored_bytes(i) for i in places]
    right = sum(stored.decode(i) == page for i, (_, page) in zip(places, pairs, strict=True))
    return Way(deltas, stored.times.delta, right, len(pairs))


def _zstd(pairs: list[Pair], level: int) -> Way:
    def one(pair: Pair) -> bytes:
        dictionary = zstandard.ZstdCompressionDict(
            pair[0], dict_type=zstandard.DICT_TYPE_RAWCONTENT
        )
        return zstandard.ZstdCompressor(level=level, dict_data=dictionary).compress(pair[1])

    return _timed(pairs, one)


def _timed(pairs: list[Pair], make: Callable[[Pair], bytes]) -> Way:
    start = time.process_time()
    deltas = [make(pair) for pair in pairs]
    return Way(deltas, time.process_time() - start, 0, 0)


def _table(one: Collection, pairs: list[Pair], ways: dict[str, Way]) -> Table:
    total = sum(len(page) for _, page in pairs)
    rows = []
    for name, way in ways.items():
        packed = sum(len(zlib.compress(delta, 9, 31)) for delta in way.deltas)
        rows.append(
            [
                name,
                f"{way.bytes / total:.1%}",
                "" if name.startswith(("gzip", "zstd")) else f"{packed / total:.1%}",
                f"{way.seconds:.2f}",
                f"{total / 1e6 / way.seconds:,.0f}" if way.seconds else "",
            ]
        )
    headings = ["way", "deltas / pages", "with gzip -9", "time, s", "MB/s"]
    return Table(headings, rows, f"{one.name}: {len(pairs):,} pairs, {total / 1e6:.1f} MB")


def _words(corpus: str, ways: dict[str, Way]) -> str:
    tbc, rival = ways[TBC], ways[VCDIFF]
    return (
        f"{corpus}: deltas of VCDIFF take {rival.bytes / tbc.bytes:.2f} of the bytes of TBC's and "
        f"{rival.seconds / tbc.seconds:.1f} times its time"
    )
