"""Messages: what people and programs read when something happened.

Events go in; out come a subject, plain text, HTML, text for chat services, and JSON for webhooks.
Users can write the text themselves, with placeholders such as ``{name}``. This is not a template
language: placeholders are replaced in one pass, so text of a page that looks like a placeholder
stays text. Every value passes the escaping of its own output first; see ``escaping``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from quire.display import escape, format_count, is_web_address
from quire.sentinels.form.reading import PLACEHOLDERS
from quire.sentinels.notices.differences import Difference
from quire.sentinels.notices.escaping import chat, chat_address, one_line, plain
from quire.sentinels.notices.event import Event, EventKind

SCHEMA = "quire-notice/1"

#: Lines of changes in the text of one event, and events that are written out in one text.
MOST_LINES = 40
MOST_WRITTEN = 20
#: Characters of a text, beyond which no more placeholders are replaced.
MOST_TEXT = 30_000
#: Characters of a text for chat services. The strictest common one takes 2,000.
MOST_CHAT = 1_800
#: Characters of all differences in the JSON of one notice.
MOST_JSON = 500_000
MOST_SUBJECT = 150

_PLACEHOLDER = re.compile(r"\{(" + "|".join(PLACEHOLDERS) + r")\}")
_DEFAULT_TEXT = "{name}\n{url}\n{time}\n\n{changes}\n\n{link}"

_HEADLINES: dict[EventKind, str] = {
    "change": "changed",
    "error": "cannot be checked",
    "recovered": "can be checked again",
    "lost": "the watched part is gone",
    "moved": "the watched part was found at another place: please confirm",
    "test": "this is a test",
}


@dataclass(frozen=True, slots=True)
class Message:
    """A message, in every form in which it can be sent.

    Attributes:
        id: the same whenever the same message is sent again.
        subject: one line of plain text.
        text: plain text.
        html: the body of an HTML document.
        chat: text for chat services.
        data: plain values for webhooks.
    """

    id: str
    subject: str
    text: str
    html: str
    chat: str
    data: Mapping[str, Any]

    def json(self) -> bytes:
        """Return the JSON for webhooks."""
        # Halves of surrogate pairs cannot be encoded.
        return json.dumps(self.data, ensure_ascii=False).encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _Sink:
    """How values are written into one kind of text."""

    value: Callable[[str], str]
    address: Callable[[str], str]
    literal: Callable[[str], str]


def _linked(address: str) -> str:
    shown = one_line(address, 2_000)
    if shown != address or not is_web_address(address):
        return escape(shown)
    return f'<a href="{escape(address)}">{escape(shown)}</a>'


_PLAIN = _Sink(plain, lambda address: one_line(address, 2_000), plain)
_HTML = _Sink(lambda text: escape(plain(text)), _linked, lambda text: escape(plain(text)))
# The user may mention people in a text of their own.
_CHAT = _Sink(chat, chat_address, plain)


def compose(
    events: Sequence[Event], *, ident: str = "", text: str = "", base_url: str = ""
) -> Message:
    """Write the message for one event, or for several that are sent together.

    >>> from datetime import datetime
    >>> event = Event("e1", "error", "w1", "Fish", "https://example.org/",
    ...               datetime(2026, 5, 17, 9, 30, tzinfo=UTC), reason="no answer after 60 s")
    >>> print(compose([event], text="{name}: {changes}").text)
    Fish: no answer after 60 s

    Args:
        events: at least one.
        ident: the id of the message (default: that of the first event).
        text: the text of a notice with placeholders (default: name, address, time, changes, link).
        base_url: the address of the service, for links to changes; empty to leave them out.
    """
    written = events[:MOST_WRITTEN]
    rest = len(events) - len(written)
    more = f"and {format_count(rest, 'more notice')}" if rest else ""
    ident = ident or events[0].id
    return Message(
        id=ident,
        subject=_subject(events),
        text=_joined([_text(each, text, base_url, _PLAIN) for each in written], more),
        html=_html(written, text, base_url, more),
        chat=_short([_text(each, text, base_url, _CHAT) for each in events], len(events)),
        data=_data(ident, events, base_url),
    )


def headline(event: Event) -> str:
    """Say in one line what happened.

    >>> from datetime import datetime
    >>> headline(Event("e1", "lost", "w1", "Price", "https://example.org/", datetime.now(UTC)))
    'Price: the watched part is gone'
    """
    name = one_line(event.name, MOST_SUBJECT // 2)
    said = _HEADLINES[event.kind]
    return f"{name} {said}" if event.kind == "change" else f"{name}: {said}"


def event_link(event: Event, base_url: str) -> str:
    """Return the address of the page of an event on the service; empty if there is none."""
    if not base_url or event.kind == "test":
        return ""
    return f"{base_url.rstrip('/')}/events/{quote(event.id, safe='')}"


def event_html(event: Event, base_url: str = "") -> str:
    """Write what happened as HTML, for mail and feeds."""
    link = event_link(event, base_url)
    parts = [f"<p>{_linked(event.url)}<br>{escape(_time(event.time))}</p>"]
    if event.reason:
        parts.append(f"<p>{escape(one_line(event.reason, 2_000))}</p>")
    rows = [_row(each) for each in event.differences.entries[:MOST_LINES]]
    if rows:
        parts.append("<ul>" + "".join(rows) + "</ul>")
    left_out = _left_out(event, MOST_LINES)
    if left_out:
        parts.append(f"<p>{escape(left_out)}</p>")
    if link:
        parts.append(f'<p><a href="{escape(link)}">Show this change</a></p>')
    return "\n".join(parts)


def _subject(events: Sequence[Event]) -> str:
    if len(events) == 1:
        return one_line(headline(events[0]), MOST_SUBJECT)
    names = list(dict.fromkeys(one_line(each.name, 60) for each in events))
    return one_line(f"{format_count(len(events), 'notice')}: {', '.join(names)}", MOST_SUBJECT)


def _time(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _lines(event: Event) -> list[str]:
    """List the changes for people, one line each."""
    lines = [one_line(event.reason, 2_000)] if event.reason else []
    for each in event.differences.entries:
        place = "" if each.what == "text" else f"{one_line(each.what, 60)}: "
        if each.kind in {"moved", "renamed"}:
            before, after = one_line(each.before or ""), one_line(each.after or "")
            lines.append(f"~ {each.kind}: {before} → {after}")
            continue
        if each.before is not None:
            lines.append(f"- {place}{one_line(each.before)}")
        if each.after is not None:
            lines.append(f"+ {place}{one_line(each.after)}")
    return lines


def _left_out(event: Event, shown: int) -> str:
    rest = max(len(event.differences.entries) - shown, 0) + event.differences.left_out
    return f"and {format_count(rest, 'more change')}" if rest else ""


def _changes(event: Event) -> str:
    lines = _lines(event)
    cut = lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        cut.append(f"and {format_count(len(lines) - MOST_LINES, 'more line')}")
    if event.differences.left_out:
        cut.append(_left_out(event, len(event.differences.entries)))
    return "\n".join(cut)


def _values(event: Event, base_url: str, sink: _Sink) -> dict[str, str]:
    link = event_link(event, base_url)
    return {
        "name": sink.value(one_line(event.name)),
        "url": sink.address(event.url),
        "time": sink.value(_time(event.time)),
        "changes": sink.value(_changes(event) or _HEADLINES[event.kind]),
        "added": sink.value("\n".join(map(one_line, event.added[:MOST_LINES]))),
        "removed": sink.value("\n".join(map(one_line, event.removed[:MOST_LINES]))),
        "link": sink.address(link) if link else "",
    }


def _text(event: Event, text: str, base_url: str, sink: _Sink) -> str:
    values = _values(event, base_url, sink)
    if not text:
        values["name"] = sink.value(headline(event))
        text = _DEFAULT_TEXT
    return fill(text, values, sink.literal).strip()


def fill(text: str, values: Mapping[str, str], literal: Callable[[str], str] = str) -> str:
    """Replace placeholders in one pass: values that look like placeholders stay as they are.

    >>> fill("{name}: {changes}", {"name": "{changes}", "changes": "Fish"})
    '{changes}: Fish'

    Args:
        text: text with placeholders. Unknown ones stay as they are.
        values: the values, escaped.
        literal: escapes the text between the placeholders.
    """
    pieces: list[str] = []
    length = end = 0
    for found in _PLACEHOLDER.finditer(text):
        pieces += literal(text[end : found.start()]), values.get(found[1], "")
        length += len(pieces[-2]) + len(pieces[-1])
        end = found.end()
        if length > MOST_TEXT:  # a text that repeats its placeholders
            return "".join([*pieces, "…"])
    pieces.append(literal(text[end:]))
    return "".join(pieces)


def _joined(texts: Sequence[str], more: str) -> str:
    return "\n\n---\n\n".join([*texts, more] if more else texts)


def _short(texts: Sequence[str], count: int) -> str:
    """Join as many texts as fit into a message of a chat service."""
    kept: list[str] = []
    left = MOST_CHAT
    for each in texts:
        if len(each) > left and kept:
            break
        kept.append(each if len(each) <= left else each[: left - 1] + "…")
        left -= len(each) + 2
        if left <= 0:
            break
    if len(kept) < count:
        kept.append(f"and {format_count(count - len(kept), 'more notice')}")
    return "\n\n".join(kept)


def _html(events: Sequence[Event], text: str, base_url: str, more: str) -> str:
    parts = []
    for each in events:
        if text:
            written = _text(each, text, base_url, _HTML)
            parts.append(f'<div style="white-space: pre-wrap">{written}</div>')
        else:
            parts.append(f"<h2>{escape(headline(each))}</h2>\n{event_html(each, base_url)}")
    if more:
        parts.append(f"<p>{escape(more)}</p>")
    return "\n<hr>\n".join(parts)


def _row(difference: Difference) -> str:
    before = escape(one_line(difference.before or "", 1_000))
    after = escape(one_line(difference.after or "", 1_000))
    if difference.kind in {"moved", "renamed"}:
        return f"<li>{difference.kind}: {before} → {after}</li>"
    what = "" if difference.what == "text" else f"{escape(one_line(difference.what, 60))}: "
    shown = []
    if difference.before is not None:
        shown.append(f"<del>{before}</del>")
    if difference.after is not None:
        shown.append(f"<ins>{after}</ins>")
    return f"<li>{what}{' '.join(shown)}</li>"


def _data(ident: str, events: Sequence[Event], base_url: str) -> dict[str, Any]:
    left = MOST_JSON
    listed = []
    for event in events:
        short = replace(event, differences=event.differences.cut(max(left, 0)))
        left -= sum(
            len(each.path) + len(each.before or "") + len(each.after or "")
            for each in short.differences.entries
        )
        listed.append({**short.to_dict(), "link": event_link(event, base_url) or None})
    return {"schema": SCHEMA, "id": ident, "subject": _subject(events), "events": listed}
