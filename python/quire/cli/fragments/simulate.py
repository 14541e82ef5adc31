"""``quire fragments simulate``: what a cache of fragments would save, against one of pages."""

from __future__ import annotations

import dataclasses
import math
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.step_progress import telling
from quire.cli.common.terminal import Refusal, reports_errors
from quire.cli.fragments.histories import (
    ChildChangeOption,
    HistoryArgument,
    MinBytesOption,
    UrlOption,
    histories,
)
from quire.display import format_bytes, format_count, format_duration

if TYPE_CHECKING:
    from quire.fragments import CachedSite, Simulation

_MINUTE_S = 60


class How(StrEnum):
    """When fragments are invalidated."""

    lifetimes = "lifetimes"
    rates = "rates"
    replay = "replay"


@reports_errors
def simulate(
    *,
    sources: HistoryArgument,
    url: UrlOption = None,
    requests: Annotated[
        int,
        typer.Option(metavar="N", help="Requests that come, for any page with the same chance."),
    ] = 30_000,
    rate: Annotated[
        float, typer.Option(metavar="N", help="Requests in a minute, for all pages together.")
    ] = 5_000,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="What everything is drawn from: the same again.")
    ] = 0,
    invalidation: Annotated[
        How,
        typer.Option(
            help="Draw lifetimes as measured, of each fragment by itself; use rates of change; or replay the history."
        ),
    ] = How.lifetimes,
    warm: Annotated[
        bool, typer.Option("--warm", help="Caches hold everything at the first request.")
    ] = False,
    child_change: ChildChangeOption = 0.7,
    min_bytes: MinBytesOption = 30,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Let requests come to a cache of pages and to one of fragments.

    Fragments and their lifetimes are found from versions of the pages, as `quire
    fragments lifetimes` does. Requests are a Poisson process; caches have room for all.

    \b
    Examples:
      quire fragments simulate captures/
      quire fragments simulate captures/ --rate 60 --requests 100000 --invalidation replay
      quire fragments simulate site.quire --format json | jq .fragment.moved_bytes

    Exit code: 0 done, 2 error.
    """
    from quire.fragments import simulate as run  # noqa: PLC0415 - heavy
    from quire.fragments import site_of  # noqa: PLC0415 - heavy
    from quire.fragments.simulation.simulator import MOST_EVENTS  # noqa: PLC0415 - heavy

    # Before the long work, and not after it.
    if not 1 <= requests <= MOST_EVENTS:
        raise Refusal(f"--requests {requests}: expected 1 to {MOST_EVENTS:,}")
    if not 0 < rate < math.inf:
        raise Refusal(f"--rate {rate:g}: expected requests in a minute, more than 0")
    with telling() as tell:
        read = histories(sources, tell, url=url, child_change=child_change, min_bytes=min_bytes)
        site = site_of([lives for _, lives in read], invalidation=invalidation.value)
        try:
            found = run(
                site,
                requests=requests,
                rate=rate / _MINUTE_S,
                seed=seed,
                warm=warm,
                tell=tell,
            )
        except ValueError as error:
            raise Refusal(str(error)) from None
    if format is Format.json:
        told = dataclasses.asdict(found)
        misses = {
            "page_byte_misses": found.page_byte_misses,
            "fragment_byte_misses": found.fragment_byte_misses,
        }
        count = {"pages": len(site.pages), "fragments": len(site.fragments)}
        terminal.write_json({**count, "seed": seed, **told, **misses})
        return
    _print(site, found)
    if not warm and found.page.moved_bytes <= found.page.storage_bytes:
        terminal.note(
            f"nothing was fetched again in {format_duration(found.seconds)}; a lower --rate, or more --requests, take longer"
        )


def _print(site: CachedSite, found: Simulation) -> None:
    terminal.write_text(
        f"{format_count(len(site.pages), 'page')} of {format_count(len(site.fragments), 'fragment')}; "
        f"{format_count(found.requests, 'request')} in {format_duration(found.seconds)}\n"
    )
    rows = [
        (
            "stored",
            format_bytes(round(found.page.storage_bytes)),
            format_bytes(round(found.fragment.storage_bytes)),
        ),
        (
            "moved",
            format_bytes(round(found.page.moved_bytes)),
            format_bytes(round(found.fragment.moved_bytes)),
        ),
        ("byte misses", f"{found.page_byte_misses:.3%}", f"{found.fragment_byte_misses:.3%}"),
        (
            "server, each fragment 1",
            f"{found.page.cost_constant:,.0f}",
            f"{found.fragment.cost_constant:,.0f}",
        ),
        (
            "server, by size",
            f"{found.page.cost_weighted:,.0f}",
            f"{found.fragment.cost_weighted:,.0f}",
        ),
    ]
    terminal.write_text(f"  {'':<24}{'page cache':>14}{'fragment cache':>16}\n")
    for name, page, fragment in rows:
        terminal.write_text(f"  {name:<24}{page:>14}{fragment:>16}\n")
    if not any(one.mean_rate for one in site.fragments):
        terminal.note("no fragment was seen to change, so both caches do the same")
    elif found.page.moved_bytes <= found.page.storage_bytes:
        # No more than the first fetch of everything: what was simulated ended before anything changed.
        terminal.note(
            f"nothing changed in these {format_duration(found.seconds)}; more --requests or a lower --rate last longer"
        )
