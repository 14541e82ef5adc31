"""Every byte back: all files of all corpora, a hundred thousand broken pages, as many random inputs.

A file is encoded as its kind is sniffed. One that quire refuses as not well-formed is encoded once more
with ``recover=True``, which must always give a digest; the table counts these. A case
fails when an exception escapes or when one byte differs, and is listed by name or number.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

import quire
from benchmarks import corpora
from benchmarks.context import Context
from benchmarks.digest.mutations import mutated, random_input
from benchmarks.report import Goal, Report, Right, Table, every
from benchmarks.trying import THREADS, fingerprint, try_all

#: Cases a thread takes at a time: few enough to share the work evenly, many enough to hide the cost of sharing.
BATCH = 200
LISTED_FAILURES = 20

#: A case is made inside the thread that tries it, so that pages are not all in memory at once.
Case = tuple[str, Callable[[], bytes]]


@dataclass(slots=True)
class Tally:
    """What became of one group of inputs."""

    cases: int = 0
    exact: int = 0
    recovered: int = 0
    flags: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Count another group in."""
        self.cases += other.cases
        self.exact += other.exact
        self.recovered += other.recovered
        self.flags += other.flags
        self.failures += other.failures

    def row(self, name: str) -> list[str]:
        """One line of the table."""
        share = 100 * self.flags["verbatim"] / self.cases if self.cases else 0.0
        return [
            name,
            f"{self.cases:,}",
            f"{self.exact:,}",
            f"{self.recovered:,}",
            f"{self.flags['verbatim']:,}",
            f"{share:.2f} %",
            f"{self.flags['reordered']:,}",
            f"{self.flags['depth-capped'] + self.flags['formatting-capped']:,}",
        ]


def run(context: Context) -> Report:
    """Encode and decode everything there is."""
    chosen = context.corpora or corpora.EVERYTHING
    count = context.pick(100_000, 3_000)
    report = Report(
        title="Round trip: decode(encode(x)) == x",
        inputs=f"every file of {len(chosen)} corpora, {count:,} mutated pages, {count:,} random inputs",
        method=f"{THREADS} threads; kind sniffed; seed {context.seed}; mutated pages are 8 KiB windows, one in 200 a whole page",
    )
    tallies: dict[str, Tally] = {}
    for corpus in chosen:
        context.say(corpus)
        tallies[corpus] = _try_all(_files(corpus, context.pick(None, 12)))
    if "warc" in tallies:
        tallies["warc bodies"] = _try_all(_bodies())
    context.say(f"{count:,} mutated pages")
    bodies = [page.read() for page in corpora.html_pages(corpora.PAGES, context.pick(300, 30))]
    tallies["mutated pages"] = _try_all(
        (f"mutated {number}", partial(mutated, bodies, number, context.seed))
        for number in range(count)
    )
    context.say(f"{count:,} random inputs")
    tallies["random inputs"] = _try_all(
        (f"random {number}", partial(random_input, number, context.seed)) for number in range(count)
    )
    _fill(report, tallies)
    return report


def _fill(report: Report, tallies: dict[str, Tally]) -> None:
    headings = ["inputs", "cases", "exact", "recovered", "verbatim", "share", "reordered", "capped"]
    total = Tally()
    for tally in tallies.values():
        total.add(tally)
    report.tables.append(
        Table(headings, [*(tally.row(name) for name, tally in tallies.items()), total.row("all")])
    )
    report.right = [Right("quire", total.exact, total.cases, "every byte back")]
    report.notes += [f"failed: {failure}" for failure in total.failures[:LISTED_FAILURES]]
    if len(total.failures) > LISTED_FAILURES:
        report.notes.append(
            f"and {len(total.failures) - LISTED_FAILURES:,} more failures, in the JSON file"
        )
    files = Tally()
    for name, tally in tallies.items():
        if name not in ("mutated pages", "random inputs"):
            files.add(tally)
    real = Tally()
    for name in corpora.PAGES:
        real.add(tallies.get(name, Tally()))
    report.goals = [every("files of the corpora that come back exactly", files.exact, files.cases)]
    report.goals += [
        every(f"{name} that come back exactly", tallies[name].exact, tallies[name].cases)
        for name in ("mutated pages", "random inputs")
    ]
    if real.cases:
        share = 100 * real.flags["verbatim"] / real.cases
        report.goals.append(
            Goal("real pages kept verbatim", "under 2 %", f"{share:.2f} %", met=share < 2)
        )
    report.data = {
        name: {"cases": t.cases, "exact": t.exact, "flags": dict(t.flags), "failures": t.failures}
        for name, t in tallies.items()
    }


def _files(corpus: str, limit: int | None) -> Iterator[Case]:
    for page in corpora.pages((corpus,), limit):
        yield f"{corpus}/{page.name}", page.read


def _bodies() -> Iterator[Case]:
    for page in corpora.pages(("warc",)):
        for index, body in enumerate(corpora.warc_bodies(page)):
            yield f"{page.name} record {index}", partial(bytes, body)


def _try_all(cases: Iterable[Case]) -> Tally:
    return try_all(cases, BATCH, Tally, _try_one)


def _try_one(case: Case, tally: Tally) -> None:
    name, make = case
    body = make()
    tally.cases += 1
    try:
        try:
            page = quire.encode(body)
        except quire.QuireError:
            page = quire.encode(body, recover=True)
            tally.recovered += 1
        back = page.decode()
    except Exception as error:  # noqa: BLE001  an escaped exception is a finding, not the end of the run
        tally.failures.append(f"{name} ({fingerprint(body)}): {type(error).__name__}: {error}")
        return
    tally.flags.update(page.flags)
    if back == body:
        tally.exact += 1
    else:
        tally.failures.append(
            f"{name} ({fingerprint(body)}): {len(back):,} bytes back that differ from the source"
        )
