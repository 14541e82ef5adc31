"""``lifetimes`` and ``simulate`` of ``quire fragments``: what they print, and what they refuse."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

import quire
from quire.cli.fragments.lifetimes import lifetimes
from quire.cli.fragments.report import report
from quire.cli.fragments.simulate import simulate

START = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
HOURS = "<ul><li>Mondays from nine to five<li>Fridays from nine to two<li>Never on Sundays</ul>"
# The group is made elsewhere; some of its commands make it one here.
APP = typer.Typer()
APP.command()(lifetimes)
APP.command()(report)
APP.command()(simulate)


def shop(hour: int) -> bytes:
    return (
        f"<head><script>token({hour})</script></head><h1>The fish shop at the harbour</h1>"
        f"<main>{HOURS}<p>Fish of the day is number {hour // 3} of nine</p></main>"
    ).encode()


@pytest.fixture
def captures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ten captures, an hour apart."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "captures"
    folder.mkdir()
    for hour in range(10):
        time = START + timedelta(hours=hour)
        (folder / f"{time:%Y%m%dT%H%M%SZ}.html").write_bytes(shop(hour))
    return folder


def run(*arguments: str) -> Result:
    return CliRunner().invoke(APP, list(arguments))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rate", "0.000001"], "invalidations: expected at most 20000000"),
        (["--rate", "1e-300"], "invalidations: expected at most 20000000"),
        (["--rate", "1e-300", "--invalidation", "replay"], "invalidations: expected at most"),
        (["--rate", "0"], "--rate 0: expected more than 0 requests per minute"),
        (["--rate", "inf"], "--rate inf: expected more than 0 requests per minute"),
        (["--requests", "1000000000000"], "--requests 1000000000000: expected 1 to 20,000,000"),
        (["--seed", "-1"], "'--seed'"),
    ],
)
def test_simulations_without_end_are_refused(
    captures: Path, arguments: list[str], words: str
) -> None:
    assert captures.is_dir()
    result = run("simulate", "captures", *arguments)

    assert result.exit_code == 2, result.output
    assert words in " ".join(result.stderr.split())


def test_lifetimes_are_listed_with_what_is_noise(captures: Path) -> None:
    assert captures.is_dir()
    result = run("lifetimes", "captures")

    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "captures: 10 versions in 9 h"
    assert lines[2].split() == [
        "3",
        "3",
        "h",
        "2",
        "h",
        "42",
        "html",
        ">",
        "body",
        ">",
        "main",
        ">",
        "p",
    ]
    assert lines[-1] == (
        "  1 node changes in every capture; "
        "ignoring it, 6 of 9 captures with different bytes look unchanged"
    )


def test_lifetimes_are_told_to_programs(captures: Path) -> None:
    result = run("lifetimes", str(captures), "--format", "json")

    (page,) = json.loads(result.stdout)["pages"]
    (part,) = [one for one in page["fragments"] if one["parent"] is not None]
    assert (part["changes"], part["lives_s"][-1], part["ended"][-1]) == (3, 0.0, False)
    assert (page["versions"], page["verdicts"]) == (10, {"same": 0, "unchanged": 6, "changed": 3})
    assert page["restless"][0]["path"] == "html > head > script"
    assert page["lives"]["quantiles_s"] == {"0.1": 10800.0, "0.5": 10800.0, "0.9": 10800.0}


def test_the_spans_that_are_simulated_are_named_and_the_gaps_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "captures"
    folder.mkdir()
    start = datetime(2026, 5, 1, tzinfo=UTC)
    hours = [*range(8), *range(2400, 2408), 4800]
    for hour in hours:
        time = start + timedelta(hours=hour)
        (folder / f"{time:%Y%m%dT%H%M%SZ}.html").write_bytes(shop(hour))
    arguments = ("simulate", str(folder), "--requests", "2000", "--rate", "0.1")
    (page,) = json.loads(run(*arguments, "--format", "json").stdout)["captures"]

    assert [(one["captures"], one["is_used"]) for one in page["spans"]] == [
        (8, True),
        (8, True),
        (1, False),
    ]
    assert (
        run(*arguments)
        .stdout.splitlines()[-1]
        .startswith(
            f"{folder}: 16 of 17 captures used, in 2 spans of 14 h; "
            "left out as too long to tell: 2 gaps, 99.7 d to 99.7 d"
        )
    )


def test_caches_are_compared(captures: Path) -> None:
    arguments = ("simulate", str(captures), "--requests", "2000", "--rate", "0.1")
    table, again = run(*arguments), run(*arguments)
    found = json.loads(run(*arguments, "--format", "json").stdout)

    assert table.exit_code == 0, table.output
    assert table.stdout == again.stdout
    assert table.stdout.splitlines()[1].split() == ["page", "cache", "fragment", "cache"]
    assert found["fragment"]["moved_bytes"] < found["page"]["moved_bytes"]
    assert found["fragment"]["storage_bytes"] == found["page"]["storage_bytes"] == len(shop(9))
    assert found["fragment_byte_misses"] < found["page_byte_misses"]
    other = json.loads(
        run(*arguments, "--format", "json", "--seed", "7", "--invalidation", "replay").stdout
    )
    assert other["page"] != found["page"]


def test_versions_come_out_of_archives_too(captures: Path) -> None:
    archive = quire.Archive.create(captures.parent / "site.quire")
    for hour in range(5):
        for url in ("https://a.example/", "https://b.example/"):
            archive.add(url, START + timedelta(hours=hour), shop(hour))
    archive.close()

    found = json.loads(run("lifetimes", "site.quire", "--format", "json").stdout)
    assert [page["page"] for page in found["pages"]] == ["https://a.example/", "https://b.example/"]
    one = run("lifetimes", "site.quire", "--url", "https://b.example/").stdout
    assert one.startswith("https://b.example/: 5 versions in 4 h\n")
    assert run("lifetimes", "site.quire", "--url", "https://c.example/").exit_code == 2


def test_a_folder_that_is_a_page_is_named_like_an_address(captures: Path) -> None:
    other = captures.parent / "both" / "other"
    shutil.copytree(captures, captures.parent / "both" / "home")
    shutil.copytree(captures, other)

    found = json.loads(run("lifetimes", "both", "--url", "both/other", "--format", "json").stdout)

    assert [page["page"] for page in found["pages"]] == ["both/other"]


def test_times_to_a_part_of_a_second_are_read(captures: Path) -> None:
    folder = captures.parent / "exact"
    folder.mkdir()
    for part in range(4):
        (folder / f"20260131T0900{part // 2:02}{part % 2 * 5}00Z.html").write_bytes(shop(part))

    (page,) = json.loads(run("lifetimes", "exact", "--format", "json").stdout)["pages"]
    told = run("report", "exact", "-o", "r.html", "--by-folder", "--format", "json").stdout

    assert (page["versions"], page["seconds"]) == (4, 1.5)
    assert [one["versions"] for one in json.loads(told)["pages"]] == [4]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lifetimes", "nowhere"], "error: nowhere: no such file or folder"),
        (["lifetimes", "empty"], "error: empty: nothing to read in this folder"),
        (["lifetimes", "timeless"], "timeless/home.html: no time in its name"),
        (["lifetimes", "captures", "--url", "https://c.example/"], "no versions of https://c"),
        (["simulate", "captures", "--url", "https://c.example/"], "no versions of https://c"),
        (["lifetimes", "captures", "--child-change", "2"], "child_change 2.0: expected"),
        (["simulate", "captures", "--rate", "-1"], "--rate -1: expected more than 0 requests"),
        (["simulate", "captures", "--requests", "0"], "error: --requests 0: expected 1 to"),
    ],
)
def test_what_cannot_be_done_is_said(captures: Path, arguments: list[str], words: str) -> None:
    (captures.parent / "empty").mkdir()
    (captures.parent / "timeless").mkdir()
    (captures.parent / "timeless" / "home.html").write_bytes(shop(0))
    result = run(*arguments)

    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""
