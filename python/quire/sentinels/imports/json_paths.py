"""Paths into JSON as other tools write them: JSONPath and jq, as far as they name one value."""

from __future__ import annotations

import re

_STEP = re.compile(r"""\.([A-Za-z_][\w-]*)|\[\s*(?:([0-9]+)|"([^"\\]*)"|'([^'\\]*)')\s*\]""")


def pointer(path: str) -> str | None:
    """Return the JSON Pointer that names the same value as a JSONPath or a jq filter.

    >>> pointer("$.items[0].price"), pointer('.["a/b"]'), pointer("$..price")
    ('json:/items/0/price', 'json:/a~1b', None)
    """
    rest = path.strip().removeprefix("$")
    rest = rest.removeprefix(".") if rest.startswith((".[", "..")) or rest == "." else rest
    if path.strip().startswith("$..") or ".." in rest:
        return None
    found, at = "", 0
    while at < len(rest):
        step = _STEP.match(rest, at)
        if step is None:
            return None
        name = next(each for each in step.groups() if each is not None)
        found += "/" + name.replace("~", "~0").replace("/", "~1")
        at = step.end()
    return f"json:{found}"
