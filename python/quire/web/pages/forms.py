"""Fields of forms, as browsers send them, with limits on their number and length."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.requests import Request

from quire.web.answers import Problem

#: Fields of a form.
MOST_FIELDS = 20
#: Parts of a form with a file, and bytes of the headers of each.
MOST_PARTS = 20
LONGEST_HEAD = 4_000

_BOUNDARY = re.compile(r'boundary="?([0-9A-Za-z\'()+_,./:=?-]{1,70})"?(?:;|$)')
_NAME = re.compile(r';\s*name="([^"\r\n]{0,200})"')
_FILE = re.compile(r';\s*filename="([^"\r\n]{0,1000})"')


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a form, in the order in which they came."""

    pairs: Sequence[tuple[str, str]]

    def get(self, name: str, default: str = "") -> str:
        """Return the last value of a field."""
        return next((value for key, value in reversed(self.pairs) if key == name), default)

    def all(self, name: str) -> list[str]:
        """Return all values of a field."""
        return [value for key, value in self.pairs if key == name]

    def numbers(self, name: str) -> list[int]:
        """Return the values of a field that are numbers of rows, each once."""
        found = [whole_number(value) for value in self.all(name)]
        return list(dict.fromkeys(each for each in found if each is not None))


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was sent with a form.

    Attributes:
        name: its name, as the browser says.
        data: its bytes.
    """

    name: str
    data: bytes


def whole_number(text: str | None, digits: int = 18) -> int | None:
    """Return a number in a text; None if there is none, or one with too many digits.

    >>> whole_number("12"), whole_number("-1"), whole_number("٣"), whole_number("9" * 19)
    (12, None, None, None)
    """
    if text is None or not (text.isascii() and text.isdecimal() and len(text) <= digits):
        return None
    return int(text)


async def read_fields(request: Request, most: int = MOST_FIELDS) -> Fields:
    """Read the fields of a form.

    Raises:
        Problem: the body is not that of a form, or has too many fields.
    """
    if _kind(request) != "application/x-www-form-urlencoded":
        raise Problem(415, "expected the fields of a form")
    body = await request.body()
    try:
        found = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=most)
    except ValueError:
        raise Problem(400, "the fields of the form cannot be read") from None
    return Fields([(name, value.replace("\0", "\ufffd")) for name, value in found])


async def read_upload(request: Request) -> tuple[Fields, Upload | None]:
    """Read a form with a file.

    Raises:
        Problem: the body is not that of such a form.
    """
    if _kind(request) != "multipart/form-data":
        raise Problem(415, "expected a form with a file")
    boundary = _BOUNDARY.search(request.headers.get("content-type", ""))
    if boundary is None:
        raise Problem(400, "the form cannot be read: it does not say where its parts end")
    return split_parts(await request.body(), boundary[1].encode("ascii"))


def split_parts(body: bytes, boundary: bytes) -> tuple[Fields, Upload | None]:
    r"""Return the fields and the file of a form.

    >>> body = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n'
    >>> split_parts(body, b"x")
    (Fields(pairs=[('a', 'b')]), None)

    Raises:
        Problem: the parts cannot be told apart.
    """
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary, MOST_PARTS + 1)
    broken = Problem(400, "the form cannot be read: its parts cannot be told apart")
    if len(pieces) < 3 or not pieces[-1].startswith(b"--"):  # noqa: PLR2004 - before, one, after
        raise broken
    pairs: list[tuple[str, str]] = []
    upload = None
    for piece in pieces[1:-1]:
        head, found, data = piece.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        if not found or len(head) > LONGEST_HEAD:
            raise broken
        about = head.decode("utf-8", "replace")
        name, file = _NAME.search(about), _FILE.search(about)
        if name is None:
            raise broken
        if file is not None:
            upload = Upload(file[1], data) if data or file[1] else upload
        else:
            pairs.append((name[1], data.decode("utf-8", "replace").replace("\0", "\ufffd")))
    return Fields(pairs), upload


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()
