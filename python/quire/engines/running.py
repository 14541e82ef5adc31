"""Running: executes many tasks on a few threads, and returns their rows in task order.

Each task runs in one thread, and its rows wait until they are read; a task with many rows waits
too. So memory holds a few batches of a few tasks, however many tasks there are, and the oldest task
can always proceed. Each run has its own threads, so two runs that are read in turn never wait for
each other.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from quire.engines.memory import give_back
from quire.errors import EngineError

T = TypeVar("T")

#: Tasks per thread that start before the oldest is done, so that a slow task does not stop others.
AHEAD = 4
#: Maximum results of a task that wait to be read.
HELD = 8


class _Output(Generic[T]):
    """The results of a task that have not been read yet."""

    def __init__(self) -> None:
        self.waiting: deque[T] = deque()
        self.done = False


class Run(Generic[T]):
    """Runs tasks on threads. Iterate over it once; ``close`` ends it early.

    >>> run = Run([lambda: iter("ab"), lambda: iter("c")], threads=2)
    >>> list(run)
    ['a', 'b', 'c']

    If a task raises, tasks that have not started never run, and the others stop at their next
    result. The iteration raises the error.

    Args:
        tasks: Each returns an iterator, which one thread runs to its end.
        threads: Number of threads.
        ahead: Tasks per thread that start before the oldest has been read.
        on_done: Called with the number of tasks done and started, whenever one is done.
    """

    def __init__(
        self,
        tasks: Iterable[Callable[[], Iterator[T]]],
        threads: int,
        *,
        ahead: int = AHEAD,
        on_done: Callable[[int, int], None] = lambda _done, _begun: None,
    ) -> None:
        self._tasks = iter(tasks)
        self._on_done = on_done
        self._ahead = ahead * threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="quire-engine")
        self._outputs: deque[_Output[T]] = deque()
        self._change = threading.Condition()
        self._reporting = threading.Lock()
        self._begun = self._done = 0
        self._error: BaseException | None = None
        self._stopped = False

    def __iter__(self) -> Iterator[T]:
        try:
            while self._begin():
                oldest = self._outputs[0]
                with self._change:
                    # The lambda is only called here, before `oldest` changes.
                    self._change.wait_for(
                        lambda: self._stopped or oldest.waiting or oldest.done  # noqa: B023
                    )
                    if self._error is not None:
                        raise self._error
                    if self._stopped:
                        raise EngineError("the engine was closed while its rows were being read")
                    results = list(oldest.waiting)
                    oldest.waiting.clear()
                    if results:
                        self._change.notify_all()
                    elif oldest.done:
                        self._outputs.popleft()
                yield from results
        finally:
            self.close()

    def close(self) -> None:
        """Start no more tasks, and wait until running ones reach their next result."""
        with self._change:
            self._stopped = True
            self._change.notify_all()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _begin(self) -> bool:
        while len(self._outputs) < self._ahead:
            task = next(self._tasks, None)
            if task is None:
                break
            self._begun += 1
            self._outputs.append(_Output())
            self._pool.submit(self._work, task, self._outputs[-1])
        return bool(self._outputs)

    def _work(self, task: Callable[[], Iterator[T]], output: _Output[T]) -> None:
        try:
            for result in task():
                with self._change:
                    self._change.wait_for(lambda: self._stopped or len(output.waiting) < HELD)
                    if self._stopped:
                        return
                    output.waiting.append(result)
                    self._change.notify_all()
            give_back()
            # One at a time, so that the last call has the number of all.
            with self._reporting:
                self._done += 1
                self._on_done(self._done, self._begun)
        except BaseException as error:  # noqa: BLE001 - raised again by the iteration
            with self._change:
                self._error = self._error or error
                self._stopped = True
        finally:
            with self._change:
                output.done = True
                self._change.notify_all()
