"""The labelled pages are whole: every label finds something, and the pages are those of the generator."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import corpus
from tests.extraction import labelled
from tests.extraction.labelled import Half
from tests.extraction.list_pages.styles import STYLES
from tests.extraction.list_pages.writing import write


def test_every_label_finds_records_and_fields() -> None:
    pages = labelled.written()

    assert len(pages) >= 40
    for page in pages:
        for region in page.regions:
            assert len(region.records) >= 3, page.name
            assert all(len(values) == len(region.records) for values in region.fields.values())


def test_half_of_the_pages_are_only_for_judging() -> None:
    halves = [page.half for page in labelled.written()]

    assert halves.count(Half.FIT) == halves.count(Half.JUDGE)


def test_the_generator_writes_the_pages_of_the_repository(tmp_path: Path) -> None:
    write(STYLES, tmp_path)

    for case in sorted(tmp_path.iterdir()):
        for file in ("page.html", "expect.toml"):
            kept = labelled.PAGES / case.name / file
            assert kept.read_text("utf-8") == (case / file).read_text("utf-8"), kept


@pytest.mark.skipif(not corpus.available(), reason=corpus.ABSENT)
def test_every_label_of_the_corpus_finds_records() -> None:
    pages = labelled.corpus()

    assert len(pages) == 17
    assert sum(len(page.regions) for page in pages) == 24


@pytest.mark.skipif(not corpus.available(), reason=corpus.ABSENT)
def test_labels_of_other_corpora_find_records_outside_of_doubtful_parts() -> None:
    pages = labelled.more()

    assert {page.half for page in pages} == set(Half)
    assert sum(len(page.regions) for page in pages) == 34
    for page in pages:
        assert not any(region.leaves & page.maybe for region in page.regions), page.name
