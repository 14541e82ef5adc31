"""Detail pages: several pages of one template, one record each; the slots that vary are the fields.

A text that nearly all pages have at the same place belongs to the template. What stands between two
such texts is a slot, known by the last template text in front of it and by its path. Slots whose
values differ between pages become columns, one row for each page.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from quire.digest.page import Digest
from quire.extraction.outline import Outline, outline
from quire.extraction.region import Region, RegionSource
from quire.extraction.table.alignment import BETWEEN
from quire.extraction.table.cells import Key, Source, first_class
from quire.extraction.table.names import label_of
from quire.extraction.table.table import Column
from quire.extraction.table.values import ValueType, column_type

# A text of the template is on this share of pages; a field has a value on that share.
_TEMPLATE = 0.8
_LEAST_FILLED = 0.2
#: Slots cannot be told from the template with fewer pages.
LEAST_PAGES = 3
# Only the last labels of a path count: pages differ in wrappers around the whole.
_LABELS = 5
_MOST_LEAVES = 20_000
# A text that comes after texts of the template so often can be a value of theirs.
_AFTER_LABELS = 0.9
_MOST_NAME = 40
_HEADINGS = {f"h{level}" for level in range(1, 7)}


#: A text of a page: its path and its value.
_Text: TypeAlias = tuple[tuple[str, ...], str]


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A text, a link or an image of a page, with its place and its value."""

    path: tuple[str, ...]
    source: Source
    value: str
    node: int


@dataclass(frozen=True, slots=True)
class _Slot:
    """A place of the template: after which text, and on which path."""

    after: str
    path: tuple[str, ...]
    source: Source


def details(pages: Sequence[Digest]) -> Region:
    """Read pages of one template as a table with one row for each page.

    >>> import quire
    >>> def page(name, price):
    ...     return quire.encode(f"<h1>{name}</h1><p>Price: <b>{price} €</b><p>Buy it now".encode())
    >>> found = details([page("Cod", 8), page("Hake", 9), page("Sole", 14), page("Eel", 11)])
    >>> found.names, found.rows[1]
    (('title', 'Price'), ('Hake', '9 €'))

    Args:
        pages: pages of one template, as ``quire.templates`` groups them; at least three.

    Raises:
        ValueError: there are fewer than three pages.
    """
    if len(pages) < LEAST_PAGES:
        raise ValueError(f"{len(pages)} pages; at least {LEAST_PAGES} of one template are needed")
    read = [_leaves(outline(page)) for page in pages]
    template, labels = _template(read), _inner_labels(read)
    slots: dict[_Slot, list[list[_Leaf]]] = defaultdict(lambda: [[] for _ in pages])
    places: dict[_Slot, list[float]] = defaultdict(list)
    for at, leaves in enumerate(read):
        after = ""
        for place, leaf in enumerate(leaves):
            if (leaf.path, leaf.value) in template:
                after = leaf.value if leaf.source is Source.TEXT else after
                continue
            slot, value = _in_slot(leaf, after, labels)
            slots[slot][at].append(value)
            places[slot].append(place / len(leaves))
    order = sorted(slots, key=lambda slot: sum(places[slot]) / len(places[slot]))
    return _region(order, slots, len(pages))


def _leaves(view: Outline) -> list[_Leaf]:
    page = view.page
    names = page.tag_names
    wanted = np.array([name in {"a", "img", "#text"} for name in names], bool)
    nodes = np.flatnonzero(wanted[page.tag] & (view.elements | view.leaves))[:_MOST_LEAVES]
    labels: dict[int, str] = {}
    found = []
    for node in nodes.tolist():
        name = names[int(page.tag[node])]
        attributes = page.attributes(node) if page.attr[node] >= 0 else {}
        if name == "#text":
            value, source = " ".join(page.text(node).split()), Source.TEXT
        elif name == "a":
            value, source = attributes.get("href", ""), Source.LINK
        else:
            value, source = attributes.get("src", ""), Source.IMAGE
        if value:
            found.append(_Leaf(_path(view, node, labels), source, value, node))
    return found


def _path(view: Outline, node: int, labels: dict[int, str]) -> tuple[str, ...]:
    path: list[str] = []
    at = node
    while at > 0 and len(path) < _LABELS:
        label = labels.get(at)
        if label is None:
            label = view.page.tag_names[int(view.page.tag[at])]
            if view.page.attr[at] >= 0:
                label += first_class(view.page, at)
            labels[at] = label
        path.append(label)
        at = int(view.parent[at])
    return tuple(reversed(path))


def _template(read: list[list[_Leaf]]) -> set[_Text]:
    on: Counter[_Text] = Counter()
    for leaves in read:
        on.update({(leaf.path, leaf.value) for leaf in leaves})
    found = {key for key, count in on.items() if count >= _TEMPLATE * len(read)}
    return found - _common_values(read, found)


def _common_values(read: list[list[_Leaf]], template: set[_Text]) -> set[_Text]:
    """Values that many pages have, and that are texts of the template by their number only.

    ``not specified`` comes after one label here and after another there. ``new`` always comes after
    the same label, which is followed by something else on the few pages without it.
    """
    before: dict[_Text, Counter[_Text | None]] = defaultdict(Counter)
    with_pair: Counter[tuple[_Text, _Text]] = Counter()
    followed: dict[_Text, Counter[tuple[str, ...]]] = defaultdict(Counter)
    on: Counter[_Text] = Counter()
    for leaves in read:
        texts = [(leaf.path, leaf.value) for leaf in leaves if leaf.source is Source.TEXT]
        pairs = set()
        after: set[tuple[_Text, tuple[str, ...]]] = set()
        last: _Text | None = None
        for text in texts:
            if last is not None:
                after.add((last, text[0]))
            if text in template:
                before[text][last] += 1
                if last is not None:
                    pairs.add((last, text))
            last = text if text in template else None
        with_pair.update(pairs)
        on.update(set(texts) & template)
        for label, path in after:
            followed[label][path] += 1
    found = set()
    for text, labels in before.items():
        known = {label: count for label, count in labels.items() if label is not None}
        if sum(known.values()) < _AFTER_LABELS * sum(labels.values()):
            continue  # mostly after a value: a label
        label = max(known, key=lambda each: with_pair[each, text])
        pages = with_pair[label, text]
        is_spread = len(known) > 1 and pages < _TEMPLATE * len(read)
        is_alone = pages == on[text] < followed[label][text[0]] == on[label]
        if is_spread or is_alone:
            found.add(text)
    return found


def _region(order: list[_Slot], slots: dict[_Slot, list[list[_Leaf]]], count: int) -> Region:
    columns: list[Column] = []
    values: list[list[str | None]] = []
    nodes: list[list[int | None]] = []
    used: Counter[str] = Counter()
    for slot in order:
        found = slots[slot]
        shown = [_joined(leaves) for leaves in found]
        filled = [value for value in shown if value]
        if len(filled) < max(_LEAST_FILLED * count, 2) or len(set(filled)) == 1:
            continue
        kind = {Source.LINK: ValueType.LINK, Source.IMAGE: ValueType.IMAGE}.get(slot.source)
        name = _name(slot)
        used[name] += 1
        if used[name] > 1:
            name = f"{name} {used[name]}"
        columns.append(Column(name, kind or column_type(shown), Key(slot.path, slot.source)))
        values.append(shown)
        nodes.append([leaves[0].node if leaves else None for leaves in found])
    return Region(
        node=0,
        path=":root",
        confidence=1.0,
        source=RegionSource.VISIBLE,
        records=tuple((0,) for _ in range(count)),
        columns=tuple(columns),
        rows=tuple(zip(*values, strict=True)) if values else tuple(() for _ in range(count)),
        nodes=tuple(zip(*nodes, strict=True)) if nodes else tuple(() for _ in range(count)),
    )


def _inner_labels(read: list[list[_Leaf]]) -> set[_Text]:
    """Labels in front of values in one text, ``Price`` of ``Price: 3``, with their paths."""
    on: Counter[_Text] = Counter()
    for leaves in read:
        on.update({(leaf.path, label) for leaf in leaves if (label := _inner_label(leaf))})
    return {key for key, count in on.items() if count >= max(_LEAST_FILLED * len(read), 2)}


def _in_slot(leaf: _Leaf, after: str, labels: set[_Text]) -> tuple[_Slot, _Leaf]:
    """The slot of a leaf, and the leaf without a label that it begins with."""
    label = _inner_label(leaf)
    if label is None or (leaf.path, label) not in labels:
        return _Slot(after, leaf.path, leaf.source), leaf
    value = leaf.value.partition(":")[2].strip()
    return _Slot(label, leaf.path, leaf.source), replace(leaf, value=value)


def _inner_label(leaf: _Leaf) -> str | None:
    if leaf.source is not Source.TEXT or not leaf.value.partition(":")[2].strip():
        return None
    return label_of(leaf.value)


def _joined(leaves: list[_Leaf]) -> str | None:
    if not leaves:
        return None
    if leaves[0].source is not Source.TEXT:
        return leaves[0].value
    texts = (re.sub(r"^[\s:–—|•·,;-]+(?=\S)|[\s:|•·,;]+$", "", leaf.value) for leaf in leaves)
    return BETWEEN.join(dict.fromkeys(text for text in texts if text)) or None


def _name(slot: _Slot) -> str:
    tags = [label.partition(".")[0] for label in slot.path]
    if _HEADINGS & set(tags):
        name = "title"
    else:
        label = slot.after.strip(" :–-•·|,.()")
        is_label = 0 < len(label) <= _MOST_NAME and any(map(str.isalpha, label))
        name = label if is_label else {"#text": "text", "img": "image"}.get(tags[-1], tags[-1])
    return {Source.LINK: f"{name} link", Source.IMAGE: f"{name} image"}.get(slot.source, name)
