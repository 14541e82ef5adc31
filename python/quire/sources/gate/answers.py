"""Answers: reads the answers of servers within limits, and turns every failure into ours."""

from __future__ import annotations

import asyncio
import functools
import mmap
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from email.utils import parsedate_to_datetime
from typing import TypeVar

import aiohttp
from aiohttp import http_exceptions

from quire.display import printable, shorten
from quire.errors import FetchCause, FetchFailed
from quire.sources.codings import CannotDecode, TooLong, undo_codings
from quire.sources.gate.limits import Limits, too_large, too_slow
from quire.sources.gate.resolver import AddressRefused
from quire.sources.gate.urls import WebAddress

_Error = TypeVar("_Error", bound=BaseException)

# Larger bodies are decoded in a thread, so that other fetches go on. 256 kB decode in some 5 ms.
_LARGE_BYTES = 256 * 1024


def check_fields(
    fields: Sequence[tuple[bytes, bytes]], address: WebAddress, limits: Limits
) -> None:
    """Check the number and the length of header fields.

    Raises:
        FetchFailed: there are too many, or they are too long; cause ``TOO_LARGE``.
    """
    if len(fields) > limits.header_count:
        raise too_large(
            address.key, "header_count", limits.header_count, f"{len(fields):,} header fields"
        )
    size = sum(len(name) + len(value) + 4 for name, value in fields)  # ": " and the end of the line
    if size > limits.header_bytes:
        raise too_large(
            address.key, "header_bytes", limits.header_bytes, f"{size:,} bytes of header"
        )


async def read_body(
    answer: aiohttp.ClientResponse,
    address: WebAddress,
    limits: Limits,
    grow: Callable[[], Awaitable[None]],
) -> bytes:
    """Read the body of an answer as it was sent.

    Args:
        answer: the answer, with its body unread.
        address: the page, for errors.
        limits: the limits.
        grow: called once if the body is large, before it is read on.

    Raises:
        FetchFailed: it is too long, or says that it is; cause ``TOO_LARGE``.
    """
    most = limits.wire_bytes
    declared = answer.content_length
    if declared is not None and declared > most and answer.method != "HEAD":
        raise too_large(address.key, "wire_bytes", most, f"a body of {declared:,} bytes")
    read = answer.content.readany
    pieces: list[bytes] = []
    size = 0
    while piece := await read():
        size += len(piece)
        if size > most:
            raise too_large(address.key, "wire_bytes", most, "the body goes on")
        pieces.append(piece)
        if size >= _LARGE_BYTES:
            await grow()
            return await _read_large(read, b"".join(pieces), address, most)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


async def _read_large(
    read: Callable[[], Awaitable[bytes]], begin: bytes, address: WebAddress, most: int
) -> bytes:
    """Read the rest of a large body into pages of memory that go back to the system at once.

    As a list of pieces or a growing array, two floods of 16 MB take 40 MB more: the holes that they
    leave behind are too small for the next one.
    """
    with mmap.mmap(-1, most) as body:
        body.write(begin)
        while piece := await read():
            if body.tell() + len(piece) > most:
                raise too_large(address.key, "wire_bytes", most, "the body goes on")
            body.write(piece)
        return body[: body.tell()]


def is_large(body: bytes) -> bool:
    """Tell whether a body is large: it is decoded in a thread, and few of them at once."""
    return len(body) >= _LARGE_BYTES


async def decoded(codings: list[str], body: bytes, address: WebAddress, limits: Limits) -> bytes:
    """Undo the content encodings of a body.

    Raises:
        FetchFailed: the body does not decode, or becomes too long.
    """
    most, limit = limits.most_decoded(len(body))
    work = functools.partial(undo_or_tell, codings, body, most)
    in_thread = asyncio.get_running_loop().run_in_executor
    outcome = await in_thread(None, work) if is_large(body) else work()
    if isinstance(outcome, TooLong):
        shown = limits.ratio if limit == "ratio" else most
        what = f"{len(body):,} sent bytes decode to more than {most:,}"
        raise too_large(address.key, limit, shown, what)
    if isinstance(outcome, CannotDecode):
        raise FetchFailed(
            f"{address.key}: the body does not decode: {outcome}",
            url=address.key,
            cause=FetchCause.BAD_ENCODING,
        )
    return outcome


def undo_or_tell(codings: list[str], body: bytes, most: int) -> bytes | CannotDecode:
    """Undo the codings, and return an error that would be raised.

    A raised error holds the frames that it went through, and so all that was decoded. The thread
    may hold the error for longer than the fetch, while the next body is decoded already.
    """
    try:
        return undo_codings(codings, body, most)
    except CannotDecode as error:
        error.__context__ = error.__cause__ = None
        return error.with_traceback(None)


def retry_after_s(value: str | None) -> float | None:
    """Read a Retry-After field: seconds, or a date. None if there is none that can be read.

    >>> retry_after_s("120"), retry_after_s("soon")
    (120.0, None)
    """
    if value is None:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        return parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, OverflowError, TypeError):
        return None


def refused(address: WebAddress, refusal: str) -> FetchFailed:
    """Make the error for a page on a network that is not allowed."""
    resolved = "" if address.literal is not None else f"{address.host} was resolved, and "
    return FetchFailed(
        f"{address.key}: {resolved}{refusal}", url=address.key, cause=FetchCause.REFUSED_ADDRESS
    )


def failure(  # noqa: C901, PLR0911, PLR0912 - a table
    error: BaseException, address: WebAddress, limits: Limits
) -> FetchFailed:
    """Turn an error of aiohttp, the system or the resolver into ours."""
    url = address.key
    own = _found(error, FetchFailed)
    if own is not None:
        if own.url == address.host:  # the resolver does not know the page
            return FetchFailed(f"{url}: {own}", url=url, cause=own.cause, limit=own.limit)
        return own
    refusal = _found(error, AddressRefused)
    if refusal is not None:
        return refused(address, str(refusal))

    def failed(cause: FetchCause, finding: str) -> FetchFailed:
        return FetchFailed(f"{url}: {finding}", url=url, cause=cause)

    match error:
        case aiohttp.ConnectionTimeoutError():
            return too_slow(url, "connect_s", limits.connect_s, "no connection")
        case aiohttp.ServerTimeoutError():
            return too_slow(url, "idle_s", limits.idle_s, "not a byte")
        case TimeoutError() if not isinstance(error, aiohttp.ClientError):
            return too_slow(url, "whole_s", limits.whole_s, "not done")
        case aiohttp.ClientConnectorCertificateError():
            reason = getattr(error.certificate_error, "verify_message", "") or str(
                error.certificate_error
            )
            return failed(FetchCause.TLS, f"the certificate is not valid: {reason}")
        case aiohttp.ClientSSLError() | ssl.SSLError():
            return failed(FetchCause.TLS, f"the encrypted connection failed ({_reason(error)})")
        case aiohttp.ClientHttpProxyError():
            return failed(FetchCause.PROXY, f"the proxy refused it with status {error.status}")
        case aiohttp.ClientProxyConnectionError():
            return failed(FetchCause.PROXY, f"the proxy cannot be reached ({_reason(error)})")
        case aiohttp.ClientConnectorError():
            return failed(FetchCause.CONNECT, f"no connection to the host ({_reason(error)})")
        case aiohttp.ClientPayloadError():
            return failed(FetchCause.TRUNCATED, "the connection was closed inside the body")
        case aiohttp.ClientResponseError():
            if _found(error, http_exceptions.LineTooLong) is not None:
                return too_large(url, "header_bytes", limits.header_bytes, "a long header field")
            finding = printable(error.message.partition("\n")[0].removesuffix(":"))
            return failed(FetchCause.BAD_HTTP, f"not a valid HTTP answer ({shorten(finding, 80)})")
        case aiohttp.ClientConnectionError() | OSError():
            return failed(FetchCause.CONNECT, "the host closed the connection without an answer")
    return failed(FetchCause.BAD_HTTP, f"not a valid HTTP exchange ({error})")


def _found(error: BaseException | None, kind: type[_Error]) -> _Error | None:
    """Find an error of some kind inside another; aiohttp wraps errors of parsers and resolvers."""
    while error is not None:
        if isinstance(error, kind):
            return error
        error = error.__cause__ or getattr(error, "os_error", None)
    return None


def _reason(error: BaseException) -> str:
    inner = getattr(error, "os_error", None) or error
    return getattr(inner, "strerror", None) or getattr(inner, "reason", None) or str(inner)
