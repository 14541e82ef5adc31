"""Take the pictures of the README and of the guides: ``make screenshots``.

The demo runs as ``quire serve --demo`` starts it, and Debian's Chromium looks at its pages. Pictures
of the docs (1280 pixels wide, light) are written to ``docs/pictures``. The same pages on a phone and
in dark colours are written to ``.cache/screenshots``: look at all of them after a change of the
design. It takes about two minutes, because the newspaper of the demo gets its new design after 75
seconds.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, sync_playwright

from quire.archive import Archive
from quire.demo.changing import answer

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
OTHERS = ROOT / ".cache" / "screenshots"
PASSWORD = "for the pictures"  # noqa: S105 - of a demo that is gone afterwards
#: The height of a picture for a width of the window.
HEIGHTS = {1280: 720, 390: 844}
MOST_BYTES = 150_000
NEWSPAPER = "http://lantern.example/"
#: Seconds after the start of the newspaper at which the archive has captures, by day of May.
CAPTURED = {4: 0, 5: 20, 11: 40, 12: 40, 18: 80, 19: 100}


def main() -> None:
    """Take all pictures, or those that are named."""
    parser = argparse.ArgumentParser(description="Take the pictures of the docs.")
    parser.add_argument("names", nargs="*", help="names of pictures, such as redline")
    wanted = set(parser.parse_args().names)
    program = (
        os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    )
    if program is None:
        sys.exit("error: no Chromium found\nhint: set CHROMIUM to its path")
    PICTURES.mkdir(parents=True, exist_ok=True)
    OTHERS.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        _running_demo(_pack(Path(folder))) as (address, password),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(base_url=address, viewport={"width": 1280, "height": 720})
        _log_in(page, password)
        places = _prepare(page)
        cookies = page.context.storage_state()
        for name, path in places.items():
            if not wanted or name in wanted:
                _take(browser, address, cookies, name, path)
        browser.close()


def _pack(folder: Path) -> Path:
    """Make an archive of the newspaper, as it was on some days."""
    path = folder / "lantern.quire"
    with Archive.create(path) as archive:
        for day, seconds in CAPTURED.items():
            for name in ("", "market.html", "tides.html"):
                body = answer(f"/{name}", seconds, day).body
                time = datetime(2026, 5, day, 9, 30, tzinfo=UTC)
                archive.add(NEWSPAPER + name, time, body, {"Content-Type": "text/html"})
    return path


@contextmanager
def _running_demo(archive: Path) -> Iterator[tuple[str, str]]:
    """Run the demo; give its address and the password of the first start."""
    options = ["serve", "--demo", "--port", "0", "--archive", str(archive)]
    command = [sys.executable, "-m", "quire.cli", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        try:
            printed = ""
            found = None
            while found is None:
                line = process.stdout.readline()
                if not line:
                    sys.exit(f"error: the demo did not start\n{printed}")
                printed += line
                found = re.search(r"quire is at (\S+?)/?\n.* password (\S+)\n", printed)
            threading.Thread(target=process.stdout.read, daemon=True).start()
            yield found[1], found[2]
        finally:
            process.terminate()
            process.wait(30)


def _log_in(page: Page, password: str) -> None:
    page.goto("/login")
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    page.get_by_label("Old password").fill(password)
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Change the password").click()
    page.get_by_role("heading", name="Welcome to the demo").wait_for()


def _prepare(page: Page) -> dict[str, str]:
    """Use the demo until there is something to see; return the address of each picture."""
    found = {"password": "/password"}
    # A watch of the price of cod, before the new design.
    page.get_by_role("link", name="Watch a price").click()
    page.get_by_role("button", name="Show the page").click()
    page.frame_locator("iframe").locator("#cod td.price a").click()
    page.get_by_text("One element").wait_for()
    found["pick"] = _path(page)
    page.get_by_role("link", name="Next").click()
    found["rules"] = _path(page)
    # Two pages that were pasted.
    page.goto("/compare")
    for side, seconds in (("old", 0), ("new", 40)):
        text = answer("/", seconds, 1).body.decode()
        page.locator(f"#{side}-text").fill(text)
    page.get_by_role("button", name="Compare").click()
    page.locator("#diff").wait_for()
    found["compare"] = _path(page)
    # The market has its new design, and the front page some versions.
    while True:
        page.goto("/?show=asking")
        rows = page.locator("tbody tr")
        if rows.count():
            break
        page.wait_for_timeout(1000)
    found["question"] = _href(rows.first.get_by_role("link").first)
    page.goto("/")
    front = _href(page.locator("tbody").get_by_role("link", name="Front page"))
    cod = _href(page.locator("tbody").get_by_role("link", name="Cod below 8"))
    capture = f"{NEWSPAPER}market.html"
    return found | {
        "watches": "/",
        "changes": "/changes",
        "watch": front,
        "redline": f"{front}/diff",
        "side-by-side": f"{front}/diff?view=side",
        "source": f"{front}/diff?view=source",
        "why": f"{cod}/why",
        "history": f"{cod}/history",
        "noise": f"{front}/noise",
        "replay": f"{front}/replay",
        "notices": f"{front}/notices",
        "form": f"{front}/form",
        "add": "/watches/new",
        "compare-form": "/compare",
        "archives": "/archives",
        "captures": f"/archives/address?url={capture}",
        "capture": f"/web/20260518/{capture}",
        "archive-diff": f"/archives/compare?url={capture}&old=20260512093000&new=20260518093000",
        "settings": "/settings",
        "accounts": "/settings/accounts",
        "tokens": "/settings/tokens",
        "targets": "/settings/notices",
        "import": "/settings/import",
    }


def _path(page: Page) -> str:
    return "/" + page.url.split("/", 3)[3]


def _href(link: Locator) -> str:
    return str(link.get_attribute("href"))


#: Pictures that pages of the docs show.
SHOWN = frozenset(
    {"watches", "redline", "pick", "rules", "noise", "question", "compare", "captures", "capture"}
)


def _take(browser: Browser, address: str, cookies: object, name: str, path: str) -> None:
    """Take a page in both widths, light and dark."""
    for width, height in HEIGHTS.items():
        for scheme in ("light", "dark"):
            context = browser.new_context(
                base_url=address,
                viewport={"width": width, "height": height},
                color_scheme=scheme,
                storage_state=cookies,  # type: ignore[arg-type]
                reduced_motion="reduce",
            )
            page = context.new_page()
            reply = page.goto(path, wait_until="load")
            if reply is None or not reply.ok:
                sys.exit(f"error: {path}: status {reply and reply.status}")
            page.screenshot(
                path=OTHERS / f"{name}-{width}-{scheme}.png",
                full_page=width == min(HEIGHTS),
            )
            context.close()
    if name in SHOWN:
        picture = PICTURES / f"{name}.png"
        shutil.copy(OTHERS / f"{name}-1280-light.png", picture)
        if picture.stat().st_size > MOST_BYTES:
            sys.exit(f"error: {picture}: {picture.stat().st_size:,} bytes, at most {MOST_BYTES:,}")


if __name__ == "__main__":
    main()
