"""Confidence: how sure it is that a list is one of records, and not navigation, a form or prose.

Each sign is a number from 0 to 1 or a count; a logistic function of their weighted sum gives a
confidence. The weights were set by hand on the pages to fit on.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from quire.extraction.finding.candidates import Candidate
from quire.extraction.outline import Ints, Outline, Truths, prefix_sums

#: Lists below this confidence are left out unless asked for.
LEAST_CONFIDENCE = 0.5

# Records whose texts are compared with each other.
_MOST_COMPARED = 200

_ASIDE = {"nav", "header", "footer", "menu"}
_ASIDE_ROLES = {"navigation", "menu", "menubar", "contentinfo", "banner", "tablist", "search"}
_ASIDE_CLASS = re.compile(
    r"(?i)(?<![a-z])(?:nav|navbar|navigation|menu|submenu|breadcrumbs?|pagination|pager|paging|footer|"
    r"social|share|sharing|tabs?|tagcloud|toolbar|dropdown|cookies?|facets?|filters?|languages?|legal)(?![a-z])"
)
# How far up the class of an ancestor may name a list.
_LEVELS_UP = 5
# A single text longer than this is prose; so is a record much longer than a comment.
_LONG_TEXT = 60
_LONG_RECORD = 1500
_SEVERAL_LEAVES = 1.5
_ALIKE = 0.6
# A menu: links for each leaf, or the share of leaves in links; bytes of a text, or of a record.
_MANY_LINKS = 0.6
_MOST_LINKED = 0.7
_ALL_LINKED = 0.9
_SHORT_TEXT = 40
_FEW_IMAGES = 0.5
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


@dataclass(frozen=True, slots=True)
class Signs:
    """Measurements of a list.

    Attributes:
        records: the number of records.
        leaves: leaves of a record, on average.
        likeness: how alike neighbouring records are.
        links: links for each leaf.
        linked: the share of leaves that are inside a link.
        leaf_bytes: bytes of text for each text.
        images: the share of records with an image.
        controls: form controls for each leaf.
        prose: the share of records that are a paragraph, code, or one long text.
        uneven: for runs of paragraphs and headings, the share that is unlike the most frequent run.
        record_bytes: bytes of text of a record, on average.
        aside: whether the list or something around it is named as navigation.
        different: the share of records whose text is not that of another record.
        share: the share of the page's text that is in the list.
    """

    records: int
    leaves: float
    likeness: float
    links: float
    linked: float
    leaf_bytes: float
    images: float
    controls: float
    prose: float
    uneven: float
    record_bytes: float
    aside: bool
    different: float
    share: float


def signs(view: Outline, one: Candidate, counts: dict[str, Ints]) -> Signs:
    """Measure a list; ``counts`` are the prefix sums of ``sums``."""
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
    paragraphs = np.array([name in {"p", "blockquote", "pre"} for name in names]) & (first == last)
    paragraphs |= inside(counts["code"]) * 2 > leaves
    shown = [
        tuple(view.page.text(node) for node in record) for record in one.records[:_MOST_COMPARED]
    ]
    return Signs(
        records=len(one.records),
        leaves=float(leaves.mean()),
        likeness=one.likeness,
        links=float(inside(counts["links"]).sum()) / total,
        linked=float(inside(counts["linked"]).sum()) / total,
        leaf_bytes=float(texts.sum()) / max(total - int(images.sum()), 1),
        images=float((images > 0).mean()),
        controls=float(inside(counts["controls"]).sum()) / total,
        prose=float((paragraphs | (is_long & (leaves < 2))).mean()),  # noqa: PLR2004 - one text
        uneven=_uneven(view, one),
        record_bytes=float(texts.mean()),
        aside=_is_aside(view, one.node) or _is_aside(view, int(first[0]), levels=1),
        different=len(set(shown)) / len(shown),
        share=float(texts.sum()) / max(int(view.text_bytes[0]), 1),
    )


def sums(view: Outline) -> dict[str, Ints]:
    """Prefix sums of the elements that signs count, once for a page."""
    return {
        "links": view.count("a"),
        "linked": prefix_sums(_inside(view, "a")),
        "images": view.count("img"),
        "code": prefix_sums(_inside(view, "pre")),
        "controls": view.count("input", "select", "textarea", "label"),
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


def confidence(of: Signs) -> float:
    """How sure it is that these are records, from 0 to 1."""
    has_fields = of.leaves >= _SEVERAL_LEAVES
    score = -0.2 + (1.2 * min(math.log2(of.leaves), 2.5) if has_fields else -3.0)
    score += 0.4 * min(math.log2(of.records / 3), 3.0)
    score += (2.0 if of.likeness > _ALIKE else 8.0) * (of.likeness - _ALIKE)
    score -= 1.5 * max(math.log2((of.record_bytes + 1) / _LONG_RECORD), 0.0)
    score -= 6.0 * max(of.uneven - 0.3, 0.0)
    score += 1.0 * min(of.images, 1.0)
    score += 1.5 * min(of.share, 0.6)
    # Every text is a link, or every record is a link with hardly any text.
    is_menu = of.links >= _MANY_LINKS and of.linked >= _MOST_LINKED
    is_menu &= of.leaf_bytes < _SHORT_TEXT
    is_menu |= of.linked > _ALL_LINKED and of.leaf_bytes * of.leaves < _SHORT_TEXT
    score -= 5.0 if is_menu and of.images < _FEW_IMAGES else 0.0
    score -= 4.0 if of.aside else 0.0
    score -= 4.0 * min(of.controls, 0.6)
    score -= 4.0 * of.prose
    score -= 3.0 * (1.0 - of.different)
    return 1 / (1 + math.exp(-score))


def _is_aside(view: Outline, node: int, levels: int = _LEVELS_UP) -> bool:
    """Whether a node, or one not far above it, is navigation by its name, role or class."""
    page = view.page
    at = node
    for level in range(levels * 3):
        if at < 0 or page.tag_names[int(page.tag[at])] in {"body", "main", "article"}:
            return False
        name = page.tag_names[int(page.tag[at])]
        if name in _ASIDE:
            return True
        if level < levels and int(page.attr[at]) >= 0:
            attributes = page.attributes(at)
            if attributes.get("role", "").lower() in _ASIDE_ROLES:
                return True
            called = re.sub(r"[-_]|(?<=[a-z])(?=[A-Z])", " ", attributes.get("class", ""))
            called += " " + re.sub(r"[-_]|(?<=[a-z])(?=[A-Z])", " ", attributes.get("id", ""))
            if _ASIDE_CLASS.search(called):
                return True
        at = int(view.parent[at])
    return False
