"""A real browser for tests of pages: Debian's Chromium, and an application that answers it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, sync_playwright

from tests.conftest import require

Parameters = ParamSpec("Parameters")
T = TypeVar("T")

#: Widths of a desktop and of a phone, in pixels.
WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")


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
        ends = time.monotonic() + 30
        while not server.started and time.monotonic() < ends:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            app.state.live.close()
            server.should_exit = True
            thread.join(30)


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
    page.set_default_timeout(20_000)
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
    page.wait_for_url(f"{address}/**")
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
    thread.join(60)
    if failed:
        raise failed[0]
