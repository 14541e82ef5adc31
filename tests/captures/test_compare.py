"""Two sources, compared page by page."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from quire.archive import Archive
from quire.captures import compare, compare_each
from quire.errors import SourceNotFound
from quire.sdiff import Rules

OLD = {"a.html": b"<p>Cod 8", "b/c.html": b"<p>Hake", "gone.txt": b"Fish\n", "same.json": b"[1]"}
NEW = {"a.html": b"<p>Cod 9", "b/c.html": b"<P>Hake", "new.txt": b"Fish\n", "same.json": b"[1]"}


def written(folder: Path, pages: dict[str, bytes]) -> str:
    for name, page in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(page)
    return str(folder)


def stored(folder: Path, pages: list[tuple[str, int, bytes]]) -> str:
    with Archive.create(folder) as archive:
        for url, day, page in pages:
            archive.add(url, datetime(2026, 5, day, tzinfo=UTC), page)
    return str(folder)


def test_files_are_paired_by_their_paths_below_the_folder(tmp_path: Path) -> None:
    found = compare(written(tmp_path / "old", OLD), written(tmp_path / "new", NEW))

    assert {page.address: page.status for page in found.pages} == {
        "a.html": "changed",
        "b/c.html": "same",
        "gone.txt": "gone",
        "new.txt": "new",
        "same.json": "same",
    }
    assert found.counts() == {"changed": 1, "same": 2, "gone": 1, "new": 1}
    assert found
    assert not compare(str(tmp_path / "old"), str(tmp_path / "old"))


def test_captures_are_paired_by_address_and_the_newest_counts(tmp_path: Path) -> None:
    shop, news = "https://a.example/shop", "https://a.example/news"
    old = stored(tmp_path / "a.quire", [(shop, 1, b"<p>8"), (shop, 2, b"<p>9"), (news, 1, b"<p>x")])
    new = stored(tmp_path / "b.quire", [(shop, 4, b"<p>9"), (shop, 3, b"<p>7"), (news, 3, b"<p>y")])

    found = compare(old, new)
    assert [(page.address, page.status) for page in found.pages] == [
        (news, "changed"),
        (shop, "same"),
    ]


def test_rules_and_facets_hold_for_every_page(tmp_path: Path) -> None:
    old = written(tmp_path / "old", {"a.html": b"<p class=a>Cod 8"})
    new = written(tmp_path / "new", {"a.html": b"<p class=b>Cod 8"})

    assert compare(old, new)
    assert not compare(old, new, facets="content")
    assert not compare(old, new, rules=Rules(ignore_attributes=("class",)))


def test_a_page_that_cannot_be_read_is_neither_gone_nor_the_same(tmp_path: Path) -> None:
    old = written(tmp_path / "old", {"a.html": b"<p>Cod", "b.xml": b"<?xml version='1.0'?><a/>"})
    new = written(tmp_path / "new", {"a.html": b"", "b.xml": b"<?xml version='1.0'?><a>"})

    found = compare(old, new)
    assert [page.status for page in found.pages] == ["unreadable", "unreadable"]
    assert found.pages[0].reason == "empty: 0 bytes"
    assert found.pages[1].reason
    assert [trouble.name for trouble in found.troubles] == [str(tmp_path / "new" / "a.html")]
    assert found


def test_only_changed_pages_have_an_annotation(tmp_path: Path) -> None:
    each = compare_each(written(tmp_path / "old", OLD), written(tmp_path / "new", NEW))

    assert [page.address for page, annotation in each if annotation is not None] == ["a.html"]


def test_what_nobody_sees_is_named(tmp_path: Path) -> None:
    old = written(tmp_path / "old", {"a.html": b"<p>Cod<!-- 1 -->"})
    new = written(tmp_path / "new", {"a.html": b"<p>Cod<!-- 2 -->"})

    assert compare(old, new).pages[0].unseen == ("comments",)


def test_a_source_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceNotFound):
        compare(str(tmp_path), str(tmp_path / "none"))
