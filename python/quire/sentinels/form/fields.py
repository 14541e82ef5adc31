"""Fields of plain data: mappings and lists from YAML or JSON, read with errors that name the field.

A ``Field`` is a value together with its path (``when.all[1].number.below``). Every method either
returns a value of the right type or raises a ``WatchError`` that says what was found and what is
expected. A ``Mapping`` also complains about names it was not asked for, so a misspelled option is an
error and never ignored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as PlainMapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from typing import TypeVar

from quire.errors import PatternError, SelectorError, WatchError

T = TypeVar("T", bound=str)

#: Characters of one text, and items of one list.
MAX_TEXT = 100_000
MAX_ITEMS = 10_000
#: Numbers in both directions: more than any price or count, and exact as a float.
MAX_NUMBER = 1e15
#: Levels of conditions inside conditions.
MAX_DEPTH = 64

_DURATION = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*([a-z]+)\s*")
# Texts that cannot be written as UTF-8, or that databases cannot store.
_UNWRITABLE = re.compile("[\ud800-\udfff\0]")
_SECONDS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
    **dict.fromkeys(("w", "week", "weeks"), 604800.0),
}
_SIZE = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*([kKmMgG]?[bB])\s*")
_BYTES = {"b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000}
#: A century: longer intervals are mistakes, and overflow dates.
MAX_DURATION = timedelta(days=36525)


@dataclass(frozen=True, slots=True)
class Field:
    """A value, and where it was written."""

    value: object
    path: str = ""

    def wrong(self, expected: str) -> WatchError:
        """Return an error that says what was found here and what is expected."""
        found = "nothing" if self.value is None else _shown(self.value)
        return WatchError(
            f"{self.path or 'the watch'}: expected {expected}, found {found}", path=self.path
        )

    def text(self, expected: str = "a text") -> str:
        """Return a text that is not empty."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.wrong(expected)
        if len(self.value) > MAX_TEXT:
            raise self.wrong(f"a text of at most {MAX_TEXT:,} characters")
        if _UNWRITABLE.search(self.value):
            raise self.wrong("a text without NUL characters and half surrogate pairs")
        return self.value

    def texts(self, expected: str = "a text or a list of texts") -> tuple[str, ...]:
        """Return one text or several."""
        if isinstance(self.value, str):
            return (self.text(expected),)
        return tuple(each.text(expected) for each in self.items(expected))

    def choice(self, choices: Sequence[T]) -> T:
        """Return one of some words."""
        for each in choices:
            if self.value == each:
                return each
        raise self.wrong(_one_of(choices))

    def choices(self, choices: Sequence[T]) -> tuple[T, ...]:
        """Return one or several of some words."""
        if isinstance(self.value, str):
            return (self.choice(choices),)
        found = tuple(each.choice(choices) for each in self.items(_one_of(choices)))
        if not found:
            raise self.wrong(_one_of(choices))
        return found

    def flag(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def number(self, low: float = -math.inf, high: float = math.inf) -> float:
        """Return a number between two limits."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.wrong("a number")
        try:
            found = float(self.value)
        except OverflowError:
            raise self.wrong("a smaller number") from None
        low, high = max(low, -MAX_NUMBER), min(high, MAX_NUMBER)
        if not low <= found <= high:
            has_low_only = low > -MAX_NUMBER and high == MAX_NUMBER and not found > high
            limits = f"of {low:g} or more" if has_low_only else f"from {low:g} to {high:g}"
            raise self.wrong(f"a number {limits}")
        return found

    def whole(self, low: int, high: int) -> int:
        """Return a whole number between two limits."""
        found = self.number(low, high)
        if found != int(found):
            raise self.wrong("a whole number")
        return int(found)

    def duration(self, low: timedelta = timedelta(0)) -> timedelta:
        """Return a duration such as ``90 s``, ``15 min`` or ``1 h 30 min``; numbers are seconds."""
        expected = "a duration such as '15 min' or '1 h 30 min'"
        if isinstance(self.value, int | float) and not isinstance(self.value, bool):
            total = self.number(0, MAX_DURATION.total_seconds())
        else:
            text, total, at = self.text(expected).lower(), 0.0, 0
            while at < len(text):
                match = _DURATION.match(text, at)
                if match is None or match[2] not in _SECONDS:
                    raise self.wrong(expected)
                total += float(match[1]) * _SECONDS[match[2]]
                at = match.end()
        found = timedelta(seconds=min(total, MAX_DURATION.total_seconds() + 1))
        if not low <= found <= MAX_DURATION:
            raise self.wrong(
                f"a duration of {low.total_seconds():g} s or more, and at most a century"
            )
        return found

    def size(self) -> int:
        """Return a number of bytes: a number, or a text such as ``500 MB``."""
        expected = "a number of bytes, or a text such as '500 MB'"
        if isinstance(self.value, str):
            match = _SIZE.fullmatch(self.value)
            if match is None:
                raise self.wrong(expected)
            found = Field(float(match[1]) * _BYTES[match[2].lower()], self.path)
            return int(found.number(1, MAX_NUMBER))
        return self.whole(1, int(MAX_NUMBER))

    def items(self, expected: str = "a list") -> list[Field]:
        """Return the items of a list."""
        if not isinstance(self.value, list | tuple):
            raise self.wrong(expected)
        if len(self.value) > MAX_ITEMS:
            raise self.wrong(f"at most {MAX_ITEMS:,} items")
        return [Field(each, f"{self.path}[{place}]") for place, each in enumerate(self.value)]

    def mapping(self, expected: str = "a mapping of names to values") -> Mapping:
        """Return a mapping."""
        if not isinstance(self.value, dict) or not all(isinstance(key, str) for key in self.value):
            raise self.wrong(expected)
        return Mapping(self.value, self.path)

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Put the path in front of errors about selectors, patterns and other values."""
        try:
            yield
        except WatchError:
            raise
        except (SelectorError, PatternError, ValueError) as error:
            raise WatchError(f"{self.path or 'the watch'}: {error}", path=self.path) from None


class Mapping:
    """A mapping whose names are asked for one by one. ``finish`` complains about the rest."""

    def __init__(self, values: dict[str, object], path: str) -> None:
        self._values = values
        self._asked: set[str] = set()
        self.path: str = path

    def get(self, name: str) -> Field | None:
        """Return the field with this name; None if it is missing or null."""
        self._asked.add(name)
        value = self._values.get(name)
        return None if value is None else Field(value, f"{self.path}.{name}".removeprefix("."))

    def need(self, name: str, expected: str) -> Field:
        """Return the field with this name, or raise."""
        found = self.get(name)
        if found is None:
            path = f"{self.path}.{name}".removeprefix(".")
            raise WatchError(f"{path}: expected {expected}, found nothing", path=path)
        return found

    def with_defaults(self, defaults: PlainMapping[str, object]) -> Mapping:
        """Return a mapping with values for names that are missing or null."""
        missing = {
            name: value for name, value in defaults.items() if self._values.get(name) is None
        }
        return Mapping({**self._values, **missing}, self.path)

    def entries(self, expected: str) -> list[tuple[str, Field]]:
        """Return all names with their fields. Raises if one has no value, or has no name."""
        found = []
        for name, value in self._values.items():
            field = Field(value, f"{self.path}.{name}".removeprefix("."))
            if value is None:
                raise field.wrong(expected)
            if not name.strip() or _UNWRITABLE.search(name):
                raise WatchError(f"{self.path}: expected a name before each colon", path=self.path)
            found.append((name, field))
        self._asked.update(self._values)
        return found

    def finish(self) -> None:
        """Raise if there is a name that was not asked for."""
        for name in self._values:
            if name not in self._asked:
                path = f"{self.path}.{name}".removeprefix(".")
                near = get_close_matches(name, self._asked, 1)
                hint = (
                    f"did you mean {near[0]!r}?"
                    if near
                    else f"expected {_one_of(sorted(self._asked))}"
                )
                raise WatchError(f"{path}: there is no option {name!r}; {hint}", path=path)


def _one_of(choices: Sequence[str]) -> str:
    return f"one of {', '.join(choices)}" if len(choices) > 1 else choices[0]


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"  # noqa: PLR2004 - fits one line
