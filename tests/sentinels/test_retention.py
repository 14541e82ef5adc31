"""Retention keeps the versions that a plain definition keeps, and every kept byte comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update

from quire.archive import Archive
from quire.errors import StoreError
from quire.sentinels.service import Service
from quire.sentinels.store import Database, claim_pages
from quire.sentinels.store.plain import instant
from quire.sentinels.store.results import version_numbers, version_reader
from quire.sentinels.store.retention import prune_page
from quire.sentinels.store.tables import event, member, notice, page, version
from quire.sentinels.versions.deltas import StoredVersion, VersionReader, best_base, pack
from quire.sentinels.versions.retention import Keep, VersionSize, kept_versions, stored_again
from quire.sources.capture import Capture
from quire.sources.reading import read
from tests.sentinels.test_worker import URL, Web, install, rows, run

keeps = st.builds(
    Keep,
    versions=st.none() | st.integers(1, 12),
    age=st.none() | st.integers(1, 30).map(lambda hours: timedelta(hours=hours)),
    bytes=st.none() | st.integers(1, 3000),
)
HOUR = 3600.0


def plainly_kept(
    versions: list[VersionSize], policies: list[Keep], needed: set[int], now: float
) -> set[int]:
    """Say it in the fewest words: a version is kept if one policy allows it and all newer ones."""

    def allows(keep: Keep, place: int) -> bool:
        newest = versions[place:]
        return (
            (keep.versions is None or len(newest) <= keep.versions)
            and (
                keep.age is None
                or all(now - each.time <= keep.age.total_seconds() for each in newest)
            )
            and (keep.bytes is None or sum(each.bytes for each in newest) <= keep.bytes)
        )

    return {
        each.number
        for place, each in enumerate(versions)
        if each.number in needed
        or place == len(versions) - 1
        or any(allows(keep, place) for keep in policies)
    }


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 900)), max_size=25),
    st.lists(keeps, min_size=1, max_size=3),
    st.sets(st.integers(0, 25)),
)
def test_versions_are_kept_as_the_plain_definition_says(
    drawn: list[tuple[int, int]], policies: list[Keep], needed: set[int]
) -> None:
    times = sorted(time for time, _ in drawn)
    versions = [
        VersionSize(number, time * HOUR, length)
        for number, (time, (_, length)) in enumerate(zip(times, drawn, strict=True))
    ]
    now = 40 * HOUR

    assert kept_versions(versions, policies, needed, now) == plainly_kept(
        versions, policies, needed, now
    )


# Versions are added and deleted in any order of events. Bodies that share nothing with others are
# stored whole, which is where chains begin.
bodies = st.tuples(st.integers(0, 3), st.integers(0, 9)).map(
    lambda drawn: bytes(range(64 * drawn[0], 64 * drawn[0] + 64)) * 8 + b"%d" % drawn[1]
)
rounds = st.lists(st.tuples(st.lists(bodies, max_size=9), st.sets(st.integers(0, 60))), max_size=6)


def counted(stored: dict[int, StoredVersion], asked: list[int]) -> Callable[[int], StoredVersion]:
    def get(number: int) -> StoredVersion:
        asked.append(number)
        return stored[number]

    return get


@given(rounds)
@settings(max_examples=300)
def test_every_kept_version_comes_back_however_often_others_are_deleted(
    drawn: list[tuple[list[bytes], set[int]]],
) -> None:
    written: dict[int, bytes] = {}
    stored: dict[int, StoredVersion] = {}
    number = 0
    for added, unwanted in drawn:
        for body in added:
            base = best_base(number, stored)
            below = b"" if base is None else VersionReader(stored.__getitem__, "page").read(base)
            stored[number] = pack(number, body, base, below)
            written[number] = body
            number += 1
        kept = set(stored).difference(unwanted) | ({number - 1} if number else set())
        reader = VersionReader(stored.__getitem__, "page")
        bases = {each.number: each.base for each in stored.values()}
        again = {each.number: each for each in stored_again(kept, bases, reader.read)}
        stored = {each: again.get(each, stored[each]) for each in sorted(kept)}

        for each in stored:
            asked: list[int] = []

            assert VersionReader(counted(stored, asked), "page").read(each) == written[each]
            assert len(asked) <= number.bit_length() + 2  # chains do not grow


# ------------------------------------------------------------ in the database


def body_of(number: int) -> bytes:
    return b"<p>Fish and chips</p>" * 50 + b"<p>%d</p></html>" % number


def write_versions(database: Database, web: Web, count: int, **form: Any) -> None:  # noqa: ANN401
    install(database, web.now, {"url": URL, "name": "w", **form})
    worker = web.worker(database)
    for number in range(count):
        web.pages[URL] = body_of(number)
        run(worker)
        web.now += HOUR
    worker.close()


def stored_numbers(database: Database) -> list[int]:
    with database.read() as connection:
        (number,) = connection.execute(select(page.c.id)).scalars()
        return version_numbers(connection, number)


def check_bytes(database: Database) -> None:
    with database.read() as connection:
        (number,) = connection.execute(select(page.c.id)).scalars()
        for each in version_numbers(connection, number):
            found = version_reader(connection, number, URL).read(each)
            assert found == body_of(each)


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ({"versions": 3}, [17, 18, 19]),
        ({"age": "150 min"}, [17, 18, 19]),
        ({"versions": 1}, [19]),
        ({}, list(range(20))),
        (None, list(range(20))),
    ],
)
def test_a_worker_keeps_what_a_watch_asks_for(
    database: Database,
    keep: object,
    expected: list[int],
) -> None:
    web = Web()
    write_versions(database, web, 20, keep=keep)

    assert stored_numbers(database) == expected
    check_bytes(database)


def test_old_events_go_with_their_notices_but_not_before_these_are_sent(
    database: Database,
) -> None:
    web = Web()
    hook = {"to": ["https://hooks.example/one"]}
    write_versions(database, web, 20, keep={"age": "5 h"}, notify=hook)
    waiting = len(rows(database, event))
    assert waiting == 19  # none was sent
    with database.write() as connection:
        connection.execute(update(notice).values(state="sent", ended=web.now))
        oldest = connection.execute(select(event.c.id).order_by(event.c.time).limit(1)).scalar_one()
        connection.execute(update(notice).where(notice.c.event == oldest).values(state="dead"))
        prune_page(connection, 1, web.now)

    left = rows(database, event)
    assert oldest in {row.id for row in left}
    assert {row.event for row in rows(database, notice)} == {row.id for row in left}
    assert all(row.id == oldest or row.time >= web.now - 5 * HOUR for row in left)
    assert 1 < len(left) < 8


def test_bytes_are_a_limit_of_what_is_stored(database: Database) -> None:
    web = Web()
    write_versions(database, web, 40, keep={"bytes": 500})

    total = sum(len(row.data) for row in rows(database, version))
    numbers = stored_numbers(database)
    assert total <= 500
    assert numbers == list(range(numbers[0], 40))
    assert len(numbers) > 3
    check_bytes(database)


def test_what_another_watch_needs_is_not_deleted(database: Database) -> None:
    web = Web()
    install(
        database, web.now, {"url": URL, "name": "slow", "every": "1 w", "keep": {"versions": 1}}
    )
    write_versions(database, web, 12, keep={"versions": 2})

    # The slow watch will be compared with version 0, whenever that is.
    assert stored_numbers(database) == [0, 10, 11]
    check_bytes(database)
    web.now += 7 * 24 * HOUR
    web.pages[URL] = body_of(12)
    worker = web.worker(database)
    run(worker)
    worker.close()
    assert stored_numbers(database) == [11, 12]


def test_the_most_generous_watch_decides(database: Database) -> None:
    web = Web()
    install(database, web.now, {"url": URL, "name": "long", "keep": {"versions": 5}})
    write_versions(database, web, 12, keep={"versions": 2})

    assert stored_numbers(database) == [7, 8, 9, 10, 11]


def test_prune_deletes_on_request_and_gives_up_a_check_that_is_under_way(
    database: Database,
) -> None:
    web = Web()
    write_versions(database, web, 12)
    service = Service(database)
    with database.write() as connection:
        connection.execute(update(page).values(due=web.now))
        (claimed,) = claim_pages(connection, "other", web.now, 60, 10)

    done = service.prune(["w"], Keep(versions=4))
    assert (done.versions, done.bytes > 0) == (8, True)
    assert stored_numbers(database) == [8, 9, 10, 11]
    check_bytes(database)
    with database.write() as connection:
        (again,) = claim_pages(connection, "third", web.now, 60, 10)
    assert again.fence > claimed.fence + 1
    assert service.prune() == service.prune([], Keep(versions=4))  # nothing more to do
    with pytest.raises(StoreError, match="no version 3; its versions are 8 to 11"):
        service.versions("w", None, 3, None)


def test_the_setting_of_the_service_counts_for_watches_that_say_nothing(
    database: Database,
) -> None:
    web = Web()
    write_versions(database, web, 6)
    service = Service(database)

    service.set_keep({"versions": 2})
    service.prune()
    assert stored_numbers(database) == [4, 5]
    with database.write() as connection:
        (number,) = connection.execute(select(member.c.page)).scalars()
        assert prune_page(connection, number, web.now).versions == 0


# ------------------------------------------------------------ versions by time, and out


def test_versions_are_compared_by_number_or_time(database: Database) -> None:
    web = Web()
    start = web.now
    write_versions(database, web, 6)
    service = Service(database)

    def last_lines(old: int | datetime | None, new: int | datetime | None) -> list[str]:
        return [each.text().split("\n")[-1] for each in service.versions("w", None, old, new)]

    assert last_lines(None, None) == ["4", "5"]
    assert last_lines(1, 3) == ["1", "3"]
    assert last_lines(instant(start), instant(start + 3.5 * HOUR)) == ["0", "3"]
    service.prune(["w"], Keep(versions=2))
    assert last_lines(None, None) == ["4", "5"]
    with pytest.raises(StoreError, match="no version from 1970"):
        service.versions("w", None, datetime(1970, 1, 1, tzinfo=UTC), None)


@pytest.mark.parametrize("name", ["x.quire", "x.warc.gz"])
def test_exported_versions_have_their_exact_bytes(
    database: Database, tmp_path: Path, name: str
) -> None:
    web = Web()
    start = web.now
    write_versions(database, web, 5)
    service = Service(database)
    path = tmp_path / name

    assert service.export_versions("w", path) == 5
    with pytest.raises(StoreError, match="exists"):
        service.export_versions("w", path)
    expected = {instant(start + number * HOUR): body_of(number) for number in range(5)}
    if name.endswith(".quire"):
        with Archive.open(path) as archive:
            found = {each.time: archive.get(each.url, each.time).body for each in archive.pages()}
    else:
        captures = [each for each in read(str(path)) if isinstance(each, Capture)]
        found = {each.time: each.body for each in captures if each.time is not None}
    assert found == expected


def test_a_watch_without_versions_is_not_exported(database: Database, tmp_path: Path) -> None:
    web = Web()
    install(database, web.now, {"url": URL, "name": "w"})

    with pytest.raises(StoreError, match=r"choose x\.warc\.gz"):
        Service(database).export_versions("w", tmp_path / "x.warc")
    with pytest.raises(StoreError, match="no stored versions"):
        Service(database).export_versions("w", tmp_path / "x.quire")
    assert list(tmp_path.glob("x*")) == []


def test_lines_stay_known_after_their_version_is_deleted_by_this_worker(database: Database) -> None:
    web = Web()
    install(
        database, web.now, {"url": URL, "name": "w", "preset": "new item", "keep": {"versions": 1}}
    )
    worker = web.worker(database)
    fired = []
    for text in ("a", "b", "c", "a"):
        web.pages[URL] = f"<p>{text}</p></html>".encode()
        asyncio.run(worker.run_due())
        fired.append(worker.tally.events)
        web.now += HOUR
    worker.close()

    assert fired == [0, 1, 2, 2]
