"""``quire diff`` of two folders, crawls or archives: every page that is new, gone or changed.

``quire.captures.compare`` pairs and compares the pages one by one; this module prints each, or
writes its redline, before the next one is read.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from quire.cli.common import files, terminal
from quire.cli.common.crawls import nothing_read
from quire.cli.common.options import Format
from quire.cli.common.terminal import Refusal
from quire.cli.page.diff_options import View
from quire.display import format_count, is_web_address, shorten
from quire.sources.places import is_address, is_archive, is_parquet
from quire.sources.wacz import is_wacz

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from quire.captures.compare import ComparedPage, Comparison
    from quire.cli.page.diff import Presented
    from quire.sdiff import Annotation
    from quire.sources import Trouble

SCHEMA = "quire-comparison/1"
SIGNS = {"new": "+", "gone": "-", "changed": "~", "unreadable": "!", "same": " "}
STYLES = {"new": "green", "gone": "red", "changed": "", "unreadable": "yellow", "same": ""}

_MOST_NAME = 70
_MOST_TROUBLES = 20
_MOST_SLUG = 60
_NO_SLUG = re.compile(r"[^A-Za-z0-9.]+")


def is_source(name: str) -> bool:
    """Tell whether an argument has many pages: a folder, a crawl or an archive."""
    return Path(name).is_dir() or is_archive(name) or is_parquet(name) or is_wacz(name)


def compare_sources(
    old: str, new: str, how: Presented, show: Callable[[Annotation], None], *, quiet: bool
) -> bool:
    """Print or write what changed between two sources, and tell whether anything did.

    Args:
        old: the old source.
        new: the new source.
        how: the options of the command.
        show: prints the changes of one page.
        quiet: print nothing.

    Raises:
        Refusal: only one of them has many pages, or an option does not go with them.
        SourceNotFound: there is nothing to read in one of them.
    """
    folder = _checked(old, new, how)
    work = _Work(old, new, how, folder, show, is_quiet=quiet)
    comparison = work.run()
    if not comparison.pages:
        raise nothing_read(comparison.troubles, len(comparison.troubles))
    if quiet:
        return bool(comparison)
    if how.format is Format.json:
        terminal.write_json(_as_json(comparison, work.written))
    else:
        _print_counts(comparison)
    for trouble in comparison.troubles[:_MOST_TROUBLES]:
        terminal.note(f"{trouble.name}: {trouble.reason}")
    if len(comparison.troubles) > _MOST_TROUBLES:
        more = len(comparison.troubles) - _MOST_TROUBLES
        terminal.note(f"{more:,} more could not be read; --format json lists all")
    if folder is not None:
        work.write_index(comparison)
        terminal.note(f"{folder / 'index.html'}: open it in a browser")
    return bool(comparison)


def _checked(old: str, new: str, how: Presented) -> Path | None:
    """Check the sources and the options, and return the folder to write to, if there is one."""
    for one, other in ((old, new), (new, old)):
        if not Path(one).exists() and not is_address(one):
            raise Refusal(f"{one}: no such file or folder", hint="check the name")
        if not is_source(one):
            raise Refusal(
                f"{one}: a page, and {other} holds many pages",
                hint="give two pages, or two folders, crawls or archives",
            )
    if how.output is None:
        if how.view is View.redline:
            raise Refusal("redlines of many pages need a folder", hint="use -o DIR")
        return None
    folder = files.output_folder(how.output, [old, new])
    if folder.exists() and not how.force:
        raise Refusal(f"{folder}: already exists", hint="use --force, or choose another folder")
    return folder


class _Work:
    """Pages of two sources, printed or written one by one as they are compared."""

    def __init__(
        self,
        old: str,
        new: str,
        how: Presented,
        folder: Path | None,
        show: Callable[[Annotation], None],
        *,
        is_quiet: bool,
    ) -> None:
        self._old, self._new, self._how, self._folder = old, new, how, folder
        self._show_changes = show
        self._prints = not is_quiet and how.format is Format.text
        self._said: dict[str, str] = {}
        self.written: dict[str, str] = {}

    def run(self) -> Comparison:
        """Compare all pages."""
        from quire.captures.compare import Comparison, compare_each  # noqa: PLC0415 - heavy

        troubles: list[Trouble] = []
        pages: list[ComparedPage] = []
        for page, annotation in compare_each(
            self._old,
            self._new,
            rules=self._how.rules,
            facets=self._how.facets,
            granularity=self._how.granularity.value,
            on_trouble=troubles.append,
        ):
            pages.append(page)
            self._show(page, annotation)
        return Comparison(tuple(pages), tuple(troubles))

    def _show(self, page: ComparedPage, annotation: Annotation | None) -> None:
        if page.status == "same":
            return
        said = self._said[page.address] = _said(page)
        if self._folder is not None and annotation is not None:
            self._write(page, annotation)
        if not self._prints:
            return
        name = shorten(page.address, _MOST_NAME)
        line = f"{SIGNS[page.status]} {terminal.printable(name)}"
        terminal.print_styled(f"{line}: {said}" if said else line, STYLES[page.status])
        if self._how.view in {None, View.summary, View.redline} or annotation is None:
            return
        self._show_changes(annotation)
        terminal.write_text("\n")

    def _write(self, page: ComparedPage, annotation: Annotation) -> None:
        from quire.reports import redline  # noqa: PLC0415 - heavy

        base = self._how.base or (page.address if is_web_address(page.address) else None)
        drawn = redline(annotation, base=base, images=self._how.images)
        slug = _NO_SLUG.sub("-", page.address.removesuffix(".html"))[-_MOST_SLUG:].strip("-.")
        name = f"{len(self.written) + 1:04}-{slug or 'page'}.html"
        self.written[page.address] = name
        if self._folder is not None:
            data = drawn.encode("utf-8", "replace")
            files.write_whole(self._folder / name, data, force=self._how.force)

    def write_index(self, comparison: Comparison) -> None:
        """Write the table of all pages, with links to their redlines."""
        from quire.reports.changes.comparison import comparison_index  # noqa: PLC0415 - heavy

        title = f"{self._old} and {self._new}"
        drawn = comparison_index(comparison, self._said, self.written, title=title)
        if self._folder is not None:
            data = drawn.encode("utf-8", "replace")
            files.write_whole(self._folder / "index.html", data, force=self._how.force)


def _said(page: ComparedPage) -> str:
    """Say in one line what happened to a page, if its status does not."""
    from quire.cli.page.draw_changes import summary_line  # noqa: PLC0415 - heavy

    if page.unseen:
        return f"no visible change ({', '.join(page.unseen)})"
    if page.summary is not None:
        return summary_line(page.summary)
    return page.reason


def _print_counts(comparison: Comparison) -> None:
    counts = comparison.counts()
    parts = [
        f"{counts.get(status, 0):,} {status}"
        for status in ("changed", "new", "gone", "same", "unreadable")
        if counts.get(status) or status != "unreadable"
    ]
    pages = format_count(len(comparison.pages), "page")
    terminal.print_styled(f"{pages}: {', '.join(parts)}", "bold")


def _as_json(comparison: Comparison, written: dict[str, str]) -> dict[str, object]:
    pages: Sequence[dict[str, object]] = [
        {**asdict(page), "redline": written.get(page.address)} for page in comparison.pages
    ]
    return {
        "schema": SCHEMA,
        "changed": bool(comparison),
        "counts": comparison.counts(),
        "pages": pages,
        "troubles": [asdict(trouble) for trouble in comparison.troubles],
    }
