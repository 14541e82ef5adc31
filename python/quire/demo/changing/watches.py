"""The watches of the demo: each shows one thing that quire does."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

#: How often the demo checks. Real watches should be more patient.
EVERY = "5 s"


def demo_watches(site: str) -> list[dict[str, Any]]:
    """Return the watches of the demo, for the newspaper at an address.

    >>> [form["name"] for form in demo_watches("http://127.0.0.2:8000/")]
    ['Headline', 'Front page', 'Cod below 8', 'Fish prices', 'Boats for sale', 'Tides']
    """
    market = urljoin(site, "market.html")
    forms: list[dict[str, Any]] = [
        {"name": "Headline", "url": site, "where": "#headline", "tags": ["news"]},
        # The advertisement, the counter and the token differ in every response: never announced.
        {"name": "Front page", "url": site, "tags": ["news"]},
        {
            "name": "Cod below 8",
            "url": market,
            "where": "#cod .price",
            "when": {"number": {"falls_below": 8}},
            "tags": ["market"],
        },
        # Found again after the new design; then it asks whether this is the right part.
        {"name": "Fish prices", "url": market, "where": "table.prices", "tags": ["market"]},
        # Tells about every boat once, however often the list changes its order.
        {
            "name": "Boats for sale",
            "url": urljoin(site, "boats.html"),
            "where": "#boats",
            "preset": "new record",
            "tags": ["market"],
        },
        {"name": "Tides", "url": urljoin(site, "tides.html")},  # never changes
    ]
    return [{**form, "every": EVERY} for form in forms]
