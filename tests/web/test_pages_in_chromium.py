"""The lists and the settings in a real browser: by keyboard, live, and without scripts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from quire.web import create_app
from tests.web.accessibility import findings
from tests.web.browsing import (
    SCHEMES,
    WIDTHS,
    chromium,
    in_thread,
    serving,
    visiting,
    wait_until,
)
from tests.web.conftest import CHEAP, PASSWORD, Site, open_gate
from tests.web.counting_hub import CountingHub
from tests.web.test_watches_page import HOSTILE

PAGES = (
    "/",
    "/?text=nothing",
    "/?order=name&page=2",
    "/changes",
    "/changes?kind=moved",
    "/settings",
    "/settings/accounts",
    "/settings/tokens",
    "/settings/notices",
    "/settings/import",
    "/password",
    "/api/docs",
)


@pytest.fixture
def browser(site: Site) -> Iterator[Browser]:
    """A browser. It ends before the site does: their event loops cannot run at the same time."""
    del site
    with chromium() as found:
        yield found


@pytest.fixture
def address(site: Site) -> Iterator[str]:
    """The address of an application with some watches, which tells news quickly."""
    for number in range(60):
        paused, tags = number % 9 == 0, ["news", f"tag {number % 5}"]
        form = {"name": f"Watch {number:02}", "url": f"https://w{number}.example/", "tags": tags}
        site.service.add({**form, "paused": paused})
    site.service.add({"name": HOSTILE, "url": "https://hostile.example/", "tags": [HOSTILE]})
    site.app = create_app(
        site.service, hasher=CHEAP, open_gate=open_gate, demo="http://127.0.0.2:8000/"
    )
    site.app.state.live = CountingHub(site.service, every_s=0.1)
    with serving(site.app) as found:
        yield found


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def tab_to(page: Page, wanted: str) -> None:
    """Press the tab key until something with this name has the focus."""
    for _ in range(300):
        press(page, "Tab")
        name = page.evaluate(
            "(e => e.ariaLabel || [...(e.labels ?? [])].map(l => l.textContent).join(' ')"
            " || e.textContent)(document.activeElement)"
        )
        if name.strip() == wanted:
            return
    raise AssertionError(f"the tab key does not lead to {wanted!r}")


def test_a_person_searches_chooses_and_pauses_by_keyboard(
    browser: Browser, address: str, site: Site
) -> None:
    with visiting(browser, address, "editor", PASSWORD) as page:
        press(page, "Tab")
        expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        tab_to(page, "Search")
        page.keyboard.type("watch 1")
        press(page, "Enter")
        page.wait_for_url("**/?text=watch+1*")
        expect(page.locator("tbody tr")).to_have_count(10)
        tab_to(page, "Choose Watch 11")
        press(page, "Space")
        expect(page.get_by_role("status").filter(has_text="1 chosen")).to_be_visible()
        tab_to(page, "Choose Watch 10")
        press(page, "Space")
        tab_to(page, "Pause")
        press(page, "Enter")
        page.wait_for_url("**done=pause&count=2")
        expect(page.get_by_text("2 watches paused.")).to_be_visible()
        assert page.url.startswith(f"{address}/?text=watch+1")
        expect(page.locator("tr", has_text="Watch 11")).to_contain_text("paused")
    assert site.service.find("Watch 11").paused


def test_all_rows_of_a_page_are_chosen_and_deleted_after_a_question(
    browser: Browser, address: str, site: Site
) -> None:
    with visiting(browser, address, "editor", PASSWORD) as page:
        page.goto("/?tag=tag+3")
        page.get_by_label("Choose all watches of this page").check()
        expect(page.get_by_text("12 chosen")).to_be_visible()
        page.get_by_role("button", name="Delete…").click()
        expect(page.get_by_role("heading", name="Delete 12 watches?")).to_be_visible()
        page.get_by_role("button", name="Delete").click()
        expect(page.get_by_text("12 watches deleted.")).to_be_visible()
    assert len(site.service.watches()) == 50


def test_rows_change_in_place_and_changes_are_announced(
    browser: Browser, address: str, site: Site
) -> None:
    with visiting(browser, address, "editor", PASSWORD) as page:
        page.goto("/?tag=shop")
        row = page.locator(f"#watch-{site.watch}")
        expect(row).to_contain_text("2 changes in 30 days")
        page.get_by_label("Choose price").check()
        hub: CountingHub = site.app.state.live
        wait_until(page, lambda: hub.has_read_for([site.watch]))

        in_thread(site.check, b"<p id=price>3.25</p></html>")

        expect(row).to_contain_text("3 changes in 30 days")
        expect(page.locator("#news")).to_have_text("price: 3.25")
        assert page.locator("#news").get_attribute("aria-live") == "polite"
        assert page.get_by_label("Choose price").is_checked()
        in_thread(site.service.remove, site.watch)
        expect(row).to_have_count(0)


def test_the_list_of_changes_says_that_there_are_new_ones(
    browser: Browser, address: str, site: Site
) -> None:
    with visiting(browser, address, "viewer", PASSWORD) as page:
        page.goto("/changes")
        hub: CountingHub = site.app.state.live
        wait_until(page, lambda: hub.has_read_for([]))
        in_thread(site.check, b"<p id=price>4.75</p></html>")
        page.get_by_role("link", name="Show 1 new change").click()
        expect(page.locator(".event").first).to_contain_text("4.75")


def test_everything_works_without_scripts(browser: Browser, address: str, site: Site) -> None:
    with visiting(browser, address, "admin", PASSWORD, java_script_enabled=False) as page:
        page.get_by_label("Search").fill("watch 42")
        page.get_by_role("button", name="Search").click()
        page.get_by_label("Choose Watch 42").check()
        page.get_by_role("textbox", name="Tag").fill("special")
        page.get_by_role("button", name="Add tag").click()
        expect(page.get_by_text("1 watch got the tag.")).to_be_visible()
        page.goto("/settings/import")
        file = {"name": "a.txt", "mimeType": "text/plain", "buffer": b"https://new.example/\n"}
        page.get_by_label("File").set_input_files(file)  # type: ignore[arg-type]
        page.get_by_role("button", name="Show what would be added").click()
        page.get_by_role("button", name="Add 1 watch").click()
        expect(page.get_by_role("heading", name="1 watch added")).to_be_visible()
        page.goto("/settings/accounts")
        page.get_by_label("Name").fill("Grace")
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.locator(".secret")).to_be_visible()
    assert site.service.find("Watch 42").watch.tags == ("news", "tag 2", "special")
    assert site.service.find("https://new.example/").watch.pages.urls == ("https://new.example/",)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_pages_can_be_used_by_everyone(
    browser: Browser, address: str, width: int, scheme: str
) -> None:
    wrong = {}
    options = {"color_scheme": scheme, "reduced_motion": "reduce"}
    with visiting(browser, address, "admin", PASSWORD, width=width, **options) as page:
        for path in PAGES:
            page.goto(path)
            if found := findings(page):
                wrong[path] = found
        page.goto("/")
        page.get_by_label(f"Choose {HOSTILE}").check()
        wrong |= {"chosen": found} if (found := findings(page)) else {}
        page.get_by_role("button", name="Delete…").click()
        expect(page.get_by_role("heading", name="Delete 1 watch?")).to_be_visible()
        page.wait_for_load_state("load")
        wrong |= {"delete": found} if (found := findings(page)) else {}
    assert wrong == {}


def test_the_first_page_without_watches_can_be_used_by_everyone(
    browser: Browser, site: Site
) -> None:
    site.service.remove(site.watch)
    with (
        serving(site.app) as address,
        visiting(browser, address, "admin", PASSWORD, width=390) as page,
    ):
        assert findings(page) == []
        page.goto("/login")
        assert findings(page) == []


BROKEN = {
    "has no name": "<button></button>",
    "has no name (field)": "<input placeholder='Name'>",
    "skips a level": "<h4>Deep</h4>",
    "outside of all landmarks": "</main><p>Out</p><main>",
    "has a contrast of": "<p style='color:#999;background:#fff'>Pale</p>",
    "is there twice": "<p id=main>Twice</p>",
    "no alternative text": "<img width=9 height=9 src=''>",
    "has no title": "<iframe></iframe>",
    "drawing without a name": "<svg width=9 height=9></svg>",
    "leads nowhere": "<svg role=presentation width=9 height=9>"
    "<a href='#nothing' aria-label=x><rect width=9 height=9 /></a></svg>",
    "no header cells": "<table><tr><td>x</td></tr></table>",
    "jumps the order": "<a href='/' tabindex=2>First</a>",
    "scrolls sideways": "<p style='width:3000px'>Wide</p>",
    "can be reached but not be heard": "<a aria-hidden=true href='/'>x</a>",
    "refers to": "<label for=nothing>x</label>",
}


def test_the_rules_find_broken_pages(browser: Browser) -> None:
    missed = {}
    for name, html in BROKEN.items():
        page = browser.new_page()
        page.set_content(
            "<!doctype html><html lang=en><title>t</title><body>"
            f"<main id=main><h1>Title</h1>{html}</main></body></html>"
        )
        found = findings(page)
        page.close()
        if not any(name.partition(" (")[0] in each for each in found):
            missed[name] = found

    assert missed == {}
