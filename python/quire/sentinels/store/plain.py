"""Values as the database holds them: signatures as bytes, fetching options and facts as JSON."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from datetime import UTC, datetime
from typing import Any

from quire.digest.signatures import Signatures
from quire.sentinels.form.watch import Fetching, Step
from quire.sentinels.pages.state import PageFacts

_WIDTH = 16


def signatures_to_bytes(signatures: Signatures) -> bytes:
    """Return the signatures of a page as 112 bytes.

    >>> import quire
    >>> found = quire.encode(b"<p>Fish").signatures
    >>> signatures_from_bytes(signatures_to_bytes(found)) == found
    True
    """
    values = (getattr(signatures, each.name) for each in dataclasses.fields(signatures))
    return b"".join(value.to_bytes(_WIDTH, "little") for value in values)


def signatures_from_bytes(data: bytes) -> Signatures:
    """Return signatures from their bytes."""
    return Signatures.of(
        int.from_bytes(data[at : at + _WIDTH], "little") for at in range(0, len(data), _WIDTH)
    )


def parts_to_bytes(signatures: tuple[tuple[bytes, ...], ...]) -> bytes | None:
    """Return the signatures of parts one after another; None if there are none."""
    return b"".join(each for part in signatures for each in part) or None


def parts_from_bytes(data: bytes | None, widths: list[int]) -> tuple[tuple[bytes, ...], ...]:
    """Return the signatures of parts, given the number of aspects of each.

    Bytes of another length belong to an older form of the watch: then there are none.
    """
    if data is None or len(data) != _WIDTH * sum(widths):
        return ()
    found = []
    at = 0
    for width in widths:
        ends = range(at, at + _WIDTH * width, _WIDTH)
        found.append(tuple(data[end : end + _WIDTH] for end in ends))
        at += _WIDTH * width
    return tuple(found)


def fetching_to_json(fetching: Fetching) -> dict[str, Any]:
    """Return fetching options as JSON; defaults are left out.

    >>> fetching_to_json(Fetching(robots=False))
    {'robots': False}
    """
    found: dict[str, Any] = {}
    for each in dataclasses.fields(fetching):
        value = getattr(fetching, each.name)
        if each.name == "steps":
            value = [dataclasses.asdict(step) for step in value]
        elif each.name in ("headers", "cookies"):
            value = dict(value)
        if (value and each.name not in ("robots", "verify_tls")) or (
            not value and each.name in ("robots", "verify_tls")
        ):
            found[each.name] = value
    return found


def fetching_from_json(data: dict[str, Any]) -> Fetching:
    """Return fetching options from JSON."""
    values = dict(data)
    values["steps"] = tuple(Step(**step) for step in values.get("steps", ()))
    return Fetching(**values)


def page_key(url: str, fetching: Fetching) -> str:
    """Return what identifies a page: its address and the way to fetch it."""
    text = json.dumps([url, fetching_to_json(fetching)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def facts_to_json(facts: PageFacts | None) -> dict[str, Any] | None:
    """Return facts as JSON."""
    return None if facts is None else dataclasses.asdict(facts)


def facts_from_json(data: dict[str, Any] | None) -> PageFacts | None:
    """Return facts from JSON."""
    return None if data is None else PageFacts(**data)


def seconds(time: datetime) -> float:
    """Return a time as seconds since 1970."""
    return time.timestamp()


def instant(value: float) -> datetime:
    """Return seconds since 1970 as a time in UTC."""
    return datetime.fromtimestamp(value, UTC)
