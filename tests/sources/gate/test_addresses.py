"""The classifier: every range at its edges, every wrapping, and public addresses."""

from __future__ import annotations

import ipaddress
import random
from itertools import pairwise

import pytest

from quire.sources.gate.addresses import (
    IPV4_SPECIAL,
    IPV6_SPECIAL,
    SpecialRange,
    is_in,
    parse_networks,
    special_range,
)

SPECIAL = [*IPV4_SPECIAL, *IPV6_SPECIAL]


def reason(text: str) -> str | None:
    found = special_range(ipaddress.ip_address(text))
    return None if found is None else found.name


@pytest.mark.parametrize("row", SPECIAL, ids=lambda row: str(row.network))
def test_both_ends_of_a_special_range_are_refused(row: SpecialRange) -> None:
    for at in (0, row.network.num_addresses // 2, -1):
        assert special_range(row.network[at]) is not None


# The neighbours of ranges inside the public space, one address outside.
OUTSIDE = [
    "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
    "128.0.0.0", "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0",
    "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.1.255", "192.0.3.0",
    "192.31.195.255", "192.31.197.0", "192.52.192.255", "192.52.194.0", "192.88.98.255",
    "192.88.100.0", "192.167.255.255", "192.169.0.0", "192.175.47.255", "192.175.49.0",
    "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255",
    "203.0.114.0", "223.255.255.255", "2000::", "2001:200::", "2001:db7:ffff::", "2001:db9::",
    "2003::", "2620:4f:7fff::", "2620:4f:8001::", "3ffd:ffff::", "3fff:1000::",
    "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
]  # fmt: skip


@pytest.mark.parametrize("text", OUTSIDE)
def test_the_neighbour_of_a_special_range_is_public(text: str) -> None:
    assert reason(text) is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:169.254.169.254", "link-local"),
        ("::ffff:0:10.0.0.1", "private network"),
        ("64:ff9b::192.168.0.1", "private network"),
        ("64:ff9b::a9fe:a9fe", "link-local"),
        ("64:ff9b:1::5db8:d822", "local NAT64"),
        ("2002:7f00:1::", "6to4"),
        ("2002:5db8:d822::1", "6to4"),
        ("2001:0:5db8:d822::1", "Teredo"),
        ("2001:db8::1", "documentation"),
        ("::93.184.216.34", "IPv4-compatible"),
        ("2a00:1450:4001:81b:0:5efe:127.0.0.1", "loopback"),
        ("2a00:1450:4001:81b:200:5efe:10.0.0.1", "private network"),
        ("4000::1", "not global unicast"),
        ("1fff:ffff::", "not global unicast"),
        ("fd00:ec2::254", "private network"),
        ("fec0::1", "site-local"),
        ("100.100.100.200", "shared address space of providers"),
        ("168.63.129.16", "platform address of a cloud provider"),
        ("192.0.0.192", "protocol assignments"),
        ("0.0.0.0", "this network"),  # noqa: S104 - not bound to
        ("255.255.255.255", "reserved"),
    ],
)
def test_wrapped_and_special_addresses_are_named(text: str, name: str) -> None:
    assert reason(text) == name


@pytest.mark.parametrize(
    "text", ["::ffff:93.184.216.34", "64:ff9b::93.184.216.34", "2a00:1450::5efe:8.8.8.8"]
)
def test_a_wrapped_public_address_is_public(text: str) -> None:
    assert reason(text) is None


def test_200_public_addresses_are_public() -> None:
    draw = random.Random(7)
    known = ["1.1.1.1", "8.8.8.8", "9.9.9.9", "93.184.216.34", "151.101.1.69", "2606:4700::1111"]
    found: list[str] = list(known)
    while len(found) < 200:
        first = draw.choice([1, 2, 5, 13, 31, 52, 80, 104, 142, 151, 185, 193, 199, 216, 223])
        found.append(f"{first}.{draw.randrange(256)}.{draw.randrange(256)}.{draw.randrange(256)}")
        found.append(
            f"2a{draw.randrange(16):02x}:{draw.randrange(1, 65536):x}::{draw.randrange(1, 65536):x}"
        )

    assert [text for text in found if reason(text)] == []


def test_ranges_do_not_overlap() -> None:
    for table in (IPV4_SPECIAL, IPV6_SPECIAL):
        for before, after in pairwise(table):
            assert int(before.network.broadcast_address) < int(after.network.network_address)


def test_python_calls_some_of_them_global() -> None:
    """Why the table is ours: the library's own answer would let these through."""
    through = [row.network for row in SPECIAL if row.network[0].is_global]

    assert through


def test_an_allowed_network_holds_mapped_addresses_and_no_others() -> None:
    allowed = parse_networks("127.0.0.0/8 fd00::/8")

    assert is_in(ipaddress.ip_address("::ffff:127.0.0.9"), allowed)
    assert is_in(ipaddress.ip_address("fd00::1"), allowed)
    assert not is_in(ipaddress.ip_address("2002:7f00:1::"), allowed)
    assert not is_in(ipaddress.ip_address("10.0.0.1"), allowed)


@pytest.mark.parametrize("text", ["127.0.0.1/8", "localhost", "127.0.0.0/33", "1.2.3"])
def test_a_network_that_is_none_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="not a network"):
        parse_networks(f"10.0.0.0/8, {text}")
