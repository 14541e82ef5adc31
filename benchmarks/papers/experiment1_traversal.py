"""Experiment 1, figure 3(a): the cost of visiting a whole document, digest against DOM.

The paper's claim: a depth-first traversal of a digest is a scan of an array of size n. Two
traversals, both with answers that can be compared: nodes by tag, and the sum of all depths, which
needs the structure too. The digest is scanned by numpy, and once more by a plain Python loop
over the same column, which separates the layout from the language.
"""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import quire
from benchmarks import measure, peers
from benchmarks.context import Context
from benchmarks.peers.ours import count_nodes, elements_only
from benchmarks.plot import Series, line_chart
from benchmarks.report import Report, Right, Table
from quire.testing import SHAPES, Shape, generate

SIZES = (1_000, 5_000, 10_000, 50_000, 100_000, 500_000)
QUICK_SIZES = (1_000, 10_000)
SCAN, LOOP = "digest, scan", "digest, Python loop"


def run(context: Context) -> Report:
    """Time both traversals over every shape and size."""
    sizes = context.pick(SIZES, QUICK_SIZES)
    found, notes = peers.installed(("ElementTree", "lxml.etree"))
    report = Report(
        title="Paper, experiment 1: traversal (figure 3a)",
        inputs=f"generated XML, {sizes[0]:,} … {sizes[-1]:,} elements, seed {context.seed}",
        method="documents held in memory; CPU time, rounds interleaved, median",
        notes=[
            "the paper: an order of magnitude faster than DOM, and growing with n alone",
            *notes,
        ],
    )
    tags: dict[tuple[Shape, int], dict[str, measure.Samples]] = {}
    depths: dict[tuple[Shape, int], dict[str, measure.Samples]] = {}
    right: Counter[str] = Counter()
    for shape in SHAPES:
        for nodes in sizes:
            context.say(f"{shape}, {nodes:,}")
            body = generate(shape, nodes, context.seed)
            digest = quire.encode(body, kind="xml")
            trees = {peer.name: peer.parse(body) for peer in found}
            rounds = max(3, min(context.pick(15, 5), 3_000_000 // nodes))
            counting: dict[str, Callable[[], object]] = {
                SCAN: partial(count_nodes, digest),
                LOOP: partial(_loop, digest),
            }
            adding: dict[str, Callable[[], object]] = {SCAN: partial(_scan_depths, digest)}
            for peer in found:
                counting[peer.name] = partial(peer.count_by_walk, trees[peer.name])
                adding[peer.name] = partial(_sum_of_depths, trees[peer.name])
            right += _check(digest, nodes, trees, found)
            tags[shape, nodes] = measure.interleaved(counting, rounds)
            depths[shape, nodes] = measure.interleaved(adding, rounds)
    report.tables = [
        _table("nodes by tag", tags, [SCAN, LOOP]),
        _table("sum of depths (structure)", depths, [SCAN]),
    ]
    cases = len(SHAPES) * len(sizes)
    report.right = [
        Right(who, right[who], cases, what) for who, what in _CHECKS.items() if who in right
    ]
    report.figures = {"figure3a": _figure(tags, sizes)}
    report.data = {
        f"{shape} {nodes}": {name: samples.median for name, samples in runs.items()}
        for (shape, nodes), runs in tags.items()
    }
    return report


_CHECKS = {
    "digest": "finds as many elements as were generated",
    "ElementTree": "counts by tag and sum of depths equal the digest's",
    "lxml.etree": "counts by tag and sum of depths equal the digest's",
}


def _check(
    digest: quire.Digest, nodes: int, trees: dict[str, Any], found: list[peers.Peer]
) -> Counter[str]:
    expected = elements_only(count_nodes(digest))
    depths = _scan_depths(digest)
    right = Counter(
        {"digest": int(expected.total() == nodes and _loop(digest) == Counter(count_nodes(digest)))}
    )
    for peer in found:
        tree = trees[peer.name]
        right[peer.name] = int(
            elements_only(peer.count_by_walk(tree)) == expected and _sum_of_depths(tree) == depths
        )
    return right


def _loop(digest: quire.Digest) -> Counter[str]:
    names = digest.tags
    return Counter(names[tag] for tag in digest.tag.tolist())


def _scan_depths(digest: quire.Digest) -> int:
    """The depths of all elements below the root element, from two columns."""
    is_element = np.array([not name.startswith("#") for name in digest.tags])
    depths = digest.depth[is_element[digest.tag]]
    # The root element stands at depth 1, below the document.
    return int(depths.sum(dtype=np.int64)) - len(depths)


def _sum_of_depths(root: Any) -> int:
    """Depth-first with a stack of its own: documents may be deeper than Python recurses."""
    total = 0
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        total += depth
        stack.extend((child, depth + 1) for child in node)
    return total


def _table(
    caption: str, runs: dict[tuple[Shape, int], dict[str, measure.Samples]], ours: list[str]
) -> Table:
    names = list(next(iter(runs.values())))
    headings = ["shape", "elements", *(f"{name}, ms" for name in names)]
    headings += [f"{name} / digest" for name in names if name not in ours]
    rows = []
    for (shape, nodes), samples in runs.items():
        row = [shape, f"{nodes:,}", *(samples[name].spread(1e3, 3) for name in names)]
        row += [
            f"{measure.round_ratio(samples[name], samples[SCAN]):.0f}x"
            for name in names
            if name not in ours
        ]
        rows.append(row)
    return Table(headings, rows, f"{caption}; median ± IQR")


def _figure(
    runs: dict[tuple[Shape, int], dict[str, measure.Samples]], sizes: tuple[int, ...]
) -> str:
    names = list(next(iter(runs.values())))
    series = [
        Series(
            f"{name}, {shape}", sizes, [runs[shape, nodes][name].median * 1e3 for nodes in sizes]
        )
        for shape in SHAPES
        for name in names
    ]
    return line_chart(
        "Traversal: nodes by tag", series, "elements", "milliseconds", log_x=True, log_y=True
    )
