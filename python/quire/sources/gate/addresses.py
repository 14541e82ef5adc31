"""Addresses: which network addresses the gate connects to.

Only addresses of the public internet: global unicast, minus every range that IANA reserves for
something else, minus addresses of cloud platforms that look public. ``special_range`` returns the
range that rules an address out, or None for a public address.

Three choices worth knowing before changing this file:

* The table is our own. ``ipaddress.is_private`` and ``is_global`` change between versions of
  Python, and disagree with each other about 100.64.0.0/10.
* IPv6 starts from 2000::/3, the only block that IANA has assigned to global unicast. Everything
  else is refused, including blocks that will be assigned one day.
* An IPv6 address can have an IPv4 address inside. The inner address decides for mapped addresses,
  NAT64 and ISATAP, since that is the host that is reached. 6to4, Teredo and compatible addresses
  are refused whatever is inside: these tunnels are switched off on the public internet.
"""

from __future__ import annotations

import functools
import ipaddress
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class SpecialRange:
    """A range of addresses that are not hosts of the public internet."""

    network: Network
    name: str


def _table(rows: dict[str, str]) -> tuple[SpecialRange, ...]:
    ranges = [SpecialRange(ipaddress.ip_network(text), name) for text, name in rows.items()]
    return tuple(sorted(ranges, key=lambda row: int(row.network.network_address)))


# The IANA registry of special IPv4 addresses, and two of its neighbours. Ranges do not overlap.
IPV4_SPECIAL = _table(
    {
        "0.0.0.0/8": "this network",
        "10.0.0.0/8": "private network",
        "100.64.0.0/10": "shared address space of providers",
        "127.0.0.0/8": "loopback",
        "168.63.129.16/32": "platform address of a cloud provider",
        "169.254.0.0/16": "link-local",
        "172.16.0.0/12": "private network",
        "192.0.0.0/24": "protocol assignments",
        "192.0.2.0/24": "documentation",
        "192.31.196.0/24": "AS112 service",
        "192.52.193.0/24": "multicast tunnels",
        "192.88.99.0/24": "6to4 relays",
        "192.168.0.0/16": "private network",
        "192.175.48.0/24": "AS112 service",
        "198.18.0.0/15": "benchmarks",
        "198.51.100.0/24": "documentation",
        "203.0.113.0/24": "documentation",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "reserved",
    }
)

_GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")

# First ranges of 2000::/3 to subtract, then names for ranges outside of it.
IPV6_SPECIAL = _table(
    {
        "2001::/23": "protocol assignments",
        "2001:db8::/32": "documentation",
        "2002::/16": "6to4",
        "2620:4f:8000::/48": "AS112 service",
        "3ffe::/16": "6bone",
        "3fff::/20": "documentation",
        "::/128": "unspecified",
        "::1/128": "loopback",
        "64:ff9b:1::/48": "local NAT64",
        "100::/64": "discard",
        "100:0:0:1::/64": "dummy prefix",
        "5f00::/16": "segment routing",
        "fc00::/7": "private network",
        "fe80::/10": "link-local",
        "fec0::/10": "site-local",
        "ff00::/8": "multicast",
    }
)
_COMPATIBLE = SpecialRange(ipaddress.IPv6Network("::/96"), "IPv4-compatible")
_TEREDO = SpecialRange(ipaddress.IPv6Network("2001::/32"), "Teredo")
_UNASSIGNED = SpecialRange(ipaddress.IPv6Network("::/0"), "not global unicast")
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")
# IPv4-translated addresses: RFC 2765, later dropped, but still routed by some translators.
_TRANSLATED = ipaddress.IPv6Network("::ffff:0:0:0/96")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# ISATAP is recognised by the second half of an address, in any network.
_ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE})

_STARTS = {
    4: [int(row.network.network_address) for row in IPV4_SPECIAL],
    6: [int(row.network.network_address) for row in IPV6_SPECIAL],
}


@functools.lru_cache(maxsize=4096)
def special_range(address: Address) -> SpecialRange | None:  # noqa: PLR0911 - one rule each
    """Return the special range that an address is in, or None if it is public.

    >>> special_range(ipaddress.ip_address("93.184.216.34"))
    >>> special_range(ipaddress.ip_address("100.64.0.1")).name
    'shared address space of providers'
    >>> special_range(ipaddress.ip_address("::ffff:169.254.169.254")).name
    'link-local'
    """
    if address.version == 4:  # noqa: PLR2004 - the version of the protocol
        return _look_up(address)
    if address in _MAPPED or address in _TRANSLATED or address in _NAT64:
        return special_range(_last_ipv4(address))
    if address in _TEREDO.network:
        return _TEREDO
    found = _look_up(address)
    if found is not None:
        return found
    if address in _COMPATIBLE.network:
        return _COMPATIBLE
    if address not in _GLOBAL_IPV6:
        return _UNASSIGNED
    if int(address) >> 32 & 0xFFFF_FFFF in _ISATAP:
        return special_range(_last_ipv4(address))
    return None


def is_in(address: Address, networks: Iterable[Network]) -> bool:
    """Tell whether an address is in one of the networks.

    An IPv4-mapped address is in a network if the IPv4 address in it is.

    >>> is_in(ipaddress.ip_address("::ffff:10.1.2.3"), [ipaddress.ip_network("10.0.0.0/8")])
    True
    """
    inner = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return any(
        address in network or (inner is not None and inner in network) for network in networks
    )


def parse_networks(text: str) -> tuple[Network, ...]:
    """Read networks separated by commas or spaces, as in ``127.0.0.0/8, fd00::/8``.

    >>> [str(network) for network in parse_networks("127.0.0.0/8,10.1.2.3")]
    ['127.0.0.0/8', '10.1.2.3/32']

    Raises:
        ValueError: a part is not a network; the message names it.
    """
    networks = []
    for part in text.replace(",", " ").split():
        try:
            networks.append(ipaddress.ip_network(part))
        except ValueError:
            raise ValueError(
                f"{part}: not a network; expected an address and a length, as in 127.0.0.0/8"
            ) from None
    return tuple(networks)


def _look_up(address: Address) -> SpecialRange | None:
    table = IPV4_SPECIAL if address.version == 4 else IPV6_SPECIAL  # noqa: PLR2004 - see above
    at = bisect_right(_STARTS[address.version], int(address)) - 1
    return table[at] if at >= 0 and address in table[at].network else None


def _last_ipv4(address: Address) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
