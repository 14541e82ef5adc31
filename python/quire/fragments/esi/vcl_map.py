"""The map of a VCL: which file is served at which address, and as which content type.

VCL has no tables, and one comparison for each address takes a C compiler minutes for a large site.
So addresses are in long strings, ``ADDRESS FILE TYPE ADDRESS FILE TYPE ...``. A request is put
before one of them, and a pattern with a back reference finds its address in it. Which string that
is depends on the first letters of the address, in a tree of subroutines.

No address can end its string or look like another entry: ``ADDRESS`` allows neither quotation marks
nor white space.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from quire.fragments.cuts.includes import NAME
from quire.fragments.esi.addresses import (
    CONTENT_TYPE,
    hosts_of,
    index_address,
    split_address,
)
from quire.fragments.esi.manifest import ComposedPage, Manifest

# Entries and bytes in a string: Varnish copies it for each request, into 64 kB.
_MOST_ENTRIES = 100
_MOST_BYTES = 12_000

_FIND = """\
sub quire_find {
    call quire_page;
    if (req.http.quire-map ~ "^(\\S++) (?:\\S++ \\S++ \\S++ )*?\\1 ") {
        set req.http.quire-file = regsub(req.http.quire-map,
            "^(\\S++) (?:\\S++ \\S++ \\S++ )*?\\1 (\\S++) .*$", "\\2");
        set req.http.quire-type = regsub(req.http.quire-map,
            "^(\\S++) (?:\\S++ \\S++ \\S++ )*?\\1 \\S++ (\\S++) .*$", "\\2");
    }
}
"""
_LOOK_UP = 'set req.http.quire-map = req.http.quire-address + " {entries} ";'
_IF = """\
    if (req.http.quire-address ~ "{pattern}") {{
        {commands}
    }}
"""


@dataclass(frozen=True, slots=True)
class AddressMap:
    """The map of a composition.

    Attributes:
        entries: file and content type by address; without hosts if there is only one.
        has_hosts: whether addresses begin with the host, since there are several.
    """

    entries: Mapping[str, str]
    has_hosts: bool

    @classmethod
    def of(cls, manifest: Manifest) -> AddressMap:
        """Make the map: pages with addresses, and folders whose index page is known.

        Raises:
            ValueError: a page has an address, a file name or a type that must not get into VCL.
        """
        pages = [page for page in manifest.pages if page.address]
        has_hosts = len(hosts_of(page.address for page in pages)) > 1
        found: dict[str, str] = {}
        for page in pages:
            host, target = split_address(page.address)
            found.setdefault(host + target if has_hosts else target, _entry(page))
        for page in pages:
            folder = index_address(page.address)
            if folder is not None:
                found.setdefault(folder, _entry(page))
        return cls(dict(sorted(found.items())), has_hosts)

    def vcl(self) -> str:
        """Return the subroutine ``quire_find``, which looks up ``req.http.quire-address``."""
        subs: list[str] = []
        first = self._search(list(self.entries), "quire_page", subs)
        if not subs:
            subs.append(f"sub quire_page {{\n    {first}\n}}\n")
        return "".join([_FIND, *reversed(subs)])

    def _search(self, addresses: Sequence[str], name: str, subs: list[str]) -> str:
        """Return the commands that look up one of these sorted addresses.

        Many are looked up in a subroutine of this name, which is added after those that it calls.
        Each of those has at most half of the addresses, whatever they begin with, or fits into one
        string: so few are nested.
        """
        if self._fits(addresses):
            entries = " ".join(f"{one} {self.entries[one]}" for one in addresses)
            return _LOOK_UP.format(entries=entries)
        prefix = _common_prefix(addresses)
        start, end = _range(addresses, prefix)
        groups = list(self._groups(addresses[start:end], len(prefix)))
        pattern = _pattern(prefix)
        patterns = [f"^{pattern}(?:{_letters(group, len(prefix))})" for group in groups]
        others = [*addresses[:start], *addresses[end:]]
        if others:
            groups.append(others)
            patterns.append(f"^(?!{pattern})")
        body = ""
        for number, group in enumerate(groups):
            commands = self._search(group, f"{name}_{number}", subs)
            body += _IF.format(pattern=patterns[number], commands=commands)
        subs.append(f"sub {name} {{\n{body}}}\n")
        return f"call {name};"

    def _fits(self, addresses: Sequence[str]) -> bool:
        length = sum(len(one) + len(self.entries[one]) + 2 for one in addresses)
        return len(addresses) <= 1 or (len(addresses) <= _MOST_ENTRIES and length <= _MOST_BYTES)

    def _groups(self, addresses: Sequence[str], shared: int) -> Iterator[list[str]]:
        """Split sorted addresses by their next letter, and keep small neighbours together."""
        group: list[str] = []
        for _, same in groupby(addresses, key=lambda address: address[shared : shared + 1]):
            mine = list(same)
            if group and not self._fits([*group, *mine]):
                yield group
                group = []
            group += mine
        yield group


def _letters(addresses: Sequence[str], shared: int) -> str:
    """Write a pattern for the next letters of addresses; an address may also end."""
    letters = sorted({address[shared : shared + 1] for address in addresses})
    return "|".join(_pattern(letter) or "$" for letter in letters)


def _common_prefix(addresses: Sequence[str]) -> str:
    """Return the longest prefix that more than half of sorted addresses have.

    It is one of the address in the middle. After it, no letter follows in more than half of them.
    """
    middle, shortest = addresses[len(addresses) // 2], 0
    longest = len(middle)
    while shortest < longest:
        length = (shortest + longest + 1) // 2
        start, end = _range(addresses, middle[:length])
        if end - start > len(addresses) // 2:
            shortest = length
        else:
            longest = length - 1
    return middle[:shortest]


def _range(addresses: Sequence[str], prefix: str) -> tuple[int, int]:
    """Return the first and last place, the latter exclusive, of the addresses with a prefix."""
    # No address has a character after the tilde.
    return bisect_left(addresses, prefix), bisect_left(addresses, f"{prefix}\x7f")


def _entry(page: ComposedPage) -> str:
    if NAME.fullmatch(page.file) is None or CONTENT_TYPE.fullmatch(page.content_type) is None:
        raise ValueError(f"{page.file[:80]!r} {page.content_type[:80]!r}: not a page in VCL")
    return f"{page.folder}/{page.file} {page.content_type}"


def _pattern(text: str) -> str:
    """Write a pattern for a text: letters and digits as they are, all else as numbers."""
    return "".join(c if c.isascii() and c.isalnum() else f"\\x{ord(c):02x}" for c in text)
