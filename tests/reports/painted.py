"""The judge of redlines: is the paint true?

It reads a finished redline as a browser would and knows nothing of how it was drawn. Every run of
text is plain, inserted, deleted or moved, by the marks around it. A redline is true if

* the words of the new page are all there and in order, with no others but deleted ones;
* plain and deleted words, read in order, are the old page without the texts that are painted as
  moved: a deletion stands where the words were;
* between two plain words, nothing is both deleted and inserted: it was kept;
* a text that is painted as moved was not between the same two plain words before.

The third rule needs a limit, since any two texts have words in common, and painting a rewritten
paragraph without its "the" and "of the" is not what a reader wants. It is broken by ``LONG_RUN``
words in a row, whatever the punctuation between them, by a line of ``LONG_LINE`` words, and by any
text, however short, that is inserted beside itself on its line, or if all that was deleted is
inserted again. Labels, such as a date or "more", may be in a deleted teaser and in an inserted one. These limits are documented in ``quire.reports.changes.gaps``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import quire
from quire.reports.changes import safe_markup as safe

Paint = Literal["plain", "inserted", "deleted", "moved", "moved away"]

Kind = Literal["new text", "old text", "balance", "line", "same", "run", "not moved"]

#: So many equal words in a row are the same text.
LONG_RUN = 8
#: Shorter lines are labels, which are found all over a page.
LONG_LINE = 4
#: Elements that do not end a line of text.
INLINE = frozenset(
    [
        *(
            "a",
            "abbr",
            "acronym",
            "b",
            "bdi",
            "bdo",
            "big",
            "button",
            "cite",
            "code",
            "data",
            "del",
        ),
        *(
            "dfn",
            "em",
            "font",
            "i",
            "img",
            "input",
            "ins",
            "kbd",
            "label",
            "mark",
            "meter",
            "output",
        ),
        *("progress", "q", "rp", "rt", "ruby", "s", "samp", "select", "small", "span", "strike"),
        *("strong", "sub", "sup", "textarea", "time", "tt", "u", "var", "wbr"),
    ]
)
NO_TEXT = frozenset({"style", "script", "title", "template"})


@dataclass(frozen=True, slots=True)
class Run:
    """Text of one leaf, how it is painted, the line it is on, and the mark of a moved text."""

    text: str
    paint: Paint
    line: int
    mark: int = -1


@dataclass(frozen=True, slots=True)
class Fault:
    """Something a redline says that is not true."""

    kind: Kind
    text: str


def faults(old: quire.Digest, new: quire.Digest, drawn: str) -> list[Fault]:
    """Find false paint."""
    runs = list(painted(drawn))
    found = [
        *_check_order("new text", runs, {"plain", "inserted", "moved"}, visible(new), whole=True),
        *_check_order("old text", runs, {"plain", "deleted"}, visible(old), whole=False),
    ]
    return [*found, *_balance(runs, visible(old)), *_kept_but_painted(runs, visible(old))]


def painted(drawn: str) -> Iterator[Run]:
    """Read the runs of text of a redline, without its bar."""
    page = quire.encode(drawn.encode("utf-8", "replace"), kind="html")
    names = [page.tags[tag] for tag in page.tag.tolist()]
    parents, sizes = page.parent.tolist(), page.size.tolist()
    paint: list[Paint] = ["plain"] * page.n
    marks = [-1] * page.n
    line, node = 0, 0
    ends: list[int] = []
    while node < page.n:
        while ends and ends[-1] <= node:
            ends.pop()
            line += 1
        name = names[node]
        above: Paint = paint[parents[node]] if node else "plain"
        if name == "#text":
            yield Run(page.text(node), above, line, marks[parents[node]])
            node += 1
            continue
        classes = _classes(page, node)
        if name in NO_TEXT or "quire-bar" in classes:
            node += sizes[node]
            continue
        paint[node] = _painted(above, classes)
        marks[node] = node if "quire-moved" in classes else marks[parents[node]] if node else -1
        if not name.startswith("#") and name not in INLINE:
            line += 1
            ends.append(node + sizes[node])
        node += 1


def visible(page: quire.Digest) -> str:
    """All text that a redline may show, without white space."""
    found, node = [], 0
    sizes = page.size.tolist()
    tags = page.tag.tolist()
    while node < page.n:
        name, space = page.tags[tags[node]], page.tag_namespaces[tags[node]]
        if name == "#text":
            found.append(page.text(node))
        is_kept = name in {"#document", "head"} or (
            not name.startswith("#") and safe.element(name, space) is not None
        )
        node += 1 if is_kept else sizes[node]
    return "".join("".join(found).split())


def _classes(page: quire.Digest, node: int) -> list[str]:
    return page.attributes(node).get("class", "").split() if page.attr[node] >= 0 else []


def _painted(above: Paint, classes: list[str]) -> Paint:
    if "quire-del" in classes:
        return "moved away" if above == "moved" else "deleted"
    if above == "deleted":
        return above
    if "quire-ins" in classes:
        return "inserted"
    return "moved" if "quire-moved" in classes else above


def _check_order(
    kind: Literal["new text", "old text"],
    runs: list[Run],
    wanted: set[str],
    page: str,
    *,
    whole: bool,
) -> Iterator[Fault]:
    """See that some of the runs, in their order, are the page or a part of it."""
    at = 0
    for run in runs:
        if run.paint not in wanted:
            continue
        for word in run.text.split():
            found = page.startswith(word, at) if whole else _behind(page, word, at)
            if not found:
                yield Fault(kind, f"{word} in {run.text.strip()[:60]!r}")
                return
            at = at + len(word) if whole else found
    if whole and at != len(page):
        yield Fault(kind, f"ends before {page[at : at + 40]!r}")


def _balance(runs: list[Run], old: str) -> Iterator[Fault]:
    """See that everything of the old page is somewhere: kept, deleted or moved."""
    kept = Counter("".join("".join(run.text.split()) for run in runs if run.paint != "inserted"))
    was = Counter(old)
    if kept != was:
        lost, more = (was - kept).total(), (kept - was).total()
        yield Fault("balance", f"{lost} characters are missing, {more} too many")


def _behind(page: str, word: str, at: int) -> int:
    """Give the place behind the characters of a word, which may be apart; 0 if they are not there."""
    if page.startswith(word, at):
        return at + len(word)
    for character in word:
        at = page.find(character, at) + 1
        if not at:
            return 0
    return at


def _kept_but_painted(runs: list[Run], old: str) -> Iterator[Fault]:
    """Look between plain words for texts that are deleted and inserted, or moved to where they were."""
    gap: list[Run] = []
    at = start = 0  # where the gap begins on the old page, and where it has come to
    for run in [*runs, Run("", "plain", -1)]:
        text = "".join(run.text.split())
        if not text and run.line >= 0:
            continue
        found = old.find(text, at) if run.paint in {"plain", "deleted"} else -1
        if run.paint != "plain":
            gap.append(run)
            at = found + len(text) if found >= 0 else at
            continue
        yield from _same_on_both_sides(gap)
        yield from _moved_nowhere(gap, old[start : found if text else len(old)])
        at = start = found + len(text) if found >= 0 else at
        gap = []


def _moved_nowhere(gap: list[Run], between: str) -> Iterator[Fault]:
    """Look for moved texts in what the old page has between the same two words."""
    texts: dict[int, list[str]] = {}
    for run in gap:
        if run.paint in {"moved", "moved away"}:
            texts.setdefault(run.mark, []).append(run.text)
    for parts in texts.values():
        words = "".join(parts).split()
        if len(words) >= LONG_LINE and "".join(words) in between:
            yield Fault("not moved", " ".join(words)[:80])


def _same_on_both_sides(gap: list[Run]) -> Iterator[Fault]:
    struck = [run for run in gap if run.paint == "deleted"]
    fresh = [run for run in gap if run.paint == "inserted"]
    if not struck or not fresh:
        return
    gone, come = _words(struck), _words(fresh)
    if [word for run in struck for word in run.text.split()] == [
        word for run in fresh for word in run.text.split()
    ]:
        yield Fault("same", " ".join(gone)[:80])
        return
    for one, other in pairwise(gap):
        is_pair = {one.paint, other.paint} == {"deleted", "inserted"} and one.line == other.line
        if is_pair and one.text.split() == other.text.split():
            yield Fault("same", one.text.strip()[:80])
            return
    lines = _lines(struck) & _lines(fresh)
    if lines:
        yield from (Fault("line", line[:80]) for line in sorted(lines))
        return
    known = {tuple(gone[i : i + LONG_RUN]) for i in range(len(gone) - LONG_RUN + 1)}
    for i in range(len(come) - LONG_RUN + 1):
        if tuple(come[i : i + LONG_RUN]) in known:
            yield Fault("run", " ".join(come[i : i + LONG_RUN]))
            return


def _words(runs: list[Run]) -> list[str]:
    return re.findall(r"\w+", " ".join(run.text for run in runs))


def _lines(runs: list[Run]) -> set[str]:
    lines: dict[int, list[str]] = {}
    for run in runs:
        lines.setdefault(run.line, []).append(run.text)
    texts = {" ".join("".join(parts).split()) for parts in lines.values()}
    return {text for text in texts if len(text.split()) >= LONG_LINE}
