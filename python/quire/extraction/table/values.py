"""Values: the types of columns, judged by how their texts are written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum


class ValueType(Enum):
    """What the values of a column are."""

    TEXT = "text"
    NUMBER = "number"
    PRICE = "price"
    DATE = "date"
    LINK = "link"
    IMAGE = "image"


# A column has a type if so many of its values do.
_SHARE = 0.8
# Longer texts are never numbers or dates; patterns only see short ones.
_MOST_CHARACTERS = 40

_DIGIT = re.compile(r"\d")
_DIGITS = r"\d{1,3}(?:[,.'\u00a0\u202f ]\d{3})*(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
_NUMBER = re.compile(rf"[#+\-−–]?\s?(?:{_DIGITS})\s?%?\.?")
_CURRENCY = r"(?:US\$|A\$|C\$|[$€£¥₹₽₩₺]|USD|EUR|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|kr\.?|zł|Kč|Euro)"
_PRICE = re.compile(
    rf"(?:ab |from |ca\. )?(?:{_CURRENCY}\s?[-−]?(?:{_DIGITS})|(?:{_DIGITS})(?:,-|,–)?\s?{_CURRENCY})"
    r"(?:\s?(?:/|per|pro|a|an)\s?\w+)?",
    re.IGNORECASE,
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|januar|februar|märz|mai|juni|"
    r"juli|oktober|dezember)\.?"
)
_TIME = r"(?:[ ,T]+(?:at )?\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[ap]m)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_DATE = re.compile(
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?"
    r"(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|"
    rf"\d{{1,2}}(?:st|nd|rd|th|\.)? {_MONTH}(?:,? \d{{2,4}})?|"
    rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{2,4}})?|{_MONTH} \d{{4}}){_TIME}",
    re.IGNORECASE,
)
_AGO = re.compile(
    r"(?:(?:an?|\d{1,3}) (?:second|minute|hour|day|week|month|year)s? ago|yesterday|today)",
    re.IGNORECASE,
)


def value_type(text: str) -> ValueType:
    """What one text is.

    >>> [value_type(text).value for text in ("1,200", "€ 9.50", "5 May 2024", "Fish")]
    ['number', 'price', 'date', 'text']
    """
    shown = text.strip()
    if not shown or len(shown) > _MOST_CHARACTERS:
        return ValueType.TEXT
    if not _DIGIT.search(shown):  # only `yesterday` and `an hour ago` have none
        return ValueType.DATE if _AGO.fullmatch(shown) else ValueType.TEXT
    if _NUMBER.fullmatch(shown):
        return ValueType.NUMBER
    if _PRICE.fullmatch(shown):
        return ValueType.PRICE
    if _DATE.fullmatch(shown) or _AGO.fullmatch(shown):
        return ValueType.DATE
    return ValueType.TEXT


def column_type(texts: Iterable[str | None]) -> ValueType:
    """What the texts of a column are; blanks do not count.

    >>> column_type(["3", "", "14", None]).value
    'number'
    """
    found = [value_type(text) for text in texts if text]
    for each in (ValueType.NUMBER, ValueType.PRICE, ValueType.DATE):
        if found and found.count(each) >= _SHARE * len(found):
            return each
    return ValueType.TEXT


def pattern(text: str) -> str:
    """How a text is written: digits become 9, and words longer than a unit become a.

    >>> pattern("3 rooms"), pattern("56 m²"), pattern("$1,200.50")
    ('9 rooms', '9 m²', '$9')
    """
    short = re.sub(r"\d+(?:[.,:]\d+)*", "9", text.strip()[:_MOST_CHARACTERS])
    if "9" in short and len(short) <= 16:  # noqa: PLR2004 - a number and a unit
        return short.lower()
    return value_type(text).value
