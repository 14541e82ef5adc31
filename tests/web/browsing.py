"""A real browser for tests of pages: Debian's Chromium, and an application that answers it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from tests import patience
from tests.conftest import require
from tests.patience import PATIENCE_MS, PATIENCE_S

Parameters = ParamSpec("Parameters")
T = TypeVar("T")

#: Widths of a desktop and of a phone, in pixels.
WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")

expect.set_options(timeout=PATIENCE_MS)


def wait_until(page: Page, is_so: Callable[[], bool]) -> None:
    """Wait until something is so, while the browser goes on."""
    patience.wait_until(is_so, lambda: page.wait_for_timeout(20))


def becomes(page: Page, read: Callable[[], object], expected: object) -> None:
    """Wait until a reading is as expected, also if a page or a frame goes away meanwhile."""

    def tried() -> object:
        try:
            return read()
        except Error as error:
            return error

    patience.becomes(tried, expected, lambda: page.wait_for_timeout(20))


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """Serve an application on a free port; give its address."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(
            uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=5)
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        patience.wait_until(lambda: server.started)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            app.state.live.close()
            server.should_exit = True
            thread.join(PATIENCE_S)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium."""
    program = require("chromium", "use the pages as a person does")
    with sync_playwright() as playwright:
        # The container of the tests is the sandbox: Chromium's own needs rights that it has not.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def visiting(
    browser: Browser,
    address: str,
    name: str,
    password: str,
    *,
    width: int = WIDTHS[0],
    **options: Any,  # noqa: ANN401 - of a context of playwright
) -> Iterator[Page]:
    """Log in, and give a page. Errors of scripts and refusals of the policy fail the test.

    Args:
        browser: the browser.
        address: the address of the application.
        name: the name of the account.
        password: its password.
        width: the width of the window.
        options: of the context: the colour scheme, or whether scripts run.
    """
    context = browser.new_context(
        viewport={"width": width, "height": 900}, base_url=address, **options
    )
    wrong: list[str] = []
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(f"a dialog: {dialog.message}"))
    page.on(
        "console",
        lambda message: wrong.append(message.text) if "Policy" in message.text else None,
    )
    page.goto("/login")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(lambda url: "/login" not in url)
    yield page
    context.close()
    assert not wrong, wrong


def in_thread(
    work: Callable[Parameters, T], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> None:
    """Do something in a thread: the one of the test belongs to playwright's event loop."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            work(*args, **kwargs)
        except BaseException as error:  # noqa: BLE001 - raised below
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    if failed:
        raise failed[0]
