"""What people gave to compare: an address, a file or a text for each of two pages."""

from __future__ import annotations

from dataclasses import dataclass

from quire.digest import encode
from quire.digest.files import PageKind
from quire.digest.page import Digest
from quire.display import format_bytes
from quire.errors import FetchFailed, QuireError
from quire.web.fetching import FetchPage
from quire.web.pages.forms import Fields, Upload

#: Bytes of one page.
MOST_PAGE = 5_000_000
LONGEST_ADDRESS = 4_000


class GivenError(Exception):
    """A page or a file cannot be compared.

    Attributes:
        side: ``old`` or ``new``.
    """

    def __init__(self, message: str, side: str) -> None:
        self.side: str = side
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Given:
    """One side of a comparison, before it is read.

    Attributes:
        side: ``old`` or ``new``.
        address: an address to fetch; empty if there is none.
        text: a text; empty if there is none.
        file: a file; None if there is none.
    """

    side: str
    address: str
    text: str
    file: Upload | None


@dataclass(frozen=True, slots=True)
class GivenPage:
    """A page to compare.

    Attributes:
        name: what to call it.
        url: its address; empty if it has none.
        digest: the page.
        size: its size in bytes.
    """

    name: str
    url: str
    digest: Digest
    size: int


def read_given(posted: Fields, side: str) -> Given:
    """Find the address, file or text of one side.

    Raises:
        GivenError: nothing was given, or more than one thing.
    """
    found = Given(
        side,
        posted.text(f"{side}-address"),
        posted.get(f"{side}-text", ""),
        posted.files.get(f"{side}-file"),
    )
    count = sum([bool(found.address), bool(found.text.strip()), found.file is not None])
    if count != 1:
        what = "nothing was given" if count == 0 else "more than one thing was given"
        raise GivenError(f"{what}; expected an address, a file or a text", side)
    if len(found.address) > LONGEST_ADDRESS:
        raise GivenError(
            f"the address has {len(found.address):,} characters; expected at most "
            f"{LONGEST_ADDRESS:,}",
            side,
        )
    return found


async def fetch_given(given: Given, fetch: FetchPage | None) -> tuple[bytes, str, str]:
    """Return the bytes of a side, its content type, and its address; fetch it if it has one.

    Args:
        given: the side.
        fetch: fetches a page; None if this service fetches none.

    Raises:
        GivenError: it cannot be fetched.
    """
    if given.file is not None:
        return given.file.data, "", ""
    if not given.address:
        return given.text.encode("utf-8", "replace"), "text/html; charset=utf-8", ""
    if fetch is None:
        raise GivenError("this service fetches no pages; give a file or a text", given.side)
    try:
        response = await fetch(given.address)
    except FetchFailed as error:
        raise GivenError(str(error), given.side) from None
    return response.body, response.header("content-type") or "", response.url


def read_page(given: Given, data: bytes, content_type: str, url: str) -> GivenPage:
    """Read a page.

    Raises:
        GivenError: it is too long, or cannot be read.
    """
    if len(data) > MOST_PAGE:
        raise GivenError(
            f"the page has {format_bytes(len(data))}; expected at most {format_bytes(MOST_PAGE)}",
            given.side,
        )
    name = url or (given.file.name if given.file is not None else "pasted text")
    is_text = not url and given.file is None
    kind: PageKind | None = "html" if is_text and "<" in given.text else "text" if is_text else None
    try:
        digest = encode(data, kind=kind, content_type=content_type or None, recover=True)
    except QuireError as error:
        raise GivenError(str(error), given.side) from None
    return GivenPage(name[:500], url, digest, len(data))
