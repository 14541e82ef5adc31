"""A painted page: its text in boxes, by how many pages share a part, and by how long it lasts.

The page is the one with the most parts that change at their own pace, then with the most parts that
the plan cuts out. A box is a part of its AF tree and has a label in words; text outside boxes is on
this page alone, or was not seen to change. Elements that readers do not see, such as scripts, are
named with their length. Boxes, letters and nesting are bounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from quire.digest.page import Digest
from quire.display import escape, format_count, format_duration
from quire.fragments.cuts.candidates import CutKind
from quire.fragments.lifetime.results import LpFragment
from quire.fragments.study.study import FragmentStudy, parts_in
from quire.fragments.trees.af_tree import AfTree
from quire.reports.fragments.words import PageNames
from quire.reports.names import words
from quire.reports.templates.drawings import legend

_MOST_LEAVES = 1500
_MOST_LETTERS = 240
_DEEPEST = 8
_HOUR_S, _DAY_S = 3600, 86_400

#: Classes and words for the number of pages that share a part, and for how long it lasts.
SHARES = (
    ("most", "on three quarters of the pages or more"),
    ("some", "on a quarter or more"),
    ("few", "on fewer"),
)
PACES = (
    ("unsure", "unknown: it changed between all versions"),
    ("hour", "less than an hour"),
    ("day", "less than a day"),
    ("long", "a day or longer"),
)


class Box(NamedTuple):
    """How a part is painted: its classes and its label."""

    style: str
    label: str


def painted_page(study: FragmentStudy) -> int | None:
    """Choose the page to paint; None if there is none."""
    count = len(study.site.pages)
    if not count:
        return None
    cuts = study.plan.cuts.pages
    members = [len(cuts[page.body].parts) for page in study.site.pages]
    parts = [len(study.lives[page].parts) if page in study.lives else 0 for page in range(count)]
    return max(range(count), key=lambda page: (parts[page], members[page], -page))


def painted_section(study: FragmentStudy, page: int | None, names: PageNames) -> str:
    """Paint a page."""
    if page is None:
        return ""
    digest = study.site.digest(study.site.pages[page].versions[-1])
    tree = AfTree.of(digest)
    unseen = _unseen(digest, tree)
    keys = legend((name, escape(said)) for name, said in SHARES)
    by_sharing = (
        f'<article class="painting"><h3>By sharing</h3><p class="legend">{keys}'
        "<span>dashed: approximate</span>"
        "<span>dotted: isolated, or cut out for its pace</span></p>"
        f"{painted(tree, _by_sharing(study, page, tree), unseen)}</article>"
    )
    drawn = [by_sharing]
    if page in study.lives:
        drawn.append(
            '<article class="painting"><h3>By lifetime</h3>'
            f'<p class="legend">{legend((name, escape(said)) for name, said in PACES)}'
            "<span>double line: differs by user</span></p>"
            f"{painted(tree, _by_pace(study, page), unseen)}</article>"
        )
    return (
        f'<section id="painted"><h2>A page, painted <small>{names.page(page)}</small></h2>'
        f'<div class="paintings">{"".join(drawn)}</div></section>\n'
    )


def _unseen(page: Digest, tree: AfTree) -> dict[int, str]:
    """Name the leaves of a page that readers do not see by their tags."""
    found = {}
    leaves = np.flatnonzero(tree.size == 1)
    # The last node of a leaf is text: a leaf may also stand for elements around that.
    ends = tree.node_end[leaves] - 1
    hidden = ~page.visible
    # The outermost hidden elements with content; comments and empty elements hide no leaf.
    outermost = hidden & ~hidden[page.parent] & (page.size > 1)
    for element in np.flatnonzero(outermost).tolist():
        first, last = np.searchsorted(ends, (element, element + int(page.size[element]))).tolist()
        found.update(dict.fromkeys(leaves[first:last].tolist(), page.tags[page.tag[element]]))
    return found


def painted(tree: AfTree, boxes: Mapping[int, Box], unseen: Mapping[int, str]) -> str:
    """Draw the text of a page with boxes around parts, and names for invisible text."""
    size, out = tree.size.tolist(), ['<div class="words">']
    ends: list[int] = []
    leaves = 0
    node = 0
    while node < tree.n and leaves < _MOST_LEAVES:
        while ends and node >= ends[-1]:
            out.append("</div>")
            ends.pop()
        if node in boxes and len(ends) < _DEEPEST:
            box = boxes[node]
            out.append(
                f'<div class="part {box.style}"><span class="label">{escape(box.label)}</span>'
            )
            ends.append(node + size[node])
        if size[node] == 1:
            leaves += 1
            if node in unseen:
                told = f"{unseen[node]}, {format_count(int(tree.value_bytes[node]) - 1, 'byte')}"
                out.append(f'<p class="dim">{escape(told)}</p>')
            else:
                text = tree.value(node)[: 8 * _MOST_LETTERS].decode("utf-8", "replace")
                out.append(f"<p>{words(text, _MOST_LETTERS)}</p>")
        node += 1
    out += ["</div>"] * len(ends)
    if node < tree.n:
        out.append('<p class="dim">The page continues; no more of it is painted.</p>')
    return "".join([*out, "</div>"])


def _by_sharing(study: FragmentStudy, page: int, tree: AfTree) -> dict[int, Box]:
    found = {}
    count = len(study.site.pages)
    rows = np.flatnonzero(study.alike.members.page == page)
    parts = study.alike.members.part[rows].tolist()
    for fragment, part in zip(study.alike.fragment[rows].tolist(), parts, strict=True):
        found[part] = _share_box(len(study.alike[fragment].pages), count, "approximate")
    # A part that is both is exact.
    for part, start, end in study.parts_on(page):
        box = Box("few paced", "cut out for its pace")
        if part.kind is not CutKind.PACED:
            tier = "isolated" if part.kind is CutKind.ISOLATED else "exact"
            box = _share_box(len(study.composition.holders[part.name]), count, tier)
        found.update(dict.fromkeys(parts_in(tree.span, tree.parent, start, end), box))
    return found


def _share_box(pages: int, of: int, tier: str) -> Box:
    share = pages / max(1, of)
    name = "most" if share >= 0.75 else "some" if share >= 0.25 else "few"  # noqa: PLR2004 - see SHARES
    return Box(f"{name} {tier}", f"{format_count(pages, 'page')}, {tier}")


def _by_pace(study: FragmentStudy, page: int) -> dict[int, Box]:
    lives = study.lives[page]
    numbered = {one.number: one for one in lives.parts}
    return {
        node: _pace_box(numbered[number])
        for node, number in enumerate(lives.latest_fragment.tolist())
        if number in numbered
    }


def _pace_box(one: LpFragment) -> Box:
    ttl = one.ttl_s()
    name = "unsure" if ttl == 0 else "hour" if ttl < _HOUR_S else "day" if ttl < _DAY_S else "long"
    label = f"{format_count(one.changes, 'change')} in {format_duration(one.watched_s)}"
    if one.sharing == "private":
        more = f", {label}" if one.watched_s else ""
        return Box(f"{name} private", f"differs by user{more}")
    return Box(name, label)
