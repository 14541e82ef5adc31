"""A person's path through the whole demo, in a real browser: by mouse, and by keyboard alone.

The service, its worker and the newspaper run as ``quire serve --demo`` starts them. Nothing here
waits for a fixed time: each step waits until the page shows its result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Download, Page, expect

from tests.patience import PATIENCE_MS, PATIENCE_S
from tests.web.browsing import chromium, wait_until
from tests.web.demo import Demo, Hook, listening_hook, read, running_demo

PASSWORD = "a password of my own"  # noqa: S105 - of a test


@dataclass
class Person:
    """A person in front of a browser.

    Attributes:
        page: the page of the browser.
        demo: the demo.
        hook: the webhook that gets notices.
        asked: the addresses that the browser asked for.
        wrong: errors of scripts, dialogs, and refusals of the policy.
    """

    page: Page
    demo: Demo
    hook: Hook
    asked: list[str]
    wrong: list[str]

    def until(self, is_done: Callable[[], bool], between: Callable[[], object]) -> None:
        """Repeat a step until something is true."""

        def is_done_now() -> bool:
            if not is_done():
                between()
            return is_done()

        wait_until(self.page, is_done_now)

    def wait_for_another_price(self, market: str, price: str) -> None:
        """Wait until the market has another price of cod."""
        row = f'<tr id="cod"><td>Cod</td><td class="price">{price}</td></tr>'
        self.until(lambda: row not in read(market), lambda: None)

    def check_again(self, watch: str) -> None:
        """Open a watch, and check its page now, by keyboard."""
        self.page.goto(watch)
        with self.page.expect_navigation():
            self.press("Check now")

    def tab_to(self, wanted: str) -> None:
        """Press the tab key until a control with this name has the focus."""
        for _ in range(200):
            self.page.keyboard.press("Tab")
            for frame in self.page.frames:
                if frame.evaluate(NAME_OF_FOCUS) == wanted:
                    return
        raise AssertionError(f"the tab key does not lead to {wanted!r}")

    def press(self, wanted: str, key: str = "Enter") -> None:
        """Lead the focus to a control with this name, and press a key."""
        self.tab_to(wanted)
        self.page.keyboard.press(key)

    def write(self, wanted: str, text: str) -> None:
        """Lead the focus to a field with this name, and replace its text."""
        self.tab_to(wanted)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)


NAME_OF_FOCUS = """() => {
  const e = document.activeElement;
  if (!e || e === document.body || e.tagName === "IFRAME") return "";
  const labels = [...(e.labels ?? [])].map((each) => each.textContent).join(" ");
  return (e.ariaLabel || labels || e.textContent).trim().replace(/\\s+/g, " ");
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser."""
    with chromium() as found:
        yield found


@pytest.fixture
def person(browser: Browser) -> Iterator[Person]:
    """A person who has just started the demo."""
    with running_demo() as demo, listening_hook() as hook:
        context = browser.new_context(base_url=demo.url, viewport={"width": 1280, "height": 900})
        found = Person(context.new_page(), demo, hook, [], [])
        page = found.page
        page.set_default_timeout(PATIENCE_MS)
        page.on("request", lambda request: found.asked.append(request.url))
        page.on("pageerror", lambda error: found.wrong.append(str(error)))
        page.on("dialog", lambda dialog: found.wrong.append(f"a dialog: {dialog.message}"))
        page.on(
            "console",
            lambda message: found.wrong.append(message.text) if "Policy" in message.text else None,
        )
        yield found
        context.close()
    assert found.wrong == []
    assert [url for url in found.asked if not url.startswith((f"{demo.url}/", "data:"))] == []


def begin(person: Person) -> None:
    """Log in with the password that was printed, which works once; the demo greets."""
    page = person.page
    page.goto("/")
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password").fill(person.demo.password)
    page.get_by_role("button", name="Log in").click()
    page.get_by_label("Old password").fill(person.demo.password)
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_role("heading", name="Welcome to the demo")).to_be_visible()


def click_a_price(person: Person) -> tuple[str, str]:
    """Watch the price of cod; return the address of the market, and the price."""
    page = person.page
    page.get_by_role("link", name="Watch a price").click()
    page.wait_for_url("**/watches/new?**")
    market = parse_qs(urlsplit(page.url).query)["url"][0]
    page.get_by_role("button", name="Show the page").click()
    page.frame_locator("iframe").locator("#cod td.price a").click()
    expect(page.get_by_text("One element")).to_be_visible()
    price = page.locator(".says").inner_text().strip()
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_label("The price changes")).to_be_checked()
    page.get_by_label("Tell", exact=True).fill(person.hook.url)
    page.get_by_role("button", name="Send a test").click()
    expect(page.get_by_role("status")).to_contain_text("A test message was sent")
    assert b"est" in person.hook.arrived.get(timeout=PATIENCE_S)
    page.get_by_label("Name").fill("Cod")
    page.get_by_role("button", name="Add the watch").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Cod")
    return market, price


def price_before(event: dict[str, Any]) -> str:
    """Return the price that a notice says was there before."""
    found = re.search(r'"before": "([^"]*)"', json.dumps(event["differences"]))
    assert found is not None
    return found[1]


def see_it_fire(person: Person, market: str, price: str) -> None:
    """Check the price again when it is another one, and get the notice.

    On a slow machine the price can change while the watch is added; then it changes once more.
    """
    page = person.page
    watch = urlsplit(page.url).path
    person.wait_for_another_price(market, price)

    def check() -> None:
        page.goto(watch)
        with page.expect_navigation():
            page.get_by_role("button", name="Check now").click()

    person.until(lambda: not person.hook.arrived.empty(), check)
    (event,) = json.loads(person.hook.arrived.get(timeout=PATIENCE_S))["events"]
    assert (event["kind"], event["name"]) == ("change", "Cod")
    fired = page.locator("main").get_by_text(price_before(event), exact=True)
    person.until(lambda: fired.count() > 0, lambda: page.goto(watch))
    sent = page.get_by_text("sent", exact=True)
    person.until(lambda: sent.count() > 0, lambda: page.goto(f"{watch}/notices"))


def step_through_the_changes(person: Person) -> None:
    """Open the redline of the front page, which has several changes, and step through them."""
    page = person.page
    page.goto("/")
    page.locator("tbody").get_by_role("link", name="Front page").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Front page")
    front = urlsplit(page.url).path
    steps = page.get_by_role("link", name="Next")
    person.until(lambda: steps.count() > 0, lambda: page.goto(f"{front}/diff"))
    changes = int(page.locator("#diff").get_attribute("data-count") or 0)
    assert changes > 1
    expect(page.frame_locator("#diff iframe").locator("ins, del").first).to_be_visible()
    seen = set()
    for _ in range(changes):
        page.keyboard.press("n")
        seen.add(page.locator("#where").inner_text())
    assert seen == {f"{number} of {changes} changes" for number in range(1, changes + 1)}


def leave_the_advertisement_out(person: Person) -> None:
    """See that quire found the advertisement, and leave it out for good."""
    page = person.page
    page.get_by_role("link", name="Noise", exact=True).click()
    listed = page.locator("main table")
    person.until(lambda: listed.count() > 0, page.reload)
    expect(listed).to_contain_text("aside")
    page.get_by_label("Leave out another part of the page").fill("aside.ad")
    page.get_by_role("button", name="Leave it out").click()
    expect(page.get_by_role("heading", name="Left out by you")).to_be_visible()


def exported(download: Download) -> dict[str, dict[str, Any]]:
    """Return the forms in a file that was downloaded, by name."""
    found = json.loads(download.path().read_bytes())
    return {form["name"]: form for form in found["watches"]}


def test_by_mouse(person: Person) -> None:
    page = person.page
    begin(person)
    market, price = click_a_price(person)
    see_it_fire(person, market, price)
    step_through_the_changes(person)
    leave_the_advertisement_out(person)
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Import and export").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Watches as JSON").click()

    forms = exported(download.value)
    assert forms["Cod"]["where"] == "#cod td.price"
    assert forms["Front page"]["without"] == "aside.ad"
    assert person.hook.url not in json.dumps(forms)


def test_by_keyboard_alone(person: Person) -> None:
    page = person.page
    page.goto("/")
    person.write("Name", "admin")
    person.write("Password", person.demo.password)
    page.keyboard.press("Enter")
    page.wait_for_url("**/password")
    person.write("Old password", person.demo.password)
    person.write("New password, 10 characters or more", PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Welcome to the demo")).to_be_visible()

    # Choose a price: the texts of the page are reached by the tab key.
    person.press("Watch a price")
    page.wait_for_url("**/watches/new?**")
    market = parse_qs(urlsplit(page.url).query)["url"][0]
    person.press("Show the page")
    page.frame_locator("iframe").locator("#cod td.price a").wait_for()
    price = page.frame_locator("iframe").locator("#cod td.price").inner_text().strip()
    person.press(price)
    expect(page.get_by_text("One element")).to_be_visible()
    person.press("Next")
    expect(page.get_by_label("The price changes")).to_be_checked()
    person.write("Tell", person.hook.url)
    person.write("Name", "Cod")
    person.press("Add the watch")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Cod")
    watch = urlsplit(page.url).path

    # See it fire, and step through the change.
    person.wait_for_another_price(market, price)
    fired = page.get_by_role("link", name="Show the change")
    person.until(lambda: fired.count() > 0, lambda: person.check_again(watch))
    (event,) = json.loads(person.hook.arrived.get(timeout=PATIENCE_S))["events"]
    person.press("Show the change")
    page.locator("#diff iframe").wait_for()
    before = page.frame_locator("#diff iframe").locator("del").first
    expect(before).to_have_text(price_before(event))
    page.keyboard.press("n")
    expect(page.locator("#where")).to_contain_text(" of ")

    # Leave a part out, and export.
    person.press("Noise")
    page.wait_for_url("**/noise**")
    person.write("Leave out another part of the page", "nav")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Left out by you")).to_be_visible()
    person.press("Settings")
    page.wait_for_url("**/settings")
    person.press("Import and export")
    page.wait_for_url("**/settings/import")
    with page.expect_download() as download:
        person.press("Watches as JSON")

    forms = exported(download.value)
    assert (forms["Cod"]["where"], forms["Cod"]["without"]) == ("#cod td.price", "nav")
