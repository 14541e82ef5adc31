"""The service: everything that people can do with watches, for command line, API and web pages.

These functions take and return plain values. They know nothing of terminals, requests or HTML.
``looking`` shows what watches found, ``questions`` asks about parts that moved, ``telling`` is about
notices, and ``service`` has the rest.
"""

from __future__ import annotations

from quire.sentinels.form.watch import Watch
from quire.sentinels.service.service import Service
from quire.sentinels.service.views import (
    Added,
    LeftOut,
    PageStatus,
    Proposal,
    ShownNotice,
    StoredEvent,
    StoredState,
    TestedTarget,
)

__all__ = [
    "Added",
    "LeftOut",
    "PageStatus",
    "Proposal",
    "Service",
    "ShownNotice",
    "StoredEvent",
    "StoredState",
    "TestedTarget",
    "Watch",
]
