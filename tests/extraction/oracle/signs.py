"""Signs: the measures of a list, each from its definition."""

from __future__ import annotations

from collections import Counter

import numpy as np

from quire.extraction.finding.candidates import Candidate
from tests.extraction.oracle.outline import Ints, Outline, Truths, prefix_sums

_MOST_COMPARED = 200
_LONG_TEXT = 60
# A paragraph with so many line breaks is a record of several lines, as an address is.
_LINES = 2
# Runs that begin with a paragraph and differ more than this are prose.
_UNEVEN = 0.3
_PROSE = frozenset(
    [
        "p",
        "pre",
        "blockquote",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "figure",
        "hr",
        "table",
    ]
)


def signs(view: Outline, one: Candidate) -> dict[str, float]:
    """Measure a list."""
    counts = sums(view)
    first = np.array([record[0] for record in one.records], np.int64)
    last = np.array([record[-1] for record in one.records], np.int64)
    end = view.end[last]

    def inside(sums: Ints) -> Ints:
        return np.asarray(sums[end] - sums[first], np.int64)

    leaves = inside(view.leaves_before)
    total = max(int(leaves.sum()), 1)
    texts = inside(view.text_before)
    images = inside(counts["images"])
    names = [view.page.tag_names[int(view.page.tag[node])] for node in first.tolist()]
    is_long = texts / np.maximum(leaves, 1) > _LONG_TEXT
    uneven = _uneven(view, one)
    is_single = first == last
    named = {
        name: np.array([each == name for each in names]) for name in ("p", "blockquote", "pre")
    }
    paragraphs = named["p"] & np.where(
        is_single, inside(counts["breaks"]) < _LINES, uneven > _UNEVEN
    )
    paragraphs |= named["blockquote"] & is_single & (inside(counts["sources"]) == 0)
    paragraphs |= named["pre"] & is_single
    paragraphs |= inside(counts["code"]) * 2 > leaves
    shown = [
        tuple(view.page.text(node) for node in record) for record in one.records[:_MOST_COMPARED]
    ]
    return {
        "leaves": float(leaves.mean()),
        "links": float(inside(counts["links"]).sum()) / total,
        "linked": float(inside(counts["linked"]).sum()) / total,
        "leaf_bytes": float(texts.sum()) / max(total - int(images.sum()), 1),
        "images": float((images > 0).mean()),
        "controls": float(inside(counts["controls"]).sum()) / total,
        "prose": float(
            (paragraphs | (is_long & (leaves < 2) & (inside(counts["linked"]) == 0))).mean()
        ),
        "uneven": uneven,
        "record_bytes": float(texts.mean()),
        "different": len(set(shown)) / len(shown),
        "share": float(texts.sum()) / max(int(view.text_bytes[0]), 1),
    }


def sums(view: Outline) -> dict[str, Ints]:
    """Prefix sums of the elements that signs count, once for a page."""
    return {
        "links": view.count("a"),
        "linked": prefix_sums(_inside(view, "a")),
        "images": view.count("img"),
        "code": prefix_sums(_inside(view, "pre")),
        "controls": view.count("input", "select", "textarea", "label"),
        "breaks": view.count("br"),
        "sources": view.count("cite", "footer"),
    }


def _inside(view: Outline, name: str) -> Truths:
    """Whether each node is a leaf inside an element with a name."""
    wanted = np.array([each == name for each in view.page.tag_names], bool)
    around = np.flatnonzero(wanted[view.page.tag] & view.elements)
    steps = np.bincount(around, minlength=view.page.n + 1)
    steps = steps - np.bincount(view.end[around], minlength=view.page.n + 1)
    return np.asarray(view.leaves & (np.cumsum(steps)[: view.page.n] > 0))


def _uneven(view: Outline, one: Candidate) -> float:
    """Of runs of paragraphs and headings, the share that is unlike the most frequent run."""
    if all(len(record) == 1 for record in one.records):
        return 0.0
    names = view.page.tag_names
    runs = [tuple(names[int(view.page.tag[node])] for node in record) for record in one.records]
    if not {name for run in runs for name in run} <= _PROSE:
        return 0.0
    return 1.0 - Counter(runs).most_common(1)[0][1] / len(runs)
