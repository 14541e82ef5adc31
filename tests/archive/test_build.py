"""A built archive has the same pages as one filled and compacted, and is as small."""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.archive import Archive, Ingested, export, ingest
from quire.archive.build import encode as build_encoding
from quire.archive.build import plan as build_plan
from quire.archive.build import steps as build_steps
from quire.archive.build.build import build_archive
from quire.archive.build.read import Reading
from quire.archive.build.tables import BODIES
from quire.archive.compact import clusters
from quire.archive.format.index import url_hash
from quire.archive.format.record import Head, Source, heads
from quire.engines.local import LocalData, LocalEngine
from quire.engines.seam import Data, GroupsToRows, PathsToRows
from quire.errors import ArchiveError, ArchiveLocked, SourceUnreadable
from quire.sources import Trouble, find
from tests.archive.test_export import stored
from tests.archive.test_ingest import revisit
from tests.sources.crawls import coded, record, response, write

TIME = datetime(2026, 6, 1, tzinfo=UTC)
WORDS = ["cod", "hake", "plaice", "sole", "brill", "turbot", "dab", "gurnard", "ling", "skate"]


def page(site: int, number: int) -> bytes:
    """A page of a site: its own frame, and a list that differs."""
    draw = random.Random(site * 1000 + number)
    frame = "".join(f'<li class="s{site}n{i}"><a href="/{site}/{i}">x</a>' for i in range(40))
    goods = "".join(f"<tr><td>{draw.choice(WORDS)}<td>{draw.randrange(9999)}" for _ in range(30))
    return f"<title>{number}</title><ul>{frame}</ul><table>{goods}</table>".encode()


def dated(url: str, body: bytes, day: int) -> bytes:
    return record(response(body), url=url).replace(b"2026-05-17", b"2026-05-%02d" % day)


@pytest.fixture
def crawl(tmp_path: Path) -> list[str]:
    """Large and small sites in WARC files, a folder and a page that is there in two versions."""
    folder = tmp_path / "crawl"
    folder.mkdir()
    all_pages = [(site, n) for site in range(3) for n in range(40)]
    all_pages += [(site, n) for site in range(10, 22) for n in range(2)]
    random.Random(3).shuffle(all_pages)
    for number in range(4):
        mine = all_pages[number::4]
        records = [dated(f"https://s{s}.example/{n}", page(s, n), number + 1) for s, n in mine]
        records.append(dated("https://s0.example/0", page(0, number), 10 + number))
        records.append(record(b"GET / HTTP/1.1\r\n\r\n", kind="request"))
        write(folder / f"{number}.warc.gz", records)
    for number in range(9):
        (folder / f"{number}.html").write_bytes(page(30, number))
    return find([str(folder)])


def contents(folder: Path) -> list[tuple[object, ...]]:
    """All pages of an archive that has no damage."""
    with Archive.open(folder) as archive:
        assert archive.verify() == []
        return sorted((one.url, one.time, one.head, one.body, one.extra) for one in archive)


def added(folder: Path, paths: list[str]) -> Ingested:
    with Archive.create(folder) as archive:
        done = ingest(archive, paths, time=TIME)
        archive.compact()
    return done


def segment_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*.segment"))


def test_a_built_archive_has_the_pages_of_a_filled_one(crawl: list[str], tmp_path: Path) -> None:
    done = added(tmp_path / "filled", crawl)

    built = build_archive(crawl, tmp_path / "built", time=TIME)

    assert built == done
    assert built.pages == 157
    assert contents(tmp_path / "built") == contents(tmp_path / "filled")
    sizes = segment_bytes(tmp_path / "built"), segment_bytes(tmp_path / "filled")
    assert sizes[0] == pytest.approx(sizes[1], rel=0.02)
    assert sorted(path.name for path in (tmp_path / "built").iterdir()) == [
        "000001.segment",
        "000001.segment.index",
        "archive.json",
        "lock",
    ]
    assert json.loads((tmp_path / "built" / "archive.json").read_text())["version"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["built", "crawl", "filled"]


def test_records_come_out_as_they_went_in(crawl: list[str], tmp_path: Path) -> None:
    warcs = [path for path in crawl if path.endswith(".warc.gz")]
    build_archive(warcs, tmp_path / "a")
    with Archive.open(tmp_path / "a") as archive:
        export(archive, tmp_path / "out.warc.gz")

    found = sorted(one for path in warcs for one in stored(Path(path)))
    assert stored(tmp_path / "out.warc.gz") == found


# Few addresses, times and contents, so that most pages are there twice in some way.
pages = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(1, 3), st.integers(0, 4)),
    max_size=40,
)


@settings(max_examples=40, deadline=None)
@given(st.lists(pages, max_size=3), st.integers(1, 4000))
def test_any_crawl_is_built_as_it_is_filled(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[tuple[int, int, int, int]]], cut: int
) -> None:
    folder = tmp_path_factory.mktemp("crawl")
    paths = []
    for number, found in enumerate(files):
        path = folder / f"{number}.warc"
        write(path, [dated(f"https://s{s}.example/{n}", page(s, v), d) for s, n, d, v in found])
        paths.append(str(path))
    added(folder / "filled", paths)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "CUT_BYTES", cut)
        build_archive(paths, folder / "built")

    if not any(files):
        assert not (folder / "built").exists()
        return
    assert contents(folder / "built") == contents(folder / "filled")
    with Archive.open(folder / "filled") as filled, Archive.open(folder / "built") as built:
        for version in filled.pages():  # for one address and time the last counts, in both
            asked = version.url, version.time
            assert built.get(*asked).body == filled.get(*asked).body


def test_a_dense_build_has_the_same_pages_and_fewer_bytes(tmp_path: Path) -> None:
    paths = []
    for number in range(3):
        path = tmp_path / f"{number}.warc"
        urls = [f"https://s.example/{number * 40 + n}" for n in range(40)]
        write(path, [dated(url, page(1, n) + url.encode() * 20, 1) for n, url in enumerate(urls)])
        paths.append(str(path))
    build_archive(paths, tmp_path / "zstd")
    build_archive(paths, tmp_path / "dense", codec="dense")

    assert contents(tmp_path / "zstd") == contents(tmp_path / "dense")
    with Archive.open(tmp_path / "zstd") as zstd, Archive.open(tmp_path / "dense") as dense:
        assert dense.verify() == []
        assert "dense pages" in dense.stats().parts
        assert dense.stats().stored_bytes < zstd.stats().stored_bytes


def test_a_long_cluster_is_cut_between_addresses(
    crawl: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_archive(crawl, tmp_path / "whole", time=TIME)
    monkeypatch.setattr(clusters, "CUT_BYTES", 20_000)
    build_archive(crawl, tmp_path / "cut", time=TIME)

    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")
    with Archive.open(tmp_path / "whole") as whole, Archive.open(tmp_path / "cut") as cut:
        few, many = (len(one._open_files()[0].index.bases) for one in (whole, cut))
        assert many > 2 * few
        (file,) = cut._open_files()
        versions = file.index.pages.find(url_hash("https://s0.example/0"))
        assert len(versions) == 5
        assert len({int(row["offset"]) for row in versions}) == 1


def test_what_cannot_be_read_is_told_and_the_rest_is_there(tmp_path: Path) -> None:
    good = [record(response(b"<p>%d" % i), url=f"https://a.example/{i}") for i in range(3)]
    write(tmp_path / "a.warc.gz", good)
    data = bytearray((tmp_path / "a.warc.gz").read_bytes())
    data[len(coded(good[0], ".gz")) + 30] ^= 0xFF
    (tmp_path / "a.warc.gz").write_bytes(data)
    told: list[Trouble] = []
    odd = str(tmp_path / os.fsdecode(b"\xff.html"))
    paths = [str(tmp_path / "a.warc.gz"), str(tmp_path / "gone.warc"), odd]

    done = build_archive(paths, tmp_path / "a", on_trouble=told.append)

    assert done.pages == 2
    assert [url for url, *_ in contents(tmp_path / "a")] == [
        "https://a.example/0",
        "https://a.example/2",
    ]
    assert set(done.troubles) == set(told)
    assert done.trouble_count == len(told) == 3
    reasons = {trouble.name.partition("#")[0]: trouble.reason for trouble in told}
    assert reasons[paths[1]] == "no such file"
    assert reasons[odd].startswith("its name is not UTF-8")


def test_nothing_is_made_where_nothing_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "empty.html").touch()

    done = build_archive([str(tmp_path / "empty.html")], tmp_path / "a.quire")

    assert (done.pages, done.trouble_count) == (0, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["empty.html"]


def test_revisits_have_the_bytes_of_their_pages(tmp_path: Path) -> None:
    body = b"<p>Cod"
    first = [
        revisit("https://b.example/early", body),
        # Of a page that is a revisit itself, a day later.
        revisit("https://b.example/chained", body, of="https://b.example/later").replace(
            b"2026-05-17", b"2026-05-18"
        ),
        record(b"x", kind="metadata"),
    ]
    second = [
        record(response(body), url="https://a.example/1"),
        revisit("https://b.example/later", body),
        revisit("https://b.example/wrong", b"<p>Another"),
        revisit("https://b.example/lost", body, of="https://nowhere.example/"),
        revisit("https://b.example/same", body, profile="http://x/revisit/server-not-modified"),
    ]
    write(tmp_path / "a.warc", first)
    write(tmp_path / "b.warc", second)

    done = build_archive([str(tmp_path / name) for name in ("a.warc", "b.warc")], tmp_path / "a")

    found = {url: one for url, _, _, *one in contents(tmp_path / "a")}
    names = {"a.example/1", "b.example/early", "b.example/later", "b.example/lost"}
    assert set(found) == {f"https://{name}" for name in names} | {"https://b.example/chained"}
    assert {one[0] for one in found.values()} == {body}
    assert done.pages == 5
    assert done.body_bytes == 5 * len(body)
    assert done.companions == {"metadata": 1, "revisit": 2}
    assert done.troubles == ()
    (warning,) = done.warnings
    assert warning.reason.startswith("unresolved revisit: no page with the digest 'sha1:")
    assert warning.reason.endswith(" (https://a.example/1)")
    with Archive.open(tmp_path / "a") as archive:
        export(archive, tmp_path / "out.warc.gz")
    kept = [*stored(tmp_path / "a.warc"), *stored(tmp_path / "b.warc")]
    assert stored(tmp_path / "out.warc.gz") == sorted(kept)


def test_a_revisit_may_need_bytes_of_another_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own address and time are those of a page, so it must stay with that page."""
    monkeypatch.setattr(clusters, "CUT_BYTES", 20_000)
    body = page(1, 1)
    sites = [(site, n) for site in ("a", "b") for n in range(9)]
    records = [
        record(
            response(page(ord(s), n) if (s, n) != ("a", 1) else body),
            url=f"https://{s}.example/{n}",
        )
        for s, n in sites
    ]
    write(tmp_path / "a.warc", [revisit("https://b.example/3", body), *records])

    done = build_archive([str(tmp_path / "a.warc")], tmp_path / "a")

    assert (done.pages, done.troubles) == (19, ())
    found = [one for url, _, _, one, _ in contents(tmp_path / "a") if url == "https://b.example/3"]
    assert set(found) == {body, page(ord("b"), 3)}
    with Archive.open(tmp_path / "a") as archive:
        assert archive.get("https://b.example/3").body == page(ord("b"), 3)  # the last one
        assert archive.stats().duplicates == 0


def test_revisits_of_an_earlier_crawl_are_added(tmp_path: Path) -> None:
    body = b"<p>Cod"
    write(tmp_path / "old.warc", [record(response(body), url="https://a.example/1")])
    again = [revisit(f"https://{s}.example/{n}", body) for s in "bc" for n in range(3)]
    write(tmp_path / "new.warc", [*again, revisit("https://b.example/wrong", b"<p>Another")])
    build_archive([str(tmp_path / "old.warc")], tmp_path / "a")

    done = build_archive([str(tmp_path / "new.warc")], tmp_path / "a")

    assert (done.pages, done.body_bytes, done.warning_count) == (6, 36, 1)
    assert "no page with the digest" in done.warnings[0].reason
    assert done.companions == {"revisit": 1}
    assert [one[3] for one in contents(tmp_path / "a")] == [body] * 7
    done = build_archive([str(tmp_path / "new.warc")], tmp_path / "a", skip_known=True)
    assert (done.pages, done.known, done.known_companions) == (0, 6, 1)
    assert len(contents(tmp_path / "a")) == 7


def test_an_archive_that_is_there_gets_a_segment_more(crawl: list[str], tmp_path: Path) -> None:
    build_archive(crawl[:9], tmp_path / "a", time=TIME)
    with Archive.open(tmp_path / "a", write=True) as archive:
        archive.add("https://x.example/", TIME, b"<p>Eel")
    build_archive(crawl[9:], tmp_path / "a", time=TIME)
    added(tmp_path / "filled", crawl)

    found = contents(tmp_path / "a")
    assert [one for one in found if one[0] != "https://x.example/"] == contents(tmp_path / "filled")
    assert sorted(path.name for path in (tmp_path / "a").glob("*[lt]")) == [
        "000001.segment",
        "000002.journal",
        "000003.segment",
    ]
    done = build_archive(crawl, tmp_path / "a", time=TIME, skip_known=True)
    assert (done.pages, done.known) == (0, len(found) - 1)
    assert contents(tmp_path / "a") == found


def test_one_writer_at_a_time(crawl: list[str], tmp_path: Path) -> None:
    with Archive.create(tmp_path / "a"), pytest.raises(ArchiveLocked):
        build_archive(crawl, tmp_path / "a")
    part = tmp_path / ".b.0123456789abcdef.part"
    with Archive.create(part), pytest.raises(ArchiveLocked, match="is making this archive"):
        build_archive(crawl, tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_nothing_of_others_is_cleared_away(crawl: list[str], tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "letter.txt").write_text("Dear")
    with pytest.raises(ArchiveError, match=r"a folder, but not an archive"):
        build_archive(crawl, tmp_path / "a")
    for name in ("b.part", ".b.0123456789abcdef.part"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "letter.txt").write_text("Dear")
    build_archive(crawl, tmp_path / "b")
    (tmp_path / "c.part").touch()
    (tmp_path / ".c.0123456789abcdef.part").touch()
    build_archive(crawl, tmp_path / "c")
    assert len(list(tmp_path.rglob("letter.txt"))) == 3
    assert (tmp_path / "c.part").exists()
    assert (tmp_path / ".c.0123456789abcdef.part").exists()


def test_relative_paths_keep_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "a.html").write_bytes(b"<p>a")
    write(
        tmp_path / "site" / "b.warc",
        [b"WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 3\r\n\r\n<p>\r\n\r\n"],
    )
    monkeypatch.chdir(tmp_path)

    build_archive(["site/a.html", "./site/b.warc"], "a", time=TIME)
    added(Path("filled"), ["site/a.html", "./site/b.warc"])

    assert contents(Path("a")) == contents(Path("filled"))
    assert [one[0] for one in contents(Path("a"))] == ["./site/b.warc#0", "site/a.html"]


class Clumsy(LocalEngine):
    """Runs every task twice and uses the second; shuffles groups; can be told to lose rows."""

    forgets = 0

    def map_paths(
        self, paths: Sequence[str], fn: PathsToRows, schema: pa.Schema, *, step: str = ""
    ) -> LocalData:
        """Read everything twice."""

        def twice(portion: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
            first, second = list(fn(portion)), list(fn(portion))
            assert first == second
            return iter(second)

        return super().map_paths(paths, twice, schema, step=step)

    def group_by_key(
        self,
        data: Data,
        key: str,
        fn: GroupsToRows,
        schema: pa.Schema,
        *,
        step: str = "",
        tasks: int = 1,
    ) -> LocalData:
        """Process every group twice."""

        def twice(groups: pa.Table) -> Iterator[pa.RecordBatch]:
            order = list(range(len(groups)))
            random.Random(8).shuffle(order)
            mixed = groups.take(order).sort_by(key)
            first, second = list(fn(groups)), list(fn(mixed))
            assert first == second
            return iter(second[self.forgets :])

        return super().group_by_key(data, key, twice, schema, step=step, tasks=tasks)


def test_tasks_that_run_twice_change_nothing(crawl: list[str], tmp_path: Path) -> None:
    build_archive(crawl, tmp_path / "a", time=TIME)
    with Clumsy(2) as engine:
        build_archive(crawl, tmp_path / "b", time=TIME, engine=engine)

    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    # Everything is equal to the byte, except the tag, which is random for every file.
    assert records_of(tmp_path / "a") == records_of(tmp_path / "b")


def records_of(folder: Path) -> list[tuple[int, bytes, bytes]]:
    source = Source(folder / "000001.segment")
    found = [head for head in heads(source) if isinstance(head, Head)]
    return [
        (head.kind, source.meta(head), source.at(head.payload_offset, head.payload_bytes))
        for head in found
    ]


def test_a_page_that_an_engine_loses_is_missed(crawl: list[str], tmp_path: Path) -> None:
    build_archive(crawl[:9], tmp_path / "old", time=TIME)
    before = contents(tmp_path / "old")
    with Clumsy(2) as engine:
        engine.forgets = 2
        for folder in ("a", "old"):
            with pytest.raises(ArchiveError, match=r"of 161 pages came back.*nothing was stored"):
                build_archive(crawl, tmp_path / folder, engine=engine, time=TIME)

    assert not (tmp_path / "a").exists()
    assert not list(tmp_path.glob(".a.*"))
    assert contents(tmp_path / "old") == before
    assert not list((tmp_path / "old").glob("*.part"))


@pytest.mark.parametrize("change", ["other", "longer", "shorter", "gone"])
def test_a_source_that_changes_meanwhile_ends_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    source = tmp_path / "a.warc"
    records = [record(response(page(1, n)), url=f"https://a.example/{n}") for n in range(3)]
    write(source, records)
    real = build_steps.fetch
    changed = {
        "other": [records[0], records[1].replace(b"<td>", b"<th>"), records[2]],
        "longer": [*records, records[0]],
        "shorter": records[:2],
        "gone": [],
    }

    def later(*arguments: object, **options: object) -> Iterator[pa.RecordBatch]:
        write(source, changed[change])
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(build_steps, "fetch", later)

    with pytest.raises(SourceUnreadable, match=r"a\.warc.*changed while the archive was built"):
        build_archive([str(source)], tmp_path / "a")

    assert [path.name for path in tmp_path.iterdir()] == ["a.warc"]


def test_a_row_says_all_that_a_task_needs(tmp_path: Path) -> None:
    """A page goes through the tables of the steps unchanged, whatever its bytes are."""
    odd = bytes(range(256)) * 5
    write(tmp_path / "a.warc", [record(response(odd), url="https://a.example/é")])
    reading = Reading(None, TIME, 1 << 20, str(tmp_path))
    paths = pa.record_batch({"path": ["a.warc"]})
    (found,) = build_steps.look(paths, reading=reading)
    planned = build_plan.plan(pa.Table.from_batches([found]), ["a.warc"], lambda _page: False)
    rows = list(build_steps.fetch(paths, reading=reading, plans=planned.plans))
    (batch,) = build_encoding.encode_clusters(pa.Table.from_batches(rows, BODIES), "zstd")
    (row,) = batch.to_pylist()

    assert row["pages"] == 1
    with Archive.create(tmp_path / "a") as archive:
        assert archive.add_pieces([build_encoding.piece_of(row)]) == 1
        (one,) = archive
        assert one.body == odd


def test_a_built_page_has_the_digest_of_its_bytes(crawl: list[str], tmp_path: Path) -> None:
    """The step that reads a page makes its digest; the step that stores it gets only the digest."""
    write(tmp_path / "again.warc", [revisit("https://s9.example/", page(0, 0))])

    build_archive([*crawl, str(tmp_path / "again.warc")], tmp_path / "a", time=TIME)

    with Archive.open(tmp_path / "a") as archive:
        found = [(one.sha256_start, one.body) for one in archive]
    assert [start for start, _ in found] == [
        hashlib.sha256(body).digest()[:16] for _, body in found
    ]
    assert len(found) == 158


@pytest.mark.parametrize("place", [0, 200])
def test_bytes_that_change_between_two_steps_end_the_build(tmp_path: Path, place: int) -> None:
    body = random.Random(1).randbytes(500)  # so that its frame is the page itself
    write(tmp_path / "a.warc", [record(response(body), url="https://a.example/")])
    reading = Reading(None, TIME, 1 << 20, str(tmp_path))
    paths = pa.record_batch({"path": ["a.warc"]})
    (found,) = build_steps.look(paths, reading=reading)
    planned = build_plan.plan(pa.Table.from_batches([found]), ["a.warc"], lambda _page: False)
    ((row,),) = (
        batch.to_pylist()
        for batch in build_steps.fetch(paths, reading=reading, plans=planned.plans)
    )
    row["frame"] = row["frame"][:place] + b"\0\0\0" + row["frame"][place + 3 :]
    changed = pa.Table.from_pylist([row], BODIES)

    with pytest.raises(ArchiveError, match=r"https://a\.example/: its bytes changed between two"):
        list(build_encoding.encode_clusters(changed, "zstd"))
