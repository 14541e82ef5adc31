"""The plain definition of an evaluation: every sentinel reads both versions in full.

This is what the shortcuts are tested against, and the monitor "without groups" of the experiments.
"""

from __future__ import annotations

from dataclasses import replace

from quire.digest.page import Digest
from quire.sentinels.conditions.comparison import Circumstances, Comparison
from quire.sentinels.groups.outcome import Outcome
from quire.sentinels.parts.part import ASPECTS
from quire.sentinels.parts.reading import PageReader
from quire.sentinels.sentinel import Sentinel


def evaluate_alone(sentinel: Sentinel, old: Digest, new: Digest, about: Circumstances) -> Outcome:
    """Evaluate one sentinel on two versions, reading everything it watches on both."""
    before, after = PageReader(old), PageReader(new)
    differing = {
        aspect for part in sentinel.parts for aspect in after.read(part).differs(before.read(part))
    }
    changed = tuple(aspect for aspect in ASPECTS if aspect in differing)
    missing = any(
        after.read(part).found == 0 or ("records" in part.watch and after.records(part) is None)
        for part in sentinel.parts
    )
    finding = None
    if changed or sentinel.is_timely:
        known = replace(about, last_change=about.now) if changed else about
        seen = Comparison(lambda: before, after, known)
        finding = sentinel.condition.judge(seen, explain=True)
    return Outcome(
        sentinel=sentinel.name,
        changed=changed,
        fired=finding is not None and finding.holds is True,
        settled_by="reading",
        finding=finding,
        missing=missing,
    )
