"""``quire templates``: what it prints, what it writes, and what it says of what cannot be read."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from quire.similar.groups import MEASURE, THRESHOLD
from tests.cli.conftest import Process, Quire, Watched, shop
from tests.sources.crawls import record, response, write


@pytest.fixture
def broken(site: Path) -> dict[str, str]:
    """The same with all that can be wrong; gives the reasons by name."""
    (site / "empty.html").write_bytes(b"")
    (site / "lost.html").symlink_to(site / "nowhere.html")
    (site / "folder.html").mkdir()
    (site / "long.html").write_bytes(b"<p>x" * 50_000)
    whole = record(response(shop(7)))
    cut = record(response(shop(7)), length=10**9)
    starts = write(site / "crawl.warc", [whole, cut, whole])
    return {
        "site/empty.html": "empty: 0 bytes",
        "site/lost.html": "no such file",
        "site/long.html": "200000 bytes; at most 100000 are read",
        f"site/crawl.warc#{starts[1]}": "truncated after",
    }


def test_templates_are_listed_with_their_representatives(quire: Quire, site: Path) -> None:
    assert site.is_dir()
    result = quire("templates", "site")

    lines = result.stdout.splitlines()
    assert result.exit_code == 0, result.stderr
    assert [line.split()[:5] for line in lines[:3]] == [
        ["no.", "pages", "share", "fit", "outliers"],
        ["0", "5", "55.6", "%", "1.00"],
        ["1", "3", "33.3", "%", "1.00"],
    ]
    assert "site/shop" in lines[1]
    assert "site/news" in lines[2]
    assert lines[3:] == ["2 templates, 9 pages, 1 like no other: 88.9 % have a template"]
    assert re.fullmatch(r"note: 9 files in \d+\.\d s\n", result.stderr), "one line, no bars"
    assert quire("templates", "group", "site").stdout == result.stdout


def test_options_may_come_first_and_threads_do_not_matter(quire: Quire, site: Path) -> None:
    assert site.is_dir()
    plain = quire("templates", "site", "--format", "json")
    for options in (["--threads", "2"], ["--engine", "local:3"], ["--on", "structure+class"]):
        again = quire("templates", *options, "--format", "json", "site")
        assert again.stdout == plain.stdout


def test_json_has_everything(quire: Quire, site: Path) -> None:
    assert site.is_dir()
    found = json.loads(quire("templates", "site", "--format", "json").stdout)

    assert (found["on"], found["threshold"], found["pages"]) == (MEASURE, THRESHOLD, 9)
    assert [group["size"] for group in found["groups"]] == [5, 3]
    first = found["groups"][0]
    assert [entry["name"] for entry in first["pages"]] == [f"site/shop{i}.html" for i in range(5)]
    assert {entry["name"]: entry["fit"] for entry in first["pages"]}[first["representative"]] == 1
    assert first["share"] == pytest.approx(5 / 9, abs=1e-6)
    assert (found["singles"], found["troubles"]) == (["site/about.html"], [])
    assert found["coverage"] == pytest.approx(8 / 9, abs=1e-6)


@pytest.fixture
def stored(quire: Quire, site: Path) -> Path:
    """An archive of the site, with an older version of each page."""
    assert quire("archive", "add", "a.quire", "site", "--create", "--time", "2026").exit_code == 0
    for page in site.iterdir():
        page.write_bytes(b"<p>Under construction")
    result = quire("archive", "add", "a.quire", "site", "--time", "2025")
    assert result.exit_code == 0, result.stderr
    return site.parent / "a.quire"


def test_an_archive_has_the_templates_of_its_newest_pages(quire: Quire, stored: Path) -> None:
    outputs = ("--report", "report.html", "--model", "model.json")
    result = quire("templates", "a.quire", *outputs, "--format", "json")
    found = json.loads(result.stdout)
    (first, *_) = found["groups"]

    assert result.exit_code == 0, result.stderr
    assert "note: 1 archive in " in result.stderr
    assert (found["pages"], found["troubles"]) == (9, [])
    assert [group["size"] for group in found["groups"]] == [5, 3]
    assert [entry["name"].partition("#")[0] for entry in first["pages"]] == ["a.quire"] * 5
    assert first["representative"].endswith(" 2026-01-01T00:00:00Z")
    report = (stored.parent / "report.html").read_text(encoding="utf-8")
    assert "<svg" in report
    assert "no such" not in report
    check = ("templates", "check", "--model", "model.json", "--exit-code")
    assert quire(*check, first["representative"]).exit_code == 0
    old = first["representative"].replace("2026-", "2025-")
    assert quire(*check, old).exit_code == 1
    many = quire(*check, "a.quire")
    assert (many.exit_code, many.stdout.splitlines()[-1]) == (1, "9 pages: 8 fit, 1 do not")


def test_loose_templates_lead_to_the_threshold(quire: Quire, site: Path) -> None:
    # Each page has two thirds of the page before it, and nothing of most others.
    for i in range(12):
        parts = "".join(f"<div class=c{k}><i></i></div>" for k in range(4 * i, 4 * i + 12))
        (site / f"chain{i:02}.html").write_text(f"<body>{parts}")
    loose = quire("templates", "site", "--threshold", "0.5", "--report", "report.html")
    found = json.loads(quire("templates", "site", "--threshold", "0.5", "--format", "json").stdout)

    assert [group["loose"] for group in found["groups"]] == [True, True, False, False]
    assert (
        "hint: 2 templates may be more than one (no. 0, no. 1); try --threshold 0.75\n"
        in loose.stderr
    )
    report = (site.parent / "report.html").read_text(encoding="utf-8")
    assert "<code>--threshold 0.75</code>" in report
    assert "hint:" not in quire("templates", "site").stderr


def test_archives_and_files_are_grouped_together(quire: Quire, stored: Path) -> None:
    assert stored.is_dir()
    for engine in ("local:1", "local:3"):
        result = quire("templates", "a.quire", "site", "--format", "json", "--engine", engine)
        assert "note: 1 archive and 9 files in " in result.stderr
        assert json.loads(result.stdout)["pages"] == 18


def test_every_page_is_in_the_files(quire: Quire, site: Path) -> None:
    for name in ("groups.parquet", "groups.csv", "groups.json"):
        result = quire("templates", "site", "-o", name)
        assert result.exit_code == 0, result.stderr
        assert result.stderr.startswith(f"note: {name}: written\nnote: 9 files in ")
    folder = site.parent
    rows = pq.read_table(folder / "groups.parquet").to_pylist()
    with (folder / "groups.csv").open(newline="") as file:
        told = list(csv.DictReader(file))
    in_json = json.loads((folder / "groups.json").read_text())

    assert [row["name"] for row in rows] == [row["name"] for row in told]
    assert len(rows) == 9
    assert [row["role"] for row in rows].count("representative") == 2
    assert [int(row["group"]) for row in told] == [row["group"] for row in rows]
    assert [row["name"] for row in rows if row["group"] == 0] == [
        entry["name"] for entry in in_json["groups"][0]["pages"]
    ]


def test_what_cannot_be_read_is_named_everywhere_and_the_rest_is_grouped(
    quire: Quire, broken: dict[str, str], folder: Path
) -> None:
    limit = ("--most-bytes", "100000")
    result = quire("templates", "site", *limit, "-o", "groups.csv", "--report", "report.html")
    found = json.loads(quire("templates", "site", *limit, "--format", "json").stdout)
    report = (folder / "report.html").read_text(encoding="utf-8")
    with (folder / "groups.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["role"] == "trouble"]

    assert result.exit_code == 0, result.stderr
    assert "4 could not be read:" in result.stdout
    assert {entry["name"] for entry in found["troubles"]} == set(broken)
    assert {row["name"] for row in rows} == set(broken)
    for entry in found["troubles"]:
        name, reason = entry["name"], entry["reason"]
        assert broken[name] in reason
        assert f"  {name}: {reason}\n" in result.stdout
        assert f">{name.removeprefix('site/')}</bdi></td><td>{reason}</td>" in report
        assert reason in [row["trouble"] for row in rows]
    assert [group["size"] for group in found["groups"]] == [7, 3], "two of them out of the WARC"


def test_many_troubles_are_counted_on_the_screen(quire: Quire, site: Path) -> None:
    for i in range(30):
        (site / f"empty{i:02}.html").write_bytes(b"")
    result = quire("templates", "site")

    assert result.stdout.count("empty: 0 bytes") == 20
    assert "  … 10 more; -o and --format json list all\n" in result.stdout


def test_nothing_to_read_is_an_error(quire: Quire, folder: Path) -> None:
    (folder / "none").mkdir()
    (folder / "void").mkdir()
    (folder / "void" / "a.html").write_bytes(b"")
    (folder / "void" / "b.html").write_bytes(b"")
    for arguments, message in (
        (["none"], "error: none: nothing to read in this folder"),
        (["void"], "error: nothing could be read: void/a.html: empty: 0 bytes; 1 more"),
        (["gone.warc"], "error: gone.warc: no such file or folder"),
        (["*.warc"], "error: *.warc: no file fits this pattern"),
        (["fruit.html", "--engine", "abacus"], "error: abacus: not an engine"),
        (["fruit.html", "-o", "groups.xls"], "error: groups.xls: cannot tell the format"),
        (["fruit.html", "-o", "fruit.html"], "error: fruit.html: already exists"),
        (["fruit.html", "--report", "fruit.html"], "error: fruit.html: already exists"),
        (["fruit.html", "--model", "fruit.html"], "error: fruit.html: already exists"),
        (
            ["fruit.html", "--model", "a.json", "-o", "a.json"],
            "error: a.json: named for two outputs",
        ),
    ):
        result = quire("templates", *arguments)
        assert result.exit_code == 2, arguments
        assert result.stderr.startswith(message), result.stderr
        assert result.stdout == ""


def test_wrong_options_are_told(process: Process, site: Path) -> None:
    assert site.is_dir()
    for arguments in (["site", "--threshold", "2"], ["site", "--on", "kang"], ["--frobnicate"]):
        result = process("templates", *arguments)
        assert result.returncode == 2
        assert result.stderr.startswith(b"error: ")
        assert b"templates group --help`" in result.stderr


def test_a_work_folder_is_filled_once(quire: Quire, site: Path) -> None:
    first = quire("templates", "site", "--work", "Work")
    again = quire("templates", "site", "--work", "Work")

    assert first.exit_code == 0, first.stderr
    assert list((site.parent / "Work" / "pages").glob("*.parquet"))
    assert again.exit_code == 2
    assert "error: Work/pages: holds part-" in again.stderr


def test_help_names_both_commands(process: Process) -> None:
    told = process("templates", "--help").stdout.decode()

    assert "group" in told
    assert "check" in told
    assert "Examples:" in told


def test_hostile_names_do_nothing_to_a_terminal(watched: Watched, folder: Path) -> None:
    (folder / "site").mkdir()
    for i in range(3):
        (folder / "site" / f"\x1b[31m\u202e{i}.html").write_bytes(shop(4 + i))
    (folder / "site" / "\x1b]0;x\x07.html").write_bytes(b"")
    told, _ = watched("templates", "site", stream="stdout")

    assert b"\\x1b[31m\\u202e" in told
    assert b"\x1b[31m" not in told
    assert b"\x1b]0" not in told
    assert "\u202e".encode() not in told


def test_bars_are_drawn_for_whoever_looks(watched: Watched, site: Path) -> None:
    assert site.is_dir()
    told, printed = watched("templates", "site", "--report", "report.html", stream="stderr")

    assert b"reading pages" in told
    assert b"drawing the report" in told
    assert printed.startswith(b"no.")
