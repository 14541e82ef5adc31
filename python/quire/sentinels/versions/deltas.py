"""Versions of one page, each stored as the difference from an older one.

Version 0 is stored whole. Version n is stored against version ``n & (n - 1)``, that is n without its
lowest bit: 6 and 5 against 4, 4 against 0, 7 against 6. So any version is read through at most log2(n)
others, and a page that changes a little each time costs little each time. If the difference is not
smaller than half of the page compressed alone, the page is stored whole, and others can start from
it.

Every version has a checksum of its bytes. A wrong byte anywhere on the way is an error, never a wrong
page.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass

from quire import _core
from quire.errors import DamagedRecord

#: zstd level. Higher levels save little on pages that are nearly their base.
LEVEL = 3
#: Bytes of pages that a reader keeps, to read neighbours quickly.
KEPT_BYTES = 16 << 20

_ALONE = _core.Base(b"")


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version as it is stored.

    Attributes:
        number: counts the versions of a page, from 0.
        base: the version that it is stored against; None if it is stored whole.
        length: the length of the page in bytes.
        checksum: 64-bit hash of the page.
        data: the compressed page, or its difference from the base.
    """

    number: int
    base: int | None
    length: int
    checksum: int
    data: bytes


def usual_base(number: int) -> int | None:
    """Return the version that a version is stored against, unless it is stored whole.

    >>> [usual_base(number) for number in range(8)]
    [None, 0, 0, 2, 0, 4, 4, 6]
    """
    return number & (number - 1) if number else None


def best_base(number: int, stored: Collection[int]) -> int | None:
    """Return the version that a new version is stored against, if some older ones are deleted.

    >>> best_base(7, range(7)), best_base(7, {0, 4, 5}), best_base(8, {5, 6, 7}), best_base(0, ())
    (6, 4, 5, None)
    """
    base = usual_base(number)
    while base is not None and base not in stored:
        base = usual_base(base)
    return min(stored, default=None) if base is None else base


def pack(number: int, body: bytes, base: int | None, base_body: bytes = b"") -> StoredVersion:
    """Compress a version, against another one if that is worth it.

    >>> pack(3, b"Fish and chips" * 9, 2, b"Fish and chips" * 8).base
    2
    """
    checksum = _core.hash64(body)
    alone = _ALONE.encode(body, LEVEL)
    if base is not None:
        data = _core.Base(base_body).encode(body, LEVEL)
        if 2 * len(data) < len(alone):
            return StoredVersion(number, base, len(body), checksum, data)
    return StoredVersion(number, None, len(body), checksum, alone)


class VersionReader:
    """Reads versions of one page.

    Args:
        get: returns a stored version by its number.
        name: the page, for messages.
    """

    def __init__(self, get: Callable[[int], StoredVersion], name: str) -> None:
        self._get = get
        self._name = name
        self._kept: OrderedDict[int, bytes] = OrderedDict()

    def read(self, number: int) -> bytes:
        """Return the bytes of a version.

        Raises:
            DamagedRecord: the stored bytes are damaged.
        """
        chain: list[StoredVersion] = []
        at: int | None = number
        while at is not None and at not in self._kept:
            stored = self._get(at)
            if stored.base is not None and stored.base >= stored.number:
                raise self._damaged(stored, "is stored against a later version")
            chain.append(stored)
            at = stored.base
        body = b"" if at is None else self._kept[at]
        for stored in reversed(chain):
            body = self._unpack(stored, body)
            self._keep(stored.number, body)
        return body

    def _unpack(self, stored: StoredVersion, base: bytes) -> bytes:
        codec = _ALONE if stored.base is None else _core.Base(base)
        try:
            body = codec.decode(stored.data, stored.length)
        except ValueError as error:
            raise self._damaged(stored, str(error)) from None
        if _core.hash64(body) != stored.checksum:
            raise self._damaged(stored, "does not match its checksum")
        return body

    def _damaged(self, stored: StoredVersion, finding: str) -> DamagedRecord:
        return DamagedRecord(
            f"version {stored.number} of {self._name} {finding}", file=self._name, offset=0
        )

    def _keep(self, number: int, body: bytes) -> None:
        self._kept[number] = body
        while sum(map(len, self._kept.values())) > KEPT_BYTES and len(self._kept) > 1:
            self._kept.popitem(last=False)
