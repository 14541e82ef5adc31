"""Telling templates apart: which measure scores pages of one template above all others.

Inside one site is the hard case: its page types share header, footer and names. Across sites nearly
everything works. Rivals get what their documentation asks for: html-similarity the two pages, datasketch
and rensa the paths of each page (features they do not have of their own).
"""

import time
from collections.abc import Callable

import datasketch
import html_similarity
import rensa

import quire
from benchmarks.context import Context
from benchmarks.report import Report, Table, at_least
from benchmarks.similarity.labelled import SITES, TYPES, Labelled, Pair, auc, pairs, read
from quire.similarity import MEASURES, Bag, Sketch
from tests.similarity import oracles

#: Pairs of one template and of two, at most, and for html-similarity, which parses both pages anew for each.
MOST, MOST_SLOW = 4200, 240

Score = Callable[[Labelled, Labelled], float]


def run(context: Context) -> Report:
    """Score the pairs of both sets with every measure."""
    report = Report(
        title="Telling templates apart",
        inputs=f"{TYPES} (one site, five page types) and {SITES} (40 sites)",
        method="AUC: the chance that a pair of one template scores above a pair of two; the same pairs for all, drawn with a seed",
    )
    rows: dict[str, list[str]] = {}
    figures: dict[str, dict[str, float]] = {}
    for corpus in (TYPES, SITES):
        pages = read(corpus)
        same, other = pairs(pages, context, context.pick(MOST, 300))
        slow = pairs(pages, context, context.pick(MOST_SLOW, 30))
        context.say(f"{corpus}: {len(same):,} pairs of one template, {len(other):,} of two")
        report.notes.append(f"{corpus}: {len(same):,} pairs of one template, {len(other):,} of two")
        for name, score in (_measures() | _rivals()).items():
            found = _auc(score, same, other)
            figures.setdefault(name, {})[corpus] = found
            rows.setdefault(name, [name]).append(f"{found:.4f}")
        for name, score in _html_similarity().items():
            found = _auc(score, *slow)
            context.say(f"{name}: {found:.4f}")
            figures.setdefault(name, {})[corpus] = found
            rows.setdefault(name, [name]).append(f"{found:.4f}")
    report.tables.append(Table(["measure", "inside one site", "across sites"], list(rows.values())))
    report.notes.append(f"html-similarity: {MOST_SLOW} pairs of each, of the same draw")
    report.goals = [
        at_least("structure, inside one site", figures["structure"][TYPES], 0.99, ""),
        at_least("structure, across sites", figures["structure"][SITES], 0.999, ""),
    ]
    report.data = {"auc": figures, "date": time.strftime("%Y-%m-%d")}
    return report


def _auc(score: Score, same: list[Pair], other: list[Pair]) -> float:
    return auc([score(a, b) for a, b in same], [score(a, b) for a, b in other])


def _measures() -> dict[str, Score]:
    """Ours: every measure, and sketches of the default one."""
    found: dict[str, Score] = {}
    for on in MEASURES:
        if on in {"kang", "kang_normalised"}:
            found[on] = lambda a, b, on=on: quire.similarity(a.digest, b.digest, on)
        else:
            found[on] = _kept(
                lambda page, on=on: Bag.of(page.digest, on), lambda a, b: a.similarity(b)
            )
    for m in (100, 400):
        found[f"structure, sketch of {m}"] = _kept(
            lambda page, m=m: Sketch.of(page.digest, m=m), lambda a, b: a.resemblance(b).value
        )
    return found


def _rivals() -> dict[str, Score]:
    def paths(page: Labelled) -> list[str]:
        return [str(path) for path in oracles.bag(page.digest, "paths")]

    def with_datasketch(page: Labelled) -> datasketch.MinHash:
        sketch = datasketch.MinHash(num_perm=100)
        sketch.update_batch([path.encode() for path in paths(page)])
        return sketch

    def with_rensa(page: Labelled) -> rensa.RMinHash:
        sketch = rensa.RMinHash(num_perm=100, seed=42)
        sketch.update(paths(page))
        return sketch

    return {
        "datasketch, 100 of paths": _kept(with_datasketch, lambda a, b: a.jaccard(b)),
        "rensa, 100 of paths": _kept(with_rensa, lambda a, b: a.jaccard(b)),
    }


def _html_similarity() -> dict[str, Score]:
    text = _remembered(lambda page: page.page.read().decode("utf-8", "replace").replace("\0", ""))
    return {
        "html-similarity, structural": lambda a, b: html_similarity.structural_similarity(
            text(a), text(b)
        ),
        "html-similarity, style": lambda a, b: html_similarity.style_similarity(text(a), text(b)),
    }


def _remembered(make: Callable[[Labelled], object]) -> Callable[[Labelled], object]:
    known: dict[int, object] = {}

    def get(page: Labelled) -> object:
        if id(page) not in known:
            known[id(page)] = make(page)
        return known[id(page)]

    return get


def _kept(make: Callable[[Labelled], object], compare: Callable[..., float]) -> Score:
    """Make something of each page once, and compare that."""
    get = _remembered(make)
    return lambda a, b: compare(get(a), get(b))
