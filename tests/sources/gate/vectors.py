"""Addresses that must not be reached, as attackers write them."""

from __future__ import annotations

import ipaddress

from quire.sources.gate.addresses import IPV4_SPECIAL, IPV6_SPECIAL

# The loopback addresses of the canaries; the gate of the tests may not reach any of them.
CANARIES = ["127.0.0.2", "127.0.0.3", "127.1.2.3", "127.255.255.254", "::1"]


def _spellings(address: str) -> list[str]:
    """Write an IPv4 address in the ways that some programs read."""
    parts = [int(part) for part in address.split(".")]
    number = int(ipaddress.IPv4Address(address))
    a, b, c, d = parts
    return [
        address,
        f"{address}.",
        f"{number}",
        f"0x{number:08x}",
        f"0{number:o}",
        f"{a}.{number & 0xFFFFFF}",
        f"{a}.{b}.{c * 256 + d}",
        ".".join(f"0{part:o}" for part in parts),
        ".".join(f"0x{part:x}" for part in parts),
        ".".join(f"{part:03d}" for part in parts),
        f"{a + 256}.{b}.{c}.{d}",
        f"0x{a:x}.{b}.{c}.{d}",
        f"{a}.{b}.{c}.0x{d:x}",
        "".join(chr(0xFF10 + int(x)) if x.isdigit() else "．" for x in address),
        "".join("⓪①②③④⑤⑥⑦⑧⑨"[int(x)] if x.isdigit() else "." for x in address),
        address.replace(".", "。"),
        address.replace(".", "｡"),
        address.replace(".", "%2e"),
        "".join(f"%{ord(x):02x}" for x in address),
        f"[::ffff:{address}]",
        f"[::ffff:{a:02x}{b:02x}:{c:02x}{d:02x}]",
        f"[0:0:0:0:0:ffff:{address}]",
        f"[::{address}]",
        f"[::ffff:0:{address}]",
        f"[64:ff9b::{address}]",
        f"[64:ff9b:1::{address}]",
        f"[2002:{a:02x}{b:02x}:{c:02x}{d:02x}::]",
        f"[2001:0:{a:02x}{b:02x}:{c:02x}{d:02x}::1]",
        f"[2a00:1450:4001:81b:0:5efe:{address}]",
        f"[2a00:1450:4001:81b:200:5efe:{address}]",
        f"[{address}]",
        f"[::ffff:{address}%25lo]",
    ]


def hosts() -> list[str]:
    """List hosts that lead to private or special addresses, or pretend to be something else."""
    found: list[str] = []
    for address in ("127.0.0.2", "127.0.0.3", "169.254.169.254", "10.0.0.1", "192.168.1.1"):
        found += _spellings(address)
    for row in (*IPV4_SPECIAL, *IPV6_SPECIAL):
        for at in (0, row.network.num_addresses // 2, -1):
            special = row.network[at]
            found.append(f"[{special}]" if ":" in str(special) else str(special))
    found += [
        "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[0000::1]", "[::1%25lo]", "[::1%lo]", "[fe80::1%25eth0]",
        "[::1%00]", "[fd00:ec2::254]", "[fd20:ce::254]", "100.100.100.200", "168.63.129.16",
        "192.0.0.192", "0", "0.0", "00", "0x0", "127.1", "127.0.1", "127", "[::127.0.0.2]",
    ]  # fmt: skip
    return list(dict.fromkeys(found))


def urls(port: int) -> list[str]:
    """List addresses that must not be fetched, with a port that a canary listens on."""
    found = [f"http://{host}:{port}/" for host in hosts()]
    for inside in ("127.0.0.2", "127.0.0.3"):
        at = f"{inside}:{port}"
        found += [
            f"http://{at}\\@public.example/",
            f"http://{at}\\.public.example/",
            f"http://{at}#@public.example/",
            f"http://{at}?@public.example/",
            f"http://{at}/@public.example/",
            f"http://public.example@{at}/",
            f"http://public.example:80@{at}/",
            f"http://public.example%40@{at}/",
            f"http://a@public.example@{at}/",
            f"http://public.example\\@{at}/",
            f"http://public.example\t@{at}/",
            f"http://{at}\t/", f"http://{at}\n/", f"http://\t{at}/", f"http:\t//{at}/", f"\x01http://{at}/",
            f"http:/{at}/", f"http:{at}/", f"http:///{at}/", f"http:////{at}/", f"http:\\\\{at}\\",
            f"http:/\\{at}/", f"//{at}/", f"\\\\{at}\\x", f"https:{at}", f"HTTP://{at}/",
            f"source:http://{at}/", f"view-source:http://{at}/", f"feed:http://{at}/", f"url:http://{at}/",
            f"jar:http://{at}/!/x", f"blob:http://{at}/x", f"ws://{at}/", f"gopher://{at}/_GET%20/",
            f"dict://{at}/x", f"ftp://{at}/", f"ldap://{at}/", f"tftp://{at}/x", f"netdoc:http://{at}/",
            f"http://{at}:80/", f"http://{inside}:+{port}/", f"http://{inside}:0{port}/",
            f"http://{inside}:{port}\uff0f", f"http://{inside}\uff1a{port}/", f"http://{inside}\u2024:{port}/",
            f"http://[{inside}]:{port}/", f"http://{inside}.:{port}/", f"http://{inside}..:{port}/",
            f"http://{inside}%00:{port}/", f"http://{inside}\x00.public.example:{port}/",
            f"http://{inside}%20:{port}/", f"http://{inside} :{port}/", f"http://{inside}%23:{port}/",
        ]  # fmt: skip
    return list(dict.fromkeys(found))


# Names that a hostile DNS server gives private addresses, one family or both.
HOSTILE_NAMES: dict[str, list[str]] = {
    "loop.example": ["127.0.0.2"],
    "loop6.example": ["::1"],
    "mapped.example": ["::ffff:127.0.0.2"],
    "translated.example": ["::ffff:0:127.0.0.2"],
    "nat64.example": ["64:ff9b::7f00:2"],
    "zone.example": ["fe80::1%lo", "127.0.0.2"],
    "all.example": ["127.0.0.2", "127.0.0.3", "::1", "10.0.0.1", "fd00::1"],
    "metadata.example": ["169.254.169.254"],
    "zero.example": ["0.0.0.0", "::"],  # noqa: S104 - not bound to
    "localhost": ["127.0.0.2", "::1"],
    "localhost.example": ["127.255.255.254"],
    "xn--lcalhost-6bb.example": ["127.0.0.3"],
}
