"""Selectors of records: short CSS selectors that find the records of a region and nothing else.

A selector is only kept if it was tested on the page it was made for. Names of ids and classes last
longer than positions, so they are tried first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from quire.digest.page import Digest
from quire.extraction.region import Region

# Ids and classes with digits are often made by a program and differ on every page.
_STABLE = re.compile(r"[A-Za-z][A-Za-z_-]*")


@dataclass(frozen=True, slots=True)
class RecordSelector:
    """Where records are: each starts at ``starts``, and has the ``members`` up to the next start.

    ``members`` is empty if every record is one element.
    """

    starts: str
    members: str = ""

    def select(self, page: Digest) -> tuple[tuple[int, ...], ...]:
        """The records of a page; empty if nothing matches."""
        starts = page.select(self.starts).tolist()
        if not self.members or not starts:
            return tuple((int(node),) for node in starts)
        members = page.select(self.members)
        runs: list[list[int]] = [[] for _ in starts]
        for member in members.tolist():
            at = int(np.searchsorted(starts, member, side="right")) - 1
            if at >= 0:
                runs[at].append(int(member))
        return tuple(tuple(run) for run in runs if run)


def record_selector(page: Digest, region: Region) -> RecordSelector | None:
    """A selector for the records of a region; None if no short one finds exactly them."""
    starts = [record[0] for record in region.records]
    is_run = any(len(record) > 1 for record in region.records)
    for around in _containers(page, region.node):
        for item in _items(page, starts):
            for joint in (" > ", " "):
                selector = f"{around}{joint}{item}"
                if page.select(selector).tolist() != starts:
                    continue
                if not is_run:
                    return RecordSelector(selector)
                made = _with_members(page, region, around, joint, selector)
                if made is not None:
                    return made
    return None


def _with_members(
    page: Digest, region: Region, around: str, joint: str, starts: str
) -> RecordSelector | None:
    nodes = sorted({node for record in region.records for node in record})
    by_tag: dict[str, list[int]] = {}
    for node in nodes:
        by_tag.setdefault(page.tag_names[int(page.tag[node])], []).append(node)
    groups = [next(_items(page, found)) for found in by_tag.values()]
    plain = list(by_tag)
    for names in (groups, plain):
        made = RecordSelector(starts, ", ".join(f"{around}{joint}{name}" for name in names))
        if made.select(page) == region.records:
            return made
    return None


def _containers(page: Digest, node: int) -> Iterator[str]:
    """Selectors of the element around the records, those that last longest first."""
    at = node
    below: list[str] = []
    for _ in range(4):
        if at <= 0 or page.tag_names[int(page.tag[at])].startswith("#"):
            break
        for name in _names(page, at):
            if len(page.select(name)) == 1:
                yield " > ".join([name, *below])
        below.insert(0, page.tag_names[int(page.tag[at])])
        at = int(page.parent[at])
    yield page.path(node)


def _names(page: Digest, node: int) -> Iterator[str]:
    attributes = page.attributes(node)
    tag = page.tag_names[int(page.tag[node])]
    if _STABLE.fullmatch(attributes.get("id", "")):
        yield f"#{attributes['id']}"
    tokens = [token for token in attributes.get("class", "").split() if _STABLE.fullmatch(token)]
    for token in tokens:
        yield f"{tag}.{token}"
    if len(tokens) > 1:
        yield tag + "".join(f".{token}" for token in tokens)
    if tag in {"main", "table"}:
        yield tag


def _items(page: Digest, nodes: list[int]) -> Iterator[str]:
    """Selectors of one record: the name with a class that all have, or only the name."""
    tags = {page.tag_names[int(page.tag[node])] for node in nodes}
    if len(tags) > 1:
        yield ":is(" + ", ".join(sorted(tags)) + ")"
        return
    (tag,) = tags
    shared: set[str] | None = None
    for node in nodes:
        tokens = set(page.attributes(node).get("class", "").split())
        shared = tokens if shared is None else shared & tokens
    for token in sorted(shared or ()):
        if _STABLE.fullmatch(token):
            yield f"{tag}.{token}"
    yield tag
    if tag == "tr":
        yield "tbody > tr"
        yield "tr:has(td)"
