"""Imports: files of other tools go in, watches come out, with notes about everything lost.

``import_watches`` finds out which tool wrote a file. Files can come from anyone: their size, depth
and packing are limited, nothing is written under a name from them, and no program is run.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import BinaryIO, Literal, TypeAlias, get_args

from quire.errors import WatchError
from quire.sentinels.form.plain_data import MAX_BYTES, read_json
from quire.sentinels.imports.changedetection import MAX_JSON_BYTES, import_changedetection
from quire.sentinels.imports.distill import import_distill
from quire.sentinels.imports.imported import Imported, Note
from quire.sentinels.imports.own import import_own
from quire.sentinels.imports.url_list import import_url_list
from quire.sentinels.imports.urlwatch import import_jobs

#: The tools that files are imported from. ``webchanges`` has the jobs of ``urlwatch``, and ``quire``
#: reads its own exports.
Tool: TypeAlias = Literal[
    "changedetection.io", "urlwatch", "webchanges", "distill", "urls", "quire"
]
TOOLS: tuple[Tool, ...] = get_args(Tool)

_READERS: dict[Tool, Callable[[bytes, str], Imported]] = {
    "changedetection.io": import_changedetection,
    "urlwatch": import_jobs,
    "webchanges": import_jobs,
    "distill": import_distill,
    "urls": import_url_list,
    "quire": import_own,
}

__all__ = [
    "TOOLS",
    "Imported",
    "Note",
    "Tool",
    "import_changedetection",
    "import_distill",
    "import_jobs",
    "import_own",
    "import_url_list",
    "import_watches",
    "tool_of",
]


def import_watches(data: bytes | BinaryIO, file: str = "", tool: Tool | None = None) -> Imported:
    r"""Import the watches of a file of another tool.

    >>> found = import_watches(b"url: https://a.example/\nfilter: [html2text]\nmax_tries: 3\n")
    >>> found.watches[0].pages.urls, str(found.notes[0])
    (('https://a.example/',), 'https://a.example/: max_tries: errors are reported when a page ...')

    Args:
        data: the bytes of the file, or the open file, which can seek.
        file: its name, for errors.
        tool: the tool that wrote it; found out by default.

    Raises:
        WatchError: the file is not of such a tool, is too long, nested too deep or packed too
            densely.
        MissingExtra: PyYAML is not installed, and the file is YAML.
    """
    opened = io.BytesIO(data) if isinstance(data, bytes) else data
    start = opened.read(4)
    opened.seek(0)
    if start == b"PK\x03\x04" and tool in (None, "changedetection.io"):
        return import_changedetection(opened, file)
    content = opened.read(MAX_JSON_BYTES + 1)
    return _READERS[tool or tool_of(content)](content, file)


def tool_of(content: bytes) -> Tool:
    """Return the tool that a file seems to be from.

    >>> tool_of(b'{"data": [{"uri": "https://a.example/"}]}'), tool_of(b"https://a.example/")
    ('distill', 'urls')
    """
    start = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"{", b"[")):
        try:
            data = (
                read_json(content.decode("utf-8-sig")).data if len(content) <= MAX_BYTES else None
            )
        except (WatchError, UnicodeDecodeError):
            data = None
        if isinstance(data, dict) and isinstance(data.get("watches"), list):
            return "quire"
        is_distill = isinstance(data, dict) and isinstance(data.get("data"), list)
        return "distill" if is_distill else "changedetection.io"
    lines = [line for line in start[:10_000].splitlines() if line and not line.startswith(b"#")]
    if lines and lines[0].startswith((b"watches:", b"defaults:")):
        return "quire"
    has_addresses = lines and all(
        line.lower().startswith((b"http://", b"https://")) for line in lines[:-1]
    )
    return "urls" if has_addresses and lines[0].lower().startswith(b"http") else "urlwatch"
