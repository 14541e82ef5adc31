"""How long scripts are, beside xmldiff's, on versions of real pages and on xmldiff's own test pairs.

xmldiff gets trees from lxml without blank texts, as its own command reads them, and a limit of CPU time;
pairs it does not finish are in the table but not in the verdict. libxml2 leaves out parts of some pages, whose changes
xmldiff then cannot see; where quire's script is longer, xmldiff is asked once more, on the tree that a
browser would make (by html5lib), and both answers are given. Its actions are counted one by one, as it
gives them; so are quire's. Times are of comparing two trees, or digests, that are already there.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import quire
from benchmarks import corpora
from benchmarks.context import Context
from benchmarks.measure import best_of
from benchmarks.report import Goal, Report, Right, Table, every
from benchmarks.sdiff.pairs import chosen_collections, pairs_of, sample
from benchmarks.sdiff.rivals import Answer, ask

LIMIT_S = 60
#: How many pairs of each collection are drawn.
DRAWN = {
    "versions-fund": 16,
    "versions-news": 18,
    "versions-terms": 18,
    "dunkerskulturhus.se": 16,
}
OWN_PAIRS = "diff-pairs"
#: Characters: of longer names the table shows the end.
LONGEST_NAME = 70

Kind = Literal["html", "xml"]


@dataclass(frozen=True, slots=True)
class Compared:
    """Two scripts of one pair."""

    collection: str
    name: str
    nodes: int
    actions: int
    seconds: float
    is_exact: bool
    rival: Answer
    #: On the same tree as quire; asked only where quire's script is longer.
    again: Answer | None = None

    @property
    def is_longer(self) -> bool:
        """Whether quire's script is longer than one that xmldiff finished."""
        return self.rival.is_done and self.actions > self.rival.actions

    @property
    def is_longer_on_same_tree(self) -> bool:
        """Whether it still is when xmldiff sees all of the page."""
        if not self.is_longer:
            return False
        return self.again is None or not self.again.is_done or self.actions > self.again.actions

    def verdict(self) -> str:
        """The last cell of a row."""
        if not self.is_longer:
            return ""
        return f"LONGER; same tree: {self.again.problem or self.again.actions if self.again else 'not asked'}"


def run(context: Context) -> Report:
    """Compare lengths and times on a sample."""
    limit_s = context.pick(LIMIT_S, 5)
    report = Report(
        title="Length of edit scripts, compared with xmldiff",
        inputs="",
        method=f"one process for each pair of xmldiff, at most {limit_s} s of CPU time; quire: best of 3; both without parsing",
        notes=[
            "xmldiff's trees are libxml2's, without blank texts; quire's are WHATWG trees of the same bytes",
        ],
    )
    found: list[Compared] = []
    for name in chosen_collections(context.corpora):
        drawn = sample(pairs_of(name), context.pick(DRAWN[name], 3), context.seed)
        for pair in drawn:
            one = _compare(name, pair.name, "html", (pair.old.path, pair.new.path), limit_s)
            context.say(f"{pair.name}: {one.actions} and {one.rival.problem or one.rival.actions}")
            found.append(one)
    for name, kind, old, new in _own_pairs():
        found.append(_compare(OWN_PAIRS, name, kind, (old, new), limit_s))
    report.inputs = f"{len(found)} pairs, drawn with seed {context.seed}"
    _fill(report, found)
    return report


def _own_pairs() -> list[tuple[str, Kind, Path, Path]]:
    """The pairs of xmldiff's own tests: left and right, and one named by numbers."""
    files = {page.name: page.path for page in corpora.pages((OWN_PAIRS,))}
    pairs: list[tuple[str, Kind, Path, Path]] = []
    for name, path in files.items():
        for left, right in ((".left.", ".right."), ("_1.", "_2.")):
            other = files.get(name.replace(left, right))
            if left in name and other is not None:
                pairs.append((name, "html" if name.endswith(".html") else "xml", path, other))
    return pairs


def _compare(
    collection: str, name: str, kind: Kind, paths: tuple[Path, Path], limit_s: float
) -> Compared:
    old, new = paths
    before, after = (quire.encode(path.read_bytes(), kind=kind) for path in (old, new))
    script = quire.edit_script(before, after)
    seconds = best_of(partial(quire.edit_script, before, after), 3)
    is_exact = script.apply(before).decode() == after.decode()
    rival = ask("xmldiff", old, new, kind=kind, limit_s=limit_s)
    one = Compared(collection, name, before.n + after.n, len(script), seconds, is_exact, rival)
    if one.is_longer and kind == "html":
        again = ask("xmldiff", old, new, kind="whatwg", limit_s=limit_s)
        return replace(one, again=again)
    return one


def _fill(report: Report, found: Sequence[Compared]) -> None:
    collections = list(dict.fromkeys(one.collection for one in found))
    rows = [_row(name, [one for one in found if one.collection == name]) for name in collections]
    headings = ["pairs", "number", "xmldiff done", "actions, quire", "xmldiff", "median, quire"]
    headings += ["xmldiff", "quire longer", "equal", "xmldiff / quire, CPU", "slowest quire, ms"]
    caption = "actions and ratios over the pairs that xmldiff finished"
    report.tables.append(Table(headings, [*rows, _row("all", found)], caption))
    each = [
        [
            one.name[-LONGEST_NAME:],
            f"{one.nodes:,}",
            f"{one.actions:,}",
            f"{one.rival.actions:,}" if one.rival.is_done else one.rival.problem,
            f"{one.seconds * 1e3:.2f}",
            one.rival.milliseconds(),
            one.verdict(),
        ]
        for one in found
    ]
    report.tables.append(
        Table(["pair", "nodes, both", "quire", "xmldiff", "quire, ms", "xmldiff, ms", ""], each)
    )
    done = [one for one in found if one.rival.is_done]
    longer = [one for one in done if one.is_longer]
    report.right = [
        Right(
            "quire", sum(one.is_exact for one in found), len(found), "apply gives the new source"
        ),
        Right("xmldiff", len(done), len(found), "finished; its scripts were not replayed"),
    ]
    report.goals = [
        Goal(
            "scripts longer than xmldiff's, if it finishes",
            "none",
            f"{len(longer)} of {len(done)}",
            met=bool(done) and not longer,
        ),
        Goal(
            "the same, if xmldiff gets the same tree as quire",
            "none",
            f"{sum(one.is_longer_on_same_tree for one in longer)} of {len(done)}",
            met=bool(done) and not any(one.is_longer_on_same_tree for one in longer),
        ),
        every("scripts applied exactly", sum(one.is_exact for one in found), len(found)),
    ]
    report.data = {
        one.name: {
            "collection": one.collection,
            "quire": one.actions,
            "quire_s": one.seconds,
            "xmldiff": one.rival.actions if one.rival.is_done else None,
            "xmldiff_s": one.rival.seconds if one.rival.is_done else None,
            "problem": one.rival.problem,
            "xmldiff_same_tree": one.again.actions if one.again and one.again.is_done else None,
        }
        for one in found
    }


def _row(name: str, pairs: Sequence[Compared]) -> list[str]:
    done = [one for one in pairs if one.rival.is_done]
    if not done:
        return [name, str(len(pairs)), "0", *[""] * 8]
    ratios = [one.rival.seconds / one.seconds for one in done]
    return [
        name,
        str(len(pairs)),
        str(len(done)),
        f"{sum(one.actions for one in done):,}",
        f"{sum(one.rival.actions for one in done):,}",
        f"{statistics.median(one.actions for one in done):g}",
        f"{statistics.median(one.rival.actions for one in done):g}",
        str(sum(one.is_longer for one in done)),
        str(sum(one.actions == one.rival.actions for one in done)),
        f"{statistics.median(ratios):,.0f}x",
        f"{max(one.seconds for one in pairs) * 1e3:.1f}",
    ]
