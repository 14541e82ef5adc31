"""Changes in a real browser: from one to the next by button, key, map and list, and nothing leaks.

The frame has no rights, so tests look at it from outside, as a person does: which mark is at the
fragment of its address, and whether it is in sight.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Frame, Route

from tests.web.browsing import becomes, in_thread, wait_until
from tests.web.conftest import Site
from tests.web.counting_hub import CountingHub
from tests.web.live import Visitor, visiting
from tests.web.test_one_watch import HOSTILE, add, see

SPACE = "".join(f"<p>Berth {number} is free\n" + "<br>" * 8 for number in range(8))
STYLE = "<style>p{color:#123}@import url(//evil.example/a.css);body{background:url(//evil.example/b)}</style>"
TRAPS = (
    "<script>alert(1)</script><img src=//evil.example/c onerror=alert(2)><iframe src=//evil.example/d>"
    "</iframe><meta http-equiv=refresh content='0;url=//evil.example/e'><base href=//evil.example/>"
    "<link rel=stylesheet href=//evil.example/f><form action=//evil.example/g><button>go</button></form>"
    "<a id=quire-change-1 href=//evil.example/h>x</a><svg><script>alert(3)</script></svg>"
)
OLD = f"{STYLE}<title>{HOSTILE}</title><p>Fee: 10{SPACE}<p>Boats may stay{SPACE}<p>Opens at nine{TRAPS}</html>"
NEW = f"{STYLE}<title>{HOSTILE}!</title><p>Fee: 12{SPACE}<p>Boats must stay{SPACE}<p>Opens at eight{TRAPS}</html>"


@pytest.fixture
def watch(site: Site) -> int:
    form = {"url": "https://example.org/fees", "name": HOSTILE}
    return add(site, form, OLD.encode(), NEW.encode())


@pytest.fixture
def visitor(site: Site, watch: int) -> Iterator[Visitor]:
    assert watch  # made first: the browser has an event loop of its own
    with visiting(site.app) as found:
        found.log_in("viewer")
        yield found


def framed(visitor: Visitor, name: str = "changed-page") -> Frame:
    """Return a frame of the page once it is loaded."""
    visitor.page.wait_for_load_state("load")
    frame = visitor.page.frame(name)
    assert frame is not None
    return frame


def place(visitor: Visitor) -> tuple[str, str, bool]:
    """Return where a visitor is: the words of the bar, the mark in the frame, and if it is in sight."""
    words = visitor.page.locator("#where").inner_text()
    frame = visitor.page.frame("changed-page")
    if frame is None or frame.locator(":target").count() != 1:  # not there yet
        return words, "", False
    mark = frame.locator(":target")
    box = mark.bounding_box()
    outer = visitor.page.locator("iframe[name=changed-page]").bounding_box()
    if box is None or outer is None:
        return words, "", False
    is_seen = outer["y"] <= box["y"] and box["y"] + box["height"] <= outer["y"] + outer["height"]
    return words, mark.inner_text(), is_seen


def arrives(visitor: Visitor, expected: tuple[str, str, bool]) -> None:
    """Wait until a visitor is at a change: a frame scrolls some time after its address changed."""
    becomes(visitor.page, lambda: place(visitor), expected)


def arrives_by_link(visitor: Visitor, expected: tuple[str, str]) -> None:
    """Wait until a page that was loaded for a change shows it.

    On a busy machine Chromium now and then leaves a frame of another origin at its top, although it
    has found the target. Then a person loads the page again, and so does this.
    """
    for _ in range(5):
        becomes(visitor.page, lambda: place(visitor)[:2], expected)
        ends = time.monotonic() + 5
        while time.monotonic() < ends:
            if place(visitor) == (*expected, True):
                return
            visitor.page.wait_for_timeout(20)
        visitor.page.reload()
    arrives(visitor, (*expected, True))


def test_buttons_keys_map_and_list_lead_from_change_to_change(visitor: Visitor, watch: int) -> None:
    visitor.open(f"/watches/{watch}/diff")
    framed(visitor)
    page = visitor.page
    first, second, third = (
        ("1 of 3 changes", "10", True),
        ("2 of 3 changes", "may", True),
        ("3 of 3 changes", "nine", True),
    )

    arrives(visitor, first)
    page.click("#next")
    arrives(visitor, second)
    page.keyboard.press("n")
    arrives(visitor, third)
    page.keyboard.press("n")
    arrives(visitor, first)
    page.keyboard.press("p")
    arrives(visitor, third)
    page.click("#previous")
    arrives(visitor, second)
    page.click(".map [data-change='3']")
    arrives(visitor, third)
    page.click(".listing summary")
    page.click(".listing li:first-child a")
    arrives(visitor, first)
    page.focus("#old")
    page.keyboard.press("n")
    arrives(visitor, first)
    page.focus("#next")
    page.keyboard.press("n")
    arrives(visitor, second)  # not the third: keys in fields are for the fields
    visitor.seen.check()


@pytest.mark.parametrize("view", ["text", "source"])
def test_the_map_of_a_short_page_is_as_long_as_its_lines(site: Site, view: str) -> None:
    lines = [f"<p>Berth {number} is free</p>\n" for number in range(12)]
    changed = [line.replace("free", "taken") if "9" in line else line for line in lines]
    short = add(
        site,
        {"url": "https://example.org/berths"},
        "".join(lines).encode(),
        "".join(changed).encode(),
    )
    with visiting(site.app) as visitor:
        visitor.log_in("viewer")
        visitor.open(f"/watches/{short}/diff?view={view}")
        row = visitor.page.locator("tr[id]").bounding_box()
        mark = visitor.page.locator(".map [data-change='1'] rect").bounding_box()

    assert row is not None
    assert mark is not None
    assert abs(mark["y"] - row["y"]) <= 2 * row["height"], (mark, row)


def test_both_sides_go_to_the_same_change(visitor: Visitor, watch: int) -> None:
    visitor.open(f"/watches/{watch}/diff?view=side")
    old, new = framed(visitor, "old-page"), framed(visitor, "changed-page")
    visitor.page.keyboard.press("n")

    for frame, word in ((old, "may"), (new, "must")):
        around = frame.locator(":target").locator("xpath=..")
        becomes(visitor.page, around.inner_text, f"Boats {word} stay")
    visitor.seen.check()


@pytest.mark.parametrize("view", ["text", "source"])
def test_keys_lead_through_the_rows(visitor: Visitor, watch: int, view: str) -> None:
    visitor.open(f"/watches/{watch}/diff?view={view}")
    for number in (1, 2, 3):
        visitor.page.keyboard.press("n")
        becomes(visitor.page, lambda: visitor.page.evaluate("location.hash"), f"#change-{number}")
        assert visitor.page.locator("tr:target").is_visible()
    visitor.page.keyboard.press("p")
    becomes(visitor.page, lambda: visitor.page.evaluate("location.hash"), "#change-2")
    visitor.seen.check()


def test_no_page_of_a_hostile_watch_runs_or_loads_anything(visitor: Visitor, watch: int) -> None:
    for tab in ("", "/diff", "/diff?view=side", "/diff?view=text", "/diff?view=source", "/why",
                "/history", "/noise", "/replay", "/notices", "/form"):  # fmt: skip
        visitor.open(f"/watches/{watch}{tab}")
        visitor.page.wait_for_load_state("load")
    visitor.seen.check()


def test_a_frame_opened_by_itself_has_no_rights(visitor: Visitor, watch: int) -> None:
    visitor.open(f"/watches/{watch}/frame/both")
    visitor.page.wait_for_load_state("networkidle")

    assert visitor.page.evaluate("self.origin") == "null"
    visitor.seen.check()


def test_changes_are_reached_without_scripts(site: Site, watch: int) -> None:
    with visiting(site.app, script=False) as visitor:
        visitor.log_in("viewer")
        visitor.open(f"/watches/{watch}/diff")
        page = visitor.page
        for number, word in ((2, "may"), (3, "nine"), (1, "10")):
            page.click("#next")
            arrives_by_link(visitor, (f"{number} of 3 changes", word))
        page.click(".map [data-change='3']")
        becomes(page, lambda: place(visitor)[1], "nine")
        visitor.seen.check()


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_fit_their_window(site: Site, watch: int, width: int) -> None:
    with visiting(site.app, width=width) as visitor:
        visitor.log_in("admin")
        for tab in ("", "/diff", "/diff?view=side", "/diff?view=text", "/diff?view=source",
                    "/why", "/history", "/noise", "/replay", "/notices", "/form"):  # fmt: skip
            visitor.open(f"/watches/{watch}{tab}")
            wide = visitor.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, tab


def test_two_pages_are_compared_without_an_account(site: Site) -> None:
    with visiting(site.app) as visitor:
        visitor.open("/compare")
        visitor.page.fill("#old-text", OLD)
        visitor.page.fill("#new-text", NEW)
        visitor.page.click("main button")
        visitor.page.wait_for_url("**/compare/**")
        framed(visitor)
        arrives(visitor, ("1 of 3 changes", "10", True))
        visitor.page.keyboard.press("n")
        arrives(visitor, ("2 of 3 changes", "may", True))
        visitor.seen.check()


def test_a_page_elsewhere_cannot_use_the_comparison_of_this_machine(site: Site) -> None:
    with visiting(site.app) as visitor:
        page = visitor.page
        form = (
            f"<form method=post action={visitor.address}/compare><input name=old-text value=a>"
            "<input name=new-text value=b><button>go</button></form>"
        )
        elsewhere = "http://evil.example/"
        visitor.context.route(
            elsewhere, lambda route: route.fulfill(body=form, content_type="text/html")
        )
        page.goto(elsewhere)
        with page.expect_navigation() as found:
            page.click("button")
        assert found.value.status == 403


ACCESSIBLE = """() => {
  const wrong = [];
  const named = (node) => (node.getAttribute('aria-label') || node.textContent || '').trim();
  for (const field of document.querySelectorAll('input:not([type=hidden]), select, textarea')) {
    if (!field.labels.length && !field.getAttribute('aria-label')) wrong.push(`no label: ${field.id}`);
  }
  for (const node of document.querySelectorAll('a[href], button')) {
    if (!named(node)) wrong.push(`no name: ${node.outerHTML.slice(0, 80)}`);
  }
  for (const frame of document.querySelectorAll('iframe')) if (!frame.title) wrong.push('no title');
  const ids = [...document.querySelectorAll('[id]')].map((node) => node.id);
  if (new Set(ids).size !== ids.length) wrong.push('an id twice');
  if (document.querySelectorAll('h1').length !== 1) wrong.push('not one h1');
  if (!document.documentElement.lang || !document.querySelector('main')) wrong.push('no frame');
  const levels = [...document.querySelectorAll('h1, h2, h3, h4')].map((node) => +node.tagName[1]);
  levels.reduce((last, level) => { if (level > last + 1) wrong.push('a level is skipped'); return level; }, 0);
  const light = (text) => {
    const parts = text.match(/[\\d.]+/g).map(Number);
    const line = (value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return { value: 0.2126 * line(parts[0]) + 0.7152 * line(parts[1]) + 0.0722 * line(parts[2]), alpha: parts[3] ?? 1 };
  };
  for (const node of document.querySelectorAll('main *')) {
    const hasText = [...node.childNodes].some((each) => each.nodeType === 3 && each.data.trim());
    if (!hasText || !node.checkVisibility() || node.closest('svg, .skip, .hidden-text')) continue;
    let behind = node;
    while (behind && light(getComputedStyle(behind).backgroundColor).alpha < 1) behind = behind.parentElement;
    if (!behind || light(getComputedStyle(node).backgroundColor).alpha % 1) continue;
    const [one, two] = [getComputedStyle(node).color, getComputedStyle(behind).backgroundColor].map((c) => light(c).value);
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (ratio < 4.5) wrong.push(`contrast ${ratio.toFixed(2)}: ${node.tagName}.${node.className} ${node.textContent.trim().slice(0, 30)}`);
  }
  return wrong;
}"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_pages_have_names_labels_levels_and_contrast(site: Site, watch: int, *, dark: bool) -> None:
    with visiting(site.app, dark=dark) as visitor:
        visitor.log_in("admin")
        for tab in ("", "/diff", "/diff?view=side", "/diff?view=text", "/why", "/history", "/noise",
                    "/replay", "/notices", "/form", "/remove"):  # fmt: skip
            visitor.open(f"/watches/{watch}{tab}")
            assert visitor.page.evaluate(ACCESSIBLE) == [], tab
        visitor.open("/compare")
        assert visitor.page.evaluate(ACCESSIBLE) == []


@pytest.mark.parametrize(
    ("way", "number"), [("#take-keys", 1), ("#next", 2), (".map [data-change='2']", 2)]
)
def test_keys_work_again_after_a_click_in_the_page(
    visitor: Visitor, watch: int, way: str, number: int
) -> None:
    visitor.open(f"/watches/{watch}/diff")
    visitor.page.wait_for_load_state("load")
    page, hint = visitor.page, visitor.page.locator("#keys")
    where = page.locator("#where")
    box = page.locator("iframe").bounding_box()
    assert box is not None
    assert hint.is_hidden()

    frame, left, top = framed(visitor), box["x"] + 30, box["y"] + 200

    def has_the_keys() -> bool:
        # Clicks reach the page around a frame until the frame is drawn, and so do keys then.
        page.mouse.click(left, top)
        return bool(frame.evaluate("document.hasFocus()"))

    wait_until(page, has_the_keys)
    hint.wait_for(state="visible")
    page.keyboard.press("n")
    assert where.inner_text() == "1 of 3 changes", "the frame has the keys, and no script"
    page.click(way)
    hint.wait_for(state="hidden")
    becomes(page, where.inner_text, f"{number} of 3 changes")
    page.keyboard.press("n")
    arrives(visitor, (f"{number + 1} of 3 changes", {2: "may", 3: "nine"}[number + 1], True))
    page.evaluate(
        "new Promise((done) => setTimeout(done))"
    )  # after the script saw who has the focus
    assert page.evaluate("document.activeElement.tagName") != "IFRAME", "jumps leave the focus here"
    assert hint.is_hidden()
    visitor.seen.check()


def test_a_new_change_is_told_in_a_corner_and_nothing_moves(site: Site, watch: int) -> None:
    hub = site.app.state.live = CountingHub(site.service, every_s=0.1)
    with visiting(site.app) as visitor:
        visitor.log_in("viewer")
        page, news = visitor.page, visitor.page.locator("#news")
        visitor.open(f"/watches/{site.watch}/diff")
        wait_until(page, lambda: hub.has_read_for([site.watch]))
        page.evaluate("scrollTo(0, 40)")
        page.focus("#next")
        spot = "[scrollY, document.getElementById('diff').getBoundingClientRect().top, document.activeElement.id]"
        before = page.evaluate(spot)
        in_thread(site.check, b"<p id=price>3.25</p></html>")
        becomes(page, news.inner_text, "New, changed: 3.25")
        assert news.get_attribute("aria-live") == "polite"
        assert page.evaluate(spot) == before
        news.get_by_role("link").click()
        page.wait_for_url("**/diff?**")
        assert "3.25" in framed(visitor).locator("ins").inner_text()
        visitor.open(f"/watches/{watch}")
        wait_until(page, lambda: hub.has_read_for([watch]))
        in_thread(site.check, b"<p id=price>2.25</p></html>")
        in_thread(see, site, watch, OLD.encode())
        # Exactly one: the messages about other watches came before this.
        becomes(page, lambda: news.inner_text().partition(":")[0], "New, changed")


def test_a_change_before_the_page_was_connected_is_told_too(site: Site) -> None:
    site.app.state.live = CountingHub(site.service, every_s=0.1)
    with visiting(site.app) as visitor:
        visitor.log_in("viewer")
        page = visitor.page
        held: list[Route] = []
        page.route("**/live?*", lambda route: held.append(route))  # noqa: PLW0108 - no built-in function
        visitor.open(f"/watches/{site.watch}")
        page.locator("html[data-live=on]").wait_for()
        in_thread(site.check, b"<p id=price>3.25</p></html>")
        wait_until(page, lambda: bool(held))
        held[-1].continue_()
        page.get_by_role("link", name="New since you opened this page").wait_for()
