"""Corpora as a crawler would have brought them: addresses, times and bytes.

A folder of a template corpus is a site. Of a version history the folder is the address and the name of the file the
time, so that versions of one page are just that to the archive. Helsingborg has the day of the crawl in the path, and one
site twice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath

from benchmarks import corpora
from benchmarks.context import Context
from benchmarks.corpora import Page, html_pages

#: When pages were fetched that do not say when.
_START = datetime(2026, 1, 1, tzinfo=UTC)
_QUICK_PAGES = 60


@dataclass(frozen=True, slots=True)
class Capture:
    """A page that somebody fetched."""

    url: str
    time: datetime
    body: bytes


@dataclass(frozen=True, slots=True)
class Collection:
    """The pages of a corpus, in the order of sites and addresses, versions by time."""

    name: str
    captures: list[Capture]

    @property
    def size(self) -> int:
        """Bytes of the pages."""
        return sum(len(capture.body) for capture in self.captures)

    def words(self) -> str:
        """``name (n pages, m MB)``."""
        return f"{self.name} ({len(self.captures):,} pages, {self.size / 1e6:.1f} MB)"


def collection(name: str, context: Context) -> Collection:
    """Read a corpus; in a quick run some of its pages, evenly spaced."""
    place = _PLACES.get(name, _version if name in corpora.VERSIONS else _page)
    pages = html_pages((name,), context.pick(None, _QUICK_PAGES))
    captures = [_capture(number, page, place) for number, page in enumerate(pages)]
    return Collection(name, captures)


def _capture(
    number: int, page: Page, place: Callable[[Page], tuple[str, datetime | None]]
) -> Capture:
    address, time = place(page)
    return Capture(f"https://{address}", time or _START + timedelta(seconds=number), page.read())


def _page(page: Page) -> tuple[str, datetime | None]:
    return page.name, None


def _version(page: Page) -> tuple[str, datetime | None]:
    """``site/page/20250425T002001Z.html``."""
    path = PurePosixPath(page.name)
    return str(path.parent), datetime.strptime(path.stem, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)


def _crawled(page: Page) -> tuple[str, datetime | None]:
    """``site/2025-10-10/host/path``."""
    _, day, address = page.name.split("/", 2)
    return address, datetime.fromisoformat(day).replace(tzinfo=UTC)


_PLACES = {"templates-helsingborg": _crawled}
