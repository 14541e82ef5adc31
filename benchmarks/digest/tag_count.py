"""Counting nodes by tag: a scan of one column beside walks over trees.

The answer is the same for all: a mapping from name to count, page by page. Rivals
count in two ways, by a walk over all their nodes from Python and by their own ``*`` query,
which finds the elements in C and leaves only the names to Python.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import quire
from benchmarks import measure, peers
from benchmarks.context import Context
from benchmarks.corpora import describe
from benchmarks.peers.ours import count_nodes, elements_only, outline
from benchmarks.report import Report, Right, Table, at_least

RIVALS = ("selectolax", "lxml.html", "turbohtml", "resiliparse")


def run(context: Context) -> Report:
    """Time tag counts over loaded digests and over held trees."""
    sample = context.pages(full=188, quick=40)
    bodies = [page.read() for page in sample]
    found, notes = peers.installed(RIVALS)
    with tempfile.TemporaryDirectory() as folder:
        digests = _loaded(bodies, Path(folder))
        report = Report(
            title="Counting nodes by tag over loaded digests",
            inputs=describe(sample),
            method="digests loaded and trees parsed before the clock starts; CPU time, rounds interleaved",
            notes=[
                "goals use the dict, which is the answer the rivals give; code that works on columns would use the array (one count for each of `page.tags`)",
                "lxml's trees are not WHATWG trees, so its counts differ on some pages; it and turbohtml visit no text nodes",
                "selectolax and resiliparse do not walk the content of templates; compared without it",
                *notes,
            ],
        )
        expected = [_slow_count(digest) for digest in digests]
        right = sum(
            count_nodes(digest) == slow for digest, slow in zip(digests, expected, strict=True)
        )
        report.right.append(
            Right("quire", right, len(bodies), "equals a count by a plain Python loop")
        )
        cases: dict[str, Callable[[], object]] = {
            "quire, to a dict": lambda: [count_nodes(digest) for digest in digests],
            "quire, to names and an array": lambda: [
                (digest.tags, np.bincount(digest.tag)) for digest in digests
            ],
        }
        for peer in found:
            trees = [peer.parse(body) for body in bodies]
            report.right.append(_agreement(peer, trees, digests))
            cases[f"{peer.name}, walk"] = _counter(peer.count_by_walk, trees)
            cases[f"{peer.name}, own * query"] = _counter(peer.count_by_query, trees)
        context.say("timing")
        turns = measure.interleaved(cases, context.pick(11, 3))

    # The rivals give names with counts, so the goals are held to the row that does so too.
    ours = turns["quire, to a dict"]
    rows = [
        [name, samples.spread(1e6 / len(bodies), 1), f"{measure.round_ratio(samples, ours):.1f}x"]
        for name, samples in turns.items()
    ]
    report.tables.append(Table(["who", "us a page, median ± IQR", "time / quire's dict"], rows))
    report.goals = [
        at_least(
            f"counting nodes by tag against {name}", measure.round_ratio(turns[name], ours), 50
        )
        for name in ("lxml.html, walk", "selectolax, walk")
        if name in turns
    ]
    report.data = {name: samples.seconds for name, samples in turns.items()}
    return report


def _loaded(bodies: Sequence[bytes], folder: Path) -> list[quire.Digest]:
    digests = []
    for index, body in enumerate(bodies):
        path = folder / f"{index}.qd"
        # Scripting off, as in the rivals: `noscript` holds elements.
        quire.encode(body, kind="html", scripting=False).save(path)
        digests.append(quire.load(path))
    return digests


def _slow_count(page: quire.Digest) -> Counter[str]:
    return Counter(page.tags[tag] for tag in page.tag)


def _agreement(peer: peers.Peer, trees: Sequence[Any], digests: Sequence[quire.Digest]) -> Right:
    """How often a rival counts the same elements, with or without the content of templates."""
    same = 0
    for tree, page in zip(trees, digests, strict=True):
        theirs = elements_only(peer.count_by_walk(tree))
        ways = (_slow_count(page), Counter(name for name, _ in outline(page)))
        same += any(theirs == elements_only(ours) for ours in ways)
    return Right(peer.name, same, len(trees), "counts of elements equal quire's")


def _counter(count: Callable[[Any], Counter[str]], trees: Sequence[Any]) -> Callable[[], object]:
    return lambda: [count(tree) for tree in trees]
