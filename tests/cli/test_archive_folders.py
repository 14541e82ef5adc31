"""``quire archive``: folders, addresses as people write them, pipes, failures and Ctrl-C."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import quire.archive
from quire.archive import Archive, Ingested
from quire.spool import _Temporary
from tests.archive.test_companions import kinds, records_in
from tests.cli.conftest import Process, Quire
from tests.sources.crawls import record, response, write

COMMANDS = {
    "add": ("archive", "add", "--create", "a.quire"),
    "build": ("archive", "build", "-o", "a.quire"),
}
EACH = pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)


@pytest.fixture
def saved(folder: Path) -> Path:
    """Versions of two pages, named after the time they were saved, and a page without a time."""
    for page in ("news", "about us"):
        (folder / "saved" / page).mkdir(parents=True)
        for day in (1, 2, 3):
            file = folder / "saved" / page / f"2026050{day}T093000Z.html"
            file.write_text(f"<h1>{page}</h1><p>Day {day}")
    (folder / "saved" / "list.html?q=1 2").write_text("<p>List")
    (folder / "saved" / "list.html").write_text("<p>List")
    return folder / "saved"


def listed(archive: str = "a.quire") -> dict[str, list[str]]:
    """The addresses of an archive with the days of their versions."""
    with Archive.open(archive) as found:
        urls = sorted({page.url for page in found.pages()})
        return {url: [f"{one.time:%d}" for one in found.versions(url)] for url in urls}


@EACH
def test_files_with_times_in_their_names_are_versions_of_their_folder(
    quire: Quire, saved: Path, command: tuple[str, ...]
) -> None:
    result = quire(*command, "saved", "--by-folder", "--time", "2026-05-17")
    assert result.exit_code == 0, result.output
    assert listed() == {
        "saved/about us": ["01", "02", "03"],
        "saved/list.html": ["17"],
        "saved/news": ["01", "02", "03"],
    }
    page = quire("archive", "get", "a.quire", "saved/news", "--time", "2026-05-02")
    assert page.stdout_bytes == (saved / "news" / "20260502T093000Z.html").read_bytes()


@EACH
def test_files_get_the_addresses_they_had(
    quire: Quire, saved: Path, command: tuple[str, ...]
) -> None:
    files = [str(saved.relative_to(Path.cwd()) / "list.html?q=1 2"), "saved"]
    prefix = ("--url-prefix", "https://example.org/", "--time", "2026-05-17")
    assert quire(*command, *files, *prefix).exit_code == 0
    assert set(listed()) == {
        "https://example.org/list.html",
        "https://example.org/list.html?q=1%202",
        *(
            f"https://example.org/{page}/2026050{day}T093000Z.html"
            for page in ("news", "about%20us")
            for day in (1, 2, 3)
        ),
    }


@EACH
@pytest.mark.parametrize("source", ["saved", "./saved/", "saved/news"])
def test_a_folder_has_an_address_too(
    quire: Quire, saved: Path, command: tuple[str, ...], source: str
) -> None:
    assert saved.exists()
    prefix = ("--url-prefix", "https://example.org/", "--by-folder", "--time", "2026-05-17")
    assert quire(*command, source, *prefix).exit_code == 0
    news = "https://example.org/" + ("" if source == "saved/news" else "news")
    assert listed()[news] == ["01", "02", "03"]


def test_a_prefix_is_the_start_of_an_address(quire: Quire, saved: Path) -> None:
    assert saved.exists()
    result = quire(*COMMANDS["add"], "saved", "--url-prefix", "example.org")
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "error: --url-prefix example.org: not the start of an address",
        "hint: use for example --url-prefix https://example.org/",
    ]
    assert not Path("a.quire").exists()


def test_records_of_crawls_keep_their_addresses(quire: Quire, folder: Path) -> None:
    write(folder / "a.warc", [record(response(b"<p>x"), url="https://a.example/1")])
    options = ("--url-prefix", "https://b.example/", "--by-folder")
    assert quire(*COMMANDS["add"], "a.warc", *options).exit_code == 0
    assert list(listed()) == ["https://a.example/1"]


@EACH
def test_known_pages_are_skipped_unless_asked_for(
    quire: Quire, saved: Path, command: tuple[str, ...]
) -> None:
    assert saved.exists()
    assert quire(*command, "saved", "--by-folder", "--time", "2026-05-17").exit_code == 0
    again = quire(*command, "saved", "--by-folder", "--time", "2026-05-17")
    assert again.exit_code == 0
    assert again.stdout == (
        "a.quire: 0 pages added (0 B), 7 already known and skipped; 7 in total\n"
    )
    twice = quire(*command, "saved", "--by-folder", "--time", "2026-05-17", "--no-skip-known")
    assert twice.stdout.endswith("; 14 in total\n")


def test_addresses_are_found_as_people_write_them(quire: Quire, folder: Path) -> None:
    url = "https://www.a.example/News/"
    dated = [
        record(response(b"<p>%d" % day), url=url).replace(b"05-17", b"05-%02d" % day)
        for day in (1, 9)
    ]
    write(folder / "a.warc", dated)
    assert quire(*COMMANDS["add"], "a.warc").exit_code == 0
    for asked in (url, "http://a.example/News", "A.EXAMPLE/News"):
        result = quire("archive", "get", "a.quire", asked)
        assert (result.exit_code, result.stdout) == (0, "<p>9")
        assert result.stderr == ("" if asked == url else f"note: {asked} is stored as {url}\n")
        assert quire("archive", "versions", "a.quire", asked).stdout.count("\n") == 2
        assert "<p>" not in quire("archive", "diff", "a.quire", asked, "--format", "json").stderr
    near = quire("archive", "get", "a.quire", url, "--time", "2026-05-07", "--nearest")
    assert near.stdout == "<p>9"
    assert quire("archive", "get", "a.quire", url, "--time", "2026-05-07").stdout == "<p>1"
    assert quire("archive", "get", "a.quire", url, "--nearest").exit_code == 2


def test_an_export_goes_into_a_pipe(process: Process, folder: Path) -> None:
    write(folder / "a.warc", list(kinds().values()))
    assert process(*COMMANDS["add"], "a.warc").returncode == 0
    result = process("archive", "export", "a.quire", "-")

    assert (result.returncode, result.stderr) == (0, b"note: 29 records\n")
    (folder / "out.warc.gz").write_bytes(result.stdout)
    assert records_in(folder / "out.warc.gz") == records_in(folder / "a.warc")
    assert gzip.decompress(result.stdout).startswith(b"WARC/1.0\r\nWARC-Type: warcinfo")
    assert not (folder / "-").exists()
    refused = process("archive", "export", "a.quire", "-", "--format", "json")
    assert (refused.returncode, refused.stdout) == (2, b"")
    part = process("archive", "export", "a.quire", "-", "--prefix", "https://b.")
    assert part.stderr == b"note: 3 records\n", "a description and two pages"


def test_a_full_disk_is_named(quire: Quire, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder / "a.warc", [record(response(b"<p>x")), record(response(b"<p>y"))])
    assert quire(*COMMANDS["add"], "a.warc").exit_code == 0
    monkeypatch.setattr("quire.archive.warc.cdxj.MOST_LINES", 1)
    monkeypatch.setattr("tempfile.tempdir", str(folder / "full"))

    def full() -> io.BufferedWriter:
        return io.BufferedWriter(_Temporary("/dev/full", "w"))

    monkeypatch.setattr("quire.archive.warc.cdxj.temporary_file", full)
    result = quire("archive", "export", "a.quire", "out.warc.gz")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {folder}/full: no space left on device\n")
    assert not list(folder.glob("*out*"))
    monkeypatch.setattr("quire.archive.warc.cdxj.MOST_LINES", 1000)
    assert quire("archive", "export", "a.quire", "/dev/full").stderr.startswith("error: /dev/full")


@pytest.mark.parametrize("name", ["a.quire", "new/below/a.quire"])
def test_a_failed_create_leaves_nothing_behind(quire: Quire, folder: Path, name: str) -> None:
    (folder / "bad.warc").write_bytes(b"rubbish")
    (folder / "empty.html").touch()
    before = sorted(folder.rglob("*"))
    for source in ("bad.warc", "empty.html", "none.warc"):
        result = quire("archive", "add", name, source, "--create")
        assert result.exit_code == 2
        assert sorted(folder.rglob("*")) == before


def test_an_archive_that_was_there_is_not_removed(quire: Quire, folder: Path) -> None:
    (folder / "bad.warc").write_bytes(b"rubbish")
    assert quire("archive", "create", "a.quire").exit_code == 0
    assert quire("archive", "add", "a.quire", "bad.warc", "--create").exit_code == 2
    assert (folder / "a.quire" / "archive.json").exists()


def interrupted(archive: Archive, paths: list[str], **options: object) -> Ingested:
    """Add one file, and then press Ctrl-C."""
    REAL(archive, paths[:1], **options)  # type: ignore[arg-type] # the options of the command
    raise KeyboardInterrupt


REAL = quire.archive.ingest


def test_an_interrupt_says_what_is_safe_and_how_to_continue(
    quire: Quire, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        pages = [
            record(response(b"<p>%d" % i), url=f"https://{name}.example/{i}") for i in range(5)
        ]
        write(folder / f"{name}.warc", pages)
    monkeypatch.setattr("quire.archive.ingest", interrupted)
    result = quire(*COMMANDS["add"], "a.warc", "b.warc")

    assert result.exit_code == 130
    assert result.stderr.splitlines() == [
        "error: interrupted; a.quire has 5 pages, which are safe",
        "hint: run the same command again; it skips these pages",
    ]
    monkeypatch.setattr("quire.archive.ingest", REAL)
    again = quire("archive", "add", "a.quire", "a.warc", "b.warc", "--format", "json")
    told = json.loads(again.stdout)
    assert (told["pages"], told["known"], told["total_pages"]) == (5, 5, 10)


@pytest.mark.parametrize("command", ["add", "build", "compact", "export"])
def test_an_interrupt_before_anything_is_stored_leaves_nothing(
    quire: Quire, folder: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    def stop(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    write(folder / "a.warc", [record(response(b"<p>x"))])
    assert quire("archive", "add", "b.quire", "a.warc", "--create").exit_code == 0
    before = sorted(path for path in folder.rglob("*"))
    for name in ("ingest", "export", "build.build.build_archive", "Archive.compact"):
        monkeypatch.setattr(f"quire.archive.{name}", stop)
    arguments, said = {
        "add": (("add", "a.quire", "a.warc", "--create"), "no page was stored"),
        "build": (("build", "a.warc", "-o", "a.quire"), "nothing was added to a.quire"),
        "compact": (("compact", "b.quire"), "b.quire is as it was before"),
        "export": (("export", "b.quire", "out.warc.gz"), "out.warc.gz was not written"),
    }[command]
    result = quire("archive", *arguments)

    assert result.exit_code == 130
    assert result.stderr.startswith(f"error: interrupted; {said}\nhint: run the same command again")
    assert sorted(path for path in folder.rglob("*")) == before


def test_a_real_interrupt_loses_no_acknowledged_page(folder: Path) -> None:
    pages = [
        record(response(os.urandom(20_000)), url=f"https://a.example/{i}") for i in range(3_000)
    ]
    write(folder / "a.warc", pages)
    with subprocess.Popen(
        [sys.executable, "-m", "quire.cli", *COMMANDS["add"], "a.warc"],
        cwd=folder,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        while running.poll() is None and not list(folder.glob("a.quire/*.journal")):
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=240)
    if running.returncode == 0:
        pytest.skip("it was faster than the interrupt")
    assert running.returncode == 130, errors
    assert errors.startswith("error: interrupted; ")
    again = subprocess.run(
        [sys.executable, "-m", "quire.cli", *COMMANDS["add"], "a.warc", "--format", "json"],
        cwd=folder,
        capture_output=True,
        check=True,
        timeout=240,
    )
    told = json.loads(again.stdout)
    assert told["pages"] + told["known"] == told["total_pages"] == len(pages)
    with Archive.open(folder / "a.quire") as archive:
        assert archive.verify() == []
