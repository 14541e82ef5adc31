"""Redline: the new page as a browser shows it, with the changes marked, as one safe document.

Inserted and moved texts are marked, deleted parts are shown again at their old positions. What is
marked is decided in ``painting``; here it is drawn, in one pass over the columns of the new page with
a stack of open elements. Drawing is linear and does not recurse.

Three choices worth knowing before changing this file:

* The document is written from parsed values through ``safe_markup``; no markup of either page is
  copied. As a second line of defence, the Content-Security-Policy of the document forbids
  everything that loads or runs, but for one script of ours.
* Only texts are marked, in ``ins``, ``del`` and ``span``, and elements without text. A mark around an
  element would paint everything in it, also what did not change.
* Elements that have marks in them have the class ``quire-holds``: styles of the page that could hide
  something do not apply to them.

Pages that are not HTML are shown as text, line by line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from quire.digest.page import Digest
from quire.display import escape
from quire.reports.changes import safe_markup as safe
from quire.reports.changes.marks import (
    LINES,
    LOUD,
    PAGE,
    PAGE_BASE,
    SCRIPT,
    Changes,
    MarkKind,
    Quiet,
    summary_bar,
)
from quire.reports.changes.page_styles import PageStyles
from quire.reports.changes.painting import paint
from quire.reports.changes.visible_page import VisiblePage
from quire.reports.frame import document
from quire.sdiff.annotation import Annotation, check_annotation
from quire.sdiff.facets import Status
from quire.sdiff.views.lines import text_rows
from quire.sdiff.views.words import Segment, word_changes
from quire.viewing import NOTHING, Looks, Places, Sheet, Use, style_relation

# Maximum number of characters of a value, and of attributes, in the tooltip of an element.
_MAX_VALUE = 80
_MAX_NAMED = 6
# Maximum number of characters of all embedded images that are written; some are on a page many times.
_MAX_IMAGES = 3_000_000

# As plain numbers: operations on flags take most of the time of a redline.
_TAG, _ATTRIBUTES = int(Status.TAG), int(Status.ATTRIBUTES)

# Elements that browsers end when some other elements begin inside them.
_FRAGILE = frozenset({"a", "button", "h1", "h2", "h3", "h4", "h5", "h6", "p"})
# Elements that can be written inside all others, as they never end an element.
_ANYWHERE = safe.INLINE - _FRAGILE | {"br", "wbr"}
# Elements that other elements in them cannot end.
_WALLS = frozenset({"body", "caption", "html", "td", "th"})


def redline(annotation: Annotation, *, base: str | None = None, images: bool = False) -> str:
    """Draw the new page with the changes marked, as one HTML document that is safe to open.

    Nothing of the page runs or loads: only images and styles inside the page itself are shown.

    >>> import quire
    >>> old = quire.encode(b"<p>Open 9 to 5")
    >>> new = quire.encode(b"<p>Open 9 to 6<script>x</script>")
    >>> drawn = redline(quire.annotate(old, new))
    >>> 'class="quire-del">5</del><wbr><ins class="quire-ins">6</ins></p>' in drawn
    True
    >>> "<script>x" in drawn
    False

    Args:
        annotation: the annotation of two pages.
        base: the address of the page, to resolve links and images; without it, relative ones are
            left out.
        images: show images from the web. They are loaded when the document is opened, so their
            sites can see that.
    """
    changes = Changes()
    drawn = draw(annotation, changes, base=base, images=images)
    title = _title(annotation.new)
    bar = summary_bar(changes, title_change(annotation))
    return document(
        "".join([bar, *drawn.body, "\n"]),
        title=f"Changes: {title}" if title else "Changes",
        style=drawn.style,
        page_styles=drawn.page_styles,
        images="data: https: http:" if images else "data:",
        fonts="data:",
        script=SCRIPT,
    )


@dataclass(frozen=True, slots=True)
class Drawn:
    """A page with its marks, without the document around it.

    Attributes:
        body: pieces of safe markup.
        page_styles: the style sheets of the page, made safe.
        style: our own style sheet for it.
    """

    body: list[str]
    page_styles: list[str]
    style: str


def draw(
    annotation: Annotation,
    changes: Changes,
    *,
    base: str | None = None,
    images: bool = False,
    outlined: Mapping[int, str] | None = None,
    embedded: Looks = NOTHING,
    quiet: Quiet = LOUD,
) -> Drawn:
    """Draw the new page with the changes marked.

    Args:
        annotation: the annotation of two pages.
        changes: numbers the changes, and says how they are written.
        base: as for ``redline``.
        images: as for ``redline``.
        outlined: elements of the new page to outline, each with its tooltip.
        embedded: style sheets, images and fonts of the pages, to be written into the document.
        quiet: nodes whose changes are noise.
    """
    check_annotation(annotation)
    if annotation.new.kind == "html" and annotation.old.kind == "html":
        drawing = _Drawing(
            annotation,
            base,
            changes,
            images=images,
            outlined=outlined or {},
            embedded=embedded,
            quiet=quiet,
        )
        body = drawing.draw()
        sheet = "".join(drawing.styles)
        layer = f"@layer quire-page {{\n{sheet}}}\n" if sheet else ""
        return Drawn(body, [PAGE_BASE, drawing.page_styles.own, layer], PAGE)
    return Drawn(_draw_lines(annotation, changes), [], LINES)


@dataclass(frozen=True, slots=True)
class _Open:
    """An open element: where it ends, and how to draw its content."""

    node: int
    end: int
    closing: str
    is_plain: bool


_OUTERMOST = _Open(-1, 0, "", is_plain=False)


def _places(page: VisiblePage) -> Places:
    """Return the function of a page that makes its addresses absolute."""
    base = page.base or ""
    return Places(base, base, lambda url, _: url)


class _Drawing:
    """The two pages, what to mark, and the markup written so far."""

    def __init__(
        self,
        annotation: Annotation,
        base: str | None,
        changes: Changes,
        *,
        images: bool,
        outlined: Mapping[int, str],
        embedded: Looks,
        quiet: Quiet,
    ) -> None:
        self.annotation = annotation
        self.outlined = outlined
        self.quiet = quiet
        self.changes = changes
        self.old, self.new = VisiblePage(annotation.old, base), VisiblePage(annotation.new, base)
        self.status: list[int] = annotation.new_status.tolist()
        self.to_new: list[int] = annotation.to_new.tolist()
        self.to_old: list[int] = annotation.to_old.tolist()
        self.painting = paint(annotation, self.old, self.new)
        self.holders = self._find_holders()
        self.embedded = embedded
        self.image_length = 0
        self.page_styles = PageStyles(embedded)
        self.sheets = self._find_sheets()
        is_bare = bool(self.sheets) and not any(self.sheets.values())
        self.settings = {
            page: safe.Setting(
                page.base, images, is_bare, self._embedded_images(page), self._prepared(page)
            )
            for page in (self.old, self.new)
        }
        self.out: list[str] = []
        self.styles: list[str] = []

    def _prepared(self, page: VisiblePage) -> Callable[[str], str]:
        """Return the function that prepares the ``style`` attributes of a page."""
        return lambda css: self.page_styles.prepared(css, page.base)

    def _find_sheets(self) -> dict[int, Sheet | None]:
        """Return each style sheet that the new page links to; None if it is missing."""
        places = _places(self.new)
        found: dict[int, Sheet | None] = {}
        for node in self.annotation.new.select("link[rel]").tolist():
            attributes = self.new.attributes(node)
            if style_relation(attributes) == "stylesheet":
                url = places.find(attributes.get("href", ""), Use.STYLE) or ""
                found[node] = self.embedded.sheet(url.partition("#")[0])
        return found

    def _embedded_images(self, page: VisiblePage) -> Callable[[str], str | None] | None:
        """Return the function that finds the images of a page; None if it has none."""
        if self.embedded is NOTHING:
            return None
        places = _places(page)

        def find(address: str) -> str | None:
            url = places.find(address, Use.IMAGE)
            found = self.embedded.image(url.partition("#")[0]) if url is not None else None
            if found is None or self.image_length + len(found) > _MAX_IMAGES:
                return None
            self.image_length += len(found)
            return found

        return find

    def _find_holders(self) -> set[int]:
        """Find the elements of the new page that are marked or have marks in them."""
        found: set[int] = set()
        marked = [*self.painting.atoms, *self.painting.moved, *self.outlined]
        for node, words in self.painting.words.items():
            if any(part.kind != "same" for part in words):
                marked.append(node)
        for kind, node in self.painting.gone:
            marked.append(node if kind == "start" else self.new.parents[node])
        if "body" in self.new.names:  # always, so that no mark can be hidden with the whole page
            marked.append(self.new.names.index("body"))
        for node in marked:
            above = node
            while above >= 0 and above not in found:
                found.add(above)
                above = self.new.parents[above]
        return found

    def draw(self) -> list[str]:
        """Write the new page, with the deleted parts between its nodes."""
        page = self.new
        stack: list[_Open] = []
        node, n = 0, len(page.names)
        while node < n:
            self._close(stack, node)
            above = stack[-1] if stack else _OUTERMOST
            if not above.is_plain:
                self._put_back("before", node)
            name, written = page.names[node], page.written[node]
            if name in {"#document", "head"}:  # not written, but their styles are needed
                self._put_back("start", node)
                node += 1
            elif written is None:
                if name == "#text":
                    self._text(node, is_plain=above.is_plain)
                elif name == "style":
                    self._style(node, self.annotation.new.text(node), page.base)
                elif (sheet := self.sheets.get(node)) is not None:
                    self._style(node, sheet.text, sheet.url)
                self._put_back("behind", node)
                node += page.sizes[node]
            else:
                closing = self._open(node, written)
                is_plain = above.is_plain or written in safe.PLAIN
                stack.append(_Open(node, node + page.sizes[node], closing, is_plain))
                if not is_plain:
                    self._put_back("start", node)
                node += 1
        self._close(stack, n)
        return self.out

    def _close(self, stack: list[_Open], node: int) -> None:
        """Close the elements that end before a node, and write the deleted parts after them."""
        while stack and stack[-1].end <= node:
            closed = stack.pop()
            self.out.append(closed.closing)
            self._put_back("behind", closed.node)

    # ------------------------------------------------------------ the new page

    def _style(self, node: int, css: str, url: str | None) -> None:
        found = self.new.attributes(node)
        if found.get("type", "").strip().lower() in {"", "text/css"}:
            media = found.get("media", "")
            is_bare = self.settings[self.new].is_bare
            css = self.page_styles.prepared(css, url)
            self.styles.append(safe.style_sheet(css, media, is_bare=is_bare))

    def _text(self, node: int, *, is_plain: bool) -> None:
        text = self.annotation.new.text(node)
        words = self.painting.words.get(node)
        self._be_quiet_at(node)
        if is_plain:
            self.out.append(escape(text))
        elif node in self.painting.moved:
            self.out.append(self.changes.moved(text, words or []))
        elif words is not None:
            self.out.append(self.changes.segments(words))
        else:
            self.out.append(self.changes.plain(text))

    def _be_quiet_at(self, node: int) -> None:
        """Mark a node of the new page quietly, if its change is noise."""
        is_shuffled = node in self.painting.moved and node in self.quiet.new_moved
        self.changes.is_quiet = is_shuffled or node in self.quiet.new

    def _open(self, node: int, written: str) -> str:
        """Write the start tag of an element of the new page, and return the end tag."""
        self._be_quiet_at(node)
        classes, titles = self._marks(node, written)
        ours = {"title": "; ".join(titles)} if titles else {}
        if "quire-atom" in classes:
            named = self.new.attributes(node).get("alt", "") or f"<{self.new.names[node]}>"
            kind: MarkKind = "moved" if "quire-moved" in classes else "inserted"
            anchor = self.changes.anchor(kind, named)
            if anchor:
                ours["id"] = anchor.partition('"')[2].rstrip('"')
        return self._tag(self.new, node, written, classes=classes, ours=ours)

    def _tag(
        self,
        page: VisiblePage,
        node: int,
        written: str,
        *,
        classes: list[str],
        ours: dict[str, str],
    ) -> str:
        """Write a start tag with the attributes of the page and our own, and return the end tag."""
        if written not in safe.INLINE:
            self.changes.end_line()
        holds = page is self.old or node in self.holders
        kept = dict(
            safe.attributes(written, page.attributes(node), self.settings[page], holds_marks=holds)
        )
        classes = [*classes, "quire-holds"] if holds else classes
        if page.names[node] == "html":
            classes = [*classes, "quire-root"]
        if classes:
            kept["class"] = " ".join([kept["class"], *classes] if "class" in kept else classes)
        if page is self.old:
            kept.pop("id", None)  # the new page may have it too
        kept.update(ours)
        run = "".join(f' {key}="{escape(value)}"' for key, value in kept.items())
        self.out.append(f"<{written}{run}>")
        if written in {"pre", "textarea"}:
            self.out.append("\n")  # browsers drop the first line break in these
        return "" if written in safe.VOID else f"</{written}>"

    def _marks(self, node: int, written: str) -> tuple[list[str], list[str]]:
        """Return the classes that mark an element, and the lines of its tooltip."""
        status, classes, titles = self.status[node], [], []
        is_quiet = self.changes.is_quiet
        if node in self.painting.atoms:
            classes += ["quire-atom", "quire-ins"]
        elif node in self.painting.moved:
            classes += ["quire-atom", "quire-moved"]
            titles.append("moved")
        elif node in self.painting.fresh and written not in safe.INLINE and not is_quiet:
            classes.append("quire-fresh")
        elif node in self.painting.around:
            classes.append("quire-around")
            titles.append(f"<{self.new.names[node]}> is new; what it holds was here before")
        if is_quiet and "quire-atom" in classes:
            classes.append("quire-quiet")
            titles.append("noise")
        if node in self.outlined:
            classes.append("quire-outlined")
            titles.append(self.outlined[node])
        titles += self._other_changes(node, status)
        if node in self.quiet.new_tags:
            status &= ~_ATTRIBUTES
        if status & (_TAG | _ATTRIBUTES) and not is_quiet:
            classes.append("quire-attr")
            self.changes.others += 1
        return classes, titles

    def _other_changes(self, node: int, status: int) -> list[str]:
        """Return the lines of a tooltip about the name and the attributes of an element."""
        titles = []
        if status & _TAG:
            titles.append(f"was <{self.old.names[self.to_old[node]]}>")
        if status & _ATTRIBUTES:
            changes = self.annotation.attribute_changes(node)
            titles += [
                f"{change.name}: {_said(change.old)} → {_said(change.new)}"
                for change in changes[:_MAX_NAMED]
            ]
            if len(changes) > _MAX_NAMED:
                titles.append(f"and {len(changes) - _MAX_NAMED} more")
        return titles

    # ------------------------------------------------------------ deleted parts

    def _put_back(self, kind: Literal["start", "before", "behind"], node: int) -> None:
        """Write the deleted parts that belong at a place."""
        tops = self.painting.gone.get((kind, node))
        if not tops:
            return
        home = node if kind == "start" else self.new.parents[node]
        around = self._around(home)
        for top in tops:
            is_native = (
                self.to_new[self.old.parents[top]] == home
                and self.old.names[self.old.parents[top]] == self.new.names[home]
            )
            opening, closing = "", ""
            if not is_native and self.new.names[home] == "tr":
                opening, closing = "<td>", "</td>"
            elif not is_native and self.new.names[home] in safe.TABLE_PARTS:
                opening, closing = '<tr><td colspan="99">', "</td></tr>"
            if self.changes.hides_deleted:
                self.out.append(self._spot(top))
                continue
            self.out.append(opening)
            self._draw_deleted(top, keeps_tags=is_native and not around)
            self.out.append(closing)

    def _spot(self, top: int) -> str:
        """Write the place of a deleted part that is not shown; empty if a reader saw nothing of it."""
        leaves = self.old.leaf_of
        seen = [
            node
            for node in range(top, top + self.old.sizes[top])
            if node in leaves and self.to_new[node] < 0
        ]
        if not seen:
            return ""
        self.changes.is_quiet = all(node in self.quiet.old for node in seen)
        text = " ".join(self.old.leaves[leaves[node]].text for node in seen[:_MAX_NAMED])
        return self.changes.spot(text)

    def _around(self, home: int) -> bool:
        """Tell whether a place is inside an element that other elements could end."""
        while home >= 0 and self.new.names[home] not in _WALLS:
            if self.new.names[home] in _FRAGILE:
                return True
            home = self.new.parents[home]
        return False

    def _draw_deleted(self, top: int, *, keeps_tags: bool) -> None:
        """Write a deleted part of the old page, without nodes that are on the new page."""
        page = self.old
        stack: list[_Open] = []
        node, end = top, top + page.sizes[top]
        while node < end:
            while stack and stack[-1].end <= node:
                self.out.append(stack.pop().closing)
            name, written = page.names[node], page.written[node]
            place = page.leaf_of.get(node)
            is_plain = bool(stack) and stack[-1].is_plain
            self.changes.is_quiet = is_quiet = node in self.quiet.old
            is_elsewhere = (
                self.to_new[node] >= 0
                and not is_plain
                and (place is None or self.to_new[node] in self.painting.moved)
            )
            if name == "#text" and not is_elsewhere:
                text = self.annotation.old.text(node)
                deleted = Segment("deleted", text)
                self.out.append(escape(text) if is_plain else self.changes.marked(deleted))
            if written is None or is_elsewhere:
                node += page.sizes[node]
                continue
            is_lost = node == top and written not in safe.INLINE and not is_quiet
            classes = ["quire-lost"] if is_lost else []
            ours: dict[str, str] = {}
            if written in safe.ATOMS and not is_plain and place is not None:
                classes = ["quire-atom", "quire-del", *(["quire-quiet"] if is_quiet else [])]
                named = page.attributes(node).get("alt", "") or f"<{name}>"
                anchor = self.changes.anchor("deleted", named)
                if anchor:
                    ours["id"] = anchor.partition('"')[2].rstrip('"')
            if not keeps_tags and not is_plain and written not in _ANYWHERE:
                if written not in safe.INLINE:
                    classes.append("quire-block")
                written = "span"
            closing = self._tag(page, node, written, classes=classes, ours=ours)
            is_plain = is_plain or written in safe.PLAIN
            stack.append(_Open(node, node + page.sizes[node], closing, is_plain))
            node += 1
        while stack:
            self.out.append(stack.pop().closing)


def _said(value: str | None) -> str:
    if value is None:
        return "none"
    return f"“{value if len(value) <= _MAX_VALUE else value[: _MAX_VALUE - 1] + '…'}”"


def _title(page: Digest) -> str:
    if page.kind != "html":
        return ""
    found = page.select("title")[:1].tolist()
    return " ".join(page.text(found[0]).split()) if found else ""


def title_change(annotation: Annotation) -> Sequence[Segment]:
    """Return the title of the page with its changes; empty if it did not change."""
    before, after = _title(annotation.old), _title(annotation.new)
    return () if before == after else word_changes(before, after)


def _draw_lines(annotation: Annotation, changes: Changes) -> list[str]:
    """Draw the text of pages that are not HTML, line by line."""
    out = ['<div class="quire-lines">']
    for row in text_rows(annotation):
        old, new = row.old, row.new
        if row.kind == "changed" and old and new:
            drawn = changes.segments(word_changes(old.text, new.text))
        elif row.kind == "deleted" and old:
            drawn = changes.marked(Segment("deleted", old.text))
        elif row.kind == "inserted" and new:
            drawn = changes.marked(Segment("inserted", new.text))
        elif row.kind == "moved_here" and new:
            drawn = changes.moved(new.text, [])
        elif row.kind == "same" and new:
            drawn = changes.plain(new.text)
        else:
            continue
        changes.end_line()
        out.append(f"<div>{drawn}</div>")
    out.append("</div>")
    return out
