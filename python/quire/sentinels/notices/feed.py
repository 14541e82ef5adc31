"""Atom feeds (RFC 4287) of events: one for each watch, one for each tag.

Ids are made from the ids of events, watches and tags, so an entry stays the same entry in a feed
reader, wherever the service runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

from quire.display import is_web_address
from quire.sentinels.notices.escaping import one_line, xml
from quire.sentinels.notices.event import Event
from quire.sentinels.notices.message import event_html, event_link, headline

#: Entries of a feed. Feed readers remember older ones themselves.
MOST_ENTRIES = 100

CONTENT_TYPE = "application/atom+xml; charset=utf-8"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def watch_feed(
    watch: str, name: str, events: Sequence[Event], *, feed_url: str = "", base_url: str = ""
) -> bytes:
    """Write the feed of one watch.

    Args:
        watch: the id of the watch.
        name: its name.
        events: its events, in any order.
        feed_url: the address of the feed.
        base_url: the address of the service, for links.
    """
    return _feed(f"watch {watch}", f"Changes of {name}", events, feed_url, base_url)


def tag_feed(tag: str, events: Sequence[Event], *, feed_url: str = "", base_url: str = "") -> bytes:
    """Write the feed of all watches with a tag.

    Args:
        tag: the tag.
        events: the events of these watches, in any order.
        feed_url: the address of the feed.
        base_url: the address of the service, for links.
    """
    return _feed(f"tag {tag}", f"Changes of watches with the tag {tag}", events, feed_url, base_url)


def _feed(ident: str, title: str, events: Sequence[Event], feed_url: str, base_url: str) -> bytes:
    newest = sorted(events, key=lambda event: (event.time, event.id), reverse=True)
    updated = newest[0].time if newest else _EPOCH
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<id>{_urn(ident)}</id>",
        f"<title>{xml(one_line(title))}</title>",
        f"<updated>{_time(updated)}</updated>",
        "<author><name>quire</name></author>",
        *_link("self", feed_url),
        *(_entry(event, base_url) for event in newest[:MOST_ENTRIES]),
        "</feed>",
        "",
    ]
    return "\n".join(lines).encode("utf-8")


def _entry(event: Event, base_url: str) -> str:
    time = _time(event.time)
    return "\n".join(
        [
            "<entry>",
            f"<id>{_urn(f'event {event.id}')}</id>",
            f"<title>{xml(headline(event))}</title>",
            f"<published>{time}</published>",
            f"<updated>{time}</updated>",
            *_link("alternate", event_link(event, base_url) or event.url),
            *(f'<category term="{xml(one_line(tag))}"/>' for tag in event.tags),
            # HTML as text: escaped once for HTML, and once more for XML.
            f'<content type="html">{xml(event_html(event, base_url))}</content>',
            "</entry>",
        ]
    )


def _link(relation: str, address: str) -> list[str]:
    if not is_web_address(address):
        return []
    return [f'<link rel="{relation}" href="{xml(address)}"/>']


def _urn(text: str) -> str:
    """Return an id as a UUID, of a form that readers accept."""
    digest = bytearray(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80  # version 8: made by a method of our own (RFC 9562)
    digest[8] = digest[8] & 0x3F | 0x80
    digits = digest.hex()
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return "urn:uuid:" + "-".join(parts)


def _time(time: datetime) -> str:
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
