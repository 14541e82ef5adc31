"""Redline: the new page as a browser shows it, with the changes marked, as one safe document.

Inserted parts are marked, deleted parts are shown again at their old positions, and parts that
moved or have changed attributes get an outline. Drawing takes one pass over the columns of the new
page, with a stack of open elements; it is linear and does not recurse.

Two choices worth knowing before changing this file:

* The document is written from parsed values through ``safe_markup``; no markup of either page is
  copied. As a second line of defence, the Content-Security-Policy of the document forbids
  everything that loads or runs.
* Elements get a class and are not wrapped, because rows of tables and items of lists only work in
  their places. Only texts are wrapped, in ``ins`` and ``del``.

Pages that are not HTML are shown as text, line by line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quire.digest.page import Digest
from quire.digest.references import base_of
from quire.display import escape
from quire.reports.changes import safe_markup as safe
from quire.reports.changes.marks import LINES, MARKS, summary_bar
from quire.reports.frame import document
from quire.sdiff.annotation import Annotation, Side, check_annotation
from quire.sdiff.facets import Status
from quire.sdiff.views.lines import text_rows
from quire.sdiff.views.words import Segment, word_changes

# Maximum number of characters of a value, and of attributes, in the tooltip of an element.
_MAX_VALUE = 80
_MAX_NAMED = 6


def redline(annotation: Annotation, *, base: str | None = None, images: bool = False) -> str:
    """Draw the new page with the changes marked, as one HTML document that is safe to open.

    Nothing in it runs or loads: only images and styles inside the page itself are shown.

    >>> import quire
    >>> old = quire.encode(b"<p>Open 9 to 5")
    >>> new = quire.encode(b"<p>Open 9 to 6<script>x</script>")
    >>> drawn = redline(quire.annotate(old, new))
    >>> '9 to <del class="quire-del">5</del><ins class="quire-ins">6</ins></p>' in drawn
    True
    >>> "<script" in drawn
    False

    Args:
        annotation: the annotation of two pages.
        base: the address of the page, to resolve links and images; without it, relative ones are
            left out.
        images: show images from the web. They are loaded when the document is opened, so their
            sites can see that.
    """
    check_annotation(annotation)
    if annotation.new.kind == "html" and annotation.old.kind == "html":
        drawing = _Drawing(annotation, base, images=images)
        body = drawing.draw()
        styles, style = drawing.styles, MARKS
    else:
        body, styles, style = _draw_lines(annotation), [], LINES
    title = _title(annotation.new)
    return document(
        "".join([summary_bar(annotation.summary(), _title_change(annotation)), *body, "\n"]),
        title=f"Changes: {title}" if title else "Changes",
        style=style,
        page_styles=styles,
        images="data: https: http:" if images else "data:",
    )


@dataclass(frozen=True, slots=True)
class _Open:
    """An open element: where it ends, and how to draw its content."""

    node: int
    end: int
    closing: str
    is_plain: bool
    is_new: bool


_OUTERMOST = _Open(-1, 0, "", is_plain=False, is_new=False)


class _Drawing:
    """The two pages as lists, and the markup written so far."""

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
        """Write the new page, with the deleted parts between its nodes."""
        page = self.pages["new"]
        stack: list[_Open] = []
        node, n = 0, self.annotation.new.n
        while node < n:
            self._close(stack, node)
            above = stack[-1] if stack else _OUTERMOST
            name = page.names[node]
            written = self._written(page, node)
            if name in {"#document", "head"}:  # not written, but their styles are needed
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

    # ------------------------------------------------------------ deleted parts

    def _places(self) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """Find where deleted parts go: at the start of an element, or after a node."""
        old, new = self.pages["old"], self.pages["new"]
        to_new = self.partner["old"]
        at_start: dict[int, list[int]] = {}
        behind: dict[int, list[int]] = {}
        parents = sorted({old.parents[top] for top in self.annotation.tops("old").tolist()})
        status = self.annotation.old_status
        for parent in parents:
            home = to_new[parent] if parent >= 0 else -1
            last = -1  # the last sibling that still exists
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
        """Write deleted parts of the old page, except nodes that moved out of them."""
        page = self.pages["old"]
        for top in tops:
            stack: list[tuple[int, str]] = []
            node, end = top, top + page.sizes[top]
            is_loose = self._is_loose(top)
            table_end = top  # parts of a table may stay inside a deleted table
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
        """Tell whether a deleted part of a table goes to a place now outside a table."""
        old, new = self.pages["old"], self.pages["new"]
        parent = old.parents[top]
        home = self.partner["old"][parent] if parent >= 0 else -1
        return old.names[top] in safe.TABLE_ONLY and (
            home < 0 or new.names[home] != old.names[parent]
        )

    # ------------------------------------------------------------ writing

    def _written(self, page: _Page, node: int) -> str | None:
        """Return the name of the element to write for a node; None to leave it out."""
        name = page.names[node]
        if name.startswith("#"):
            return None
        if name == "form" and page.names[page.parents[node]] in safe.TABLE_PARTS:
            return None  # always empty, and browsers would move a replacement out of the table
        return safe.element(name, page.spaces[node])

    def _open(self, page: _Page, node: int, written: str, side: Side, *, is_inside: bool) -> str:
        """Write a start tag and return the end tag."""
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
            self.out.append("\n")  # browsers drop the first line break in these
        return "" if written in safe.VOID else f"</{written}>"

    def _marks(self, node: int, side: Side, *, is_inside: bool) -> tuple[list[str], list[str]]:
        """Return the classes that mark an element, and the lines of its tooltip."""
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
        # No single word can be marked in these elements, so mark the whole element.
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
        """Close the elements that end before a node, and write the deleted parts after them."""
        while stack and stack[-1].end <= node:
            closed = stack.pop()
            self.out.append(closed.closing)
            self._put_back(self.behind.get(closed.node, ()))


class _Page:
    """The columns of a page as lists: numpy is slow at reading entries one by one."""

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
    # Browsers would move a mark around white space in a table to the front of the table.
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
    """Return the title of the page with its changes marked; empty if it did not change."""
    before, after = _title(annotation.old), _title(annotation.new)
    return "" if before == after else "".join(_segments(word_changes(before, after)))


def _draw_lines(annotation: Annotation) -> list[str]:
    """Draw the text of pages that are not HTML, line by line."""
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
