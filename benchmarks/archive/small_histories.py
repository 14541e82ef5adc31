"""Histories of small pages: hundreds of versions of 10 KB, each a few words away from the last.

The corpora have histories of large pages. A small one is cut from each: the first 10,000 bytes from the tag ``main`` on, or
``body`` where there is none. The rival is one solid stream of all versions, which has to be read from its start to give back
any of them.
"""

import lzma
import tempfile
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from benchmarks.archive.captures import Capture, collection
from benchmarks.archive.ours import measured
from benchmarks.archive.rivals import Measured
from benchmarks.context import Context
from benchmarks.report import Report, Right, Table, at_most, every
from quire.archive.compact.tiers import TierName

CORPORA = ("versions-news", "versions-terms")
SMALL_BYTES = 10_000
LEAST_VERSIONS = 40
#: Histories with fewer bytes a version say little: their pages are all but equal.
LEAST_NEWS = 40
TIERS: tuple[TierName, ...] = ("zstd", "dense")
GOAL = 1.3


def run(context: Context) -> Report:
    """Cut small pages out of the histories, store them, and compare with a solid stream."""
    rows: list[list[str]] = []
    ratios: list[float] = []
    right = total = 0
    for name in context.pick(CORPORA, CORPORA[:1]):
        for url, captures in _histories(name, context):
            solid = len(lzma.compress(b"".join(one.body for one in captures), preset=9))
            if solid < LEAST_NEWS * len(captures):
                continue
            stored = {tier: _stored(captures, tier) for tier in TIERS}
            right += sum(one.right for one in stored.values())
            total += len(TIERS) * len(captures)
            ratios.append(stored["zstd"].stored / solid)
            rows.append(_row(url, captures, solid, stored))
    ratios.sort()
    report = Report(
        title="Archive: histories of small pages",
        inputs=f"{len(rows)} histories of {', '.join(CORPORA)} with at least {LEAST_VERSIONS} versions, cut to {SMALL_BYTES:,} bytes; without those that take less than {LEAST_NEWS} bytes a version as a solid stream",
        method="bytes without addresses and indexes, as in archive-ratios; beside them the whole folder; every page read back and compared",
    )
    report.tables = [
        Table(
            [
                "history",
                "versions",
                "solid xz -9",
                "quire",
                "of xz",
                "whole folder",
                "dense",
                "of xz",
            ],
            rows,
        )
    ]
    report.goals = [
        at_most("of solid xz, the middle history", ratios[len(ratios) // 2], GOAL),
        every("pages back byte for byte", right, total),
    ]
    report.right = [Right("quire", right, total, "pages back byte for byte")]
    report.data = {"ratios": ratios}
    return report


def _histories(name: str, context: Context) -> list[tuple[str, list[Capture]]]:
    found = []
    for url, group in groupby(collection(name, context).captures, key=lambda one: one.url):
        captures = [replace(one, body=_cut(one.body)) for one in group]
        if len(captures) >= context.pick(LEAST_VERSIONS, 5):
            found.append((url.removeprefix("https://"), captures))
    return found


def _cut(body: bytes) -> bytes:
    start = body.find(b"<main")
    start = max(0, body.find(b"<body")) if start < 0 else start
    return body[start : start + SMALL_BYTES]


def _stored(captures: list[Capture], tier: TierName) -> Measured:
    with tempfile.TemporaryDirectory(prefix="quire-history-") as folder:
        return measured(Path(folder) / "a.quire", captures, tier)


def _row(
    url: str, captures: list[Capture], solid: int, stored: dict[TierName, Measured]
) -> list[str]:
    plain, dense = stored["zstd"], stored["dense"]
    return [
        url[:40],
        f"{len(captures):,}",
        f"{solid:,}",
        f"{plain.stored:,}",
        f"{plain.stored / solid:.2f}",
        f"{plain.folder:,}",
        f"{dense.stored:,}",
        f"{dense.stored / solid:.2f}",
    ]
