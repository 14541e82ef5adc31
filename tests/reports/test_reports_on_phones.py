"""Reports on a narrow screen, in a real browser."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.fragments.test_statistics import small_site
from tests.reports.test_fragment_report import drawn_of
from tests.web.browsing import chromium


def test_a_phone_shows_the_words_and_figures_of_every_part() -> None:
    document, _ = drawn_of(small_site())
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 900})
        page.set_content(document)
        expect(page.locator(".ranked .what").first).to_be_visible()
        outside = page.evaluate(
            "[...document.querySelectorAll('.ranked td')]"
            ".filter((cell) => cell.getBoundingClientRect().right > innerWidth).length"
        )
        assert outside == 0
        name = page.evaluate(
            "getComputedStyle(document.querySelector('.ranked [data-label=pages]'), '::before').content"
        )
        assert "pages" in name
