"""Engines: run batch work over many pages, on this machine or on a cluster.

``seam`` defines the interface; ``local`` uses the threads of this machine, ``spark`` a cluster;
``open_engine`` chooses one.
"""

from __future__ import annotations

from quire.engines.opening import open_engine
from quire.engines.seam import Data, Engine, GroupsToRows, PathsToRows

__all__ = ["Data", "Engine", "GroupsToRows", "PathsToRows", "open_engine"]
