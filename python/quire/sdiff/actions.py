"""The actions of an edit script, as small values that print themselves.

They are read from the JSON form of a script (``docs/edit-script.md``) and have the same fields.
Every node has its number on the old page, on the new page, or on both; a position is a parent and
the sibling before it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from quire.display import quote_pair

T = TypeVar("T")

# Texts are cut at this many characters when printed.
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class NodeRef:
    """The number of a node on one page or on both.

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
    """A position among the children of a node.

    Attributes:
        parent: the parent.
        previous: the sibling before the position; None for the first child.
    """

    parent: NodeRef
    previous: NodeRef | None

    def __str__(self) -> str:
        where = "first" if self.previous is None else f"after {self.previous}"
        return f"in {self.parent}, {where}"


@dataclass(frozen=True, slots=True)
class ValueChange(Generic[T]):
    """The old and the new value; None if there is none, or if the script left it out."""

    old: T | None
    new: T | None


@dataclass(frozen=True, slots=True)
class ScriptNode:
    """A node of an inserted or deleted part, or a placeholder for a node that stays.

    Attributes:
        node: its number.
        children: the number of its children among the nodes that follow.
        name: its tag; None for placeholders, and for deleted nodes of scripts that cannot be
            inverted.
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
    """Inserted adjacent siblings, with everything below them.

    Attributes:
        at: the position of the first one on the new page.
        nodes: the nodes in pre-order.
    """

    at: Place
    nodes: tuple[ScriptNode, ...]

    def __str__(self) -> str:
        return f"insert {_piece(self.nodes)} {self.at}"


@dataclass(frozen=True, slots=True)
class Delete:
    """Deleted adjacent siblings, with everything below them.

    Attributes:
        at: the position of the first one on the old page.
        nodes: the nodes in pre-order.
    """

    at: Place
    nodes: tuple[ScriptNode, ...]

    def __str__(self) -> str:
        return f"delete {_piece(self.nodes)} {self.at}"


@dataclass(frozen=True, slots=True)
class MovedNode:
    """A moved node, with everything below it."""

    node: NodeRef
    name: str
    origin: Place
    to: Place


@dataclass(frozen=True, slots=True)
class Move:
    """Siblings that moved together."""

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
    """A node whose tag changed, with its other changes.

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
    """Read bytes from a string, or from base64 if they are not UTF-8."""
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
    """Describe a part: its first node that is not white space, its first text, and its size."""
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
