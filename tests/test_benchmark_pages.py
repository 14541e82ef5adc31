"""The pages about benchmarks are those that the stored results give."""

from __future__ import annotations

import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

from benchmarks import pagewriter, run
from benchmarks.context import Context
from benchmarks.pagewriter import PAGES, Mode, pages
from benchmarks.report import Report

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
    ("options", "folders"),
    [
        ([], [ROOT / "docs"]),
        (["--quick"], [RESULTS / "quick" / "pages"]),
        (["--quick", "--papers"], [RESULTS / "quick" / "pages"]),
        (["--results", "elsewhere"], []),
    ],
)
def test_only_a_full_run_that_keeps_its_results_here_writes_into_the_documentation(
    options: list[str], folders: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Path] = []
    monkeypatch.setattr(run, "_run_one", lambda *_: True)
    monkeypatch.setattr(pagewriter, "write", lambda _, docs, *__: written.append(docs))

    assert run.main(["encode", *options]) == 0
    assert written == folders


def test_a_short_run_stores_apart_and_its_pages_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_one(context: Context) -> Report:
        return Report("Kang's table", "pages", f"{context.pick('all', 'some')} of them")

    module = types.ModuleType("benchmarks.papers.kang_table")
    monkeypatch.setattr(module, "run", run_one, raising=False)
    monkeypatch.setitem(sys.modules, module.__name__, module)

    assert run.main(["kang", "--quick", "--results", str(tmp_path)]) == 0

    assert {path.name for path in tmp_path.iterdir()} == {"quick"}
    page = (tmp_path / "quick" / "pages" / "benchmarks" / "paper-001.md").read_text()
    assert "some of them" in page
    assert Mode.SHORT.value in page
    assert Mode.SHORT.value not in (ROOT / "docs" / "benchmarks" / "paper-001.md").read_text()


def test_the_experiments_of_the_papers_are_those_on_their_pages_and_two_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[str] = []

    def note(name: str, *_: object) -> bool:
        ran.append(name)
        return True

    monkeypatch.setattr(run, "_run_one", note)
    monkeypatch.setattr(pagewriter, "write", lambda *_: None)

    assert run.main(["--quick", "--papers"]) == 0

    on_pages = {name for page in PAGES if "Paper" in page.title for name in page.benchmarks}
    assert set(ran) == on_pages | {"overlap-threshold", "records-phases"}
    assert "encode" not in ran


def test_every_benchmark_is_on_exactly_one_page() -> None:
    listed = [name for page in PAGES for name in page.benchmarks]

    assert sorted(listed) == sorted(run.BENCHMARKS)
    assert {path.stem for path in RESULTS.glob("*.json")} <= set(listed)


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


def test_every_stored_result_names_a_commit_of_this_repository() -> None:
    if _git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("the history of the repository is not here")
    origins = {name: run.origin_of(name, RESULTS) for name in run.BENCHMARKS}

    unknown = {
        name: origin.commit
        for name, origin in origins.items()
        if origin is not None
        and _git("merge-base", "--is-ancestor", origin.commit, "HEAD").returncode
    }

    assert unknown == {}


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", *arguments], cwd=run.REPOSITORY, capture_output=True, text=True, check=False
    )
