"""Annotation: which nodes of a page changed since the last version, and how.

Two digests in, two arrays out: a status for every node of either page, and a
partner (or none). Everything above this module asks the arrays; nothing above it walks trees.

Above: ``views``. Below: ``digest``, ``_core``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from quire import _core
from quire.sdiff.rules import Rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quire.digest import Digest

Granularity: TypeAlias = Literal["brief", "normal", "fine"]

EVERYTHING = Rules()


@dataclass(frozen=True, slots=True, eq=False)
class Annotation:
    """What became of every node of two pages."""

    old: Digest
    new: Digest
    to_new: NDArray[np.int32]
    to_old: NDArray[np.int32]
    old_status: NDArray[np.uint8]
    new_status: NDArray[np.uint8]
    coarse: tuple[tuple[int, int], ...]


def annotate(
    old: Digest,
    new: Digest,
    rules: Rules = EVERYTHING,
    *,
    granularity: Granularity = "normal",
) -> Annotation:
    """Say what became of every node of two pages."""
    found = _core.annotate(old._native, new._native, rules, granularity)
    return Annotation(
        old,
        new,
        np.frombuffer(found["to_new"], np.int32),
        np.frombuffer(found["to_old"], np.int32),
        np.frombuffer(found["old"], np.uint8),
        np.frombuffer(found["new"], np.uint8),
        tuple(found["coarse"]),
    )
