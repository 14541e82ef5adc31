"""The reference of the form: every example is a watch, and nothing is missing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from quire.sentinels.conditions import PAGE_STATES, PICKS, SCOPES
from quire.sentinels.form import PRESETS, read_watches, watch_schema
from quire.sentinels.form.conditions import COUNTS, MOVES, READERS
from quire.sentinels.form.plain_data import read_plain_data
from quire.sentinels.form.reading import PLACEHOLDERS
from quire.sentinels.form.watch import BUNDLES, FINDERS, LISTED
from quire.sentinels.parts import ASPECTS
from tests.sentinels.test_form_schema import of_file

PAGE = (Path(__file__).parents[2] / "docs" / "sentinels.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_is_a_watch_and_valid(example: str) -> None:
    assert read_watches(example)

    data: Any = read_plain_data(example).data
    of_file.validate(data)


def test_there_is_an_example_of_every_condition() -> None:
    written = "\n".join(EXAMPLES)
    for name in (*READERS, "all", "any", "not"):
        assert re.search(rf"\b{name}(:|\b)", written), name
        if name not in ("all", "any", "not"):
            assert f"### {name}\n" in PAGE


def test_every_field_and_word_is_in_the_reference() -> None:
    schema = watch_schema()
    fields: set[str] = set()
    definitions = schema["$defs"]
    assert isinstance(definitions, dict)
    for name in ("watch", "fetch", "ignore", "keep", "window", "file"):
        fields.update(definitions[name]["properties"])
    fields.update(definitions["notify"]["anyOf"][1]["properties"])
    words = (*ASPECTS, *PAGE_STATES, *PICKS, *SCOPES, *BUNDLES, *FINDERS, *LISTED, *MOVES, *COUNTS)
    steps = ("open", "click", "type", "press", "wait")
    placeholders = [f"{{{name}}}" for name in PLACEHOLDERS]

    missing = [
        word
        for word in (*fields, *words, *steps, *placeholders)
        if not re.search(rf"`[^`\n]*{re.escape(word)}[^`\n]*`", PAGE)
    ]
    assert missing == []


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_in_the_reference_with_its_summary(name: str) -> None:
    assert f"| `{name}` | {PRESETS[name].summary} |" in PAGE
