"""What an event says, in the few words that lists show."""

from __future__ import annotations

from dataclasses import dataclass

from quire.sentinels.checking.replay import Firing
from quire.sentinels.service import StoredEvent


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


def told(found: StoredEvent | Firing) -> Told:
    """Return the words of a stored event or of a firing."""
    event = found.event
    return Told(event.name, list(event.added), list(event.removed), event.reason)
