"""Text for people: escape, shorten and format the text that quire prints.

Pages and their names come from strangers. All such text that goes into HTML passes through
``escape``. All such text that goes on a line for a person passes through ``printable``, so that nothing
in it can reorder, hide or break the line.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache

# HTML documents must not contain control characters. The rest are the characters of markup.
_MARKUP = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)), "�") | {
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord('"'): "&quot;",
    ord("'"): "&#39;",
    ord("\r"): "&#13;",
}

_ESCAPED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f&<>\"']")

# C0 and C1 controls and DEL, then invisible characters that reorder or break lines.
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))
_UNSEEN = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF)
_VISIBLE = {code: f"\\x{code:02x}" for code in _CONTROLS} | {
    code: f"\\u{code:04x}" for code in _UNSEEN
}

# The whole text must be an address: browsers would repair one with spaces in it.
_WEB = re.compile(r"https?://[^\s\x00-\x20\x7f<>\"'`\\]+", re.IGNORECASE)

_SIZES = ("B", "kB", "MB", "GB", "TB", "PB")
_THOUSAND = 1000

# A duration is given in the largest of these units that it reaches.
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def escape(text: str) -> str:
    """Escape text for HTML, both between tags and inside quoted attributes.

    >>> escape('<img src=x onerror="alert(1)">')
    '&lt;img src=x onerror=&quot;alert(1)&quot;&gt;'
    """
    # Most texts have nothing to escape, and a search is ten times as fast as a translation.
    return text.translate(_MARKUP) if _ESCAPED.search(text) else text


def printable(text: str, *, keep: str = "") -> str:
    r"""Make a text safe to print on a line: show control and bidi characters as ``\x..``.

    >>> print(printable("\x1b[31mred\x1b[0m \u202egnp.exe"))
    \x1b[31mred\x1b[0m \u202egnp.exe
    >>> printable("two\nlines", keep="\n") == "two\nlines"
    True

    Args:
        text: any text, even with half a surrogate pair.
        keep: control characters to leave in place, such as line ends for text of several lines.
    """
    if text.isascii() and text.isprintable():
        return text
    # File names contain half surrogate pairs if their bytes are not UTF-8.
    return text.encode("utf-8", "backslashreplace").decode("utf-8").translate(_escapes(keep))


@lru_cache(maxsize=16)
def _escapes(keep: str) -> dict[int, str]:
    """Return the text that is shown in place of each character, except for those to keep."""
    return {code: shown for code, shown in _VISIBLE.items() if chr(code) not in keep}


def shorten(text: str, most: int) -> str:
    """Shorten a name to ``most`` characters by cutting its middle; most of its end is kept.

    >>> shorten("crawls/2026/news/page-17.html", 20)
    'crawls…/page-17.html'
    >>> shorten("a.html", 20)
    'a.html'
    """
    if len(text) <= most:
        return text
    tail = most * 2 // 3
    return text[: most - tail - 1] + "…" + text[len(text) - tail :]


def quote_pair(old: str, new: str, most: int) -> tuple[str, str]:
    r"""Quote two texts so that the difference shows, with at most ``most`` characters of each.

    White space is shown as one space, and long texts are cut at the end. If both would then look
    the same, they are shown unchanged, from shortly before the first difference.

    >>> quote_pair("Fish \n and chips", "Fish and peas", 20)
    ("'Fish and chips'", "'Fish and peas'")
    >>> quote_pair("14.60", "14.60\n", 20)
    ("'14.60'", "'14.60\\n'")
    >>> quote_pair("a" * 99 + "b", "a" * 99 + "c", 6)
    ("'…aaab'", "'…aaac'")
    """
    short = [_cut(" ".join(text[: 8 * most].split()), most) for text in (old, new)]
    if short[0] != short[1]:
        return repr(short[0]), repr(short[1])
    pairs = enumerate(zip(old, new, strict=False))
    differs = next((i for i, (a, b) in pairs if a != b), min(len(old), len(new)))
    start = max(0, differs - most // 2)
    before = "…" if start else ""
    return repr(before + _cut(old[start:], most)), repr(before + _cut(new[start:], most))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def is_web_address(text: str) -> bool:
    """Tell whether a text is a safe target for a link: an http or https address and nothing else.

    >>> is_web_address("https://a.example/?q=1"), is_web_address("javascript:alert(1)")
    (True, False)
    >>> is_web_address("a.html"), is_web_address("http://a b")
    (False, False)
    """
    return _WEB.fullmatch(text) is not None


def format_duration(seconds: float) -> str:
    """Format a duration for people.

    >>> format_duration(0), format_duration(90), format_duration(5400), format_duration(864_000)
    ('0 s', '1.5 min', '1.5 h', '10 d')
    """
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{seconds:.1f}".removesuffix(".0") + " s"


def format_count(n: int, word: str, several: str = "") -> str:
    """Format a number with its noun; pass ``several`` if the plural isn't the noun with an s.

    >>> format_count(1, "page"), format_count(1200, "page"), format_count(2, "life", "lives")
    ('1 page', '1,200 pages', '2 lives')
    """
    return f"{n:,} {word if n == 1 else several or f'{word}s'}"


def format_bytes(count: int) -> str:
    """Format a size in bytes for people.

    >>> format_bytes(999), format_bytes(12_345), format_bytes(-3_000_000)
    ('999 B', '12.3 kB', '-3.0 MB')
    """
    size = float(count)
    for unit in _SIZES:
        if abs(size) < _THOUSAND or unit == _SIZES[-1]:
            return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= _THOUSAND
    return f"{count} B"


def format_time(time: datetime) -> str:
    """Format a time in full, with its fraction of a second, so that it identifies a version.

    >>> from datetime import UTC
    >>> format_time(datetime(2026, 5, 17, 11, 2, 33, 500_000, tzinfo=UTC))
    '2026-05-17T11:02:33.500000Z'
    """
    return time.isoformat().removesuffix("+00:00") + "Z"


def common_folder(names: Iterable[str]) -> str:
    """Find the folder that all names start with, including its slash.

    >>> common_folder(["site/news/a.html", "site/news/b.html", "site/shop/a.html"])
    'site/'
    >>> common_folder(["a.html"])
    ''
    """
    # Not `commonpath`: names can be addresses, which are not paths. The prefix is cut at a slash.
    prefix = os.path.commonprefix(list(names))  # noqa: RUF071 - see above
    return prefix[: prefix.rfind("/") + 1]
