"""Noise in every view of a watch's changes, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Site
from tests.web.live import visiting
from tests.web.noisy import noisy_watch


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_one_switch_hides_and_shows_noise_in_every_view(
    site: Site, width: int, *, dark: bool
) -> None:
    watch = noisy_watch(site)
    with visiting(site.app, width=width, dark=dark) as visitor:
        visitor.log_in("viewer")
        visitor.open(f"/watches/{watch}/diff")
        page = visitor.page
        frame = page.frame_locator("iframe[name=changed-page]")
        expect(frame.locator("del.quire-quiet")).to_be_visible()
        page.click("#noise-switch")
        expect(frame.locator("del.quire-quiet")).to_be_hidden()
        expect(frame.locator("#ad")).to_contain_text("Offer")
        expect(frame.locator("del.quire-del:not(.quire-quiet)")).to_have_text("Hake")
        page.get_by_role("link", name="Text", exact=True).click()
        expect(page.locator("tr.only-noise")).to_have_count(0)
        expect(page.locator("tr.same", has_text="Offer")).to_have_count(1)
        page.click("#noise-switch")
        expect(page.locator("tr.only-noise")).to_have_count(1)
        expect(page.locator("#where")).to_have_text("1 change")
        page.get_by_role("link", name="Source").click()
        expect(page.locator("tr.only-noise")).to_contain_text("Offer")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        visitor.seen.check()
