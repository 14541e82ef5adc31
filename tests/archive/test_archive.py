"""An archive returns every version of every page, before and after compaction."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.archive import Archive
from quire.errors import ArchiveError, ArchiveLocked, PageNotFound

START = datetime(2026, 5, 1, 12, tzinfo=UTC)


def at(seconds: int) -> datetime:
    return START + timedelta(seconds=seconds)


def site(pages: int = 40) -> list[tuple[str, datetime, bytes]]:
    """Pages of two templates, some of them in several versions, two the same, one of random bytes."""
    found = []
    for i in range(pages):
        kind = i % 2
        rows = "".join(f"<tr class=r{kind}><td>{j}<td>{i * j % 97}</tr>" for j in range(20))
        body = f"<title>{i}</title><h1 class=t{kind}>Page</h1><table>{rows}</table>" * 3
        found.append((f"https://a{kind}.example/{i % 15}", at(i), body.encode()))
    found.append(("https://a0.example/copy", at(900), found[0][2]))
    found.append(("https://b.example/noise", at(901), bytes(i * i % 251 for i in range(3000))))
    found.append(("https://b.example/empty", at(902), b""))
    return found


def filled(folder: Path, pages: list[tuple[str, datetime, bytes]], *, compact: bool) -> Path:
    with Archive.create(folder) as archive:
        for url, time, body in pages:
            archive.add(url, time, body, {"Content-Type": "text/html"})
        if compact:
            archive.compact()
    return folder


@pytest.fixture(params=[False, True], ids=["journal", "segment"])
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return filled(tmp_path / "site.quire", site(), compact=request.param)


def test_every_version_comes_back_with_its_head(stored: Path) -> None:
    with Archive.open(stored) as archive:
        for url, time, body in site():
            page = archive.get(url, time)
            assert (page.url, page.time, page.body) == (url, time, body)
            assert page.content_type == "text/html"
        assert len(archive) == len(site())
        assert sorted((page.url, page.time, page.body) for page in archive) == sorted(site())
        assert archive.verify() == []


def test_the_newest_version_is_given_or_the_one_of_a_time(stored: Path) -> None:
    with Archive.open(stored) as archive:
        url = "https://a0.example/4"
        times = [time for name, time, _ in site() if name == url]

        assert [version.time for version in archive.versions(url)] == times
        assert archive.get(url).time == times[-1]
        assert archive.get(url, times[1] - timedelta(microseconds=1)).time == times[0]
        with pytest.raises(PageNotFound, match=r"a0\.example/4: no version in .* from 2026"):
            archive.get(url, times[0] - timedelta(seconds=1))


def test_pages_are_listed_by_the_beginning_of_their_address(stored: Path) -> None:
    with Archive.open(stored) as archive:
        found = {version.url for version in archive.pages("https://b.")}

        assert found == {"https://b.example/noise", "https://b.example/empty"}
        assert len(list(archive.pages())) == len(site())
        with pytest.raises(PageNotFound, match=r"^https://nowhere\.example: "):
            archive.get("https://nowhere.example")


def test_what_was_compacted_is_smaller_and_takes_new_pages(tmp_path: Path) -> None:
    folder = filled(tmp_path / "site.quire", site(200), compact=False)
    before = sum(path.stat().st_size for path in folder.iterdir())

    with Archive.open(folder, write=True) as archive:
        done = archive.compact()
        archive.add("https://a0.example/new", at(5000), b"<p>New")
        archive.commit()
        assert archive.get("https://a0.example/new").body == b"<p>New"
        again = archive.compact()

    after = sum(path.stat().st_size for path in folder.iterdir())
    assert (done.pages, again.pages) == (203, 204)
    assert after < before / 2
    assert len(list(folder.glob("*.segment"))) == 1
    assert not list(folder.glob("*.journal"))
    with Archive.open(folder) as archive:
        assert archive.get("https://a0.example/new").body == b"<p>New"
        assert sorted(page.body for page in archive)[1:] == sorted(
            [*[body for _, _, body in site(200)][:-1], b"<p>New"]
        )


def test_a_writer_reads_what_it_has_committed_and_a_reader_after_a_refresh(tmp_path: Path) -> None:
    writer = Archive.create(tmp_path / "a")
    reader = Archive.open(tmp_path / "a")
    for i in range(3):
        writer.add("https://a.example", at(i), b"%d" % i)
        writer.commit()
        assert writer.get("https://a.example").body == b"%d" % i
        reader.refresh()
        assert reader.get("https://a.example").body == b"%d" % i
    writer.compact()
    assert reader.get("https://a.example", at(1)).body == b"1", "open files outlive their names"
    reader.refresh()
    assert [version.time for version in reader.versions("https://a.example")] == [
        at(0),
        at(1),
        at(2),
    ]
    writer.close()
    reader.close()


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with Archive.create(tmp_path / "a"):
        with pytest.raises(ArchiveLocked, match="another writer"):
            Archive.open(tmp_path / "a", write=True)
        Archive.open(tmp_path / "a").close()
    with Archive.open(tmp_path / "a", write=True) as archive:
        archive.add("https://a.example", START, b"x")


def test_a_reader_does_not_write(tmp_path: Path) -> None:
    Archive.create(tmp_path / "a").close()
    with Archive.open(tmp_path / "a") as archive:
        with pytest.raises(ArchiveError, match="open for reading only"):
            archive.add("https://a.example", START, b"x")
        with pytest.raises(ArchiveError, match="open for reading only"):
            archive.compact()


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="no archive here"):
        Archive.open(tmp_path / "none")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ArchiveError, match=r"archive\.json is missing"):
        Archive.open(tmp_path / "folder")
    (tmp_path / "folder" / "x").touch()
    with pytest.raises(FileExistsError, match="not empty"):
        Archive.create(tmp_path / "folder")


def test_of_two_pages_of_one_time_the_later_one_is_given_also_when_compacted(
    tmp_path: Path,
) -> None:
    lists = [f"<ul>{'<li>a' * 30}</ul>{i}".encode() for i in range(9)]
    tables = [f"<table>{'<tr><td>b' * 30}</table>{i}".encode() for i in range(9)]
    with Archive.create(tmp_path / "a") as archive:
        for i in range(8):  # small hosts, stored with similar pages: tables first
            archive.add(f"https://a{i}.example/", at(i), tables[i])
            archive.add(f"https://b{i}.example/", at(i), lists[i])
        archive.add("https://c.example", at(0), lists[8])
        archive.add("https://c.example", at(0), tables[8])
        archive.commit()
        assert archive.get("https://c.example").body == tables[8]
        for _ in range(2):
            archive.compact()
            assert archive.get("https://c.example").body == tables[8]
            assert len(archive.versions("https://c.example")) == 2
            assert len(archive) == 18


def test_a_header_with_a_line_end_is_refused(tmp_path: Path) -> None:
    with (
        Archive.create(tmp_path / "a") as archive,
        pytest.raises(ValueError, match="would split it in two"),
    ):
        archive.add("https://a.example", START, b"", {"X": "1\r\nSet-Cookie: 2"})


pages = st.tuples(
    st.text(max_size=8), st.integers(0, 20), st.binary(max_size=40) | st.just(b"<p>same" * 30)
)


@given(st.lists(pages, max_size=30), st.sets(st.integers(0, 30)))
@settings(max_examples=30)
def test_anything_comes_back_whenever_it_is_compacted(
    tmp_path_factory: pytest.TempPathFactory,
    added: list[tuple[str, int, bytes]],
    compacted: set[int],
) -> None:
    folder = tmp_path_factory.mktemp("any") / "a"
    expected: dict[tuple[str, int], bytes] = {}
    with Archive.create(folder) as archive:
        for i, (url, seconds, body) in enumerate(added):
            archive.add(url, at(seconds), body)
            expected[url, seconds] = body
            if i in compacted:
                archive.compact()
    with Archive.open(folder) as archive:
        assert len(archive) == len(added)
        for (url, seconds), body in expected.items():
            found = archive.get(url, at(seconds))
            assert found.time == at(seconds)
            assert found.body in [b for u, s, b in added if (u, s) == (url, seconds)]
            assert len(archive.versions(url)) == sum(u == url for u, _, _ in added)
            assert body in [page.body for page in archive]
        assert archive.verify() == []
