"""Scripts to the byte: ``edit_script(a, b).apply(a)`` has the source of ``b``, and the way back that of ``a``.

On neighbouring versions of real pages, on generated documents with one edit and with several, and on
pairs that have nothing to do with each other, also of different kinds. A pair fails when an
exception escapes or one byte differs, and is listed. ``patched`` scripts needed a patch of bytes
because their layers alone do not give the source: exact, but not told as changes of nodes.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import quire
from benchmarks import corpora
from benchmarks.context import Context
from benchmarks.report import Report, Right, Table, every
from benchmarks.sdiff.pairs import Pair, chosen_collections, encoded, pairs_of, sample
from benchmarks.trying import THREADS, fingerprint, try_all
from quire.testing import EDITS, SHAPES, edit, generate

#: Pairs a thread takes at a time.
BATCH = 20
#: One script in so many goes through JSON too, and is applied again from there.
JSON_EVERY = 5
LISTED_FAILURES = 20
#: Bytes: pages beyond are left out of the random pairs, which are many.
MOST_UNRELATED = 1_000_000

#: Name of a pair, and what makes its two sources, inside the thread that tries it.
Case = tuple[str, Callable[[], tuple[bytes, bytes]]]


@dataclass(slots=True)
class Tally:
    """What became of one group of pairs."""

    pairs: int = 0
    forward: int = 0
    back: int = 0
    json: int = 0
    json_exact: int = 0
    patched: int = 0
    back_patched: int = 0
    coarse: int = 0
    actions: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Count another group in."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def row(self, name: str) -> list[str]:
        """One line of the table."""
        share = 100 * self.patched / self.pairs if self.pairs else 0.0
        return [
            name,
            f"{self.pairs:,}",
            f"{self.forward:,}",
            f"{self.back:,}",
            f"{self.json_exact:,} of {self.json:,}",
            f"{self.patched:,}",
            f"{share:.2f} %",
            f"{self.back_patched:,}",
            f"{self.coarse:,}",
            f"{self.actions:,}",
        ]


def run(context: Context) -> Report:
    """Make, apply and invert the scripts of all pairs."""
    collections = chosen_collections(context.corpora)
    edits, unrelated = context.pick(10_000, 600), context.pick(500, 60)
    report = Report(
        title="Edit scripts to the byte: apply and invert",
        inputs=(
            f"neighbouring versions of {', '.join(collections)}; {edits:,} generated documents with one edit, "
            f"{edits // 5:,} with 2 to 12; {unrelated:,} unrelated pairs, {unrelated:,} of different kinds"
        ),
        method=f"{THREADS} threads; kind sniffed; seed {context.seed}; every {JSON_EVERY}th script also by way of JSON",
    )
    tallies: dict[str, Tally] = {}
    for name in collections:
        context.say(name)
        tallies[name] = _try_all(_versions(sample(pairs_of(name), context.pick(10**9, 25), 0)))
    context.say(f"{edits:,} generated edits")
    tallies["one generated edit"] = _try_all(_edits(edits, context.seed, most=1))
    tallies["2 to 12 generated edits"] = _try_all(_edits(edits // 5, context.seed, most=12))
    context.say(f"{unrelated:,} unrelated pairs")
    pages = [page.read for page in corpora.html_pages(corpora.PAGES, context.pick(600, 60))]
    tallies["unrelated pages"] = _try_all(_unrelated(pages, pages, unrelated, context.seed))
    kinds = _of_every_kind(pages, context.pick(40, 10), context.seed)
    tallies["unrelated, kinds mixed"] = _try_all(_mixed(kinds, unrelated, context.seed))
    _fill(report, tallies)
    return report


def _fill(report: Report, tallies: dict[str, Tally]) -> None:
    total = Tally()
    for tally in tallies.values():
        total.add(tally)
    rows = [tally.row(name) for name, tally in tallies.items()]
    headings = ["pairs", "number", "apply exact", "invert exact", "JSON exact", "patched", "share"]
    headings += ["way back patched", "coarse", "actions"]
    report.tables.append(Table(headings, [*rows, total.row("all")]))
    report.right = [
        Right("quire", total.forward, total.pairs, "apply gives the new source"),
        Right("quire", total.back, total.pairs, "the inverse gives the old source"),
        Right(
            "quire", total.json_exact, total.json, "read back from JSON, equal and applied again"
        ),
    ]
    report.notes += [f"failed: {failure}" for failure in total.failures[:LISTED_FAILURES]]
    if len(total.failures) > LISTED_FAILURES:
        report.notes.append(f"{len(total.failures):,} failures in all, in the JSON file")
    report.goals = [
        every(f"{name}: apply and inverse exact", min(tally.forward, tally.back), tally.pairs)
        for name, tally in tallies.items()
    ]
    report.data = {
        name: {slot: getattr(tally, slot) for slot in Tally.__slots__}
        for name, tally in tallies.items()
    }


def _versions(pairs: Iterable[Pair]) -> Iterator[Case]:
    for pair in pairs:
        yield pair.name, partial(_read_both, pair.old.read, pair.new.read)


def _read_both(old: Callable[[], bytes], new: Callable[[], bytes]) -> tuple[bytes, bytes]:
    return old(), new()


def _edits(count: int, seed: int, *, most: int) -> Iterator[Case]:
    for number in range(count):
        yield f"{'edits' if most > 1 else 'edit'} {number}", partial(edited, number, seed, most)


def edited(number: int, seed: int, most: int) -> tuple[bytes, bytes]:
    """A generated document and the same after edits: all shapes and kinds in turn, 2 to 600 elements."""
    draw = random.Random((seed << 32) + number)
    shapes = tuple(SHAPES)
    shape = shapes[number % len(shapes)]
    kind = EDITS[number // len(shapes) % len(EDITS)]
    nodes = draw.choice((12, 40, 120, 250, 600))
    old = new = generate(shape, nodes, number)
    for step in range(draw.randint(2, most) if most > 1 else 1):
        try:
            new = edit(new, kind if step == 0 else draw.choice(EDITS), number + step)
        except ValueError:  # nothing left to edit that way
            continue
    return old, new


def _unrelated(
    olds: Sequence[Callable[[], bytes]],
    news: Sequence[Callable[[], bytes]],
    count: int,
    seed: int,
) -> Iterator[Case]:
    draw = random.Random(seed)
    for number in range(count):
        old, new = draw.randrange(len(olds)), draw.randrange(len(news))
        yield f"pages {number}: {old} and {new}", partial(_read_both, olds[old], news[new])


def _mixed(kinds: dict[str, list[Callable[[], bytes]]], count: int, seed: int) -> Iterator[Case]:
    draw = random.Random(seed + 1)
    names = list(kinds)
    for number in range(count):
        first, second = draw.sample(names, 2)
        old, new = draw.randrange(len(kinds[first])), draw.randrange(len(kinds[second]))
        yield (
            f"mixed {number}: {first} {old} and {second} {new}",
            partial(_read_both, kinds[first][old], kinds[second][new]),
        )


def _of_every_kind(
    pages: list[Callable[[], bytes]], each: int, seed: int
) -> dict[str, list[Callable[[], bytes]]]:
    """Sources that are sniffed as different kinds; images and broken pages are bytes nobody reads as a tree."""

    def files(*suffixes: str) -> list[Callable[[], bytes]]:
        found = corpora.pages(corpora.EVERYTHING, None, suffixes)
        small = [page for page in found if page.path.stat().st_size <= MOST_UNRELATED]
        return [page.read for page in small[:: max(1, len(small) // each)]]

    draw = random.Random(seed)
    images = [b"\x89PNG\r\n\x1a\n" + draw.randbytes(draw.randint(0, 4_000)) for _ in range(each)]
    shapes = tuple(SHAPES)
    generated = [generate(shapes[number % 3], 1 + 40 * number, number) for number in range(each)]
    odd = [b"", b" ", b"\n", b"x", b"<", b"\0", b"\xef\xbb\xbf", b"<p>", b"{}", b"[1, 2]", b"<a/>"]
    broken = [b"<a><b></a>", b"<a", b'{"a": [1, 2', b"<!doctype html>\0<p>\xff\xfe"]
    kinds: dict[str, list[Callable[[], bytes]]] = {
        "html": pages[:each],
        "xml": files(".xml"),
        "generated xml": [partial(bytes, body) for body in generated],
        "json": files(".json"),
        "text": files(".txt", ".md", ".dat", ".test"),
        "png": [partial(bytes, body) for body in images],
        "odd": [partial(bytes, body) for body in odd + broken],
    }
    return {name: makers for name, makers in kinds.items() if makers}


def _try_all(cases: Iterable[Case]) -> Tally:
    return try_all(cases, BATCH, Tally, _try_case)


def _try_case(case: Case, tally: Tally) -> None:
    name, make = case
    old, new = make()
    tally.pairs += 1
    try:
        problem = _try_one(old, new, tally)
    except Exception as error:  # noqa: BLE001  an escaped exception is a finding, not the end of the run
        problem = f"{type(error).__name__}: {error}"
    if problem:
        prints = f"{fingerprint(old)} and {fingerprint(new)}"
        tally.failures.append(f"{name} ({prints}): {problem}")


def _try_one(old: bytes, new: bytes, tally: Tally) -> str:
    """Count one pair in; says what was wrong, if anything."""
    before, after = encoded(old), encoded(new)
    script = quire.edit_script(before, after)
    tally.actions += len(script)
    tally.patched += not script.exact_tree
    tally.coarse += bool(script.coarse)
    problems = []
    if script.apply(before).decode() == new:
        tally.forward += 1
    else:
        problems.append("apply gives other bytes")
    back = script.invert()
    tally.back_patched += not back.exact_tree
    if back.apply(after).decode() == old:
        tally.back += 1
    else:
        problems.append("the inverse gives other bytes")
    if tally.pairs % JSON_EVERY == 1:
        tally.json += 1
        read = quire.EditScript.from_json(script.to_json())
        if read == script and read.apply(before).decode() == new:
            tally.json_exact += 1
        else:
            problems.append("not the same after JSON")
    return "; ".join(problems)
