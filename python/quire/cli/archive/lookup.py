"""``quire archive ls``, ``get``, ``versions`` and ``diff``: look up pages in an archive."""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.archive.options import ArchiveArgument, SinceOption, UntilOption, UrlArgument
from quire.cli.common import files, terminal
from quire.cli.common.archives import opened
from quire.cli.common.files import STANDARD_INPUT
from quire.cli.common.options import ForceOption, Format, FormatOption
from quire.cli.common.terminal import Refusal, printable, reports_errors
from quire.cli.common.times import end_of, start_of
from quire.cli.page.diff import CHANGED, Presented, present, rules_of
from quire.cli.page.diff_options import (
    ContextOption,
    ExceptOption,
    ExitCodeOption,
    FacetName,
    FacetOption,
    OnlyOption,
    RedlineOption,
    View,
    ViewOption,
)
from quire.display import format_bytes, format_time

if TYPE_CHECKING:
    from quire.archive import Archive, StoredPage, Version
    from quire.sdiff import Facet

TimeOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="Newest version fetched at or before this time (default: the newest)."
    ),
]
_MOST_TYPE = 24
_STATUS = re.compile(r"[1-9][0-9xX]{2}")


@reports_errors
def ls(
    *,
    archive: ArchiveArgument,
    prefix: Annotated[
        str, typer.Argument(metavar="PREFIX", help="Only addresses that start with this.")
    ] = "",
    long: Annotated[
        bool,
        typer.Option("-l", "--long", help="Also show the number of versions, times and sizes."),
    ] = False,
    since: SinceOption = None,
    until: UntilOption = None,
    kind: Annotated[
        str,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="Only pages of this content type (text/html, image/*), or WARC records of this "
            "type (response, revisit, request, metadata, ...).",
        ),
    ] = "",
    status: Annotated[
        str,
        typer.Option(metavar="STATUS", help="Only pages with this HTTP status (404, 4xx)."),
    ] = "",
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """List the addresses in an archive.

    \b
    Examples:
      quire archive ls site.quire
      quire archive ls site.quire https://example.org/news/ -l --since 2026-05
      quire archive ls site.quire --type text/html --status 4xx
      quire archive ls site.quire --format json | jq -r '.[].url'

    The long form shows the number of versions, the time and size of the newest one, and the
    space all versions take in the archive.
    """
    is_wanted = _filter(kind, status)
    with opened(archive) as source:
        found: dict[str, list[Version]] = {}
        for page in source.pages(
            prefix,
            since=start_of(since),
            until=end_of(until),
            order="url",
            kind="" if "/" in kind else kind.lower(),
        ):
            if is_wanted(page):
                found.setdefault(page.url, []).append(page)
    if format is Format.json:
        terminal.write_json([_as_json(url, pages) for url, pages in found.items()])
        return
    for url, pages in found.items():
        if long:
            newest = pages[-1]
            stored = sum(page.stored for page in pages)
            terminal.write_text(
                f"{len(pages):>5}  {newest.time.replace(tzinfo=None).isoformat(' ', 'seconds')}  {format_bytes(newest.length):>9}  "
                f"{format_bytes(stored):>9}  "
            )
        terminal.write_text((printable(url) or "(no address)") + "\n")
    if not found:
        terminal.note("no pages" + (" like that" if prefix or kind or status else ""))


def _filter(kind: str, status: str) -> Callable[[Version], bool]:
    """Return a test for pages of a content type and status.

    Raises:
        Refusal: The status is not one.
    """
    if status and not _STATUS.fullmatch(status):
        raise Refusal(f"--status {status}: not an HTTP status", hint="use for example 404 or 4xx")
    digits = re.compile(status.lower().replace("x", "[0-9]"))
    wanted = kind.lower() if "/" in kind else "*"

    def is_wanted(page: Version) -> bool:
        declared = (page.content_type or "").partition(";")[0].strip().lower()
        has_status = not status or digits.fullmatch(str(page.status or "")) is not None
        return has_status and fnmatchcase(declared, wanted)

    return is_wanted


def _as_json(url: str, pages: list[Version]) -> dict[str, object]:
    return {
        "url": url,
        "versions": len(pages),
        "first": format_time(pages[0].time),
        "newest": format_time(pages[-1].time),
        "length": pages[-1].length,
        "stored": sum(page.stored for page in pages),
    }


@reports_errors
def get(
    *,
    archive: ArchiveArgument,
    url: UrlArgument,
    time: TimeOption = None,
    nearest: Annotated[
        bool,
        typer.Option("--nearest", help="Version fetched nearest to --time, before or after it."),
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="OUT", help="File to write (default: standard output)."
        ),
    ] = None,
    headers: Annotated[
        bool, typer.Option("--headers", help="Print HTTP status and headers before the page.")
    ] = False,
    decoded: Annotated[
        bool,
        typer.Option(
            "--decoded", help="Undo chunked transfer and gzip, deflate, Brotli or zstd encoding."
        ),
    ] = False,
    force: ForceOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Get a page back, byte for byte.

    The bytes are exactly the ones the server sent. If they are compressed, use --decoded.

    \b
    Examples:
      quire archive get site.quire https://example.org/ > page.html
      quire archive get site.quire https://example.org/ --time 2026-05-17 -o page.html
      quire archive get site.quire https://example.org/ --headers --decoded | less
      quire archive get site.quire https://example.org/ --format json | jq .status

    The scheme, `www.` and the last slash of URL may be left out. A day given as TIME means the end
    of that day. JSON output has the bytes in base64.
    """
    if nearest and time is None:
        raise Refusal("--nearest needs a time", hint="add --time, for example --time 2026-05-17")
    with opened(archive) as source:
        known = _address(source, url)
        page = source.get(known, start_of(time) if nearest else end_of(time), nearest=nearest)
    body = page.content() if decoded else page.body
    if format is Format.json:
        terminal.write_json(_page_as_json(page, body))
        return
    data = page.head + body if headers else body
    if output is not None and output != STANDARD_INPUT:
        files.write_whole(Path(output), data, force=force)
    elif sys.stdout.isatty():
        text = data.decode("utf-8", "replace")
        terminal.write_text(text if text.endswith("\n") else text + "\n")
    else:
        terminal.write_bytes(data)


def _address(archive: Archive, url: str) -> str:
    """Return the address of the page that the user means, and say if it is spelled differently.

    Raises:
        PageNotFound: The archive does not have this page.
    """
    found = archive.address(url)
    if found != url:
        terminal.note(f"{url} is stored as {found}")
    return found


def _page_as_json(page: StoredPage, body: bytes) -> dict[str, object]:
    return {
        "url": page.url,
        "time": format_time(page.time),
        "status": page.status,
        "content_type": page.content_type,
        "head": page.head.decode("latin-1"),
        "length": len(body),
        "body_base64": base64.b64encode(body).decode(),
    }


@reports_errors
def versions(
    *,
    archive: ArchiveArgument,
    url: UrlArgument,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """List the versions of a page, oldest first.

    Columns: time, HTTP status, size, space taken in the archive, content type.

    \b
    Examples:
      quire archive versions site.quire https://example.org/
      quire archive versions site.quire https://example.org/ --format json | jq -r '.[].time'
    """
    with opened(archive) as source:
        found = source.versions(_address(source, url))
    if format is Format.json:
        terminal.write_json([_version_as_json(version) for version in found])
        return
    for version in found:
        kind = terminal.one_line(version.content_type or "", most=_MOST_TYPE)
        line = (
            f"{format_time(version.time):<27}  {version.status or '–':>3}  "
            f"{format_bytes(version.length):>9}  {format_bytes(version.stored):>9}  {kind}"
        )
        terminal.write_text(line.rstrip() + "\n")


def _version_as_json(version: Version) -> dict[str, object]:
    return {
        "url": version.url,
        "time": format_time(version.time),
        "status": version.status,
        "content_type": version.content_type,
        "length": version.length,
        "stored": version.stored,
    }


@reports_errors
def diff(
    *,
    archive: ArchiveArgument,
    url: UrlArgument,
    old: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="TIME", help="Old version (default: the one before the new version)."
        ),
    ] = None,
    new: Annotated[
        str | None,
        typer.Option("--to", metavar="TIME", help="New version (default: the newest)."),
    ] = None,
    view: ViewOption = None,
    facet: FacetOption = None,
    only: OnlyOption = None,
    without: ExceptOption = None,
    context: ContextOption = 3,
    exit_code: ExitCodeOption = False,
    output: RedlineOption = None,
    force: ForceOption = False,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Show what changed between two versions of a page.

    \b
    Examples:
      quire archive diff site.quire https://example.org/
      quire archive diff site.quire https://example.org/ --from 2026-05-01 --to 2026-05-17
      quire archive diff site.quire https://example.org/ --view words --only "table.prices"
      quire archive diff site.quire https://example.org/ -o redline.html

    The views are the same as in `quire diff`.

    Exit codes: 0 on success, 1 if the page changed (with --exit-code), 2 on error.
    """
    if output is not None and view not in {None, View.redline}:
        raise Refusal(f"-o writes the redline, not the view {view}", hint="redirect with > instead")
    facets: tuple[Facet, ...] = tuple(each.value for each in facet or FacetName)
    if view is View.script and (facet or only or without):
        raise Refusal(
            "--view script compares whole pages; --facet, --only and --except do not apply",
            hint="use --view tree",
        )
    with opened(archive) as source:
        url = _address(source, url)
        pair = source.pair(url, end_of(old), end_of(new))
    terminal.note(" to ".join(_times(pair)))
    before, after = (page.digest() for page in pair)
    how = Presented(
        view=view,
        facets=facets,
        rules=rules_of(only=only or (), without=without or ()),
        context=context,
        output=output,
        base=url,
        force=force,
        format=format,
    )
    if present(before, after, how) and exit_code:
        raise typer.Exit(CHANGED)


def _times(pair: Iterable[StoredPage]) -> list[str]:
    return [format_time(page.time) for page in pair]
