"""The rivals, one adapter each, all with the same few verbs.

An adapter holds no measuring code and does no more than the library's own
documentation would tell a user to do. A library that is not installed is left
out of the run; ``missing`` says which and why.
"""

import importlib
from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol


class Peer(Protocol):
    """What a benchmark may ask of a library. Trees are the library's own objects."""

    name: str

    def parse(self, body: bytes) -> Any:
        """Turn page bytes into the library's tree."""

    def count_by_walk(self, tree: Any) -> Counter[str]:
        """Nodes by name, visiting each from Python; texts and comments too where they are nodes."""

    def count_by_query(self, tree: Any) -> Counter[str]:
        """Elements by name, the nodes found by the library's own ``*`` query."""

    def serialise(self, tree: Any) -> bytes:
        """Write the tree as markup again."""


#: Module and class of each adapter, by the name used in tables and on the command line.
PEERS = {
    "quire": ("ours", "Quire"),
    "selectolax": ("selectolax_lexbor", "Selectolax"),
    "lxml.html": ("lxml_trees", "LxmlHtml"),
    "lxml.etree": ("lxml_trees", "LxmlEtree"),
    "ElementTree": ("elementtree", "ElementTree"),
    "turbohtml": ("turbohtml_tree", "TurboHtml"),
    "resiliparse": ("resiliparse_tree", "Resiliparse"),
    "html5lib": ("html5lib_tree", "Html5lib"),
}


def load(name: str) -> Peer:
    """The adapter of this name; ``ImportError`` if the library is not installed."""
    module, attribute = PEERS[name]
    peer: Peer = getattr(importlib.import_module(f"benchmarks.peers.{module}"), attribute)()
    return peer


def installed(names: Sequence[str]) -> tuple[list[Peer], list[str]]:
    """The adapters that can be loaded, and a note for each that cannot."""
    found: list[Peer] = []
    missing: list[str] = []
    for name in names:
        try:
            found.append(load(name))
        except ImportError as error:
            missing.append(f"{name} was left out: {error}")
    return found, missing
