"""Pages with marks for a frame of a web page: no bar, no script, and every change has an address.

The page around the frame draws the bar and the map. It leads to a change by the fragment of the
frame's address (``#quire-change-3``), so nothing in the frame has to run. How far down a change is
can only be estimated here, from the texts and lines before it.

Three ways to draw two versions: both in one page (a redline), or each by itself for two frames side
by side. The old version by itself is drawn as the new one of the comparison the other way round:
texts that it alone has are marked as deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from quire.digest.page import Digest
from quire.reports.changes.marks import CHANGE, LOUD, Changes, MarkKind, Quiet
from quire.reports.changes.redline import Drawn, draw, title_change
from quire.reports.frame import document
from quire.sdiff import annotate
from quire.sdiff.annotation import Annotation
from quire.sdiff.views.words import Segment
from quire.viewing import NOTHING, Looks


class Shown(Enum):
    """Which version a frame shows."""

    BOTH = "both"
    OLD = "old"
    NEW = "new"


# A spot has a height, so that browsers scroll to it, and no width.
_FRAME = """
.quire-spot { display: inline-block !important; width: 0 !important; height: 1em !important;
  margin: 0 !important; vertical-align: text-bottom !important; scroll-margin: 8em !important; }
.quire-spot:target { outline: 3px solid #e08a00 !important; }
"""
# Noise without a mark: the new version as it is.
_NO_NOISE = """
del.quire-del.quire-quiet { display: none !important; }
ins.quire-ins.quire-quiet, span.quire-moved.quire-quiet, .quire-atom.quire-quiet {
  background: none !important; color: inherit !important; border: 0 !important;
  outline: 0 !important; }
"""
_OLD = """
ins.quire-ins { background: #ffd5d1 !important; color: #8c1d18 !important; }
.quire-atom.quire-ins { outline: 2px dashed #d6635b !important; background: #ffd5d1 !important;
  color: #8c1d18 !important; }
.quire-fresh { background: #fff3f1 !important; }
@media (prefers-color-scheme: dark) {
  .quire-lines .quire-ins { background: #46211f !important; color: #f3b9b4 !important; }
}
"""


@dataclass(frozen=True, slots=True)
class ChangeMark:
    """A change on a page in a frame.

    Attributes:
        number: its number, from 1.
        place: how far down the page it is, from 0 to 1.
        kinds: texts were ``inserted``, ``deleted`` or ``moved``.
        texts: the texts, each with its kind; empty beyond the first few hundred changes.
    """

    number: int
    place: float
    kinds: frozenset[MarkKind]
    texts: tuple[tuple[MarkKind, str], ...]

    @property
    def fragment(self) -> str:
        """The fragment of the frame's address that leads to the change."""
        return f"#{CHANGE}{self.number}"


@dataclass(frozen=True, slots=True)
class FramedPage:
    """A page for a frame.

    Attributes:
        document: the whole document; safe to show in a frame without scripts.
        marks: the changes, from top to bottom.
        others: the number of elements with other changes, such as of attributes.
        title: the title with its changes; empty if it did not change.
        quiet: the number of marks of noise; they do not count as changes.
    """

    document: str
    marks: tuple[ChangeMark, ...]
    others: int
    title: tuple[Segment, ...]
    quiet: int = 0


def framed_changes(
    annotation: Annotation,
    *,
    base: str | None = None,
    shown: Shown = Shown.BOTH,
    embedded: Looks = NOTHING,
    quiet: Quiet = LOUD,
    hides_noise: bool = False,
) -> FramedPage:
    """Draw two versions of a page, or one of them, with the changes marked.

    >>> import quire
    >>> old, new = quire.encode(b"<p>Open 9 to 5"), quire.encode(b"<p>Open 9 to 6")
    >>> drawn = framed_changes(quire.annotate(old, new))
    >>> [(mark.fragment, mark.texts) for mark in drawn.marks]
    [('#quire-change-1', (('deleted', '5'), ('inserted', '6')))]

    Args:
        annotation: the annotation of two pages.
        base: the address of the page, to resolve links.
        shown: which version to show.
        embedded: style sheets, images and fonts of the pages, to be written into the document.
        quiet: nodes whose changes are noise.
        hides_noise: write noise without marks.
    """
    if shown is Shown.OLD:
        annotation = annotate(annotation.new, annotation.old, annotation.rules)
        quiet = quiet.turned()
    changes = Changes(hides_deleted=shown is not Shown.BOTH)
    style = _FRAME + (_OLD if shown is Shown.OLD else "") + (_NO_NOISE if hides_noise else "")
    drawn = draw(annotation, changes, base=base, embedded=embedded, quiet=quiet)
    return _framed(annotation, changes, drawn, style, is_old=shown is Shown.OLD)


def framed_page(
    page: Digest,
    *,
    base: str | None = None,
    outlined: Mapping[int, str] | None = None,
    embedded: Looks = NOTHING,
) -> FramedPage:
    """Draw one version of a page, with some elements outlined.

    >>> import quire
    >>> page = quire.encode(b"<p>Open<p>Ad 17")
    >>> node = page.select("p")[1].item()
    >>> 'class="quire-outlined quire-holds" title="noise"' in framed_page(
    ...     page, outlined={node: "noise"}).document
    True

    Args:
        page: the page.
        base: the address of the page, to resolve links.
        outlined: elements to outline, each with its tooltip.
        embedded: style sheets, images and fonts of the page, to be written into the document.
    """
    annotation, changes = annotate(page, page), Changes()
    drawn = draw(annotation, changes, base=base, outlined=outlined, embedded=embedded)
    return _framed(annotation, changes, drawn, _FRAME, is_old=False)


def same_changes(left: FramedPage, right: FramedPage) -> dict[int, int]:
    """Find, for each change on one version, the same change on the other version.

    Parts that moved have another place in the order of changes on each version. Changes with the
    same texts are the same; their kinds may differ, as a short text that moved counts as deleted
    here and inserted there. A change without an equal goes with the one that has its number.
    """
    known: dict[frozenset[str], list[int]] = {}
    for mark in reversed(left.marks):
        known.setdefault(_texts(mark), []).append(mark.number)
    found: dict[int, int] = {}
    for mark in right.marks:
        equal = known.get(_texts(mark)) if mark.texts else None
        found[mark.number] = equal.pop() if equal else min(mark.number, max(1, len(left.marks)))
    return found


def _texts(mark: ChangeMark) -> frozenset[str]:
    return frozenset(text for _, text in mark.texts)


_AS_DRAWN: dict[MarkKind, MarkKind] = {
    "inserted": "inserted",
    "deleted": "deleted",
    "moved": "moved",
}
_TURNED: dict[MarkKind, MarkKind] = {
    "inserted": "deleted",
    "deleted": "inserted",
    "moved": "moved",
}


def _framed(
    annotation: Annotation,
    changes: Changes,
    drawn: Drawn,
    style: str,
    *,
    is_old: bool,
) -> FramedPage:
    whole = document(
        "".join([*drawn.body, "\n"]),
        title="Page",
        style=drawn.style + style,
        page_styles=drawn.page_styles,
        images="data:",
        fonts="data:",
    )
    length = max(1, changes.length)
    marks = []
    for place, (at, kinds) in enumerate(zip(changes.places, changes.kinds, strict=True)):
        texts = changes.listed[place] if place < len(changes.listed) else []
        names = _TURNED if is_old else _AS_DRAWN
        marks.append(
            ChangeMark(
                place + 1,
                at / length,
                frozenset(names[kind] for kind in kinds),
                tuple((names[kind], text) for kind, text in texts),
            )
        )
    title = tuple(title_change(annotation))
    return FramedPage(whole, tuple(marks), changes.others, title, changes.quiet)
