"""Experiment 1, figure 3(a): the cost of visiting a whole document, digest against DOM.

The paper's claim: a depth-first traversal of a digest is a scan of an array of size n. Two
traversals, both with answers that can be compared: nodes by tag, and the sum of all depths, which
needs the structure too. The paper had Java on both sides. Here are two comparisons:

* *same language*: a Python loop over the columns beside a Python loop over the nodes of a tree.
  Only the layout differs, as in the paper.
* *as users have it*: numpy scans the columns, and a user of a tree still has a Python loop.
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
from benchmarks.report import Goal, Report, Right, Table
from quire.testing import SHAPES, Shape, generate

SIZES = (1_000, 5_000, 10_000, 50_000, 100_000, 500_000)
QUICK_SIZES = (1_000, 10_000)
SCAN, LOOP = "digest, scan", "digest, Python loop"
Runs = dict[tuple[Shape, int], dict[str, measure.Samples]]
#: Abstract and section 6 of the paper: "at least an order of magnitude".
PAPERS_RATIO = 10.0


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
    tags: Runs = {}
    depths: Runs = {}
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
            adding: dict[str, Callable[[], object]] = {
                SCAN: partial(_scan_depths, digest),
                LOOP: partial(_loop_depths, digest),
            }
            for peer in found:
                counting[peer.name] = partial(peer.count_by_walk, trees[peer.name])
                adding[peer.name] = partial(_sum_of_depths, trees[peer.name])
            right += _check(digest, nodes, trees, found)
            tags[shape, nodes] = measure.interleaved(counting, rounds)
            depths[shape, nodes] = measure.interleaved(adding, rounds)
    both = {"nodes by tag": tags, "sum of depths (structure)": depths}
    for ours, comparison in ((LOOP, "same language"), (SCAN, "as users have it")):
        for what, runs in both.items():
            report.tables.append(_table(f"{comparison}: {what}", runs, ours))
    report.tables.insert(0, _verdict(both))
    report.goals = [
        _claim(both, LOOP, "claim: ten times faster than ElementTree, same language"),
        _claim(both, SCAN, "claim: ten times faster than ElementTree, as users have it"),
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
        {
            "digest": int(
                expected.total() == nodes
                and _loop(digest) == Counter(count_nodes(digest))
                and _loop_depths(digest) == depths
            )
        }
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


def _loop_depths(digest: quire.Digest) -> int:
    """The same from ST and TM, entry by entry, with the children still to come on a stack."""
    is_element = [not name.startswith("#") for name in digest.tags]
    total = 0
    to_come = [1]
    for children, tag in zip(digest.children.tolist(), digest.tag.tolist(), strict=True):
        while not to_come[-1]:
            to_come.pop()
        to_come[-1] -= 1
        if is_element[tag]:
            total += len(to_come) - 2  # less the document, and the root stands at depth 0
        if children:
            to_come.append(children)
    return total


def _sum_of_depths(root: Any) -> int:
    """Depth-first with a stack of its own: documents may be deeper than Python recurses."""
    total = 0
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        total += depth
        stack.extend((child, depth + 1) for child in node)
    return total


def _table(caption: str, runs: Runs, ours: str) -> Table:
    rivals = [name for name in next(iter(runs.values())) if name not in (SCAN, LOOP)]
    headings = ["shape", "elements", *(f"{name}, ms" for name in (ours, *rivals))]
    headings += [f"{name} / digest" for name in rivals]
    rows = []
    for (shape, nodes), samples in runs.items():
        row = [shape, f"{nodes:,}", *(samples[name].spread(1e3, 3) for name in (ours, *rivals))]
        row += [_times(measure.round_ratio(samples[name], samples[ours])) for name in rivals]
        rows.append(row)
    return Table(headings, rows, f"{caption}; median ± IQR")


def _verdict(both: dict[str, Runs]) -> Table:
    """How many times faster the digest is, over all shapes and sizes, and if that is the paper's claim."""
    rows = []
    for ours, comparison in ((LOOP, "same language"), (SCAN, "as users have it")):
        for what, runs in both.items():
            for rival in (name for name in next(iter(runs.values())) if name not in (SCAN, LOOP)):
                ratios = [
                    measure.round_ratio(samples[rival], samples[ours]) for samples in runs.values()
                ]
                holds = sum(ratio >= PAPERS_RATIO for ratio in ratios)
                rows.append(
                    [
                        comparison,
                        what,
                        rival,
                        f"{_times(min(ratios))} to {_times(max(ratios))}",
                        f"{holds} of {len(ratios)}",
                    ]
                )
    headings = ["comparison", "traversal", "tree", "times faster", f"at least {PAPERS_RATIO:g}x"]
    return Table(headings, rows, "verdict on the paper's order of magnitude, all shapes and sizes")


def _claim(both: dict[str, Runs], ours: str, what: str) -> Goal:
    """The paper's claim against the tree of Python's own library, over both traversals."""
    ratios = [
        measure.round_ratio(samples["ElementTree"], samples[ours])
        for runs in both.values()
        for samples in runs.values()
    ]
    holds = sum(ratio >= PAPERS_RATIO for ratio in ratios)
    measured = (
        f"{_times(min(ratios))} to {_times(max(ratios))}, ten times at {holds} of {len(ratios)}"
    )
    return Goal(what, f">= {PAPERS_RATIO:g}x at all", measured, met=holds == len(ratios))


def _times(ratio: float) -> str:
    return f"{ratio:.0f}x" if ratio >= PAPERS_RATIO else f"{ratio:.1f}x"


def _figure(runs: Runs, sizes: tuple[int, ...]) -> str:
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
