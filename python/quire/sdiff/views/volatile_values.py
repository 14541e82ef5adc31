"""Values that change whenever a page is loaded or deployed, told by their names and their shape.

A rule on names and values, not on pages: it knows nothing of a site and reads only the one change.

* ``nonce``: an attribute of that name, or ``content`` of a ``meta`` with such a name.
* ``token``: a name that has the word ``token``, ``csrf``, ``xsrf`` or ``sessionid`` in it
  (``data-csrf-token``, ``authenticity_token``), whose value is one word; also ``value`` of an
  ``input`` and ``content`` of a ``meta`` with such a name.
* ``time``: a name that has the word ``timestamp`` in it, with digits for its value.
* ``query``: an address of which only the query differs: for files that a page loads (scripts,
  styles, images) by parameters such as ``v``, ``ver``, ``t`` or ``_``, or a query without a name;
  for everything else only by parameters that are tokens or times.
* In scripts and comments: all words that differ are long random values or times.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias
from urllib.parse import parse_qsl, urlsplit

VolatileKind: TypeAlias = Literal["nonce", "token", "time", "query"]

_WORDS = re.compile(r"[a-z]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TOKEN_WORDS = frozenset({"token", "csrf", "xsrf", "csrftoken", "sessionid"})
# One word without spaces: `data-token-use="once a day"` is not a token.
_TOKEN = re.compile(r"\S{6,}")
_TIME_WORDS = frozenset({"timestamp", "ts"})
# Parameters by which sites make browsers load a file again.
_CACHE_PARAMETERS = frozenset(
    {
        "_",
        "v",
        "ver",
        "version",
        "rev",
        "t",
        "ts",
        "cb",
        "cache",
        "cachebuster",
        "hash",
        "h",
        "build",
    }
)
_LOADED = frozenset(
    {"script", "link", "img", "source", "video", "audio", "track", "input", "image"}
)
_ADDRESSES = frozenset({"href", "src", "srcset", "action", "data", "poster", "formaction"})
# 10 to 16 digits: seconds to microseconds since 1970. A date with a time of day.
_TIME = re.compile(r"\d{10,16}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*|\d\d:\d\d:\d\d(?:\.\d+)?")
# Long words; if letters and digits are mixed, no word of a language, and no number a reader knows.
_LONG = re.compile(r"[\w+/=-]{16,}")
_MOST_TOKEN = 1_000
_FEWEST_DIGITS = 4
_MOST_VALUE = 4_000
_MOST_TEXT = 100_000


def volatile_attribute(
    tag: str, attributes: Mapping[str, str], name: str, old: str | None, new: str | None
) -> VolatileKind | None:
    """Tell whether a changed attribute is a value that changes at every load, and which.

    >>> volatile_attribute("script", {}, "nonce", "a1", "b2")
    'nonce'
    >>> volatile_attribute("meta", {"name": "csrf-token"}, "content", "a1b2c3", "d4e5f6")
    'token'
    >>> volatile_attribute("link", {"rel": "stylesheet"}, "href", "/a.css?v=1", "/a.css?v=2")
    'query'
    >>> volatile_attribute("a", {}, "href", "/chapter?v=1", "/chapter?v=2") is None
    True

    Args:
        tag: the name of the element.
        attributes: all attributes of the element on the new page.
        name: the attribute that changed.
        old: its old value; None if it was added, which never is volatile.
        new: its new value; None if it was removed.
    """
    if old is None or new is None or max(len(old), len(new)) > _MOST_VALUE:
        return None
    if name == "nonce":
        return "nonce"
    named = name
    if (tag, name) in {("meta", "content"), ("input", "value")}:
        named = attributes.get("name") or attributes.get("property") or ""
    kind = _by_name(named, old, new)
    if kind is not None or name not in _ADDRESSES:
        return kind
    return _by_query(old, new, is_loaded=tag in _LOADED)


def volatile_text(old: str, new: str) -> VolatileKind | None:
    """Tell whether all that differs in a script or a comment are random values or times.

    >>> volatile_text("made 2026-05-01 09:30:00", "made 2026-05-01 09:45:10")
    'time'
    >>> volatile_text("let price = 9", "let price = 10") is None
    True
    """
    if old == new or max(len(old), len(new)) > _MOST_TEXT:
        return None  # no text at all, as bytes have none; or too long to search
    # Without all that is random or a time, nothing may differ.
    before, after = _TIME.sub("\0", old), _TIME.sub("\0", new)
    if before == after:
        return "time"
    before, after = _LONG.sub(_hidden, before), _LONG.sub(_hidden, after)
    return "token" if before == after else None


def _hidden(found: re.Match[str]) -> str:
    """Hide a word of letters and digits, and leave words of a language and plain numbers."""
    word = found[0]
    has_digits = sum(map(str.isdigit, word[:_MOST_TOKEN])) >= _FEWEST_DIGITS
    is_token = has_digits and any(map(str.isalpha, word)) and len(word) <= _MOST_TOKEN
    return "\0" if is_token else word


def _by_name(name: str, old: str, new: str) -> VolatileKind | None:
    words = set(_WORDS.findall(_CAMEL.sub("-", name).lower()))
    if "nonce" in words:
        return "nonce"
    if words & _TOKEN_WORDS and _TOKEN.fullmatch(old) and _TOKEN.fullmatch(new):
        return "token"
    if words & _TIME_WORDS and old[:1].isdigit() and new[:1].isdigit():
        return "time"
    return None


def _by_query(old: str, new: str, *, is_loaded: bool) -> VolatileKind | None:
    try:
        before, after = urlsplit(old), urlsplit(new)
    except ValueError:
        return None
    if before._replace(query="") != after._replace(query="") or not before.query or not after.query:
        return None
    if "=" not in before.query and "=" not in after.query:
        return "query" if is_loaded else None  # style.css?1716
    pairs = [dict(parse_qsl(each.query, keep_blank_values=True)) for each in (before, after)]
    names = {
        name
        for name in pairs[0].keys() | pairs[1].keys()
        if pairs[0].get(name) != pairs[1].get(name)
    }
    for name in names:
        values = pairs[0].get(name), pairs[1].get(name)
        if None in values:
            return None
        is_volatile = _by_name(name, values[0] or "", values[1] or "") is not None
        if not is_volatile and not (is_loaded and name.lower() in _CACHE_PARAMETERS):
            return None
    return "query" if names else None
