"""Answers: what a fetch brought, and fetches that failed."""

from __future__ import annotations

from dataclasses import dataclass, field

from quire import _core


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch brought.

    Attributes:
        status: the status of the response.
        body: the decoded body.
        content_type: the content type, if any.
        etag: for the next conditional request.
        last_modified: for the next conditional request.
        headers: headers worth keeping.
        url: the address that answered, after redirects; empty for the page's own.
        not_modified: whether the server said that nothing changed.
        was_cut: whether the transfer ended early.
        seconds: how long it took.
        wire_bytes: how many bytes came over the wire.
    """

    status: int
    body: bytes
    content_type: str = ""
    etag: str | None = None
    last_modified: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    url: str = ""
    not_modified: bool = False
    was_cut: bool = False
    seconds: float = 0.0
    wire_bytes: int = 0


@dataclass(frozen=True, slots=True)
class FetchProblem:
    """A fetch that failed.

    Attributes:
        cause: why, in one word.
        message: why, for people.
        seconds: how long it took.
    """

    cause: str
    message: str
    seconds: float = 0.0


def source_hash(body: bytes) -> bytes:
    """Return 16 bytes that tell one body from another."""
    return _core.hash128(body)
