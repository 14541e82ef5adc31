"""The JSON Schema of watches, for editors, clients and forms in web pages.

The schema is the file ``watch.schema.json`` beside this one. ``read_watch`` does not use it, since
it checks more than a schema can say: selectors, regular expressions, cron expressions, time zones,
names of parts. Tests hold the two together: a form that ``read_watch`` accepts is valid under the
schema, and a valid form is refused only for such a reason.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import cast


def schema_text() -> str:
    """Return the schema as it is printed."""
    return files("quire.sentinels.form").joinpath("watch.schema.json").read_text("utf-8")


def watch_schema() -> dict[str, object]:
    """Return the schema: draft 2020-12, of a whole file; one watch is ``#/$defs/watch``.

    >>> watch_schema()["title"]
    'Watches of quire'
    """
    return cast("dict[str, object]", json.loads(schema_text()))
