"""Wrong arguments in words: what was given, what is expected, and how to get from one to the other."""

from __future__ import annotations

import errno
import os
import re
from typing import TYPE_CHECKING

from quire.display import is_web_address

if TYPE_CHECKING:
    from quire.digest.page import Digest

# Maximum number of characters of a wrong value in an error.
_SHOWN = 80
# Text that is a page and not the name of one: a tag, a JSON object or array, or several lines.
_LIKE_A_PAGE = re.compile(r"\s*(?:<[!?/a-zA-Z]|[{\[]\s*[\"{\[\]}])|[^\n]*\n[^\n]*\S")


def shown(value: object) -> str:
    """Show a value in an error: what it is, and its first characters.

    >>> shown(7), shown(b"<p>Fish"), shown("x" * 500)[-5:]
    ('int 7', "bytes b'<p>Fish'", 'xxxx…')
    """
    if value is None:
        return "None"
    # The representation of a long value is longer still: cut the value first.
    short = value[: _SHOWN + 1] if isinstance(value, str | bytes | bytearray) else value
    if isinstance(value, memoryview):
        short = value.nbytes
    text = " ".join(repr(short).split())
    kind = type(value).__name__
    if text.startswith("<"):  # the representation says what it is, and where in memory
        return kind if " at 0x" in text or len(text) > _SHOWN else text
    return f"{kind} {text if len(text) <= _SHOWN else text[: _SHOWN - 1] + '…'}"


def check_page(name: str, page: object) -> Digest:
    """Check that an argument is a digest, and return it.

    >>> check_page("old", b"<p>Fish")
    Traceback (most recent call last):
    TypeError: old is bytes b'<p>Fish'; expected a Digest, as quire.encode makes of bytes

    Raises:
        TypeError: it is not.
    """
    # Here, since a page checks its own arguments with this module.
    from quire.digest.page import Digest  # noqa: PLC0415

    if isinstance(page, Digest):
        return page
    way = ""
    if isinstance(page, bytes | bytearray | memoryview):
        way = ", as quire.encode makes of bytes"
    elif isinstance(page, str) and _LIKE_A_PAGE.match(page):
        way = ", as quire.encode makes of bytes: use .encode() on the text first"
    elif isinstance(page, str | os.PathLike):
        way = ": quire.encode reads a page from a file, quire.load a stored digest"
    raise TypeError(f"{name} is {shown(page)}; expected a Digest{way}")


def check_bytes(name: str, data: object, way: str = "") -> None:
    """Check that an argument is bytes; ``way`` says how to get them, if it is not as usual.

    >>> check_bytes("chunk", "<p>Fish")
    Traceback (most recent call last):
    TypeError: chunk is str '<p>Fish'; expected bytes: use .encode() on the text

    Raises:
        TypeError: it is not.
    """
    if isinstance(data, bytes | bytearray | memoryview):
        return
    raise TypeError(f"{name} is {shown(data)}; expected bytes{way or _way_to_bytes(data)}")


def check_path(name: str, path: object) -> None:
    """Check that an argument is the path of a file.

    >>> check_path("path", b"<p>Fish")
    Traceback (most recent call last):
    TypeError: path is bytes b'<p>Fish'; expected a path: quire.from_bytes reads a digest from bytes

    Raises:
        TypeError: it is not.
    """
    if isinstance(path, str | os.PathLike):
        return
    way = ": quire.from_bytes reads a digest from bytes" if isinstance(path, bytes) else ""
    raise TypeError(f"{name} is {shown(path)}; expected a path{way}")


def check_source(source: object) -> None:
    """Check that an argument can be the source of a page: bytes, or the path of a file.

    Raises:
        TypeError: it is something else, or a text with the page itself.
        FileNotFoundError: it is a web address.
    """
    if isinstance(source, str):
        if _exists(source):
            return
        if _LIKE_A_PAGE.match(source):
            raise TypeError(
                f"source is {shown(source)}; a str is the path of a file, and this looks like a "
                "page: use .encode() on it"
            )
        if is_web_address(source):
            raise FileNotFoundError(
                errno.ENOENT,
                "A web address; quire reads files and bytes, so fetch it first",
                source,
            )
        return
    if not isinstance(source, bytes | bytearray | memoryview | os.PathLike):
        raise TypeError(
            f"source is {shown(source)}; expected bytes or a path{_way_to_bytes(source)}"
        )


def _exists(path: str) -> bool:
    try:
        return os.path.lexists(path)
    except ValueError:  # a NUL in it
        return False


def _way_to_bytes(data: object) -> str:
    if isinstance(data, str):
        return ": use .encode() on the text"
    if hasattr(data, "read"):
        return ": use .read() on the file, opened with mode 'rb'"
    if hasattr(data, "decode"):  # a digest, or something like one
        return ": use .decode() on the page"
    return ""
