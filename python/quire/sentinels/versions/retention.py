"""Retention: which versions of a page are kept, and how those stay readable without the others.

A version is kept if any watch of its page wants it. The latest one is always kept, and so are
versions that a sentinel will be compared with. Versions that were stored against a deleted one are
stored again: the oldest becomes whole, and others start from it. So no chain of versions gets longer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from quire.sentinels.versions.deltas import StoredVersion, pack


@dataclass(frozen=True, slots=True)
class Keep:
    """Which versions of the pages are kept. Without a limit, all are.

    Attributes:
        versions: how many of the newest.
        age: those that are not older.
        bytes: as many of the newest as have this length together, as they are stored.
    """

    versions: int | None = None
    age: timedelta | None = None
    bytes: int | None = None


#: The limit if neither a watch nor the service has one: a page that is new at every check must not
#: fill the disk.
DEFAULT_KEEP = Keep(bytes=500_000_000)


@dataclass(frozen=True, slots=True)
class VersionSize:
    """A stored version, as far as retention looks at it: its number, its time, its stored length."""

    number: int
    time: float
    bytes: int


def kept_versions(
    versions: Sequence[VersionSize], policies: Iterable[Keep], needed: Collection[int], now: float
) -> set[int]:
    """Return the numbers of the versions that are kept.

    >>> versions = [VersionSize(number, number * 10.0, 100) for number in range(5)]
    >>> sorted(kept_versions(versions, [Keep(versions=2)], needed={1}, now=50.0))
    [1, 3, 4]

    Args:
        versions: all stored versions, by ascending number.
        policies: what the watches of the page want.
        needed: versions that sentinels will be compared with.
        now: the time, in seconds since 1970.
    """
    kept = {each.number for each in versions if each.number in needed}
    kept.update(each.number for each in versions[-1:])
    for policy in policies:
        kept.update(_kept_by(versions, policy, now))
    return kept


def _kept_by(versions: Sequence[VersionSize], policy: Keep, now: float) -> Iterable[int]:
    oldest = None if policy.age is None else now - policy.age.total_seconds()
    length = 0
    for place, each in enumerate(reversed(versions)):
        length += each.bytes
        if (
            (policy.versions is not None and place >= policy.versions)
            or (oldest is not None and each.time < oldest)
            or (policy.bytes is not None and length > policy.bytes)
        ):
            return
        yield each.number


def stored_again(
    kept: Iterable[int],
    bases: Mapping[int, int | None],
    read: Callable[[int], bytes],
) -> list[StoredVersion]:
    """Return the kept versions that need a deleted one, stored without it.

    Args:
        kept: numbers of the versions that are kept.
        bases: for every stored version the one that it is stored against.
        read: returns the bytes of a version.
    """
    numbers = sorted(kept)
    alive = set(numbers)
    found: list[StoredVersion] = []
    for number in numbers:
        base = bases[number]
        if base is None or base in alive:
            continue
        # Nothing that is kept is older than the first of them, so that one becomes whole.
        first = numbers[0]
        if number == first:
            found.append(pack(number, read(number), None))
        else:
            found.append(pack(number, read(number), first, read(first)))
    return found
