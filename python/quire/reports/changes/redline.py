"""Redline: the new page as it renders, with what changed marked on it, as one safe document.

What is new is marked where it is, what is gone is put back where it was, what moved or
has other attributes is outlined. One pass over the columns of the new page with a stack of open
elements; deleted parts come in from the old one at their places. Linear, no recursion.

Two choices worth knowing before changing this file:

* The document is written anew from parsed values through ``safe``; nothing of either
  page is copied as markup. A policy in the document itself forbids everything that loads or runs, so that
  a mistake here is still no hole.
* Elements get a class and are not wrapped: a row of a table or an item of a list stays
  where only such may be. Only texts are wrapped, in ``ins`` and ``del``.

Pages that are no HTML have no rendering; of those the text is shown, line by line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quire.digest.page import Digest
from quire.digest.references import base_of
from quire.display import escape
from quire.reports.changes import safe_markup as safe
from quire.reports.changes.frame import document
from quire.sdiff.annotation import Annotation, Side
from quire.sdiff.facets import Status
from quire.sdiff.views.lines import text_rows
from quire.sdiff.views.words import Segment, word_changes

# So much of a value is said in a title, and so many attributes.
_MAX_VALUE = 80
_MAX_NAMED = 6


def redline(annotation: Annotation, *, base: str | None = None, images: bool = False) -> str:
    """Draw what changed on the new page, as one HTML document that is safe to open.

    Nothing in it runs, and nothing is loaded: of images only those that are in the page itself
    are shown, of styles only those too.

    >>> import quire
    >>> old, new = quire.encode(b"<p>Open 9 to 5"), quire.encode(b"<p>Open 9 to 6<script>x</script>")
    >>> drawn = redline(quire.annotate(old, new))
    >>> '9 to <del class="quire-del">5</del><ins class="quire-ins">6</ins></p>' in drawn
    True
    >>> "<script" in drawn
    False

    Args:
        annotation: what became of the nodes.
        base: the address of the page, for links and images; relative ones are left out without it.
        images: show images of other sites. They are loaded when the document is opened, and so tell
            those sites that it was.
    """
    if annotation.new.kind == "html" and annotation.old.kind == "html":
        drawing = _Drawing(annotation, base, images=images)
        body = drawing.draw()
        styles = drawing.styles
    else:
        body, styles = _draw_lines(annotation), []
    return document(
        body,
        title=_title(annotation.new),
        styles=styles,
        summary=annotation.summary(),
        title_change=_title_change(annotation),
        images=images,
    )


@dataclass(frozen=True, slots=True)
class _Open:
    """An element that is not closed yet: where it ends, and what that means for what is in it."""

    node: int
    end: int
    closing: str
    is_plain: bool
    is_new: bool


_OUTERMOST = _Open(-1, 0, "", is_plain=False, is_new=False)


class _Drawing:
    """The pages as lists, and what was written so far."""

    def __init__(self, annotation: Annotation, base: str | None, *, images: bool) -> None:
        self.annotation = annotation
        self.images = images
        self.pages = {"old": _Page(annotation.old, base), "new": _Page(annotation.new, base)}
        self.status = annotation.new_status.tolist()
        self.partner = {"old": annotation.to_new.tolist(), "new": annotation.to_old.tolist()}
        self.out: list[str] = []
        self.styles: list[str] = []
        self.at_start, self.behind = self._places()

    def draw(self) -> list[str]:
        """Write the new page, and between its nodes what is gone."""
        page = self.pages["new"]
        stack: list[_Open] = []
        node, n = 0, self.annotation.new.n
        while node < n:
            self._close(stack, node)
            above = stack[-1] if stack else _OUTERMOST
            name = page.names[node]
            written = self._written(page, node)
            if name in {"#document", "head"}:  # nothing is written, but styles are in it
                self._put_back(self.at_start.get(node, ()))
                node += 1
            elif written is None:
                if name == "#text":
                    self._text(node, above)
                elif name == "style":
                    self.styles.append(safe.style(self.annotation.new.text(node)))
                self._put_back(self.behind.get(node, ()))
                node += page.sizes[node]
            else:
                closing = self._open(page, node, written, "new", is_inside=above.is_new)
                is_new = bool(self.status[node] & Status.ALONE)
                is_plain = above.is_plain or written in safe.PLAIN
                stack.append(_Open(node, node + page.sizes[node], closing, is_plain, is_new))
                if not is_plain:
                    self._put_back(self.at_start.get(node, ()))
                node += 1
        self._close(stack, n)
        return self.out

    # ------------------------------------------------------------ places of what is gone

    def _places(self) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """Where deleted parts go: at the start of an element of the new page, or behind a node of it."""
        old, new = self.pages["old"], self.pages["new"]
        to_new = self.partner["old"]
        at_start: dict[int, list[int]] = {}
        behind: dict[int, list[int]] = {}
        parents = sorted({old.parents[top] for top in self.annotation.tops("old").tolist()})
        status = self.annotation.old_status
        for parent in parents:
            home = to_new[parent] if parent >= 0 else -1
            last = -1  # the last sibling that is still there
            child, end = parent + 1, parent + old.sizes[parent]
            while child < end:
                partner = to_new[child]
                if partner >= 0 and new.parents[partner] == home:
                    last = partner
                elif status[child] & Status.ALONE:
                    if last >= 0:
                        behind.setdefault(last, []).append(child)
                    else:
                        at_start.setdefault(max(home, 0), []).append(child)
                child += old.sizes[child]
        return at_start, behind

    def _put_back(self, tops: Iterable[int]) -> None:
        """Write parts of the old page that are gone, without what moved out of them."""
        page = self.pages["old"]
        for top in tops:
            stack: list[tuple[int, str]] = []
            node, end = top, top + page.sizes[top]
            is_loose = self._is_loose(top)
            table_end = top  # inside of a table of its own, parts are at home again
            while node < end:
                while stack and stack[-1][0] <= node:
                    self.out.append(stack.pop()[1])
                if self.partner["old"][node] >= 0:
                    node += page.sizes[node]
                    continue
                if page.names[node] == "#text":
                    text = self.annotation.old.text(node)
                    self.out.append(_marked("del", text) if node == top else escape(text))
                written = self._written(page, node)
                if written is None:
                    node += page.sizes[node]
                    continue
                if is_loose and node >= table_end and written in safe.TABLE_ONLY:
                    written = "span"
                elif written == "table":
                    table_end = max(table_end, node + page.sizes[node])
                closing = self._open(page, node, written, "old", is_inside=node != top)
                stack.append((node + page.sizes[node], closing))
                node += 1
            while stack:
                self.out.append(stack.pop()[1])

    def _is_loose(self, top: int) -> bool:
        """Tell whether a part that is gone was a part of a table, and is put back where no table is any more."""
        old, new = self.pages["old"], self.pages["new"]
        parent = old.parents[top]
        home = self.partner["old"][parent] if parent >= 0 else -1
        return old.names[top] in safe.TABLE_ONLY and (
            home < 0 or new.names[home] != old.names[parent]
        )

    # ------------------------------------------------------------ writing

    def _written(self, page: _Page, node: int) -> str | None:
        """Name the element that is written for a node; None for none."""
        name = page.names[node]
        if name.startswith("#"):
            return None
        if name == "form" and page.names[page.parents[node]] in safe.TABLE_PARTS:
            return None  # always empty, and anything else in its place would land before the table
        return safe.element(name, page.spaces[node])

    def _open(self, page: _Page, node: int, written: str, side: Side, *, is_inside: bool) -> str:
        """Write a start tag; gives the end tag."""
        found = page.digest.attributes(node) if page.has_attributes[node] else {}
        kept = dict(safe.attributes(written, found, base=page.base, images=self.images))
        classes, titles = self._marks(node, side, is_inside=is_inside)
        if classes:
            kept["class"] = " ".join([kept["class"], *classes] if "class" in kept else classes)
        if titles:
            kept["title"] = "; ".join(titles)
        run = "".join(f' {key}="{escape(value)}"' for key, value in kept.items())
        self.out.append(f"<{written}{run}>")
        if written in {"pre", "textarea"}:
            self.out.append("\n")  # a browser drops the first line end in these
        return "" if written in safe.VOID else f"</{written}>"

    def _marks(self, node: int, side: Side, *, is_inside: bool) -> tuple[list[str], list[str]]:
        """What is said about an element: classes, and words for its title."""
        if side == "old":
            return ([], []) if is_inside else (["quire-del"], [])
        status = self.status[node]
        classes, titles = [], []
        if status & Status.ALONE and not is_inside:
            classes.append("quire-ins")
        if status & Status.MOVED:
            classes.append("quire-moved")
            titles.append("moved")
        if status & Status.TAG:
            classes.append("quire-attr")
            was = self.pages["old"].names[self.partner["new"][node]]
            titles.append(f"was <{was}>")
        if status & Status.ATTRIBUTES:
            classes.append("quire-attr")
            changes = self.annotation.attribute_changes(node)
            titles += [
                f"{change.name}: {_said(change.old)} → {_said(change.new)}"
                for change in changes[:_MAX_NAMED]
            ]
            if len(changes) > _MAX_NAMED:
                titles.append(f"and {len(changes) - _MAX_NAMED} more")
        # In these no word can be marked, so the whole is.
        if self.pages["new"].names[node] in safe.PLAIN and self._says_other(node):
            classes.append("quire-ins")
        return list(dict.fromkeys(classes)), titles

    def _says_other(self, node: int) -> bool:
        return not self.status[node] & Status.ALONE and self.annotation.count(node, "content") > 0

    def _text(self, node: int, above: _Open) -> None:
        text = self.annotation.new.text(node)
        status = self.status[node]
        if above.is_plain or (above.is_new and status & Status.ALONE):
            self.out.append(escape(text))
        elif status & Status.ALONE:
            self.out.append(_marked("ins", text))
        elif status & Status.CONTENT:
            was = self.annotation.old.text(self.partner["new"][node])
            self.out += _segments(word_changes(was, text))
        elif status & Status.MOVED and not text.isspace():
            self.out.append(f'<span class="quire-moved" title="moved">{escape(text)}</span>')
        else:
            self.out.append(escape(text))

    def _close(self, stack: list[_Open], node: int) -> None:
        """Close the elements that end before a node, and put back what was behind them."""
        while stack and stack[-1].end <= node:
            closed = stack.pop()
            self.out.append(closed.closing)
            self._put_back(self.behind.get(closed.node, ()))


class _Page:
    """The columns of a page as lists: they are read one by one, which numpy is slow at."""

    def __init__(self, digest: Digest, base: str | None) -> None:
        self.digest = digest
        tags = digest.tag.tolist()
        self.names = [digest.tags[tag] for tag in tags]
        self.spaces = [digest.tag_namespaces[tag] for tag in tags]
        self.sizes: list[int] = digest.size.tolist()
        self.parents: list[int] = digest.parent.tolist()
        self.has_attributes: list[bool] = (digest.attr >= 0).tolist()
        self.base = base_of(base, digest._native.base())


def _marked(tag: str, text: str) -> str:
    # A mark around white space in a table would be put in front of the table.
    if not text or text.isspace():
        return escape(text)
    return f'<{tag} class="quire-{tag}">{escape(text)}</{tag}>'


def _segments(segments: Sequence[Segment]) -> list[str]:
    tags = {"deleted": "del", "inserted": "ins"}
    return [
        _marked(tags[part.kind], part.text) if part.kind in tags else escape(part.text)
        for part in segments
    ]


def _said(value: str | None) -> str:
    if value is None:
        return "none"
    return f"“{value if len(value) <= _MAX_VALUE else value[: _MAX_VALUE - 1] + '…'}”"


def _title(page: Digest) -> str:
    if page.kind != "html":
        return ""
    found = page.select("title")[:1].tolist()
    return " ".join(page.text(found[0]).split()) if found else ""


def _title_change(annotation: Annotation) -> str:
    """The title of the page with its changes marked; empty where it has none."""
    before, after = _title(annotation.old), _title(annotation.new)
    return "" if before == after else "".join(_segments(word_changes(before, after)))


def _draw_lines(annotation: Annotation) -> list[str]:
    """The text of pages that have no rendering, line by line."""
    out = ['<div class="quire-lines">']
    for row in text_rows(annotation):
        old, new = row.old, row.new
        if row.kind == "changed" and old and new:
            out.append(f"<div>{''.join(_segments(word_changes(old.text, new.text)))}</div>")
        elif row.kind == "deleted" and old:
            out.append(f'<div class="quire-del">{escape(old.text)}</div>')
        elif row.kind == "inserted" and new:
            out.append(f'<div class="quire-ins">{escape(new.text)}</div>')
        elif row.kind == "moved_here" and new:
            out.append(f'<div class="quire-moved" title="moved">{escape(new.text)}</div>')
        elif row.kind == "same" and new:
            out.append(f"<div>{escape(new.text)}</div>")
    out.append("</div>")
    return out
