"""The values of a page that shows changes: its views, its marks, and its frames or rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from quire.digest.page import Digest
from quire.reports.changes.framed import ChangeMark, FramedPage, Shown, same_changes
from quire.reports.changes.marks import CHANGE, MarkKind
from quire.sdiff.views.words import Segment
from quire.web.pages.diff.drawings import DRAWINGS, Pair
from quire.web.pages.diff.rows import Rows, source_rows, text_rows_of

#: Changes in the list, and characters of each.
MOST_LISTED = 200
MOST_LETTERS = 120
#: The height of the map of changes, and the least distance of two marks on it.
MAP_HEIGHT = 1000
MAP_STEP = 14


class View(StrEnum):
    """A way to show changes."""

    redline = "redline"
    side = "side"
    text = "text"
    source = "source"


class ShownNoise(StrEnum):
    """Whether noise is shown."""

    show = "show"
    hide = "hide"


NAMES = {
    View.redline: "Redline",
    View.side: "Side by side",
    View.text: "Text",
    View.source: "Source",
}

#: Returns the address of the page with other values, such as ``view`` or ``change``.
Address = Callable[..., str]
#: Returns the address of a frame: the redline, the old or the new page.
FrameAddress = Callable[[Shown], str]


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame with a page of strangers.

    Attributes:
        name: the name that links lead to.
        title: its title, for screen readers.
        src: its address, without the fragment.
        fragment: where it begins.
    """

    name: str
    title: str
    src: str
    fragment: str


@dataclass(frozen=True, slots=True)
class Spot:
    """A mark on the map of changes.

    Attributes:
        top: where it is, from 0 to ``MAP_HEIGHT``.
        kind: the kind of the changes; ``changed`` for several.
        number: the first change that it stands for.
        words: the numbers of all its changes, in words.
    """

    top: int
    kind: str
    number: int
    words: str


@dataclass(frozen=True, slots=True)
class Listed:
    """A change in the list.

    Attributes:
        number: its number.
        texts: its texts, each with its kind.
        partner: the number of the same change in the other frame, if there are two.
    """

    number: int
    texts: tuple[tuple[MarkKind, str], ...]
    partner: int


@dataclass(frozen=True, slots=True)
class DiffView:
    """Everything that the template shows.

    Attributes:
        view: the view.
        views: the names and addresses of all views.
        count: the number of changes.
        current: the change to begin with, from 1; 0 if there are none.
        previous: the address of the page at the change before.
        next: the address of the page at the change after.
        frames: the frames.
        spots: the map.
        listed: the list of changes.
        others: the number of elements with changes that are not in the text.
        quiet: the number of marks of noise, or of rows of noise.
        noise_switch: the address at which noise is shown, or not; empty if there is none.
        hides_noise: whether noise is not shown.
        title: the changed title.
        rows: the rows of a text.
        note: something to know about the comparison; empty for nothing.
        anchor: begins the fragments of changes.
    """

    view: View
    views: list[tuple[View, str, str]]
    count: int
    current: int
    previous: str = ""
    next: str = ""
    frames: list[Frame] = field(default_factory=list)
    spots: list[Spot] = field(default_factory=list)
    listed: list[Listed] = field(default_factory=list)
    others: int = 0
    quiet: int = 0
    noise_switch: str = ""
    hides_noise: bool = False
    title: tuple[Segment, ...] = ()
    rows: Rows | None = None
    note: str = ""
    anchor: str = CHANGE


def make_view(
    pair: Pair,
    *,
    view: View,
    change: int,
    address: Address,
    frame: FrameAddress,
) -> DiffView:
    """Compare two pages and return everything that the template shows.

    Args:
        pair: the two pages.
        view: how to show the changes.
        change: the change to begin with.
        address: returns the address of this page with other values.
        frame: returns the addresses of frames.
    """
    old, new = pair.old, pair.new
    views = [(each, NAMES[each], address(view=each.value)) for each in View]
    note = _note(old, new)
    if view in {View.text, View.source}:
        compare = text_rows_of if view is View.text else source_rows
        rows = compare(old, new, pair.quiet, hides_noise=pair.hides_noise)
        current = min(max(change, 1), rows.count) if rows.count else 0
        return DiffView(
            view, views, rows.count, current, rows=rows, note=note, anchor="change-",
            quiet=rows.quiet, noise_switch=_switch(pair, rows.quiet, address),
            hides_noise=pair.hides_noise,
            spots=_spots([(n + 1, at, "changed") for n, at in enumerate(rows.places)]),
        )  # fmt: skip
    if view is View.redline:
        drawn = DRAWINGS.changes(pair, Shown.BOTH)
        partners = {}
    else:
        drawn = DRAWINGS.changes(pair, Shown.NEW)
        partners = same_changes(DRAWINGS.changes(pair, Shown.OLD), drawn)
    count = len(drawn.marks)
    current = min(max(change, 1), count) if count else 0
    at = f"#{CHANGE}{current}" if current else ""
    frames = [Frame("changed-page", "The page with its changes", frame(Shown.BOTH), at)]
    if view is View.side:
        other = f"#{CHANGE}{partners[current]}" if current else ""
        frames = [
            Frame("old-page", "The old version", frame(Shown.OLD), other),
            Frame("changed-page", "The new version", frame(Shown.NEW), at),
        ]
    return DiffView(
        view,
        views,
        count,
        current,
        previous=address(view=view.value, change=(current - 2) % count + 1 if count else 1),
        next=address(view=view.value, change=current % count + 1 if count else 1),
        frames=frames,
        spots=_spots([(mark.number, mark.place, _kind(mark)) for mark in drawn.marks]),
        listed=_listed(drawn, partners),
        others=drawn.others,
        quiet=drawn.quiet,
        noise_switch=_switch(pair, drawn.quiet, address, change=current or None),
        hides_noise=pair.hides_noise,
        title=drawn.title,
        note=note,
    )


def _switch(pair: Pair, quiet: int, address: Address, **values: object) -> str:
    """Return the address at which noise is shown, if it is not, or the other way round."""
    if not quiet:
        return ""
    return address(**values, noise=None if pair.hides_noise else ShownNoise.hide.value)


def _kind(mark: ChangeMark) -> str:
    return next(iter(mark.kinds)) if len(mark.kinds) == 1 else "changed"


def _spots(marks: list[tuple[int, float, str]]) -> list[Spot]:
    """Join marks that are too close to each other on the map."""
    spots: list[Spot] = []
    joined: list[tuple[int, str]] = []
    top = -MAP_STEP

    def close() -> None:
        if joined:
            kinds = {kind for _, kind in joined}
            kind = kinds.pop() if len(kinds) == 1 else "changed"
            first, last = joined[0][0], joined[-1][0]
            words = f"Change {first}" if first == last else f"Changes {first} to {last}"
            spots.append(Spot(top, kind, first, words))

    for number, place, kind in marks:
        at = min(int(place * MAP_HEIGHT), MAP_HEIGHT - MAP_STEP)
        if at - top >= MAP_STEP:
            close()
            joined, top = [], at
        joined.append((number, kind))
    close()
    return spots


def _listed(drawn: FramedPage, partners: dict[int, int]) -> list[Listed]:
    found = []
    for mark in drawn.marks[:MOST_LISTED]:
        left, texts = MOST_LETTERS, []
        for kind, text in mark.texts:
            words = " ".join(text[: 4 * MOST_LETTERS].split())
            if left > 0 and words:
                texts.append((kind, words if len(words) <= left else f"{words[:left]}…"))
                left -= len(words)
        partner = partners.get(mark.number, mark.number)
        found.append(Listed(mark.number, tuple(texts), partner))
    return found


def _note(old: Digest, new: Digest) -> str:
    if "bytes" in {old.kind, new.kind}:
        sizes = f"{old.source_bytes:,} bytes, then {new.source_bytes:,} bytes"
        return f"This is not a page of text, so its changes cannot be shown: {sizes}."
    if old.signatures.source == new.signatures.source:
        return "The two versions are the same, byte for byte."
    return ""
