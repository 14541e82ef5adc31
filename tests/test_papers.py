"""The page about the papers has a row for all they contain, and what its rows name exists."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from benchmarks import pagewriter, paper_figures
from benchmarks.run import BENCHMARKS, of_papers
from tests.test_docs import COMMANDS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
HEAD = "| section | code | test | verdict |"

#: What each paper contains, as its rows name it.
CONTENTS = {
    "000": (
        ["Abstract", "1", "2", "3.1", "3.2", "3.3", "3.4", "3.5", "4.1", "4.2", "4.3", "5.1"],
        ["5.2", "5.3", "6", "figure 1", "figure 2", "figure 3(a)", "figure 3(b)", "figure 4"],
        ["figure 5(a)", "figure 5(b)", "figure 6(a)", "figure 6(b)", "figure 7", "TeX", "XML"],
        [f"experiment {number}" for number in range(1, 7)],
        [f"Algorithm {number}" for number in range(1, 4)],
    ),
    "001": (
        ["Abstract", "1", "2.1", "2.2", "3", "4", "5", "figure 1", "figure 2", "figure 3"],
        [f"definition {number}" for number in range(1, 5)],
        ["table 1", "D = 8, Q = 0.8", "the program"],
    ),
    "002": (
        ["Abstract", "1", "2", "2.1", "2.2", "2.3", "2.4", "3"],
        [f"experiment {number}" for number in range(1, 5)],
    ),
    "003": (
        ["Abstract", "I", "II", "III.A", "III.B", "IV.A", "IV.C", "V", "table 1"],
        [f"figure {number}" for number in range(1, 6)],
        ["Cluster", "Select_Template"],
    ),
    "004": (
        ["1", "2", "3.1", "3.2", "3.2.1", "3.3", "4", "4.1", "5", "5.1"],
        ["6.1", "6.2", "6.3", "6.4", "7"],
        ["Abstract", "8", "definition 1", "personalisation", "table 2: sum of sizes"],
        ["Algorithm 1", "Algorithm 2", "table 1", "table 2", "figures 12, 13", "figures 17, 18"],
        ["figures 19, 20", *(f"figure {number}" for number in (*range(1, 12), 14, 15, 16, 21))],
    ),
}


def rows_of(paper: str) -> list[list[str]]:
    """Read the table of a paper: the cells of its rows."""
    section = PAGE.partition(f"\n## {paper},")[2].partition("\n## ")[0]
    table = section.partition(f"{HEAD}\n")[2].partition("\n\n")[0]
    lines = [line for line in table.splitlines() if line.startswith("|") and "| --- |" not in line]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


ROWS = [(paper, row) for paper in CONTENTS for row in rows_of(paper)]
EACH_ROW = pytest.mark.parametrize(
    ("paper", "row"), ROWS, ids=[f"{paper} {row[0][:40]}" for paper, row in ROWS]
)


def quoted(cell: str) -> list[str]:
    """Return what stands in backticks, outside of comments."""
    return re.findall(r"`([^`]+)`", re.sub(r"<!--.*?-->", "", cell))


def is_python(name: str) -> bool:
    """Tell whether a dotted name leads to something: modules, then what is in them."""
    first, *parts = name.split(".")
    found: object = importlib.import_module(first)
    for place, part in enumerate(parts, 1):
        if not hasattr(found, part):
            try:
                importlib.import_module(".".join([first, *parts[:place]]))
            except ImportError:
                return part in getattr(found, "__annotations__", {})
        found = getattr(found, part)
    return True


def is_command(words: str) -> bool:
    return any(f"{command} ".startswith(f"{words} ") for command in COMMANDS)


def is_there(name: str) -> bool:
    """Tell whether a name of the column about code exists: a file, a command, a benchmark, Python."""
    if name.startswith("python benchmarks/run.py "):
        return all(word in BENCHMARKS for word in name.split()[2:])
    if "/" in name:
        return (ROOT / name).exists()
    if name.startswith("quire "):
        return is_command(name)
    return name.startswith("quire.") and is_python(name)


@EACH_ROW
def test_what_a_row_names_exists(paper: str, row: list[str]) -> None:
    assert len(row) == 4, paper
    section, code, test, verdict = row

    assert section
    assert verdict
    assert [name for name in quoted(code) if not is_there(name)] == []
    assert quoted(code) or verdict.startswith("not needed") or code.startswith("see ")
    for name in quoted(test):
        path, _, function = name.partition("::")
        assert (ROOT / path).is_file(), name
        assert not function or f"def {function}(" in (ROOT / path).read_text("utf-8"), name
    assert [name for name in quoted(verdict) if name not in BENCHMARKS] == []


@pytest.mark.parametrize("paper", CONTENTS)
def test_everything_in_a_paper_has_a_row(paper: str) -> None:
    sections = [row[0] for row in rows_of(paper)]
    named = {name for group in CONTENTS[paper] for name in group}

    def has_row(name: str) -> bool:
        if not re.fullmatch(r"[\dIV.A-C]+", name):
            return any(name in row for row in sections)
        # A number of a section stands at the start, alone or in a list: "Abstract, 1, 6: ...".
        start = re.compile(rf"^(?:[\w.]+, )*{re.escape(name)}(?=[\s:,]|$)")
        return any(start.match(row) for row in sections)

    assert sections
    assert sorted(name for name in named if not has_row(name)) == []


def test_the_figures_are_those_of_the_stored_results() -> None:
    results = pagewriter.stored(ROOT / "benchmarks" / "results", BENCHMARKS)

    assert paper_figures.fill(PAGE, results) == PAGE
    assert set(paper_figures.benchmarks_of(PAGE)) <= set(BENCHMARKS)
    assert len(paper_figures.benchmarks_of(PAGE)) > 40


def test_no_missed_goal_of_a_paper_is_left_out() -> None:
    results = pagewriter.stored(ROOT / "benchmarks" / "results", BENCHMARKS)
    missed = {
        (name, goal["what"])
        for name in of_papers()
        for goal in results[name]["goals"]
        if not goal["met"]
    }

    assert sorted(missed - paper_figures.goals_of(PAGE)) == []


STORED = {
    "speed": {
        "tables": [
            {
                "headings": ["shape", "size", "times"],
                "rows": [["deep", "1", "9.5x"], ["deep", "2", "1,200x"], ["flat", "1", "-3x"]],
            }
        ],
        "goals": [
            {"what": "quick", "measured": "2x", "met": True},
            {"what": "quicker", "measured": "2x", "met": False},
        ],
        "notes": ["the paper claims much: 3 | 4"],
    }
}


@pytest.mark.parametrize(
    ("mark", "shown"),
    [
        ("cell speed 0 ; deep ; 2 ; times", "1,200x"),
        ("range speed 0 ; deep ; times", "9.5x to 1,200x"),
        ("range speed 0 ; times", "-3x to 1,200x"),
        ("range speed 0 ; flat ; times", "-3x"),
        ("goal speed ; quick", "2x"),
        ("verdict speed ; quick", "holds"),
        ("verdict speed ; quicker", "**does not hold**"),
        ("note speed ; the paper claims much", "3 / 4"),
        ("cell other 0 ; a ; b", "not run yet"),
    ],
)
def test_a_figure_is_filled_in_and_filled_in_again(mark: str, shown: str) -> None:
    text = f"| a | <!-- {mark} -->old<!-- end -->, b |"

    filled = paper_figures.fill(text, STORED)

    assert filled == f"| a | <!-- {mark} -->{shown}<!-- end -->, b |"
    assert paper_figures.fill(filled, STORED) == filled


@pytest.mark.parametrize(
    "mark",
    [
        *(
            "cell speed 0 ; deep ; times",
            "cell speed 0 ; round ; times",
            "cell speed 0 ; deep ; age",
        ),
        *("goal speed ; slow", "verdict speed ; slow", "note speed ; nothing"),
    ],
)
def test_a_figure_that_is_not_there_or_there_twice_is_an_error(mark: str) -> None:
    with pytest.raises(LookupError, match="no such figure, or several"):
        paper_figures.fill(f"<!-- {mark} --><!-- end -->", STORED)
