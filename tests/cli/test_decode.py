"""Digests become the exact bytes of their pages again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import PAGE, Process, Quire

ODD = b"\xef\xbb\xbf<P>a\r\n<B>b<I>c</B>\x00\x1b[2J</I>\xff<!-- "


def test_any_bytes_come_out_as_they_went_in(process: Process, folder: Path) -> None:
    (folder / "odd.html").write_bytes(ODD)

    assert process("encode", "odd.html", "--compress").returncode == 0
    result = process("decode", "odd.qd")

    assert (result.returncode, result.stdout, result.stderr) == (0, ODD, b"")


def test_many_digests_become_pages_named_for_their_kind(quire: Quire, folder: Path) -> None:
    (folder / "list.json").write_bytes(b"[1, 2]")
    (folder / "twin.html").write_bytes(PAGE)
    (folder / "twin.json").write_bytes(b"{}")
    assert quire("encode", ".", "--output-dir", "digests").exit_code == 0

    result = quire("decode", "digests", "--output-dir", "pages")

    assert result.exit_code == 0, result.stderr
    assert {path.name: path.read_bytes() for path in (folder / "pages").iterdir()} == {
        "fruit.html": PAGE,
        "list.json": b"[1, 2]",
        "twin.html": PAGE,
        "twin.json": b"{}",
    }


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "page"])
def test_a_damaged_digest_is_named_and_writes_nothing(
    quire: Quire, folder: Path, damage: str
) -> None:
    assert quire("encode", "fruit.html").exit_code == 0
    whole = (folder / "fruit.qd").read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    damaged = {"cut": whole[:-7], "flip": flipped, "empty": b"", "page": PAGE}[damage]
    (folder / "fruit.qd").write_bytes(damaged)

    result = quire("decode", "fruit.qd", "-o", "out.html")

    assert result.exit_code == 2
    assert result.stderr.startswith("error: fruit.qd: ")
    assert "hint: " in result.stderr
    assert not (folder / "out.html").exists()


def test_a_page_that_exists_is_kept_unless_forced(quire: Quire, folder: Path) -> None:
    assert quire("encode", "fruit.html").exit_code == 0
    (folder / "fruit.html").write_bytes(b"edited")

    refused = quire("decode", "fruit.qd", "-o", "fruit.html")
    assert refused.exit_code == 2
    assert (folder / "fruit.html").read_bytes() == b"edited"

    assert quire("decode", "fruit.qd", "-o", "fruit.html", "--force").exit_code == 0
    assert (folder / "fruit.html").read_bytes() == PAGE


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["a.qd", "b.qd"], "--output-dir"),
        (["-", "--output-dir", "d"], "no file name"),
        (["a.qd", "-o", "x", "--output-dir", "d"], "cannot be combined"),
        (["gone.qd"], "no such file"),
    ],
)
def test_what_cannot_be_done_is_refused(quire: Quire, arguments: list[str], told: str) -> None:
    result = quire("decode", *arguments, given=b"")

    assert result.exit_code == 2
    assert told in result.stderr


def test_one_bad_digest_among_many_stops_nothing(quire: Quire, folder: Path) -> None:
    assert quire("encode", "fruit.html", "-o", "a.qd").exit_code == 0
    (folder / "b.qd").write_bytes(b"\x89quire\r\nnonsense")

    result = quire("decode", "a.qd", "b.qd", "--output-dir", "out")

    assert result.exit_code == 2
    assert "error: b.qd: " in result.stderr
    assert (folder / "out" / "a.html").read_bytes() == PAGE
