"""Versions of real pages: every view is right about them, whatever changed."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

import quire
from tests.reports.test_redline import check_is_safe


def sample(files: list[Path], count: int) -> list[tuple[Path, Path]]:
    """Choose neighbouring versions of pages."""
    pairs = [(old, new) for old, new in pairwise(sorted(files)) if old.parent == new.parent]
    return random.Random(7).sample(pairs, min(count, len(pairs)))


@pytest.mark.parametrize("corpus", ["versions-news", "versions-terms", "versions-fund"])
def test_views_of_neighbouring_versions_agree(
    corpus: str, corpus_files: Callable[[str], list[Path]]
) -> None:
    for before, after in sample(corpus_files(corpus), 6):
        old, new = quire.encode(before), quire.encode(after)
        annotation = quire.annotate(old, new)
        assert quire.changed(old, new) == bool(annotation)

        rows = quire.text_rows(annotation)
        lines = [row.new.text for row in rows if row.new and row.kind != "moved_away"]
        assert lines == [line for line in new.text().split("\n") if line.strip(" \t\r\f")]
        assert sum(row.old is not None and row.kind != "moved_here" for row in rows) == len(
            [line for line in old.text().split("\n") if line.strip(" \t\r\f")]
        )
        check_is_safe(quire.redline(annotation))
        assert bool(annotation.to_dict()["changes"]) == bool(annotation)
