"""Gaps: the words of a text or an address that change at every fetch, and masks that hide them.

Two samples of a text are compared word by word. Where they differ is a gap, remembered by the words
on both sides of it and by the kind of its words. A mask replaces what is in the gaps, and nothing
else: if another word of the text changes, the text as it is compared changes too.

>>> gaps = gaps_between("Served in 12 ms. Price: 9.50", "Served in 7 ms. Price: 9.50")
>>> mask("Served in 31 ms. Price: 8.50", gaps)
'Served in … ms. Price: 8.50'
>>> mask("Served in no time. Price: 8.50", gaps)
'Served in no time. Price: 8.50'
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal, TypeAlias

#: Kinds of gaps. ``number``: one number; ``date``: a date or time; ``word``: one word or number;
#: ``text``: anything.
GapKind: TypeAlias = Literal["number", "date", "word", "text"]
GAP = "…"
#: Words of the longest texts that are compared word by word. Longer ones are one gap.
MOST_WORDS = 300
#: Texts with a smaller share of words in common have nothing in common: they are one gap.
LEAST_COMMON = 0.3
#: Gaps of one text.
MOST_GAPS = 12

_WORD = re.compile(r"\d(?:[\d.,:/'’-]*\d)?(?![\w-])|\w+(?:-\w+)*|[^\w\s]")
# Addresses and other attributes are made of names and values between these signs.
_PIECE = re.compile(r"[^\s/?&=#;.]+|[/?&=#;.]")
_NUMBER = re.compile(r"\d[\d.,:/'’-]*")
# A time of the day next to other words of a date: all of it changes sooner or later.
_CLOCK = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?")
_DATE = re.compile(
    r"\d{1,2}(?:st|nd|rd|th)?|(?:19|20)\d\d|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}:\d{2}[:.\d]*"
    r"|[ap]m|a|p|m|utc|gmt|ces?t|[ecmp][sd]t|z|at|um|uhr|[.,()|·-]"
    r"|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sat|sun)(?:day)?"
    r"|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
    r"|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch"
    r"|januar|februar|märz|mai|juni|juli|oktober|dezember"
    r"|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Gap:
    """Words that change at every fetch.

    Attributes:
        before: the word before them; empty at the start.
        after: the word after them; empty at the end.
        kind: what they are.
    """

    before: str
    after: str
    kind: GapKind

    def to_json(self) -> list[str]:
        """Return the gap as JSON."""
        return [self.before, self.after, self.kind]

    @classmethod
    def from_json(cls, data: list[Any]) -> Gap:
        """Return a gap from JSON."""
        return cls(*data)


#: Everything changes.
WHOLE: tuple[Gap, ...] = (Gap("", "", "text"),)


def gaps_between(one: str, other: str, *, address: bool = False) -> tuple[Gap, ...]:
    """Return the gaps of two samples of a text. Masks of both samples are equal.

    Args:
        one: a sample.
        other: another one.
        address: whether they are addresses or other attributes.
    """
    word = _PIECE if address else _WORD
    words, others = word.findall(one), word.findall(other)
    if max(len(words), len(others)) > MOST_WORDS:
        return WHOLE
    matcher = SequenceMatcher(None, words, others, autojunk=False)
    is_one_word = len(words) == len(others) == 1
    if not is_one_word and matcher.ratio() < LEAST_COMMON:
        return WHOLE
    found: list[Gap] = []
    for change, start, end, other_start, other_end in matcher.get_opcodes():
        if change != "equal":
            found.append(_gap(words, start, end, others[other_start:other_end]))
    gaps = joined((), found)
    is_enough = mask(one, gaps, address=address) == mask(other, gaps, address=address)
    return gaps if is_enough else WHOLE


def joined(known: tuple[Gap, ...], found: Iterable[Gap]) -> tuple[Gap, ...]:
    """Return gaps with those of another sample. A gap that has words of several kinds is wide."""
    gaps = {(each.before, each.after): each for each in known}
    for gap in found:
        old = gaps.get((gap.before, gap.after))
        if old is None or old.kind == gap.kind:
            gaps[gap.before, gap.after] = gap
        else:
            kind: GapKind = "word" if {old.kind, gap.kind} == {"number", "word"} else "text"
            gaps[gap.before, gap.after] = Gap(gap.before, gap.after, kind)
    return tuple(gaps.values()) if len(gaps) <= MOST_GAPS else WHOLE


def mask(text: str, gaps: tuple[Gap, ...], *, address: bool = False) -> str:
    """Return a text with its gaps replaced, as it is compared; empty if nothing else is left.

    A text without any of the gaps is returned as it is.

    Args:
        text: the text.
        gaps: the gaps.
        address: whether it is an address or another attribute.
    """
    if gaps == WHOLE:
        return ""
    found = list((_PIECE if address else _WORD).finditer(text))
    words = [word.group() for word in found]
    spans = sorted(span for gap in gaps for span in _spans(words, gap))
    if not spans:
        return text
    compared: list[str] = []
    at = left = 0  # in words, and in characters
    for start, end in spans:
        if start >= at:
            begin = found[start].start() if start < len(found) else len(text)
            compared += [text[left:begin], GAP]
            left = found[end - 1].end() if end > start else begin
            at = end
    compared.append(text[left:])
    has_more = any(part.strip() for part in compared if part != GAP)
    return "".join(compared) if has_more else ""


def _gap(words: list[str], start: int, end: int, others: list[str]) -> Gap:
    kind = _kind(words[start:end], others)
    if kind == "number" and any(_CLOCK.fullmatch(word) for word in words[start:end]):
        date_start, date_end = _date_around(words, start, end)
        if (date_start, date_end) != (start, end):
            start, end, kind = date_start, date_end, "date"
    before = words[start - 1] if start else ""
    return Gap(before, words[end] if end < len(words) else "", kind)


def _kind(words: list[str], others: list[str]) -> GapKind:
    if len(words) != 1 or len(others) != 1:
        return "text"
    is_number = all(_NUMBER.fullmatch(word) for word in (*words, *others))
    return "number" if is_number else "word"


def _date_around(words: list[str], start: int, end: int) -> tuple[int, int]:
    while start and _DATE.fullmatch(words[start - 1]):
        start -= 1
    while end < len(words) and _DATE.fullmatch(words[end]):
        end += 1
    return start, end


def _spans(words: list[str], gap: Gap) -> Iterable[tuple[int, int]]:
    """Find the words that can be in a gap."""
    for start in range(len(words) + 1):
        if (words[start - 1] if start else "") != gap.before:
            continue
        end = _end(words, start, gap)
        if end is not None:
            yield start, end


def _end(words: list[str], start: int, gap: Gap) -> int | None:
    if gap.kind in ("number", "word"):
        ends: Iterable[int] = (start + 1,)
    else:
        ends = range(start, len(words) + 1)
    for end in ends:
        if end > len(words) or (words[end] if end < len(words) else "") != gap.after:
            continue
        inside = words[start:end]
        if gap.kind == "number" and not _NUMBER.fullmatch(inside[0]):
            continue
        if gap.kind == "date" and not (inside and all(map(_DATE.fullmatch, inside))):
            continue
        return end
    return None
