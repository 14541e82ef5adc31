"""Versions come back byte for byte, or not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.errors import DamagedRecord
from quire.sentinels.versions import StoredVersion, VersionReader, pack, usual_base


def stored(bodies: list[bytes]) -> dict[int, StoredVersion]:
    found: dict[int, StoredVersion] = {}
    for number, body in enumerate(bodies):
        base = usual_base(number)
        found[number] = pack(number, body, base, b"" if base is None else bodies[base])
    return found


@given(st.lists(st.binary(max_size=200).map(lambda each: b"<p>Fish and chips" * 20 + each)))
def test_every_version_comes_back(bodies: list[bytes]) -> None:
    versions = stored(bodies)
    reader = VersionReader(versions.__getitem__, "page")

    for number in [*range(len(bodies)), *reversed(range(len(bodies)))]:
        assert reader.read(number) == bodies[number]


def test_a_small_change_costs_little_and_few_versions_are_read() -> None:
    text = bytes(range(256)) * 200
    bodies = [text[:9000] + b"<p>%d" % number + text[9000:] for number in range(300)]
    versions = stored(bodies)
    asked: list[int] = []

    def get(number: int) -> StoredVersion:
        asked.append(number)
        return versions[number]

    assert VersionReader(get, "page").read(255) == bodies[255]
    assert asked == [255, 254, 252, 248, 240, 224, 192, 128, 0]
    assert max(len(versions[number].data) for number in range(1, 300)) < 100


def test_another_page_is_stored_whole() -> None:
    assert pack(1, bytes(range(256)), 0, b"Fish" * 90).base is None


def test_damage_is_found_wherever_it_is() -> None:
    bodies = [b"Fish and chips %d" % number * 40 for number in range(8)]
    for at in (0, 4, 6, 7):  # the way to version 7
        versions = stored(bodies)
        good = versions[at]
        for place in range(len(good.data)):
            flipped = bytearray(good.data)
            flipped[place] ^= 1
            versions[at] = replace(good, data=bytes(flipped))
            reader = VersionReader(versions.__getitem__, "page")
            try:
                assert reader.read(7) == bodies[7]  # a bit that zstd does not use
            except DamagedRecord as error:
                assert "of page" in str(error)  # noqa: PT017


def test_a_version_that_needs_a_later_one_is_damaged() -> None:
    versions = {1: replace(pack(1, b"Fish" * 90, 0, b"Fish" * 89), base=1)}

    with pytest.raises(DamagedRecord, match="later version"):
        VersionReader(versions.__getitem__, "page").read(1)
