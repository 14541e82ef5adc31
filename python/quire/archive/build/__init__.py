"""Build: makes a whole archive from crawls in one run, on local threads or on a cluster.

In: paths of crawls. Out: a finished archive, moved into place in one step. ``build`` runs the
steps: look at the sources (``read``, ``steps``), ``plan`` the clusters, ``encode`` them, commit.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quire.archive.build.build import build_archive

__all__ = ["build_archive"]


def __getattr__(name: str) -> object:
    # Late: the other modules of this folder do not need what it imports.
    if name in __all__:
        return getattr(importlib.import_module("quire.archive.build.build"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
