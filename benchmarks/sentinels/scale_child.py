"""A process that keeps many sentinels in memory; prints what that took as JSON.

Run by ``scale``: ``python -m benchmarks.sentinels.scale_child PAGES SENTINELS SEED``.
"""

import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from sqlalchemy import insert

import quire
from benchmarks.sentinels.synthetic_web import SyntheticWeb, form, sentinels_of_pages
from benchmarks.sentinels.systems import ABOUT
from quire._core import hash128
from quire.sentinels.form.reading import read_watch
from quire.sentinels.groups import Group, Outcome, Version
from quire.sentinels.groups.oracle import evaluate_alone
from quire.sentinels.parts import PageReader
from quire.sentinels.sentinel import Sentinel
from quire.sentinels.store import Database, claim_pages
from quire.sentinels.store.results import PageMember
from quire.sentinels.store.tables import page as page_table

SHARES = (0.0, 0.01, 1.0)
#: Pages whose answers are compared with the plain definition in every pass.
JUDGED = 50
#: Pages that are due at once, of all pages of the store.
DUE = 1_000


def main(pages: int, sentinels: int, seed: int) -> dict[str, object]:
    """Install, pass, and wake."""
    web = SyntheticWeb()
    counts = sentinels_of_pages(pages, sentinels, seed)
    gc.collect()
    gc.freeze()
    empty = _resident()
    start = time.process_time()
    groups: list[Group] = []
    sources: list[bytes] = []
    number = 0
    for page, count in enumerate(counts):
        body = web.body(page)
        reader = PageReader(quire.encode(body))
        version = Version(0, reader.page.signatures)
        group = Group(_not_loaded)
        for _ in range(count):
            watch = read_watch(form(page, number))
            sentinel = Sentinel(str(number), watch.sentinel.parts, watch.sentinel.when)
            group.install(sentinel, version, reader)
            number += 1
        groups.append(group)
        sources.append(hash128(body))
    installed = time.process_time() - start
    gc.collect()
    with_groups = _resident()
    found: dict[str, object] = {
        "install seconds": installed,
        "bytes a sentinel, in groups": (with_groups - empty) / sentinels,
    }
    gc.freeze()  # a collection would look at every sentinel again
    for share in SHARES:
        web.changed, web.round = share, web.round + 1
        found[f"pass {share}"] = _pass(web, groups, sources)
    before = _resident()
    watches = [
        PageMember(at, read_watch(form(page, at)), 0.0, 0.0, None, None, 0, None, None)
        for page, at in _numbered(counts)
    ]
    gc.collect()
    found["bytes a sentinel, as a worker keeps it"] = (
        with_groups - empty + _resident() - before
    ) / len(watches)
    del watches
    found["wake seconds"] = _wake(pages)
    found["web"] = web.describe()
    return found


def _pass(web: SyntheticWeb, groups: list[Group], sources: list[bytes]) -> dict[str, float]:
    changed = evaluated = wrong = judged = 0
    spent = 0.0
    step = max(1, len(groups) // JUDGED)
    for number, group in enumerate(groups):
        start = time.process_time()
        body = web.body(number)
        source = hash128(body)
        outcomes: list[Outcome] = []
        new = None
        if source != sources[number]:
            base = next(iter(group.versions))
            new = quire.encode(body)
            version = Version(base + 1, new.signatures)
            outcomes = group.evaluate(version, PageReader(new), ABOUT)
            group.accept(version, outcomes)
            sources[number] = source
        evaluated += len(group.members)
        changed += sum(bool(each.changed) for each in outcomes)
        spent += time.process_time() - start
        if number % step == 0 and new is not None:
            now, web.round = web.round, web.round - 1
            old = quire.encode(web.body(number) if web.round > 1 else _first(web, number))
            web.round = now
            for outcome in outcomes[:20]:
                sentinel = group.members[outcome.sentinel].sentinel
                expected = evaluate_alone(sentinel, old, new, ABOUT)
                wrong += (outcome.changed, outcome.fired) != (expected.changed, expected.fired)
                judged += 1
    return {
        "seconds": spent,
        "evaluated": evaluated,
        "changed": changed,
        "wrong": wrong,
        "judged": judged,
    }


def _first(web: SyntheticWeb, number: int) -> bytes:
    share, web.changed = web.changed, 0.0
    body = web.body(number)
    web.changed = share
    return body


def _wake(pages: int) -> float:
    """Claim the pages that are due, of all pages in a SQLite database."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database.open(Path(folder) / "quire.db")
        rows = [
            {"key": str(at), "url": str(at), "fetching": {}, "due": 10.0 if at < DUE else 1e9 + at}
            for at in range(pages)
        ]
        with database.write() as connection:
            connection.execute(insert(page_table), rows)
        start = time.process_time()
        claimed = 0
        while True:
            with database.write() as connection:
                found = claim_pages(connection, "benchmark", 100.0, 60.0, 100)
            if not found:
                break
            claimed += len(found)
        spent = time.process_time() - start
        database.close()
    if claimed != min(DUE, pages):
        raise AssertionError(f"{claimed} pages were claimed")
    return spent


def _numbered(counts: Sequence[int]) -> Iterator[tuple[int, int]]:
    places = (page for page, count in enumerate(counts) for _ in range(count))
    return ((page, number) for number, page in enumerate(places))


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _not_loaded(number: int) -> quire.Digest:
    raise AssertionError(f"version {number} was loaded")


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:4]))))
