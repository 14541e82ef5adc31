"""The output of ``quire diff``: changes drawn for a terminal.

Each line starts with a sign: ``-`` deleted, ``+`` inserted, ``~`` changed, ``<`` moved away, ``>``
moved here. Colours only repeat the signs, so a pipe loses nothing. Changed words have a colour; the
view ``words`` also marks them with ``[-`` ``-]`` and ``{+`` ``+}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from quire.cli.common import terminal
from quire.cli.common.terminal import one_line, printable
from quire.display import format_count, quote_pair
from quire.sdiff import (
    Annotation,
    Change,
    Facet,
    OtherChanges,
    Segment,
    Side,
    SideRow,
    Summary,
    other_changes,
    passages,
    side_by_side,
    text_changes,
    unified,
    unseen_differences,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from quire.digest import Digest

STYLES = {
    "same": "",
    "deleted": "red",
    "inserted": "green",
    "moved_away": "blue",
    "moved_here": "blue",
    "changed": "",
}
SIGNS = {
    "same": " ",
    "deleted": "-",
    "inserted": "+",
    "moved_away": "<",
    "moved_here": ">",
    "changed": "~",
}
KIND_SIGNS = {
    "inserted": "+",
    "deleted": "-",
    "moved": ">",
    "renamed": "~",
    "updated": "~",
    "layout": " ",
}
KIND_STYLES = {"inserted": "green", "deleted": "red", "moved": "blue"}

_SPACES = re.compile(r"\s+")

# Values that change at every load, as a person calls them.
VOLATILE = {
    "nonce": "nonces",
    "token": "tokens",
    "time": "times",
    "query": "queries that avoid caches",
}

# Maximum number of other changes (not in the text) to list.
MAX_LISTED = 20
# The text of parts with more nodes than this is not shown: reading it takes too long.
MAX_READ = 100
# Deeper nodes are not indented further, or the indentation would fill the line.
MAX_INDENT = 24
# Maximum number of characters of a value or a text in a list.
MAX_VALUE = 60


def print_unified(annotation: Annotation, facets: Sequence[Facet], context: int) -> None:
    """Print the changed lines with context, then the changes that are not in the text."""
    console = terminal.console()
    shown_text = "content" in facets or "structure" in facets
    for hunk in unified(annotation, context=context) if shown_text else ():
        _put(console, _text(hunk.heading, "cyan"))
        for line in hunk.lines:
            drawn = _text(SIGNS[line.kind] + " ", STYLES[line.kind])
            drawn.append_text(_segments(line.segments, STYLES[line.kind]))
            _put(console, drawn)
    _print_others(console, annotation, other_changes(annotation, facets))


def _print_others(console: Console, annotation: Annotation, others: OtherChanges) -> None:
    listed = list(others)
    if listed or others.volatile:
        _put(console, _text("other changes:", "cyan"))
    for change in listed[:MAX_LISTED]:
        for text in _described(annotation, change):
            _put(console, text)
    more = len(listed) - MAX_LISTED
    if more > 0:
        _put(console, _text(f"  … and {more:,} more; --view tree shows all", "dim"))
    if others.volatile:
        named = ", ".join(VOLATILE[kind] for kind in VOLATILE if kind in others.volatile_kinds)
        changes = format_count(len(others.volatile), "change")
        of = f"{changes} of values that change at every load ({named})"
        _put(console, _text(f"  {'and ' if listed else ''}{of}; --view tree shows all", "dim"))


def print_words(annotation: Annotation) -> None:
    """Print the passages that read differently, word by word, each below its place."""
    console = terminal.console()
    last = ""
    for passage in passages(annotation):
        if passage.place != last:
            _put(console, _text(printable(passage.place), "cyan"))
        last = passage.place
        drawn = _text("  ")
        for segment in passage.segments:
            words = _SPACES.sub(" ", segment.text)
            text = _safe(words if segment.kind != "same" else _middle_cut(words))
            if segment.kind == "deleted":
                text = f"[-{text}-]"
            elif segment.kind == "inserted":
                text = f"{{+{text}+}}"
            drawn.append(text, STYLES[segment.kind])
        drawn.rstrip()
        _put(console, drawn)


def print_side_by_side(annotation: Annotation, context: int) -> None:
    """Print the changed lines in two columns."""
    from rich.table import Table  # noqa: PLC0415 - heavy

    console = terminal.console()
    for place, group in enumerate(side_by_side(annotation, context=context)):
        if place:
            _put(console, _text("⋯", "dim"))
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1), expand=True)
        table.add_column(ratio=1, overflow="fold")
        table.add_column(width=1)
        table.add_column(ratio=1, overflow="fold")
        for row in group:
            table.add_row(_side(row, "old"), SIGNS[row.kind], _side(row, "new"))
        console.print(table)


def _side(row: SideRow, page: str) -> Text:
    line = row.old if page == "old" else row.new
    if line is None:
        return _text("")
    if row.kind == "changed":
        other = "inserted" if page == "old" else "deleted"
        kept = [segment for segment in row.segments if segment.kind != other]
        return _segments(kept, STYLES["deleted" if page == "old" else "inserted"])
    return _text(_safe(line.text), STYLES[row.kind])


def print_tree(annotation: Annotation, facets: Sequence[Facet]) -> None:
    """Print the changed nodes as a tree, with the elements around them."""
    console = terminal.console()
    above: list[tuple[Side, int]] = []  # the last change and the elements around it
    places: dict[tuple[Side, int], int] = {}
    for change in _parts(annotation, facets):
        climbed: list[tuple[Side, int]] = []
        at = _parent(annotation, change.page, change.node)
        while at is not None and at not in places:
            climbed.append(at)
            at = _parent(annotation, *at)
        for left in above[0 if at is None else places[at] + 1 :]:
            del places[left]
        del above[0 if at is None else places[at] + 1 :]
        for side, node in reversed(climbed):
            _put(console, _text(_indent(len(above)) + _label(_page(annotation, side), node), "dim"))
            places[side, node] = len(above)
            above.append((side, node))
        for text in _described(annotation, change, indent=len(above)):
            _put(console, text)
        places[change.page, change.node] = len(above)
        above.append((change.page, change.node))


def _page(annotation: Annotation, side: Side) -> Digest:
    return annotation.old if side == "old" else annotation.new


def _parent(annotation: Annotation, side: Side, node: int) -> tuple[Side, int] | None:
    """Return the parent of a node, on the new page if it exists on both."""
    parent = int(_page(annotation, side).parent[node])
    if parent <= 0:
        return None
    partner = annotation.partner(parent, "old") if side == "old" else None
    return (side, parent) if partner is None else ("new", partner)


def _indent(depth: int) -> str:
    return "  " * min(depth, MAX_INDENT)


def _label(page: Digest, node: int) -> str:
    """Describe an element briefly: its tag, with its id or first class."""
    name = page.tags[int(page.tag[node])]
    if int(page.attr[node]) >= 0:
        found = page.attributes(node)
        if found.get("id"):
            name += f"#{found['id']}"
        elif found.get("class", "").split():
            name += f".{found['class'].split()[0]}"
    return one_line(name, most=MAX_VALUE)


def print_binary(annotation: Annotation) -> None:
    """Print how two files differ if one of them is binary: it has no text, only bytes."""
    old, new = annotation.old, annotation.new
    sizes = [format_count(page.source_bytes, "byte") for page in (old, new)]
    if old.kind != new.kind:
        kinds = ["binary" if page.kind == "bytes" else page.kind for page in (old, new)]
        said = f"a binary file and a page: {sizes[0]} ({kinds[0]}), then {sizes[1]} ({kinds[1]})"
    else:
        before, after = old.decode(), new.decode()
        first = next(
            (at for at, (one, two) in enumerate(zip(before, after, strict=False)) if one != two),
            min(len(before), len(after)),
        )
        said = f"binary files differ: {sizes[0]}, then {sizes[1]}; from byte {first + 1:,} on"
    _put(terminal.console(), _text(said, "bold"))


def say_nothing_changed(annotation: Annotation, *, compares_all: bool) -> None:
    """Say that nothing changed, and whether the bytes differ all the same."""
    if annotation.old.signatures.source == annotation.new.signatures.source:
        terminal.note("nothing changed")
    elif not compares_all:
        terminal.note("nothing changed in what is compared; the bytes differ")
    else:
        found = unseen_differences(annotation) or ("markup",)
        terminal.note(f"no visible change; the bytes differ ({', '.join(found)})")


def print_summary(annotation: Annotation) -> None:
    """Print one line with the number of changes of each kind."""
    console = terminal.console()
    unread = unseen_differences(annotation)
    if unread:
        said = f"no visible change; the bytes differ ({', '.join(unread)})"
        _put(console, _text(said, "bold"))
    _put(console, _text(summary_line(annotation.summary()), "bold"))
    # Changes without segments are not text, so they have no words that could differ.
    unseen = sum(
        bool(change.segments) and not _reads_differently(change.segments)
        for change in text_changes(annotation)
    )
    if unseen:
        texts = "text differs" if unseen == 1 else "texts differ"
        terminal.note(
            f"{unseen:,} edited {texts} only in white space; use --ignore-space to ignore this"
        )
    if annotation.coarse:
        terminal.note(
            "a size limit was reached; the changes are correct, but may not be the fewest"
        )


def _reads_differently(segments: Sequence[Segment]) -> bool:
    """Tell whether anything other than white space differs."""
    before = "".join(segment.text for segment in segments if segment.kind != "inserted")
    after = "".join(segment.text for segment in segments if segment.kind != "deleted")
    return before.split() != after.split()


def summary_line(summary: Summary) -> str:
    """Return one line with the number of changes of each kind."""
    parts = [
        (summary.content, "text", "texts", "edited"),
        (summary.insertions, "part", "parts", f"inserted ({_counted(summary.inserted)})"),
        (summary.deletions, "part", "parts", f"deleted ({_counted(summary.deleted)})"),
        (summary.moved, "node", "nodes", "moved"),
        (summary.renamed, "node", "nodes", "with a new tag"),
        (summary.attributes, "node", "nodes", "with changed attributes"),
        (summary.layout, "white space change", "white space changes", "between elements"),
    ]
    said = [
        f"{count:,} {one if count == 1 else many} {what}"
        for count, one, many, what in parts
        if count
    ]
    return ", ".join(said) or "nothing changed"


def _counted(nodes: int) -> str:
    return f"{nodes:,} {'node' if nodes == 1 else 'nodes'}"


# ------------------------------------------------------------------ lists


def _parts(annotation: Annotation, facets: Sequence[Facet]) -> Iterator[Change]:
    """List the changes, except white space between elements."""
    return (change for change in annotation.parts(facets) if change.kind != "layout")


def _described(annotation: Annotation, change: Change, indent: int = 1) -> Iterator[Text]:
    """Describe the change of a node in one or a few lines."""
    page = _page(annotation, change.page)
    style = KIND_STYLES.get(change.kind, "yellow")
    room = _indent(indent)
    name = _label(page, change.node)
    size = int(page.size[change.node])
    is_leaf = int(page.content[change.node]) >= 0
    said = one_line(page.text(change.node), most=MAX_VALUE) if is_leaf or size <= MAX_READ else ""
    if change.kind == "updated" and not is_leaf:
        said = ""
    if name == "#bytes":
        said = f"{len(page.contents[int(page.content[change.node])]):,} bytes"
    more = f"  ({_counted(size)})" if size > 1 and change.kind in {"inserted", "deleted"} else ""
    words = {"moved": "moved", "renamed": "renamed"}.get(change.kind, "")
    if change.kind == "renamed" and change.partner is not None:
        words = f"was {_label(annotation.old, change.partner)}"
    line = f"{room}{KIND_SIGNS[change.kind]} {name}"
    yield _text("  ".join(part for part in (line, words, said) if part) + more, style)
    if change.page == "new" and "attributes" in change.facets:
        for each in annotation.attribute_changes(change.node):
            before, after = quote_pair(each.old or "", each.new or "", MAX_VALUE)
            before = "none" if each.old is None else before
            after = "none" if each.new is None else after
            yield _text(f"{room}    {one_line(each.name)}: {before} → {after}", style)


# ------------------------------------------------------------------ drawing


def _safe(text: str) -> str:
    """Make a line of a page safe to print; tabs between cells stay."""
    return printable(text, keep="\t")


def _middle_cut(text: str) -> str:
    """Shorten a long unchanged text by cutting its middle."""
    if len(text) <= 2 * MAX_VALUE:
        return text
    return f"{text[: MAX_VALUE // 2]} … {text[-MAX_VALUE // 2 :]}"


def _text(text: str, style: str = "") -> Text:
    from rich.text import Text  # noqa: PLC0415 - heavy

    return Text(text, style)


def _segments(segments: Sequence[Segment], style: str) -> Text:
    """Join the words of a line, with changed words highlighted."""
    drawn = _text("")
    whole = all(segment.kind == segments[0].kind for segment in segments)
    for segment in segments:
        stands_out = segment.kind != "same" and not whole
        drawn.append(_safe(segment.text), f"{style} reverse".strip() if stands_out else style)
    return drawn


def _put(console: Console, text: Text) -> None:
    console.print(text, soft_wrap=True)
