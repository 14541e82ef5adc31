"""Events for the tests of notices, and text that would like to be more than text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from quire.sentinels.conditions.finding import yes
from quire.sentinels.notices import Difference, Differences, Event, event_id

START = datetime(2026, 5, 17, 9, 30, tzinfo=UTC)

# Each is a way out of some kind of text: markup, headers, placeholders, mentions, control
# characters, and characters that not every encoding has.
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "]]><evil/>",
    "<!--",
    "&lt;b&gt;",
    "&#60;script&#62;",
    "</li></ul><h1>quire says: all is well</h1>",
    "Fish\r\nBcc: everybody@example.org",
    "Fish\n\n.\r\nMAIL FROM:<a@example.org>",
    "Fish\x0bBcc: a@example.org\x0cX: y\x85Z: 1\u2028W: 2",
    "{name} {url} {link} {changes} {{name}} %s {0} {name.__class__}",
    "@everyone @here @channel <!channel> <!here> <@U123> <@&123> <#C1>",
    "[click](http://evil.example/) ![i](http://evil.example/i.png) <http://evil.example/|good>",
    "**bold** _it_ ~~gone~~ ||hidden|| `code` ```block``` # head\n> quoted",
    "javascript:alert(1)",
    "\x00\x01\x1b[31mred\x07\x7f\x9f",
    "\u202egnp.exe\u2066 \ufeff \ufffe \uffff",
    "half a pair: \ud83d and \udc00",
    "=?utf-8?q?encoded?= =HYPERLINK(1)",
    "x" * 100_000,
    "\n" * 5_000 + "far below",
)


def event(number: int = 1, **given: object) -> Event:
    """Make an event; events with different numbers have different ids."""
    values: dict[str, object] = {
        "id": event_id(
            "w1", "https://example.org/", "price", old_version=number, new_version=number + 1
        ),
        "kind": "change",
        "watch": "w1",
        "name": "Price of fish",
        "url": "https://example.org/fish",
        "time": START + timedelta(minutes=number),
        "old_version": number,
        "new_version": number + 1,
        "old_time": START,
        "new_time": START + timedelta(minutes=number),
        "aspects": ("text",),
        "finding": yes("text changed", "8.40 became 8.60"),
        "differences": Differences(
            (Difference("edited", "html > body > p", "text", "Fish 8.40", "Fish 8.60"),), 2
        ),
        "tags": ("food",),
    }
    return Event(**{**values, **given})  # type: ignore[arg-type]  # as the caller gave them


def hostile_event(text: str) -> Event:
    """Make an event with a text in every field that a page or a user fills."""
    return event(
        name=text,
        url=f"https://example.org/{text}",
        reason=text,
        finding=yes(text, text),
        differences=Differences(
            (
                Difference("edited", text, "text", text, text + "2"),
                Difference("edited", text, text, text, None),
                Difference("moved", text, "element", text, text),
                Difference("inserted", text, "element", None, text),
            ),
            3,
        ),
        tags=(text,),
    )
