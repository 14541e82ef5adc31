"""Advice: what to do about a fragment: an action for code, and a sentence or two for people."""

from __future__ import annotations

from dataclasses import replace

from quire.display import format_duration
from quire.fragments.caching.isolation import MOST_SHARE
from quire.fragments.cuts.hazards import MEANINGS
from quire.fragments.cuts.plan import MIN_PART_BYTES
from quire.fragments.study.facts import Action, FragmentFacts


def advised(facts: FragmentFacts) -> FragmentFacts:
    """Add to a fragment's facts what to do about it."""
    action, advice = _advice(facts)
    return replace(facts, action=action, advice=advice)


def _advice(facts: FragmentFacts) -> tuple[Action, str]:
    if facts.sharing == "private":
        if facts.tier == "own pace":
            return (
                "isolate",
                "Deliver it by itself and keep it out of shared caches: readers get different ones.",
            )
        return (
            "isolate",
            "Keep it out of shared caches, or set apart what in it is for one reader: readers get different ones.",
        )
    if facts.tier == "approximate":
        if facts.same_text:
            return (
                "unify",
                "Make its markup the same on all pages: the text is, the bytes are not. Then it can be cut out.",
            )
        return (
            "unify",
            "Make it the same on all pages, or take out what differs. Until then it cannot be cut out.",
        )
    leaving = _leaving(facts)
    if leaving is not None:
        return "leave", leaving
    return "cut", f"Cut it out and {_keeping(facts)}{_asked(facts)}{_hazards(facts)}"


def _leaving(facts: FragmentFacts) -> str | None:
    """Why it is not worth it, where it is not."""
    if facts.tier == "exact" and facts.stored_beyond <= 0 and facts.source_bytes >= MIN_PART_BYTES:
        return "Leave it: what is around or inside it is cut out already."
    if facts.source_bytes < MIN_PART_BYTES and not _goes_past(facts):
        return f"Leave it: under {MIN_PART_BYTES} bytes an include and its request cost more than they save."
    if facts.page_share > MOST_SHARE and facts.policy is not None:
        share = f"{100 * facts.page_share:.0f} %"
        return f"Leave it: it is {share} of its page, which is as well kept and purged as a whole."
    if facts.requests == 0:
        return "Leave it for now: nobody asked for its pages while the log was written."
    return None


def _goes_past(facts: FragmentFacts) -> bool:
    """Whether it keeps the rest of its page out of the cache, however small it is."""
    policy = facts.policy
    is_measured = policy is not None and policy.source == "measured"
    return facts.tier == "own pace" and is_measured and policy is not None and not policy.ttl_s


def _keeping(facts: FragmentFacts) -> str:
    policy = facts.policy
    if policy is None and facts.pace.watched_s:
        return "purge it when it changes. The newest capture is another kind of page, without it."
    if policy is None:
        return "purge it when it changes; versions of its pages would tell how long it may be kept."
    if policy.source != "measured":
        return (
            "purge it when it changes: versions of other times would tell how long it may be kept."
        )
    if not policy.ttl_s:
        return (
            f"let requests for it go past the cache, so that the rest stays there: {policy.reason}."
        )
    return f"keep it for {format_duration(policy.ttl_s)}: {policy.reason}."


def _asked(facts: FragmentFacts) -> str:
    """How often its pages are asked for, where a log says so."""
    if facts.requests is None:
        return ""
    if facts.requests_per_day is None:
        return f" Its pages were asked for {_times(facts.requests)}."
    return f" Its pages are asked for {_times(round(facts.requests_per_day))} a day."


def _times(count: int) -> str:
    return "less than once" if not count else "once" if count == 1 else f"{count:,} times"


def _hazards(facts: FragmentFacts) -> str:
    """On which of its pages a cache would not compose it, and why."""
    count = sum(one.pages for one in facts.hazards)
    if not count:
        return ""
    why = MEANINGS[facts.hazards[0].kind]
    if count >= facts.pages:
        where = "its page" if facts.pages == 1 else "none of its pages"
        can = "cannot" if facts.pages == 1 else "can"
        return f" But {where} {can} be composed as it is: {why}."
    keep = "keeps" if count == 1 else "keep"
    return f" {count:,} of its {facts.pages:,} pages {keep} it: {why}."
