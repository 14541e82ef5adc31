"""A live service for browsers: the application on a port of this machine, and Chromium beside it.

The browser has no way to the network: everything but the service is answered by nothing, and written
down. So a test can say that a page made no other request.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from fastapi import FastAPI
from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Error,
    Page,
    Route,
    sync_playwright,
)

from quire.web.server import address_of, listen, serve_app
from tests.conftest import require
from tests.patience import PATIENCE_MS, PATIENCE_S
from tests.web.conftest import PASSWORD


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """Answer requests on a free port; yields the address of the service."""
    bound = listen("127.0.0.1", 0)
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(serve_app(app, bound, stop)))
    thread.start()
    try:
        yield address_of(bound).rstrip("/")
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE_S)
        bound.close()
        loop.close()


@dataclass
class Seen:
    """Things that a browser should not have done.

    Attributes:
        elsewhere: requests for other hosts.
        dialogs: dialogs of scripts.
        errors: errors in the console, such as of the policy, and of scripts.
    """

    elsewhere: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def note_dialog(self, dialog: Dialog) -> None:
        """Note a dialog, and close it."""
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def note_message(self, message: ConsoleMessage) -> None:
        """Note a message in the console, if it is an error."""
        if message.type == "error":
            self.errors.append(message.text)

    def note_error(self, error: Error) -> None:
        """Note an error of a script."""
        self.errors.append(str(error))

    def check(self) -> None:
        """Check that it did nothing of all that."""
        assert (self.elsewhere, self.dialogs, self.errors) == ([], [], [])


@dataclass
class Visitor:
    """A browser that looks at a service.

    Attributes:
        address: the address of the service.
        context: its cookies and settings.
        page: its page.
        seen: things that it should not have done.
    """

    address: str
    context: BrowserContext
    page: Page
    seen: Seen

    def log_in(self, role: str = "admin") -> None:
        """Log in with an account of this role."""
        self.page.goto(f"{self.address}/login")
        self.page.fill("#name", role)
        self.page.fill("#password", PASSWORD)
        self.page.click("main button")
        self.page.wait_for_url(lambda url: "/login" not in url)

    def open(self, path: str) -> None:
        """Open a page of the service."""
        reply = self.page.goto(self.address + path)
        assert reply is not None
        assert reply.ok, f"{path}: status {reply.status}"


@contextmanager
def visiting(
    app: FastAPI,
    *,
    width: int = 1280,
    height: int = 900,
    dark: bool = False,
    script: bool = True,
    policy: bool = True,
) -> Iterator[Visitor]:
    """Serve an application, and open a browser that reaches nothing else.

    Args:
        app: the application.
        width: the width of the window.
        height: its height.
        dark: prefer dark colours.
        script: run scripts.
        policy: respect the Content-Security-Policy of pages.
    """
    path = require("chromium", "look at the pages of the service")
    with serving(app) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
            bypass_csp=not policy,
        )
        seen = Seen()
        context.route("**/*", lambda route: _route(route, address, seen))
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("dialog", seen.note_dialog)
        page.on("console", seen.note_message)
        page.on("pageerror", seen.note_error)
        yield Visitor(address, context, page, seen)
        browser.close()


def _route(route: Route, address: str, seen: Seen) -> None:
    url = route.request.url
    if url.startswith((f"{address}/", "data:", "blob:")):
        route.continue_()
    else:
        seen.elsewhere.append(url)
        route.abort()
