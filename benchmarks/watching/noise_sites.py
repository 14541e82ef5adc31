"""Noise of generated sites: nonces, clocks, advertisements and the like, with a second fetch to tell noise from changes.

Sites of ``tests/sentinels/noisy_sites.py``, one for each kind of noise and one with all of them, each with several seeds. Four watches check each site once
an hour, with the whole service: database, worker, probes. First nothing changes; then one fact of the page changes at every fourth check.
"""

import asyncio
import tempfile
from pathlib import Path

from benchmarks.context import Context
from benchmarks.report import Report, Right, Table, every
from quire.sentinels.checking.answers import Fetched
from quire.sentinels.checking.worker import Worker
from quire.sentinels.service import Service
from quire.sentinels.store import ClaimedPage, Database, add_watch
from tests.sentinels.noisy_sites import KINDS, Site

URL = "https://example.org/menu"
FORMS = (
    {},
    {"watch": "content"},
    {"where": "body", "watch": ["text", "links", "images"]},
    {"where": "main"},
)
#: Checks in which noise is learned, then checks without a change, then with one at every fourth.
LEARNING, QUIET, CHANGING = 12, 24, 24


def run(context: Context) -> Report:
    """Watch every kind of site, with noise left out and without."""
    seeds = context.pick(range(4), range(1))
    report = Report(
        title="False alarms on generated sites, with noise left out and without",
        inputs=f"{len(KINDS)} kinds of noise and all of them together, {len(seeds)} seeds each, {len(FORMS)} watches",
        method=f"{LEARNING} checks to learn, {QUIET} without a change, {CHANGING} with a change of one fact at every fourth; worker, SQLite, probes",
    )
    rows = []
    totals = [0] * 6
    for kind in (*KINDS, "all"):
        noises = KINDS if kind == "all" else (kind,)
        counted = [0] * 6
        for seed in seeds:
            plain = _watch(Site(seed, noises), learn=False)
            learned = _watch(Site(seed, noises), learn=True)
            found = (plain[1], *learned)
            counted = [one + other for one, other in zip(counted, found, strict=True)]
        totals = [one + other for one, other in zip(totals, counted, strict=True)]
        rows.append([kind, *(f"{count}" for count in counted)])
        context.say(kind)
    rows.append(["all sites", *(f"{count}" for count in totals)])
    headings = [
        "noise",
        "false, everything counts",
        "false while learning",
        "false afterwards",
        "changes told",
        "changes",
        "requests",
    ]
    report.tables.append(Table(headings, rows))
    plain, _, false, told, due, _ = totals
    quiet = (len(KINDS) + 1) * len(seeds) * len(FORMS) * (QUIET + CHANGING * 3 // 4)
    report.right = [
        Right("everything counts", quiet - plain, quiet, "checks without a change, nothing told"),
        Right("noise left out", quiet - false, quiet, "checks without a change, nothing told"),
    ]
    report.goals = [
        every("checks without a change, nothing told", quiet - false, quiet),
        every("changes told", told, due),
    ]
    checks = (len(KINDS) + 1) * len(seeds) * (LEARNING + QUIET + CHANGING)
    report.notes = [
        f"{totals[5]} requests for {checks} checks: a probe is made when a change would be announced",
        "a box that is shown at half of the fetches is learned when a fetch has it and the probe has not, so it can be announced before",
    ]
    return report


def _watch(site: Site, *, learn: bool) -> tuple[int, int, int, int, int]:
    """False alarms while learning and afterwards, changes told, changes, and requests."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database.open(Path(folder) / "quire.db")
        now = [1_000_000.0]
        requests = [0]

        async def fetch(_: ClaimedPage) -> Fetched:
            requests[0] += 1
            return Fetched(200, site.fetch(), "text/html")

        with database.write() as connection:
            for number, form in enumerate(FORMS):
                whole = {
                    "url": URL,
                    "name": f"{number}",
                    "every": "1 h",
                    "learn_noise": learn,
                    **form,
                }
                add_watch(connection, whole, now[0])
        worker = Worker(database, fetch, clock=lambda: now[0])
        service = Service(database)
        seen = 0
        early = false = told = due = 0
        for check in range(LEARNING + QUIET + CHANGING):
            changing = check - LEARNING - QUIET
            fact = ""
            if changing >= 0 and changing % 4 == 0:
                at = changing // 4 % len(site.facts)
                fact = site.facts[at] = f"Dish {at} costs {check}.10 now"
                due += len(FORMS)
            asyncio.run(worker.run_due())
            now[0] += 3600
            events = service.events(most=1000)
            new = events[: len(events) - seen]
            seen = len(events)
            right = [each for each in new if fact and fact in each.event.added]
            told += len(right)
            if check < LEARNING:
                early += len(new) - len(right)
            else:
                false += len(new) - len(right)
        worker.close()
        database.close()
    return early, false, told, due, requests[0]
