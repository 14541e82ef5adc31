"""Whether two threads encode twice as fast: kernels let go of the interpreter lock.

Wall-clock time, because that is what threads buy; so a busy machine shows here. The
ceiling row is two separate processes on the same work: what this machine gives at all.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import quire
from benchmarks import measure
from benchmarks.context import Context
from benchmarks.corpora import describe
from benchmarks.report import Report, Right, Table, at_least

THREADS = 2
_WORK: list[bytes] = []


def run(context: Context) -> Report:
    """Time one thread, two threads and two processes over the same pages."""
    sample = context.pages(full=400, quick=60)
    bodies = [page.read() for page in sample]
    repeats = context.pick(3, 2)
    work = bodies * repeats
    _remember(work)
    report = Report(
        title="Threads: encoding with two threads and with one",
        inputs=f"{describe(sample)}, {repeats} times over",
        method="wall-clock time, rounds interleaved; pages dealt out one by one",
    )
    with (
        ThreadPoolExecutor(THREADS) as threads,
        ProcessPoolExecutor(THREADS, initializer=_remember, initargs=(work,)) as processes,
    ):
        exact = sum(threads.map(_is_exact, bodies))
        report.right = [
            Right("quire", exact, len(bodies), "encoded by two threads, decode gives back the page")
        ]
        cases: dict[str, Callable[[], object]] = {
            "1 thread": lambda: _encode_all(work),
            f"{THREADS} threads": lambda: sum(threads.map(_encode_share, range(THREADS))),
            f"{THREADS} processes (ceiling)": lambda: sum(
                processes.map(_encode_share, range(THREADS))
            ),
        }
        context.say("timing")
        turns = measure.interleaved(cases, context.pick(11, 3), clock=time.perf_counter)
    one = turns["1 thread"]
    rows = [
        [
            name,
            samples.spread(1e3, 1),
            f"{measure.round_ratio(one, samples):.2f}x",
            f"{one.best / samples.best:.2f}x",
        ]
        for name, samples in turns.items()
    ]
    report.tables.append(
        Table(
            ["", "ms, median ± IQR", "x one thread, median of rounds", "x one thread, best of"],
            rows,
        )
    )
    gain = measure.round_ratio(one, turns[f"{THREADS} threads"])
    report.goals = [at_least("2 threads encode against one", gain, 1.7)]
    report.data = {name: samples.seconds for name, samples in turns.items()}
    return report


def _encode_all(bodies: Sequence[bytes]) -> int:
    nodes = 0
    for body in bodies:
        nodes += quire.encode(body, kind="html").n
    return nodes


def _is_exact(body: bytes) -> bool:
    return quire.encode(body, kind="html").decode() == body


def _remember(work: Sequence[bytes]) -> None:
    """Keep the pages where both threads and processes find them, so that none is sent while the clock runs."""
    _WORK[:] = work


def _encode_share(share: int) -> int:
    """Encode every second page, so that both shares hold large and small ones."""
    return _encode_all(_WORK[share::THREADS])
