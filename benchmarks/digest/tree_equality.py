"""Is the tree the one a browser builds? Compared with selectolax (lexbor) on real pages.

Compared is the pre-order sequence of element names with their depths, which together
are the tree of elements; beside it the same with texts and comments. Scripting is off on both sides,
because lexbor parses ``noscript`` so. Differences are sorted by causes found
by looking at pages; whatever fits none is listed as unexplained.
"""

import codecs
from collections import Counter
from collections.abc import Sequence

import quire
from benchmarks.context import Context
from benchmarks.corpora import describe
from benchmarks.peers.ours import outline
from benchmarks.peers.selectolax_lexbor import Outline, Selectolax
from benchmarks.report import Report, Right, Table, at_least

TEMPLATE = "template: lexbor puts content elsewhere than its walk goes"
BOM = "BOM: lexbor keeps it as text, so body opens before the metas"
SELECT = "select: lexbor already keeps elements in option (newer rules)"
CAPPED = "deeper or more formatting than the caps allow"
UNEXPLAINED = "unexplained"


def run(context: Context) -> Report:
    """Compare every real page."""
    sample = context.pages(full=None, quick=60)
    report = Report(
        title="Trees equal to selectolax (lexbor)",
        inputs=describe(sample),
        method="element names and depths in pre-order; scripting off on both sides; content of templates left out",
    )
    selectolax = Selectolax()
    causes: Counter[str] = Counter()
    equal = equal_with_text = 0
    for page in sample:
        body = page.read()
        digest = quire.encode(body, kind="html", scripting=False)
        ours, theirs = outline(digest), selectolax.outline(selectolax.parse(body))
        equal_with_text += _folded(ours) == _folded(theirs)
        if _elements(ours) == _elements(theirs):
            equal += 1
            continue
        cause = _cause(body, digest, ours, theirs)
        causes[cause] += 1
        if cause == UNEXPLAINED:
            report.notes.append(
                f"{page.corpus}/{page.name}: {_first_difference(_elements(ours), _elements(theirs))}"
            )
    rows = [["equal", str(equal)], *([cause, str(count)] for cause, count in causes.most_common())]
    report.tables.append(Table(["pages", "count"], rows))
    report.right = [
        Right("quire", equal, len(sample), "trees of elements equal"),
        Right("quire", equal_with_text, len(sample), "equal with texts and comments below html"),
    ]
    explained = len(sample) - causes[UNEXPLAINED]
    report.goals = [
        at_least("trees equal to selectolax", 100 * equal / len(sample), 99, " %"),
        at_least("trees equal or difference explained", 100 * explained / len(sample), 100, " %"),
    ]
    report.data = {
        "equal": equal,
        "equal_with_text": equal_with_text,
        "pages": len(sample),
        "causes": {str(cause): count for cause, count in causes.items()},
    }
    return report


def _folded(nodes: Outline) -> Outline:
    return [(name.lower(), depth) for name, depth in nodes]


def _elements(nodes: Outline) -> Outline:
    return [(name, depth) for name, depth in _folded(nodes) if not name.startswith("#")]


def _cause(body: bytes, digest: quire.Digest, ours: Outline, theirs: Outline) -> str:
    """The known cause of a difference, if taking the cause away makes the trees equal.

    Pages beyond the caps are the exception: the caps are meant to differ, so the flag is enough.
    """
    if body.startswith(codecs.BOM_UTF8) and _is_equal_without_bom(body):
        return BOM
    if any(flag in digest.flags for flag in ("depth-capped", "formatting-capped")):
        return CAPPED
    if _without(_elements(ours), "template") == _without(_elements(theirs), "template"):
        return TEMPLATE
    if _without(_elements(ours), "select") == _without(_elements(theirs), "select"):
        return SELECT
    return UNEXPLAINED


def _is_equal_without_bom(body: bytes) -> bool:
    """Whether the trees agree once the mark that lexbor stumbles over is gone."""
    bare = body[len(codecs.BOM_UTF8) :]
    selectolax = Selectolax()
    ours = outline(quire.encode(bare, kind="html", scripting=False))
    return _elements(ours) == _elements(selectolax.outline(selectolax.parse(bare)))


def _without(nodes: Outline, name: str) -> Outline:
    """The outline with what stands below elements of this name cut out."""
    kept: Outline = []
    inside: int | None = None
    for node, depth in nodes:
        if inside is not None and depth > inside:
            continue
        inside = depth if node == name else None
        kept.append((node, depth))
    return kept


def _first_difference(ours: Sequence[tuple[str, int]], theirs: Sequence[tuple[str, int]]) -> str:
    for index, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
        if mine != other:
            return f"element {index}: quire has {mine[0]} at depth {mine[1]}, selectolax {other[0]} at depth {other[1]}"
    return f"quire has {len(ours)} elements, selectolax {len(theirs)}"
