"""``quire archive build``: its output, streams and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quire.archive import Archive
from tests.cli.conftest import Process, Quire, Watched
from tests.sources.crawls import record, response, write


@pytest.fixture
def crawl(folder: Path) -> Path:
    """Ten pages of a site, a request, and a record with a wrong length."""
    page = b"<ul>" + b"<li class=a>Cod 8.40" * 40
    records = [record(response(page + b"%d" % i), url=f"https://a.example/{i}") for i in range(10)]
    records += [record(b"GET / HTTP/1.1\r\n\r\n", kind="request"), record(b"x", length=99)]
    write(folder / "crawl.warc.gz", records)
    return folder / "crawl.warc.gz"


def test_a_build_says_what_is_in_it_and_what_is_not(quire: Quire, crawl: Path) -> None:
    result = quire("archive", "build", crawl.name, "-o", "a.quire")

    assert result.exit_code == 1, "a record was left out"
    lines = result.stdout.splitlines()
    assert lines[:3] == [
        "a.quire: 10 pages added (8.1 kB); 10 in total",
        "other records added: 1 request",
        "1 could not be read:",
    ]
    assert lines[3].startswith("  crawl.warc.gz#")
    assert len(lines) == 4
    result = quire("archive", "verify", "a.quire")
    assert result.stdout == "a.quire: 10 pages, no damage found\n"


def test_a_build_for_programs(quire: Quire, crawl: Path) -> None:
    arguments = ("archive", "build", crawl.name, "-o", "a.quire", "--format", "json")
    told = json.loads(quire(*arguments).stdout)
    assert (told["archive"], told["pages"], told["total_pages"]) == ("a.quire", 10, 10)
    assert told["companions"] == {"request": 1}
    assert told["trouble_count"] == len(told["troubles"]) == 1

    told = json.loads(quire(*arguments, "--engine", "local:2").stdout)
    assert (told["pages"], told["known"], told["total_pages"]) == (0, 10, 10)
    assert quire("archive", "build", crawl.name, "-o", "a.quire").stdout.splitlines()[:2] == [
        "a.quire: 0 pages added (0 B), 10 already known and skipped; 10 in total",
        "other records already known: 1",
    ]
    told = json.loads(quire(*arguments, "--no-skip-known").stdout)
    assert (told["pages"], told["total_pages"]) == (10, 20)


def test_what_cannot_be_built_is_refused_with_a_way_out(
    quire: Quire, folder: Path, crawl: Path
) -> None:
    build = ("archive", "build")
    (folder / "empty.html").touch()
    result = quire(*build, "empty.html", "-o", "a.quire")
    assert result.exit_code == 2
    assert "error: nothing could be read: empty.html: empty: 0 bytes" in result.stderr
    result = quire(*build, crawl.name, "-o", "fruit.html")
    assert result.exit_code == 2
    assert "error: fruit.html: is a file, not a folder\nhint: choose another name" in result.stderr
    result = quire(*build, crawl.name, "-o", "a.quire", "--engine", "abacus")
    assert result.exit_code == 2
    assert "error: abacus: not an engine; expected local" in result.stderr
    result = quire(*build, "gone.warc", "-o", "a.quire")
    assert result.exit_code == 2
    assert "error: gone.warc: no such file or folder" in result.stderr
    (folder / "docs").mkdir()
    (folder / "docs" / "letter.txt").write_text("Dear")
    result = quire(*build, crawl.name, "-o", "docs")
    assert result.exit_code == 2
    assert "docs: a folder, but not an archive" in result.stderr
    assert not (folder / "a.quire").exists()


def test_another_writer_is_told(quire: Quire, folder: Path, crawl: Path) -> None:
    with Archive.create(folder / "a.quire"):
        result = quire("archive", "build", crawl.name, "-o", "a.quire")
    assert result.exit_code == 2
    assert "another writer" in result.stderr


def test_bars_are_drawn_where_somebody_looks(
    watched: Watched, process: Process, crawl: Path
) -> None:
    build = ("archive", "build", crawl.name, "-o", "a.quire")
    seen, stdout = watched(*build, stream="stderr", code=1)
    assert b"10 pages added" in stdout
    assert b"storing pages" in seen
    quiet = process("archive", "build", crawl.name, "-o", "b.quire")
    assert quiet.returncode == 1
    assert quiet.stderr.startswith(b"note: ")
