"""Requests made from the OpenAPI document: nothing that it allows, or forbids, breaks the service."""

from __future__ import annotations

import os
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from quire.sentinels.accounts import Hasher
from quire.sentinels.service import Service
from quire.sentinels.store import Database
from quire.web import create_app
from quire.web.protection.access import ACCESS
from tests.web.conftest import URL, Site

#: Examples of each operation. The notes of the project ask for 500 in a soak.
EXAMPLES = int(os.environ.get("API_EXAMPLES", "6"))
CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)


def _operations() -> dict[str, Any]:
    """Read the operations from the document of an application without data."""
    database = Database.open("sqlite://")
    document = create_app(Service(database), hasher=Hasher(memory_kib=8, passes=1)).openapi()
    database.close()
    schema = schemathesis.openapi.from_dict(document)
    found = [each.ok() for each in schema.get_all_operations() if isinstance(each, Ok)]
    return {f"{each.method.upper()} {each.path}": each for each in found}


OPERATIONS = _operations()


MODES = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
#: Values of parameters in paths that exist, tried beside those that are made up.
EXISTING = {"watch": 1, "number": 1, "account": 1, "token": 1}


CASES = [
    pytest.param(name, mode, exists, id=f"{name}, {mode.value}{', existing' if exists else ''}")
    for name in OPERATIONS
    for mode in MODES
    for exists in ([True, False] if "{" in name else [False])
]


@pytest.mark.parametrize(("name", "mode", "exists"), CASES)
def test_no_request_breaks_the_service(
    site: Site,
    name: str,
    mode: GenerationMode,
    exists: bool,  # noqa: FBT001 - a parameter
) -> None:
    method, path = name.split()
    operation = OPERATIONS[name]
    places = {word: number for word, number in EXISTING.items() if f"{{{word}}}" in path}
    headers = {"Authorization": f"Bearer {site.tokens['admin']}"}
    if ACCESS[method, path].session:
        key = site.app.state.quire.sessions.begin(site.accounts["admin"])
        headers = {"Cookie": f"quire={key}", "Origin": "http://127.0.0.1"}
    seen = 0

    @given(
        case=operation.as_strategy(
            generation_mode=mode, path_parameters=dict(places) if exists else None
        )
    )
    @settings(
        max_examples=min(EXAMPLES, 3) if path.endswith("/backup") else EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def call(case: Any) -> None:  # noqa: ANN401 - schemathesis's type has private parameters
        nonlocal seen
        seen += 1
        form = case.body.get("form", case.body) if isinstance(case.body, dict) else None
        if mode is GenerationMode.POSITIVE and isinstance(form, dict) and "url" in form:
            form["url"] = URL  # made-up texts are hardly ever addresses
        case.call_and_validate(
            app=site.app, headers=headers, base_url="http://127.0.0.1", checks=list(CHECKS)
        )

    try:
        call()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE, "the document allows no request"
    else:
        assert seen
