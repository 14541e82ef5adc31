"""Runs: the children of a node divided into records.

Mostly a record is one child. Sometimes it is a run of siblings: a ``dt`` and its ``dd``, a row with a
title and a row with details, a heading and its paragraphs. Children that belong to no record
(advertisements, headings of groups, rules) are left out.
"""

from __future__ import annotations

import numpy as np

from tests.extraction.oracle.outline import Ints

#: A list has at least so many records.
LEAST_RECORDS = 3
# A kind is part of every record if it is about as frequent as the most important kind...
_COMPANION = 0.6
# ...and most records have it exactly where the others have it.
_REGULAR = 0.7


_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6", "dt"])


def runs(
    children: Ints, kind: Ints, tags: Ints, leaves: Ints, names: list[str]
) -> list[tuple[int, ...]]:
    """Divide children into records; an empty list if they do not repeat.

    Args:
        children: the nodes, in order.
        kind: the kind of each; -1 for none.
        tags: the tag of each.
        leaves: the leaves in each.
        names: the name of each.
    """
    counts = np.bincount(kind[kind >= 0]) if (kind >= 0).any() else np.zeros(0, np.int64)
    if not len(counts) or counts.max() < LEAST_RECORDS:
        return []
    frequent = np.flatnonzero(counts >= LEAST_RECORDS)
    weights = np.array([leaves[kind == each].sum() for each in frequent])
    main = int(frequent[weights.argmax()])
    among = [
        int(each)
        for each in frequent
        if _COMPANION <= counts[each] / counts[main] <= 1 / _COMPANION
    ]
    single: list[tuple[int, ...]] = [(int(node),) for node in children[kind == main]]
    if len(among) < 2:
        return single
    best: tuple[float, list[tuple[int, ...]]] = (0.0, single)
    # The first child of all begins the first record, even if some records lack a companion:
    # each of the rarer ones has the other kind after it, but that belongs to the next record.
    places = np.flatnonzero(np.isin(kind, among)).tolist()
    first = int(kind[places[0]])
    headings = [int(kind[at]) for at in places if names[at] in _HEADINGS]
    if names[places[0]] == "p" and headings:
        first = headings[0]  # the paragraph is an introduction
    for start in sorted(among, key=lambda each: each != first):
        found, regular = _divided(children, kind, tags, start, among)
        if start == first and len(found) >= LEAST_RECORDS and regular >= _COMPANION:
            return found
        if len(found) >= LEAST_RECORDS and regular > best[0]:
            best = (regular, found)
    return best[1] if best[0] >= _REGULAR else single


def _divided(
    children: Ints, kind: Ints, tags: Ints, start: int, among: list[int]
) -> tuple[list[tuple[int, ...]], float]:
    """Begin a record at each child of one kind; also tell which share of records is regular."""
    # A kind that is rarer, but has the name of a companion, is one too: a second `dd`.
    names = {int(tag) for tag in np.unique(tags[np.isin(kind, among) & (kind != start)])}
    found: list[list[int]] = []
    inside: list[set[int]] = []
    for node, of, tag in zip(children.tolist(), kind.tolist(), tags.tolist(), strict=True):
        if of == start:
            found.append([])
            inside.append(set())
        if found and (of in among or (tag in names and of != start)):
            found[-1].append(node)
            inside[-1].add(of)
    if not found:
        return [], 0.0
    outside = int(np.flatnonzero(np.isin(kind, among))[0] < np.flatnonzero(kind == start)[0])
    whole = sum(set(among) <= each for each in inside)
    return [tuple(each) for each in found], (whole - outside) / len(found)
