"""Fields of forms, as browsers send them, with limits on their number and length."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from starlette.requests import Request

from quire.web.answers import Problem

#: Fields of a form.
MOST_FIELDS = 40
#: Bytes of the headers of a field in a form with files.
LONGEST_HEAD = 4_000

_BOUNDARY = re.compile(r'boundary="?([0-9A-Za-z\'()+_,./:=?-]{1,70})"?(?:;|$)')
_NAME = re.compile(r';\s*name="([^"\r\n]{0,200})"')
_FILE = re.compile(r';\s*filename="([^"\r\n]{0,1000})"')


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was sent with a form.

    Attributes:
        name: its name, as the browser says; never a path of ours.
        data: its bytes.
    """

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a form.

    Attributes:
        pairs: names and texts, in the order in which they came.
        files: files by the name of their field; fields without a file are left out.
    """

    pairs: Sequence[tuple[str, str]]
    files: Mapping[str, Upload] = field(default_factory=dict)

    def __contains__(self, name: object) -> bool:
        return any(key == name for key, _ in self.pairs)

    def get(self, name: str, default: str = "") -> str:
        """Return the last value of a field."""
        return next((value for key, value in reversed(self.pairs) if key == name), default)

    def text(self, name: str) -> str:
        """Return the last value of a field without white space around it; empty if there is none."""
        return self.get(name).strip()

    def all(self, name: str) -> list[str]:
        """Return all values of a field."""
        return [value for key, value in self.pairs if key == name]

    def numbers(self, name: str) -> list[int]:
        """Return the values of a field that are numbers of rows, each once."""
        found = [whole_number(value) for value in self.all(name)]
        return list(dict.fromkeys(each for each in found if each is not None))


def whole_number(text: str | None, digits: int = 18) -> int | None:
    """Return a number in a text; None if there is none, or one with too many digits.

    >>> whole_number("12"), whole_number("-1"), whole_number("٣"), whole_number("9" * 19)
    (12, None, None, None)
    """
    if text is None or not (text.isascii() and text.isdecimal() and len(text) <= digits):
        return None
    return int(text)


async def read_fields(request: Request, most: int = MOST_FIELDS) -> Fields:
    """Read the fields of a form, with or without files.

    Raises:
        Problem: the body is not that of a form, or has too many fields.
    """
    header = request.headers.get("content-type", "")
    kind = header.partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        boundary = _BOUNDARY.search(header)
        if boundary is None:
            raise Problem(415, "the form cannot be read: it does not say where its parts end")
        return split_parts(await request.body(), boundary[1].encode("ascii"), most)
    if kind != "application/x-www-form-urlencoded":
        raise Problem(415, "expected the fields of a form")
    body = await request.body()
    try:
        found = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=most)
    except ValueError:
        raise Problem(400, "the fields of the form cannot be read") from None
    return Fields([(name, _clean(value)) for name, value in found])


def split_parts(body: bytes, boundary: bytes, most: int = MOST_FIELDS) -> Fields:
    r"""Return the fields of a form with files.

    >>> body = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n'
    >>> split_parts(body, b"x").pairs
    [('a', 'b')]

    Raises:
        Problem: the parts cannot be told apart.
    """
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary, most + 1)
    broken = Problem(400, "the form cannot be read: its parts cannot be told apart")
    if len(pieces) < 3 or not pieces[-1].startswith(b"--"):  # noqa: PLR2004 - before, one, after
        raise broken
    pairs: list[tuple[str, str]] = []
    files: dict[str, Upload] = {}
    for piece in pieces[1:-1]:
        head, found, data = piece.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        if not found or len(head) > LONGEST_HEAD:
            raise broken
        about = head.decode("utf-8", "replace")
        name, file = _NAME.search(about), _FILE.search(about)
        if name is None:
            raise broken
        if file is None:
            pairs.append((name[1], _clean(data.decode("utf-8", "replace"))))
        elif data or file[1]:
            files[name[1]] = Upload(file[1], data)
    return Fields(pairs, files)


def _clean(text: str) -> str:
    # Databases refuse NUL characters, and browsers send line ends as two characters.
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").replace("\r\n", "\n")
