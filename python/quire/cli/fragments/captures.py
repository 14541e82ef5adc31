"""Options about versions and users for ``quire fragments``, and ``quire.captures`` in their words.

``Captures`` is the library's with errors and notes that name the options.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.crawls import check_not_standard_input, nothing_read
from quire.cli.common.terminal import Refusal, printable
from quire.cli.fragments.pages import note_troubles
from quire.display import format_count
from quire.errors import VariantError, VariantProblem
from quire.progress import Progress

if TYPE_CHECKING:
    from quire import captures
    from quire.fragments.site.collection import Seen


ByFolderOption = Annotated[
    bool,
    typer.Option(
        "--by-folder",
        help="Read files with a time in their name (20260517T110233Z.html) as versions of one page: their folder.",
    ),
]
VariantOption = Annotated[
    list[str] | None,
    typer.Option(
        "--variant",
        metavar="SOURCE",
        help="The same pages as another user got them: a folder with the same names, a WARC file or an archive. Repeatable.",
    ),
]
VariantQueryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--variant-query",
        metavar="PARAM",
        help="Treat addresses that differ only in this query parameter as one page for different users. Repeatable.",
    ),
]
VariantCookieOption = Annotated[
    list[str] | None,
    typer.Option(
        "--variant-cookie",
        metavar="NAME",
        help="Tell users apart by this cookie of their requests; needs WARC files with request records. Repeatable.",
    ),
]


@dataclasses.dataclass(frozen=True, slots=True)
class Variants:
    """The variant options, as they were given."""

    sources: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()

    @classmethod
    def told(
        cls, sources: list[str] | None, queries: list[str] | None, cookies: list[str] | None
    ) -> Variants:
        """Take the values of the three options."""
        return cls(tuple(sources or ()), tuple(queries or ()), tuple(cookies or ()))

    @property
    def vary(self) -> tuple[str, ...]:
        """The request header that differs between users."""
        return self.found().vary

    def found(self) -> captures.Variants:
        """Give them as ``quire.captures`` takes them."""
        from quire import captures  # noqa: PLC0415 - heavy

        return captures.Variants(self.sources, self.queries, self.cookies)


class Captures:
    """The captures in some sources, with errors and notes in words of the command line."""

    def __init__(
        self,
        sources: Sequence[str],
        most_bytes: int,
        progress: Progress,
        *,
        by_folder: bool = False,
        variants: Variants | None = None,
        url: str | None = None,
    ) -> None:
        from quire import captures  # noqa: PLC0415 - heavy

        self._variants, self._url = variants or Variants(), url
        check_not_standard_input([*sources, *self._variants.sources])
        try:
            self.found: captures.Captures = captures.Captures(
                sources,
                by_folder=by_folder,
                variants=self._variants.found(),
                url=url,
                most_bytes=most_bytes,
                progress=progress,
            )
        except VariantError as error:
            raise _refusal(error, len(sources)) from None

    def __iter__(self) -> Iterator[Seen]:
        """Read them.

        Raises:
            Refusal: no page could be read.
        """
        yield from self.found
        if not self.found.count and self._url is None:
            raise nothing_read(self.found.troubles, len(self.found.troubles))

    def complain(self) -> None:
        """Name the sources that could not be read, and options that did or would help."""
        found = self.found
        note_troubles(found.troubles)
        # In a few names, a date says what the page is about; in most, when it was captured.
        if found.timed_files > max(1, found.files // 2):
            terminal.note(
                f"{format_count(found.timed_files, 'file')} have times in their names; --by-folder reads those in one folder as versions of one page"
            )
        if found.unmatched:
            terminal.note(
                f"{format_count(found.unmatched, 'page')} of --variant left out: not in the main source"
            )
        if self._variants.cookies and not found.with_cookie:
            names = ", ".join(printable(name) for name in self._variants.cookies)
            terminal.note(f"no request has the cookie {names}: nothing is known to be private")


def _refusal(error: VariantError, count: int) -> Refusal:
    words: dict[VariantProblem, tuple[str, str]] = {
        "several-sources": (
            f"--variant: there are {count} main sources; which one is it a variant of?",
            "name one SOURCE, and one --variant for each other user",
        ),
        "same-source": (
            f"--variant {error.source}: named twice",
            "name a source that was fetched by a different user",
        ),
        "no-requests": (
            f"{error.source}: no requests in it; --variant-cookie reads the requests in WARC files",
            "name the WARC files of the crawl, or give what each user got with --variant",
        ),
    }
    message, hint = words[error.problem]
    return Refusal(message, hint=hint)
