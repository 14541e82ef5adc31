"""Resolver: turns a host into the addresses that may be dialled, and refuses all others.

The name of a host is resolved once for each connection. Every answer is classified, and the client
dials only the addresses that passed: it has no other way to learn one. So a name that resolves to a
public address for the check and to a private one for the connection gains nothing. Keep-alive
connections keep the address that was checked.

``Dialler.open_socket`` classifies the address once more, at the last moment before it is dialled.
It also sees hosts that are addresses (``http://127.0.0.1/``), and any way around the resolver that
a later change may open.

A host's own addresses are refused as well, even public ones: services often trust them.
"""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from aiohttp.abc import AbstractResolver, ResolveResult

from quire.errors import FetchCause, FetchFailed
from quire.sources.gate.addresses import Address, Network, is_in, special_range

# Looks up the addresses of a host, as text. Tests replace it.
Lookup = Callable[[str], Awaitable[Sequence[str]]]

# A name whose servers do not answer occupies a thread for many seconds. Threads are only made when
# they are needed.
_MOST_LOOKUPS = 64

# An address that no host has: if a socket can be bound to it, the system lets sockets be bound to
# any address, and binding does not show which addresses are our own.
_NOT_OURS = "192.0.2.1"

_AddressInfo = tuple[int, int, int, str, tuple[str, int] | tuple[str, int, int, int]]


class AddressRefused(OSError):
    """A host resolves to addresses that must not be dialled."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The addresses that may be dialled: public ones, and the networks that the operator allows."""

    allowed: tuple[Network, ...] = ()

    def refusal(self, address: Address) -> str | None:
        """Return why an address must not be dialled, or None if it may be."""
        if self.allowed and is_in(address, self.allowed):
            return None
        found = special_range(address)
        if found is not None:
            return f"{address} is not a public address ({found.network}, {found.name})"
        return f"{address} is an address of this machine" if is_own(address) else None


def is_own(address: Address) -> bool:
    """Tell whether an address belongs to this machine: whether a socket can be bound to it."""
    return _can_bind(str(address)) and not _can_bind(_NOT_OURS)


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def _can_bind(address: str) -> bool:
    try:
        with socket.socket(_family(address), socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


class Resolver:
    """Resolves hosts to addresses that may be dialled."""

    def __init__(self, policy: Policy, lookup: Lookup | None = None) -> None:
        self.policy: Policy = policy
        self._pool: ThreadPoolExecutor | None = None
        self._lookup: Lookup = lookup or self._system_lookup

    async def addresses(self, host: str, *, timeout_s: float) -> list[Address]:
        """Resolve a host, or check it if it is an address.

        Raises:
            AddressRefused: none of its addresses may be dialled.
            FetchFailed: it cannot be resolved; cause ``DNS`` or ``TIMEOUT``.
        """
        literal = _as_address(host)
        found = [literal] if literal is not None else await self.lookup(host, timeout_s)
        refusals: list[str] = []
        passed: list[Address] = []
        for address in found:
            refusal = self.policy.refusal(address)
            if refusal is None:
                passed.append(address)
            else:
                refusals.append(refusal)
        if not passed:
            raise AddressRefused(refusals[0])
        return passed

    async def lookup(self, host: str, timeout_s: float) -> list[Address]:
        """Resolve a host without checking its addresses.

        Raises:
            FetchFailed: it cannot be resolved; cause ``DNS`` or ``TIMEOUT``.
        """
        try:
            async with asyncio.timeout(timeout_s):
                texts = await self._lookup(host)
        except TimeoutError:
            raise FetchFailed(
                f"{host}: the name was not resolved after {timeout_s:g} s (limit dns_s)",
                url=host,
                cause=FetchCause.TIMEOUT,
                limit="dns_s",
            ) from None
        except (OSError, UnicodeError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise FetchFailed(
                f"{host}: the name cannot be resolved ({reason})", url=host, cause=FetchCause.DNS
            ) from None
        # A zone would make the address mean another host on each interface.
        found = [_as_address(text) for text in dict.fromkeys(texts) if "%" not in text]
        known = [address for address in found if address is not None]
        if not known:
            raise FetchFailed(f"{host}: the name has no addresses", url=host, cause=FetchCause.DNS)
        return known

    async def _system_lookup(self, host: str) -> Sequence[str]:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(_MOST_LOOKUPS, thread_name_prefix="quire-dns")
        ask = functools.partial(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM)
        answers = await asyncio.get_running_loop().run_in_executor(self._pool, ask)
        return [str(answer[4][0]) for answer in answers]

    def close(self) -> None:
        """Let the threads go; those that still wait for an answer end by themselves."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


class Dialler(AbstractResolver):
    """Connects the resolver to aiohttp: it hands out checked addresses and opens sockets to them.

    A dialler with a ``proxy`` only ever dials that host, which the operator configured.
    """

    def __init__(self, resolver: Resolver, *, timeout_s: float, proxy: str | None = None) -> None:
        self._resolver = resolver
        self._timeout_s = timeout_s
        self._proxy = proxy
        self._proxy_addresses: set[str] = set()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Resolve a host for aiohttp, which asks for each new connection."""
        del family  # both families, and the answers say which they are of
        if self._proxy is None:
            addresses = await self._resolver.addresses(host, timeout_s=self._timeout_s)
        else:
            if host != self._proxy:
                raise AddressRefused(f"{host} is not the proxy")
            addresses = await self._resolver.lookup(host, self._timeout_s)
            self._proxy_addresses.update(str(address) for address in addresses)
        return [
            ResolveResult(
                hostname=host,
                host=str(address),
                port=port,
                family=_family(str(address)),
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    def open_socket(self, info: _AddressInfo) -> socket.socket:
        """Open a socket for an address that is about to be dialled.

        Raises:
            AddressRefused: the address must not be dialled.
        """
        family, kind, proto, _, to = info
        address = _as_address(str(to[0]))
        if address is None:
            raise AddressRefused(f"{to[0]} is not an address")
        if self._proxy is None:
            refusal = self._resolver.policy.refusal(address)
            if refusal is not None:
                raise AddressRefused(refusal)
        elif str(address) not in self._proxy_addresses and str(address) != self._proxy:
            raise AddressRefused(f"{address} is not the proxy")
        return socket.socket(family, kind, proto)

    async def close(self) -> None:
        """Nothing to close: the resolver is shared."""


def _as_address(text: str) -> Address | None:
    if "%" in text:
        return None
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
