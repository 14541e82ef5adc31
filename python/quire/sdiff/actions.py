"""Actions: what an edit script says, as small values that print themselves.

They are read from the JSON form of a script (``docs/edit-script.md``), so what is
here is what is there. Every node is named by its number on the old page, on the new page, or on
both; a place is a parent and the sibling before it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from quire.display import quote_pair

T = TypeVar("T")

# How much of a text is shown.
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A node by its number: on both pages, or on the one it is on.

    Attributes:
        old: its number on the old page; None for inserted nodes.
        new: its number on the new page; None for deleted nodes.
    """

    old: int | None
    new: int | None

    def __str__(self) -> str:
        if self.old == self.new or self.old is None or self.new is None:
            return f"{self.new if self.old is None else self.old}"
        return f"{self.old}→{self.new}"


@dataclass(frozen=True, slots=True)
class Place:
    """A place among the children of a node.

    Attributes:
        parent: the parent.
        previous: the sibling before; None for the first child.
    """

    parent: NodeRef
    previous: NodeRef | None

    def __str__(self) -> str:
        where = "first" if self.previous is None else f"after {self.previous}"
        return f"in {self.parent}, {where}"


@dataclass(frozen=True, slots=True)
class ValueChange(Generic[T]):
    """What a value was and what it is; None for none, and for what a script left out."""

    old: T | None
    new: T | None


@dataclass(frozen=True, slots=True)
class ScriptNode:
    """A node of a piece that comes or goes; without a name, a hole in which a node stays.

    Attributes:
        node: its number.
        children: how many of the nodes that follow are its children.
        name: its tag; None for holes, and for deleted nodes of scripts without a way back.
        attributes: its attributes as written.
        content: its own content as written.
    """

    node: NodeRef
    children: int
    name: str | None
    attributes: bytes | None
    content: bytes | None


@dataclass(frozen=True, slots=True)
class Insert:
    """Adjacent siblings that are new, with all below them.

    Attributes:
        at: where the first of them stands on the new page.
        nodes: the nodes in pre-order.
    """

    at: Place
    nodes: tuple[ScriptNode, ...]

    def __str__(self) -> str:
        return f"insert {_piece(self.nodes)} {self.at}"


@dataclass(frozen=True, slots=True)
class Delete:
    """Adjacent siblings that are gone, with all below them.

    Attributes:
        at: where the first of them stood on the old page.
        nodes: the nodes in pre-order.
    """

    at: Place
    nodes: tuple[ScriptNode, ...]

    def __str__(self) -> str:
        return f"delete {_piece(self.nodes)} {self.at}"


@dataclass(frozen=True, slots=True)
class MovedNode:
    """A node that went elsewhere, with all below it."""

    node: NodeRef
    name: str
    origin: Place
    to: Place


@dataclass(frozen=True, slots=True)
class Move:
    """Siblings that went elsewhere together."""

    nodes: tuple[MovedNode, ...]

    def __str__(self) -> str:
        first = self.nodes[0]
        others = f" and {len(self.nodes) - 1} more" if len(self.nodes) > 1 else ""
        return f"move {first.name} {first.node}{others} {first.to}"


@dataclass(frozen=True, slots=True)
class Update:
    """A node whose attributes or content changed.

    Attributes:
        node: the node.
        name: its tag.
        attributes: its attributes as written, if they changed.
        content: its content as written, if it changed.
    """

    node: NodeRef
    name: str
    attributes: ValueChange[bytes] | None
    content: ValueChange[bytes] | None

    def __str__(self) -> str:
        return f"update {self.name} {self.node}{_values(self.attributes, self.content)}"


@dataclass(frozen=True, slots=True)
class Rename:
    """A node whose tag changed, with what else changed on it.

    Attributes:
        node: the node.
        name: its tag.
        attributes: its attributes as written, if they changed.
        content: its content as written, if it changed.
    """

    node: NodeRef
    name: ValueChange[str]
    attributes: ValueChange[bytes] | None
    content: ValueChange[bytes] | None

    def __str__(self) -> str:
        names = f"{self.name.old or '?'} {self.node} to {self.name.new}"
        return f"rename {names}{_values(self.attributes, self.content)}"


Action: TypeAlias = Insert | Delete | Move | Update | Rename


def action_of(entry: Mapping[str, Any]) -> Action:
    """Read one action from its JSON form."""
    kind = entry["action"]
    if kind == "insert":
        return Insert(_place(entry["at"]), tuple(map(_row, entry["nodes"])))
    if kind == "delete":
        return Delete(_place(entry["at"]), tuple(map(_row, entry["nodes"])))
    if kind == "move":
        return Move(
            tuple(
                MovedNode(
                    _ref(moved["node"]), moved["name"], _place(moved["from"]), _place(moved["to"])
                )
                for moved in entry["nodes"]
            )
        )
    attributes = _change(entry.get("attributes"), raw_of)
    content = _change(entry.get("content"), lambda value: raw_of(value["raw"]))
    if kind == "update":
        return Update(_ref(entry["node"]), entry.get("name", ""), attributes, content)
    name = _change(entry["tag"], lambda tag: str(tag["name"])) or ValueChange(None, None)
    return Rename(_ref(entry["node"]), name, attributes, content)


def raw_of(value: str | Mapping[str, str]) -> bytes:
    """Read bytes: a string where they are UTF-8, else base64."""
    return value.encode() if isinstance(value, str) else base64.b64decode(value["base64"])


def _ref(entry: Mapping[str, int]) -> NodeRef:
    return NodeRef(entry.get("old"), entry.get("new"))


def _place(entry: Mapping[str, Any]) -> Place:
    previous = entry["previous"]
    return Place(_ref(entry["parent"]), previous and _ref(previous))


def _row(entry: Mapping[str, Any]) -> ScriptNode:
    tag, attributes, content = (entry.get(key) for key in ("tag", "attributes", "content"))
    return ScriptNode(
        _ref(entry),
        entry.get("children", 0),
        tag and tag["name"],
        None if attributes is None else raw_of(attributes),
        None if content is None else raw_of(content["raw"]),
    )


def _change(entry: Mapping[str, Any] | None, read: Callable[[Any], T]) -> ValueChange[T] | None:
    if entry is None:
        return None
    old, new = entry["old"], entry["new"]
    return ValueChange(None if old is None else read(old), None if new is None else read(new))


def _decoded(value: bytes | None) -> str:
    return (value or b"").decode(errors="backslashreplace")


def _short(value: bytes | None) -> str:
    text = " ".join(_decoded(value).split())
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def _piece(nodes: tuple[ScriptNode, ...]) -> str:
    """Name the first node that is not white space, its first text, and how many there are."""
    own = [node for node in nodes if node.name is not None or node.node.old is None]
    solid = [node for node in own if node.name != "#text" or (node.content or b"").strip()]
    first = (solid or own or list(nodes))[0]
    name = first.name or "node"
    texts = (node.content for node in solid if (node.content or b"").strip())
    text = next(texts, None)
    said = "" if text is None else f" {_short(text)}"
    count = f" ({len(own)} nodes)" if len(own) > 1 else ""
    return f"{name} {first.node}{said}{count}"


def _values(attributes: ValueChange[bytes] | None, content: ValueChange[bytes] | None) -> str:
    said = [
        " to ".join(quote_pair(_decoded(change.old), _decoded(change.new), _SHOWN))
        for change in (attributes, content)
        if change
    ]
    return f": {'; '.join(said)}" if said else ""
