"""Watches that need a browser: scripts, steps, crashes, and what is missing."""

from __future__ import annotations

import asyncio
import builtins
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from quire.sentinels.checking.answers import Fetched, FetchProblem
from quire.sentinels.checking.fetching import GateFetcher
from quire.sentinels.checking.worker import Worker
from quire.sentinels.notices.event import Event
from quire.sentinels.store import ClaimedPage, Database
from quire.sentinels.store.tables import event, page
from tests.conftest import require
from tests.sentinels.test_worker import install, rows
from tests.sources.gate.servers import Handler, Seen, names, open_gate, serving
from tests.sources.gate.test_browser import pages

HOST = {"site.example": ["127.0.0.1"], "inside.example": ["10.0.0.1"]}
Work = Callable[[GateFetcher, Seen], Awaitable[None]]


@pytest.fixture(autouse=True)
def _needs_chromium() -> None:
    require("chromium", "see that watches are fetched by a browser")


def with_fetcher(handler: Handler, work: Work) -> Seen:
    async def run() -> Seen:
        async with serving(handler) as seen, open_gate(names(HOST)) as gate:
            async with GateFetcher(gate) as fetch:
                await work(fetch, seen)
            return seen

    return asyncio.run(run())


def claimed(url: str, **fetching: Any) -> ClaimedPage:  # noqa: ANN401 - plain data
    return ClaimedPage(
        id=1, url=url, fetching={"robots": False, **fetching}, fence=1, revision=1, due=0, etag='"x"',
        last_modified=None, source=None, state="fine", facts=None, latest=-1, quiet_checks=0,
        error_since=None, content=None, noise=None,
    )  # fmt: skip


def children() -> dict[int, str]:
    """Return the processes that this one started, with their commands."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            command = (folder / "cmdline").read_text()
        except OSError:
            continue
        if parent == str(os.getpid()):
            found[int(folder.name)] = command
    return found


def test_a_watch_takes_steps_and_sees_what_scripts_made(tmp_path: Path) -> None:
    table: dict[str, str | bytes] = {
        "/": "<button id=accept onclick=\"location='/login'\">ok</button>",
        "/login": "<form action=/in><input name=pass id=pass><input type=submit></form>",
        "/in": "<script>setTimeout(()=>{document.body.innerHTML="
        "'<h1>'+location.search+'</h1>'},100)</script>",
    }
    database = Database.open(tmp_path / "quire.db")

    async def work(fetch: GateFetcher, seen: Seen) -> None:
        form = {
            "name": "in",
            "url": seen.url("/", "site.example"),
            "where": "h1",
            "fetch": {
                "robots": False,
                "steps": [
                    {"click": "//button[@id='accept']"},
                    {"type": "#pass", "text": "typed-secret"},
                    {"press": "Enter"},
                    {"wait": "h1", "seconds": 9},
                    {"wait": 0.1},
                ],
            },
        }
        now = 1_000_000.0
        install(database, now, form)
        worker = Worker(database, fetch, clock=lambda: now)
        await worker.run_due()
        table["/in"] = "<h1>welcome</h1>"
        now += 3600
        await worker.run_due()
        worker.close()

    with_fetcher(pages(table), work)
    assert [row.error for row in rows(database, page)] == [None]
    (found,) = rows(database, event)
    told = Event.from_dict(found.body)
    assert (told.removed, told.added) == (("?pass=typed-secret",), ("welcome",))
    database.close()


def test_one_browser_serves_a_worker_and_ends_with_it() -> None:
    async def work(fetch: GateFetcher, seen: Seen) -> None:
        url = seen.url("/", "site.example")
        found = await asyncio.gather(*(fetch(claimed(url, browser=True)) for _ in range(5)))
        assert all(isinstance(each, Fetched) and b"<p>x" in each.body for each in found)
        drivers = [name for name in children().values() if "playwright" in name]
        assert len(drivers) == 1
        first = found[0]
        assert isinstance(first, Fetched)
        assert (first.url, first.etag, first.not_modified) == (url, None, False)
        assert first.content_type == "text/html; charset=utf-8"

    before = children()
    with_fetcher(pages({"/": "<p>x"}), work)
    assert [name for pid, name in children().items() if pid not in before and "play" in name] == []


def test_the_browser_comes_back_after_its_driver_died() -> None:
    async def work(fetch: GateFetcher, seen: Seen) -> None:
        wanted = claimed(seen.url("/", "site.example"), browser=True)
        assert isinstance(await fetch(wanted), Fetched)
        for pid, command in children().items():
            if "playwright" in command:
                os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(240):
            answers = [await fetch(wanted) for _ in range(3)]
        assert isinstance(answers[-1], Fetched), answers
        failed = [each for each in answers if isinstance(each, FetchProblem)]
        assert all(each.cause == "browser" for each in failed)

    with_fetcher(pages({"/": "<p>x"}), work)


def test_a_failed_step_and_a_refused_address_are_answers() -> None:
    async def work(fetch: GateFetcher, seen: Seen) -> None:
        step = {"kind": "click", "target": "#none", "text": "", "seconds": 0.3}
        url = seen.url("/", "site.example")
        failed = await fetch(claimed(url, browser=True, steps=[step]))
        assert isinstance(failed, FetchProblem)
        assert "step 1 (click) failed" in failed.message
        inside = await fetch(claimed("http://inside.example/", browser=True))
        assert isinstance(inside, FetchProblem)
        assert "10.0.0.1 is not a public address" in inside.message

    with_fetcher(pages({"/": "<p>x"}), work)


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:  # noqa: ANN401 - as the built-in
        if name == "quire.sources.gate.browser":
            from quire.errors import MissingExtra  # noqa: PLC0415 - in the place of another import

            raise MissingExtra("playwright is not installed", extra="browser")
        return real(name, *rest)

    async def work(fetch: GateFetcher, seen: Seen) -> None:
        monkeypatch.setattr(builtins, "__import__", without)
        answer = await fetch(claimed(seen.url("/", "site.example"), browser=True))
        monkeypatch.undo()
        assert isinstance(answer, FetchProblem)
        assert "pip install 'quire[browser]'" in answer.message

    with_fetcher(pages({"/": "<p>x"}), work)
