"""Events: a sentinel found something on a page, and someone is to hear about it.

An event is plain data, so that it can wait in a database until it is sent. Its id is a hash of
watch, page, versions and sentinel: the same finding has the same id, however often a crash makes
the service find it again. Receivers recognise repeated notices by it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, get_args

from quire.sentinels.conditions.finding import Finding
from quire.sentinels.notices.differences import NO_DIFFERENCES, Differences
from quire.sentinels.parts.part import ASPECTS, Aspect

SCHEMA = "quire-event/1"

#: What happened. ``change``: the condition of the watch holds. ``error``: the page cannot be
#: fetched, or something else came in its place. ``recovered``: the page is there again. ``lost``: a
#: watched part is not on the page any more. ``moved``: the part was found at another place, which a
#: person has to confirm. ``test``: a user tests a target.
EventKind: TypeAlias = Literal["change", "error", "recovered", "lost", "moved", "test"]
EVENT_KINDS: tuple[EventKind, ...] = get_args(EventKind)

#: Hexadecimal digits of an id: 128 bits.
ID_DIGITS = 32

# The others have places or tags before and after.
_VALUE_KINDS = frozenset({"inserted", "deleted", "edited"})

_CREDENTIALS = re.compile(r"^([a-z][a-z0-9+.-]*://)[^/?#]*@", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Event:
    """A sentinel found something.

    Attributes:
        id: see ``event_id``.
        kind: what happened.
        watch: the id of the watch.
        name: the name of the watch.
        url: the page. A user name and a password in it are removed.
        time: when it was found, with its time zone.
        old_version: the number of the version before; None if there is none.
        new_version: the number of the version in which it was found; None if there is none.
        old_time: when the old version was fetched.
        new_time: when the new version was fetched.
        aspects: the aspects of the watched parts that changed.
        reason: what happened, for kinds other than ``change``: a sentence for people.
        finding: the answer of the condition.
        differences: what changed.
        tags: the tags of the watch.
    """

    id: str
    kind: EventKind
    watch: str
    name: str
    url: str
    time: datetime
    old_version: int | None = None
    new_version: int | None = None
    old_time: datetime | None = None
    new_time: datetime | None = None
    aspects: tuple[Aspect, ...] = ()
    reason: str = ""
    finding: Finding | None = None
    differences: Differences = field(default=NO_DIFFERENCES)
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", _CREDENTIALS.sub(r"\1", self.url))

    @property
    def added(self) -> tuple[str, ...]:
        """The values that came, or that others became."""
        return tuple(
            each.after
            for each in self.differences.entries
            if each.kind in _VALUE_KINDS and each.after is not None
        )

    @property
    def removed(self) -> tuple[str, ...]:
        """The values that went, or that became others."""
        return tuple(
            each.before
            for each in self.differences.entries
            if each.kind in _VALUE_KINDS and each.before is not None
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the event as plain values, for JSON."""
        return {
            "schema": SCHEMA,
            "id": self.id,
            "kind": self.kind,
            "watch": self.watch,
            "name": self.name,
            "url": self.url,
            "time": _time_text(self.time),
            "old": {"version": self.old_version, "time": _time_text(self.old_time)},
            "new": {"version": self.new_version, "time": _time_text(self.new_time)},
            "aspects": list(self.aspects),
            "reason": self.reason,
            "finding": None if self.finding is None else _finding_dict(self.finding),
            "differences": self.differences.to_dict(),
            "tags": list(self.tags),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Event:
        """Make an event from what ``to_dict`` returned.

        Raises:
            ValueError: the values are not those of an event.
        """
        try:
            if data["schema"] != SCHEMA:
                raise ValueError(f"schema {data['schema']!r}; expected {SCHEMA!r}")
            return cls(
                id=str(data["id"]),
                kind=_known(EVENT_KINDS, data["kind"]),
                watch=str(data["watch"]),
                name=str(data["name"]),
                url=str(data["url"]),
                time=datetime.fromisoformat(data["time"]),
                old_version=data["old"]["version"],
                new_version=data["new"]["version"],
                old_time=_time(data["old"]["time"]),
                new_time=_time(data["new"]["time"]),
                aspects=tuple(_known(ASPECTS, each) for each in data["aspects"]),
                reason=str(data["reason"]),
                finding=None if data["finding"] is None else _finding(data["finding"]),
                differences=Differences.from_dict(data["differences"]),
                tags=tuple(str(each) for each in data["tags"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not an event: {error!r}") from None

    def to_json(self) -> str:
        """Return the event as JSON."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str | bytes) -> Event:
        """Read an event from JSON.

        Raises:
            ValueError: the text is not that of an event.
        """
        data = json.loads(text)
        if not isinstance(data, dict):
            raise ValueError("not an event: expected a JSON object")  # noqa: TRY004 - bad input
        return cls.from_dict(data)


def event_id(
    watch: str,
    url: str,
    sentinel: str,
    *,
    old_version: int | None,
    new_version: int | None,
    occurrence: str = "",
) -> str:
    """Return the id of an event: a hash of everything that tells it from others.

    >>> event_id("w1", "https://example.org/", "price", old_version=3, new_version=4)
    '8e614a4abdc6bbef9baddd0a62687de8'

    Args:
        watch: the id of the watch.
        url: the page.
        sentinel: the name of the sentinel.
        old_version: the number of the old version.
        new_version: the number of the new version.
        occurrence: tells apart what can happen more than once to the same versions, such as errors:
            the kind and the time of the first check that saw it.
    """
    parts = [watch, url, old_version, new_version, sentinel, occurrence]
    data = json.dumps(parts).encode("ascii")
    return hashlib.sha256(data).hexdigest()[:ID_DIGITS]


def _known(known: tuple[Any, ...], value: object) -> Any:  # noqa: ANN401 - one of the literals
    if value not in known:
        raise ValueError(f"{value!r}; expected one of {', '.join(known)}")
    return value


def _time_text(time: datetime | None) -> str | None:
    return None if time is None else time.astimezone(UTC).isoformat()


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _finding_dict(finding: Finding) -> dict[str, Any]:
    return {
        "condition": finding.condition,
        "holds": finding.holds,
        "reason": finding.reason,
        "parts": [_finding_dict(part) for part in finding.parts],
    }


def _finding(data: Mapping[str, Any]) -> Finding:
    return Finding(
        str(data["condition"]),
        data["holds"],
        str(data["reason"]),
        tuple(_finding(part) for part in data["parts"]),
    )
