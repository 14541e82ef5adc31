"""The greeting of the demo says what happened, also while it is looked at."""

from __future__ import annotations

from playwright.sync_api import expect

from quire.web.app import create_app
from quire.web.pages.live.hub import Hub
from tests.web.browsing import in_thread
from tests.web.conftest import CHEAP, Site
from tests.web.live import visiting


def test_the_greeting_shows_the_first_change_by_itself(site: Site) -> None:
    app = create_app(site.service, hasher=CHEAP, demo="http://127.0.0.2:8000/")
    app.state.live = Hub(site.service, every_s=0.1)
    with visiting(app) as visitor:
        visitor.log_in("viewer")
        visitor.open("/")
        page = visitor.page
        happened = page.locator(".greeting .happened")
        page.locator("html[data-live=on]").wait_for()
        task = page.locator(".tasks a", has_text="Watch a price")
        task.focus()
        in_thread(site.check, b"<p id=price>3.25</p></html>")

        expect(happened).to_contain_text("3.25")
        expect(task).to_be_focused()
        visitor.seen.check()
