"""Names: how pages are called in the report.

A page has a name (a path, a place in a WARC file) and often an address. Both are other people's words: they are cut in the
middle, made visible and escaped here and nowhere else, and only an address of the web becomes a link.
"""

from __future__ import annotations

from quire.display import common_folder, escape, is_web_address, printable, shorten
from quire.similar.crawl.templates import CrawlTemplates

# Of a name, on the page and where it is pointed at.
_MOST_SEEN = 90
_MOST_TITLE = 1000
# A longer address is no link: no server takes it.
_MOST_ADDRESS = 4000


class Names:
    """The names of a crawl's pages, as safe markup.

    Attributes:
        folder: what all names begin with; it is left out of them.
    """

    def __init__(self, crawl: CrawlTemplates) -> None:
        self._pages = crawl.pages
        # Both are in order: first and last begin as all do.
        names = [trouble.name for trouble in crawl.troubles[:: max(1, len(crawl.troubles) - 1)]]
        if len(crawl.pages):
            names += [crawl.name(0), crawl.name(len(crawl.pages) - 1)]
        self.folder: str = common_folder(names)

    def page(self, page: int, most: int = _MOST_SEEN) -> str:
        """Name a page in at most so many letters: its address as a link where it has one, else its name."""
        name = str(self._pages["name"][page].as_py())
        address = str(self._pages["url"][page].as_py() or "")
        if is_web_address(address):
            return link(address, title=name, most=most)
        return self.named(name, most)

    def named(self, name: str, most: int = _MOST_SEEN) -> str:
        """Name what has no number: a trouble."""
        return _text(name.removeprefix(self.folder) or name, title=name, most=most)


def link(address: str, *, title: str, most: int = _MOST_SEEN) -> str:
    """Give a link to an address of the web; text alone where it is too long to be one.

    >>> link("https://a.example/?a=1&b=2", title="crawl.warc#0")
    '<a href="https://a.example/?a=1&amp;b=2" rel="noreferrer noopener" title="crawl.warc#0"><bdi>https://a.example/?a=1&amp;b=2</bdi></a>'
    """
    if len(address) > _MOST_ADDRESS:
        return _text(address, title=title, most=most)
    return (
        f'<a href="{escape(address)}" rel="noreferrer noopener" title="{_title(title)}">'
        f"<bdi>{_seen(address, most)}</bdi></a>"
    )


def words(text: str, most: int = _MOST_SEEN) -> str:
    r"""Give text of a page as safe markup, on one line and cut at its end.

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
