"""``quire fragments report``, by itself: what it writes, what it says, what it refuses."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from quire.archive import Archive
from quire.cli.fragments.report import report
from tests.fragments.test_pacing import front
from tests.fragments.test_statistics import MENU, START, entry, small_site, write_log


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with site/ in it."""
    monkeypatch.chdir(tmp_path)
    for page in small_site():
        target = tmp_path / page.name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(page.body)
    return tmp_path


def run(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(report)
    return CliRunner().invoke(app, list(arguments))


def test_a_report_is_written_with_its_numbers_beside_it(site: Path) -> None:
    result = run("site", "-o", "report.html")

    assert result.exit_code == 0, result.output
    assert "<h1>Fragments: site</h1>" in (site / "report.html").read_text("utf-8")
    numbers = json.loads((site / "report.json").read_text("utf-8"))
    assert numbers["fragments"][0]["source_bytes"] == len(MENU)
    assert "4 pages, 4 versions: 2 parts worth cutting out" in result.stdout
    assert "report.html and report.json: written" in result.stderr


def test_what_a_part_of_one_page_costs_to_store_is_said_as_more(site: Path) -> None:
    (site / "front").mkdir()
    for hour in range(8):
        (site / "front" / f"2026-05-01T0{hour}-00-00Z.html").write_text(front(hour), "utf-8")

    result = run("front", "--by-folder", "-o", "report.html")

    totals = json.loads((site / "report.json").read_text("utf-8"))["totals"]
    assert totals["stored_saved"] < 0 < totals["moved_saved"]
    words = re.search(r"out, (\d+) B more \(.*\) to store, .* less \(.*\) to move", result.stdout)
    assert words is not None
    assert int(words[1]) == -totals["stored_saved"]


def test_json_is_what_is_beside_the_report(site: Path) -> None:
    log = write_log(site, [entry("/2.html"), "garbage"])

    result = run("site", "-o", "report.html", "--log", str(log), "--format", "json")

    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told == json.loads((site / "report.json").read_text("utf-8"))
    assert (told["log"]["lines"], told["log"]["skipped"]) == (2, 1)
    assert [page["requests"] for page in told["pages"]] == [0, 0, 1, 0]


def test_an_archive_gives_all_versions(site: Path) -> None:
    with Archive.create(site / "site.quire") as archive:
        for hour in range(4):
            text = f"{MENU}<p>{'The fish of the hour is ' * 9}{hour}</p><p>{'as ever ' * 30}"
            archive.add("https://a.example/", START.replace(hour=hour), text.encode())
        archive.commit()

    result = run("site.quire", "-o", "report.html", "--format", "json")

    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert [(page["url"], page["versions"]) for page in told["pages"]] == [
        ("https://a.example/", 4)
    ]
    own = [one for one in told["fragments"] if one["tier"] == "own pace"]
    assert own[0]["pace"]["changes"] == 3


def test_files_named_by_a_time_are_versions_of_their_folder(site: Path) -> None:
    (site / "home").mkdir()
    for hour in range(3):
        text = f"{MENU}<p>{'The fish of the hour is ' * 9}{hour}</p>"
        (site / "home" / f"20260517T{hour:02}0000Z.html").write_text(text)

    result = run("home", "-o", "report.html", "--by-folder", "--format", "json")

    assert result.exit_code == 0, result.output
    assert [page["versions"] for page in json.loads(result.stdout)["pages"]] == [3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["site", "-o", "site/0.html"], "exists"),
        (["site", "-o", "report.json"], "this name is for the numbers"),
        (["site", "-o", "report.html", "--log", "no.log"], "no.log"),
        (["site", "-o", "report.html", "--log", "site/0.html"], "error: site/0.html: "),
        (
            ["site", "-o", "report.html", "--log", "photo.gz"],
            "photo.gz: damaged gzip; expected an access",
        ),
        (["nowhere", "-o", "report.html"], "nowhere"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_written(
    site: Path, arguments: list[str], message: str
) -> None:
    (site / "photo.gz").write_bytes(b"\x1f\x8b\x08" + bytes(range(200)))
    result = run(*arguments)

    assert result.exit_code == 2
    assert message in result.stderr
    assert not (site / "report.html").exists()
    assert not (site / "report.json").exists()


def test_what_is_no_log_comes_with_what_is_one(site: Path) -> None:
    (site / "photo.log").write_bytes(b"\x89PNG" * 99)

    result = run("site", "-o", "report.html", "--log", "photo.log")

    assert "hint: --log takes a log of Apache, nginx or Varnish" in result.stderr


def test_what_is_skipped_of_a_log_is_said(site: Path) -> None:
    line = '192.0.2.7 - - [17/May/2026:11:02:33 +0200] "GET /0.html HTTP/1.1" 200 5120\n'
    packed = gzip.compress((line * 9 + "?\n" + line * 9999).encode())
    (site / "cut.gz").write_bytes(packed[:-8])

    result = run("site", "-o", "report.html", "--log", "cut.gz")

    assert result.exit_code == 0
    assert "note: cut.gz: damaged; read up to line 10,0" in result.stderr
    assert "note: cut.gz: 1 of 10,0" in result.stderr


def test_help_has_examples() -> None:
    result = run("--help")

    assert "Examples:" in result.stdout
    assert "--log" in result.stdout
