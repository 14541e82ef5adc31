"""One block of words as Markdown: escaped text, links, images, code and emphasis.

A ``Line`` collects words with their style, collapses white space as ``Digest.text`` does, and writes
them when the block ends. Whatever the words are, a CommonMark parser reads them as words:

* Characters that could begin markup are escaped. At the beginning of a line these are also the
  marks of headings, lists, quotes, rules and table delimiters.
* Emphasis is written only if both of its marks would be read as such, which depends on the
  characters beside them (CommonMark 0.31, section 6.2), and never directly beside other emphasis.
* The marks of code are longer than any run of backticks in it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

_SPACES = re.compile(r"[ \t\n\r\f]+")
_TICKS = re.compile(r"`+")
# An underscore marks emphasis only at the edge of a word.
_MARKS = re.compile(
    r"[\\`*\[\]<~]|(?<![^\W_])_|_(?![^\W_])|&(?=#|[A-Za-z][A-Za-z0-9]*;)|!(?=\Z|\[)"
)
# What begins a block, by CommonMark and the tables of GitHub: the character to escape is group 1.
_BLOCK = re.compile(
    r"(#)#{0,5}(?:\s|\Z)|(>)|([-+])(?:\s|\Z)|\d{1,9}([.)])(?:\s|\Z)|([-=])[-=]*\s*\Z|([:|-])[:|\s-]*\Z"
)
_CLOSING = re.compile(r"(?:(?<=\s)|\A)#+\Z")
# Characters of an address that would end it, or begin other markup.
_UNSAFE = re.compile(r"[\x00-\x20\x7f<>\\`|\"]")
_IN_ADDRESS = re.compile(r"[()\[\]*_~]|&(?=#|[A-Za-z][A-Za-z0-9]*;)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_SCHEMES = frozenset({"ftp", "http", "https", "mailto", "tel"})


@dataclass(frozen=True, slots=True)
class Style:
    """How words are written.

    Attributes:
        strong: whether they are important.
        em: whether they are stressed.
        code: the element that makes them code; 0 if none does.
        link: the element that makes them a link; 0 if none does.
        address: where the link goes.
    """

    strong: bool = False
    em: bool = False
    code: int = 0
    link: int = 0
    address: str = ""


PLAIN = Style()
Place = Literal["paragraph", "heading", "cell"]


@dataclass(frozen=True, slots=True)
class _Run:
    """Words of one style, an image, or a line break."""

    text: str
    style: Style
    image: str | None = None  # its address
    is_break: bool = False


class Line:
    """The words of a block so far."""

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self._space = False

    def add(self, text: str, style: Style) -> None:
        """Add words; their white space collapses."""
        words = _SPACES.sub(" ", text)
        self._space |= words.startswith(" ")
        core = words.strip(" ")
        if core:
            # Of other white space, such as no-break spaces alone, nothing is made.
            self._put(_Run(core, style if core.strip() else PLAIN))
            self._space = words.endswith(" ")

    def image(self, alt: str, address: str, style: Style) -> None:
        """Add an image with an alternative text; its address may be empty."""
        core = _SPACES.sub(" ", alt).strip(" ")
        if core.strip():
            self._put(_Run(core, replace(style, code=0), image=address))

    def gap(self) -> None:
        """Separate the words before and after."""
        self._space = True

    def line_break(self) -> bool:
        """End the line. Returns whether the line was empty: then a paragraph ends here."""
        self._space = False
        if not self._runs or self._runs[-1].is_break:
            return True
        self._runs.append(_Run("", PLAIN, is_break=True))
        return False

    def _put(self, run: _Run) -> None:
        last = self._runs[-1] if self._runs else None
        if self._space and last is not None and not last.is_break:
            both = Style(
                last.style.strong and run.style.strong,
                last.style.em and run.style.em,
                last.style.code if last.style.code == run.style.code else 0,
                *(
                    (run.style.link, run.style.address)
                    if last.style.link == run.style.link
                    else (0, "")
                ),
            )
            self._runs.append(_Run(" ", both))
        self._space = False
        self._runs.append(run)

    def written(self, place: Place, used: set[int]) -> list[str]:
        """Return the lines, and forget the words.

        Args:
            place: where they go: a heading and a cell have one line.
            used: links that were written before, as their elements hold several blocks; those
                written now are added.
        """
        runs, self._runs, self._space = self._runs, [], False
        if not runs:
            return []
        lines = groupby(runs, key=lambda run: run.is_break)
        written = [
            "".join(_line(list(some), place, used)) for is_break, some in lines if not is_break
        ]
        found = [line for line in written if line.strip()]
        if place == "paragraph":
            return [f"{line}\\" for line in found[:-1]] + found[-1:]
        return [" ".join(found)] if found else []


def _line(runs: list[_Run], place: Place, used: set[int]) -> Iterator[str]:
    """Write the runs of one line, links around their words."""
    linked: list[_Run] = []
    for link, together in groupby(runs, key=lambda run: run.style.link):
        listed = list(together)
        if link and (link in used or not any(run.text.strip() for run in listed)):
            listed = [replace(run, style=replace(run.style, link=0)) for run in listed]
        elif link:
            used.add(link)
        linked += listed
    groups = [(link, list(some)) for link, some in groupby(linked, key=lambda run: run.style.link)]
    for number, (link, some) in enumerate(groups):
        edges = (_edge(groups, number - 1, -1), _edge(groups, number + 1, 0))
        if link:
            words = "".join(_words(some, place, ("[", "]"), is_first=False))
            yield f"[{words}]({address(some[0].style.address)})"
        else:
            yield from _words(some, place, edges, is_first=number == 0)


def _edge(groups: list[tuple[int, list[_Run]]], number: int, place: int) -> str:
    """The character beside a group of runs; a space at the edges of the line."""
    if not 0 <= number < len(groups):
        return " "
    link, runs = groups[number]
    if link:
        return "]" if place else "["
    return runs[place].text[place]


def _words(
    runs: list[_Run], place: Place, edges: tuple[str, str], *, is_first: bool
) -> Iterator[str]:
    """Write runs without regard to links: code, images and text, with emphasis around them."""
    groups: list[tuple[int, list[_Run]]] = []
    end = 0
    for marks, together in groupby(runs, key=lambda run: 2 * run.style.strong + run.style.em):
        listed = list(together)
        end += len(listed)
        before = _last(groups[-1][1][-1]) if groups else edges[0]
        after = _first(runs[end]) if end < len(runs) else edges[1]
        is_beside = bool(groups) and groups[-1][0] > 0
        is_marked = not is_beside and _is_emphasis(listed[0], listed[-1], before, after)
        marked = marks if is_marked else 0
        if groups and not marked and not is_beside:
            groups[-1][1].extend(listed)
        else:
            groups.append((marked, listed))
    for number, (marks, some) in enumerate(groups):
        stars = "*" * marks
        written = "".join(_plain(some, place, is_first=is_first and number == 0 and not marks))
        yield f"{stars}{written}{stars}"


def _first(run: _Run) -> str:
    return "!" if run.image is not None else "`" if run.style.code else run.text[0]


def _last(run: _Run) -> str:
    return ")" if run.image is not None else "`" if run.style.code else run.text[-1]


def _is_emphasis(begin: _Run, end: _Run, before: str, after: str) -> bool:
    """Tell whether stars around these runs, beside these characters, begin and end emphasis."""
    first, last = _first(begin), _last(end)
    return (
        not first.isspace()
        and not last.isspace()
        and (not _may_be_mark(first) or _separates(before))
        and (not _may_be_mark(last) or _separates(after))
    )


def _separates(letter: str) -> bool:
    """Whether all parsers read a character as white space or punctuation."""
    category = unicodedata.category(letter)
    return category == "Zs" or category[0] == "P" or letter in "\t\n$+<=>^`|~"


def _may_be_mark(letter: str) -> bool:
    # Parsers differ about symbols that are not ASCII.
    return unicodedata.category(letter)[0] in "PS"


def _plain(runs: list[_Run], place: Place, *, is_first: bool) -> Iterator[str]:
    """Write runs without emphasis: code, images and text."""
    groups = groupby(runs, key=lambda run: (run.image is not None and id(run), run.style.code > 0))
    for (is_image, is_code), some in groups:
        listed = list(some)
        text = "".join(run.text for run in listed)
        if is_image:
            yield f"![{escaped(text, place)}]({address(listed[0].image or '')})"
        elif is_code and text.strip():
            yield code_span(text, place)
        else:
            yield escaped(text, place, is_first=is_first)
        is_first = False


def escaped(text: str, place: Place, *, is_first: bool = False) -> str:
    r"""Escape what would be markup.

    >>> print(escaped("# 2 * 3_4 is <6> & more &amp; more", "paragraph", is_first=True))
    \# 2 \* 3_4 is \<6> & more \&amp; more
    """
    found = _MARKS.sub(r"\\\g<0>", text)
    if place == "cell":
        return found.replace("|", r"\|")
    if place == "heading":
        return _CLOSING.sub(r"\\\g<0>", found)
    block = _BLOCK.match(found) if is_first else None
    if block is not None and block.lastindex is not None:
        at = block.start(block.lastindex)
        found = f"{found[:at]}\\{found[at:]}"
    return found


def code_span(text: str, place: Place) -> str:
    """Write code within a line.

    >>> code_span("a`b", "paragraph"), code_span("`", "paragraph")
    ('``a`b``', '`` ` ``')
    """
    ticks = fence(text, 1)
    space = " " if text[0] in " `" or text[-1] in " `" else ""
    code = text.replace("|", r"\|") if place == "cell" else text
    return f"{ticks}{space}{code}{space}{ticks}"


def fence(text: str, least: int) -> str:
    """Return backticks that do not occur in a text."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    return "`" * max(least, longest + 1)


def is_followed(address: str) -> bool:
    """Tell whether an address is worth writing: it leads elsewhere, and runs no script.

    >>> [is_followed(one) for one in ("/a", "https://b/", "javascript:c()", "#d", "")]
    [True, True, False, False, False]
    """
    if not address or address.startswith("#"):
        return False
    scheme = _SCHEME.match(address)
    return scheme is None or scheme[0][:-1].lower() in _SCHEMES


def address(given: str) -> str:
    r"""Write an address for a link.

    >>> print(address("/a b(c)?d=<e>"))
    /a%20b\(c\)?d=%3Ce%3E
    """
    safe = _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", given)
    return _IN_ADDRESS.sub(r"\\\g<0>", safe)
