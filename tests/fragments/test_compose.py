"""Composing fills in our includes, to the byte, and nothing else."""

from __future__ import annotations

import pytest

from quire.errors import CompositionError
from quire.fragments import compose
from quire.fragments.cuts.includes import Folder, checked_prefix, include, name_of
from quire.fragments.esi import compose as composing
from quire.fragments.esi.compose import Composer
from quire.fragments.policy import Policy

NAME = "7" * 32
OTHER = "8" * 32


def reading(files: dict[str, bytes], folder: str, name: str, most_bytes: int) -> bytes:
    assert most_bytes >= 0
    return files[f"{folder}/{name}"]


def filled(template: bytes, files: dict[str, bytes], most_bytes: int = 1000) -> bytes:
    return compose(
        template,
        lambda folder, name, most: reading(files, folder, name, most),
        most_bytes=most_bytes,
        prefix="/q",
    )


def to(folder: Folder, name: str = NAME) -> bytes:
    return include("/q", folder, name)


def test_includes_are_filled_in_where_they_stand_and_may_nest() -> None:
    files = {
        f"templates/{NAME}": b"<ul>" + to("fragments", OTHER) + b"</ul>",
        f"fragments/{OTHER}": b"<li>\x00\xff",
    }

    assert filled(b"a" + to("templates") + b"b" + to("fragments", OTHER), files) == (
        b"a<ul><li>\x00\xff</ul>b<li>\x00\xff"
    )


def test_fragments_without_includes_are_not_looked_into() -> None:
    assert filled(to("fragments"), {f"fragments/{NAME}": b"<esi:remove>"}) == b"<esi:remove>"


@pytest.mark.parametrize(
    "foreign",
    [
        b'<esi:include src="/admin"/>',
        b'<esi:include src="/q/fragments/' + b"7" * 31 + b'.html"/>',
        b'<esi:include src="/q/fragments/' + b"7" * 32 + b'.html" />',
        b'<esi:include src="/q/whole/' + b"7" * 32 + b'.html"/>',
        b'<esi:include src="/q/fragments/../' + b"7" * 32 + b'.html"/>',
        b"<ESI:remove>",
        b"</esi:remove>",
        b"<!--esi -->",
    ],
)
def test_other_esi_is_an_error_that_says_where(foreign: bytes) -> None:
    with pytest.raises(CompositionError, match="template: ESI at byte 3 is not an include"):
        filled(b"<p>" + foreign, {f"fragments/{NAME}": b"", f"whole/{NAME}": b""})


def test_includes_that_nest_without_end_are_an_error() -> None:
    with pytest.raises(CompositionError, match="nest deeper than 5"):
        filled(to("templates"), {f"templates/{NAME}": to("templates")})


def test_a_page_that_grows_too_long_is_an_error_before_it_is_long() -> None:
    # Nine includes of nine includes of ...: 59,049 copies, of which a few are read.
    files = {
        f"templates/{digit}".ljust(42, str(digit)): to("templates", str(digit + 1) * 32) * 9
        for digit in range(1, 4)
    }
    files[f"templates/{'4' * 32}"] = b"x" * 100

    with pytest.raises(CompositionError, match="more than 1000 bytes"):
        filled(to("templates", "1" * 32), files)


def test_empty_fragments_are_an_error_and_not_included_for_ever() -> None:
    # 60 includes of 60 includes of ...: 777 million of nothing.
    files = {
        f"templates/{digit}".ljust(42, str(digit)): to("templates", str(digit + 1) * 32) * 60
        for digit in range(1, 5)
    }
    files[f"templates/{'5' * 32}"] = b""

    with pytest.raises(CompositionError, match=r"5555\.html: empty"):
        filled(to("templates", "1" * 32), files)


def test_each_file_is_read_once_however_often_it_is_included() -> None:
    # 16 includes of 16 includes of ...: 65,536 copies of one byte, of five files.
    files = {
        f"templates/{digit}".ljust(42, str(digit)): to("templates", str(digit + 1) * 32) * 16
        for digit in range(1, 5)
    }
    files[f"templates/{'5' * 32}"] = b"x"
    reads: list[str] = []

    def read(folder: Folder, name: str, most_bytes: int) -> bytes:
        reads.append(name)
        return reading(files, folder, name, most_bytes)

    composer = Composer(read, prefix="/q")
    for _ in range(2):
        page = composer.page(to("templates", "1" * 32), most_bytes=16**4)
        assert page == b"x" * 16**4
    assert sorted(reads) == sorted(str(digit) * 32 for digit in range(1, 6))


def test_a_file_that_was_composed_before_still_must_not_nest_too_deep() -> None:
    files = {
        f"templates/{digit}".ljust(42, str(digit)): b"x" + to("templates", str(digit + 1) * 32)
        for digit in range(1, 6)
    }
    files[f"templates/{'6' * 32}"] = b"y"

    assert filled(to("templates", "2" * 32), files) == b"xxxxy"
    with pytest.raises(CompositionError, match="nest deeper than 5"):
        filled(to("templates", "2" * 32) + to("templates", "1" * 32), files)


def test_a_long_page_of_short_files_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composing, "FREE_BYTES", 100_000)
    files = {
        f"templates/{digit}".ljust(42, str(digit)): to("templates", str(digit + 1) * 32) * 256
        for digit in range(1, 5)
    }
    files[f"templates/{'5' * 32}"] = b"x"

    with pytest.raises(CompositionError, match="more than 1,000 times the bytes of its files"):
        filled(to("templates", "1" * 32), files, most_bytes=1 << 32)


def test_what_is_named_has_the_name_of_its_bytes() -> None:
    assert name_of(b"") == "e3b0c44298fc1c149afbf4c8996fb924"


@pytest.mark.parametrize("prefix", ["/", "a", '/"', "/a b", "/a/", "/a\n", "//a", "/é", "/.."])
def test_a_prefix_is_words_after_slashes(prefix: str) -> None:
    with pytest.raises(ValueError, match="prefix"):
        checked_prefix(prefix)


@pytest.mark.parametrize(
    ("ttl_s", "vary"),
    [(-1, ()), (10**10, ()), (1, ("",)), (1, ('a"; b',)), (1, ("a b",)), (1, ("a\r\nb",))],
)
def test_a_policy_is_seconds_and_names_of_headers(ttl_s: int, vary: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"ttl_s|vary"):
        Policy(ttl_s, vary)
