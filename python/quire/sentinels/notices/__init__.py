"""Notices: events go in; people and programs hear about them, each once and in time.

An event becomes a notice for each target of its watch, and waits in an outbox. ``policy`` says when
it goes out and with which others, ``message`` writes it, ``channels`` send it. ``sender`` runs all
of this and tries again when something fails. ``feed`` writes events as Atom feeds.
"""

from __future__ import annotations

from quire.sentinels.notices.channels import Channels, MailServer, signing_key, webhook_gate
from quire.sentinels.notices.differences import Difference, Differences, differences
from quire.sentinels.notices.event import Event, EventKind, event_id
from quire.sentinels.notices.feed import tag_feed, watch_feed
from quire.sentinels.notices.message import Message, compose
from quire.sentinels.notices.outbox import Claim, DeadLetter, MemoryOutbox, Outbox
from quire.sentinels.notices.policy import Notice, Parcel, Plan, Retrying, next_try, plan
from quire.sentinels.notices.sender import Sender, Tally
from quire.sentinels.notices.targets import Target, TargetRules, read_target

__all__ = [
    "Channels",
    "Claim",
    "DeadLetter",
    "Difference",
    "Differences",
    "Event",
    "EventKind",
    "MailServer",
    "MemoryOutbox",
    "Message",
    "Notice",
    "Outbox",
    "Parcel",
    "Plan",
    "Retrying",
    "Sender",
    "Tally",
    "Target",
    "TargetRules",
    "compose",
    "differences",
    "event_id",
    "next_try",
    "plan",
    "read_target",
    "signing_key",
    "tag_feed",
    "watch_feed",
    "webhook_gate",
]
