"""Fields that people sent with a form, with or without files.

Bodies are limited by the guard before they get here. Everything is linear in the body.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.requests import Request

from quire.web.answers import Problem

MOST_FIELDS = 40
_NAME = re.compile(rb'form-data;[^\r\n]*?[; ]name="([^"\r\n]{1,100})"', re.IGNORECASE)
_FILE_NAME = re.compile(rb'[; ]filename="([^"\r\n]{0,1000})"', re.IGNORECASE)
_BOUNDARY = re.compile(r"boundary=\"?([0-9A-Za-z'()+_,./:=? -]{1,70})\"?")


@dataclass(frozen=True, slots=True)
class PostedFile:
    """A file that was sent with a form.

    Attributes:
        name: the name that the client gave it; never a path of ours.
        data: its bytes.
    """

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Posted:
    """The fields of a form; of several with the same name, the last one counts.

    Attributes:
        fields: texts by name.
        files: files by name of their field; fields without a file are left out.
    """

    fields: dict[str, str]
    files: dict[str, PostedFile]

    def text(self, name: str) -> str:
        """Return a field without white space around it; empty if it was not sent."""
        return self.fields.get(name, "").strip()


async def read_posted(request: Request) -> Posted:
    """Read the fields of a form.

    Raises:
        Problem: the body is not that of a form.
    """
    header = request.headers.get("content-type", "")
    kind = header.partition(";")[0].strip().lower()
    body = await request.body()
    if kind == "application/x-www-form-urlencoded":
        try:
            pairs = parse_qsl(
                body.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS
            )
        except ValueError:
            raise Problem(400, "the fields of the form cannot be read") from None
        return Posted({name: _clean(value) for name, value in pairs}, {})
    boundary = _BOUNDARY.search(header)
    if kind != "multipart/form-data" or boundary is None:
        raise Problem(415, "expected the fields of a form")
    return _read_parts(body, boundary[1].encode("ascii"))


def _read_parts(body: bytes, boundary: bytes) -> Posted:
    found = Posted({}, {})
    parts = (b"\r\n" + body).split(b"\r\n--" + boundary, MOST_FIELDS + 2)
    if len(parts) < 3 or parts[-1][:2] != b"--":  # noqa: PLR2004 - before, one field, after
        raise Problem(400, "the fields of the form cannot be read")
    for part in parts[1:-1]:
        head, _, data = part.partition(b"\r\n\r\n")
        name = _NAME.search(head)
        if name is None:
            raise Problem(400, "the fields of the form cannot be read")
        key = name[1].decode("utf-8", "replace")
        file_name = _FILE_NAME.search(head)
        if file_name is None:
            found.fields[key] = _clean(data.decode("utf-8", "replace"))
        elif file_name[1] or data:
            found.files[key] = PostedFile(file_name[1].decode("utf-8", "replace"), data)
    return found


def _clean(text: str) -> str:
    # Databases refuse NUL characters, and browsers send line ends as two characters.
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").replace("\r\n", "\n")
