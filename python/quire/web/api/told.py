"""What an event says, in the few words that lists show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Told:
    """The words of an event.

    Attributes:
        name: the name of the watch.
        added: texts that are new.
        removed: texts that are gone.
        message: a sentence, for events that are not changes.
    """

    name: str
    added: list[str]
    removed: list[str]
    message: str


def told(found: Any) -> Told:  # noqa: ANN401 - a stored event, or a firing of a replay
    """Return the words of a stored event or of a firing."""
    event = getattr(found, "event", None)
    if event is not None:
        return Told(str(event.name), _texts(event.added), _texts(event.removed), str(event.reason))
    body = found.body
    return Told(
        str(body.get("watch", "")),
        _texts(body.get("added")),
        _texts(body.get("removed")),
        str(body.get("message") or ""),
    )


def _texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list | tuple) else []
