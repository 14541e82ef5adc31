"""How fast a digest becomes the page again, beside what the parsers can write.

No parser gives the bytes back: their rows say how many of their pages were exact.
"""

from collections.abc import Callable
from typing import Any

import quire
from benchmarks import measure, peers
from benchmarks.context import Context
from benchmarks.corpora import describe
from benchmarks.report import Goal, Report, Right, Table


def run(context: Context) -> Report:
    """Time decode over held digests and serialisation over held trees."""
    sample = context.pages(full=188, quick=40)
    bodies = [page.read() for page in sample]
    total_bytes = sum(map(len, bodies))
    found, notes = peers.installed(("selectolax", "lxml.html", "turbohtml"))
    digests = [quire.encode(body, kind="html") for body in bodies]
    plain = [index for index, digest in enumerate(digests) if "verbatim" not in digest.flags]
    report = Report(
        title="Decode: a digest to the exact page, one thread",
        inputs=describe(sample),
        method="digests and trees held in memory; CPU time, whole sample in turn, rounds interleaved",
        notes=[
            f"{len(digests) - len(plain)} of {len(digests)} pages are kept verbatim and decode as a copy",
            *notes,
        ],
    )

    exact = sum(digest.decode() == body for digest, body in zip(digests, bodies, strict=True))
    report.right.append(Right("quire", exact, len(bodies), "decode gives back the page"))
    cases: dict[str, Callable[[], object]] = {
        "quire": lambda: [digest.decode() for digest in digests]
    }
    for peer in found:
        trees = [peer.parse(body) for body in bodies]
        same = sum(peer.serialise(tree) == body for tree, body in zip(trees, bodies, strict=True))
        report.right.append(Right(peer.name, same, len(bodies), "serialised tree equals the page"))
        cases[peer.name] = _writer(peer, trees)
    only = [digests[index] for index in plain]
    cases["quire, verbatim pages left out"] = lambda: [digest.decode() for digest in only]

    context.say("timing")
    turns = measure.interleaved(cases, context.pick(15, 3))
    only_bytes = sum(len(bodies[index]) for index in plain)
    amounts = {name: only_bytes if name.endswith("left out") else total_bytes for name in cases}
    rows = [
        [
            name,
            f"{amounts[name] / samples.best / 1e6:,.0f}",
            f"{amounts[name] / samples.median / 1e6:,.0f}",
            samples.spread(1e3),
            f"{samples.median / turns['quire'].median:.2f}x",
        ]
        for name, samples in turns.items()
    ]
    report.tables.append(
        Table(
            ["library", "MB/s, best", "MB/s, median", "ms for all, median ± IQR", "time / quire's"],
            rows,
        )
    )
    speed = total_bytes / turns["quire"].median / 1e6
    report.goals = [
        Goal("decode of real pages", ">= 500 MB/s", f"{speed:,.0f} MB/s", met=speed >= 500),
        Goal(
            "decode of real pages, stretch goal",
            ">= 1,000 MB/s",
            f"{speed:,.0f} MB/s",
            met=speed >= 1000,
        ),
    ]
    report.data = {
        "mb_per_s": speed,
        "seconds": {name: samples.seconds for name, samples in turns.items()},
    }
    return report


def _writer(peer: peers.Peer, trees: list[Any]) -> Callable[[], object]:
    return lambda: [peer.serialise(tree) for tree in trees]
