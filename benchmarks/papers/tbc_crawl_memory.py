"""Memory of a process and all its descendants, sampled while something runs (Linux)."""

import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

_INTERVAL_S = 0.5
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Sampler:
    """The greatest sum of resident memory seen between entering and leaving.

    Pages that processes share are counted in each, so the sum is an upper bound.
    """

    def __init__(self) -> None:
        self.most = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._is_over.wait(_INTERVAL_S):
            self.most = max(self.most, resident_bytes(os.getpid()))


def resident_bytes(root: int) -> int:
    """The resident memory of a process and all below it."""
    parents: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name of a program stands in brackets and may have spaces and brackets itself.
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        pid = int(path.parent.name)
        parents[pid] = int(fields[1])
        sizes[pid] = int(fields[21]) * _PAGE
    total = 0
    for pid, size in sizes.items():
        at = pid
        while at not in (root, 0) and at in parents:
            at = parents[at]
        total += size if at == root else 0
    return total
