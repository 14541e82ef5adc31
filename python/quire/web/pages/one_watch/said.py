"""The words of an event in a timeline: each difference is a line with its words marked."""

from __future__ import annotations

from dataclasses import dataclass

from quire.sdiff.views.words import Segment, word_changes
from quire.sentinels.notices.differences import Difference
from quire.sentinels.notices.event import Event

#: Differences of one event, and characters of each.
MOST_LINES = 6
LONGEST = 400
#: Unchanged words in the middle of a line that are longer are cut.
LONGEST_SAME = 120


@dataclass(frozen=True, slots=True)
class Said:
    """The words of an event.

    Attributes:
        lines: differences, each as words with what happened to them.
        more: how many more there are.
        message: a sentence, for events that are not changes.
        why: what the condition found.
    """

    lines: tuple[tuple[Segment, ...], ...]
    more: int
    message: str
    why: str


def said(event: Event) -> Said:
    """Return the words of an event."""
    entries = event.differences.entries
    return Said(
        tuple(map(_line, entries[:MOST_LINES])),
        max(0, len(entries) - MOST_LINES) + event.differences.left_out,
        event.reason[:LONGEST],
        "" if event.finding is None else event.finding.reason[:LONGEST],
    )


def _line(entry: Difference) -> tuple[Segment, ...]:
    before, after = (_short(each) for each in (entry.before, entry.after))
    if entry.kind == "edited" and before and after:
        return tuple(_cut(each) for each in word_changes(before, after))
    found = [Segment("deleted", before)] if before else []
    return (*found, *([Segment("inserted", after)] if after else []))


def _cut(segment: Segment) -> Segment:
    text = segment.text
    if segment.kind != "same" or len(text) <= LONGEST_SAME:
        return segment
    half = LONGEST_SAME // 2
    return Segment("same", f"{text[:half]} … {text[-half:]}")


def _short(text: str | None) -> str:
    text = text or ""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
