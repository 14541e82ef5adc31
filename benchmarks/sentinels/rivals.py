"""The rivals' load: 1,000 watches on 200 real pages on loopback, beside two rivals in the same run.

A quarter of the watches each: whole text, paragraphs, targets of links, lines that match an expression;
spread over the pages by Zipf's law, one at least on each. Passes: the first, nothing changed, one
paragraph more in 5 % of the pages, and a nonce in every response. Each pass of quire and urlwatch is a
process of its own; changedetection.io is one server for all passes. The rivals are found as
``QUIRE_URLWATCH`` and ``QUIRE_CHANGEDETECTION`` or on the path, and left out otherwise.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select

from benchmarks.context import Context
from benchmarks.corpora import html_pages
from benchmarks.provenance import REPOSITORY
from benchmarks.report import Goal, Report, Table, at_most
from benchmarks.sentinels.rivals_changedetection import running
from benchmarks.sentinels.synthetic_web import sentinels_of_pages
from quire.sentinels.store import Database, add_watch
from quire.sentinels.store.tables import version

#: Name of a pass, what the server serves, and the share of pages with a true change.
PASSES = (
    ("first", "changed=0&nonce=0"),
    ("nothing changed", "changed=0&nonce=0"),
    ("5 % changed", "changed={some}&nonce=0"),
    ("a nonce in every response", "changed={some}&nonce=1"),
    ("another nonce", "changed={some}&nonce=1"),
)
START = 1_000_000.0
PATTERN = r"\b20[0-9][0-9]\b"


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass of one monitor took."""

    requests: int
    seconds: float
    process_seconds: float
    rss: float
    alarms: int
    stored: int


@dataclass(frozen=True, slots=True)
class Load:
    """The same load for every monitor.

    Attributes:
        context: the settings of the run.
        folder: where monitors keep their files.
        address: where the server is.
        places: the page of each watch.
        pages: how many pages there are.
    """

    context: Context
    folder: Path
    address: str
    places: list[int]
    pages: int

    def prepare(self, monitor: str, name: str, mode: str) -> None:
        """Set what the server serves in the next pass."""
        self.context.say(f"{monitor}, {name}")
        _ask(self.address, "mode?" + mode.format(some=self.pages // 20))
        _ask(self.address, "count")

    def requests(self) -> int:
        """Requests since the pass was prepared."""
        return int(json.loads(_ask(self.address, "count"))["requests"])


def run(context: Context) -> Report:
    """Run every pass of every monitor."""
    pages, watches = context.pick((200, 1_000), (40, 200))
    bodies = _bodies(pages)
    report = Report(
        title="quire and other monitors: 1,000 watches on 200 pages",
        inputs=f"{pages} real pages of pages-trafilatura, {sum(map(len, bodies)) / 1e6:.1f} MB, on loopback; {watches} watches, Zipf 1.0, seed {context.seed}",
        method="CPU time: of the pass itself (quire), and of the whole process from its start (both); one run",
    )
    counts = sentinels_of_pages(pages, watches, context.seed)
    places = [at for at, count in enumerate(counts) for _ in range(count)]
    found: dict[str, list[Pass]] = {}
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        site.mkdir()
        for number, body in enumerate(bodies):
            (site / f"{number:04}.html").write_bytes(body)
        with _server(site) as address:
            load = Load(context, Path(folder), address, places, pages)
            found["quire"] = _quire(load)
            urlwatch = os.environ.get("QUIRE_URLWATCH") or shutil.which("urlwatch")
            if urlwatch:
                found["urlwatch"] = _urlwatch(load, urlwatch)
            else:
                report.notes.append("urlwatch was left out: not installed (set QUIRE_URLWATCH)")
            command = os.environ.get("QUIRE_CHANGEDETECTION") or shutil.which("changedetection.io")
            if command:
                found["changedetection.io"] = _changedetection(load, command)
            else:
                report.notes.append(
                    "changedetection.io was left out: not installed (set QUIRE_CHANGEDETECTION)"
                )
    rows = [
        [
            name,
            PASSES[turn][0],
            f"{each.requests:,}",
            f"{each.seconds:.2f}" if each.seconds else "",
            f"{each.process_seconds:.2f}",
            f"{each.rss / 1e6:.0f}",
            f"{each.alarms:,}",
            f"{each.stored:,}",
        ]
        for name, passes in found.items()
        for turn, each in enumerate(passes)
    ]
    headings = ["monitor", "pass", "requests", "CPU of the pass, s", "CPU of the process, s"]
    headings += ["peak RSS, MB", "alarms", "bytes stored"]
    report.tables.append(
        Table(headings, rows, "each pass is a process; one for all of changedetection.io")
    )
    _add_goals(report, found, pages)
    return report


def _add_goals(report: Report, found: dict[str, list[Pass]], pages: int) -> None:
    ours = found["quire"]
    plain = max(ours[turn].requests for turn in (0, 1, 3, 4))
    looks = pages + pages // 20
    report.notes.append(
        f"quire fetches a changed page once more before it raises an alarm, to tell a change from noise: {looks} "
        f"requests for {pages // 20} changed pages of {pages}. The other passes have no change to announce."
    )
    report.goals += [
        Goal("requests of a pass, no change", f"{pages}", f"{plain}", met=plain == pages),
        Goal(
            "requests of a pass, 5 % changed (one more a changed page)",
            f"<= {looks}",
            f"{ours[2].requests}",
            met=ours[2].requests <= looks,
        ),
        at_most("CPU of a pass, nothing changed", ours[1].seconds, 0.5, " s"),
        at_most("CPU of a pass, 5 % changed", ours[2].seconds, 1.0, " s"),
        at_most("CPU of a pass, a nonce in every response", ours[3].seconds, 1.5, " s"),
        at_most("peak memory", max(each.rss for each in ours) / 1e6, 150, " MB"),
        at_most("bytes stored for a small change", ours[2].stored / (pages // 20), 1_000, " bytes"),
        at_most("false alarms with a nonce", ours[3].alarms + ours[4].alarms, 0, ""),
    ]
    for name, theirs in found.items():
        if name != "quire":
            report.notes.append(
                f"alarms at 5 % changed: quire {ours[2].alarms}, {name} {theirs[2].alarms}; false alarms with a "
                f"nonce: quire {ours[4].alarms}, {name} {theirs[4].alarms}"
            )


def _bodies(pages: int) -> list[bytes]:
    """Pages of 25 to 120 kB with paragraphs, served as UTF-8."""
    found = []
    for page in html_pages(("pages-trafilatura",)):
        body = page.read()
        is_fit = 25_000 <= len(body) <= 120_000 and b"<body" in body and body.count(b"<p") >= 3
        if is_fit and re.search(rb"<p[ >]", body):
            found.append(body)
        if len(found) == pages:
            break
    return found


@contextmanager
def _server(site: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.sentinels.rivals_server", str(site)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY) as server:
        try:
            port = server.stdout.readline().strip() if server.stdout else ""
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _ask(address: str, path: str) -> str:
    with urllib.request.urlopen(f"{address}/{path}", timeout=60) as answer:  # noqa: S310 - loopback
        return str(answer.read().decode())


# Started by a small process: the peak that the system reports begins with the memory of the parent.
_STARTER = """
import json, resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    json.dump([used.ru_utime + used.ru_stime, used.ru_maxrss * 1024], file)
sys.exit(code)
"""


def _measured(command: list[str]) -> tuple[str, float, float]:
    """Run a command: its output, its CPU time and its peak memory."""
    with tempfile.NamedTemporaryFile("r") as used:
        starter = [sys.executable, "-c", _STARTER, used.name, *command]
        done = subprocess.run(
            starter, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{command[0]} ended with {done.returncode}")
        spent, peak = json.load(used)
        return done.stdout, spent, peak


def _quire(load: Load) -> list[Pass]:
    path = load.folder / "quire.db"
    database = Database.open(path)
    kinds: tuple[dict[str, object], ...] = (
        {},
        {"where": "p"},
        {"where": "//a/@href"},
        {"when": {"text": {"in": "changed", "matches": PATTERN}}},
    )
    with database.write() as connection:
        for number, page in enumerate(load.places):
            form = {
                "name": str(number),
                "url": f"{load.address}/page/{page}",
                "every": "1 h",
                "fetch": {"robots": False},
                **kinds[number % 4],
            }
            add_watch(connection, form, START)
    found: list[Pass] = []
    for turn, (name, mode) in enumerate(PASSES):
        load.prepare("quire", name, mode)
        command = [sys.executable, "-m", "benchmarks.sentinels.rivals_child", str(path)]
        printed, spent, rss = _measured([*command, str(START + turn * 3_601)])
        said = json.loads(printed)
        with database.read() as connection:
            data = func.coalesce(func.sum(func.length(version.c.data)), 0)
            total = connection.execute(select(data).where(version.c.number > 0)).scalar_one()
        stored = int(total) - sum(each.stored for each in found)
        found.append(Pass(load.requests(), said["seconds"], spent, rss, said["events"], stored))
    database.close()
    return found


def _urlwatch(load: Load, command: str) -> list[Pass]:
    jobs, config, cache = (load.folder / name for name in ("jobs.yaml", "config.yaml", "cache.db"))
    kinds = (
        ["html2text"],
        [{"css": "p"}, "html2text"],
        [{"xpath": "//a/@href"}],
        ["html2text", {"grep": PATTERN}],
    )
    documents = [
        json.dumps(
            {
                "name": str(number),
                "url": f"{load.address}/page/{page}?{number}",
                "filter": kinds[number % 4],
            }
        )
        for number, page in enumerate(load.places)
    ]
    jobs.write_text("\n---\n".join(documents), encoding="utf-8")
    config.write_text(
        "report:\n  stdout: {enabled: true, color: false}\n  text: {details: false, footer: false, line_length: 75}\n",
        encoding="utf-8",
    )
    found = []
    size = 0
    for name, mode in PASSES:
        load.prepare("urlwatch", name, mode)
        options = ["--urls", str(jobs), "--config", str(config), "--cache", str(cache)]
        printed, spent, rss = _measured([command, *options])
        alarms = len(re.findall(r"^(?:\d+\. )?CHANGED:", printed, re.MULTILINE))
        now = cache.stat().st_size
        found.append(Pass(load.requests(), 0.0, spent, rss, alarms, now - size))
        size = now
    return found


def _changedetection(load: Load, command: str) -> list[Pass]:
    kinds: tuple[dict[str, object], ...] = (
        {},
        {"include_filters": ["p"]},
        {"include_filters": ["xpath://a/@href"]},
        {"extract_text": [f"/{PATTERN}/"]},
    )
    found = []
    with running(command, load.folder / "changedetection") as server:
        load.prepare("changedetection.io", *PASSES[0])
        spent, size = server.cpu_seconds(), 0
        for number, page in enumerate(load.places):
            url = f"{load.address}/page/{page}?{number}"
            server.ask("watch", {"url": url, "title": str(number), **kinds[number % 4]})
        changed: dict[str, int] = {}
        for turn, (name, mode) in enumerate(PASSES):
            if turn:
                load.prepare("changedetection.io", name, mode)
                spent = server.cpu_seconds()
            server.check_all(is_new=turn == 0)
            before, changed = changed, server.changed()
            alarms = sum(at != before.get(name, 0) for name, at in changed.items()) if turn else 0
            now, bytes_now = server.cpu_seconds(), server.stored_bytes()
            found.append(
                Pass(
                    load.requests(), 0.0, now - spent, server.peak_bytes(), alarms, bytes_now - size
                )
            )
            size = bytes_now
    return found
