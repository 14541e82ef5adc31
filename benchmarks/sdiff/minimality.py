"""``exact=True`` against the definition: is the script as short as any script without moves can be?

Small random XML trees with few names and few texts, so that many nodes are alike: where a wrong
shortcut would pair the wrong ones. Half of the pairs are unrelated, the other half a tree and
the same tree after some edits. The optimum is the textbook recursion on forests, with memory.
"""

import random
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import quire
from benchmarks.context import Context
from benchmarks.report import Report, Right, Table, every

MOST_NODES = 11
NAMES = "abc"
VALUES = ("", "1", "2")
LISTED_FAILURES = 20

#: A node is its label and its children; the label of a text begins with a sign no name has.
Node: TypeAlias = "tuple[str, tuple[Node, ...]]"
Forest: TypeAlias = tuple[Node, ...]


@dataclass(slots=True)
class Tally:
    """What became of the pairs of one kind."""

    pairs: int = 0
    minimal: int = 0
    length: int = 0
    proven: int = 0
    exact: int = 0


def run(context: Context) -> Report:
    """Compare with the optimum on random pairs."""
    count = context.pick(5_000, 400)
    report = Report(
        title="Minimality: exact=True against the optimum by definition",
        inputs=f"{count:,} pairs of random XML trees of 1 to {MOST_NODES} elements and texts, seed {context.seed}",
        method="optimum: delete, insert or relabel the last root of either forest, all ways, memoised; unit costs",
        notes=["_pair(seed, number) in the benchmark generates a pair again"],
    )
    tallies = {"unrelated": Tally(), "edited": Tally()}
    distances: Counter[int] = Counter()
    failures = []
    for number in range(count):
        old, new = _pair(context.seed, number)
        tally = tallies["unrelated" if number % 2 else "edited"]
        optimum = distance((old,), (new,))
        distances[optimum] += 1
        problem = _compare(old, new, optimum, tally)
        if problem:
            failures.append(f"pair {number}: {_written(old)} to {_written(new)}: {problem}")
    distance.cache_clear()
    _fill(report, tallies, distances, failures)
    return report


def _fill(
    report: Report, tallies: dict[str, Tally], distances: Counter[int], failures: list[str]
) -> None:
    rows = [
        [name, *(f"{n:,}" for n in (t.pairs, t.minimal, t.length, t.proven, t.exact))]
        for name, t in tallies.items()
    ]
    headings = [
        "pairs",
        "number",
        "node_edits minimal",
        "len minimal",
        "said proven",
        "bytes exact",
    ]
    report.tables.append(Table(headings, rows))
    spread = ", ".join(f"{edits}: {distances[edits]:,}" for edits in sorted(distances))
    report.notes.append(f"smallest numbers of edits, and how often they occurred: {spread}")
    report.notes += [f"failed: {failure}" for failure in failures[:LISTED_FAILURES]]
    total = sum(t.pairs for t in tallies.values())
    minimal = total - len(failures)
    report.right = [Right("quire", minimal, total, "node_edits, len and bytes all right")]
    report.goals = [
        every("node_edits equal to the optimum", sum(t.minimal for t in tallies.values()), total),
        every("len(script) equal to the optimum", sum(t.length for t in tallies.values()), total),
        every("bytes exact after apply", sum(t.exact for t in tallies.values()), total),
    ]
    report.data = {"failures": failures, "optima": dict(distances)}


def _compare(old: Node, new: Node, optimum: int, tally: Tally) -> str:
    """Count one pair in; says what was wrong, if anything."""
    before, after = (quire.encode(_written(tree).encode(), kind="xml") for tree in (old, new))
    script = quire.edit_script(before, after, exact=True)
    is_exact = (
        script.apply(before).decode() == after.decode()
        and script.invert().apply(after).decode() == before.decode()
    )
    tally.pairs += 1
    tally.minimal += script.node_edits == optimum
    tally.length += len(script) == optimum
    tally.proven += script.proven_minimal
    tally.exact += is_exact
    if script.node_edits == len(script) == optimum and is_exact:
        return ""
    return f"optimum {optimum}, node_edits {script.node_edits}, len {len(script)}, exact {is_exact}"


@cache
def distance(old: Forest, new: Forest) -> int:
    """The fewest nodes inserted, deleted and relabelled between two forests, by definition."""
    if not old or not new:
        return sum(map(_size, old)) + sum(map(_size, new))
    (old_label, old_children), (new_label, new_children) = old[-1], new[-1]
    return min(
        1 + distance(old[:-1] + old_children, new),
        1 + distance(old, new[:-1] + new_children),
        (old_label != new_label)
        + distance(old_children, new_children)
        + distance(old[:-1], new[:-1]),
    )


def _size(node: Node) -> int:
    return 1 + sum(map(_size, node[1]))


def _pair(seed: int, number: int) -> tuple[Node, Node]:
    draw = random.Random((seed << 32) + number)
    old = _tree(draw, draw.randint(1, MOST_NODES))
    if number % 2:
        return old, _tree(draw, draw.randint(1, MOST_NODES))
    new = old
    for _ in range(draw.randint(1, 4)):
        new = _edited(draw, new)
    return old, _without_neighbouring_texts(new)


def _tree(draw: random.Random, nodes: int) -> Node:
    """Hang each node below one that is there already; some leaves become texts."""
    parents = [draw.randrange(place) for place in range(1, nodes)]
    children: list[list[int]] = [[] for _ in range(nodes)]
    for child, parent in enumerate(parents, 1):
        children[parent].insert(draw.randint(0, len(children[parent])), child)

    def built(node: int) -> Node:
        if node and not children[node] and draw.random() < 0.4:
            return f'"{draw.choice("xyz")}', ()
        return _label(draw), tuple(built(child) for child in children[node])

    return _without_neighbouring_texts(built(0))


def _label(draw: random.Random) -> str:
    return draw.choice(NAMES) + draw.choice(VALUES)


def _edited(draw: random.Random, tree: Node) -> Node:
    """Relabel, splice out, wrap or add one node below the root, or relabel the root."""
    label, children = tree
    if not children or draw.random() < 0.2:
        return (_label(draw), children)
    place = draw.randrange(len(children))
    child = children[place]
    choice = draw.randrange(5)
    if choice == 0 and child[1]:
        child_now: Forest = (_edited(draw, child),)
    elif choice == 1:
        child_now = child[1]
    elif choice == 2:
        child_now = ((_label(draw), (child,)),)
    elif choice == 3:
        child_now = (child, (f'"{draw.choice("xyz")}', ()))
    else:
        child_now = ((_label(draw), child[1]),)
    return label, children[:place] + child_now + children[place + 1 :]


def _without_neighbouring_texts(node: Node) -> Node:
    """Two texts side by side would be read as one."""
    label, children = node
    kept: list[Node] = []
    for child in children:
        if kept and kept[-1][0][0] == '"' == child[0][0]:
            continue
        kept.append(_without_neighbouring_texts(child))
    return label, tuple(kept)


def _written(node: Node) -> str:
    label, children = node
    if label[0] == '"':
        return label[1:]
    name, value = label[0], label[1:]
    attribute = f' n="{value}"' if value else ""
    return f"<{name}{attribute}>{''.join(map(_written, children))}</{name}>"
