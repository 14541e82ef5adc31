"""Names of pages and short texts in reports, as safe markup.

A page has a name (a path, a position in a WARC file) and often an address. Both come from
strangers: only this module shortens and escapes them for reports, and only http and https addresses
become links.
"""

from __future__ import annotations

from quire.display import common_folder, escape, is_web_address, printable, shorten
from quire.similar.crawl.templates import CrawlTemplates

# Maximum number of characters of a name: visible, and in the tooltip.
_MOST_SEEN = 90
_MOST_TITLE = 1000
# Longer addresses do not become links: no server accepts them.
_MOST_ADDRESS = 4000


class Names:
    """The names of a crawl's pages, as safe markup.

    Attributes:
        folder: the folder that all names start with; it is not shown in the names.
    """

    def __init__(self, crawl: CrawlTemplates) -> None:
        self._pages = crawl.pages
        # Both are sorted, so the first and the last name have the prefix of all.
        names = [trouble.name for trouble in crawl.troubles[:: max(1, len(crawl.troubles) - 1)]]
        if len(crawl.pages):
            names += [crawl.name(0), crawl.name(len(crawl.pages) - 1)]
        self.folder: str = common_folder(names)

    def page(self, page: int, most: int = _MOST_SEEN) -> str:
        """Return the address of a page as a link, or its name if it has no web address."""
        name = str(self._pages["name"][page].as_py())
        address = str(self._pages["url"][page].as_py() or "")
        if is_web_address(address):
            return link(address, title=name, most=most)
        return self.named(name, most)

    def named(self, name: str, most: int = _MOST_SEEN) -> str:
        """Return a name as safe markup; for sources that could not be read and have no number."""
        return _text(name.removeprefix(self.folder) or name, title=name, most=most)


def link(address: str, *, title: str, most: int = _MOST_SEEN) -> str:
    r"""Return a link to a web address, or only its text if it is too long.

    >>> print(link("https://a.example/?a=1&b=2", title="crawl.warc#0").replace("><", ">\n<"))
    <a href="https://a.example/?a=1&amp;b=2" rel="noreferrer noopener" title="crawl.warc#0">
    <bdi>https://a.example/?a=1&amp;b=2</bdi>
    </a>
    """
    if len(address) > _MOST_ADDRESS:
        return _text(address, title=title, most=most)
    return (
        f'<a href="{escape(address)}" rel="noreferrer noopener" title="{_title(title)}">'
        f"<bdi>{_seen(address, most)}</bdi></a>"
    )


def words(text: str, most: int = _MOST_SEEN) -> str:
    r"""Return text of a page as safe markup, on one line and cut at the end.

    >>> words("  Fish \n & chips", 9)
    'Fish &amp; c…'
    """
    line = " ".join(text[: 8 * most].split())
    return escape(printable(line if len(line) <= most else line[: most - 1] + "…"))


def _text(name: str, *, title: str, most: int) -> str:
    return f'<bdi title="{_title(title)}">{_seen(name, most)}</bdi>'


def _seen(name: str, most: int) -> str:
    return escape(printable(shorten(name, most)))


def _title(name: str) -> str:
    return _seen(name, _MOST_TITLE)
