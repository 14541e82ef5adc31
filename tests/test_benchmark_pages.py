"""The pages about benchmarks are those that the stored results give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import pagewriter, run
from benchmarks.pagewriter import PAGES, pages

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def written() -> dict[str, str]:
    """Make the pages from the stored results."""
    return pages(RESULTS, [path.stem for path in sorted(RESULTS.glob("*.json"))])


def test_the_committed_pages_are_what_the_generator_writes() -> None:
    made = written()
    folder = sorted((ROOT / "docs" / "benchmarks").iterdir())

    assert {str(path.relative_to(ROOT / "docs")) for path in folder} == set(made) - {
        "benchmarks.md"
    }
    for name, text in made.items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text, name


@pytest.mark.parametrize(
    ("options", "writes"),
    [([], True), (["--quick"], False), (["--results", "elsewhere"], False)],
)
def test_only_a_run_that_keeps_its_results_here_writes_the_pages(
    *, options: list[str], writes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[object] = []
    monkeypatch.setattr(run, "_run_one", lambda *_: True)
    monkeypatch.setattr(pagewriter, "write", lambda *_: written.append("pages"))

    assert run.main(["encode", *options]) == 0
    assert bool(written) is writes


def test_every_result_is_on_exactly_one_page() -> None:
    listed = [name for page in PAGES for name in page.benchmarks]

    assert sorted(listed) == sorted(path.stem for path in RESULTS.glob("*.json"))


def test_the_figures_in_the_readme_are_among_the_headline_figures() -> None:
    headlines = {row[:3] for row in rows(written()["benchmarks.md"])}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    figures = [row for row in rows(readme.partition("## Figures")[2]) if row[1] != "quire"]

    assert figures
    assert [row for row in figures if row[:3] not in headlines] == []


def rows(text: str) -> list[tuple[str, ...]]:
    """The rows of the Markdown tables in a text, without the lines below their heads."""
    lines = [line for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    return [tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]) for line in lines]
