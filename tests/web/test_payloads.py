"""Payloads in every place that comes from a page or from a person, in every view, in a browser.

They are seen with the policy of our pages, and without it: then only escaping and the rights of frames
are left.
"""

from __future__ import annotations

from html import escape

import pytest

from tests.web.conftest import Site
from tests.web.live import visiting
from tests.web.payloads import PAYLOADS
from tests.web.test_one_watch import add

TABS = (
    "", "/diff", "/diff?view=side", "/diff?view=text", "/diff?view=source", "/why", "/history",
    "/noise", "/replay", "/notices", "/form", "/remove", "/frame/both", "/frame/old", "/frame/new",
    "/frame/noise",
)  # fmt: skip


def page_of(word: str) -> str:
    """Return a page with all payloads as markup, as texts, and in attributes."""
    parts = [f"<title>{word} {escape(PAYLOADS[1])}</title>"]
    for each in PAYLOADS:
        safe = escape(each)
        parts += [
            f"<p>{word} {each}</p>",
            f"<p>{word} {safe}</p>",
            f'<img alt="{safe}{word}" title="{safe}" src="{safe}"><a href="{safe}">{safe}</a>',
            f'<p id="{safe}" class="{safe}" style="{safe}">x</p>',
        ]
    return "".join(parts)


def test_there_are_enough() -> None:
    assert len(set(PAYLOADS)) >= 300


@pytest.mark.parametrize("policy", [True, False], ids=["policy", "no policy"])
def test_no_payload_runs_or_loads_anything(site: Site, *, policy: bool) -> None:
    old, new = page_of("old").encode(), page_of("new").encode()
    some = PAYLOADS[:: len(PAYLOADS) // 20]
    watches = [
        add(
            site,
            {
                "url": "https://example.org/?q=%22%3E",
                "name": each[:400],
                "where": "body",
                "tags": [each],
                "when": {"any": ["changed", {"text": {"has": each}}]},
                "learn_noise": False,
            },
            *([old + b"</html>", new + b"</html>"] if number == 0 else []),
        )
        for number, each in enumerate(some)
    ]
    with visiting(site.app, policy=policy) as visitor:
        visitor.log_in("admin")
        for tab in TABS:
            visitor.open(f"/watches/{watches[0]}{tab}")
            visitor.page.wait_for_load_state("load")
        for watch in watches[1:]:
            for tab in ("", "/form", "/remove"):
                visitor.open(f"/watches/{watch}{tab}")
        visitor.open("/compare")
        visitor.page.fill("#old-text", page_of("old"))
        visitor.page.fill("#new-text", page_of("new"))
        visitor.page.click("main button")
        for view in ("side", "text", "source"):
            visitor.page.click(f".switch a[href*='view={view}']")
            visitor.page.wait_for_load_state("load")
        visitor.page.goto(f"{visitor.address}/compare")
        visitor.page.fill("#old-text", page_of("again"))
        visitor.page.click("main button")
        assert "nothing was given" in visitor.page.inner_text(".wrong")
        assert (visitor.seen.elsewhere, visitor.seen.dialogs) == ([], [])
