"""Advice: what to do about a fragment: an action for code, and a sentence or two for people."""

from __future__ import annotations

from dataclasses import replace

from quire.display import format_count, format_duration
from quire.fragments.caching.isolation import MOST_SHARE
from quire.fragments.caching.region_history import PRIVATE
from quire.fragments.cuts.hazards import MEANINGS
from quire.fragments.policy import Policy
from quire.fragments.study.facts import Action, FragmentFacts


def advised(facts: FragmentFacts) -> FragmentFacts:
    """Add to a fragment's facts what to do about it."""
    advice = {"exact": _exact, "approximate": _approximate, "own pace": _own_pace}[facts.tier]
    action, sentence = advice(facts)
    return replace(facts, action=action, advice=sentence)


def _exact(facts: FragmentFacts) -> tuple[Action, str]:
    policy = facts.policy or Policy()
    if facts.planned == "isolated":
        away = "keep it out of shared caches" if policy.sharing == "private" else "do not cache it"
        return "isolate", f"Cut it out and {away}, so that the rest can be cached: {policy.reason}."
    if facts.planned == "paced":
        return (
            "cut",
            f"Cut it out and {_keeping(policy)} The rest of its page changes at other times.",
        )
    if policy.sharing == "private":
        more = "If the private part were separate, the rest could be cached."
        return "isolate", f"Cut it out, but keep it out of shared caches: {PRIVATE}. {more}"
    return "cut", f"Cut it out and {_keeping(policy)}{_asked(facts)}{_hazards(facts)}"


def _keeping(policy: Policy) -> str:
    if policy.source == "default":
        return "purge it when it changes; versions of its pages would tell how long it may be kept."
    if not policy.ttl_s:
        return f"do not cache it: {policy.reason}."
    return f"keep it for {format_duration(policy.ttl_s)}: {policy.reason}."


def _approximate(facts: FragmentFacts) -> tuple[Action, str]:
    plan = "Until then it cannot be cut out, and the plan leaves it in its pages."
    if facts.planned != "left":
        plan = "Until then it cannot be cut out as a whole; the plan cuts out equal parts of it."
    if facts.sharing == "private":
        return "isolate", f"Keep it out of shared caches, or separate its private part: {PRIVATE}."
    if facts.same_text:
        return (
            "unify",
            f"Make its markup the same on all pages: the text is, the bytes are not. {plan}",
        )
    return "unify", f"Make it the same on all pages, or move the differences out of it. {plan}"


def _own_pace(facts: FragmentFacts) -> tuple[Action, str]:
    policy = facts.policy
    if policy is None:
        return "leave", "Leave it: its place in the source is not known."
    if facts.planned == "isolated":
        away = "out of shared caches" if policy.sharing == "private" else "out of the cache"
        return "isolate", f"The plan cuts it out and keeps it {away}: {policy.reason}."
    if facts.planned == "paced":
        kept = f"cached for {format_duration(policy.ttl_s)}" if policy.is_cached else "not cached"
        return "cut", f"The plan cuts it out for its pace, {kept}: {policy.reason}."
    if facts.planned == "cut":
        kept = f"cached for {format_duration(policy.ttl_s)}" if policy.is_cached else "not cached"
        return "cut", f"The plan cuts it out with a shared fragment, {kept}: {policy.reason}."
    if facts.sharing == "private":
        return "isolate", f"Serve it by itself: {PRIVATE}. The plan leaves it{_why_left(facts)}."
    return "leave", f"Leave it: {_leaving(facts, policy)}.{_hazards(facts)}"


def _leaving(facts: FragmentFacts, policy: Policy) -> str:
    if facts.page_share > MOST_SHARE:
        return f"it is {100 * facts.page_share:.0f} % of its page, better cached as a whole"
    if policy.is_cached:
        return (
            f"its page can be cached for {format_duration(policy.ttl_s)} with it: {policy.reason}"
        )
    return f"the rest of its page cannot be cached either: {policy.reason}"


def _why_left(facts: FragmentFacts) -> str:
    if facts.hazards:
        return f" in its page: {MEANINGS[facts.hazards[0].kind]}"
    if facts.page_share > MOST_SHARE:
        return f" in its page: it is {100 * facts.page_share:.0f} % of it"
    return " in its page, the rest of which cannot be cached either"


def _asked(facts: FragmentFacts) -> str:
    """How often its pages are requested, if a log shows that."""
    if facts.requests is None:
        return ""
    if not facts.requests:
        return " Its pages were not requested while the log was written."
    if facts.requests_per_day is None:
        return f" Its pages were requested {_times(facts.requests)}."
    return f" Its pages are requested {_times(round(facts.requests_per_day))} a day."


def _times(count: int) -> str:
    return "less than once" if not count else "once" if count == 1 else f"{count:,} times"


def _hazards(facts: FragmentFacts) -> str:
    """How many more pages keep it, because a cache would not compose them, and why."""
    count = sum(one.pages for one in facts.hazards)
    if not count:
        return ""
    keep = "keeps" if count == 1 else "keep"
    return f" {format_count(count, 'more page')} {keep} it: {MEANINGS[facts.hazards[0].kind]}."
