"""Imports from every tool: lists of addresses, the tool found out, and hostile values."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.errors import WatchError
from quire.sentinels.form import read_watch, watch_to_dict
from quire.sentinels.imports import (
    Imported,
    import_changedetection,
    import_distill,
    import_jobs,
    import_url_list,
    import_watches,
    tool_of,
)
from tests.sentinels.imports.examples import (
    JOBS,
    MONITOR,
    ONE,
    STORE,
    URL,
    noted,
    zipped,
)
from tests.sentinels.test_form import paths_of


def test_a_list_of_addresses_is_imported() -> None:
    found = import_url_list(
        "# mine\nhttps://a.example/ news, daily\n\nhttps://b.example/\r\nb.example\nhttps://b.example/\n"
        "https://me:pw@c.example/\n"
    )

    assert [(watch.name, watch.tags) for watch in found.watches] == [
        ("https://a.example/", ("news", "daily")),
        ("https://b.example/", ()),
        ("https://c.example/", ()),
    ]
    assert found.watches[2].fetching.password == "pw"  # noqa: S105 - a fixture
    assert noted(found) == {
        "line 5": "not imported: not an address",
        "line 6": "not imported: it is in the list twice",
    }


@pytest.mark.parametrize(
    ("data", "tool"),
    [
        (zipped({"url-watches.json": ONE}), "changedetection.io"),
        (json.dumps(STORE).encode(), "changedetection.io"),
        (json.dumps({"data": [MONITOR]}).encode(), "distill"),
        (JOBS.encode(), "urlwatch"),
        (b"\xef\xbb\xbfhttps://a.example/ x\nhttp://b.example/", "urls"),
        (b"url: https://a.example/", "urlwatch"),
        (b"# ours\n\nwatches:\n  - url: https://a.example/", "quire"),
        (b"defaults: {every: 1 h}\nwatches:\n  - url: https://a.example/", "quire"),
        (b'{"watches": [{"url": "https://a.example/"}]}', "quire"),
    ],
)
def test_the_tool_is_found_out(data: bytes, tool: str) -> None:
    if not data.startswith(b"PK"):
        assert tool_of(data) == tool
    assert import_watches(data).watches


FIXTURES: dict[str, tuple[Any, Callable[[str], Imported]]] = {
    "changedetection.io": (STORE, import_changedetection),
    "distill": (
        {"data": [{**MONITOR, "config": json.loads(MONITOR["config"]), "schedule": {}}]},
        import_distill,
    ),
    "urlwatch": (
        {
            "url": URL,
            "filter": [{"css": {"selector": "p", "exclude": "b"}}, "html2text", {"grep": "x"}],
            "headers": {"a": "b"},
            "wait_for": 3,
            "tags": ["a"],
            "method": "GET",
            "http_proxy": "http://p.example",
        },
        import_jobs,
    ),
}


odd = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", " ", "x\0", "/(/", "//a/@href", "p[", "https://u:p@h/", "{{x}}", "css"]),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from(["css", "re", "expr", "type", "", "x"]), inside, max_size=3
        )
    ),
    max_leaves=5,
)


@pytest.mark.parametrize("tool", FIXTURES)
@given(data=st.data())
def test_any_value_anywhere_is_imported_noted_or_refused(tool: str, data: st.DataObject) -> None:
    whole, read = FIXTURES[tool]
    whole = copy.deepcopy(whole)
    path = data.draw(st.sampled_from(paths_of(whole)))
    inside = whole
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = data.draw(odd)

    try:
        found = read(json.dumps(whole))
    except WatchError:
        return
    names = [watch.name for watch in found.watches]
    assert len(set(names)) == len(names)
    for watch in found.watches:
        assert read_watch(watch_to_dict(watch, secrets=True)) == watch
    for note in found.notes:
        assert "secret" not in str(note)
