"""Addresses for files: pages saved in a folder get the addresses they had on the web.

A file ``site/news/a.html`` of the source ``site`` becomes ``https://example.org/news/a.html``. With
times in file names, a folder is a page, and each file in it a version.

>>> from quire.sources import Capture
>>> named = FileNames(("site",), prefix="https://example.org/")
>>> named(Capture("site/news/a b.html", "site/news/a b.html", None, b"", b"<p>")).url
'https://example.org/news/a%20b.html'
>>> named = FileNames(("site",), prefix="https://example.org/", by_folder=True)
>>> page = named(Capture("site/news/2026-05-17.html", "site/news/2026-05-17.html", None, b"", b""))
>>> page.url, page.time.day
('https://example.org/news', 17)
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from urllib.parse import quote

from quire.captures.file_times import as_version
from quire.sources import Capture

# Crawlers save a query as part of the file name. Anything else that has a meaning in an address
# is escaped.
_SAFE = "/?=&;:@+$,~!*'()"


@dataclass(frozen=True, slots=True)
class FileNames:
    """Gives files their addresses; can be sent to other processes.

    Attributes:
        sources: Sources as the user named them; addresses are relative to the folders among them.
        prefix: Start of the addresses; empty to keep the names of the files.
        by_folder: Whether a file with a time in its name is a version of its folder.
    """

    sources: tuple[str, ...]
    prefix: str = ""
    by_folder: bool = False

    def __call__(self, capture: Capture) -> Capture:
        """Return the page of a file under its address; captures from crawls stay as they are."""
        if capture.time is not None or capture.url != capture.name:
            return capture
        found = as_version(capture) if self.by_folder else capture
        return replace(found, url=self._address(found.url)) if self.prefix else found

    def _address(self, path: str) -> str:
        return self.prefix + quote(os.fsencode(self._below(path).replace(os.sep, "/")), safe=_SAFE)

    def _below(self, path: str) -> str:
        """Return a path relative to the source that it is in, or the name of a single file."""
        here = os.path.normpath(path)
        for source in self.sources:
            folder = os.path.normpath(source)
            if here == folder:
                # The file itself is the source, or a folder that stands for a page.
                return "" if self.by_folder else os.path.basename(here)  # noqa: PTH119 - any name
            if folder == os.curdir and not os.path.isabs(here):  # noqa: PTH117 - same
                return here
            if here.startswith(os.path.join(folder, "")):  # noqa: PTH118 - same
                return os.path.relpath(here, folder)
        return os.path.basename(here)  # noqa: PTH119 - same
