"""``fragments report``, ``plan`` and ``esi`` give one answer: the same cuts and the same savings."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from quire import encode as digest_of
from quire.archive import Archive
from quire.fragments.study.columns import COLUMNS
from tests.cli.conftest import Quire
from tests.fragments.test_statistics import MENU, NEWS, entry

START = datetime(2026, 5, 17, 6, tzinfo=UTC)
BOX = f"<section>{NEWS}<p>{'A box around the news, with a line of its own. ' * 20}</p></section>"
LOG = ["--log", "access.log.gz"]


def pages(folder: Path) -> list[str]:
    """Pages with a menu; news alone on one, in a box on others; two are equal, some have hazards."""
    bodies = [f"<h1>{n}</h1>{MENU}{BOX if n % 2 else NEWS}<p>{'own ' * n}</p>" for n in range(9)]
    bodies += [bodies[3], f"<esi:vars>{MENU}", f"<!-- x --->{MENU}<p>hidden", f"text {NEWS}"]
    bodies.append(f"<h1>raw</h1>1 < 2{MENU}{NEWS}")
    (folder / "site").mkdir()
    for number, body in enumerate(bodies):
        (folder / "site" / f"{number}.html").write_text(body)
    log = [entry(f"/{n % 5}.html", second=40 * n) for n in range(99)]
    (folder / "access.log.gz").write_bytes(gzip.compress("\n".join(log).encode()))
    return ["site"]


def versions(folder: Path) -> list[str]:
    """An archive of three pages: a menu that stays, news that come, a clock and a token that tick."""
    with Archive.create(folder / "site.quire") as archive:
        for hour in range(9):
            news = NEWS.replace("Piece", f"Piece {hour // 3}")
            for name in ("fish", "chips", "peas"):
                clock = f"<p>It is {hour} o'clock</p>"
                token = f"<form><input name=token value={hour * 7919}></form>"
                # All of one page is another at every capture: isolating parts of it is in vain.
                rest = f"<p data-t={hour}>{hour * 31}" if name == "peas" else ""
                start = f"<body data-t={hour}>" if name == "peas" else "<body>"
                body = f"{start}<h1>{name}</h1>{MENU}{news}{clock}{token}{rest}"
                time = START + timedelta(hours=hour)
                archive.add(f"https://a.example/{name}", time, body.encode())
        archive.commit()
    log = [entry(f"/{name}", second=n) for n in range(50) for name in ("fish", "fish", "chips")]
    (folder / "access.log.gz").write_bytes(gzip.compress("\n".join(log).encode()))
    return ["site.quire"]


def variants(folder: Path) -> list[str]:
    """Pages as an anonymous user and as Mary got them: a greeting is private, the menu is not."""
    for reader in ("nobody", "mary"):
        (folder / reader).mkdir()
        for n in range(4):
            body = f"<header>{MENU}<p>Welcome, {reader}</p></header><h1>{n}</h1>{NEWS}<p>{n}"
            (folder / reader / f"{n}.html").write_text(body)
    log = [entry(f"/{n % 3}.html", second=n) for n in range(20)]
    (folder / "access.log.gz").write_bytes(gzip.compress("\n".join(log).encode()))
    return ["nobody", "--variant", "mary"]


def cuts(fragments: list[dict[str, Any]], *, name: str, length: str, saved: str) -> set[Any]:
    """Name, length, pages, uses, saving and policy of each fragment."""
    return {
        (
            one[name],
            one[length],
            one["pages"],
            one["uses"],
            one[saved],
            json.dumps(one["policy"], sort_keys=True),
        )
        for one in fragments
    }


@pytest.mark.parametrize("options", [[], ["--depth", "2", "--min-source-bytes", "200"]])
@pytest.mark.parametrize("site", [pages, versions, variants])
def test_report_plan_and_esi_give_the_same_cuts_and_savings(
    site: Callable[[Path], list[str]], options: list[str], quire: Quire, folder: Path
) -> None:
    sources = [*site(folder), *options]

    def told(*arguments: str) -> dict[str, Any]:
        result = quire("fragments", *arguments, "--format", "json")
        assert result.exit_code == 0, result.stderr
        found: dict[str, Any] = json.loads(result.stdout)
        return found

    plan = told("plan", *sources)
    told("esi", *sources, "-o", "esi")
    report = told("report", *sources, "-o", "report.html")
    logged = told("report", *sources, "-o", "logged.html", *LOG)
    manifest = json.loads((folder / "esi" / "manifest.json").read_text())

    assert plan["fragments"]
    expected = cuts(plan["fragments"], name="file", length="length", saved="saved")
    # Every cut is listed, with the figures of the plan.
    for one in (report, logged):
        exact = [fragment for fragment in one["fragments"] if fragment["tier"] == "exact"]
        assert cuts(exact, name="name", length="source_bytes", saved="stored_saved") == expected
        assert one["totals"]["worth_it"] == len(exact) == len(plan["fragments"])
        assert one["totals"]["refused"] == plan["refused"]
        assert one["volumes"] == plan["volumes"]
    for fragment in manifest["fragments"]:
        written = (folder / "esi" / fragment["folder"] / f"{fragment['file']}.html").stat().st_size
        assert written == fragment["stored"]
        fragment["saved"] = next(
            one["saved"] for one in plan["fragments"] if one["file"] == fragment["file"]
        )
    assert cuts(manifest["fragments"], name="file", length="length", saved="saved") == expected

    # The columns mean the same in the plan, and in the report on the terminal, in HTML and in JSON.
    columns = report["columns"]
    shared = [*columns, "label", "path", "rank"]
    by_name = {one["file"]: one for one in plan["fragments"]}
    for one in report["fragments"]:
        if one["tier"] == "exact":
            assert {key: one[key] for key in shared} == {
                key: by_name[one["name"]][key] for key in shared
            }

    # The totals are those of the files that were written.
    files = sum(path.stat().st_size for path in (folder / "esi").glob("*/*.html"))
    whole = sum(page["length"] for page in manifest["pages"])
    assert report["totals"]["stored_saved"] == logged["totals"]["stored_saved"] == whole - files
    assert plan["volumes"]["stored"] == files
    assert report["totals"]["moved_saved"] == whole - manifest["volumes"]["moved"]
    exact = [fragment for fragment in logged["fragments"] if fragment["tier"] == "exact"]
    assert sum(one["moved_saved"] for one in exact) == logged["totals"]["moved_saved"]
    assert logged["totals"]["moved_saved"] != report["totals"]["moved_saved"]

    # And every page can be composed of them.
    assert told("verify", "esi")["unequal"] == 0


def test_the_sites_have_what_the_answer_could_differ_in(quire: Quire, folder: Path) -> None:
    sources = [*pages(folder), *versions(folder), *variants(folder)]

    def told(*arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(quire("fragments", *arguments).stdout)
        return found

    hazards = told("plan", sources[0], "--format", "json")["hazards"]
    assert {one["kind"] for one in hazards} >= {"esi-tag", "no-leading-tag", "open-comment"}
    assert any(one["kept"] for one in hazards)
    isolated = told("report", sources[1], "-o", "a.html", "--format", "json")["totals"]["isolated"]
    assert isolated > 0
    private = told("plan", *sources[2:], "--format", "json")["fragments"]
    assert {one["policy"]["sharing"] for one in private} == {"shared", "private"}


def headings_and_rows(html: str, section: str) -> tuple[list[str], list[list[str]]]:
    page = digest_of(html.encode(), kind="html")
    heads = [page.text(cell) for cell in page.select(f"#{section} thead th")]
    rows = [
        [page.text(cell) for cell in page.select("td", within=row)]
        for row in page.select(f"#{section} tbody tr").tolist()
    ]
    return heads, rows


@pytest.mark.parametrize("site", [pages, versions, variants])
def test_columns_have_the_same_names_and_values_on_the_terminal_in_html_and_in_json(
    site: Callable[[Path], list[str]], quire: Quire, folder: Path
) -> None:
    sources = site(folder)
    shown = quire("fragments", "report", *sources, "-o", "report.html").stdout.splitlines()
    plan = quire("fragments", "plan", *sources).stdout.splitlines()
    told = json.loads((folder / "report.json").read_text())
    html = (folder / "report.html").read_text()

    headings = [column.heading for column in COLUMNS]
    assert [column.key for column in COLUMNS] == list(told["columns"])
    rows = {f"{one['tier']} {one['rank']}": one for one in told["fragments"]}
    cells = {name: [f"{one[column.key]:,}" for column in COLUMNS] for name, one in rows.items()}
    # On the terminal: the rows with advice, the ones that save the most first.
    assert shown[0].split("  part,")[0].split() == " ".join(headings).split()
    for line, name in zip(shown[1:], told["advised"], strict=False):
        assert line.split()[: len(COLUMNS)] == cells[name]
        assert f"  {name}: {rows[name]['label']}. {rows[name]['advice']}" in line
    assert plan[0].split("  part,")[0].split() == [*" ".join(headings).split(), "kept"]
    exact = [name for name, one in rows.items() if one["tier"] == "exact"]
    for line, name in zip(plan[1:], exact, strict=False):
        assert line.split()[: len(COLUMNS)] == cells[name]
        assert f"  {rows[name]['label']}: " in line
    # In HTML.
    for tier in {one["tier"] for one in told["fragments"]}:
        heads, drawn = headings_and_rows(html, tier.replace(" ", "-"))
        assert heads[2 : 2 + len(COLUMNS)] == headings
        mine = [name for name, one in rows.items() if one["tier"] == tier]
        for row, name in zip(drawn, mine, strict=True):
            assert row[2 : 2 + len(COLUMNS)] == cells[name]
            assert row[1].startswith(f"{rows[name]['label']} {rows[name]['advice']}")
