"""Omini over a DOM: the same heuristics as ``quire.extraction.omini``, on elements of lxml.

As one writes it for a tree of objects: one pass over all elements for the subtree, loops over
children and descendants for the separators. Nothing recurses.
"""

from __future__ import annotations

import itertools
import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

from lxml import html

from quire.digest import HIDDEN_ELEMENTS
from quire.extraction.omini import PROBABILITIES, Separator
from quire.extraction.omini.separators import IDENTIFIABLE, IDENTIFIABLE_ELSEWHERE, MAX_PATH

HIDDEN = HIDDEN_ELEMENTS


def parse(source: bytes) -> Any:
    """Phase 2."""
    return html.document_fromstring(source)


@dataclass(slots=True)
class Measures:
    """What one pass over the tree counts for every element."""

    size: dict[Any, int]
    tags: dict[Any, int]
    children: dict[Any, list[Any]]
    order: list[Any]


def _shown(text: str | None) -> int:
    return len((text or "").strip().encode())


def _is_shown(element: Any) -> bool:
    return isinstance(element.tag, str) and element.tag not in HIDDEN


def measure(root: Any) -> Measures:
    """Text, tags and children of every visible element."""
    order: list[Any] = []
    children: dict[Any, list[Any]] = {}
    own: dict[Any, int] = {}
    waiting = [root]
    while waiting:
        element = waiting.pop()
        order.append(element)
        size = _shown(element.text)
        kept = []
        for child in element:
            size += _shown(child.tail)
            if _is_shown(child):
                kept.append(child)
        children[element], own[element] = kept, size
        waiting += reversed(kept)
    sizes: dict[Any, int] = {}
    tags: dict[Any, int] = {}
    for element in reversed(order):
        below = children[element]
        sizes[element] = own[element] + sum(sizes[child] for child in below)
        tags[element] = len(below) + sum(tags[child] for child in below)
    return Measures(sizes, tags, children, order)


def identify_subtree(root: Any) -> tuple[Measures, Any]:
    """Phase 3, with the volume."""
    seen = measure(root)
    increase = {
        element: seen.size[element] - max(seen.size[child] for child in below) if below else 0
        for element, below in seen.children.items()
    }
    fan = {element: len(below) for element, below in seen.children.items()}
    most = [max(*part.values(), 1) for part in (fan, increase, seen.tags)]
    best, node = -1.0, root
    for element in seen.order:
        score = (
            fan[element] / most[0] * (increase[element] / most[1]) * (seen.tags[element] / most[2])
        )
        if score >= best:
            best, node = score, element
    return seen, node


def determine_delimiters(seen: Measures, node: Any) -> str | None:
    """Phase 4: the best tag by all heuristics together."""
    wrong: dict[str, float] = defaultdict(lambda: 1.0)
    ranks = {
        Separator.SD: _deviation(seen, node),
        Separator.RP: _pattern(seen, node),
        Separator.IPS: _usual(seen, node),
        Separator.SB: _pairs(seen, node),
        Separator.PP: _paths(seen, node),
    }
    for heuristic, ranked in ranks.items():
        for tag, share in zip(ranked, PROBABILITIES[heuristic], strict=False):
            wrong[tag] *= 1 - share
    return min(wrong, key=wrong.__getitem__, default=None)


def _candidates(seen: Measures, node: Any) -> list[str]:
    counted = Counter(child.tag for child in seen.children[node])
    return [tag for tag, count in counted.most_common() if count > 1]


def _deviation(seen: Measures, node: Any) -> list[str]:
    starts: dict[str, list[int]] = defaultdict(list)
    at = _shown(node.text)
    for child in node:
        if _is_shown(child):
            starts[child.tag].append(at)
            at += seen.size[child]
        at += _shown(child.tail)
    found = {
        tag: statistics.pstdev([b - a for a, b in itertools.pairwise(places)])
        for tag, places in starts.items()
        if len(places) > 2
    }
    order = [tag for tag in _candidates(seen, node) if tag in found]
    return sorted(order, key=found.__getitem__)


def _pattern(seen: Measures, node: Any) -> list[str]:
    pairs: Counter[tuple[str, str]] = Counter()
    counts: Counter[str] = Counter()
    before: str | None = None
    waiting: list[tuple[Any, bool]] = [(child, True) for child in reversed(node)]
    while waiting:
        element, is_start = waiting.pop()
        if not is_start:
            if _shown(element.tail):
                before = None
            continue
        waiting.append((element, False))
        if not _is_shown(element):
            continue
        if before is not None:
            pairs[before, element.tag] += 1
        counts[element.tag] += 1
        before = None if _shown(element.text) else element.tag
        waiting += [(child, True) for child in reversed(element)]
    smallest: dict[str, int] = {}
    for (first, _), count in pairs.items():
        difference = abs(count - counts[first])
        smallest[first] = min(smallest.get(first, difference), difference)
    return sorted((t for t in _candidates(seen, node) if t in smallest), key=smallest.__getitem__)


def _usual(seen: Measures, node: Any) -> list[str]:
    usual = IDENTIFIABLE.get(node.tag, ()) + IDENTIFIABLE_ELSEWHERE
    found = _candidates(seen, node)
    custom = [tag for tag in found if "-" in tag and tag not in usual]
    return custom + sorted((tag for tag in found if tag in usual), key=usual.index)


def _pairs(seen: Measures, node: Any) -> list[str]:
    tags = [child.tag for child in seen.children[node]]
    most: dict[str, int] = {}
    for (first, _), count in Counter(itertools.pairwise(tags)).items():
        most[first] = max(most.get(first, 0), count)
    return sorted((t for t in _candidates(seen, node) if t in most), key=lambda tag: -most[tag])


def _paths(seen: Measures, node: Any) -> list[str]:
    counted: Counter[tuple[str, ...]] = Counter()
    waiting: list[tuple[Any, tuple[str, ...]]] = [
        (child, (child.tag,)) for child in seen.children[node]
    ]
    while waiting:
        element, path = waiting.pop()
        counted[path] += 1
        if len(path) < MAX_PATH:
            waiting += [(child, (*path, child.tag)) for child in seen.children[element]]
    best: dict[str, tuple[int, int]] = {}
    for path, count in counted.items():
        best[path[0]] = max(best.get(path[0], (0, 0)), (count, len(path)))
    return sorted(_candidates(seen, node), key=lambda tag: best[tag], reverse=True)
