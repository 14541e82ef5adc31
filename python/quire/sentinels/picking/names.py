"""Names that stay: which ids, classes and other attributes of an element make a good selector.

Authors name things ("price", "product-list"). Build tools name things too ("css-1q2w3e",
"Header_title__x8Kq2"), and those names are others after the next build. Style names say how
something looks ("mt-4", "is-active") and change with the design or with a click. A name counts as
chosen by a person if it is made of words, without letters and digits mixed up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

#: Longer names are made by programs.
LONGEST_NAME = 40
#: Names of one element that are tried.
MOST_NAMES = 8
#: Attributes that give the meaning of an element, the most telling first.
TELLING = ("itemprop", "data-testid", "data-test", "data-qa", "data-hook", "property", "name")

_NAME = re.compile(r"-?[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)
# What tools put in front of, or behind, the names they make.
_GENERATED = re.compile(
    r"(?:css|sc|jss?|jsx|svelte|emotion|styled|makeStyles|Mui\w+|ember|react|yui|ext-gen|gwt-uid|"
    r"radix|headlessui|wp-image|post|comment|node|view-dom-id|block-yui)[-_:]?[0-9A-Za-z]*[0-9][\w-]*"
    r"|[\w-]*__[\w+-]*(?:[0-9][A-Za-z]|[A-Za-z][0-9]|[a-z][A-Z])[A-Za-z0-9+-]*"
    r"|[\w-]*--[A-Za-z0-9]*[0-9][A-Za-z0-9]*",
    re.ASCII,
)
# How something looks or is at the moment.
_STATE = re.compile(
    r"(?:is|has|js|no)-.*|active|current|selected|open|opened|closed|collapsed|expanded|hover|focus|"
    r"disabled|enabled|visible|invisible|hidden|show|shown|first|last|odd|even|loaded|loading|lazy\w*|"
    r"new|old|sticky|fixed|changed|up|down|unread|read",
    re.IGNORECASE,
)
_LOOK = re.compile(
    r"-?(?:[mp][trblxy]?|w|h|min-[wh]|max-[wh]|gap|space-[xy]|top|left|right|bottom|inset|z|col|row|"
    r"order|basis|grow|shrink|rounded|border|shadow|opacity|leading|tracking|duration|delay|text|bg|"
    r"font|grid|span|offset|fs|fw|lh|sm|md|lg|xl|xs|xxl|d|g)(?:-[\w.]+)*"
    r"|flex|block|inline|table|relative|absolute|static|clearfix|container|wrapper|inner|outer|"
    r"pull-(?:left|right)|float-\w+|align-\w+|justify-\w+|items-\w+|self-\w+|object-\w+|overflow-\w+|"
    r"bold|italic|underline|uppercase|lowercase|capitalize|truncate|small|big|large|medium|center|"
    r"centered|antialiased|transition\w*|animate\w*|cursor-\w+|select-none|sr-only|nowrap",
    re.IGNORECASE,
)


class Cost(IntEnum):
    """How likely a part of a selector is to fail later; the smaller the better."""

    IDENT = 1
    TELLING = 2
    CLASS = 4
    TAG = 6
    LABEL = 8
    LOOK = 9
    PLACE = 12


@dataclass(frozen=True, slots=True)
class Simple:
    """A way to select an element by itself.

    Attributes:
        css: the selector.
        cost: how likely it is to fail later.
    """

    css: str
    cost: int


def simple_selectors(tag: str, attributes: Mapping[str, str]) -> Iterator[Simple]:
    """Yield ways to select an element, the most lasting first.

    >>> found = {"id": "p7f3e91", "class": "css-1q2w3e price mt-4", "itemprop": "price"}
    >>> [each.css for each in simple_selectors("span", found)]
    ['span[itemprop="price"]', 'span.price', 'span', 'span.mt-4']
    """
    ident = attributes.get("id", "")
    if is_lasting(ident):
        yield Simple(f"#{ident}", Cost.IDENT)
    for name in TELLING:
        value = attributes.get(name, "")
        if value and is_lasting(value):
            yield Simple(f'{tag}[{name}="{value}"]', Cost.TELLING)
    classes = [each for each in attributes.get("class", "").split() if _NAME.fullmatch(each)]
    classes = list(dict.fromkeys(classes))[:MOST_NAMES]
    lasting = [each for each in classes if is_lasting(each)]
    for each in lasting:
        yield Simple(f"{tag}.{each}", Cost.CLASS)
    if len(lasting) > 1:
        yield Simple(f"{tag}.{lasting[0]}.{lasting[1]}", Cost.CLASS + 1)
    yield Simple(tag, Cost.TAG)
    for each in classes:
        if _LOOK.fullmatch(each):
            yield Simple(f"{tag}.{each}", Cost.LOOK)


@lru_cache(maxsize=4096)
def is_lasting(name: str) -> bool:
    """Tell whether a name looks as if a person chose it for what the element is.

    >>> [is_lasting(name) for name in ("price", "product-list", "priceBox", "step-2", "h2o")]
    [True, True, True, True, False]
    >>> [is_lasting(name) for name in ("css-1q2w3e", "Header_title__x8Kq2", "mt-4", "is-active")]
    [False, False, False, False]
    >>> [is_lasting(name) for name in ("xkqzj", "a8f3c2d1", "post-48213", "")]
    [False, False, False, False]
    """
    if not name or len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        return False
    if _GENERATED.fullmatch(name) or _STATE.fullmatch(name) or _LOOK.fullmatch(name):
        return False
    words = _WORDS.findall(name)
    numbers = [each for each in words if each.isdigit()]
    letters = [each for each in words if not each.isdigit()]
    if any(len(each) > 2 for each in numbers) or not letters:  # noqa: PLR2004 - 404, 2026, 48213
        return False
    if re.search(r"[0-9][A-Za-z]", name) or len(numbers) > 1:
        return False
    # A word of five letters and more has a vowel, and names of tools are mostly short pieces.
    if any(len(each) > 4 and not _VOWEL.search(each) for each in letters):  # noqa: PLR2004
        return False
    return max(len(each) for each in letters) > 1 and not _is_scrambled(letters)


def _is_scrambled(words: list[str]) -> bool:
    """Tell whether a name is cut into short pieces by its capital letters, as ``xKqZab`` is."""
    if len(words) > 1 and max(map(len, words)) < 4 and not all(map(_VOWEL.search, words)):  # noqa: PLR2004
        return True
    is_short = sum(map(len, words)) / len(words) < 3  # noqa: PLR2004 - letters
    return len(words) > 1 and (is_short or len(words[-1]) == 1)
