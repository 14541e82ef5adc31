"""Logs: one line for each event, as JSON unless a person reads them, without secrets.

The logs of uvicorn and other libraries go the same way. People get short lines, and none for requests
that went well.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, TextIO

import structlog
from starlette.status import HTTP_400_BAD_REQUEST

from quire.display import printable

#: Values under these names are never written.
SECRET_NAMES = frozenset(
    {"authorization", "cookie", "key", "password", "secret", "set-cookie", "token"}
)
HIDDEN = "<secret>"

_SECRETS = (
    (re.compile(r"quire_[A-Za-z0-9_-]{20,}"), "quire_<secret>"),
    (re.compile(r"(//)[^/?#\s@]*@"), rf"\1{HIDDEN}@"),
    (re.compile(r"([?&]token=)[^&\s\"']+"), rf"\1{HIDDEN}"),
    (
        re.compile(r"(?i)((?:authorization|cookie)['\"]?\s*[:=]\s*['\"]?)[^\r\n'\"]+"),
        rf"\1{HIDDEN}",
    ),
)
_DEEPEST = 5

# Added to every line, of ours and of libraries.
_FACTS: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
    structlog.processors.format_exc_info,
]


def logger() -> Any:  # noqa: ANN401 - structlog's loggers have no common type
    """Return the logger of the service. Before ``set_up_logs``, only warnings are printed."""
    return structlog.wrap_logger(
        logging.getLogger("quire"),
        processors=[
            structlog.stdlib.filter_by_level,
            *_FACTS,
            scrub,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
    )


def set_up_logs(stream: TextIO | None = None, *, as_json: bool | None = None) -> None:
    """Send all logs to a stream.

    Args:
        stream: the stream (default: standard error).
        as_json: write JSON instead of short lines (default: if the stream is not a terminal).
    """
    out = stream or sys.stderr
    if as_json is None:
        as_json = not out.isatty()
    last: list[Any] = [scrub, structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    last += [structlog.processors.JSONRenderer()] if as_json else [_on_one_line, _short]
    handler = logging.StreamHandler(out)
    if not as_json:
        handler.addFilter(_is_worth_a_line)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=_FACTS, processors=last)
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        other = logging.getLogger(name)
        other.handlers, other.propagate = [], True
        other.setLevel(logging.INFO if as_json else logging.WARNING)  # the CLI says all it says
    # Every request has a line of ours, and those of uvicorn have tokens of feeds in them.
    logging.getLogger("uvicorn.access").setLevel(logging.WARNING)


def scrub(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Remove secrets from a line of the log.

    >>> scrub(None, "", {"event": "GET /feed?token=abc", "password": "x", "to": "ftp://me:pw@h/"})
    {'event': 'GET /feed?token=<secret>', 'password': '<secret>', 'to': 'ftp://<secret>@h/'}
    """
    return {name: _scrubbed(name, value, 0) for name, value in event.items()}


def without_secrets(text: str) -> str:
    """Return a text with all that looks like a secret replaced."""
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


def _scrubbed(name: str, value: Any, depth: int) -> Any:  # noqa: ANN401 - any value of a log
    if name.lower() in SECRET_NAMES:
        return HIDDEN
    if isinstance(value, bool | int | float | None):
        return value
    if depth < _DEEPEST and isinstance(value, Mapping):
        return {key: _scrubbed(str(key), each, depth + 1) for key, each in value.items()}
    if depth < _DEEPEST and isinstance(value, list | tuple):
        return [_scrubbed("", each, depth + 1) for each in value]
    return without_secrets(value if isinstance(value, str) else repr(value))


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    """Tell whether a person would look for a line: not for requests that went well."""
    about = record.msg
    if not isinstance(about, dict) or about.get("event") != "request":
        return True
    return bool(about.get("status", 0) >= HTTP_400_BAD_REQUEST)


def _short(_: object, __: str, event: dict[str, Any]) -> str:
    """Write a line for people: the time of day, the level if it is not usual, and what happened.

    >>> _short(None, "", {"timestamp": "2026-05-01T10:00:05.1Z", "level": "info",
    ...     "event": "request", "method": "GET", "path": "/x", "status": 404, "seconds": 0.0021})
    '10:00:05  GET /x: 404'
    >>> _short(None, "", {"timestamp": "2026-05-01T10:00:05.1Z", "level": "warning",
    ...     "event": "log-in refused", "logger": "quire", "account": "", "client": "127.0.0.1"})
    '10:00:05  warning: log-in refused (client 127.0.0.1)'
    """
    words = str(event.get("event", ""))
    level, exception = event.get("level", "info"), event.get("exception", "")
    if words == "request":
        words = f"{event.get('method')} {event.get('path')}: {event.get('status')}"
    else:
        about = ", ".join(
            f"{name} {value}"
            for name, value in event.items()
            if name not in _SAID and value not in ("", None)
        )
        words += f" ({about})" if about else ""
    said = "" if level == "info" else f"{level}: "
    time = str(event.get("timestamp", "")).partition("T")[2][:8]
    return f"{time}  {said}{words}" + (f"\n{exception}" if exception else "")


_SAID = frozenset({"event", "level", "logger", "timestamp", "exception"})


def _on_one_line(_: object, __: str, event: dict[str, Any]) -> dict[str, Any]:
    """Keep text of strangers from writing further lines or controlling the terminal."""
    return {
        name: printable(value, keep="\n" if name == "exception" else "")
        if isinstance(value, str)
        else value
        for name, value in event.items()
    }
