"""Answers: JSON that any client can read, and problems (RFC 9457) that name the field at fault."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any

from fastapi import HTTPException
from starlette.responses import JSONResponse

PROBLEM_TYPE = "application/problem+json"


class Answer(JSONResponse):
    """JSON in ASCII: half surrogate pairs, which pages can contain, cannot break it."""

    def render(self, content: object) -> bytes:
        """Write values as JSON."""
        text = json.dumps(plain(content), allow_nan=False, separators=(",", ":"))
        return text.encode("ascii")


class ProblemAnswer(Answer):
    """A problem as JSON."""

    media_type = PROBLEM_TYPE


class Problem(HTTPException):
    """A request that cannot be answered as it was asked.

    Args:
        status: the status of the answer.
        detail: a sentence for people.
        field: the field at fault.
        headers: headers of the answer.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        field: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.field: str = field


def problem(
    status: int, detail: str, *, headers: Mapping[str, str] | None = None, **members: object
) -> ProblemAnswer:
    """Return a problem as an answer.

    Args:
        status: the status.
        detail: a sentence for people.
        headers: headers of the answer.
        members: further members of the JSON object; empty ones are left out.
    """
    content = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        **{name: value for name, value in members.items() if value},
    }
    return ProblemAnswer(content, status, headers)


def plain(value: Any) -> Any:  # noqa: ANN401 - any value that has a meaning in JSON
    """Return a value as plain data for JSON: times as text, data classes as mappings.

    >>> from datetime import UTC
    >>> plain({"time": datetime(2026, 5, 1, tzinfo=UTC), "tags": ("a",)})
    {'time': '2026-05-01T00:00:00+00:00', 'tags': ['a']}
    """
    if isinstance(value, datetime):
        return value.isoformat()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    return value
