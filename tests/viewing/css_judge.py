"""The judge of style sheets: no request leads out of the place.

It reads CSS one character after the other, in the words of CSS Syntax 3, and knows nothing of how
the style sheet was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Token(NamedTuple):
    """A token of CSS Syntax 3, as far as requests depend on it."""

    kind: str
    value: str


def css_faults(css: str) -> Iterator[str]:
    """Yield the requests in a style sheet that lead out of the place, and what HTML would read."""
    if re.search(r"</|<!|<[a-zA-Z]|&[a-zA-Z0-9#]", css):
        yield f"markup in {css!r}"
    functions: list[str] = []
    last = Token("start", "")
    for token in css_tokens(css):
        reads_string = last == ("at", "import") or (
            bool(functions) and functions[-1] in {"url", "src", "image", "image-set"}
        )
        is_address = token.kind == "url" or (token.kind == "string" and reads_string)
        if is_address and not token.value.startswith(("/", "#", "data:image/", "data:font/")):
            yield f"{token} in {css!r}"
        if is_address and token.value.startswith("//"):
            yield f"{token} in {css!r}"
        if token.kind == "function":
            name = token.value.removeprefix("-webkit-")
            if name in {"src", "image", "expression"} or (
                last == ("at", "import") and name != "url"
            ):
                yield f"{token} in {css!r}"
            # Inside a set of images, only known functions may give addresses.
            if functions and functions[-1] == "image-set" and name not in {"url", "type"}:
                yield f"{token} in {css!r}"
            functions.append(name)
        elif token.kind == "(":
            functions.append("")
        elif token.kind == ")" and functions:
            functions.pop()
        last = last if token.kind == "space" else token


def css_tokens(css: str) -> Iterator[Token]:  # noqa: C901, PLR0912 - one branch for each token
    """Split CSS into tokens, one character after the other, in the words of the standard."""
    css = css.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").replace("\0", "\ufffd")
    at = 0
    while at < len(css):
        here = css[at]
        if css.startswith("/*", at):
            end = css.find("*/", at + 2)
            at = len(css) if end < 0 else end + 2
            yield Token("space", "")
        elif here in "\"'":
            kind, value, at = _string(css, at)
            yield Token(kind, value)
        elif here in " \t\n":
            at += 1
            yield Token("space", "")
        elif css.startswith("<!--", at):
            at += 4
            yield Token("mark", "<!--")
        elif here == "#" and _is_name(css, at + 1):
            _, at = _name(css, at + 1)
            yield Token("hash", "")
        elif here == "@" and _starts_name(css, at + 1):
            value, at = _name(css, at + 1)
            yield Token("at", value.lower())
        elif _starts_number(css, at):
            at = _number(css, at)
            if _starts_name(css, at):
                _, at = _name(css, at)
            yield Token("number", "")
        elif _starts_name(css, at):
            value, at = _name(css, at)
            if css[at : at + 1] != "(":
                yield Token("name", value)
                continue
            at += 1
            if value.lower() == "url" and css[at:].lstrip(" \t\n")[:1] not in {'"', "'"}:
                kind, value, at = _bare_url(css, at)
                yield Token(kind, value)
            else:
                yield Token("function", value.lower())
        else:
            at += 1
            yield Token(here, here)


def _starts_name(css: str, at: int) -> bool:
    if css[at : at + 1] == "-":
        at += 1
        return css[at : at + 1] == "-" or _is_name(css, at, first=True)
    return _is_name(css, at, first=True)


def _is_name(css: str, at: int, *, first: bool = False) -> bool:
    here = css[at : at + 1]
    if here == "\\":
        return css[at + 1 : at + 2] != "\n"
    is_letter = bool(here) and (
        (here.isascii() and here.isalpha()) or here == "_" or here >= "\x80"
    )
    return is_letter or (not first and here != "" and here in "0123456789-")


def _starts_number(css: str, at: int) -> bool:
    return re.match(r"[+-]?(?:[0-9]|\.[0-9])", css[at : at + 3]) is not None


def _number(css: str, at: int) -> int:
    found = re.compile(r"[+-]?[0-9]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?").match(css, at)
    return found.end() if found else at


def _name(css: str, at: int) -> tuple[str, int]:
    name = ""
    while _is_name(css, at):
        if css[at] == "\\":
            character, at = _escape(css, at + 1)
            name += character
        else:
            name += css[at]
            at += 1
    return name, at


def _escape(css: str, at: int) -> tuple[str, int]:
    """Read the character that a backslash escapes."""
    if at >= len(css):
        return "\ufffd", at
    found = re.compile(r"([0-9a-fA-F]{1,6})[ \t\n]?").match(css, at)
    if not found:
        return css[at], at + 1
    code = int(found.group(1), 16)
    is_good = 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
    return (chr(code) if is_good else "\ufffd"), found.end()


def _string(css: str, at: int) -> tuple[str, str, int]:
    quote, value = css[at], ""
    at += 1
    while at < len(css):
        here = css[at]
        if here == quote:
            return "string", value, at + 1
        if here == "\n":
            return "bad string", value, at
        if here == "\\":
            if css[at + 1 : at + 2] == "\n":
                at += 2
            elif at + 1 >= len(css):
                at += 1
            else:
                character, at = _escape(css, at + 1)
                value += character
        else:
            value += here
            at += 1
    return "string", value, at


def _bare_url(css: str, at: int) -> tuple[str, str, int]:
    value = ""
    while css[at : at + 1] in {" ", "\t", "\n"}:
        at += 1
    while at < len(css):
        here = css[at]
        if here == ")":
            return "url", value, at + 1
        if here in " \t\n":
            rest = css[at:].lstrip(" \t\n")
            if not rest or rest[0] == ")":
                return "url", value, len(css) - len(rest) + 1
            break
        if here in "\"'(" or here < " " or here == "\x7f":
            break
        if here == "\\":
            if css[at + 1 : at + 2] == "\n":
                break
            character, at = _escape(css, at + 1)
            value += character
        else:
            value += here
            at += 1
    else:
        return "url", value, at
    while at < len(css) and css[at] != ")":
        at += 2 if css[at] == "\\" and css[at + 1 : at + 2] != "\n" else 1
    return "bad url", "", at + 1
