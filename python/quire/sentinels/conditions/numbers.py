r"""Numbers in texts: prices, counts and ratings as people write them.

A number is a run of digits with single separators between them. Which separator is the decimal
one follows from the number itself:

* two kinds of separators: the last one is decimal (``1.234,50`` and ``1,234.50``);
* one kind, before groups of three digits: it groups thousands (``1.234.567``, ``1,234``), unless
  the number starts with a ``0``;
* any other single separator is decimal (``9,5``).

Everything else does not count: a date (``16.11.2026``), a version (``1.2.3``). Spaces, no-break spaces and apostrophes only group thousands. A minus sign counts if it follows
white space, a bracket, a currency sign or nothing.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias, get_args

#: Which of several numbers counts.
Pick: TypeAlias = Literal["first", "last", "lowest", "highest", "sum"]
PICKS: tuple[Pick, ...] = get_args(Pick)

#: Numbers read from one text; a page of digits must not take minutes.
MOST_NUMBERS = 10_000

# Digits with single separators between them. Linear: every step consumes a digit.
_DIGITS = re.compile("[0-9]+(?:[.,'’\u00a0\u202f ][0-9]+)*")
# Spaces and apostrophes that group thousands, and perhaps a decimal part.
_GROUPED = re.compile("[0-9]{1,3}(?:[ \u00a0\u202f'’][0-9]{3})+(?:[.,][0-9]+)?")
_GROUPING = re.compile("[ \u00a0\u202f'’]")
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:([.,])[0-9]{3})(?:\1[0-9]{3})*")
_MINUS = re.compile(r"(?:^|[\s(\[$€£¥])[-−][$€£¥]?$")


def numbers(text: str) -> list[float]:
    r"""Return the numbers of a text, in its order.

    >>> numbers("1.234,50 € (was 1.499 €), rated 4.5 by 12\u00a0345 people")
    [1234.5, 1499.0, 4.5, 12345.0]
    """
    found: list[float] = []
    for match in _DIGITS.finditer(text):
        before = text[max(0, match.start() - 3) : match.start()]
        sign = -1.0 if _MINUS.search(before) else 1.0
        written = match[0]
        parts = [written] if _GROUPED.fullmatch(written) else _GROUPING.split(written)
        for part in parts:
            value = _value(_GROUPING.sub("", part))
            if value is not None:
                found.append(sign * value)
            sign = 1.0
        if len(found) >= MOST_NUMBERS:
            break
    return found[:MOST_NUMBERS]


def picked(text: str, pick: Pick = "first") -> float | None:
    """Return one number of a text, or None if it has none.

    >>> picked("was 99.95, now 79.95", "lowest"), picked("sold out")
    (79.95, None)
    """
    found = numbers(text)
    if not found:
        return None
    if pick == "first":
        return found[0]
    if pick == "last":
        return found[-1]
    if pick == "sum":
        return sum(found)
    return min(found) if pick == "lowest" else max(found)


def _value(digits: str) -> float | None:
    dots, commas = digits.count("."), digits.count(",")
    if dots + commas == 0:
        return float(digits)
    if dots and commas:
        decimal, grouping = (".", ",") if digits.rfind(".") > digits.rfind(",") else (",", ".")
        whole, _, rest = digits.rpartition(decimal)
        is_number = decimal not in whole and _THOUSANDS.fullmatch(whole)
        return float(whole.replace(grouping, "") + "." + rest) if is_number else None
    if _THOUSANDS.fullmatch(digits) and not digits.startswith("0"):
        return float(digits.replace(".", "").replace(",", ""))
    return float(digits.replace(",", ".")) if dots + commas == 1 else None
