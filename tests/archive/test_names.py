"""Names that anyone can foresee: links are not followed, and what others made stays as it is.

Something other than a file in an archive, or among the sources, is an error at once. A pipe that is
opened would keep a test waiting for ever, which the time limit of all tests reports.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from quire.archive import Archive
from quire.archive.build.build import build_archive
from quire.archive.repair import repair
from quire.cli import app
from quire.errors import ArchiveError, ArchiveLocked
from quire.safe_read import NotPlain, open_source
from tests.archive.crash.ingest import QUICK

URL = "https://a.example/"
START = datetime(2026, 5, 1, tzinfo=UTC)
PRECIOUS = b"Dear diary"


def command(folder: Path, *arguments: str) -> Result:
    before = Path.cwd()
    os.chdir(folder)
    try:
        return CliRunner().invoke(app, list(arguments))
    finally:
        os.chdir(before)


def small_archive(folder: Path, pages: int = 3) -> Path:
    with Archive.create(folder, disk=QUICK) as archive:
        for i in range(pages):
            archive.add(f"{URL}{i}", START, b"<p>Page %d" % i)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A file that has nothing to do with the archive."""
    path = tmp_path / "precious"
    path.write_bytes(PRECIOUS)
    return path


def a_link(path: Path) -> None:
    path.symlink_to(path.parent.parent / "precious")


def a_hard_link(path: Path) -> None:
    path.hardlink_to(path.parent.parent / "precious")


def a_broken_link(path: Path) -> None:
    path.symlink_to("nowhere")


def a_circle(path: Path) -> None:
    path.symlink_to(path.name)


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_folder(path: Path) -> None:
    path.mkdir()


def a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_socket(path: Path) -> None:
    # Names of sockets are short, so it is made from within its folder.
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


ODD = [a_link, a_broken_link, a_circle, a_pipe, a_folder, a_device, a_socket]


@pytest.mark.parametrize("make", [*ODD, a_hard_link])
def test_a_lock_that_is_something_else_is_left_as_it_is(
    tmp_path: Path, precious: Path, make: Callable[[Path], None]
) -> None:
    folder = small_archive(tmp_path / "a.quire")
    (folder / "lock").unlink()
    make(folder / "lock")
    (tmp_path / "a.html").write_bytes(b"<p>x")

    for arguments in (["add", "a.quire", "a.html"], ["compact", "a.quire"]):
        done = command(tmp_path, "archive", *arguments)
        assert done.exit_code == 2, done.stderr
        assert "a.quire/lock: is not" in done.stderr
        assert done.exception is None or isinstance(done.exception, SystemExit)
    assert precious.read_bytes() == PRECIOUS
    assert not (tmp_path / "nowhere").exists()
    with Archive.open(folder) as archive:
        assert len(archive) == 3


def test_a_lock_of_an_earlier_writer_is_taken(tmp_path: Path) -> None:
    folder = small_archive(tmp_path / "a.quire")
    for content in (b"", b"1", b"4294967295"):
        (folder / "lock").write_bytes(content)
        with Archive.open(folder, write=True, disk=QUICK):
            assert (folder / "lock").read_bytes() == str(os.getpid()).encode()


@pytest.mark.parametrize("make", ODD)
@pytest.mark.parametrize("name", ["000009.journal", "000009.segment"])
def test_a_data_file_that_is_something_else_is_an_error_at_once(
    tmp_path: Path, precious: Path, make: Callable[[Path], None], name: str
) -> None:
    folder = small_archive(tmp_path / "a.quire")
    make(folder / name)

    for verb in ("ls", "verify", "stats", "compact"):
        done = command(tmp_path, "archive", verb, "a.quire")
        assert done.exit_code == 2, (verb, done.stderr)
        assert f"a.quire/{name}: not a plain file" in done.stderr
    done = command(tmp_path, "archive", "repair", "a.quire", "b.quire", "--format", "json")
    assert done.exit_code == 2, done.stderr
    assert name in json.dumps(json.loads(done.stdout))
    with Archive.open(tmp_path / "b.quire") as archive:
        assert len(list(archive)) == 3
    assert precious.read_bytes() == PRECIOUS


@pytest.mark.parametrize("make", ODD)
def test_an_index_that_is_something_else_is_ignored(
    tmp_path: Path, precious: Path, make: Callable[[Path], None]
) -> None:
    folder = small_archive(tmp_path / "a.quire")
    index = folder / "000001.journal.index"
    index.unlink()
    make(index)

    for verb in ("ls", "verify"):
        done = command(tmp_path, "archive", verb, "a.quire")
        assert done.exit_code == 0, done.stderr
    with Archive.open(folder, write=True, disk=QUICK) as archive:
        archive.add(URL, START, b"x")
    with Archive.open(folder) as archive:
        assert len(list(archive)) == 4
    assert precious.read_bytes() == PRECIOUS


@pytest.mark.parametrize("make", ODD)
def test_a_marker_that_is_something_else_is_reported(
    tmp_path: Path, precious: Path, make: Callable[[Path], None]
) -> None:
    folder = small_archive(tmp_path / "a.quire")
    (folder / "archive.json").unlink()
    make(folder / "archive.json")

    assert command(tmp_path, "archive", "ls", "a.quire").exit_code == 0
    done = command(tmp_path, "archive", "verify", "a.quire")
    assert done.exit_code == 2, done.stderr
    assert "archive.json" in done.stdout + done.stderr
    for path in folder.glob("0*"):
        path.unlink()
    assert command(tmp_path, "archive", "ls", "a.quire").exit_code == 2
    assert precious.read_bytes() == PRECIOUS


@pytest.fixture
def crawl(tmp_path: Path) -> list[str]:
    (tmp_path / "site").mkdir()
    for i in range(5):
        (tmp_path / "site" / f"{i}.html").write_bytes(b"<p>Page %d" % i)
    return [str(tmp_path / "site" / f"{i}.html") for i in range(5)]


def by_build(crawl: list[str], target: Path) -> None:
    build_archive(crawl, target, disk=QUICK)


def by_repair(_crawl: list[str], target: Path) -> None:
    damaged = target.parent / "damaged.quire"
    repair(damaged if damaged.exists() else small_archive(damaged), target, disk=QUICK)


@pytest.mark.parametrize("make", [by_build, by_repair])
def test_an_archive_with_the_name_of_a_draft_is_kept(
    tmp_path: Path, crawl: list[str], make: Callable[[list[str], Path], None]
) -> None:
    mine = small_archive(tmp_path / "new.quire.part")
    link = tmp_path / ".new.quire.0123456789abcdef.part"
    link.symlink_to(mine)
    letter = tmp_path / ".new.quire.fedcba9876543210.part"
    letter.mkdir()
    (letter / "letter.txt").write_bytes(PRECIOUS)
    before = contents(mine)

    make(crawl, tmp_path / "new.quire")

    assert contents(mine) == before
    assert link.is_symlink()
    assert contents(letter) == {"letter.txt": PRECIOUS}
    with Archive.open(tmp_path / "new.quire") as archive:
        assert len(archive) in {3, 5}


@pytest.mark.parametrize("make", [by_build, by_repair])
def test_what_a_crash_left_is_cleared_away_unless_it_is_in_use(
    tmp_path: Path, crawl: list[str], make: Callable[[list[str], Path], None]
) -> None:
    left = small_archive(tmp_path / ".new.quire.0123456789abcdef.part")
    with Archive.open(left, write=True, disk=QUICK), pytest.raises(ArchiveLocked, match="making"):
        make(crawl, tmp_path / "new.quire")
    assert left.exists()
    assert not (tmp_path / "new.quire").exists()
    make(crawl, tmp_path / "new.quire")
    assert not left.exists()


def test_files_of_others_in_the_folder_of_an_archive_are_kept(tmp_path: Path) -> None:
    folder = small_archive(tmp_path / "a.quire")
    for name in ("letter.part", "letter.index", "000007.segment.part.txt"):
        (folder / name).write_bytes(PRECIOUS)
    (folder / "000007.segment.part").write_bytes(b"left by a crash")
    (folder / "000006.segment.part").mkdir()

    with Archive.open(folder, write=True, disk=QUICK) as archive:
        archive.compact()

    left = contents(folder)
    assert {left["letter.part"], left["letter.index"], left["000007.segment.part.txt"]} == {
        PRECIOUS
    }
    assert "000007.segment.part" not in left


@pytest.mark.parametrize("make", [a_broken_link, a_circle, a_pipe, a_device, a_socket])
@pytest.mark.parametrize("suffix", [".html", ".warc.gz", ".wacz", ".parquet"])
def test_a_source_in_a_folder_that_is_something_else_is_listed(
    tmp_path: Path, crawl: list[str], make: Callable[[Path], None], suffix: str
) -> None:
    assert len(crawl) == 5
    odd = tmp_path / "site" / f"odd{suffix}"
    make(odd)

    commands = [["archive", "add", "--create", "a.quire", "site"], ["templates", "site"]]
    if suffix == ".html":
        commands.append(["encode", "site"])
    for arguments in commands:
        done = command(tmp_path, *arguments)
        assert f"odd{suffix}" in done.stdout + done.stderr, arguments
        assert done.exception is None or isinstance(done.exception, SystemExit)
    with Archive.open(tmp_path / "a.quire") as archive:
        assert len(archive) == 5


@pytest.mark.parametrize("make", [a_pipe, a_device, a_socket])
def test_a_pipe_or_device_is_not_a_page(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "odd.html")
    with pytest.raises(NotPlain):
        open_source(tmp_path / "odd.html")
    for verb in ("show", "encode"):
        done = command(tmp_path, verb, "odd.html")
        assert done.exit_code == 2
        assert "odd.html: not a file" in done.stderr


def test_a_pipe_that_the_shell_opened_is_read() -> None:
    read, write = os.pipe()
    os.write(write, b"<p>Fish")
    os.close(write)
    try:
        with open_source(f"/dev/fd/{read}") as file:
            assert file.read() == b"<p>Fish"
    finally:
        os.close(read)


def test_files_that_keep_changing_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_archive(tmp_path / "a.quire")
    listed = iter(range(1, 1 << 20))

    def changing(_folder: Path) -> list[Path]:
        return [folder / f"{next(listed):06}.journal"]

    monkeypatch.setattr("quire.archive.format.stored_file.data_files", changing)
    with pytest.raises(ArchiveError, match="keep changing"):
        Archive.open(folder)
