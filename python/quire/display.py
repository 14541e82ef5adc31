"""Writing: other people's words in what quire writes.

Pages and their names are not ours. Whatever of them stands in HTML that quire makes goes through ``escape``; whatever
a person reads on a line goes through ``shown``, so that nothing in it reorders, hides or breaks the line.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable
from datetime import datetime

# Controls are no part of a document. The rest are the five characters of markup.
_MARKUP = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)), "�") | {
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord('"'): "&quot;",
    ord("'"): "&#39;",
    ord("\r"): "&#13;",
}

# C0 and C1 controls, DEL; then what reorders or breaks lines without being seen.
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))
_UNSEEN = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF)
_VISIBLE = {code: f"\\x{code:02x}" for code in _CONTROLS} | {
    code: f"\\u{code:04x}" for code in _UNSEEN
}

# Only what is nothing but an address; a browser would mend what has spaces in it.
_WEB = re.compile(r"https?://[^\s\x00-\x20\x7f<>\"'`\\]+", re.IGNORECASE)

_SIZES = ("B", "kB", "MB", "GB", "TB", "PB")
_THOUSAND = 1000

# A length of time is said in the largest of these that it fills.
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def escape(text: str) -> str:
    """Write text so that it is text, between tags and inside quotes alike.

    >>> escape('<img src=x onerror="alert(1)">')
    '&lt;img src=x onerror=&quot;alert(1)&quot;&gt;'
    """
    return text.translate(_MARKUP)


def shown(text: str, *, keep: str = "") -> str:
    r"""Make a text safe for a line that a person reads: controls and bidi controls as ``\x..``.

    >>> print(shown("\x1b[31mred\x1b[0m \u202egnp.exe"))
    \x1b[31mred\x1b[0m \u202egnp.exe
    >>> shown("two\nlines", keep="\n") == "two\nlines"
    True

    Args:
        text: any text, also one with half a surrogate pair.
        keep: the controls that may stay: line ends, where lines are what is shown.
    """
    escapes = {code: escape for code, escape in _VISIBLE.items() if chr(code) not in keep}
    # Names of files hold half pairs where their bytes are not UTF-8.
    return text.encode("utf-8", "backslashreplace").decode("utf-8").translate(escapes)


def shortened(text: str, most: int) -> str:
    """Leave out of the middle of a name what is more than ``most`` characters; more of its end stays.

    >>> shortened("crawls/2026/news/page-17.html", 20)
    'crawls…/page-17.html'
    >>> shortened("a.html", 20)
    'a.html'
    """
    if len(text) <= most:
        return text
    tail = most * 2 // 3
    return text[: most - tail - 1] + "…" + text[len(text) - tail :]


def told_apart(old: str, new: str, most: int) -> tuple[str, str]:
    r"""Quote two texts on a line, at most ``most`` characters of each, so that one sees where they differ.

    White space is shown as one space, and the beginning of a long text, unless both would look the same then.

    >>> told_apart("Fish \n and chips", "Fish and peas", 20)
    ("'Fish and chips'", "'Fish and peas'")
    >>> told_apart("14.60", "14.60\n", 20)
    ("'14.60'", "'14.60\\n'")
    >>> told_apart("a" * 99 + "b", "a" * 99 + "c", 6)
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
    """Tell whether a text is an address that a link may lead to: http or https, and nothing else.

    >>> [is_web_address(text) for text in ("https://a.example/?q=1", "javascript:alert(1)", "a.html", "http://a b")]
    [True, False, False, False]
    """
    return _WEB.fullmatch(text) is not None


def told_seconds(seconds: float) -> str:
    """Give a length of time for a person.

    >>> told_seconds(0), told_seconds(90), told_seconds(5400), told_seconds(864_000)
    ('0 s', '1.5 min', '1.5 h', '10 d')
    """
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{seconds:.1f}".removesuffix(".0") + " s"


def counted(n: int, word: str, several: str = "") -> str:
    """Give a number with its word; ``several`` is for words that do not end in s then.

    >>> counted(1, "page"), counted(1200, "page"), counted(2, "life", "lives")
    ('1 page', '1,200 pages', '2 lives')
    """
    return f"{n:,} {word if n == 1 else several or f'{word}s'}"


def told_bytes(count: int) -> str:
    """Give a size for a person.

    >>> told_bytes(999), told_bytes(12_345), told_bytes(-3_000_000)
    ('999 B', '12.3 kB', '-3.0 MB')
    """
    size = float(count)
    for unit in _SIZES:
        if abs(size) < _THOUSAND or unit == _SIZES[-1]:
            return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= _THOUSAND
    return f"{count} B"


def told_time(time: datetime) -> str:
    """Give a time in full, so that it names the version: fractions where there are any.

    >>> from datetime import UTC, datetime
    >>> told_time(datetime(2026, 5, 17, 11, 2, 33, 500_000, tzinfo=UTC))
    '2026-05-17T11:02:33.500000Z'
    """
    return time.isoformat().removesuffix("+00:00") + "Z"


def common_folder(names: Iterable[str]) -> str:
    """Find the folder that all names begin with, with its slash.

    >>> common_folder(["site/news/a.html", "site/news/b.html", "site/shop/a.html"])
    'site/'
    >>> common_folder(["a.html"])
    ''
    """
    prefix = os.path.commonprefix(list(names))  # noqa: RUF071 - cut at a slash below; addresses are no paths
    return prefix[: prefix.rfind("/") + 1]
