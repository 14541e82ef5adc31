"""The service: everything that people can do with watches, for command line, API and web pages.

These functions take and return plain values. They know nothing of terminals, requests or HTML.
``looking`` shows the findings of a watch, ``listing`` has all watches and changes many at once,
``questions`` asks about parts that moved, ``telling`` is about notices, ``operating`` is for the
operator, and ``service`` has the rest.
"""

from __future__ import annotations

from quire.sentinels.form.watch import Watch
from quire.sentinels.service.listing import BulkAction
from quire.sentinels.service.service import Service
from quire.sentinels.service.views import (
    Added,
    Health,
    LeftOut,
    PageStatus,
    Proposal,
    ShownNotice,
    StoredEvent,
    StoredState,
    TargetInUse,
    TestedTarget,
)

__all__ = [
    "Added",
    "BulkAction",
    "Health",
    "LeftOut",
    "PageStatus",
    "Proposal",
    "Service",
    "ShownNotice",
    "StoredEvent",
    "StoredState",
    "TargetInUse",
    "TestedTarget",
    "Watch",
]
