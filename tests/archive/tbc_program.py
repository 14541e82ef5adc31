"""The delta of paper 003, step by step and as short as possible: the oracle for the kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

TOKEN = re.compile(
    rb"<!--.*?(?:-->|\Z)|<[A-Za-z/!?].*?(?:>|\Z)|(?:[^<]|<(?![A-Za-z/!?]))+", re.DOTALL
)


@dataclass(frozen=True)
class Step:
    """Bytes of the reference to skip, bytes that are new, bytes to copy."""

    skipped: int
    new: bytes
    copied: int


def tokens(page: bytes) -> list[bytes]:
    """Split a page into tags and the strings between them."""
    return TOKEN.findall(page)


def kept(one: list[bytes], other: list[bytes], window: int) -> list[int]:
    """Find the tokens of one page in a window that the other has too."""
    if window == 0:
        return list(range(len(one)))

    def windows(of: list[bytes]) -> list[tuple[bytes, ...]]:
        return [tuple(of[at : at + window]) for at in range(len(of) - window + 1)]

    known = set(windows(other))
    places: set[int] = set()
    for at, part in enumerate(windows(one)):
        if part in known:
            places.update(range(at, at + window))
    return sorted(places)


def common(one: list[bytes], other: list[bytes]) -> list[tuple[int, int]]:
    """Return a longest common subsequence as pairs of positions, by plain dynamic programming."""
    best = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in reversed(range(len(one))):
        for j in reversed(range(len(other))):
            best[i][j] = (
                best[i + 1][j + 1] + 1
                if one[i] == other[j]
                else max(best[i + 1][j], best[i][j + 1])
            )
    pairs, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def steps(reference: bytes, page: bytes, window: int) -> list[Step]:
    """Filter, compare, merge."""
    a, b = tokens(reference), tokens(page)
    kept_a, kept_b = kept(a, b, window), kept(b, a, window)
    pairs = common([a[i] for i in kept_a], [b[j] for j in kept_b])
    found, at, at_page = [], 0, 0
    for x, y in [(kept_a[i], kept_b[j]) for i, j in pairs]:
        skipped, new = b"".join(a[at:x]), b"".join(b[at_page:y])
        found.append(Step(len(skipped), new, len(a[x])))
        at, at_page = x + 1, y + 1
    if at_page < len(b):
        found.append(Step(0, b"".join(b[at_page:]), 0))
    return found


def write(script: list[Step]) -> bytes:
    """Return the stored form."""
    return b"".join(
        number(step.skipped) + number(len(step.new)) + number(step.copied) + step.new
        for step in script
    )


def read(delta: bytes) -> Iterator[Step]:
    """Read the stored form."""
    at = 0

    def take() -> int:
        nonlocal at
        value, shift = 0, 0
        while delta[at] & 0x80:
            value |= (delta[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
        value |= delta[at] << shift
        at += 1
        return value

    while at < len(delta):
        skipped, inserted, copied = take(), take(), take()
        yield Step(skipped, delta[at : at + inserted], copied)
        at += inserted


def apply(reference: bytes, script: list[Step]) -> bytes:
    """Rebuild the page."""
    page, at = b"", 0
    for step in script:
        at += step.skipped
        page += step.new + reference[at : at + step.copied]
        at += step.copied
    return page


def number(value: int) -> bytes:
    """Encode seven bits per byte, lowest first; the top bit says that more follow."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
