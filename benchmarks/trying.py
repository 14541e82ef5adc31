"""Try something on very many inputs, in threads, and count what became of them."""

import hashlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Protocol, Self, TypeVar

THREADS = 2


class Tally(Protocol):
    """What is counted, and can be counted together."""

    def add(self, other: Self, /) -> None:
        """Count another group in."""


Case = TypeVar("Case")
Counted = TypeVar("Counted", bound=Tally)


def try_all(
    cases: Iterable[Case],
    batch: int,
    tally: Callable[[], Counted],
    try_one: Callable[[Case, Counted], None],
) -> Counted:
    """Try every case; each thread counts for itself.

    Args:
        cases: what to try.
        batch: how many a thread takes at a time: few enough to share the work evenly, many enough
            to hide the cost of sharing.
        tally: makes an empty count.
        try_one: tries a case and counts it in.
    """

    def try_batch(cases: list[Case]) -> Counted:
        counted = tally()
        for case in cases:
            try_one(case, counted)
        return counted

    total = tally()
    remaining = iter(cases)
    with ThreadPoolExecutor(THREADS) as pool:
        for counted in pool.map(try_batch, iter(lambda: list(islice(remaining, batch)), [])):
            total.add(counted)
    return total


def fingerprint(body: bytes) -> str:
    """By what a source that failed is found again."""
    return f"{len(body):,} bytes, sha256 {hashlib.sha256(body).hexdigest()[:12]}"
