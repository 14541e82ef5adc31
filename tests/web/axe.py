"""axe-core, the rules that most accessibility checkers use, on a page that is open in Chromium.

The script is part of the package ``axe-playwright-python`` (version and hash in
``requirements/dev.txt``); only the script is used. Frames are left out: they hold pages of strangers.
"""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

PACKAGE = "axe-playwright-python"
#: Findings with less weight are advice, such as a landmark for every section.
WEIGHTS = ("serious", "critical")


@cache
def script() -> str | None:
    """Return the script; None if its package is not installed."""
    found = find_spec(PACKAGE.replace("-", "_"))
    if found is None or found.origin is None:
        return None
    return Path(found.origin).with_name("axe.min.js").read_text()


def require_axe() -> str:
    """Return the script, or skip the test. In CI all packages for tests are installed."""
    found = script()
    if found is not None:
        return found
    message = f"{PACKAGE} is not installed; needed to check pages with axe-core"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


def axe_findings(page: Page) -> list[str]:
    """Return the serious and critical findings of axe-core, each with its rule and its elements."""
    source = script()
    if source is None:
        return []
    page.evaluate(f"() => {{ if (!globalThis.axe) {{ {source} }} }}")
    found: list[dict[str, Any]] = page.evaluate(
        "async () => (await axe.run(document, { iframes: false, resultTypes: ['violations'] }))"
        ".violations.map((each) => ({ id: each.id, impact: each.impact, help: each.help,"
        " where: each.nodes.map((node) => node.target.join(' ')).slice(0, 5) }))"
    )
    return [
        f"axe: {each['id']} ({each['help']}): {', '.join(each['where'])}"
        for each in found
        if each["impact"] in WEIGHTS
    ]
