"""A WACZ is read like the WARC files in it; a hostile one costs nothing and writes nothing."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest

from quire.errors import SourceNotFound
from quire.sources import Capture, Trouble, find, read, read_one, wacz
from tests.sources.crawls import coded, record, response

PAGES = [f"<p>Page {i}".encode() for i in range(3)]


def warc() -> bytes:
    records = [record(response(page), url=f"https://a.example/{i}") for i, page in enumerate(PAGES)]
    return b"".join(coded(one, ".gz") for one in records)


def packed(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def pages(path: Path) -> list[Capture]:
    found = [page for name in find([str(path)]) for page in read(name)]
    assert all(isinstance(page, Capture) for page in found), found
    return [page for page in found if isinstance(page, Capture)]


def trouble(path: Path) -> str:
    (found,) = (page for name in find([str(path)]) for page in read(name))
    assert isinstance(found, Trouble)
    return found.reason


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_pages_of_a_wacz_are_read_and_found_again(tmp_path: Path, method: int) -> None:
    members = {
        "datapackage.json": b"{}",
        "archive/b.warc.gz": warc(),
        "archive/a.warc.gz": warc(),
        "indexes/index.cdx": b"",
        "pages/other.warc.gz": b"not of the crawl",
    }
    path = packed(tmp_path / "crawl.wacz", members, method)
    found = pages(path)

    assert find([str(tmp_path)]) == [f"{path}/archive/a.warc.gz", f"{path}/archive/b.warc.gz"]
    assert [page.body for page in found] == PAGES * 2
    assert found[4].name.startswith(f"{path}/archive/b.warc.gz#")
    assert read_one(found[4].name).body == PAGES[1]
    assert find([f"{path}/archive/a.warc.gz"]) == [f"{path}/archive/a.warc.gz"]


def test_a_folder_may_be_called_like_one(tmp_path: Path) -> None:
    folder = tmp_path / "old.wacz"
    folder.mkdir()
    (folder / "a.warc.gz").write_bytes(warc())

    assert [page.body for page in pages(folder)] == PAGES


def test_damage_in_a_member_costs_a_record(tmp_path: Path) -> None:
    data = bytearray(warc())
    data[len(coded(record(response(PAGES[0]), url="https://a.example/0"), ".gz")) + 30] ^= 0xFF
    path = packed(tmp_path / "crawl.wacz", {"archive/a.warc.gz": bytes(data)})
    found = [page for name in find([str(path)]) for page in read(name)]

    assert [page.body for page in found if isinstance(page, Capture)] == [PAGES[0], PAGES[2]]
    assert sum(isinstance(page, Trouble) for page in found) == 1


def test_what_is_no_wacz_is_a_trouble(tmp_path: Path) -> None:
    path = tmp_path / "crawl.wacz"
    path.write_bytes(b"not a zip file")
    assert "not a zip file" in trouble(path)
    packed(path, {"datapackage.json": b"{}"})
    assert trouble(path) == "holds WARC files; expected one of them"
    packed(path, {"archive/a.warc.gz": warc()})
    whole = path.read_bytes()
    (lost,) = read(f"{path}/archive/b.warc.gz")
    assert lost == Trouble(f"{path}/archive/b.warc.gz", "archive/b.warc.gz is not in it")
    with pytest.raises(SourceNotFound):
        find([str(tmp_path / "none.wacz/archive/a.warc.gz")])
    path.write_bytes(b"X" + whole[1:])
    assert trouble(path) == "archive/a.warc.gz is not where the directory says"


def test_every_cut_and_every_flip_is_a_page_or_a_trouble(tmp_path: Path) -> None:
    path = packed(tmp_path / "crawl.wacz", {"archive/a.warc.gz": warc()}, zipfile.ZIP_DEFLATED)
    whole = path.read_bytes()
    for at in range(0, len(whole), 3):
        path.write_bytes(whole[:at])
        assert all(page for name in find([str(path)]) for page in read(name))
        changed = bytearray(whole)
        changed[at] ^= 0x41
        path.write_bytes(changed)
        for name in find([str(path)]):
            for page in read(name):
                assert isinstance(page, Trouble) or page.body in PAGES


def test_a_bomb_is_not_inflated(tmp_path: Path) -> None:
    members = {"archive/a.warc": b"\0" * (8 << 20)}
    path = packed(tmp_path / "crawl.wacz", members, zipfile.ZIP_DEFLATED)

    assert "decompresses to more than" in trouble(path)


def test_a_member_that_lies_about_its_length_is_cut(tmp_path: Path) -> None:
    path = packed(tmp_path / "crawl.wacz", {"archive/a.warc": b"\0" * 5000}, zipfile.ZIP_DEFLATED)
    data = path.read_bytes()
    path.write_bytes(data.replace(struct.pack("<I", 5000), struct.pack("<I", 50)))

    assert "archive/a.warc" in trouble(path)


def test_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path / "crawl.wacz", {f"archive/{i}.warc": b"" for i in range(30)})
    monkeypatch.setattr(wacz, "MOST_ENTRIES", 20)
    assert trouble(path) == "30 files in it; expected at most 20"
    monkeypatch.setattr(wacz, "MOST_DIRECTORY_BYTES", 500)
    assert "a directory of" in trouble(path)


def test_an_encrypted_member_is_a_trouble(tmp_path: Path) -> None:
    path = packed(tmp_path / "crawl.wacz", {"archive/a.warc.gz": warc()})
    data = bytearray(path.read_bytes())
    data[data.rfind(b"PK\1\2") + 8] |= 1
    path.write_bytes(data)

    assert trouble(path) == "archive/a.warc.gz is encrypted"
