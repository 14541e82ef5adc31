"""Files are found as expected, and never lost by writing."""

from __future__ import annotations

import os
from pathlib import Path, PurePath

import pytest

from quire.cli.common import files
from quire.cli.common.files import DIGEST_SUFFIX, Found, targets
from quire.cli.common.terminal import Refusal
from quire.sources.places import PAGE_SUFFIXES


def touch(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(b"<p>")


def found(*arguments: str) -> list[str]:
    return [str(file.path) for file in files.find(arguments, PAGE_SUFFIXES)]


def test_a_folder_is_searched_for_pages_to_any_depth(folder: Path) -> None:
    touch("site/b/deep/x.HTML", "site/a.xml", "site/pic.png", "site/.hidden/y.html", "site/old.qd")

    assert found("site") == ["site/a.xml", "site/b/deep/x.HTML"]
    assert folder.is_dir()


@pytest.mark.usefixtures("folder")
def test_a_named_file_is_taken_whatever_it_is_called_and_only_once() -> None:
    touch("a/page.php", "a/x.html")

    assert found("a/page.php", "a", "a/x.html") == ["a/page.php", "a/x.html"]


@pytest.mark.usefixtures("folder")
def test_a_pattern_the_shell_left_alone_is_filled_in() -> None:
    touch("a/1.html", "a/b/2.html", "we[i]rd.html")

    assert found("a/**/*.html") == ["a/1.html", "a/b/2.html"]
    assert found("we[i]rd.html") == ["we[i]rd.html"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("argument", ["empty", "*.nothing"])
def test_what_holds_no_page_is_refused_by_name(argument: str) -> None:
    Path("empty").mkdir()

    with pytest.raises(Refusal, match=argument.replace("*", r"\*")):
        found(argument)


def test_two_pages_never_become_one_digest() -> None:
    names = ["a.html", "a.json", "b.html"]
    listed = [Found(Path(name), PurePath(name)) for name in names]

    assert [str(t) for t in targets(listed, None, DIGEST_SUFFIX)] == [
        "a.html.qd",
        "a.json.qd",
        "b.qd",
    ]

    same = [Found(Path(name), PurePath("a.html")) for name in ["x/a.html", "y/a.html"]]
    with pytest.raises(Refusal, match=r"x/a\.html and y/a\.html would both become out/a\.html\.qd"):
        targets(same, Path("out"), DIGEST_SUFFIX)


def test_a_file_that_is_there_stays_unless_forced(folder: Path) -> None:
    target = folder / "kept"
    target.write_bytes(b"old")

    with pytest.raises(Refusal, match="exists"):
        files.write_whole(target, b"new", force=False)
    assert target.read_bytes() == b"old"

    files.write_whole(target, b"new", force=True)
    assert target.read_bytes() == b"new"


def test_a_write_that_fails_leaves_what_was_there_and_nothing_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = folder / "kept"
    target.write_bytes(b"old")
    before = sorted(folder.iterdir())

    def full(self: Path, other: Path) -> None:
        raise OSError(28, "No space left on device", str(self), None, str(other))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space") as caught:
        files.write_whole(target, b"new", force=True)

    assert target.read_bytes() == b"old"
    assert sorted(folder.iterdir()) == before
    assert caught.value.filename == str(target)


def test_a_link_stays_a_link(folder: Path) -> None:
    real, link = folder / "real", folder / "link"
    real.write_bytes(b"old")
    link.symlink_to(real)

    files.write_whole(link, b"new", force=True)

    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_a_new_file_has_the_rights_any_new_file_gets(folder: Path) -> None:
    plain, written = folder / "plain", folder / "written"
    plain.write_bytes(b"")
    files.write_whole(written, b"", force=False)

    assert written.stat().st_mode == plain.stat().st_mode


def test_a_device_is_written_to_and_not_replaced() -> None:
    files.write_whole(Path(os.devnull), b"gone", force=False)

    assert not Path(os.devnull).is_file()
