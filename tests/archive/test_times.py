"""Times at the ends of the calendar are refused when they come in and readable if they are there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from typer.testing import CliRunner
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped] # warcio has no types

from quire import atomic
from quire.archive import Archive, export, ingest
from quire.archive.build.build import build_archive
from quire.archive.format import index as indexes
from quire.archive.format.journal import JournalWriter, packed
from quire.archive.format.page_meta import about
from quire.archive.repair import repair
from quire.cli import app
from quire.cli.common.times import end_of
from quire.errors import ArchiveError, DamagedRecord, PageNotFound
from tests.archive.crash.ingest import QUICK

URL = "https://a.example/"
START = datetime(2026, 5, 1, tzinfo=UTC)
EAST, WEST = timezone(timedelta(hours=1)), timezone(timedelta(hours=-1))
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
# Outside the calendar in UTC.
BEFORE = datetime(1, 1, 1, 0, 30, tzinfo=EAST)
AFTER = datetime(9999, 12, 31, 23, 30, tzinfo=WEST)


@pytest.mark.parametrize("time", [BEFORE, AFTER])
def test_a_time_outside_the_calendar_is_refused_before_it_is_stored(
    tmp_path: Path, time: datetime
) -> None:
    with Archive.create(tmp_path / "a", disk=QUICK) as archive:
        archive.add(URL, START, b"x")
        with pytest.raises(ArchiveError, match="outside the years 1 to 9999"):
            archive.add(URL, time, b"y")
        archive.commit()
        assert [version.time for version in archive.versions(URL)] == [START]
        page = tmp_path / "a.html"
        page.write_bytes(b"<p>x")
        with pytest.raises(ArchiveError, match="outside the years 1 to 9999"):
            ingest(archive, [str(page)], time=time)


def test_the_first_and_last_moment_are_stored(tmp_path: Path) -> None:
    with Archive.create(tmp_path / "a", disk=QUICK) as archive:
        for time in (FIRST, LAST):
            archive.add(URL, time, b"x")
    with Archive.open(tmp_path / "a") as archive:
        assert [version.time for version in archive.versions(URL)] == [FIRST, LAST]


@pytest.fixture
def forged(tmp_path: Path) -> Path:
    """An archive with times outside the calendar, as earlier versions wrote and attackers do."""
    folder = tmp_path / "a.quire"
    with Archive.create(folder, disk=QUICK) as archive:
        archive.add(URL + "ok", START, b"<p>ok")
    journal = JournalWriter(folder / "000002.journal", QUICK)
    for microseconds in (-(1 << 63), -62135596800000001, 253402300800000000, (1 << 63) - 1):
        body = b"<p>%d" % microseconds
        journal.add(packed(replace(about(URL, START, body), time=microseconds), body))
    journal.finish()
    return folder


def test_an_archive_with_times_outside_the_calendar_can_be_read(forged: Path) -> None:
    with Archive.open(forged) as archive:
        assert [version.time for version in archive.versions(URL)] == [FIRST, FIRST, LAST, LAST]
        assert archive.get(URL).body == b"<p>%d" % ((1 << 63) - 1)
        assert archive.get(URL, START).body == b"<p>-62135596800000001"
        for time in (FIRST, LAST, BEFORE, AFTER):
            assert archive.get(URL, time).time in {FIRST, LAST}
        assert len(list(archive.pages())) == len(list(archive)) == 5
        assert len(list(archive.pages(since=FIRST, until=LAST))) == 5
        assert len(list(archive.pages(since=BEFORE, until=AFTER))) == 5
        assert len(list(archive.pages(since=START, until=START))) == 1
        assert archive.diff(URL).differs()
        with pytest.raises(PageNotFound, match="from 0001-01-01 00:00:00 UTC or earlier"):
            archive.get(URL + "ok", BEFORE)
        assert archive.verify() == []
    with Archive.open(forged, write=True, disk=QUICK) as archive:
        archive.compact()
        assert len(list(archive)) == 5


def test_commands_read_it_too(forged: Path, tmp_path: Path) -> None:
    for arguments in (
        ["ls", "-l"],
        ["versions", URL],
        ["get", URL],
        ["verify"],
        ["stats"],
        ["export", str(tmp_path / "out.warc.gz")],
        ["repair", str(tmp_path / "b.quire")],
    ):
        command = ["archive", arguments[0], str(forged), *arguments[1:]]
        found = CliRunner().invoke(app, command)
        assert found.exit_code == 0, (arguments, found.stderr)


@pytest.mark.parametrize("offset", [1 << 63, (1 << 64) - 1, (1 << 63) - 33])
def test_a_place_beyond_any_file_is_damage(tmp_path: Path, offset: int) -> None:
    folder = tmp_path / "a"
    with Archive.create(folder, disk=QUICK) as archive:
        archive.add(URL, START, b"x")
    with Archive.open(folder) as archive:
        (file,) = archive._open_files()
        rows = indexes.rows_of([(indexes.url_hash(URL), 0, offset, 0)])
        indexes.save(indexes.Index(rows, file.index.length), file.index_path, file.source, QUICK)
    with Archive.open(folder) as archive:
        with pytest.raises(DamagedRecord):
            archive.get(URL)
        assert len(archive.verify()) == 1
    assert repair(folder, tmp_path / "b", disk=QUICK).pages == 1


def test_the_end_of_the_last_year_is_the_end_of_the_calendar() -> None:
    assert end_of("9999") == end_of("9999-12") == end_of("9999-12-31") == LAST


def exported(folder: Path, times: list[datetime]) -> Path:
    with Archive.create(folder / "a.quire", disk=QUICK) as archive:
        for i, time in enumerate(times):
            archive.add(URL, time, b"<p>%d" % i, {"Content-Type": "text/html"})
        archive.commit()
        export(archive, folder / "out.warc.gz")
    return folder / "out.warc.gz"


IN_FULL = [
    datetime(476, 9, 4, 12, 30, tzinfo=UTC),
    datetime(2026, 5, 1, 12, 0, 0, 1, tzinfo=UTC),
    datetime(2026, 5, 1, 12, 0, 0, 250_000, tzinfo=UTC),
    datetime(2026, 5, 1, 12, 0, 1, tzinfo=UTC),
]


def by_adding(source: Path, target: Path) -> None:
    with Archive.create(target, disk=QUICK) as archive:
        ingest(archive, [str(source)])


def by_building(source: Path, target: Path) -> None:
    build_archive([str(source)], target)


@pytest.mark.parametrize("back", [by_adding, by_building])
def test_export_keeps_fractions_of_seconds_and_early_years(
    tmp_path: Path, back: Callable[[Path, Path], None]
) -> None:
    warc = exported(tmp_path, IN_FULL)

    with warc.open("rb") as stream:
        dates = [
            record.rec_headers.get_header("WARC-Date")
            for record in ArchiveIterator(stream)
            if record.rec_type == "response"
        ]
    assert dates == [
        "0476-09-04T12:30:00Z",
        "2026-05-01T12:00:00.000001Z",
        "2026-05-01T12:00:00.250000Z",
        "2026-05-01T12:00:01Z",
    ]
    lines = (tmp_path / "out.cdxj").read_text().splitlines()
    assert [line.split(" ")[1] for line in lines] == [
        "04760904123000",
        "20260501120000",
        "20260501120000",
        "20260501120001",
    ]
    back(warc, tmp_path / "b.quire")
    with Archive.open(tmp_path / "b.quire") as archive:
        assert [version.time for version in archive.versions(URL)] == IN_FULL
        for i, time in enumerate(IN_FULL):
            assert archive.get(URL, time).body == b"<p>%d" % i


def test_two_exports_at_once_leave_the_files_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported(tmp_path, IN_FULL)
    target = tmp_path / "twice.warc.gz"

    def export_some(prefix: str) -> None:
        with Archive.open(tmp_path / "a.quire") as archive:
            export(archive, target, prefix=prefix)

    other = threading.Thread(target=export_some, args=["https://nowhere.example/"])
    publish = atomic._Draft.publish

    def slow(draft: atomic._Draft) -> None:
        publish(draft)
        if draft.target == target and other.ident is None:
            # Time enough for the other to name both of its files between the names of this one.
            other.start()
            other.join(1)

    monkeypatch.setattr(atomic._Draft, "publish", slow)
    export_some("")
    other.join()

    with target.open("rb") as stream:
        pages = sum(record.rec_type == "response" for record in ArchiveIterator(stream))
    assert pages == len((tmp_path / "twice.cdxj").read_text().splitlines())
