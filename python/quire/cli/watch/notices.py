"""``quire watch notices`` and ``test``: list notices and dead letters, and try targets."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.terminal import Refusal, one_line, reports_errors
from quire.cli.watch.opening import DatabaseOption, NameArgument, open_service
from quire.display import format_count

if TYPE_CHECKING:
    from quire.sentinels.service import Service, ShownNotice, TestedTarget

NOT_SENT = 1


@reports_errors
def notices(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Only those of this watch (name or number)."),
    ] = None,
    *,
    dead: Annotated[
        bool, typer.Option("--dead", help="Only those that could not be sent (dead letters).")
    ] = False,
    resend: Annotated[
        list[str] | None,
        typer.Option(
            "--resend", metavar="ID", help="Let this dead letter be sent again, or 'all'."
        ),
    ] = None,
    most: Annotated[int, typer.Option(min=1, metavar="N", help="Number of notices.")] = 20,
    database: DatabaseOption = None,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """List notices with their targets: waiting, sent, or given up.

    `quire watch run` and the service send what waits. Dead letters are sent again only if you ask.

    \b
    Examples:
      quire watch notices
      quire watch notices --dead --format json | jq '.[].reason'
      quire watch notices --resend all
    """
    service = open_service(database)
    if resend:
        _resend(service, resend, format)
        return
    found = service.notices(state="dead" if dead else None, name=name, most=most)
    if format is Format.json:
        terminal.write_json([_plain(each) for each in found])
        return
    if not found:
        terminal.note("no dead letters" if dead else "no notices")
    for each in found:
        terminal.write_text(
            f"{each.id}  {each.made:%Y-%m-%d %H:%M}  {each.state:<7}  {each.target}  "
            f"{one_line(each.name, most=40)}: {each.kind}\n"
        )
        if each.reason:
            terminal.write_text(f"    {one_line(each.reason, most=200)}{_next_try(each)}\n")


def _resend(service: Service, ids: list[str], form: Format) -> None:
    chosen = ids
    if ids == ["all"]:
        chosen = [each.id for each in service.dead_letters(most=1_000_000)]
    count = service.resend(chosen)
    if ids != ["all"] and not count:
        raise Refusal(
            f"there is no dead letter {ids[0]}", hint="list them: quire watch notices --dead"
        )
    if form is Format.json:
        terminal.write_json({"resent": count})
        return
    terminal.write_text(f"{format_count(count, 'notice')} waiting again\n")
    terminal.advise("send them now: quire watch run")


@reports_errors
def try_targets(
    name: NameArgument,
    *,
    database: DatabaseOption = None,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Send a test message to all targets of a watch, and show the keys of its webhooks.

    Exit codes: 0 if all were sent, 1 if not, 2 on error.
    Targets on private networks need permission: QUIRE_ALLOW_NETWORKS=127.0.0.0/8.

    \b
    Examples:
      quire watch test Kettle
    """
    import asyncio  # noqa: PLC0415 - heavy

    tested = asyncio.run(_test(open_service(database), name))
    if format is Format.json:
        terminal.write_json([dataclasses.asdict(each) for each in tested])
    elif not tested:
        terminal.note("this watch has no targets")
        terminal.advise(f"add one: quire watch edit {name} --notify mailto:me@example.org")
    else:
        for each in tested:
            said = f"not sent: {one_line(each.error, most=200)}" if each.error else "sent"
            terminal.write_text(f"{each.target}: {said}\n")
            if each.key:
                terminal.write_text(f"    signed with {each.key}\n")
    if any(each.error for each in tested):
        raise typer.Exit(NOT_SENT)


async def _test(service: Service, name: str) -> list[TestedTarget]:
    from quire.sentinels.notices import webhook_gate  # noqa: PLC0415 - heavy
    from quire.sources.gate.one_page import networks_from_environment  # noqa: PLC0415 - heavy

    async with webhook_gate(allow_networks=networks_from_environment()) as gate:
        return await service.send_test(name, gate)


def _next_try(found: ShownNotice) -> str:
    if found.state != "waiting" or found.not_before is None:
        return ""
    return f"; next try {found.not_before:%Y-%m-%d %H:%M}"


def _plain(found: ShownNotice) -> dict[str, object]:
    return {
        key: value.isoformat() if isinstance(value, datetime) else value
        for key, value in dataclasses.asdict(found).items()
    }
