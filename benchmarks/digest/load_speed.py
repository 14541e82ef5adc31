"""How fast a stored digest is ready for use, beside parsing the page again.

No parser can keep its tree on disk, so the rival of a load is a re-parse of the
page. Files are opened, mapped, checked and dropped each time, with the page cache warm;
the rival gets the page's bytes already read.
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

import quire
from benchmarks import measure, peers
from benchmarks.context import Context
from benchmarks.corpora import describe
from benchmarks.report import Report, Right, Table, at_least


def run(context: Context) -> Report:
    """Time loads with every checksum, with columns only, and compressed."""
    sample = context.pages(full=188, quick=40)
    bodies = [page.read() for page in sample]
    found, notes = peers.installed(("selectolax", "lxml.html"))
    report = Report(
        title="Load: a stored digest against parsing the page again",
        inputs=describe(sample),
        method="files opened each time, page cache warm; CPU time, whole sample in turn, rounds interleaved",
        notes=[
            (
                "the rival only parses, so the goals use the rows without `used`; `used` also reads "
                "children, tag, parent, depth and size of each page"
            ),
            *notes,
        ],
    )
    with tempfile.TemporaryDirectory() as folder:
        plain = _save(bodies, Path(folder), compress=False)
        packed = _save(bodies, Path(folder), compress=True)
        report.right = [
            _check("quire, plain", plain, bodies),
            _check("quire, zstd", packed, bodies),
        ]
        cases: dict[str, Callable[[], object]] = {
            "every checksum": _loader(plain, "all", use=False),
            "every checksum, used": _loader(plain, "all", use=True),
            "columns only": _loader(plain, "columns", use=False),
            "columns only, used": _loader(plain, "columns", use=True),
            "zstd": _loader(packed, "all", use=False),
            "zstd, used": _loader(packed, "all", use=True),
            "zstd, columns only": _loader(packed, "columns", use=False),
            "zstd, columns only, used": _loader(packed, "columns", use=True),
            **{f"{peer.name} re-parse": _parser(peer, bodies) for peer in found},
        }
        context.say("timing")
        turns = measure.interleaved(cases, context.pick(15, 3))

    reference = turns.get("selectolax re-parse", turns["every checksum"])
    rows = [
        [
            name,
            samples.spread(1e6 / len(bodies), 1),
            f"{measure.round_ratio(reference, samples):.1f}x",
            f"{reference.best / samples.best:.1f}x",
        ]
        for name, samples in turns.items()
    ]
    headings = [
        "load",
        "us a page, median ± IQR",
        "x selectolax, median of rounds",
        "x selectolax, best of",
    ]
    report.tables.append(Table(headings, rows))
    floors = {"every checksum": 12, "columns only": 25, "zstd": 4, "zstd, columns only": 4}
    report.goals = [
        at_least(
            f"load against selectolax re-parse: {name}",
            measure.round_ratio(reference, turns[name]),
            floor,
        )
        for name, floor in floors.items()
    ]
    report.data = {name: samples.seconds for name, samples in turns.items()}
    return report


def _save(bodies: Sequence[bytes], folder: Path, *, compress: bool) -> list[Path]:
    paths = []
    for index, body in enumerate(bodies):
        path = folder / f"{index}{'-zstd' if compress else ''}.qd"
        quire.encode(body, kind="html").save(path, compress=compress)
        paths.append(path)
    return paths


def _check(who: str, paths: Sequence[Path], bodies: Sequence[bytes]) -> Right:
    right = 0
    for path, body in zip(paths, bodies, strict=True):
        loaded, fresh = quire.load(path), quire.encode(body, kind="html")
        same = all(
            np.array_equal(getattr(loaded, column), getattr(fresh, column))
            for column in ("children", "tag", "attr", "content", "parent", "depth", "size")
        )
        right += same and loaded.tags == fresh.tags and loaded.decode() == body
    return Right(who, right, len(paths), "columns and page equal those before saving")


def _loader(
    paths: Sequence[Path], verify: Literal["all", "columns"], *, use: bool
) -> Callable[[], object]:
    def load_all() -> int:
        nodes = 0
        for path in paths:
            page = quire.load(path, verify=verify)
            nodes += page.n
            if use:
                nodes += int(page.children[0]) + int(page.tag[-1])
                nodes += int(page.parent[-1]) + int(page.depth[-1]) + int(page.size[0])
        return nodes

    return load_all


def _parser(peer: peers.Peer, bodies: Sequence[bytes]) -> Callable[[], object]:
    def parse_all() -> None:
        for body in bodies:
            peer.parse(body)

    return parse_all
