"""Engines: where batch work over many pages runs.

``seam`` says what work may ask for; ``local`` is the pool of this machine, ``spark`` a cluster; ``open_engine`` chooses.
"""

from __future__ import annotations

from quire.engines.opening import open_engine
from quire.engines.seam import Data, Engine, GroupsToRows, PathsToRows

__all__ = ["Data", "Engine", "GroupsToRows", "PathsToRows", "open_engine"]
