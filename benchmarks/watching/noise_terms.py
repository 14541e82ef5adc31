"""Noise of real pages: false alarms of a watch that leaves noise out, and of one that does not.

Terms of service, the newest 25 captures of each page, 12 hours apart. A watch of the text, links and images of the whole page is replayed over them, once
with noise left out and once with everything. A capture whose visible text (``Digest.text``) is that of the one before has no change for a reader; a notice
about it is a false alarm, unless a link or an image really changed. The past cannot be fetched twice, so noise is learned by history only: links and images.
"""

import time
from datetime import datetime

from benchmarks.context import Context
from benchmarks.fragments.histories import histories
from benchmarks.report import Report, Right, Table, at_most, every
from quire import encode
from quire.sentinels.checking.replay import Capture, replay
from quire.sentinels.form import read_watch

CORPUS = "versions-terms"
#: Captures that follow each other; those before are months apart.
IN_A_ROW = 25
#: Changes of a link that can be chance; from the next one on, it is noise.
CHANCE = 2


def run(context: Context) -> Report:
    """Replay a watch over every page, with noise left out and without."""
    report = Report(
        title="False alarms on real pages, with noise left out and without",
        inputs=f"{CORPUS}, 22 pages, the newest {IN_A_ROW} captures of each, 12 hours apart",
        method="replay of a watch of text, links and images; a capture with the visible text of the one before has no change; seconds of the wall, both replays",
    )
    totals = dict.fromkeys(("steps", "visible", "plain", "learned", "first", "missed"), 0)
    rows = []
    for name, captured in list(histories(CORPUS).items())[:: context.pick(1, 5)]:
        captures = [Capture(when, page.read(), "text/html") for when, page in captured[-IN_A_ROW:]]
        start = time.perf_counter()
        texts = [encode(each.body, kind="html").text() for each in captures]
        visible = {
            each.time
            for each, text, before in zip(captures[1:], texts[1:], texts, strict=False)
            if text != before
        }
        plain = _told(captures, learn=False)
        learned = _told(captures, learn=True)
        seconds = time.perf_counter() - start
        times = [each.time for each in captures]
        early = {when for when in learned - visible if times.index(when) <= CHANCE}
        counted = {
            "steps": len(captures) - 1,
            "visible": len(visible),
            "plain": len(plain - visible),
            "learned": len(learned - visible),
            "first": len(early),
            "missed": len(visible - learned),
        }
        for key, count in counted.items():
            totals[key] += count
        rows.append([name, *(f"{count}" for count in counted.values()), f"{seconds:.1f}"])
        context.say(name)
    rows.append(["all", *(f"{count}" for count in totals.values()), ""])
    headings = [
        "page",
        "steps",
        "text differs",
        "false, everything counts",
        "false, noise left out",
        "of these in the first two steps",
        "text differs, not told",
        "seconds",
    ]
    report.tables.append(Table(headings, rows))
    same = totals["steps"] - totals["visible"]
    report.right = [
        Right("everything counts", same - totals["plain"], same, "equal text, nothing told"),
        Right("noise left out", same - totals["learned"], same, "equal text, nothing told"),
    ]
    report.goals = [
        every("visible changes told", totals["visible"] - totals["missed"], totals["visible"]),
        at_most(
            "false alarms, compared with no learning",
            totals["learned"] / max(totals["plain"], 1),
            0.2,
        ),
    ]
    report.notes = [
        "by history, noise is known from its third change on, so each page with tokens in its links has two alarms first; a service that can fetch twice has none (noise-sites)",
        "the others are links and images that changed at a few captures only: they did change, and the watch asked for them",
        "the text of Microsoft's page changes at nearly every capture; text is never left out by history",
    ]
    report.data = dict(totals)
    return report


def _told(captures: list[Capture], *, learn: bool) -> set[datetime]:
    """The times of captures at which the watch would have told a change."""
    watch = read_watch({"url": "https://example.org/", "watch": "content", "learn_noise": learn})
    return {each.time for each in replay(watch, captures).firings if each.kind == "change"}
