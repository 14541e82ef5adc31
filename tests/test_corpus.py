"""The corpus helper: whole folders, once, whoever asks first."""

from __future__ import annotations

import io
import tarfile
import threading
from pathlib import Path

import pytest
import zstandard

from tests import corpus


def pack(path: Path, members: dict[str, bytes]) -> Path:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    path.write_bytes(zstandard.compress(plain.getvalue()))
    return path


def test_an_archive_is_unpacked_once_under_a_name_of_its_content(tmp_path: Path) -> None:
    archive = pack(tmp_path / "tiny.tar.zst", {"a.html": b"one"})
    first = corpus.unpacked(archive, tmp_path)
    (first / "mark").touch()

    assert (corpus.unpacked(archive, tmp_path) / "mark").exists()

    pack(archive, {"a.html": b"two"})
    second = corpus.unpacked(archive, tmp_path)

    assert second != first
    assert (second / "a.html").read_bytes() == b"two"


def test_many_askers_at_once_get_one_whole_folder(tmp_path: Path) -> None:
    members = {f"{number}.html": b"x" * number for number in range(200)}
    archive = pack(tmp_path / "many.tar.zst", members)
    barrier = threading.Barrier(8)
    found: list[dict[str, bytes]] = []

    def ask() -> None:
        barrier.wait()
        target = corpus.unpacked(archive, tmp_path / "cache")
        found.append({path.name: path.read_bytes() for path in target.iterdir()})

    askers = [threading.Thread(target=ask) for _ in range(8)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()

    assert found == [members] * 8
    assert len(list((tmp_path / "cache").glob("*/*"))) == 1


def test_a_member_that_climbs_out_is_refused_and_leaves_no_folder(tmp_path: Path) -> None:
    archive = pack(tmp_path / "climbing.tar.zst", {"../../out.html": b""})

    with pytest.raises(tarfile.OutsideDestinationError):
        corpus.unpacked(archive, tmp_path / "cache")

    assert not list((tmp_path / "cache").glob("*/*"))


@pytest.mark.skipif(not corpus.available(), reason=corpus.ABSENT)
def test_the_smallest_shared_corpus_lists_its_files() -> None:
    assert "diff-pairs" in corpus.names()

    assert len(corpus.files("diff-pairs")) == 23
