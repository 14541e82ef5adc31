"""``quire similar``: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path

from quire.cli.page import similar
from quire.cli.templates import group as templates
from quire.similar import BAG_MEASURES, MEASURES
from tests.cli.conftest import PAGE, Process, Quire


def test_a_number_is_printed(quire: Quire) -> None:
    result = quire("similar", "fruit.html", "fruit.html")

    assert (result.exit_code, result.stdout) == (0, "1.0000\n")


def test_pages_may_come_from_a_pipe_and_from_digests(quire: Quire, process: Process) -> None:
    quire("encode", "fruit.html")
    result = process("similar", "fruit.qd", "-", "--on", "paths+counts", given=PAGE + b"<p>x")

    assert result.returncode == 0, result.stderr
    assert 0 < float(result.stdout) < 1


def test_an_explanation_names_the_parts(quire: Quire, folder: Path) -> None:
    (folder / "more.html").write_bytes(PAGE + b"<p>Grapes")
    result = quire("similar", "fruit.html", "more.html", "--on", "paths+counts", "--explain")

    assert result.stdout.splitlines() == [
        "0.8571",
        "A  B  part",
        "2  3  html > body > p",
        "6 of 7 parts shared",
    ]
    result = quire("similar", "fruit.html", "fruit.html", "--explain")
    assert (result.stdout, result.stderr) == ("1.0000\n", "note: no part differs\n")


def test_layers_are_named_for_kang(quire: Quire, folder: Path) -> None:
    (folder / "more.html").write_bytes(PAGE + b"<div>Grapes")
    result = quire("similar", "fruit.html", "more.html", "--on", "kang", "--explain")

    assert result.stdout.splitlines() == [
        "0.9375",
        "layer  same  weight  elements of A  of B",
        "    1  0.50   1.000              2     3",
        "similar by the threshold of the paper, 0.8",
    ]


def test_json_is_for_programs(quire: Quire) -> None:
    plain = quire("similar", "fruit.html", "fruit.html", "--format", "json", "--nodes", "p")
    told = quire("similar", "fruit.html", "fruit.html", "--format", "json", "--explain")

    assert json.loads(plain.stdout) == {"on": "structure", "nodes": "p", "value": 1.0}
    assert json.loads(told.stdout) == {
        "on": "structure",
        "nodes": None,
        "value": 1.0,
        "shared": 3,
        "total": 3,
        "differing": 0,
        "parts": [],
        "layers": [],
        "similar": None,
    }


def test_what_cannot_be_done_is_said(quire: Quire) -> None:
    for arguments, message in (
        (("-", "-"), "error: A and B are both standard input"),
        (("fruit.html", "none.html"), "error: none.html: no such file"),
        (("fruit.html", "fruit.html", "--nodes", "p["), "error: selector"),
        (
            ("fruit.html", "fruit.html", "--on", "kang", "--nodes", "p"),
            "error: kang only compares whole",
        ),
    ):
        result = quire("similar", *arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith(message), result.stderr


def test_what_can_be_compared_is_what_the_library_compares() -> None:
    assert {each.value for each in similar.On} == set(MEASURES)
    assert {each.value for each in templates.On} == set(BAG_MEASURES)


def test_a_selector_that_matches_nothing_is_an_error(quire: Quire, folder: Path) -> None:
    (folder / "table.html").write_bytes(b"<table><tr><td>Figs</table>")

    result = quire("similar", "fruit.html", "fruit.html", "--nodes", "table")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: --nodes table: no element of either page matches\n")
    result = quire("similar", "fruit.html", "table.html", "--nodes", "table")
    assert result.exit_code == 0
    assert result.stderr == "note: --nodes table: no element of fruit.html matches\n"


def test_binary_files_have_no_similarity(quire: Quire, folder: Path) -> None:
    (folder / "photo").write_bytes(bytes(range(256)) * 12)

    result = quire("similar", "fruit.html", "photo")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: photo: binary")


def test_near_duplicates_of_a_folder_are_listed(quire: Quire, folder: Path) -> None:
    text = " ".join(f"word{i}" for i in range(200))
    (folder / "site").mkdir()
    for name, page in (
        ("a.html", f"<p>{text} today"),
        ("b.html", f"<article><p>{text} tomorrow</article>"),
        ("c.html", "<p>" + " ".join(f"other{i}" for i in range(200))),
        ("d.html", f"<b>{text} today</b>"),
    ):
        (folder / "site" / name).write_text(page)
    (folder / "site" / "lost.html").symlink_to(folder / "nowhere.html")
    result = quire("similar", "site")
    found = json.loads(quire("similar", "site", "--format", "json").stdout)
    strict = quire("similar", "site", "--threshold", "1")

    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines() == [
        "site/a.html",
        "  0.9899  site/b.html",
        "  1.0000  site/d.html",
        "4 pages, 1 group of near-duplicates: 2 could go",
        "1 could not be read:",
        "  site/lost.html: no such file",
    ]
    assert (found["on"], found["threshold"], found["pages"]) == ("content", 0.9, 4)
    names = [page["name"] for page in found["groups"][0]["pages"]]
    assert names == ["site/a.html", "site/b.html", "site/d.html"]
    assert strict.stdout.splitlines()[:2] == ["site/a.html", "  1.0000  site/d.html"]


def test_what_only_compares_two_pages_is_refused_for_a_folder(quire: Quire, folder: Path) -> None:
    (folder / "site").mkdir()
    for options in (["--explain"], ["--nodes", "p"], ["--on", "kang"], []):
        result = quire("similar", "site", *options)
        assert result.exit_code == 2, options
        assert result.stderr.startswith("error: "), options
