"""The JSON Schema says what ``read_watch`` does."""

from __future__ import annotations

import copy
import functools
import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema.protocols import Validator

from quire.errors import WatchError
from quire.sentinels.conditions import PAGE_STATES, PICKS, SCOPES
from quire.sentinels.form import PRESETS, read_watch, read_watches, schema_text, watch_schema
from quire.sentinels.form.conditions import COUNTS, MOVES, READERS
from quire.sentinels.form.files import DEFAULTS
from quire.sentinels.form.reading import PLACEHOLDERS
from quire.sentinels.form.watch import BUNDLES, FINDERS, WEEKDAYS
from quire.sentinels.parts import ASPECTS
from tests.sentinels.forms import Form, defaults, forms
from tests.sentinels.test_form import FULL, WRONG, paths_of

SCHEMA: dict[str, Any] = watch_schema()
WATCH: dict[str, Any] = SCHEMA["$defs"]["watch"]


def _pattern(
    _: Validator, pattern: str, text: object, __: object
) -> Iterator[jsonschema.ValidationError]:
    """Match as ECMAScript does: ``$`` is the end of the text, and not a line break before it."""
    if isinstance(text, str) and not _compiled(pattern).search(text):
        yield jsonschema.ValidationError(f"{text!r} does not match {pattern!r}")


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"(?<!\\)\$", r"\\Z", pattern))


Ecma: Any = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator, {"pattern": _pattern}
)
of_watch: Validator = Ecma({"$ref": "#/$defs/watch", "$defs": SCHEMA["$defs"]})
of_file: Validator = Ecma(SCHEMA)

#: Fields with a syntax that a schema cannot state, or that name other fields.
UNSTATED = {
    *("where", "without", "of", "click", "type", "wait"),  # selectors
    *("matches", "matching", "text"),  # regular expressions
    *("every", "jitter", "slow_down", "unchanged", "within", "age"),  # sums of durations
    *("cron", "zone", "part", "never_seen", "watch", "attributes"),
    *("falls_by", "rises_by", "changes_by"),
}


def is_unstated(error: WatchError) -> bool:
    """Tell whether a schema could not have said the same."""
    path = re.sub(r"\[\d+\]", "", error.path)
    return path.rpartition(".")[2] in UNSTATED or "nested" in str(error) or "NUL" in str(error)


def accepts(form: object) -> WatchError | None:
    try:
        read_watch(form)
    except WatchError as error:
        return error
    return None


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)

    assert json.loads(schema_text()) == SCHEMA


@given(forms())
def test_a_form_that_is_read_is_valid(form: Form) -> None:
    read_watch(form)

    of_watch.validate(form)
    of_file.validate(form)


@given(defaults(), st.lists(forms(), max_size=2))
def test_a_file_that_is_read_is_valid(given_: Form, watches: list[Form]) -> None:
    for number, form in enumerate(watches):
        form["name"] = str(number)
    file: dict[str, Any] = {"defaults": given_, "watches": watches}
    read_watches(json.dumps(file))

    of_file.validate(file)


# Values that are nearly right: of other types, at limits, or written in another way.
near: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(
            None,
            True,
            False,
            0,
            1,
            -1,
            0.05,
            1.0,
            2.5,
            61,
            10**9,
            1e15,
            1e16,
            10**400,
            "",
            " ",
            "x",
        ),
        *([], [""], [None], ["x"], [[]], {}, {"a": None}, {"": {}}, {"a": {}}, {"a": "x\n"}, [{}]),
        *("5 %", "5 x", "-5 %", "1 h", "1 H 3 Min", "1h30min\n", "h", "1 m 1", "9" * 12 + " s"),
        *("24:00", "24:01", "9:30\n", "mon", ["mon", "mon"], "gone", "text", ["content"], "new"),
        *("https://a.example/", " HTTP://a ", "https://a b/", "https://u@h/", "https://h/u@"),
        *("{name}", "{nam}", "{", "{a{name}", "a:b", "a: ", ":b", "mailto:x\n", "count('p') = 3"),
        *(
            'count("p") > 1234567890',
            "changed",
            "//a/@href",
            "xpath:count(//a)",
            "p[",
            "(",
            "price",
        ),
        *({"open": "https://a.example/"}, {"wait": 3, "text": "x"}, {"open": None, "press": "x"}),
        *({"type": "p"}, {"click": "p", "seconds": 61}, {"all": ["changed"]}, {"any": []}),
        *({"text": "x", "page": None}, {"of": "p", "at_least": 1, "below": 2}, {"of": "p"}),
        *({"part": "price"}, {"aspects": ["tags"]}, {"has": "x", "matches": "y"}, {"has": []}),
        *({"from": "9:00"}, {"days": []}, {"to": "x"}, {"structure": 1.5}, {"content": None}),
        *(
            "Europe/Berlin",
            "Mars/Base",
            "now",
            "0 9 * * *",
            "sitemap",
            {"in": "feed"},
            {"in": "feed", "tell": [], "every": 1},
            {"versions": 3, "bytes": "5 kB"},
            {"browser": True, "proxy": "https://a.example/"},
            {"in": None},
        ),
    ]
)
FIELDS = sorted({*WATCH["properties"], "wehre", "all"})


@given(forms() | st.just(FULL), st.data())
@settings(max_examples=500)
def test_schema_and_reading_agree_on_forms_with_a_changed_value(
    form: Form, data: st.DataObject
) -> None:
    form = copy.deepcopy(form)
    for _ in range(data.draw(st.integers(1, 2))):
        new = [(name,) for name in FIELDS]
        path = data.draw(st.sampled_from([*paths_of(form), *new]))
        inside: Any = form
        for key in path[:-1]:
            inside = inside[key]
        # A copy: values that later steps change are shared by all examples otherwise.
        inside[path[-1]] = copy.deepcopy(data.draw(near))

    error = accepts(form)
    if error is None:
        of_watch.validate(form)
    elif not is_unstated(error):
        assert not of_watch.is_valid(form), f"valid, but refused: {error}"


@pytest.mark.parametrize(("form", "path", "_message"), WRONG)
def test_what_is_refused_for_its_shape_is_not_valid(form: Form, path: str, _message: str) -> None:
    error = accepts(form)
    assert error is not None
    assert error.path == path
    if not is_unstated(error):
        assert not of_watch.is_valid(form)


def enums(schema: object, name: str) -> Iterator[list[object]]:
    """Return the words that a schema lists for fields of a name."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == name and isinstance(value, dict):
                for each in (value, value.get("items", {}), *value.get("anyOf", [])):
                    if "enum" in each:
                        yield [word for word in each["enum"] if word is not None]
            yield from enums(value, name)
    elif isinstance(schema, list):
        for value in schema:
            yield from enums(value, name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("watch", ("content", *ASPECTS)),
        ("aspects", ASPECTS),
        ("page", PAGE_STATES),
        ("pick", PICKS),
        ("bundle", BUNDLES),
        ("preset", tuple(PRESETS)),
        ("days", WEEKDAYS),
    ],
)
def test_the_schema_has_all_words(name: str, words: tuple[str, ...]) -> None:
    found = list(enums(SCHEMA, name))

    assert found
    assert all(tuple(each) == words for each in found if each != [True])


def test_the_schema_has_all_fields() -> None:
    condition = SCHEMA["$defs"]["condition"]["anyOf"][2]["properties"]
    text = condition["text"]["anyOf"][1]["properties"]
    count = condition["count"]["anyOf"][1]["properties"]

    assert set(condition) == {*READERS, "all", "any", "not"}
    assert set(condition["number"]["properties"]) == {"part", "pick", *MOVES}
    assert set(count) == {"of", *COUNTS}
    assert text["in"]["enum"] == [*SCOPES, None]
    assert WATCH["properties"]["find"]["properties"]["in"]["enum"] == list(FINDERS)
    assert set(SCHEMA["$defs"]["defaults"]["properties"]) == set(DEFAULTS)
    notify = SCHEMA["$defs"]["notify"]["anyOf"][1]["properties"]
    assert all(f"{{{name}}}" in notify["text"]["description"] for name in PLACEHOLDERS)


def described(schema: Any, path: str = "") -> Iterator[str]:  # noqa: ANN401 - any of the schema
    if isinstance(schema, dict):
        for name, field in schema.get("properties", {}).items():
            # Inside `if`, `allOf` and so on, properties only restrict those described elsewhere.
            if field != {"type": "null"} and "description" not in field:
                yield f"{path}.{name}"
        for key, value in schema.items():
            if key not in ("if", "then", "allOf", "oneOf", "not", "anyOf", "examples"):
                yield from described(value, f"{path}.{key}")


def test_every_field_is_described_and_every_example_is_valid() -> None:
    missing = [path for path in described(SCHEMA) if not path.endswith(".text")]

    assert missing == []
    for definition in SCHEMA["$defs"].values():
        for name, field in definition.get("properties", {}).items():
            for example in field.get("examples", []):
                validator = Ecma({**field, "$defs": SCHEMA["$defs"]})
                assert validator.is_valid(example), (name, example)
    for example in WATCH["examples"]:
        read_watch(example)
