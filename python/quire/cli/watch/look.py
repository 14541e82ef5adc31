"""``quire watch ls``, ``show``, ``history``, ``diff`` and ``explain``."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.terminal import one_line, printable, reports_errors
from quire.cli.common.times import end_of
from quire.cli.watch.opening import DatabaseOption, NameArgument, UrlOption, open_service
from quire.display import format_count

if TYPE_CHECKING:
    from quire.sentinels.service import LeftOut, PageStatus, Proposal, Service, StoredEvent

_MOST_TEXT = 60
_DAY_DIGITS = 8


@reports_errors
def ls(
    text: Annotated[
        str, typer.Argument(metavar="[TEXT]", help="Only watches whose name contains this.")
    ] = "",
    *,
    database: DatabaseOption = None,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """List watches with the state of their pages.

    \b
    Examples:
      quire watch ls
      quire watch ls news --format json
    """
    service = open_service(database)
    found = service.watches(most=10_000, text=text)
    pages = {each.id: service.pages(each.id) for each in found}
    if format is Format.json:
        terminal.write_json(
            [
                {
                    "id": each.id,
                    "name": each.watch.name,
                    "paused": each.paused,
                    "pages": [_page_json(status) for status in pages[each.id]],
                }
                for each in found
            ]
        )
        return
    if not found:
        terminal.note("no watches")
        terminal.advise("add one: quire watch add https://example.org/")
        return
    from rich.table import Table  # noqa: PLC0415 - heavy

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("no.", "name", "state", "checked", "fired"):
        table.add_column(title, no_wrap=title != "name", overflow="fold")
    for each in found:
        statuses = pages[each.id]
        table.add_row(
            str(each.id),
            printable(one_line(each.watch.name, most=_MOST_TEXT)),
            "paused" if each.paused else _states(statuses),
            _when(max((one.checked for one in statuses if one.checked), default=None)),
            _when(max((one.fired for one in statuses if one.fired), default=None)),
        )
    terminal.console().print(table)


@reports_errors
def show(
    name: NameArgument,
    *,
    database: DatabaseOption = None,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Show a watch: its pages, its last events, and how it was written.

    \b
    Examples:
      quire watch show News
    """
    from quire.sentinels.form import watch_to_dict  # noqa: PLC0415 - heavy

    service = open_service(database)
    found = service.find(name)
    statuses, events = service.pages(found.id), service.events(found.id, most=10)
    if format is Format.json:
        terminal.write_json(
            {
                "id": found.id,
                "form": watch_to_dict(found.watch),
                "pages": [_page_json(status) for status in statuses],
                "events": [each.body for each in events],
                "left_out": [_json(each) for each in service.noise(str(found.id))],
                "proposals": [_json(each) for each in service.proposals(str(found.id))],
            }
        )
        return
    terminal.write_text(f"{found.watch.name} (number {found.id})\n")
    for status in statuses:
        terminal.write_text(
            f"  {status.url}\n"
            f"    {_states([status])}, checked {_when(status.checked)}, changed {_when(status.changed)}, "
            f"{format_count(status.versions, 'version')}\n"
        )
        if status.error:
            terminal.write_text(f"    {status.error}\n")
    terminal.write_text(f"  fires when: {found.watch.sentinel.condition}\n")
    _write_noise(service, str(found.id))
    for proposal in service.proposals(str(found.id)):
        terminal.write_text(f"  {_question(proposal)}\n")
        terminal.advise(_ways_out(proposal, found.watch.name))
    for each in events:
        terminal.write_text(f"  {_when(each.time)}  {_event_line(each)}\n")


@reports_errors
def history(
    name: NameArgument,
    *,
    url: UrlOption = None,
    most: Annotated[int, typer.Option(min=1, metavar="N", help="Number of versions.")] = 20,
    database: DatabaseOption = None,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Show what the watched part said on each stored version of the page.

    \b
    Examples:
      quire watch history Kettle
      quire watch history Kettle --format json | jq '.[].text'
    """
    states = open_service(database).history(name, url, most)
    if format is Format.json:
        terminal.write_json(
            [
                {
                    "version": state.number,
                    "time": state.time.isoformat(),
                    "text": {part: reading.text for part, reading in state.readings.items()},
                }
                for state in states
            ]
        )
        return
    for state in states:
        texts = " · ".join(reading.text for reading in state.readings.values())
        terminal.write_text(
            f"{state.number:>4}  {_when(state.time)}  {one_line(texts, most=100)}\n"
        )


@reports_errors
def diff(
    name: NameArgument,
    old: Annotated[
        str | None, typer.Argument(metavar="[OLD]", help="Number or time of a version.")
    ] = None,
    new: Annotated[
        str | None, typer.Argument(metavar="[NEW]", help="Number or time of a version.")
    ] = None,
    *,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="VERSION", help="The same as OLD.")
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="VERSION", help="The same as NEW.")
    ] = None,
    url: UrlOption = None,
    database: DatabaseOption = None,
) -> None:
    """Compare two stored versions of a page; the last two by default.

    A version is named by its number, or by a time: the version of that time is compared.

    \b
    Examples:
      quire watch diff News
      quire watch diff News 3 7
      quire watch diff News --from 2026-05-01 --to 2026-05-17T12:00
    """
    from quire.cli.page.draw_changes import print_unified  # noqa: PLC0415 - heavy
    from quire.sdiff import ALL_FACETS, annotate  # noqa: PLC0415 - heavy

    before, after = open_service(database).versions(
        name, url, _version(old or from_), _version(to or new)
    )
    print_unified(annotate(before, after), ALL_FACETS, 3)


@reports_errors
def explain(
    name: NameArgument,
    *,
    url: UrlOption = None,
    database: DatabaseOption = None,
) -> None:
    """Show, condition by condition, why a watch fired or not on the last two versions.

    \b
    Examples:
      quire watch explain Kettle
    """
    service = open_service(database)
    finding = service.explain(name, url)
    terminal.write_text("".join(f"{line}\n" for line in finding.lines()))
    _write_noise(service, name, url)


def _write_noise(service: Service, name: str, url: str | None = None) -> None:
    """Print what is left out, because it changes at every fetch."""
    found = [each for each in service.noise(name) if url is None or each.url == url]
    if found:
        terminal.write_text("  left out, because it changes at every fetch:\n")
    for each in found:
        samples = " / ".join(one_line(text, most=30) or "nothing" for text in each.samples)
        what = f"{each.kind} {each.name}" if each.name else each.kind
        terminal.write_text(
            f"    {what} at {printable(each.place)}: {samples} (since {_when(each.since)})\n"
        )


def _question(proposal: Proposal) -> str:
    selector = printable(", ".join(proposal.selector))
    if proposal.where == "lost":
        return f"part not found: nothing on {proposal.url} matches {selector} any more"
    if proposal.where == "doubtful":
        return f"is this still the right part? {selector} finds something else on {proposal.url}"
    said = f"it said {one_line(proposal.before, most=45)}, and says {one_line(proposal.after, most=45)}"
    meanwhile = (
        "watched there until you decide" if proposal.used else "not watched until you decide"
    )
    return f"is this the part? {selector} is at {printable(proposal.path)} now: {said}; {meanwhile}"


def _ways_out(proposal: Proposal, name: str) -> str:
    if proposal.where == "lost":
        return f"say where it is: quire watch edit {name!r} --where CSS"
    return f"answer: quire watch accept {name!r}, or quire watch reject {name!r}"


def _json(value: LeftOut | Proposal) -> dict[str, object]:
    return {**dataclasses.asdict(value), "since": value.since.isoformat()}


def _version(text: str | None) -> int | datetime | None:
    """Read the number or the time of a version. Four digits are a number, not a year."""
    if text is None or (text.isdecimal() and len(text) < _DAY_DIGITS):
        return None if text is None else int(text)
    return end_of(text)


def _states(statuses: list[PageStatus]) -> str:
    if not statuses:
        return "no pages"
    worst = next((each for each in statuses if each.error), None)
    if worst is not None:
        return "error"
    if any(each.missing for each in statuses):
        return "part not found"
    if all(each.checked is None for each in statuses):
        return "not checked yet"
    return next((each.state for each in statuses if each.state != "fine"), "fine")


def _when(time: datetime | None) -> str:
    return "never" if time is None else time.strftime("%Y-%m-%d %H:%M")


def _event_line(stored: StoredEvent) -> str:
    event = stored.event
    if event.kind != "change":
        return one_line(f"{event.kind}: {event.reason}", most=100)
    added, removed = " · ".join(event.added), " · ".join(event.removed)
    return f"-{one_line(removed, most=45)} +{one_line(added, most=45)}"


def _page_json(status: PageStatus) -> dict[str, object]:
    plain = dataclasses.asdict(status)
    return {
        key: value.isoformat() if isinstance(value, datetime) else value
        for key, value in plain.items()
    }
