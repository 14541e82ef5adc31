"""Names: what to call the columns of a region.

In this order: the header of the table, the ``itemprop`` of an element, a label beside the value
(``Price:``), a class that is a word, the element's own meaning (a heading is a title), the type.
"""

from __future__ import annotations

import re
from collections import Counter

from quire.digest.page import Digest
from quire.extraction.outline import Outline
from quire.extraction.table.alignment import Aligned
from quire.extraction.table.cells import Source
from quire.extraction.table.values import ValueType

# Classes for the look of things, as frameworks name them, and wrappers.
_LOOKS = re.compile(
    r"(?:flex|grid|row|col|columns?|container|wrapper|wrap|inner|outer|box|block|inline|hidden|visible|"
    r"clear|clearfix|left|right|center|top|bottom|float|pull|push|text|font|bg|border|rounded|shadow|"
    r"[mp][trblxyse]?|w|h|d|gap|space|items?|justify|align|self|order|sr|btn|button|icon|img|media|"
    r"body|content|card|cell|td|tr|th|span|div|link|even|odd|first|last|active|lazy|list|"
    r"css|sc|js|is|has|no|u|g|x|hover|focus|truncate|uppercase|small|large|bold|muted)"
)
_MEANT = {
    "time": "date",
    "address": "address",
    "cite": "cite",
    "code": "code",
    "figcaption": "caption",
}
_MOST_CHARACTERS = 40
_LABEL = re.compile(r"([^\W\d_][^:\n]{0,30}):")


def name_columns(
    view: Outline,
    columns: list[tuple[Aligned, ValueType]],
    headers: dict[int, str],
    labels: dict[int, str],
) -> list[str]:
    """Name columns; names are unique, repeated ones have a number.

    Args:
        view: the outline of the page.
        columns: the columns with their types.
        headers: names of table columns.
        labels: the label beside each column, by its place in ``columns``.
    """
    wanted = []
    for place, (column, kind) in enumerate(columns):
        name = _name(view, column, kind, headers, labels.get(place))
        if column.key.source is Source.LINK and not name.endswith("link"):
            name += " link"
        wanted.append(name)
    used: Counter[str] = Counter()
    again = Counter(wanted)
    found = []
    for name in wanted:
        used[name] += 1
        found.append(name if again[name] == 1 or used[name] == 1 else f"{name} {used[name]}")
    return found


def _name(
    view: Outline, column: Aligned, kind: ValueType, headers: dict[int, str], label: str | None
) -> str:
    cell = next((each for each in column.cells if each is not None), None)
    if cell is None:
        return "blank"  # a column that is known from another page
    if column.key.column in headers:
        return headers[column.key.column]
    top = len(column.key.path)
    at = cell.node
    from_class = ""
    meant = ""
    for _ in range(max(top, 1)):
        name = view.page.tag_names[int(view.page.tag[at])]
        attributes = view.page.attributes(at) if view.page.attr[at] >= 0 else {}
        if attributes.get("itemprop", "").strip():
            return _clean(str(attributes["itemprop"]).split()[0])
        from_class = from_class or _from_class(attributes.get("class", ""))
        if name in _MEANT:
            meant = meant or _MEANT[name]
        elif name in {"h1", "h2", "h3", "h4", "h5", "h6"}:
            meant = "title"
        at = int(view.parent[at])
    if label:
        return label
    if column.key.source is Source.IMAGE:
        return "image"
    return from_class or meant or _fallback(view.page, cell.node, column, kind)


def _from_class(classes: str) -> str:
    for token in classes.split():
        # `ProductCard_price__x7Gh2` is how CSS modules are written.
        module = re.fullmatch(r"[A-Za-z][\w-]*?_([A-Za-z][A-Za-z-]*)__[\w-]+", token)
        word = module[1] if module else token
        if re.search(r"\d|[:/\[\]]|__", word) or len(word) > _MOST_CHARACTERS:
            continue
        if re.fullmatch(r"[a-z]{0,3}[A-Z]+[a-z]?[A-Z]\w*|[A-Za-z]{1,2}", word):
            continue  # made by a program
        parts = [part for part in re.split(r"[-_]|(?<=[a-z])(?=[A-Z])", word) if part]
        if parts and not _LOOKS.fullmatch(parts[0].lower()):
            return _clean(" ".join(parts))
    return ""


def _fallback(page: Digest, node: int, column: Aligned, kind: ValueType) -> str:
    if column.key.source is Source.LINK:
        return "link"
    if kind is not ValueType.TEXT:
        return str(kind.value)
    tags = [label.split(".")[0] for label in column.key.path]
    if "a" in tags:
        return "title"
    if page.tag_names[int(page.tag[node])] == "dt" or "dt" in tags:
        return "term"
    return "text"


def label_of(text: str) -> str | None:
    """The label in front of a value, ``Price`` of ``Price: 3``; None if there is none."""
    hit = _LABEL.match(text)
    return _clean(hit[1]) if hit else None


def _clean(name: str) -> str:
    return " ".join(name.split())[:_MOST_CHARACTERS]
