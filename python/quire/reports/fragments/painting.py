"""A page painted: its text in boxes, by how many pages share a part, and by how long it stays as it is.

The page is the one that tells most: with the most parts of an own pace, then with the most shared ones. A box is a part of its AF tree and
has a label in words; text that is in no box is on this page alone, or was not seen to change. What readers do not see, as scripts, is named with
its length. Boxes, letters and nesting are bounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from quire.digest.page import Digest
from quire.display import escape, format_count, format_duration
from quire.fragments.lifetime.results import LpFragment
from quire.fragments.shared.find import SharedFragment
from quire.fragments.study.study import FragmentStudy
from quire.fragments.trees.af_tree import AfTree
from quire.reports.fragments.words import PageNames
from quire.reports.names import words
from quire.reports.templates.drawings import legend

_MOST_LEAVES = 1500
_MOST_LETTERS = 240
_DEEPEST = 8
_HOUR_S, _DAY_S = 3600, 86_400

#: Classes and words of how many pages share a part, and of how long it lives.
SHARES = (
    ("most", "on three quarters of the pages or more"),
    ("some", "on a quarter or more"),
    ("few", "on fewer"),
)
PACES = (
    ("unsure", "for how long is not known: it changed between all versions"),
    ("hour", "less than an hour"),
    ("day", "less than a day"),
    ("long", "a day or longer"),
)


class Box(NamedTuple):
    """How a part is painted: its classes and its label."""

    style: str
    label: str


def painted_page(study: FragmentStudy) -> int | None:
    """Choose the page that is painted; None where there is none."""
    count = len(study.site.pages)
    if not count:
        return None
    members = np.bincount(study.exact.members.page, minlength=count).tolist()
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
        f'<article class="painting"><h3>By sharing</h3><p class="legend">{keys}<span>dashed: approximate</span></p>'
        f"{painted(tree, _by_sharing(study, page), unseen)}</article>"
    )
    drawn = [by_sharing]
    if page in study.lives:
        drawn.append(
            '<article class="painting"><h3>By lifetime</h3>'
            f'<p class="legend">{legend((name, escape(said)) for name, said in PACES)}<span>double line: differs by reader</span></p>'
            f"{painted(tree, _by_pace(study, page), unseen)}</article>"
        )
    return (
        f'<section id="painted"><h2>A page, painted <small>{names.page(page)}</small></h2>'
        f'<div class="paintings">{"".join(drawn)}</div></section>\n'
    )


def _unseen(page: Digest, tree: AfTree) -> dict[int, str]:
    """Name the leaves of a page that readers do not see, by their tags."""
    found = {}
    leaves = np.flatnonzero(tree.size == 1)
    # The last node of a leaf is text: a leaf may stand for elements around it too, which have nothing else in them.
    ends = tree.node_end[leaves] - 1
    hidden = ~page.visible
    # The outermost hidden elements with content; comments and empty elements hide no leaf.
    outermost = hidden & ~hidden[page.parent] & (page.size > 1)
    for element in np.flatnonzero(outermost).tolist():
        first, last = np.searchsorted(ends, (element, element + int(page.size[element]))).tolist()
        found.update(dict.fromkeys(leaves[first:last].tolist(), page.tags[page.tag[element]]))
    return found


def painted(tree: AfTree, boxes: Mapping[int, Box], unseen: Mapping[int, str]) -> str:
    """Draw the text of a page with boxes around some of its parts, and names where text is not for readers."""
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
                node += 1
                continue
            text = tree.text[tree.value_start[node] : tree.value_start[node] + 8 * _MOST_LETTERS]
            text = text[: int(tree.value_bytes[node])]
            out.append(f"<p>{words(text.decode('utf-8', 'replace'), _MOST_LETTERS)}</p>")
        node += 1
    out += ["</div>"] * len(ends)
    if node < tree.n:
        out.append('<p class="dim">The page goes on; no more of it is painted.</p>')
    return "".join([*out, "</div>"])


def _by_sharing(study: FragmentStudy, page: int) -> dict[int, Box]:
    found = {}
    # Where a part is both, it is exact.
    for shared in (study.alike, study.exact):
        rows = np.flatnonzero(shared.members.page == page)
        parts = shared.members.part[rows].tolist()
        for fragment, part in zip(shared.fragment[rows].tolist(), parts, strict=True):
            found[part] = _share_box(shared[fragment], shared.pages)
    return found


def _share_box(one: SharedFragment, pages: int) -> Box:
    share = len(one.pages) / max(1, pages)
    name = "most" if share >= 0.75 else "some" if share >= 0.25 else "few"  # noqa: PLR2004 - as SHARES says
    tier = "exact" if one.exact else "approximate"
    return Box(f"{name} {tier}", f"{format_count(len(one.pages), 'page')}, {tier}")


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
        return Box(f"{name} private", f"differs by reader{more}")
    return Box(name, label)
