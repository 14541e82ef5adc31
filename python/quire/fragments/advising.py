"""Advice: what to do about a fragment, in one sentence.

Above: ``statistics``, ``report``. Below: ``facts``, ``plan``.
"""

from __future__ import annotations

from quire.fragments.facts import FragmentFacts
from quire.fragments.plan import MIN_PART_BYTES
from quire.writing import told_seconds


def advice(facts: FragmentFacts) -> str:
    """Say what to do about a fragment."""
    if facts.pace.sharing == "private":
        return "Deliver it by itself and keep it out of shared caches: readers get different ones."
    if facts.tier == "approximate":
        if facts.same_text:
            return "Make its markup the same on all pages: the text is, the bytes are not. Then it can be cut out."
        return "Make it the same on all pages, or take out what differs. Until then it cannot be cut out."
    if facts.tier == "exact" and facts.stored_beyond <= 0 and facts.source_bytes >= MIN_PART_BYTES:
        return "Leave it: what is around or inside it is cut out already."
    if facts.source_bytes < MIN_PART_BYTES:
        return f"Leave it: under {MIN_PART_BYTES} bytes an include and its request cost more than they save."
    return f"Cut it out and {_keeping(facts)}"


def _keeping(facts: FragmentFacts) -> str:
    pace = facts.pace
    if not pace.watched_s:
        return "purge it when it changes; versions of its pages would tell how long it may be kept."
    if not pace.changes:
        return f"keep it long: it was not seen to change in {told_seconds(pace.watched_s)}."
    if not pace.ttl_s:
        return "purge it when it changes: versions are too far apart to say how long it lives."
    return f"keep it for {told_seconds(pace.ttl_s)}: nine of ten of its lives are as long."
