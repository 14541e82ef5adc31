"""Each shortcut of paper 002 switched off, on a workload where it should matter.

Several shortcuts answer the same question one after another, so switching one off can go unnoticed if
another one stands behind it. Masks, the covering subset and the order of questions are therefore
measured without stored signatures of parts, as on a page whose sentinels were just installed.
"""

import gc
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import quire
from benchmarks.context import Context
from benchmarks.measure import Samples, round_ratio
from benchmarks.report import Report, Right, Table, every
from benchmarks.sentinels.systems import ABOUT
from benchmarks.sentinels.workload import MIXED, TYPES, PagePair, describe, page_pairs
from quire._core import hash128
from quire.sentinels.conditions import All, Count, Similarity, Text
from quire.sentinels.groups import ALL_SHORTCUTS, NO_SHORTCUTS, Group, Shortcuts, Version
from quire.sentinels.groups.oracle import evaluate_alone
from quire.sentinels.parts import Location, PageReader, Part
from quire.sentinels.sentinel import Sentinel

WITHOUT_PARTS = replace(ALL_SHORTCUTS, part_signatures=False)
SMALL = ("p", "li", "a", "h2", "h3", "img", "span", "div")
LARGE = ("main", "nav", "footer", "header", "section", "article")
WHOLE = Part()


def located(*selectors: str) -> list[Sentinel]:
    """One sentinel on the text of each location."""
    return [Sentinel(each, (Part(Location((each,))),)) for each in selectors]


def numbered(sentinels: Sequence[Sentinel], times: int) -> list[Sentinel]:
    """Several copies of each sentinel, as on a popular page."""
    return [
        replace(each, name=f"{each.name} {number}") for each in sentinels for number in range(times)
    ]


def same(old: bytes) -> bytes:
    """The page as it was."""
    return old


def nonce(old: bytes) -> bytes:
    """Another attribute on one element."""
    return re.sub(rb"<body", b"<body data-nonce=x7", old, count=1)


def title(old: bytes) -> bytes:
    """Another text in the title; every element stays."""
    return re.sub(rb"(<title[^>]*>)\s*", rb"\1New: ", old, count=1)


@dataclass(frozen=True, slots=True)
class Case:
    """A workload for one shortcut.

    Attributes:
        what: in words.
        sentinels: the sentinels of each page.
        edit: makes the new version of a page; None for the real next version.
        others: the shortcuts that are on.
    """

    what: str
    sentinels: Sequence[Sentinel]
    edit: Callable[[bytes], bytes] | None = None
    others: Shortcuts = ALL_SHORTCUTS


_ALL_KINDS = [kind.sentinel(kind.name) for kind in MIXED]
_TYPES = [kind.sentinel(kind.name) for kind in TYPES[:6]]
_NEVER = Count("li", ">=", 1_000_000)
CASES: dict[str, Case] = {
    "source_signature": Case("the same bytes again, all kinds", _ALL_KINDS, same),
    "facet_signatures": Case("a nonce in an attribute, six types on the whole page", _TYPES, nonce),
    "part_signatures": Case("the real next version, all kinds", _ALL_KINDS),
    "share_readings": Case("the real next version, five of each kind", numbered(_ALL_KINDS, 5)),
    "share_annotation": Case(
        "the title changed, 14 locations, nothing stored", located(*SMALL, *LARGE), title,
        replace(WITHOUT_PARTS, covering_subset=False, general_first=False),
    ),
    "location_masks": Case(
        "the title changed, 14 locations, nothing stored", located(*SMALL, *LARGE), title,
        WITHOUT_PARTS,
    ),
    "covering_subset": Case(
        "the title changed, body and 14 locations, nothing stored",
        located("body", *SMALL, *LARGE), title, WITHOUT_PARTS,
    ),
    "general_first": Case(
        "the title changed and is watched, body and 24 locations in it, nothing stored",
        located("title", "body", *SMALL, *(f"body {one} {two}" for one in SMALL[-2:] for two in SMALL)),
        title, WITHOUT_PARTS,
    ),
    "short_circuit": Case(
        "the real next version, a condition that is false and a dear one",
        [Sentinel("both", (WHOLE,), All((_NEVER, Similarity("content", 0.5))))],
    ),
    "new_page_first": Case(
        "the real next version, a word on the new page",
        [Sentinel("word", (WHOLE,), Text(WHOLE, "new", ("no such word",)))],
    ),
}  # fmt: skip


def run(context: Context) -> Report:
    """Run every case with its shortcut on and off."""
    pages = page_pairs(context, context.pick(15, 6))
    report = Report(
        title="Paper 002: every optimisation switched off in turn",
        inputs=describe(context, pages),
        method=(
            "CPU time of a pass for one page, from bytes in memory to answers; on, off and all off in turn, "
            "median of the passes"
        ),
    )
    rows = []
    ratios: dict[str, float] = {}
    for name, case in CASES.items():
        context.say(name)
        switched = {
            "on": case.others,
            "off": replace(case.others, **{name: False}),
            "all off": NO_SHORTCUTS,
        }
        samples, wrong, asked = _race(case, pages, switched, context.pick(5, 2))
        ratios[name] = round_ratio(samples["off"], samples["on"])
        rows.append(
            [
                name,
                case.what,
                *(samples[each].spread(1e3 / len(pages), 3) for each in switched),
                f"{ratios[name]:.2f}x",
                f"{round_ratio(samples['all off'], samples['on']):.1f}x",
            ]
        )
        report.right.append(Right(name, asked - wrong, asked, "on, off and all off: as defined"))
        report.goals.append(every(f"answers with and without {name}", asked - wrong, asked))
    headings = [
        "shortcut",
        "workload",
        "on, ms",
        "off, ms",
        "all off, ms",
        "off / on",
        "all off / on",
    ]
    report.tables.append(Table(headings, rows, "median ± IQR for a page"))
    useless = [name for name, ratio in ratios.items() if ratio < 1.05]
    gains = sorted(ratios.items(), key=lambda item: -item[1])
    report.notes.append(
        "times slower without it: " + ", ".join(f"{name} {ratio:.1f}" for name, ratio in gains)
    )
    report.notes.append(
        "every shortcut saves at least 5 % where it should matter"
        if not useless
        else "less than 5 % saved by " + ", ".join(useless)
    )
    report.data["ratios"] = ratios
    return report


@dataclass(slots=True)
class _Page:
    body: bytes
    source: bytes
    group: Group
    before: bytes


def _race(
    case: Case, pages: Sequence[PagePair], switched: dict[str, Shortcuts], passes: int
) -> tuple[dict[str, Samples], int, int]:
    sides = [
        (pair.sides[0], pair.sides[1] if case.edit is None else case.edit(pair.sides[0]))
        for pair in pages
    ]
    expected = [_expected(case.sentinels, *each) for each in sides]
    watched = {
        name: [_install(case, taken, *each) for each in sides] for name, taken in switched.items()
    }
    seconds: dict[str, list[float]] = {name: [] for name in switched}
    wrong = asked = 0
    for turn in range(passes + 1):
        gc.collect()
        gc.disable()
        try:
            for name, taken in switched.items():
                start = time.process_time()
                found = [_check(page, taken) for page in watched[name]]
                if turn:
                    seconds[name].append(time.process_time() - start)
                wrong += sum(
                    a != b
                    for one, two in zip(found, expected, strict=True)
                    for a, b in zip(one, two, strict=True)
                )
                asked += sum(map(len, expected))
        finally:
            gc.enable()
    return {name: Samples(tuple(values)) for name, values in seconds.items()}, wrong, asked


def _install(case: Case, taken: Shortcuts, old: bytes, new: bytes) -> _Page:
    page = quire.encode(old)
    group = Group(lambda _: quire.encode(old))
    for sentinel in case.sentinels:
        member = group.install(sentinel, Version(0, page.signatures), page)
        if not taken.part_signatures:
            member.signatures = ()
    return _Page(new, hash128(old), group, old)


def _check(watched: _Page, taken: Shortcuts) -> list[tuple[object, bool]]:
    if taken.source_signature and hash128(watched.body) == watched.source:
        return [((), False)] * len(watched.group.members)
    page = quire.encode(watched.body)
    version = Version(1, page.signatures)
    outcomes = watched.group.evaluate(version, PageReader(page), ABOUT, shortcuts=taken)
    return [(each.changed, each.fired) for each in outcomes]


def _expected(sentinels: Sequence[Sentinel], old: bytes, new: bytes) -> list[tuple[object, bool]]:
    before, after = quire.encode(old), quire.encode(new)
    known: dict[tuple[object, object], tuple[object, bool]] = {}
    found = []
    for sentinel in sentinels:
        key = (sentinel.parts, sentinel.when)
        if key not in known:
            outcome = evaluate_alone(sentinel, before, after, ABOUT)
            known[key] = (outcome.changed, outcome.fired)
        found.append(known[key])
    return found
