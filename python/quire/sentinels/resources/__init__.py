"""Resources: style sheets, images and fonts that pages need to look like pages.

A page goes in (``gathering``); everything that it would load goes through the gate, is sniffed
(``kinds``) and stored once by its hash (``storing``). Documents of ``quire.viewing`` refer to it by
signed addresses, and the web application answers those from the store alone. Reports, which load
nothing, get them written into the document (``embedding``).
"""

from __future__ import annotations

from quire.sentinels.resources.embedding import FoundLooks, ReadLooks, StoredLooks, sniffed
from quire.sentinels.resources.gathering import Gathered, gather
from quire.sentinels.resources.kinds import Kind, sniff
from quire.sentinels.resources.storing import Resource, Resources

__all__ = [
    "FoundLooks",
    "Gathered",
    "Kind",
    "ReadLooks",
    "Resource",
    "Resources",
    "StoredLooks",
    "gather",
    "sniff",
    "sniffed",
]
