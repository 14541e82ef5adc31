"""Scanners see what a byte-by-byte reading of the same rules sees, however the buffer grows."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.fragments.cuts.esi_scanner import EsiScanner, Within
from tests.fragments.hostile import pieces

texts = st.lists(st.one_of(pieces, st.binary(max_size=3)), max_size=12)
STARTS = {b"!--": Within.COMMENT, b"esi:": Within.ESI, b"![CDATA[": Within.CDATA}
ENDS = {Within.COMMENT: b"-->", Within.CDATA: b"]]>", Within.TAG: b">"}


def slowly(data: bytes, *, backs_up: bool) -> Within:
    """The rules, a byte at a time."""
    at, within = 0, Within.NOTHING
    while at < len(data):
        if within is Within.NOTHING:
            at = data.find(b"<", at) % (len(data) + 1) + 1
            if at > len(data):
                return within
            after = at + data.startswith(b"/", at)
            found = [start for start in STARTS if data.startswith(start, after)]
            within = STARTS[found[0]] if found else Within.TAG
            at = after + len(found[0]) if found else at
            if data.startswith(b"esi", at) and within is Within.COMMENT:
                within = Within.ESI
            if within is Within.ESI:
                return within
        elif backs_up or within is Within.TAG:
            end = data.find(ENDS[within], at)
            if end < 0:
                return within
            at, within = end + len(ENDS[within]), Within.NOTHING
        else:
            matched = 0
            while at < len(data) and matched < 3:
                matched = matched + 1 if data[at] == ENDS[within][matched] else 0
                at += 1
            if matched < 3:
                return within
            within = Within.NOTHING
    return within if not data.endswith(b"<") or within is not Within.NOTHING else Within.TAG


@pytest.mark.parametrize("backs_up", [False, True])
@given(parts=texts)
def test_a_scanner_sees_what_the_rules_say_whatever_the_buffer_was_before(
    parts: list[bytes], *, backs_up: bool
) -> None:
    scanner = EsiScanner(backs_up=backs_up)
    grown = bytearray()
    for part in parts:
        grown += part
        if scanner.within is Within.COMMENT and re.search(
            rb"<!--e?s?$", grown[: -len(part) or None]
        ):
            return  # `<!--es` and `i`: pages with ESI of their own never come here
        scanner.read(grown)

    assert scanner.within is slowly(bytes(grown), backs_up=backs_up)


@pytest.mark.parametrize("extra", range(13))
def test_without_backing_up_a_comment_ends_after_extra_dashes_by_threes(extra: int) -> None:
    comment = bytearray(b"<!-- x " + b"-" * extra + b"-->")

    assert (EsiScanner().read(comment) is Within.NOTHING) == (extra % 3 == 0)
    assert EsiScanner(backs_up=True).read(comment) is Within.NOTHING


def test_inside_of_something_nothing_can_be_skipped() -> None:
    scanner = EsiScanner()
    scanner.read(bytearray(b"1 < 2"))

    with pytest.raises(ValueError, match="inside a tag"):
        scanner.skip_to(9)


@pytest.mark.parametrize("part", [b"<", b"<!--", b"-", b"<![CDATA[", b"]", b"<a", b"</"])
def test_a_megabyte_of_anything_is_read_once(part: bytes) -> None:
    # Quadratic work on a megabyte would take an hour, and the time limit of the tests would tell.
    grown = bytearray()
    scanners = [EsiScanner(), EsiScanner(backs_up=True)]
    for _ in range(64):
        grown += part * (1 << 14)
        for scanner in scanners:
            scanner.read(grown)
