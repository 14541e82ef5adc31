"""A small newspaper on this machine that changes by itself, for trying ``quire serve``.

``paper`` writes a page as it looks after some seconds, ``server`` serves the pages, and ``watches``
lists watches that show what quire announces and what it leaves out.
"""

from __future__ import annotations

from quire.demo.changing.paper import Answer, answer
from quire.demo.changing.server import DemoSite
from quire.demo.changing.watches import demo_watches

__all__ = ["Answer", "DemoSite", "answer", "demo_watches"]
