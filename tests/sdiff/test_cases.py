"""Pages as people change them: each case is a folder, and its ``expect.toml`` says what a reader would.

====================  =====================================================================
``facets``            the facets that differ
``gone``, ``new``     the lines of text that the unified view deletes and inserts
``words``             the words that changed, deleted and inserted in turn
``[summary]``         counts, as many of them as matter
``[[unchanged]]``     rules under which nothing changed
====================  =====================================================================
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import quire
from quire import ALL_FACETS, Annotation, Rules
from tests.reports.test_redline import check_is_safe

PAGES = Path(__file__).parents[1] / "pages"
CASES = sorted(path.parent.name for path in PAGES.glob("*/before.html"))
EACH = pytest.mark.parametrize("case", CASES)


def load(case: str) -> tuple[Annotation, dict[str, Any]]:
    old = quire.encode(PAGES / case / "before.html")
    new = quire.encode(PAGES / case / "after.html")
    expected = tomllib.loads((PAGES / case / "expect.toml").read_text("utf-8"))
    return quire.annotate(old, new), expected


@EACH
def test_the_facets_that_differ_are_those_a_reader_would_name(case: str) -> None:
    annotation, expected = load(case)

    assert [facet for facet in sorted(ALL_FACETS) if annotation.differs(facet)] == expected[
        "facets"
    ]
    assert quire.changed(annotation.old, annotation.new)


@EACH
def test_the_lines_that_differ_are_those_a_reader_would_name(case: str) -> None:
    annotation, expected = load(case)
    lines = [line for hunk in quire.unified(annotation) for line in hunk.lines]

    assert [line.text for line in lines if line.kind == "deleted"] == expected["gone"]
    assert [line.text for line in lines if line.kind == "inserted"] == expected["new"]


@EACH
def test_the_words_that_differ_are_those_a_reader_would_name(case: str) -> None:
    annotation, expected = load(case)
    if "words" in expected:
        (change,) = quire.text_changes(annotation)
        words = [segment.text for segment in change.segments if segment.kind != "same"]
        assert words == expected["words"]


@EACH
def test_the_summary_counts_what_changed(case: str) -> None:
    annotation, expected = load(case)
    summary = asdict(annotation.summary())

    assert {name: summary[name] for name in expected["summary"]} == expected["summary"]


@EACH
def test_under_its_rules_nothing_changed(case: str) -> None:
    annotation, expected = load(case)
    for fields in expected.get("unchanged", ()):
        rules = Rules(**fields)
        assert not quire.changed(annotation.old, annotation.new, rules=rules), fields
        assert not quire.annotate(annotation.old, annotation.new, rules), fields


@EACH
def test_the_redline_is_safe_and_says_what_was_and_what_is(case: str) -> None:
    annotation, expected = load(case)
    drawn = quire.redline(annotation)
    check_is_safe(drawn)
    page = quire.encode(drawn.encode(), kind="html")
    marks = {
        kind: "".join(
            page.text(int(node)) for node in page.select(f"body > :not(.quire-bar) .quire-{kind}")
        )
        for kind in ("ins", "del")
    }
    assert bool(marks["del"]) >= bool(expected["gone"])
    assert bool(marks["ins"]) >= bool(expected["new"])


@EACH
def test_both_columns_are_the_pages(case: str) -> None:
    annotation, _ = load(case)
    (rows,) = quire.side_by_side(annotation, context=None)

    assert [row.old.number for row in rows if row.old] == sorted(
        row.old.number for row in rows if row.old
    )
    assert "\n".join(row.new.text for row in rows if row.new) == annotation.new.text()


@EACH
def test_the_report_is_plain_values(case: str) -> None:
    annotation, _ = load(case)
    found = json.loads(json.dumps(annotation.to_dict()))

    assert found["changed"]
    assert found["summary"] == asdict(annotation.summary())
