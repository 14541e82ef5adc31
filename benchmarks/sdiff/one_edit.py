"""One edit, one action: six kinds of edits in documents of three shapes, from 100 to 100,000 elements.

The edits are those of ``quire.testing``, each of which is known to be one. A script that says it in
another number of actions is listed with what it says, and with what makes the pair again.

A second table, of which nothing was promised, has several edits at once: their scripts can be longer, since a move of
something that says little is told as a deletion and an insertion, and shorter, since edits meet.
"""

import random
import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import quire
from benchmarks.context import Context
from benchmarks.report import Report, Right, Table, every
from quire.testing import EDITS, SHAPES, EditKind, Shape, edit, generate

#: Elements, and how many documents of that size for each shape; every one gets an edit of each kind.
SIZES = {100: 300, 1_000: 100, 10_000: 20, 100_000: 4}
QUICK_SIZES = {100: 20, 1_000: 5, 10_000: 1}
#: Edits at once, and elements of the documents.
SEVERAL = (2, 4, 12)
SEVERAL_SIZES = (100, 1_000)
LISTED = 30
LISTED_ACTIONS = 4
#: What an edit should be called by the script.
NAMES: dict[EditKind, str] = {
    "text": "update",
    "attribute": "update",
    "insert": "insert",
    "delete": "delete",
    "rename": "rename",
    "move": "move",
}


@dataclass(slots=True)
class Cell:
    """What became of the edits of one kind in one size and shape."""

    pairs: int = 0
    one: int = 0
    named: int = 0
    exact: int = 0
    lengths: Counter[int] = field(default_factory=Counter)


def run(context: Context) -> Report:
    """Count the actions of single edits."""
    sizes = context.pick(SIZES, QUICK_SIZES)
    pairs = sum(sizes.values()) * len(SHAPES) * len(EDITS)
    report = Report(
        title="One edit, one action",
        inputs=f"generated XML, {', '.join(f'{count} x {nodes:,}' for nodes, count in sizes.items())} elements in each of {len(SHAPES)} shapes; {pairs:,} edits",
        method=f"seeds {context.seed} and on; edit(generate(shape, elements, seed), kind, seed) makes a pair again",
    )
    cells: dict[tuple[int, Shape, EditKind], Cell] = {}
    others: list[str] = []
    for nodes, count in sizes.items():
        for shape in SHAPES:
            context.say(f"{nodes:,} elements, {shape}")
            for seed in range(context.seed, context.seed + count):
                for kind, problem in _try_document(nodes, shape, seed, cells):
                    others.append(f"{kind}, {shape}, {nodes:,} elements, seed {seed}: {problem}")
    _fill(report, cells, others)
    context.say("several edits at once")
    _add_several(report, context.pick(60, 5), context.seed)
    return report


def _try_document(
    nodes: int, shape: Shape, seed: int, cells: dict[tuple[int, Shape, EditKind], Cell]
) -> Iterator[tuple[EditKind, str]]:
    """Make one edit of each kind in a document; gives those that are not one action of the right name."""
    old = quire.encode(generate(shape, nodes, seed), kind="xml")
    for kind in EDITS:
        source = edit(old, kind, seed)
        new = quire.encode(source, kind="xml")
        script = quire.edit_script(old, new)
        cell = cells.setdefault((nodes, shape, kind), Cell())
        cell.pairs += 1
        cell.one += len(script) == 1
        is_named = len(script) == 1 and script.counts.get(NAMES[kind], 0) == 1
        cell.named += is_named
        cell.lengths[len(script)] += 1
        is_exact = script.apply(old).decode() == source
        cell.exact += is_exact
        if not is_named or not is_exact:
            said = "; ".join(str(action)[:80] for action in script.actions[:LISTED_ACTIONS])
            yield kind, f"{len(script)} actions{'' if is_exact else ', NOT EXACT'}: {said}"


def _fill(
    report: Report, cells: dict[tuple[int, Shape, EditKind], Cell], others: list[str]
) -> None:
    groups = dict.fromkeys((nodes, shape) for nodes, shape, _ in cells)
    rows = [
        [
            f"{nodes:,}",
            shape,
            *(
                f"{cells[nodes, shape, kind].one}/{cells[nodes, shape, kind].pairs}"
                for kind in EDITS
            ),
            str(max(max(cells[nodes, shape, kind].lengths) for kind in EDITS)),
        ]
        for nodes, shape in groups
    ]
    report.tables.append(
        Table(
            ["elements", "shape", *EDITS, "longest"],
            rows,
            "scripts of exactly one action, of all scripts; length of the longest",
        )
    )
    total = sum(cell.pairs for cell in cells.values())
    named = sum(cell.named for cell in cells.values())
    exact = sum(cell.exact for cell in cells.values())
    report.right = [
        Right("quire", named, total, "one action, of the kind the edit was"),
        Right("quire", exact, total, "apply gives the edited source"),
    ]
    one = sum(cell.one for cell in cells.values())
    report.goals = [every("single edits reported as exactly one action", one, total)]
    report.notes += [f"other: {line}" for line in others[:LISTED]]
    if len(others) > LISTED:
        report.notes.append(f"{len(others):,} others in all, in the JSON file")
    report.data = {
        "others": others,
        "lengths": {
            f"{nodes} {shape} {kind}": dict(cell.lengths)
            for (nodes, shape, kind), cell in cells.items()
        },
    }


def _add_several(report: Report, count: int, seed: int) -> None:
    """Count the actions of several edits at once."""
    rows = []
    for nodes, shape, edits in product(SEVERAL_SIZES, SHAPES, SEVERAL):
        lengths = [_length_of_several(nodes, shape, edits, seed + n) for n in range(count)]
        rows.append(
            [
                f"{nodes:,}",
                shape,
                str(edits),
                f"{statistics.fmean(lengths):.2f}",
                str(max(lengths)),
                f"{sum(length > edits for length in lengths)} of {count}",
            ]
        )
    headings = ["elements", "shape", "edits", "actions, mean", "longest", "more actions than edits"]
    report.tables.append(Table(headings, rows, "several random edits at once; no target"))


def _length_of_several(nodes: int, shape: Shape, edits: int, seed: int) -> int:
    draw = random.Random(seed)
    old = new = generate(shape, nodes, seed)
    made = 0
    while made < edits:
        try:
            new = edit(new, draw.choice(EDITS), draw.randrange(1 << 30))
        except ValueError:  # nothing left to edit that way
            continue
        made += 1
    return len(quire.edit_script(quire.encode(old, kind="xml"), quire.encode(new, kind="xml")))
