"""Plain words for conditions, intervals and the results of fetches; and their forms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from quire.errors import FetchCause
from quire.sentinels.conditions.comparison import PageState


class Counts(StrEnum):
    """What counts as a change worth telling."""

    ANY = "any"
    ITEM = "item"
    RECORD = "record"
    PRICE = "price"
    BELOW = "below"
    STOCK = "stock"
    LINK = "link"
    WORDS = "words"
    GONE = "gone"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Wording:
    """A choice in plain words.

    Attributes:
        title: the choice.
        help: when it tells.
    """

    title: str
    help: str


WORDINGS: Mapping[Counts, Wording] = {
    Counts.ANY: Wording("Any visible change", "Text, links or images differ from the last check."),
    Counts.ITEM: Wording(
        "A new item in a list", "A line appears that was never there before; order does not count."
    ),
    Counts.RECORD: Wording(
        "A new record in a list",
        "An offer, a job or a comment appears that was never in this list. Changed prices, another "
        "order and records that go or come back do not count.",
    ),
    Counts.PRICE: Wording("The price changes", "The number in this part is another one."),
    Counts.BELOW: Wording("The price falls below", "The number in this part falls below this one:"),
    Counts.STOCK: Wording(
        "It is back in stock", "The part no longer says sold out, out of stock or unavailable."
    ),
    Counts.LINK: Wording(
        "A link or document changes", "A link leads elsewhere, or one is added or removed."
    ),
    Counts.WORDS: Wording("Certain words appear", "These words appear in this part:"),
    Counts.GONE: Wording("The page is gone", "The page disappears, or comes back."),
}
KEEP = Wording("As it is now", "Leave the conditions of this watch as they are.")

#: How often, as in a form, and in words.
OFTEN: Mapping[str, str] = {
    "5 min": "every 5 minutes",
    "15 min": "every 15 minutes",
    "1 h": "every hour",
    "6 h": "every 6 hours",
    "1 d": "once a day",
    "7 d": "once a week",
}

#: Results of a fetch that are not the page itself.
STATES: Mapping[PageState, str] = {
    "gone": "The site says that this page does not exist (status {status}).",
    "blocked": (
        "The site blocked the fetch (status {status}), or asks for a proof that a person is there. "
        "Below is the answer that quire gets. Loading the page in a browser may help; see “More”."
    ),
    "error": "The site answered with an error (status {status}). Below is the page it sent.",
    "empty": (
        "The page has no text. It is probably made by scripts: load it in a browser, see “More”."
    ),
    "half": "Only the first half of the page arrived.",
}

#: What to do about a fetch that failed.
_ADVICE: Mapping[FetchCause, str] = {
    FetchCause.BAD_URL: "Check the address: it starts with http:// or https://.",
    FetchCause.REFUSED_ADDRESS: (
        "The address is on a private network. The operator can allow it with QUIRE_ALLOW_NETWORKS."
    ),
    FetchCause.DNS: "The host does not exist. Check the spelling of the address.",
    FetchCause.CONNECT: "The host does not answer. It may be down, or refuse connections.",
    FetchCause.TLS: "The certificate of the site is not valid.",
    FetchCause.TIMEOUT: "The site took too long to answer. Try again later.",
    FetchCause.TOO_LARGE: "The page is longer than quire reads.",
    FetchCause.ROBOTS: (
        "The site asks programs not to fetch this page (robots.txt). If you may fetch it, say so "
        "under “More”."
    ),
    FetchCause.RETRY_LATER: "The site asks clients to wait. Try again later.",
    FetchCause.BROWSER: "The browser could not load the page, or is not installed.",
    FetchCause.BAD_REDIRECT: "The page leads to an address that quire does not fetch.",
    FetchCause.TOO_MANY_REDIRECTS: "The redirects of the page do not end.",
}

_PRICE = re.compile(
    r"(?:[$€£¥₹₽]|\b(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN)\b)\s*\d|\d\s*(?:[$€£¥₹₽]|(?:EUR|USD|GBP|CHF|kr|zł)\b)"
    r"|^\W*\d{1,3}(?:[.,' ]\d{3})*[.,]\d{2}\W*$"
)
_STOCK = re.compile(r"sold out|out of stock|unavailable|back ?order", re.IGNORECASE)
_LONGEST_PRICE = 60


def advice(cause: str) -> str:
    """Return what to do about a fetch that failed.

    >>> advice("dns")
    'The host does not exist. Check the spelling of the address.'
    """
    known = FetchCause(cause) if cause in set(FetchCause) else None
    return _ADVICE.get(known, "") if known is not None else ""


def likely(text: str, *, is_list: bool, has_links: bool, has_records: bool = False) -> Counts:
    """Guess what someone wants to know about a part.

    >>> likely("8.40", is_list=False, has_links=False), likely("Open", is_list=False, has_links=False)
    (<Counts.PRICE: 'price'>, <Counts.ANY: 'any'>)
    """
    if has_records:
        return Counts.RECORD
    if is_list:
        return Counts.ITEM
    if len(text) <= _LONGEST_PRICE and _PRICE.search(text):
        return Counts.PRICE
    if _STOCK.search(text):
        return Counts.STOCK
    return Counts.LINK if has_links and len(text) <= _LONGEST_PRICE else Counts.ANY


def condition(counts: Counts, *, below: float = 0.0, words: str = "") -> dict[str, Any]:
    """Return the fields of a form that a choice stands for.

    >>> condition(Counts.BELOW, below=8)
    {'watch': ['text'], 'when': {'number': {'falls_below': 8}}}
    """
    match counts:
        case Counts.BELOW:
            return {"watch": ["text"], "when": {"number": {"falls_below": below}}}
        case Counts.WORDS:
            return {"watch": ["text"], "when": {"text": {"in": "added", "has": words}}}
        case Counts.KEEP:
            return {}
        case _:
            return {"preset": _PRESETS[counts]}


_PRESETS = {
    Counts.ANY: "any change",
    Counts.ITEM: "new item",
    Counts.RECORD: "new record",
    Counts.PRICE: "price",
    Counts.STOCK: "back in stock",
    Counts.LINK: "link",
    Counts.GONE: "page gone",
}
