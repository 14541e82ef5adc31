"""``quire fragments changed``: what to purge after ``esi --after``."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Quire
from tests.fragments.test_slots import site

SIZE = ("--min-source-bytes", "150")


def test_it_lists_files_pages_and_keys(quire: Quire, folder: Path) -> None:
    for name, menu in (("monday", "menu"), ("tuesday", "other menu")):
        (folder / name).mkdir()
        for url, html in site(menu).items():
            (folder / name / f"{url[1:]}.html").write_text(html)
    assert quire("fragments", "esi", "monday", "-o", "old", *SIZE).exit_code == 0
    assert quire("fragments", "esi", "tuesday", "-o", "new", "--after", "old", *SIZE).exit_code == 0

    told = quire("fragments", "changed", "old", "new")
    assert told.stdout.splitlines()[0] == "1 file to purge"
    assert "0 new files, 0 no longer used" in told.stdout
    assert "4 pages changed, 0 new, 0 gone" in told.stdout
    assert "/3.html" in told.stdout
    listed = json.loads(quire("fragments", "changed", "old", "new", "--format", "json").stdout)
    [purged] = listed["purge"]
    assert (purged["folder"], purged["pages"]) == ("fragments", 4)
    assert quire("fragments", "changed", "old", "new", "--keys").stdout == f"{purged['name']}\n"


def test_a_folder_that_is_not_a_composition_is_an_error(quire: Quire, folder: Path) -> None:
    (folder / "empty").mkdir()
    result = quire("fragments", "changed", "empty", "empty")

    assert result.exit_code == 2
    assert "empty: not a composition: it has no manifest.json" in result.stderr
