"""Continued parts: where the files of an earlier composition are in the newest versions of pages.

quire composes each page as it was and compares it with its newest version. The element that was cut
out there, or its partner if the page changed, is the same part now. So a plan that follows another
keeps its cuts, and each part keeps the name of its file, wherever on the page it is.

Cost: one comparison for each page that changed.
"""

from __future__ import annotations

from pathlib import Path

from quire.digest import encode
from quire.digest.page import Digest
from quire.digest.source_spans import source_spans
from quire.errors import QuireError
from quire.fragments.caching.plan import Continued
from quire.fragments.cuts.candidates import Span
from quire.fragments.cuts.includes import include_pattern
from quire.fragments.esi.addresses import places_of
from quire.fragments.esi.compose import Composer, folder_reader
from quire.fragments.esi.manifest import ComposedPage, Manifest, page_key
from quire.fragments.site.collection import Collection
from quire.progress import Progress, no_progress
from quire.sdiff.annotation import annotate

# A file may have been edited since: a page may be this much longer than its manifest says.
_MOST_LONGER = 1 << 20


def continued_parts(folder: Path, site: Collection, progress: Progress = no_progress) -> Continued:
    """Find the parts of an earlier composition in the newest versions of pages.

    Args:
        folder: the earlier composition.
        site: the pages.
        progress: called with the step, the amount done and the total.

    Returns:
        The names of their files, by the place of the page and by their places in it.

    Raises:
        PlanError: the folder is not a composition, or its manifest is damaged.
        CompositionError: a file of it is missing or cannot be read.
    """
    earlier = _Earlier(folder)
    known = earlier.manifest.pages_by_key()
    found = {}
    for place, (page, where) in enumerate(zip(site.pages, places_of(site.pages), strict=True)):
        before = known.get(page_key(where.address, page.name))
        if before is not None and before.folder == "templates":
            old, parts = earlier.composed(before)
            if old != site.body(page.body):
                parts = _followed(old, before, parts, site.digest(page.versions[-1]))
            found[place] = parts
        progress("continue", place + 1, len(site.pages))
    return found


class _Earlier:
    """An earlier composition."""

    def __init__(self, folder: Path) -> None:
        self.manifest = Manifest.load(folder)
        self._read = folder_reader(folder)
        self._composer = Composer(self._read, prefix=self.manifest.prefix)
        self._pattern = include_pattern(self.manifest.prefix)

    def composed(self, page: ComposedPage) -> tuple[bytes, dict[Span, str]]:
        """Compose a page; return its bytes, and where each included file is in them."""
        longer = page.includes * self.manifest.include_bytes
        template = self._read(page.folder, page.file, page.length + longer)
        most_bytes, file = page.length + _MOST_LONGER, f"{page.folder}/{page.file}.html"
        # First as a whole, within its bounds: a folder may have been tampered with.
        data = self._composer.page(template, most_bytes=most_bytes, file=file)
        parts: dict[Span, str] = {}
        at = length = 0
        for found in self._pattern.finditer(template):
            start = length + found.start() - at
            length = start + len(self._composer.page(found[0], most_bytes=most_bytes, file=file))
            parts[start, length] = found[2].decode("ascii")
            at = found.end()
        return data, parts


def _followed(
    source: bytes, page: ComposedPage, parts: dict[Span, str], new: Digest
) -> dict[Span, str]:
    """Return the places of parts on the new page; parts that are gone are left out."""
    try:
        old = encode(source, content_type=page.content_type)
    except QuireError:
        return {}
    old_spans, new_spans = source_spans(old), source_spans(new)
    if old_spans is None or new_spans is None:
        return {}
    partner = annotate(old, new).to_new.tolist()
    start, end = new_spans.start.tolist(), new_spans.end.tolist()
    found: dict[Span, str] = {}
    spans = zip(old_spans.start.tolist(), old_spans.end.tolist(), strict=True)
    for node, span in enumerate(spans):
        if span in parts and partner[node] >= 0:
            there = start[partner[node]], end[partner[node]]
            # Of elements with the same bytes, the outermost comes first.
            found.setdefault(there, parts[span])
    return found
