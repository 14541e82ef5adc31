"""The pages that ``quire records`` reads: one page, or all pages of a folder, crawl or archive."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from quire.cli.common import fetched, terminal
from quire.cli.common.crawls import find_sources
from quire.cli.common.files import STANDARD_INPUT
from quire.cli.common.open_page import EXPECTED, PageReader, open_page
from quire.display import is_web_address

if TYPE_CHECKING:
    from quire.digest import Digest

_CRAWLS = (".warc", ".warc.gz", ".arc", ".arc.gz", ".wacz", ".parquet")


def is_one_page(name: str) -> bool:
    """Tell whether an argument is a single page, and not a folder, crawl or archive.

    >>> is_one_page("page.html"), is_one_page("crawl.warc.gz"), is_one_page(".")
    (True, False, False)
    """
    if name == STANDARD_INPUT or fetched.is_web_page(name):
        return True
    return not Path(name).is_dir() and not name.lower().endswith(_CRAWLS)


def read_pages(names: Sequence[str], read: PageReader) -> Iterator[tuple[str, str | None, Digest]]:
    """Yield every page with its name and its address, if that is known; note those that fail.

    Raises:
        Refusal: a single page cannot be read.
        SourceNotFound: a source does not exist, or there is nothing to read in it.
    """
    for name in names:
        if is_one_page(name):
            yield name, name if fetched.is_web_page(name) else None, open_page(name, read)
        else:
            yield from _captures(name, read)


def _captures(name: str, read: PageReader) -> Iterator[tuple[str, str | None, Digest]]:
    from quire.captures import read_newest  # noqa: PLC0415 - heavy
    from quire.sources import Capture  # noqa: PLC0415 - heavy

    for path in find_sources([name]):
        for found in read_newest(path):
            if not isinstance(found, Capture):
                terminal.note(f"{found.name}: {found.reason}")
                continue
            page = None
            try:
                page = read(found.body, content_type=found.content_type)
            except EXPECTED as error:
                terminal.note(f"{found.name}: {error}")
            if page is not None:
                url = found.url if is_web_address(found.url) else None
                yield found.name, url, page


@contextlib.contextmanager
def naming(name: str) -> Iterator[None]:
    """Put the name of a page in front of the message of an extractor."""
    from quire.errors import TemplateDrift  # noqa: PLC0415 - light, but late like its users

    try:
        yield
    except TemplateDrift as error:
        raise TemplateDrift(f"{name}: {error}", missing=error.missing) from error
