"""``quire watch run`` and ``replay``: check pages once, and run a watch over its history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.terminal import one_line, reports_errors
from quire.cli.watch.opening import DatabaseOption, NameArgument, UrlOption, open_service
from quire.display import format_count

if TYPE_CHECKING:
    from quire.sentinels.checking.worker import Tally
    from quire.sentinels.notices import Tally as Sent
    from quire.sentinels.service import Service

CHANGED = 1


@reports_errors
def run(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME...]", help="Check these now (default: all that are due)."),
    ] = None,
    *,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if a watch fired.")
    ] = False,
    send: Annotated[
        bool, typer.Option("--send/--no-send", help="Send the notices that are due afterwards.")
    ] = True,
    database: DatabaseOption = None,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Check pages once, without a service: for cron and CI.

    Notices that cannot be sent now are sent by later runs; see `quire watch notices`.
    Exit codes: 0 on success, 1 if a watch fired and you asked for it (--exit-code), 2 on error.
    Pages on private networks need permission: QUIRE_ALLOW_NETWORKS=127.0.0.0/8.

    \b
    Examples:
      quire watch run
      quire watch run News --exit-code || echo "something changed"
    """
    import asyncio  # noqa: PLC0415 - heavy

    service = open_service(database)
    for name in names or []:
        service.make_due(name)
    before = {event.id for event in service.events(most=1000)}
    tally, sent = asyncio.run(_check(service, send=send))
    fired = [event for event in service.events(most=1000) if event.id not in before]
    if format is Format.json:
        terminal.write_json(
            {
                "checked": tally.checks,
                "failed": tally.failed,
                "events": [each.body for each in fired],
                "notices": {"sent": sent.sent, "failed": sent.failed, "dead": sent.buried},
            }
        )
    else:
        for each in reversed(fired):
            told = each.event
            said = one_line(" · ".join(told.added) or told.reason)
            terminal.write_text(f"{told.name}: {told.kind}: {said}\n")
        terminal.note(
            f"{format_count(tally.checks, 'page')} checked, {tally.failed:,} failed, "
            f"{format_count(len(fired), 'event')}"
        )
        if sent.sent or sent.failed or sent.buried:
            terminal.note(
                f"{format_count(sent.sent, 'message')} sent, {sent.failed:,} to be sent again, "
                f"{sent.buried:,} given up"
            )
        if sent.buried:
            terminal.advise("see why: quire watch notices --dead")
    if exit_code and any(each.kind == "change" for each in fired):
        raise typer.Exit(CHANGED)


async def _check(service: Service, *, send: bool) -> tuple[Tally, Sent]:
    from quire.sentinels.checking.fetching import GateFetcher  # noqa: PLC0415 - heavy
    from quire.sentinels.notices import Tally as Sent  # noqa: PLC0415 - heavy
    from quire.sentinels.notices import webhook_gate  # noqa: PLC0415 - heavy
    from quire.sources.gate import Gate  # noqa: PLC0415 - heavy
    from quire.sources.gate.one_page import networks_from_environment  # noqa: PLC0415 - heavy

    networks = networks_from_environment()
    async with Gate(allow_networks=networks) as gate, GateFetcher(gate) as fetch:
        tally = await service.run_due(fetch)
    if not send:
        return tally, Sent()
    async with webhook_gate(allow_networks=networks) as gate:
        return tally, await service.send_due(gate)


@reports_errors
def replay(
    name: NameArgument,
    *,
    url: UrlOption = None,
    database: DatabaseOption = None,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Run a watch over the stored versions of its page: what would it have told you?

    \b
    Examples:
      quire watch replay Kettle
    """
    from quire.sentinels.checking.replay import by_month  # noqa: PLC0415 - heavy

    found = open_service(database).replay(name, url)
    if format is Format.json:
        terminal.write_json(
            {
                "captures": found.captures,
                "outcomes": found.outcomes,
                "firings": [each.body for each in found.firings],
            }
        )
        return
    for each in found.firings:
        added = one_line(" · ".join(each.event.added) or each.event.reason)
        terminal.write_text(f"{each.time:%Y-%m-%d %H:%M}  {added}\n")
    months = ", ".join(f"{count} in {month}" for month, count in by_month(found).items())
    terminal.note(
        f"{format_count(len(found.firings), 'time')} in {format_count(found.captures, 'version')}"
        + (f": {months}" if months else "")
    )
