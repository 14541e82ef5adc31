"""Pages become digests, alone, in pipes and by the hundred."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import PAGE, Process, Quire


def test_a_page_becomes_a_digest_beside_it(quire: Quire, folder: Path) -> None:
    result = quire("encode", "fruit.html")

    assert result.exit_code == 0, result.stderr
    assert "fruit.html → fruit.qd" in result.stdout
    assert sorted(path.name for path in folder.iterdir()) == ["fruit.html", "fruit.qd"]
    assert quire("decode", "fruit.qd").stdout_bytes == PAGE


def test_a_page_goes_through_pipes_unharmed(process: Process) -> None:
    digest = process("encode", "-", given=PAGE)
    page = process("decode", "-", given=digest.stdout)

    assert (digest.returncode, digest.stderr) == (0, b"")
    assert page.stdout == PAGE


def test_a_page_from_a_pipe_can_go_to_a_file_and_be_reported(quire: Quire, folder: Path) -> None:
    result = quire("encode", "-", "-o", "piped.qd", "--format", "json", given=PAGE)

    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["files"][0]["output"] == "piped.qd"
    assert quire("decode", "piped.qd").stdout_bytes == PAGE
    assert (folder / "piped.qd").is_file()


def test_a_page_can_go_from_a_file_into_a_pipe(process: Process) -> None:
    digest = process("encode", "fruit.html", "-o", "-", "--compress")

    assert process("decode", "-", given=digest.stdout).stdout == PAGE


def test_a_broken_page_from_a_pipe_is_named_as_such(process: Process) -> None:
    result = process("encode", "-", "--kind", "json", given=b"{")

    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.startswith(b"error: standard input: ")


def test_a_folder_is_encoded_into_a_folder_of_the_same_shape(quire: Quire, folder: Path) -> None:
    for name in ("a/index.html", "b/deep/index.html", "b/feed.xml"):
        path = folder / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"<p>x</p>")

    result = quire("encode", "site", "--output-dir", "out", "--jobs", "2")

    assert result.exit_code == 0, result.stderr
    made = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.qd"))
    assert made == ["out/a/index.qd", "out/b/deep/index.qd", "out/b/feed.qd"]
    assert "pages" in result.stdout


def test_a_broken_page_is_named_and_stops_nothing(quire: Quire, folder: Path) -> None:
    (folder / "bad.xml").write_bytes(b"<?xml version='1.0'?><a><b></a>")

    result = quire("encode", "bad.xml", "gone.html", "fruit.html", "--format", "json")

    assert result.exit_code == 2
    report = json.loads(result.stdout)
    assert [page["source"] for page in report["files"]] == ["fruit.html"]
    assert [page["source"] for page in report["failed"]] == ["bad.xml", "gone.html"]
    assert "error: bad.xml: " in result.stderr
    assert "error: gone.html: no such file or directory" in result.stderr
    assert "hint: use --recover" in result.stderr
    assert (folder / "fruit.qd").is_file()
    assert not (folder / "bad.qd").exists()


def test_malformed_xml_is_read_on_when_asked(quire: Quire, folder: Path) -> None:
    broken = b"<?xml version='1.0'?><a><b></a>"
    (folder / "bad.xml").write_bytes(broken)

    result = quire("encode", "bad.xml", "--recover")

    assert result.exit_code == 0, result.stderr
    assert quire("decode", "bad.qd").stdout_bytes == broken


def test_a_digest_that_exists_is_kept_unless_forced(quire: Quire, folder: Path) -> None:
    (folder / "fruit.qd").write_bytes(b"mine")

    refused = quire("encode", "fruit.html")
    assert refused.exit_code == 2
    assert "error: fruit.qd: already exists" in refused.stderr
    assert "hint: use --force" in refused.stderr
    assert (folder / "fruit.qd").read_bytes() == b"mine"

    assert quire("encode", "fruit.html", "--force").exit_code == 0
    assert quire("decode", "fruit.qd").stdout_bytes == PAGE


def test_options_reach_the_reader(quire: Quire, folder: Path) -> None:
    (folder / "row.html").write_bytes(b"<td>caf\xe9<noscript><b>x</b></noscript>")

    result = quire(
        "encode", "row.html", "--fragment", "tr", "--encoding", "latin1", "--no-scripting",
        "--compress", "--kind", "html", "--content-type", "text/html",
    )  # fmt: skip

    assert result.exit_code == 0, result.stderr
    shown = json.loads(quire("show", "row.qd", "--format", "json").stdout)
    assert shown["encoding"] == "windows-1252"
    assert "fragment" in shown["flags"]
    assert "scripting" not in shown["flags"]
    found = json.loads(quire("show", "row.qd", "--select", "td b", "--format", "json").stdout)
    assert [node["text"] for node in found["found"]] == ["x"]


def test_an_unknown_encoding_is_an_error_that_names_it(quire: Quire) -> None:
    result = quire("encode", "fruit.html", "--encoding", "klingon")

    assert result.exit_code == 2
    assert "klingon" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["fruit.html", "-o", "a.qd", "--output-dir", "d"], "cannot be combined"),
        (["-", "fruit.html"], "cannot be combined with files"),
        (["fruit.html", "again.html", "-o", "a.qd"], "one file, but there are 2 pages"),
        (["-", "--output-dir", "d"], "no file name"),
        (["-", "--format", "json"], "the digest goes to standard output"),
        (["empty"], "empty: nothing to read in this folder"),
        (["*.nothing"], "no file matches"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_written(
    quire: Quire, folder: Path, arguments: list[str], told: str
) -> None:
    (folder / "empty").mkdir()
    (folder / "again.html").write_bytes(PAGE)
    before = sorted(folder.rglob("*"))

    result = quire("encode", *arguments, given=b"<p>")

    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stdout == ""
    assert sorted(folder.rglob("*")) == before


def test_a_page_that_may_not_be_read_is_named(
    quire: Quire, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(self: Path) -> bytes:  # root may read anything, so rights alone cannot test it
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", forbidden)
    result = quire("encode", "fruit.html")

    assert result.exit_code == 2
    assert "error: fruit.html: permission denied" in result.stderr


def test_a_folder_where_a_page_should_be_is_named(quire: Quire, folder: Path) -> None:
    (folder / "fruit.qd").mkdir()

    result = quire("encode", "fruit.html", "--force")

    assert result.exit_code == 2
    assert "error: " in result.stderr
    assert "fruit.qd" in result.stderr


def test_a_hundred_pages_by_threads_are_those_of_one(quire: Quire, folder: Path) -> None:
    for number in range(100):
        (folder / f"{number:03}.html").write_bytes(PAGE + b"<i>%d" % number)

    one = quire("encode", "*.html", "--output-dir", "one", "--jobs", "1")
    many = quire("encode", "*.html", "--output-dir", "many", "--jobs", "8")

    assert (one.exit_code, many.exit_code) == (0, 0)
    made = sorted((folder / "one").iterdir())
    assert len(made) == 101
    assert all((folder / "many" / p.name).read_bytes() == p.read_bytes() for p in made)


def test_a_folder_given_as_output_is_told_from_a_file(quire: Quire, folder: Path) -> None:
    (folder / "out").mkdir()

    for force in ([], ["--force"]):
        result = quire("encode", "fruit.html", "-o", "out", *force)
        assert result.exit_code == 2
        assert result.stderr == (
            "error: out: is a folder, but -o needs a file\nhint: use --output-dir for a folder\n"
        )


def test_an_empty_page_has_no_ratio(quire: Quire, folder: Path) -> None:
    for name in ("a.html", "b.html"):
        (folder / "empty" / name).parent.mkdir(exist_ok=True)
        (folder / "empty" / name).touch()

    for command in (["encode", "empty/a.html"], ["show", "empty/a.qd"]):
        result = quire(*command)
        assert result.exit_code == 0, result.stderr
        assert "(–)" in result.stdout
        assert "(1.00)" not in result.stdout
    result = quire("encode", "empty", "--force")
    assert "–" in result.stdout
    assert "1.00" not in result.stdout
