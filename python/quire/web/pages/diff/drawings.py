"""Drawings of pages for frames, kept for a moment: a page and its frames need the same ones.

Drawings are found by the hashes of the two pages and of their style sheets and images, so a client
never gets anything but pages that it may read. Memory is limited in bytes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TypeAlias

from starlette.responses import Response

from quire.digest.page import Digest
from quire.display import is_web_address
from quire.reports.changes.framed import FramedPage, Shown, framed_changes, framed_page
from quire.reports.changes.marks import LOUD, Quiet
from quire.sdiff import annotate
from quire.sentinels.resources import FoundLooks, StoredLooks
from quire.web.api.context import State

#: Bytes of all drawings that are kept.
MOST_BYTES = 32_000_000

#: The policy of a page of strangers: nothing runs or loads, it has no origin, and only our own pages
#: hold it in a frame.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox"
)
HEADERS = {"Content-Security-Policy": POLICY, "X-Frame-Options": "SAMEORIGIN"}

_Key: TypeAlias = tuple[int | str | Quiet, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two versions of a page, or two pages, that are compared.

    Attributes:
        old: the old page.
        new: the new page.
        old_url: the address of the old page; empty if it has none.
        new_url: the address of the new page; empty if it has none.
        looks: the style sheets, images and fonts of both.
        old_looks: those of the old page by itself, if they are others; ``looks`` if None.
        quiet: nodes whose changes are noise.
        hides_noise: show noise as if it had not changed.
    """

    old: Digest
    new: Digest
    old_url: str
    new_url: str
    looks: StoredLooks | FoundLooks
    old_looks: FoundLooks | None = None
    quiet: Quiet = LOUD
    hides_noise: bool = False

    @classmethod
    def of(
        cls,
        app: State,
        old: Digest,
        new: Digest,
        *,
        old_url: str,
        new_url: str,
        quiet: Quiet = LOUD,
        hides_noise: bool = False,
    ) -> Pair:
        """Return a pair with the style sheets and images that are stored by now."""
        looks = StoredLooks([(old, old_url), (new, new_url)], app.resources)
        return cls(old, new, old_url, new_url, looks, quiet=quiet, hides_noise=hides_noise)


class Drawings:
    """Drawings that were made lately.

    Args:
        most_bytes: the most bytes to keep.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._kept: OrderedDict[_Key, FramedPage] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def changes(self, pair: Pair, shown: Shown) -> FramedPage:
        """Draw two versions of a page, or one of them, with the changes marked."""
        old, new = pair.old, pair.new
        base, looks = pair.new_url, pair.looks
        if shown is Shown.OLD:
            base, looks = pair.old_url, pair.old_looks or pair.looks
        pages = (old.signatures.source, old.kind, new.signatures.source, new.kind)
        return self._get(
            (*pages, base, shown.value, looks.key, pair.quiet, pair.hides_noise),
            lambda: framed_changes(
                annotate(old, new),
                base=_base(base),
                shown=shown,
                embedded=looks.load(),
                quiet=pair.quiet,
                hides_noise=pair.hides_noise,
            ),
        )

    def page(
        self, page: Digest, base: str, outlined: dict[int, str], looks: StoredLooks
    ) -> FramedPage:
        """Draw one version of a page, with some elements outlined."""
        return framed_page(page, base=_base(base), outlined=outlined, embedded=looks.load())

    def clear(self) -> None:
        """Forget all drawings."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0

    def _get(self, key: _Key, draw: Callable[[], FramedPage]) -> FramedPage:
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        drawn = draw()
        with self._lock:
            if key not in self._kept:
                self._kept[key] = drawn
                self._bytes += _size(drawn)
            while self._bytes > self._most:
                _, dropped = self._kept.popitem(last=False)
                self._bytes -= _size(dropped)
        return drawn


#: Those of this process.
DRAWINGS = Drawings()


def frame_answer(drawn: FramedPage) -> Response:
    """Return a drawing as the answer to a frame."""
    data = drawn.document.encode("utf-8", "replace")
    return Response(data, media_type="text/html; charset=utf-8", headers=HEADERS)


def _base(url: str) -> str | None:
    return url if is_web_address(url) else None


def _size(drawn: FramedPage) -> int:
    # Texts are one byte for a character, or two; marks take a few hundred bytes each.
    return 2 * len(drawn.document) + 500 * len(drawn.marks)
