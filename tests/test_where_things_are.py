"""The page that says which file to open for a change names files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "where-things-are.md"

CHANGES = re.findall(
    r"^\| (?!you want|---)(.+?) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
)


def test_the_page_has_at_least_twenty_five_changes() -> None:
    assert len(CHANGES) >= 25


@pytest.mark.parametrize(("change", "files"), CHANGES, ids=[change for change, _ in CHANGES])
def test_the_files_of_a_change_exist(change: str, files: str) -> None:
    named = re.findall(r"`([^`]+)`", files)

    assert 1 <= len(named) <= 2, change
    assert [name for name in named if not (ROOT / name).is_file()] == []
