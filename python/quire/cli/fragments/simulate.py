"""``quire fragments simulate``: compare a cache of fragments with a cache of pages."""

from __future__ import annotations

import dataclasses
import math
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.common import terminal
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.step_progress import progress_bars
from quire.cli.common.terminal import Refusal, printable, reports_errors
from quire.cli.fragments.histories import (
    ChildChangeOption,
    HistoryArgument,
    MinBytesOption,
    UrlOption,
    histories,
)
from quire.display import format_bytes, format_count, format_duration

if TYPE_CHECKING:
    from quire.fragments import CachedSite, Lifetimes, Simulation

_MINUTE_S = 60
_MOST_NAMED = 5


class InvalidationChoice(StrEnum):
    """When to invalidate fragments."""

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
        typer.Option(metavar="N", help="Number of requests; each is for a random page."),
    ] = 30_000,
    rate: Annotated[
        float, typer.Option(metavar="N", help="Requests per minute, for all pages together.")
    ] = 5_000,
    seed: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Random seed; the same seed gives the same result."),
    ] = 0,
    invalidation: Annotated[
        InvalidationChoice,
        typer.Option(
            help="When to invalidate fragments: after measured lifetimes, at measured "
            "change rates, or by replaying the history."
        ),
    ] = InvalidationChoice.lifetimes,
    warm: Annotated[bool, typer.Option("--warm", help="Start with full caches.")] = False,
    child_change: ChildChangeOption = 0.7,
    min_text_bytes: MinBytesOption = 30,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Simulate requests to a cache of pages and to a cache of fragments.

    quire finds fragments and their lifetimes from several versions of each page, like
    `quire fragments lifetimes`. Requests are a Poisson process, and both caches have
    room for everything. Gaps between captures that are too long to tell a lifetime (more
    than four times the median gap) are left out; the output names them.

    \b
    Examples:
      quire fragments simulate captures/
      quire fragments simulate captures/ --rate 60 --requests 100000 --invalidation replay
      quire fragments simulate site.quire --format json | jq .fragment.moved_bytes

    Exit codes: 0 on success, 2 on error (including when no input could be read).
    """
    from quire.fragments import simulate as run  # noqa: PLC0415 - heavy
    from quire.fragments import site_of  # noqa: PLC0415 - heavy
    from quire.fragments.simulation.simulator import MOST_EVENTS  # noqa: PLC0415 - heavy

    # Check before the long work, not after it.
    if not 1 <= requests <= MOST_EVENTS:
        raise Refusal(f"--requests {requests}: expected 1 to {MOST_EVENTS:,}")
    if not 0 < rate < math.inf:
        raise Refusal(f"--rate {rate:g}: expected more than 0 requests per minute")
    with progress_bars() as progress:
        read = histories(
            sources, progress, url=url, child_change=child_change, min_bytes=min_text_bytes
        )
        pages = list(read)
        site = site_of([lives for _, lives in pages], invalidation=invalidation.value)
        try:
            found = run(
                site,
                requests=requests,
                rate=rate / _MINUTE_S,
                seed=seed,
                warm=warm,
                progress=progress,
            )
        except ValueError as error:
            raise Refusal(str(error)) from None
    if format is Format.json:
        result = dataclasses.asdict(found)
        misses = {
            "page_byte_misses": found.page_byte_misses,
            "fragment_byte_misses": found.fragment_byte_misses,
        }
        count = {"pages": len(site.pages), "fragments": len(site.fragments)}
        spans = [_spans_json(name, lives) for name, lives in pages]
        terminal.write_json({**count, "seed": seed, **result, **misses, "captures": spans})
        return
    _print(site, found)
    for name, lives in pages[:_MOST_NAMED]:
        terminal.write_text(_spans_text(name, lives))
    if len(pages) > _MOST_NAMED:
        more = format_count(len(pages) - _MOST_NAMED, "more page")
        terminal.write_text(f"{more} in --format json\n")


def _unknown(lives: Lifetimes) -> int:
    """How many parts of the newest version changed too often for the captures to count."""
    there = set(lives.latest_fragment.tolist())
    shown = [one for one in lives.parts if one.number in there and one.changes]
    return sum(not one.is_rate_known for one in shown)


def _spans_json(name: str, lives: Lifetimes) -> dict[str, object]:
    return {
        "page": name,
        "spans": [{**dataclasses.asdict(one), "is_used": one.is_used} for one in lives.spans],
        "fragments_without_rate": _unknown(lives),
    }


def _spans_text(name: str, lives: Lifetimes) -> str:
    """Say which captures were dense enough to tell, and which gaps were left out."""
    used = [one for one in lives.spans if one.is_used]
    captures = sum(one.captures for one in used)
    gaps = [later.start - one.end for one, later in pairwise(lives.spans)]
    seconds = sum(one.end - one.start for one in used)
    text = f"{printable(name)}: {captures:,} of {format_count(len(lives.times), 'capture')} used"
    if used:
        text += f", in {format_count(len(used), 'span')} of {format_duration(seconds)}"
    if gaps:
        text += (
            f"; left out as too long to tell: {format_count(len(gaps), 'gap')}, "
            f"{format_duration(min(gaps))} to {format_duration(max(gaps))}"
        )
    unknown = _unknown(lives)
    if unknown:
        text += (
            f"; {format_count(unknown, 'part')} changed more often than these captures can tell: "
            "the server sends more than this"
        )
    return f"{text}\n"


def _print(site: CachedSite, found: Simulation) -> None:
    terminal.write_text(
        f"{format_count(len(site.pages), 'page')}, {format_count(len(site.fragments), 'fragment')}; "
        f"{format_count(found.requests, 'request')} in {format_duration(found.seconds)} of simulated time\n"
    )
    rows = [
        (
            "stored in the cache",
            format_bytes(round(found.page.storage_bytes)),
            format_bytes(round(found.fragment.storage_bytes)),
        ),
        (
            "sent by the server",
            format_bytes(round(found.page.moved_bytes)),
            format_bytes(round(found.fragment.moved_bytes)),
        ),
        ("byte miss rate", f"{found.page_byte_misses:.3%}", f"{found.fragment_byte_misses:.3%}"),
        (
            "server cost, 1 per fragment",
            f"{found.page.cost_constant:,.0f}",
            f"{found.fragment.cost_constant:,.0f}",
        ),
        (
            "server cost, by size",
            f"{found.page.cost_weighted:,.0f}",
            f"{found.fragment.cost_weighted:,.0f}",
        ),
    ]
    terminal.write_text(f"  {'':<28}{'page cache':>14}{'fragment cache':>16}\n")
    for name, page, fragment in rows:
        terminal.write_text(f"  {name:<28}{page:>14}{fragment:>16}\n")
    if not any(one.mean_rate for one in site.fragments):
        terminal.note("no fragment changed between captures, so both caches do the same")
    elif found.page.moved_bytes <= found.page.storage_bytes:
        # No more than fetching everything once: the simulation ended before anything changed.
        terminal.note(
            f"{format_duration(found.seconds)} is too short to see changes; "
            "use more --requests or a lower --rate"
        )
