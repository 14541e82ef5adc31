"""Every page that links lead to can be used by everyone: wide and narrow, light and dark.

The pages have data in them: a watch with changes and targets, an archive, a comparison. The walk
follows the links of each page, so that a new page is looked at without being named here. The rules
are our own (``accessibility``) and, if it is installed, those of axe-core (``axe``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Page

from quire.archive import Archive
from quire.archive.browsing import Library
from quire.web.archives.context import Browsing
from quire.web.pages.page import PLACES
from tests.web.accessibility import findings
from tests.web.archives.site import pack
from tests.web.axe import axe_findings, require_axe
from tests.web.browsing import SCHEMES, WIDTHS, chromium, serving, visiting
from tests.web.conftest import PASSWORD, Site

#: Files, answers for programs, and pages of strangers, which have their own landmarks or none.
NOT_OURS = re.compile(r"/(api/v1|static|web|replay|cdx|metrics|healthz|openapi)\b|\.json$|/warc$")
#: Values in a query that choose another look of a page; others only choose another row.
LOOKS = {"view", "show", "kind", "mode"}
#: Pages that links may not lead to.
WITHOUT_LINKS = ("/watches/new", "/login")


@pytest.fixture
def browser(site: Site) -> Iterator[Browser]:
    """A browser. It ends before the site does: their event loops cannot run at the same time."""
    del site
    with chromium() as found:
        yield found


@contextmanager
def full_service(site: Site, folder: Path) -> Iterator[str]:
    """Serve an application with an archive and some more watches; give its address."""
    for name, tags in (("Headlines", ["news"]), ("Tides", [])):
        site.service.add({"name": name, "url": f"https://{name}.example/", "tags": tags})
    with Archive.open(pack(folder)) as archive:
        site.app.state.browsing = Browsing(Library([archive]))
        with serving(site.app) as address:
            yield address


def shape(address: str) -> str:
    """Return the address without all that only chooses another row of the database."""
    parts = urlsplit(address)
    path = re.sub(r"/(\d+|[\w-]{20,})(?=/|$)", "/…", parts.path)
    chosen = [
        f"{name}={value}" if name in LOOKS else name for name, value in parse_qsl(parts.query)
    ]
    return f"{path}?{'&'.join(sorted(chosen))}"


def is_a_page(address: str, home: str) -> bool:
    """Tell whether an address is one of our pages."""
    return address.startswith(f"{home}/") and not NOT_OURS.search(urlsplit(address).path)


def walk(page: Page, home: str) -> list[str]:
    """Follow all links from the menu; return one address for each kind of page."""
    page.goto("/compare")
    page.locator("#old-text").fill("<h1>Fish</h1><p>Cod 8.40</p>")
    page.locator("#new-text").fill("<h1>Fish</h1><p>Cod 7.90</p><p>Haddock 7.95</p>")
    page.get_by_role("button", name="Compare").click()
    page.locator("#diff").wait_for()
    left = [f"{home}/", page.url, *(home + path for path in WITHOUT_LINKS)]
    found: dict[str, str] = {}
    while left:
        address = left.pop(0).partition("#")[0]
        if shape(address) in found or not is_a_page(address, home):
            continue
        reply = page.request.get(address)
        assert reply.ok, f"{address}: status {reply.status}"
        if "text/html" not in reply.headers["content-type"]:
            continue
        found[shape(address)] = address
        page.goto(address)
        left += page.eval_on_selector_all(
            "a[href]:not([download], [target])",
            "links => links.map((each) => new URL(each.getAttribute('href'), location).href)",
        )
    return list(found.values())


def test_the_menu_fits_into_one_line_on_a_phone(browser: Browser, site: Site) -> None:
    with (
        serving(site.app) as home,
        visiting(browser, home, "admin", PASSWORD, width=min(WIDTHS)) as page,
    ):
        links = page.get_by_role("navigation", name="Main").get_by_role("link").all()
        boxes = [link.bounding_box() for link in links]

    assert len(links) == len(PLACES)
    assert all(box is not None and box["x"] + box["width"] <= min(WIDTHS) for box in boxes)
    assert len({round(box["y"]) for box in boxes if box is not None}) == 1
    assert len({round(box["height"]) for box in boxes if box is not None}) == 1


def test_axe_core_finds_faults_in_a_page_that_has_some(browser: Browser) -> None:
    require_axe()
    page = browser.new_page()
    page.set_content("<title>x</title><main><img src=a><p style='color:#ccc'>pale</p></main>")
    found = " ".join(axe_findings(page))

    for rule in ("html-has-lang", "image-alt", "color-contrast"):
        assert f"axe: {rule} " in found
    page.close()


# One test for each look, so that they can run beside each other: minutes on a busy machine.
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_can_be_used_by_everyone(
    browser: Browser, site: Site, tmp_path: Path, width: int, scheme: str
) -> None:
    wrong: dict[str, set[str]] = {}
    options = {"color_scheme": scheme, "reduced_motion": "reduce"}
    with full_service(site, tmp_path) as home:
        with visiting(browser, home, "admin", PASSWORD) as page:
            pages = walk(page, home)
        with visiting(browser, home, "admin", PASSWORD, width=width, **options) as page:
            for address in pages:
                page.goto(address)
                for each in [*findings(page), *axe_findings(page)]:
                    wrong.setdefault(each, set()).add(shape(address))

    assert wrong == {}
    assert len(pages) > 40, pages
