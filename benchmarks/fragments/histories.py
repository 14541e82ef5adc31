"""Versions of pages: the captures of a corpus, by page and time."""

from datetime import UTC, datetime
from itertools import pairwise

import quire
from benchmarks.corpora import Page, html_pages
from quire import Digest

#: Captures in a row that are a history.
LEAST = 10


def captured_at(name: str) -> datetime | None:
    """The time in a name such as ``site/20220128T213510Z.html``, if it has one."""
    try:
        return datetime.strptime(name.rpartition("/")[2][:15], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def histories(corpus: str) -> dict[str, list[tuple[datetime, Page]]]:
    """The pages of a corpus, each with its captures in order of time; names are ``20220128T213510Z.html``."""
    found: dict[str, list[tuple[datetime, Page]]] = {}
    for page in html_pages((corpus,)):
        folder = page.name.rpartition("/")[0]
        time = captured_at(page.name)
        if time is not None:
            found.setdefault(folder, []).append((time, page))
    return found


def encoded(captures: list[tuple[datetime, Page]]) -> list[tuple[datetime, Digest]]:
    """The same as digests."""
    return [(time, quire.encode(page.read(), kind="html")) for time, page in captures]


def dense(
    captures: list[tuple[datetime, Page]], most_hours: float = 6
) -> list[tuple[datetime, Page]]:
    """The longest run of captures that are no further apart than this."""
    runs = [[captures[0]]]
    for before, after in pairwise(captures):
        if (after[0] - before[0]).total_seconds() > most_hours * 3600:
            runs.append([])
        runs[-1].append(after)
    return max(runs, key=len)


def front_pages(corpus: str, least: int = LEAST) -> dict[str, list[tuple[datetime, Page]]]:
    """The pages of a corpus that were captured often enough in a row, by site."""
    found = {name.split("/")[0]: dense(captures) for name, captures in histories(corpus).items()}
    return {name: captures for name, captures in found.items() if len(captures) >= least}


def all_histories(most: int = 40) -> dict[str, list[tuple[datetime, Page]]]:
    """Every history of the corpora, by corpus and page: its longest dense run, or its newest captures if that is short."""
    found = {}
    for corpus, hours in (("versions-news", 6), ("versions-terms", 36), ("versions-fund", 36)):
        for name, captures in histories(corpus).items():
            run = dense(captures, hours)
            chosen = run if len(run) >= LEAST else captures
            found[f"{corpus.removeprefix('versions-')}: {name}"] = chosen[-most:]
    return found
