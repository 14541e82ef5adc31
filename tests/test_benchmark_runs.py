"""Benchmarks that read events still understand them: they run on small samples."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.context import Context
from benchmarks.report import Report
from benchmarks.watching import following_news, noise_terms
from tests.corpus import files


@pytest.mark.parametrize("run", [following_news.run, noise_terms.run])
def test_watching_is_measured_on_small_samples(run: Callable[[Context], Report]) -> None:
    files("versions-news")  # skips where the corpora are absent
    files("versions-terms")

    report = run(Context(quick=True))

    assert report.goals
    assert all(each.met for each in report.goals), report.goals
