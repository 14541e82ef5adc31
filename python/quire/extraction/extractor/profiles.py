"""Profiles of columns: how to know a column again on another page, or after a redesign.

A profile has the name and place of a column, what its values look like, and hashes of some values.
Two columns are the same if there is evidence for it and no other column has as much: the same place
and name, or many equal values, or a name that fits together with the look of the values.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from statistics import median

from quire.extraction.table.cells import Key, Source
from quire.extraction.table.table import Column, Table
from quire.extraction.table.values import ValueType, pattern

#: Least evidence for two columns to be the same, and how much more than for any other.
ENOUGH = 0.6
CLEARLY = 0.1
# A column that nearly all records have is expected on every page.
_ALWAYS = 0.95
_MOST_HASHES = 64
_MANY_EQUAL = 0.3
_LEAST_EQUAL = 3
_OTHER_DIGITS = 0.5
# Shorter values, such as `3`, are in many columns by chance.
_TELLING = 4


@dataclass(frozen=True, slots=True)
class Profile:
    """The description of a column, from its name to hashes of its values.

    Attributes:
        name: its name.
        type: what its values are.
        source: whether they are texts, links, images or properties.
        path: where in a record it is.
        column: the number of the table column, or -1.
        filled: the share of records that have it.
        characters: the median length of its values.
        digits: the share of its values that have digits.
        patterns: the most frequent ways in which its values are written.
        hashes: hashes of some values.
    """

    name: str
    type: ValueType
    source: Source
    path: tuple[str, ...]
    column: int
    filled: float
    characters: float
    digits: float
    patterns: tuple[str, ...]
    hashes: frozenset[str]

    @property
    def is_expected(self) -> bool:
        """Whether a page without this column does not fit."""
        return self.filled >= _ALWAYS


def profile(column: Column, values: list[str | None]) -> Profile:
    """Measure a column."""
    shown = [value for value in values if value]
    telling = [value for value in dict.fromkeys(shown) if len(value) >= _TELLING]
    common = Counter(pattern(value) for value in shown).most_common(3)
    return Profile(
        name=column.name,
        type=column.type,
        source=column.key.source,
        path=column.key.path,
        column=column.key.column,
        filled=round(len(shown) / max(len(values), 1), 3),
        characters=float(median(map(len, shown))) if shown else 0.0,
        digits=round(sum(any(map(str.isdigit, each)) for each in shown) / max(len(shown), 1), 3),
        patterns=tuple(found for found, _ in common),
        hashes=frozenset(_hash(value) for value in telling[:_MOST_HASHES]),
    )


def profiles(table: Table) -> list[Profile]:
    """Measure all columns of a table."""
    return [
        profile(column, [row[at] for row in table.rows]) for at, column in enumerate(table.columns)
    ]


def matched(known: list[Profile], found: list[Profile]) -> list[int | None]:
    """For each known column the place of the same one among those found; None if unclear."""
    scores = [[evidence(one, other) for other in found] for one in known]
    _in_order(known, found, scores)
    for row, one in zip(scores, known, strict=True):
        shared = [_shared(one, other) for other in found]
        for place, other in enumerate(found):
            # The values that were here are elsewhere now: the place says less than the values.
            elsewhere = [
                share
                for share, each in zip(shared, found, strict=True)
                if each.path != other.path and share >= _MANY_EQUAL
            ]
            row[place] -= 0.5 if elsewhere and shared[place] < max(elsewhere) / 2 else 0.0
    places: list[int | None] = []
    for at, row in enumerate(scores):
        best = max(range(len(row)), key=row.__getitem__, default=None)
        if best is None or row[best] < ENOUGH:
            places.append(None)
            continue
        rivals = [score for place, score in enumerate(row) if place != best]
        others = [scores[place][best] for place in range(len(known)) if place != at]
        is_clear = all(row[best] >= score + CLEARLY for score in (*rivals, *others))
        places.append(best if is_clear else None)
    return places


def _in_order(known: list[Profile], found: list[Profile], scores: list[list[float]]) -> None:
    """Columns with one key are the cells of a list: the first is the first, and no other."""
    theirs = _numbered(found)
    for at, (key, number) in enumerate(_numbered(known)):
        for place, (other, count) in enumerate(theirs):
            if key == other and number != count:
                scores[at][place] = 0.0


def _numbered(columns: list[Profile]) -> list[tuple[Key, int]]:
    seen: Counter[Key] = Counter()
    found = []
    for column in columns:
        key = Key(column.path, column.source, column.column)
        found.append((key, seen[key]))
        seen[key] += 1
    return found


def evidence(one: Profile, other: Profile) -> float:
    """How much speaks for two columns being the same, from 0 to 2."""
    if one.source is not other.source or _contradict(one, other):
        return 0.0
    score = 0.0
    same_path = one.path == other.path and one.column == other.column
    same_name = one.name.casefold() == other.name.casefold()
    shared = _shared(one, other)
    if shared >= _MANY_EQUAL:
        score += 0.6 + 0.4 * shared
    if same_path:
        score += 0.5
    elif one.path and other.path and one.path[-1] == other.path[-1] and "." in one.path[-1]:
        score += 0.2
    if same_name:
        score += 0.35 if _is_telling(one) else 0.15
    if one.type is other.type and one.type is not ValueType.TEXT:
        score += 0.15
    elif _is_as_long(one, other):
        score += 0.1
    if set(one.patterns) & set(other.patterns):
        score += 0.05
    return score


def _shared(one: Profile, other: Profile) -> float:
    """The share of values that two columns have in common; 0 if they are too few to tell."""
    equal = len(one.hashes & other.hashes)
    if equal < _LEAST_EQUAL:
        return 0.0
    return equal / min(len(one.hashes), len(other.hashes))


def _contradict(one: Profile, other: Profile) -> bool:
    """Whether the values of two columns cannot be of one kind."""
    plain = {ValueType.TEXT, ValueType.LINK, ValueType.IMAGE}
    if one.type is not other.type:
        # `1,200` and `12.3k` may be one column, a date and a name not.
        return abs(one.digits - other.digits) > _OTHER_DIGITS or not {
            one.type,
            other.type,
        } & {ValueType.TEXT, ValueType.NUMBER}
    if one.type not in plain or not one.characters or not other.characters:
        return False
    return not 1 / 8 <= (one.characters + 4) / (other.characters + 4) <= 8  # noqa: PLR2004


def _is_as_long(one: Profile, other: Profile) -> bool:
    return 1 / 2 <= (one.characters + 4) / (other.characters + 4) <= 2  # noqa: PLR2004


def _is_telling(one: Profile) -> bool:
    """Whether a name says more than that there is a text or a link."""
    first = one.name.split(" ")[0]
    return first not in {"text", "link", "image", "title", "number", "price", "date", "term"}


def _hash(value: str) -> str:
    return hashlib.blake2b(" ".join(value.split()).encode(), digest_size=5).hexdigest()
