"""Differences: why an approximate part is not the same on all pages.

Of members that are alike, a few with different texts are compared line by line (a line is a leaf of
the AF tree), and lines that only one of the two has are shown. If all texts are the same, the first
place is shown in which the sources differ: most often an attribute.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quire.fragments.shared.find import SharedFragment
from quire.fragments.site.collection import Collection
from quire.fragments.trees.af_tree import AfTree

#: Members to compare with the first, and samples to keep of each.
MOST_OTHERS = 3
_MOST_SAMPLES = 3
_MOST_LETTERS = 160
# Bytes of source around the first difference.
_AROUND = 60


@dataclass(frozen=True, slots=True)
class Difference:
    """A member beside the first one.

    Attributes:
        page: its page, by its place in the collection.
        first: lines that only the first has, or its source if the texts are the same.
        other: lines that only this one has, or its source.
        is_source: whether these are bytes of the source.
    """

    page: int
    first: tuple[str, ...]
    other: tuple[str, ...]
    is_source: bool = False


def differences(fragment: SharedFragment, site: Collection) -> tuple[Difference, ...]:
    """Compare a few members of a part with the first.

    Reads at most ``MOST_OTHERS`` + 1 pages again.

    Args:
        fragment: the part.
        site: the pages.
    """
    members = fragment.members
    by_source = fragment.same_text
    keys = members.source_hash if by_source else members.value_hash
    _, firsts = np.unique(keys, return_index=True)
    others = sorted(place for place in firsts.tolist() if keys[place] != keys[0])[:MOST_OTHERS]

    def read(place: int) -> bytes:
        last = site.pages[int(members.page[place])].versions[-1]
        if not by_source:
            return AfTree.of(site.digest(last)).value(int(members.part[place]))
        start, end = int(members.byte_start[place]), int(members.byte_end[place])
        return site.source(last)[start:end] if start >= 0 else b""

    leader, compare = read(0), _around if by_source else _only
    return tuple(
        Difference(int(members.page[place]), *compare(leader, read(place)), is_source=by_source)
        for place in others
    )


def _only(one: bytes, two: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    lines, other = (dict.fromkeys(filter(None, text.split(b"\n"))) for text in (one, two))
    here = [line for line in lines if line not in other]
    there = [line for line in other if line not in lines]
    return tuple(map(_shown, here[:_MOST_SAMPLES])), tuple(map(_shown, there[:_MOST_SAMPLES]))


def _around(one: bytes, two: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    shorter = min(len(one), len(two))
    same = np.frombuffer(one[:shorter], np.uint8) == np.frombuffer(two[:shorter], np.uint8)
    place = shorter if same.all() else int(np.argmin(same))
    start = max(0, place - _AROUND // 3)
    return (_shown(one[start : start + _AROUND]),), (_shown(two[start : start + _AROUND]),)


def _shown(text: bytes) -> str:
    return text[: 4 * _MOST_LETTERS].decode("utf-8", "replace")[:_MOST_LETTERS]
