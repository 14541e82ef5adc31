"""Page requests: how often each page of a site was requested, once each or by an access log."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from quire.display import common_folder, is_web_address
from quire.fragments.site.collection import Collection
from quire.sources.access_log import AccessLog, log_address, read_access_log


@dataclass(frozen=True, slots=True)
class PageRequests:
    """How often the pages of a site were requested.

    Attributes:
        log: the access log; None if there is none.
        pages: requests for each page, in the order of the collection; 1 for each without a log.
    """

    log: AccessLog | None
    pages: tuple[int, ...]

    @classmethod
    def once(cls, site: Collection) -> PageRequests:
        """Return one request for each page."""
        return cls(None, (1,) * len(site.pages))

    @classmethod
    def read(cls, site: Collection, path: str | Path) -> PageRequests:
        """Read a log. Pages are found by path and query, or by their name below the common folder.

        Raises:
            OSError: the log cannot be opened or read.
            SourceUnreadable: it is not a log.
        """
        folder = common_folder(page.url for page in site.pages if not is_web_address(page.url))
        addresses = [
            log_address(page.url if is_web_address(page.url) else page.url.removeprefix(folder))
            for page in site.pages
        ]
        found = read_access_log(path, addresses)
        return cls(found, tuple(found.requests.get(address, 0) for address in addresses))
