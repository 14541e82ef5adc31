"""Pages of strangers on the web: the redline of a long page, and the replay of an archived one.

The whole application answers in this process, with guard, session and template, but without a
network. A redline is drawn anew for every answer: drawings that are kept are thrown away before. Its
steps are measured by themselves too. Every answer is checked for what it must show.
"""

import asyncio
import random
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import quire
from benchmarks.context import Context
from benchmarks.measure import Samples
from benchmarks.report import Report, Right, Table, at_most, every
from benchmarks.web.lists import get
from quire.archive import Archive
from quire.archive.browsing import Library
from quire.reports.changes.framed import framed_changes
from quire.sentinels.accounts import Hasher
from quire.sentinels.checking.answers import Fetched
from quire.sentinels.service import Service
from quire.sentinels.store import ClaimedPage, Database
from quire.web import create_app
from quire.web.archives.context import Browsing
from quire.web.pages.diff.drawings import DRAWINGS

ROUNDS = 15
PAGE_BYTES = 500_000
#: One article of so many has another price on the new version.
CHANGED = 40
#: Kilobytes of the pages that are replayed.
REPLAYED = (20, 100, 500)
URL = "https://shop.example/"
TIME = datetime(2026, 5, 1, tzinfo=UTC)
WORDS = [
    "cod",
    "hake",
    "plaice",
    "turbot",
    "skate",
    "brill",
    "ling",
    "pollock",
    "whiting",
    "dab",
    "sole",
    "bream",
    "bass",
    "gurnard",
]
CSS = (
    ".card{border:1px solid #ccc;background:url(/dot.png) no-repeat;margin:4px}.card h2{font:16px serif}"
    ".price{color:#a00}.menu a{padding:2px 8px}@media(max-width:40em){.card{margin:0}}"
)


def run(context: Context) -> Report:
    """Measure redlines and replays."""
    report = Report(
        title="Pages of strangers on the web",
        inputs=f"a generated shop of {PAGE_BYTES // 1000} kB in two versions, in which one article of "
        f"{CHANGED} changed, and the same shop in {len(REPLAYED)} sizes in an archive, "
        f"seed {context.seed}",
        method=f"CPU time of the application in this process, from request to last byte, {ROUNDS} "
        "rounds after one that is not counted, and wall time; drawings are thrown away before each "
        "redline; the goals are about the median of the CPU time, because others used the machine too",
    )
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        context.say("redlines")
        _redlines(report, rows, Path(folder), runner, context.seed)
        context.say("replays")
        _replays(report, rows, Path(folder), runner, context.seed)
    headings = ["page", "CPU, ms, median ± IQR", "wall, ms, median ± IQR", "kB of the answer"]
    report.tables.append(Table(headings, rows, "one answer, or one step of it"))
    return report


def shop(size: int, seed: int, *, is_new: bool = False) -> bytes:
    """Write a shop of about so many bytes."""
    draw = random.Random(seed)
    head = f"<!doctype html><title>Fish</title><style>{CSS}</style><div class=menu>"
    parts = [head, *(f"<a href=/{word}>{word}</a>" for word in WORDS), "</div>"]
    length = sum(map(len, parts))
    number = 0
    while length < size:
        price = f"{draw.randint(300, 2000) / 100 + (is_new and number % CHANGED == 0):.2f}"
        text = " ".join(draw.choices(WORDS, k=30))
        parts.append(
            f"<div class=card id=a{number}><h2><a href=/fish/{number}>{text[:24]}</a></h2>"
            f"<p>{text}</p><ul><li>fresh</li><li>from {draw.choice(WORDS)}</li></ul>"
            f"<span class=price>{price}</span></div>\n"
        )
        length += len(parts[-1])
        number += 1
    return "".join([*parts, "</html>"]).encode()


def _redlines(
    report: Report, rows: list[list[str]], folder: Path, runner: asyncio.Runner, seed: int
) -> None:
    database = Database.open(str(folder / "quire.db"))
    service = Service(database)
    number = service.add({"url": URL, "name": "fish", "learn_noise": False}).id
    pages = [shop(PAGE_BYTES, seed, is_new=is_new) for is_new in (False, True)]
    for body in pages:

        async def fetch(_: ClaimedPage, body: bytes = body) -> Fetched:
            return Fetched(200, body, "text/html")

        service.make_due(number)
        runner.run(service.run_due(fetch))
    ask = _asker(create_app(service, hasher=Hasher(memory_kib=8, passes=1)), runner)
    answers = {
        "redline: the page with bar, map and list": f"/watches/{number}/diff",
        "redline: the frame": f"/watches/{number}/frame/both",
        "side by side: the page": f"/watches/{number}/diff?view=side",
        "text": f"/watches/{number}/diff?view=text",
        "source": f"/watches/{number}/diff?view=source",
    }
    right = 0
    for what, path in answers.items():
        own, body = _measured(report, rows, what, partial(ask, path), before=_forget)
        changed = shop_count(pages[1])
        marks = body.count(b'id="quire-change-')
        right += marks == changed if "frame" in what else f"{changed:,} change".encode() in body
        if what.startswith("redline"):
            report.goals.append(at_most(what, own.median * 1e3, 500, " ms"))
    note = "answers with all changes"
    report.right.append(Right("redlines", right, len(answers), note))
    report.goals.append(every(f"redlines: {note}", right, len(answers)))
    old, new = (quire.encode(each) for each in pages)
    annotation = quire.annotate(old, new)
    for what, work in (
        ("step: encode one version", lambda: quire.encode(pages[1])),
        ("step: compare two digests", lambda: quire.annotate(old, new)),
        ("step: draw the redline", lambda: framed_changes(annotation, base=URL)),
    ):
        _measured(report, rows, what, work)
    database.close()


def shop_count(page: bytes) -> int:
    """Return the number of articles that changed."""
    return -(-page.count(b"<div class=card") // CHANGED)


def _replays(
    report: Report, rows: list[list[str]], folder: Path, runner: asyncio.Runner, seed: int
) -> None:
    path = folder / "shop.quire"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
    with Archive.create(path) as archive:
        for size in REPLAYED:
            archive.add(f"{URL}{size}", TIME, shop(size * 1000, seed), head)
    database = Database.open(str(folder / "empty.db"))
    app = create_app(Service(database), hasher=Hasher(memory_kib=8, passes=1))
    right = 0
    with Archive.open(path) as archive:
        app.state.browsing = Browsing(Library([archive]))
        ask = _asker(app, runner)
        for size in REPLAYED:
            what = f"replay of a page of {size} kB"
            address = f"/web/20260501000000/{URL}{size}"
            own, body = _measured(report, rows, what, partial(ask, address))
            right += b"Archived 2026-05-01" in body and b"<script" not in body
            if size == REPLAYED[1]:
                report.goals.append(at_most(what, own.median * 1e3, 20, " ms"))
    note = "answers with the page and its banner"
    report.right.append(Right("replays", right, len(REPLAYED), note))
    report.goals.append(every(f"replays: {note}", right, len(REPLAYED)))
    database.close()


def _asker(app: Any, runner: asyncio.Runner) -> Callable[[str], bytes]:
    """Return a function that asks the application as someone who logged in."""
    state = app.state.quire
    account = state.accounts.add("someone", "a long password", "editor").id
    cookie = f"{state.guard.cookie}={state.sessions.begin(account)}"
    return lambda path: runner.run(get(app, path, cookie))


def _forget() -> None:
    DRAWINGS.clear()


def _measured(
    report: Report,
    rows: list[list[str]],
    what: str,
    work: Callable[[], object],
    before: Callable[[], None] = lambda: None,
) -> tuple[Samples, bytes]:
    """Measure one answer or step; return its CPU times and the answer."""
    taken, spent, found = [], [], None
    for _ in range(ROUNDS + 1):
        before()
        start, begun = time.perf_counter(), time.process_time()
        found = work()
        taken.append(time.perf_counter() - start)
        spent.append(time.process_time() - begun)
    wall, own = Samples(tuple(taken[1:])), Samples(tuple(spent[1:]))
    body = found if isinstance(found, bytes) else b""
    size = f"{len(body) / 1e3:.1f}" if body else ""
    rows.append([what, own.spread(1e3, 1), wall.spread(1e3, 1), size])
    report.data[what] = {"seconds": wall.seconds, "cpu_seconds": own.seconds, "bytes": len(body)}
    return own, body
