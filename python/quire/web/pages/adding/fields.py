"""Fields of forms that browsers send."""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.requests import Request

from quire.web.answers import Problem

MOST_FIELDS = 200


class Fields:
    """The fields of a form; the last value of a name counts, unless all are asked for.

    >>> fields = Fields({"url": [" https://example.org/ "], "tell": ["a", "b"]})
    >>> fields.text("url"), fields.all("tell"), fields.text("name")
    ('https://example.org/', ['a', 'b'], '')
    """

    def __init__(self, values: dict[str, list[str]]) -> None:
        self._values = values

    def text(self, name: str) -> str:
        """Return a field without white space around it; empty if it is not there."""
        return self._values.get(name, [""])[-1].strip()

    def all(self, name: str) -> list[str]:
        """Return all values of a field."""
        return self._values.get(name, [])

    def __contains__(self, name: str) -> bool:
        return name in self._values


async def read_fields(request: Request) -> Fields:
    """Read the fields of a form.

    Raises:
        Problem: the body is not that of a form.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Problem(415, "expected the fields of a form")
    body = await request.body()
    try:
        found = parse_qs(
            body.decode("ascii"),
            keep_blank_values=True,
            max_num_fields=MOST_FIELDS,
            errors="strict",
        )
    except ValueError:
        raise Problem(400, "the fields of the form cannot be read") from None
    if any("\0" in value for values in found.values() for value in values):
        raise Problem(422, "expected a text without NUL characters")
    return Fields(found)
