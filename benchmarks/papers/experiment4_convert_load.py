"""Experiment 4, figures 5(a) and 5(b): making, loading and reverting digests by document size.

5(a): time to a usable tree: a digest made from the source, a stored digest loaded, and DOM trees
built by an error-correcting HTML parser (html5lib where the paper had JTidy), by fast HTML
parsers, and by XML parsers (where it had Xerces). 5(b): Algorithm 2, digest to source, must be
linear in the size and indifferent to the shape of the tree.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import quire
from benchmarks import measure, peers
from benchmarks.context import Context
from benchmarks.corpora import Page, describe
from benchmarks.plot import Series, line_chart
from benchmarks.report import Goal, Report, Right, Table
from quire.testing import SHAPES, generate

SIZES = (1_000, 5_000, 10_000, 50_000, 100_000, 500_000)
QUICK_SIZES = (1_000, 10_000, 20_000)
BUCKETS = (10, 30, 60, 100, 200, 400, 800)
ENCODE, LOAD, LOAD_COLUMNS = "digest made", "digest loaded", "digest loaded, columns checked"


def run(context: Context) -> Report:
    """Fill both halves of figure 5."""
    report = Report(
        title="Paper, experiment 4: make, load and revert (figures 5a, 5b)",
        inputs=f"generated XML, seed {context.seed}; real pages by size: {describe(context.pages(None, 60))}",
        method="CPU time, rounds interleaved; figures are medians; files opened each time, page cache warm",
        notes=[
            "the paper: a stored digest loads fastest; making one costs slightly more than a DOM; reverting is linear in any shape"
        ],
    )
    with tempfile.TemporaryDirectory() as folder:
        _load_generated(report, context, Path(folder))
        _load_pages(report, context, Path(folder))
    _revert(report, context)
    return report


def _load_generated(report: Report, context: Context, folder: Path) -> None:
    sizes = context.pick(SIZES, QUICK_SIZES)
    found, notes = peers.installed(("lxml.etree", "ElementTree"))
    report.notes += notes
    documents = {f"{nodes:,}": generate("mixed", nodes, context.seed) for nodes in sizes}
    runs = {
        label: _time_all(context, [body], "xml", found, folder=folder, report=report)
        for label, body in documents.items()
    }
    report.tables.append(
        _table("5(a), generated XML, mixed shape; ms a document", "elements", runs)
    )
    report.goals.append(_claim("generated XML", runs))
    report.figures["figure5a-xml"] = _chart(
        "Making and loading, generated XML", runs, list(sizes), "elements"
    )


def _load_pages(report: Report, context: Context, folder: Path) -> None:
    found, notes = peers.installed(("selectolax", "lxml.html", "html5lib"))
    report.notes += notes
    groups: dict[int, list[Page]] = {}
    for page in context.pages(None, 60):
        kilobytes = page.path.stat().st_size / 1e3
        bucket = next((limit for limit in BUCKETS if kilobytes <= limit), None)
        if bucket is not None:
            groups.setdefault(bucket, []).append(page)
    most = context.pick(12, 2)
    runs = {}
    for bucket in sorted(groups):
        context.say(f"pages up to {bucket} kB")
        bodies = [
            page.read() for page in groups[bucket][:: max(1, len(groups[bucket]) // most)][:most]
        ]
        runs[f"<= {bucket} kB ({len(bodies)})"] = _time_all(
            context, bodies, "html", found, folder=folder, report=report
        )
    report.tables.append(_table("5(a), real pages; ms a page", "size (pages)", runs))
    report.goals.append(_claim("real pages", runs))
    report.figures["figure5a-pages"] = _chart(
        "Making and loading, real pages", runs, sorted(groups), "kilobytes, at most"
    )


def _claim(what: str, runs: dict[str, dict[str, measure.Samples]]) -> Goal:
    """The paper's claim about a stored digest, against the fastest tree at each size."""
    ratios = [
        min(
            measure.round_ratio(samples[name], samples[LOAD])
            for name in samples
            if name.endswith("tree")
        )
        for samples in runs.values()
    ]
    return Goal(
        f"claim: a stored digest loads faster than any tree is built, {what}",
        "> 1x",
        f"{min(ratios):.1f}x to {max(ratios):.1f}x",
        met=min(ratios) > 1,
    )


def _time_all(
    context: Context,
    bodies: list[bytes],
    kind: str,
    found: list[peers.Peer],
    *,
    folder: Path,
    report: Report,
) -> dict[str, measure.Samples]:
    """Milliseconds are for one document: totals divided by their number."""
    paths = []
    right = 0
    for index, body in enumerate(bodies):
        path = folder / f"{kind}-{index}.qd"
        quire.encode(body, kind=kind).save(path)
        right += quire.load(path).decode() == body
        paths.append(path)
    report.right.append(
        Right(
            "quire",
            right,
            len(bodies),
            f"{kind}, {sum(map(len, bodies)) / 1e3:,.0f} kB: loaded digests decode to the source",
        )
    )
    cases: dict[str, Callable[[], object]] = {
        ENCODE: lambda: [quire.encode(body, kind=kind).n for body in bodies],
        LOAD: lambda: [int(quire.load(path, verify="all").size[0]) for path in paths],
        LOAD_COLUMNS: lambda: [int(quire.load(path, verify="columns").size[0]) for path in paths],
    }
    for peer in found:
        cases[f"{peer.name} tree"] = partial(_parse_all, peer, bodies)
    total = sum(map(len, bodies))
    rounds = max(3, min(context.pick(11, 3), 20_000_000 // total))
    turns = measure.interleaved(cases, rounds)
    return {
        name: measure.Samples(tuple(s / len(bodies) for s in samples.seconds))
        for name, samples in turns.items()
    }


def _parse_all(peer: peers.Peer, bodies: list[bytes]) -> None:
    for body in bodies:
        peer.parse(body)


def _table(caption: str, first: str, runs: dict[str, dict[str, measure.Samples]]) -> Table:
    names = list(next(iter(runs.values())))
    rivals = [name for name in names if name.endswith("tree")]
    headings = [
        first,
        *names,
        *(f"{name} / loaded" for name in rivals),
        f"{rivals[0] if rivals else ENCODE} / made",
    ]
    rows = []
    for label, samples in runs.items():
        row = [label, *(samples[name].spread(1e3, 3) for name in names)]
        row += [f"{measure.round_ratio(samples[name], samples[LOAD]):.1f}x" for name in rivals]
        row.append(
            f"{measure.round_ratio(samples[rivals[0] if rivals else ENCODE], samples[ENCODE]):.2f}x"
        )
        rows.append(row)
    return Table(headings, rows, caption)


def _chart(
    title: str, runs: dict[str, dict[str, measure.Samples]], xs: list[int], x_label: str
) -> str:
    names = list(next(iter(runs.values())))
    series = [
        Series(name, xs, [samples[name].median * 1e3 for samples in runs.values()])
        for name in names
    ]
    return line_chart(title, series, x_label, "milliseconds", log_x=True, log_y=True)


def _revert(report: Report, context: Context) -> None:
    """Figure 5(b): decode by size in three shapes, with the fit that shows it linear."""
    sizes = context.pick(SIZES, QUICK_SIZES)
    rows, series = [], []
    right = 0
    exponents = []
    per_byte: dict[int, list[float]] = {nodes: [] for nodes in sizes}
    for shape in SHAPES:
        context.say(f"reverting, {shape}")
        seconds, lengths = [], []
        for nodes in sizes:
            body = generate(shape, nodes, context.seed)
            digest = quire.encode(body, kind="xml")
            right += digest.decode() == body
            samples = measure.interleaved(
                {"decode": digest.decode}, max(5, min(context.pick(31, 7), 6_000_000 // nodes))
            )["decode"]
            seconds.append(samples.best)
            lengths.append(len(body))
            per_byte[nodes].append(samples.best / len(body))
            rows.append(
                [
                    shape,
                    f"{nodes:,}",
                    f"{len(body) / 1e3:,.0f}",
                    samples.spread(1e3, 3),
                    f"{len(body) / samples.best / 1e6:,.0f}",
                ]
            )
        line = measure.fit_line(lengths, seconds)
        exponent = measure.growth_exponent(lengths, seconds)
        exponents.append(exponent)
        rows.append([f"{shape}: fit", "", "", f"r2 {line.r2:.4f}", f"exponent {exponent:.2f}"])
        series.append(
            Series(shape, [length / 1e3 for length in lengths], [s * 1e3 for s in seconds])
        )
        report.data[f"revert {shape}"] = {
            "bytes": lengths,
            "seconds": seconds,
            "r2": line.r2,
            "exponent": exponent,
        }
    report.goals.append(
        Goal(
            "claim: reverting is linear in the size",
            "exponent <= 1.1",
            f"exponents {min(exponents):.2f} to {max(exponents):.2f}",
            met=max(exponents) <= 1.1,
        )
    )
    spreads = [max(times) / min(times) for times in per_byte.values()]
    report.notes.append(
        f"reverting, the slowest shape to the fastest, for a byte: {min(spreads):.1f}x to {max(spreads):.1f}x"
    )
    headings = ["shape", "elements", "source kB", "ms, median ± IQR", "MB/s, best"]
    report.tables.append(
        Table(
            headings,
            rows,
            "5(b), digest to source; the fits use best times against bytes of source",
        )
    )
    report.right.append(
        Right("quire", right, len(SHAPES) * len(sizes), "reverted document equals the source")
    )
    report.figures["figure5b"] = line_chart(
        "Digest to source", series, "kilobytes of source", "milliseconds"
    )
