"""Confidence: how sure it is that a list is one of records, and not navigation, a form or prose.

Each sign is a number from 0 to 1 or a count; a logistic function of their weighted sum gives a
confidence. The weights were set by hand on the pages to fit on.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from quire.extraction.finding.candidates import Candidate
from quire.extraction.outline import Outline

#: Lists below this confidence are left out unless asked for.
LEAST_CONFIDENCE = 0.5

# The content of a page is inside these; elements around them say nothing about a list.
_INSIDE = {"body", "main", "article"}
_ASIDE = {"nav", "header", "footer", "menu"}
_ASIDE_ROLES = {"navigation", "menu", "menubar", "contentinfo", "banner", "tablist", "search"}
_ASIDE_CLASS = re.compile(
    r"(?i)(?<![a-z])(?:nav|navbar|navigation|menu|submenu|breadcrumbs?|pagination|pager|paging|footer|"
    r"social|share|sharing|tabs?|tagcloud|toolbar|dropdown|cookies?|facets?|filters?|languages?|legal)(?![a-z])"
)
# Between the words of a class or an id.
_JOINTS = re.compile(r"[-_]|(?<=[a-z])(?=[A-Z])")
# How far up the class of an ancestor may name a list.
_LEVELS_UP = 5
# A record much longer than a comment is prose.
_LONG_RECORD = 1500
_SEVERAL_LEAVES = 1.5
_ALIKE = 0.6
# A menu: links for each leaf, or the share of leaves in links; bytes of a text, or of a record.
_MANY_LINKS = 0.6
_MOST_LINKED = 0.7
_ALL_LINKED = 0.9
_SHORT_TEXT = 40
_FEW_IMAGES = 0.5
# Records of one text each are a list if they are so much of the page; more than this for certain.
_MUCH_OF_PAGE = 0.3
_MOST_OF_PAGE = 0.6


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


def signs(view: Outline, one: Candidate) -> Signs:
    """Measure a list: a kernel in Rust counts; the elements around it are looked at here."""
    measured = view.native.measure(one.records)
    leaves, links, linked, leaf_bytes, images, controls, prose, uneven, *rest = measured
    record_bytes, different, share = rest
    return Signs(
        records=len(one.records),
        leaves=leaves,
        likeness=one.likeness,
        links=links,
        linked=linked,
        leaf_bytes=leaf_bytes,
        images=images,
        controls=controls,
        prose=prose,
        uneven=uneven,
        record_bytes=record_bytes,
        aside=_is_aside(view, one.node) or _is_aside(view, one.records[0][0], levels=1),
        different=different,
        share=share,
    )


def confidence(of: Signs) -> float:
    """How sure it is that these are records, from 0 to 1."""
    has_fields = of.leaves >= _SEVERAL_LEAVES
    score = -0.2 + (1.2 * min(math.log2(of.leaves), 2.5) if has_fields else -3.0)
    if not has_fields:
        much = (of.share - _MUCH_OF_PAGE) / (_MOST_OF_PAGE - _MUCH_OF_PAGE)
        score += 3.0 * min(max(much, 0.0), 1.0)
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
    score -= 7.0 * min(of.controls, 0.6)
    score -= 4.0 * of.prose
    score -= 3.0 * (1.0 - of.different)
    return 1 / (1 + math.exp(-score))


def _is_aside(view: Outline, node: int, levels: int = _LEVELS_UP) -> bool:
    """Whether a node, or one not far above it, is navigation by its name, role or class."""
    page = view.page
    names, tags, parents = page.tag_names, page.tag, page.parent
    at = node
    for level in range(levels * 3):
        if at < 0:
            return False
        name = names[int(tags[at])]
        if name in _INSIDE:
            return False
        if name in _ASIDE:
            return True
        if level < levels and int(page.attr[at]) >= 0:
            attributes = page.attributes(at)
            if attributes.get("role", "").lower() in _ASIDE_ROLES:
                return True
            called = _JOINTS.sub(" ", attributes.get("class", ""))
            called += " " + _JOINTS.sub(" ", attributes.get("id", ""))
            if _ASIDE_CLASS.search(called):
                return True
        at = int(parents[at])
    return False
