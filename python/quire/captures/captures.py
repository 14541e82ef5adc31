"""``Captures``: every version of every page in some sources, and the user who got it.

It yields ``Seen``, which ``quire.fragments.site.collection.Collection`` takes. What could not be
read, and what looked odd on the way, is counted; nothing is printed.

Two choices to know before changing this file:

* A capture with a time is a version of its address. A capture without one is a page of its own,
  called by its name.
* Values of cookies and of query parameters can be secrets. They are in ``Seen.reader`` to tell
  users apart, and are taken out of names and addresses.
"""

from __future__ import annotations

import dataclasses
import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from urllib.parse import quote

from quire.archive import is_archive
from quire.captures.file_times import as_version, time_in
from quire.captures.places import find
from quire.captures.reading import read_path
from quire.captures.stored_pages import read_archive
from quire.captures.variants import Variants, without_query
from quire.display import is_web_address
from quire.errors import VariantError
from quire.fragments.site.collection import Seen
from quire.progress import Progress, no_progress
from quire.sources import MOST_BYTES, Capture, Trouble
from quire.sources.places import is_archive as is_warc
from quire.sources.readers import cookies_sent


class Captures:
    """The captures in some sources: all versions, for all users. Iterate once.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from quire.fragments.site.collection import Collection
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for day in (1, 2):
    ...         _ = Path(folder, f"2026-05-0{day}.html").write_text(f"<p>{day} mm of rain")
    ...     captures = Captures([folder], by_folder=True)
    ...     with Collection(captures) as site:
    ...         [len(page.versions) for page in site.pages], captures.count, captures.troubles
    ([2], 2, [])

    Attributes:
        troubles: what could not be read.
        count: captures that were yielded.
        files: plain files that were read as pages of their own.
        timed_files: those of them that have a time in their name: ``by_folder`` would take them
            for versions of a page.
        unmatched: captures of other users that were left out, since the first user does not have
            the page.
        with_cookie: captures whose requests sent one of the cookies of ``variants``.
    """

    def __init__(
        self,
        sources: Sequence[str],
        *,
        by_folder: bool = False,
        variants: Variants | None = None,
        url: str | None = None,
        most_bytes: int = MOST_BYTES,
        progress: Progress = no_progress,
    ) -> None:
        """Find what the sources lead to. Nothing is read yet.

        Args:
            sources: sources; ``quire.captures.find`` says which there are.
            by_folder: a file with a time in its name is a version of the page that its folder is.
            variants: what tells users apart.
            url: only captures of this address, or of this folder.
            most_bytes: a longer page is a ``Trouble``.
            progress: called after every file, with the step ``files``.

        Raises:
            SourceNotFound: a source does not exist, or there is nothing to read in it.
            VariantError: users cannot be told apart as asked.
        """
        self._variants = variants or Variants()
        self._check_sources(sources)
        users = [("", source) for source in sources]
        users += [(source, source) for source in self._variants.sources]
        self._places = [(user, source, path) for user, source in users for path in find([source])]
        self._check_cookies()
        self._by_folder, self._url = by_folder, url
        self._most_bytes, self._progress = most_bytes, progress
        self._known: set[str] = set()
        self.troubles: list[Trouble] = []
        self.count: int = 0
        self.files: int = 0
        self.timed_files: int = 0
        self.unmatched: int = 0
        self.with_cookie: int = 0

    def __iter__(self) -> Iterator[Seen]:
        """Read them, source by source."""
        for done, (user, source, path) in enumerate(self._places, start=1):
            cookies = self._cookies(path)
            for capture in self._read(path):
                found = self._seen(capture, user, source, cookies.get(capture.name, ""))
                if found is not None and self._url in {None, found.capture.url}:
                    self.count += 1
                    yield found
            self._progress("files", done, len(self._places))

    def _check_sources(self, sources: Sequence[str]) -> None:
        if self._variants.sources and len(sources) > 1:
            raise VariantError(
                f"{len(sources)} sources; expected one, as each source of variants is one user's",
                problem="several-sources",
                source=self._variants.sources[0],
            )
        known = {os.path.realpath(source) for source in sources}
        for source in self._variants.sources:
            if os.path.realpath(source) in known:
                raise VariantError(
                    f"{source}: named twice; expected a source for each user",
                    problem="same-source",
                    source=source,
                )
            known.add(os.path.realpath(source))

    def _check_cookies(self) -> None:
        for _, _, path in self._places if self._variants.cookies else ():
            if is_archive(path) or not is_warc(path):
                raise VariantError(
                    f"{path}: no requests in it, so no cookies; expected WARC files",
                    problem="no-requests",
                    source=path,
                )

    def _cookies(self, path: str) -> dict[str, str]:
        if not self._variants.cookies:
            return {}
        return cookies_sent(path, self._variants.cookies, most_bytes=self._most_bytes)

    def _read(self, path: str) -> Iterator[Capture]:
        for found in self._found(path):
            if not isinstance(found, Capture):
                self.troubles.append(found)
            elif found.time is not None:
                yield found
            elif self._by_folder:
                yield as_version(found)
            else:
                self.files += 1
                self.timed_files += time_in(PurePath(found.name).name) is not None
                yield found

    def _found(self, path: str) -> Iterator[Capture | Trouble]:
        if not is_archive(path):
            return read_path(path, most_bytes=self._most_bytes)
        # Addresses in the archive have the parameters that ``url`` does not have.
        url = None if self._variants.queries else self._url
        return read_archive(path, url=url, most_bytes=self._most_bytes)

    def _seen(self, capture: Capture, user: str, source: str, cookie: str) -> Seen | None:
        """Say whose a capture is, and of which page; None if the first user lacks the page."""
        url, query = without_query(capture.url, self._variants.queries)
        # Names of captures in archives have their addresses in them, and so what tells users apart.
        name = capture.name.replace(capture.url, url, 1) if url != capture.url else capture.name
        found = dataclasses.replace(capture, name=name, url=url)
        page = url if capture.time is not None else capture.name
        if self._variants.sources and not is_web_address(page):
            page = os.path.relpath(page, source)
        if not user:
            self._known.add(page)
        elif page not in self._known:
            self.unmatched += 1
            return None
        self.with_cookie += bool(cookie)
        reader = " ".join(part for part in (user, query, cookie) if part)
        return Seen(found, page, reader, _server_path(capture, source))


def _server_path(capture: Capture, source: str) -> str:
    """Return the path that a file, or the folder of its versions, is served under; or nothing."""
    if is_web_address(capture.url):
        return ""
    if capture.url == capture.name:
        return _path_below(capture.url, source) or "/" + quote(PurePath(capture.url).name)
    is_folder = capture.url == str(PurePath(capture.name).parent)
    return _path_below(capture.url, source) or "/" if is_folder else ""


def _path_below(path: str, source: str) -> str:
    """Return the path of a file below a source as a path on a server; nothing for the source.

    >>> _path_below("site/a%.html", "site"), _path_below("site/b/a?.html", "site/*/*.html")
    ('/a%25.html', '/b/a%3F.html')
    >>> _path_below("site", "site/")
    ''
    """
    parts = PurePath(source).parts
    fixed = next((at for at, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    below = os.path.relpath(path, PurePath(*parts[:fixed]))
    if below == ".":
        return ""
    inside = [part for part in PurePath(below).parts if part != os.pardir]
    return "/" + quote(os.fsencode("/".join(inside)), safe="/!$&'()*+,;=:@~")
