"""Engines: where batch work over many pages runs.

``seam`` says what work may ask for; ``local`` is the pool of this machine.

Above: ``similarity``, ``archive``, ``fragments``, ``cli``. Below: nothing.
"""

from __future__ import annotations

from quire.engines.seam import Data, Engine, GroupsToRows, Listener, PathsToRows, Progress

__all__ = ["Data", "Engine", "GroupsToRows", "Listener", "PathsToRows", "Progress"]
