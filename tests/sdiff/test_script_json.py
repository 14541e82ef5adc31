"""Edit scripts as JSON: as documented, and refused when they are anything else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire import EditScript
from quire.errors import InternalError, QuireError, ScriptError

OLD = quire.encode(
    b"<!doctype html><P a=1>x<b>y</p>z</b><ul> <li>1 <li>2 <li>3</ul><div><i>q</i><i>r</i></div>"
)
NEW = quire.encode(
    b"\xef\xbb\xbf<p a=2>x<b>y</b></p>z<ul> <li>3<li>1</ul><section><i>q</i><i>r\xff</i></section></b>"
)
SCRIPT = quire.edit_script(OLD, NEW)
DOCS = Path(__file__).parents[2] / "docs" / "edit-script.md"


def fields(value: object) -> set[str]:
    """Collect the names of all fields."""
    if isinstance(value, dict):
        return set(value).union(*map(fields, value.values()))
    if isinstance(value, list):
        return set().union(*map(fields, value))
    return set()


def test_every_field_is_documented() -> None:
    moved = EditScript.of_pairs(
        quire.encode(b"<p>a<hr>"),
        quire.encode(b"<hr><p>a"),
        [(0, 0), (1, 1), (2, 2), (3, 3), (4, 5), (5, 6), (6, 4)],
    )
    used = fields(json.loads(SCRIPT.to_json())) | fields(json.loads(moved.to_json()))

    documented = DOCS.read_text(encoding="utf-8")

    assert [name for name in used if not re.search(f'[`"]{name}[`"]', documented)] == []


def test_bytes_that_are_not_text_are_base64() -> None:
    assert '{"base64":' in SCRIPT.to_json()
    assert EditScript.from_json(SCRIPT.to_json()).apply(OLD) == NEW


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("", "EOF"),
        ("[]", "invalid length 0"),
        ("null", "invalid type"),
        ("{}", "missing field `format`"),
        ('{"actions": [{"x": ' + "[" * 100_000, "recursion limit"),
        ('{"format": "quire-edit-script", "version": 99}', "version is 99"),
        ('{"format": "json-patch", "version": 1}', 'expected "quire-edit-script"'),
        ("\0", "expected value"),
    ],
)
def test_what_is_not_a_script_is_refused(text: str, finding: str) -> None:
    with pytest.raises(ScriptError, match="not an edit script") as caught:
        EditScript.from_json(text)

    assert finding in str(caught.value)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401 - JSON
    """List the paths of all values below a value."""
    found = [path] if path else []
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        found.extend(places(value[key], (*path, key)))
    return found


PLACES = places(json.loads(SCRIPT.to_json()))
values: st.SearchStrategy[object] = st.one_of(
    st.integers(0, 40),
    st.sampled_from(
        [2**32 - 1, 2**64, -1, None, "", "x", [], {}, {"old": 0}, {"old": 3, "new": 3}]
    ),
)


@given(st.lists(st.tuples(st.sampled_from(PLACES), values), min_size=1, max_size=3))
def test_a_forged_script_is_refused_or_makes_what_it_says(
    edits: list[tuple[tuple[Any, ...], object]],
) -> None:
    data = json.loads(SCRIPT.to_json())
    for path, value in edits:
        inner = data
        try:
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
        except (LookupError, TypeError):  # an edit before took the place away
            continue

    try:
        script = EditScript.from_json(json.dumps(data))
        made = script.apply(OLD)
    except InternalError:
        raise
    except QuireError:
        return

    assert made.signatures.source == script.new.signature


@pytest.mark.parametrize(
    ("action", "missing"),
    [
        (
            {"action": "insert", "at": {"parent": {"old": 0}, "previous": None}, "nodes": []},
            "nodes",
        ),
        (
            {"action": "delete", "at": {"parent": {"old": 0}, "previous": None}, "nodes": []},
            "nodes",
        ),
        ({"action": "move", "nodes": []}, "nodes"),
        ({"action": "rename", "node": {"old": 1, "new": 1}}, "tag"),
    ],
)
def test_an_action_about_nothing_is_refused(action: dict[str, Any], missing: str) -> None:
    data = json.loads(SCRIPT.to_json())
    data["actions"].insert(0, action)

    with pytest.raises(ScriptError, match=f"action 0 needs {missing}"):
        EditScript.from_json(json.dumps(data))


def test_a_page_larger_than_any_is_damage_to_the_script() -> None:
    data = json.loads(SCRIPT.to_json())
    data["new"]["bytes"] = 2**32

    with pytest.raises(ScriptError, match="4294967296 bytes"):
        EditScript.from_json(json.dumps(data)).apply(OLD)
