"""Entries of feeds: RSS (0.9 to 2.0), Atom and JSON Feed, read from the digest of the feed.

Only the entries themselves are read: what they are called, where they are, and how the feed
identifies them. Entries inside of entries do not count. The cost is linear in the feed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from quire.digest.page import Digest

#: Entries of one feed that are read; real ones have 10 to 1,000.
MOST_ENTRIES = 20_000
#: Characters of a title or an address.
MOST_LETTERS = 2_000


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a feed.

    Attributes:
        key: how the feed identifies it: its guid or id, or else its address, or else its title.
        title: its title; may be empty.
        link: where it is, as the feed says it; may be empty.
    """

    key: str
    title: str
    link: str

    @property
    def line(self) -> str:
        """The title and the address, as people read them."""
        return " ".join(filter(None, (self.title, self.link or self.key)))


def feed_entries(page: Digest) -> list[Entry] | None:
    """Return the entries of a feed in their order; None if the page is not a feed.

    >>> import quire
    >>> rss = b"<rss><channel><item><title>Fish</title><link>/fish</link></item></channel></rss>"
    >>> feed_entries(quire.encode(rss))
    [Entry(key='/fish', title='Fish', link='/fish')]
    >>> feed_entries(quire.encode(b"<p>Fish")) is None
    True
    """
    if page.kind == "json":
        return _json_entries(page)
    if page.kind != "xml":
        return None
    names = [str(name) for name in page.tags]
    root = next(_children(page, 0, names), None)
    if root is None or _local(names[page.tag[root]]).lower() not in ("rss", "rdf", "feed"):
        return None
    return list(_xml_entries(page, names))


def _xml_entries(page: Digest, names: list[str]) -> Iterator[Entry]:
    wanted = [_local(name) in ("item", "entry") for name in names]
    tags, sizes = page.tag.tolist(), page.size.tolist()
    node, found = 0, 0
    while node < page.n and found < MOST_ENTRIES:
        if wanted[tags[node]]:
            yield _xml_entry(page, node, names)
            found += 1
            node += sizes[node]
        else:
            node += 1


def _xml_entry(page: Digest, node: int, names: list[str]) -> Entry:
    prefix = names[page.tag[node]].rpartition(":")[0]
    title, link, key = "", "", ""
    for child in _children(page, node, names):
        before, _, name = names[page.tag[child]].rpartition(":")
        if before != prefix:  # media:title and the like describe something else
            continue
        if name == "title" and not title:
            title = _text(page, child)
        elif name == "link":
            values = page.attributes(child)
            if "href" not in values:
                link = link or _text(page, child)
            elif values.get("rel", "alternate") == "alternate":
                link = link or _clean(values["href"])
        elif name in ("guid", "id"):
            key = key or _text(page, child)
            is_address = name == "guid" and page.attributes(child).get("isPermaLink") != "false"
            if not link and is_address and key.startswith(("http://", "https://")):
                link = key
    return Entry(key or link or title, title, link)


def _json_entries(page: Digest) -> list[Entry] | None:
    names = [str(name) for name in page.tags]
    top = _members(page, 1, names) if page.n > 1 else {}
    items = top.get("items")
    if items is None or names[page.tag[items]] != "#array" or "version" not in top:
        return None
    found: list[Entry] = []
    for node in _children(page, items, names):
        if len(found) == MOST_ENTRIES:
            break
        inside = {
            name: _text(page, value)
            for name, value in _members(page, node, names).items()
            if name in ("id", "url", "external_url", "title") and page.size[value] <= 1
        }
        link = inside.get("url", "") or inside.get("external_url", "")
        title = inside.get("title", "")
        found.append(Entry(inside.get("id", "") or link or title, title, link))
    return found


def _members(page: Digest, node: int, names: list[str]) -> dict[str, int]:
    """Return the values of an object of JSON by their names."""
    if names[page.tag[node]] != "#object":
        return {}
    return {names[page.tag[child]]: child + 1 for child in _children(page, node, names)}


def _children(page: Digest, node: int, names: list[str]) -> Iterator[int]:
    """Return the elements right below a node; for JSON, members and items."""
    child, end = node + 1, node + int(page.size[node])
    while child < end:
        if page.kind == "json" or not names[page.tag[child]].startswith("#"):
            yield child
        child += int(page.size[child])


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _text(page: Digest, node: int) -> str:
    return _clean(page.text(node))


def _clean(text: str) -> str:
    return " ".join(text.split())[:MOST_LETTERS]
