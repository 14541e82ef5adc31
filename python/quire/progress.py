"""Progress: how functions that take a while report how far they are.

Each of them has a parameter ``progress``, a callback of this shape, and calls it with the name of
the step, the amount done and the total: ``progress("encode", 17, 400)``. The default does nothing.
"""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A callback for progress, called often and from any thread.

    >>> def show(step: str, done: int, total: int) -> None:
    ...     print(f"{step}: {done} of {total}")
    >>> progress: Progress = show
    >>> progress("encode", 17, 400)
    encode: 17 of 400
    """

    def __call__(self, step: str, done: int, total: int, /) -> None:
        """Take note of progress.

        Args:
            step: the name of the step, such as ``read`` or ``encode``.
            done: how much of it is done: tasks, pages or bytes, as the step counts.
            total: how much there is; it may grow while the work goes on.
        """
        ...


def no_progress(_step: str, _done: int, _total: int, /) -> None:
    """Ignore progress: the default."""
