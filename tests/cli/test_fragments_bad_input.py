"""``quire fragments`` on sites that go wrong elsewhere: every command, through to a real Varnish."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Quire
from tests.conftest import require
from tests.fragments.hostile import FOOT, HAZARDS, MENU
from tests.fragments.hostile import site as pages

START = datetime(2026, 1, 1, tzinfo=UTC)

#: Sites by what is wrong with them, and what comes of their pages: composed, whole, refused.
SITES: dict[str, tuple[list[bytes], tuple[int, int, int]]] = {
    "esi tags of their own": (pages(6, b"<html>" + HAZARDS["esi-tag"]), (0, 0, 6)),
    "esi tags on every other page": (
        [
            page
            for pair in zip(pages(3), pages(3, HAZARDS["esi-tag"]), strict=True)
            for page in pair
        ],
        (3, 0, 3),
    ),
    "comments that end in extra dashes": (pages(6, b"<html><!-- x --->"), (0, 0, 6)),
    "raw less-than in text": (pages(6, b"<html><p>1 < 2, a <b, 3 <4</p>"), (6, 0, 0)),
    "raw less-than before the menu": (
        [page.replace(b"</h1>", b" < ") for page in pages(6)],
        (6, 0, 0),
    ),
    "no body": (
        [b"<!-- -->", b"<html></html>", b"<title>x</title>", b"<frameset></frameset>"],
        (0, 4, 0),
    ),
    "one page only": (pages(1), (0, 1, 0)),
    "identical pages": (pages(1) * 6, (0, 6, 0)),
}


def write(sources: Sequence[bytes], folder: Path) -> str:
    folder.mkdir()
    for number, page in enumerate(sources):
        (folder / f"{number}.html").write_bytes(page)
    return folder.name


def write_captures(sources: Sequence[bytes], folder: Path) -> str:
    folder.mkdir()
    for number, page in enumerate(sources):
        (folder / f"{START + timedelta(hours=number):%Y%m%dT%H%M%SZ}.html").write_bytes(page)
    return folder.name


def told(quire: Quire, *arguments: str) -> dict[str, Any]:
    result = quire("fragments", *arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.parametrize("kind", SITES)
def test_every_page_is_composed_left_whole_or_refused_and_none_is_unequal(
    quire: Quire, folder: Path, kind: str
) -> None:
    sources, (composed, whole, refused) = SITES[kind]
    site = write(sources, folder / "site")

    plan = told(quire, "plan", site)
    # To programs, what is refused is whole too.
    assert (plan["composed"], plan["whole"], plan["refused"]) == (
        composed,
        whole + refused,
        refused,
    )
    assert quire("fragments", "esi", site, "-o", "out").exit_code == 0
    assert told(quire, "verify", "out", "--composer", "own") == {
        "pages": len(sources),
        "equal": composed + whole,
        "refused": refused,
        "unequal": 0,
        "composer": "own",
    }


@pytest.mark.timeout(900)
def test_through_varnish_no_page_of_any_such_site_is_unequal(quire: Quire) -> None:
    require("varnishd", "compose pages with a real cache")
    sources = [page for found, _ in SITES.values() for page in found]
    # As root, Varnish becomes another user, whom pytest's own folders do not let in.
    with tempfile.TemporaryDirectory(prefix="varnish-test-") as work:
        Path(work).chmod(0o755)
        write(sources, Path(work) / "site")
        assert quire("fragments", "esi", f"{work}/site", "-o", f"{work}/out").exit_code == 0
        found = told(quire, "verify", f"{work}/out", "--composer", "varnish")

    assert (found["pages"], found["unequal"], found["composer"]) == (len(sources), 0, "varnish")
    assert found["equal"] == 26


@pytest.mark.parametrize("kind", SITES)
def test_reports_and_stripped_pages_have_every_page(quire: Quire, folder: Path, kind: str) -> None:
    sources, _ = SITES[kind]
    site = write(sources, folder / "site")

    totals = told(quire, "report", site, "-o", "report.html")["totals"]
    assert totals["pages"] == totals["versions"] == len(sources)
    assert quire("fragments", "strip", site, "-o", "texts").exit_code == 0
    index = json.loads((folder / "texts" / "index.json").read_text())
    assert len(index["pages"]) == len(sources)


@pytest.mark.parametrize("kind", SITES)
def test_as_versions_of_a_page_they_have_lives_and_can_be_cached(
    quire: Quire, folder: Path, kind: str
) -> None:
    sources, _ = SITES[kind]
    captures = write_captures(sources, folder / "captures")

    (page,) = told(quire, "lifetimes", captures)["pages"]
    assert page["versions"] == len(sources)
    assert sum(page["verdicts"].values()) == len(sources) - 1
    cached = told(quire, "simulate", captures, "--rate", "1")
    assert cached["fragment_byte_misses"] <= cached["page_byte_misses"]


def test_one_version_is_said_to_be_alone(quire: Quire, folder: Path) -> None:
    write_captures(pages(1), folder / "captures")

    assert quire("fragments", "lifetimes", "captures").stdout.splitlines() == [
        "captures: 1 version",
        "  0 fragments, depth 1; no change observed",
        "  only one version: nothing to compare it with",
    ]
    result = quire("fragments", "simulate", "captures")
    assert result.stdout.startswith("1 page, 1 fragment; 30,000 requests in ")
    assert "note: no fragment changed between captures, so both caches do the same" in result.stderr


def test_equal_versions_are_said_to_be_equal(quire: Quire, folder: Path) -> None:
    write_captures(pages(1) * 4, folder / "captures")

    last = quire("fragments", "lifetimes", "captures").stdout.splitlines()[-1]
    assert last == "  all captures have the same bytes"


def test_a_simulation_that_ends_before_anything_changes_says_so(quire: Quire, folder: Path) -> None:
    write_captures(pages(6), folder / "captures")

    short = quire("fragments", "simulate", "captures", "--requests", "10", "--rate", "60")
    long = quire("fragments", "simulate", "captures", "--requests", "1000", "--rate", "1")
    assert "use more --requests or a lower --rate" in short.stderr
    assert long.stderr == ""


@pytest.mark.timeout(900)
def test_a_thousand_versions_of_one_page_go_through_every_command(
    quire: Quire, folder: Path
) -> None:
    sources = [
        b"<html>%s<p>Wind of %d knots at the harbour today</p><main>Fish number %d is the best of the season</main>%s"
        % (MENU, number, number // 10, FOOT)
        for number in range(1000)
    ]
    captures = write_captures(sources, folder / "captures")

    (page,) = told(quire, "lifetimes", captures)["pages"]
    assert {one["path"]: one["changes"] for one in page["fragments"]} == {
        ":root": 0,
        "html > body > p": 999,
        "html > body > main": 99,
    }
    report = told(quire, "report", captures, "-o", "report.html", "--by-folder")
    assert (report["totals"]["pages"], report["totals"]["versions"]) == (1, 1000)
    assert told(quire, "simulate", captures)["requests"] == 30_000
    assert quire("fragments", "esi", captures, "-o", "out").exit_code == 0
    found = told(quire, "verify", "out", "--composer", "own")
    assert (found["equal"], found["unequal"]) == (1000, 0)


def test_files_named_by_times_that_are_taken_for_pages_are_pointed_out(
    quire: Quire, folder: Path
) -> None:
    write_captures(pages(3), folder / "captures")

    asked = quire("fragments", "report", "captures", "-o", "a.html")
    by_folder = quire("fragments", "report", "captures", "-o", "b.html", "--by-folder")
    assert "3 files have times in their names; --by-folder reads those" in asked.stderr
    assert "times in their names" not in by_folder.stderr
