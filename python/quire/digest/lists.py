"""Lazy lists over the memory of a digest: an entry becomes a Python object when you access it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import SupportsIndex, final, overload


@final
class ByteList(Sequence[bytes]):
    """A read-only list of byte strings, each created on access.

    >>> letters = ByteList(3, lambda index: b"abc"[index : index + 1])
    >>> len(letters), letters[-1], letters[:2], b"b" in letters
    (3, b'c', (b'a', b'b'), True)
    >>> letters
    ByteList([b'a', b'b', b'c'])
    """

    __slots__ = ("_count", "_entry")

    # Longer lists are abbreviated when printed: pages have thousands of contents.
    _SHOWN = 6

    def __init__(self, count: int, entry: Callable[[int], bytes]) -> None:
        self._count = count
        self._entry = entry

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> bytes: ...
    @overload
    def __getitem__(self, index: slice, /) -> tuple[bytes, ...]: ...
    def __getitem__(self, index: SupportsIndex | slice, /) -> bytes | tuple[bytes, ...]:
        places = range(self._count)[index]
        if isinstance(places, range):
            return tuple(self._entry(place) for place in places)
        return self._entry(places)

    def __iter__(self) -> Iterator[bytes]:
        return map(self._entry, range(self._count))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ByteList):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[: self._SHOWN]))
        rest = "" if self._count <= self._SHOWN else f", ... {self._count - self._SHOWN} more"
        return f"ByteList([{shown}{rest}])"
