"""Escaping: one function for each place that text is sent to.

Names, addresses and texts of pages come from strangers. Whatever is in them must stay text: not
markup, a header field, a mention of everybody in a chat, or a line of our own. Text for HTML goes
through ``quire.display.escape``.
"""

from __future__ import annotations

import re

from quire.display import printable

#: Characters that XML 1.0 does not allow, and halves of surrogate pairs.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPACE = re.compile(r"\s+")
_XML = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord('"'): "&quot;", 13: "&#13;"}

# Chat services read some of these as markup, each its own set, and most of them have no reliable
# escape. Characters that look alike are the same text to a person and no markup to any of them. A
# mention ends at a space without width.
_CHAT = str.maketrans(
    {
        "*": "∗",
        "_": "ˍ",  # noqa: RUF100
        "~": "∼",
        "`": "ˋ",
        "|": "∣",
        "<": "‹",
        ">": "›",
        "[": "［",
        "]": "］",
        "\\": "⧵",
        "@": "@\u200b",
        "#": "#\u200b",
    }
)
_CHAT_ADDRESS = re.compile(r"[ *~`|<>\[\]()\\@'\"!{}]")


def one_line(text: str, most: int = 300) -> str:
    r"""Make text one printable line: white space becomes a space, control characters are shown.

    >>> one_line("Fish\r\nBcc: all@example.org\x00")
    'Fish Bcc: all@example.org\\x00'
    """
    # Cut first: text can be long, and most of it is not shown.
    line = printable(_SPACE.sub(" ", text[: 4 * most]).strip())
    return line if len(line) <= most else line[: most - 1] + "…"


def plain(text: str) -> str:
    """Make text of several lines printable."""
    return printable(text.replace("\r\n", "\n").replace("\r", "\n"), keep="\n")


def chat(text: str) -> str:
    """Make text safe for chat services, whatever markup they read.

    >>> print(chat("*now* <!channel> [free](http://evil.example/)"))
    ∗now∗ ‹!channel› ［free］(http://evil.example/)
    """
    return plain(text).translate(_CHAT)


def chat_address(address: str) -> str:
    """Make a web address safe for chat services: characters of markup are percent-encoded.

    >>> chat_address("https://example.org/a|b?c=@here")
    'https://example.org/a%7Cb?c=%40here'
    """
    return _CHAT_ADDRESS.sub(lambda found: f"%{ord(found[0]):02X}", one_line(address, 2_000))


def header(text: str) -> str:
    """Make text safe for a header field of a mail: one line, and not an encoded word.

    >>> header("Fish =?utf-8?q?and?= chips") == "Fish =\u200b?utf-8?q?and?= chips"
    True
    """
    return one_line(text, 1_000).replace("=?", "=\u200b?")


def xml(text: str) -> str:
    r"""Escape text for XML, between tags and in quoted attributes.

    >>> xml("a < b\x00 & c")
    'a &lt; b\ufffd &amp; c'
    """
    return _NOT_XML.sub("\ufffd", text).translate(_XML)
