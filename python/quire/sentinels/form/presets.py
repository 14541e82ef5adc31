"""Presets: watches that people ask for by name. Everything in them can be overridden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Preset:
    """A preset.

    Attributes:
        summary: what it does, in one line.
        form: the fields it sets.
    """

    summary: str
    form: Mapping[str, object]


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "any change": Preset(
            "Any visible change: text, links or images.",
            {"watch": ["content"]},
        ),
        "new item": Preset(
            "A line that was never in this list before.",
            {"watch": ["text"], "ignore": {"order": True}, "when": {"never_seen": True}},
        ),
        "new record": Preset(
            "A record that was never in this list before: an offer, a job, a comment.",
            {"watch": ["records"], "when": {"new_record": True}},
        ),
        "new entry": Preset(
            "An entry that a feed did not have before.",
            {"where": "feed:entries", "ignore": {"order": True}, "when": {"new_entry": True}},
        ),
        "price": Preset(
            "A price that changes.",
            {"watch": ["text"], "when": {"number": {"changes_by": 0}}},
        ),
        "price drop": Preset(
            "A price that falls.",
            {"watch": ["text"], "when": {"number": {"falls_by": 0}}},
        ),
        "back in stock": Preset(
            "The part no longer says that something is sold out.",
            {
                "watch": ["text"],
                "when": {
                    "all": [
                        {"text": {"in": "old", "matches": "(?i)sold out|out of stock|unavailable"}},
                        {"not": {"text": {"matches": "(?i)sold out|out of stock|unavailable"}}},
                    ]
                },
            },
        ),
        "link": Preset(
            "The target of a link changes, or a link is added or removed.",
            {"watch": ["links"]},
        ),
        "page gone": Preset(
            "The page disappears, or comes back.",
            {"when": {"any": [{"page": "gone"}, {"page": "fine"}]}},
        ),
    }
)
