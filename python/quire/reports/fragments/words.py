"""Words of the report: names of pages, lengths of time and numbers, as safe markup."""

from __future__ import annotations

from quire.display import common_folder, escape, format_duration, is_web_address, printable, shorten
from quire.fragments.site.collection import Collection
from quire.reports.names import link

_MOST_SEEN = 60
_MOST_TITLE = 300
_THOUSAND = 1000


class PageNames:
    """The names of a site's pages, as safe markup.

    Attributes:
        folder: the common beginning of all names that are not addresses; it is left out of them.
    """

    def __init__(self, site: Collection) -> None:
        self._pages = site.pages
        self.folder: str = common_folder(
            page.url for page in site.pages if not is_web_address(page.url)
        )

    def page(self, page: int, most: int = _MOST_SEEN) -> str:
        """Name a page: its address as a link if it has one, else its name."""
        one = self._pages[page]
        if is_web_address(one.url):
            return link(one.url, title=shorten(one.name, _MOST_TITLE), most=most)
        return self.named(one.url.removeprefix(self.folder) or one.url, most)

    def label(self, page: int, most: int) -> str:
        """Name a page without a link, as safe text."""
        url = self._pages[page].url
        return escape(printable(shorten(url.removeprefix(self.folder) or url, most)))

    def named(self, name: str, most: int = _MOST_SEEN) -> str:
        """Name something else."""
        title = escape(printable(shorten(name, _MOST_TITLE)))
        return f'<bdi title="{title}">{escape(printable(shorten(name, most)))}</bdi>'


def maybe_seconds(seconds: float | None) -> str:
    """Return a length of time, or a dash if it is not known."""
    return "–" if seconds is None else format_duration(seconds)


def maybe_number(number: float | None) -> str:
    """Return a number, or a dash.

    >>> maybe_number(None), maybe_number(1234), maybe_number(0.1234)
    ('–', '1,234', '0.123')
    """
    if number is None:
        return "–"
    whole = isinstance(number, int) or number >= _THOUSAND
    return f"{number:,.0f}" if whole else f"{number:,.3g}"
