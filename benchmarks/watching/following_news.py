"""Parts that move: are they found again after redesigns of real pages, and does the watch ask?

Front pages of newspapers, one capture a month over four years. For each site, the five steps between neighbouring captures with the lowest similarity of
structure are its redesigns, except captures that have hardly a link in common (walls). Parts are links of menus, footers and the like: elements whose text and address are on both captures exactly once, so the right
place is known. Each is watched by the path to it, as tools make them. Fingerprints do not see addresses, and texts of a few words are found many times on a
page.
"""

import random
import re
import time
from collections import Counter
from datetime import datetime
from itertools import pairwise

from benchmarks.context import Context
from benchmarks.corpora import Page
from benchmarks.fragments.histories import histories
from benchmarks.report import Report, Right, Table, every
from quire import Digest, encode, similarity
from quire.sentinels.checking.replay import Capture, replay
from quire.sentinels.form import read_watch

CORPUS = "versions-news"
#: Captures from here on are a month apart.
MONTHLY = (2022, 2, 1)
REDESIGNS = 5
PARTS = 8
#: The place in the sentence that asks about it.
PROPOSED = re.compile(r" is at (.+) now \(")
OUTCOMES = (
    "selector right",
    "found again",
    "asked, no place",
    "asked, wrong place",
    "lost in silence",
    "wrong in silence",
)


def run(context: Context) -> Report:
    """Follow some parts over the redesigns of every site."""
    parts = context.pick(PARTS, 3)
    report = Report(
        title="Parts after redesigns of real pages",
        inputs=f"{CORPUS}, 6 front pages, one capture a month; the {REDESIGNS} largest changes of structure of each, {parts} parts each",
        method="replay of a watch of each part over both captures; the right place has the same text and address; seconds of the wall",
    )
    rows = []
    totals: Counter[str] = Counter()
    redesigns = 0
    for name, captures in histories(CORPUS).items():
        chance = random.Random(context.seed)
        start = time.perf_counter()
        monthly = [each for each in captures if each[0].timetuple()[:3] >= MONTHLY]
        ordered = sorted(_steps(monthly), key=lambda step: step[0])
        steps = [step for step in ordered if _shared_links(step[1], step[2]) >= PARTS]
        steps = steps[: context.pick(REDESIGNS, 1)]
        counted: Counter[str] = Counter()
        for _, before, after in steps:
            counted.update(_followed(before, after, parts, chance))
        redesigns += len(steps)
        totals.update(counted)
        similar = "-".join(f"{step[0]:.2f}" for step in (steps[0], steps[-1]))
        cells = [f"{counted[outcome]}" for outcome in OUTCOMES]
        seconds = f"{time.perf_counter() - start:.0f}"
        rows.append([name.split("/")[0], f"{len(steps)}", similar, *cells, seconds])
        context.say(name)
    cells = [f"{totals[outcome]}" for outcome in OUTCOMES]
    rows.append(["all", f"{redesigns}", "", *cells, ""])
    report.tables.append(Table(["site", "redesigns", "similarity", *OUTCOMES, "seconds"], rows))
    all_parts = totals.total()
    silent = totals["lost in silence"] + totals["wrong in silence"]
    report.right = [
        Right(
            "right place",
            totals["selector right"] + totals["found again"],
            all_parts,
            "parts found by the selector or found again",
        )
    ]
    report.goals = [every("parts found correctly or asked about", all_parts - silent, all_parts)]
    report.data = dict(totals)
    return report


def _steps(captures: list[tuple[datetime, Page]]) -> list[tuple[float, Capture, Capture]]:
    """Neighbouring captures with the similarity of their structure."""
    found = []
    pages = [(Capture(when, page.read(), "text/html")) for when, page in captures]
    digests: dict[int, Digest] = {}
    for at, (before, after) in enumerate(pairwise(pages)):
        old = digests.get(at) or encode(before.body, kind="html")
        new = digests[at + 1] = encode(after.body, kind="html")
        digests.pop(at, None)
        found.append((similarity(old, new, on="structure"), before, after))
    return found


def _followed(before: Capture, after: Capture, most: int, chance: random.Random) -> list[str]:
    """What became of some parts."""
    old, new = encode(before.body, kind="html"), encode(after.body, kind="html")
    here, there = _unique_links(old), _unique_links(new)
    both = sorted(here.keys() & there.keys())
    outcomes = []
    for key in chance.sample(both, min(most, len(both))):
        selector, truth = old.path(here[key]), there[key]
        watch = read_watch({"url": "https://example.org/", "where": selector})
        found = replay(watch, [before, after])
        asked = next((each for each in found.firings if each.kind in ("moved", "lost")), None)
        now = new.select(selector).tolist()
        proposed = None if asked is None else PROPOSED.search(asked.event.reason)
        if proposed is not None:
            places = new.select(proposed[1]).tolist()
            is_right = len(places) == 1 and _is_at(new, places[0], truth)
            outcomes.append("found again" if is_right else "asked, wrong place")
        elif asked is not None:
            outcomes.append("asked, no place")
        elif now == [truth]:
            outcomes.append("selector right")
        else:
            outcomes.append("wrong in silence" if now else "lost in silence")
    return outcomes


def _shared_links(before: Capture, after: Capture) -> int:
    """How many parts there are whose right place is known."""
    here, there = (_unique_links(encode(each.body, kind="html")) for each in (before, after))
    return len(here.keys() & there.keys())


def _is_at(page: Digest, node: int, truth: int) -> bool:
    """Whether an element is the right one, or around or inside it with the same text."""
    return page.text(node).split() == page.text(truth).split() and (
        truth <= node < truth + page.size[truth] or node <= truth < node + page.size[node]
    )


def _unique_links(page: Digest) -> dict[tuple[str, str], int]:
    """Visible links whose text and address are on the page once."""
    found: dict[tuple[str, str], list[int]] = {}
    for node, address in page.addresses("links"):
        text = " ".join(page.text(node).split())
        if text and page.visible[node] and str(page.tags[page.tag[node]]) == "a":
            found.setdefault((text, address), []).append(node)
    return {key: nodes[0] for key, nodes in found.items() if len(nodes) == 1}
