"""Processes: starts Chromium with the proxy as its only route, and ends it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser as Chromium
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright

from quire.display import printable, shorten
from quire.errors import FetchCause, FetchFailed

EXECUTABLE_VARIABLE = "QUIRE_CHROMIUM"
_EXECUTABLES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

_FLAGS = (
    "--disable-quic",
    "--dns-prefetch-disable",
    "--no-pings",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    # Nothing is resolved by Chromium itself; the proxy resolves.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--deny-permission-prompts",
    "--disable-gpu",
    "--disable-3d-apis",
    "--mute-audio",
    "--js-flags=--max-old-space-size=512",
)
# Chromium grows over time.
MOST_PAGES = 200
CLOSE_S = 5.0


@dataclass(slots=True)
class Process:
    """A running Chromium.

    Attributes:
        chromium: the connection to it.
        pid: its process, to end it by force.
        pages: how many pages it has opened.
        open_pages: how many of them are still open.
        is_retired: whether it gets no more pages, because it is old, gone, or holds on to a page.
    """

    chromium: Chromium
    pid: int | None
    pages: int = 0
    open_pages: int = 0
    is_retired: bool = False

    @property
    def is_usable(self) -> bool:
        """Whether it can open another page."""
        return not self.is_retired and self.pages < MOST_PAGES and self.chromium.is_connected()

    async def end(self) -> None:
        """End it, by force if it does not end by itself."""
        self.is_retired = True
        try:
            async with asyncio.timeout(CLOSE_S):
                await self.chromium.close()
        except (TimeoutError, PlaywrightError):
            if self.pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.pid, signal.SIGKILL)


async def launch(playwright: Playwright, executable: str, *, proxy_url: str, home: str) -> Process:
    """Start Chromium.

    Args:
        playwright: the library.
        executable: path of Chromium.
        proxy_url: the only route to the network.
        home: folder for its files.

    Raises:
        FetchFailed: it does not start; cause ``BROWSER``.
    """
    try:
        chromium = await playwright.chromium.launch(
            executable_path=executable,
            args=list(_FLAGS),
            chromium_sandbox=os.geteuid() != 0,
            # Without a name and a password: requests outside of visits get nowhere.
            proxy={"server": proxy_url},
            # The environment of the service may hold secrets.
            env={"PATH": os.defpath, "HOME": home, "LANG": "C.UTF-8"},
        )
        session = await chromium.new_browser_cdp_session()
        found = await session.send("SystemInfo.getProcessInfo")
    except PlaywrightError as error:
        raise FetchFailed(
            f"{executable}: Chromium does not start ({first_line(error)})",
            url="",
            cause=FetchCause.BROWSER,
        ) from None
    pids = [each["id"] for each in found["processInfo"] if each["type"] == "browser"]
    return Process(chromium, pids[0] if pids else None)


def find_chromium() -> str:
    """Return the path of Chromium.

    Raises:
        FetchFailed: it is not installed.
    """
    named = os.environ.get(EXECUTABLE_VARIABLE)
    if named:
        return named
    found = next((path for name in _EXECUTABLES if (path := shutil.which(name))), None)
    if found is None:
        raise FetchFailed(
            f"Chromium is not installed; install it (package chromium in Debian), or name it in "
            f"{EXECUTABLE_VARIABLE}",
            url="",
            cause=FetchCause.BROWSER,
        )
    return str(Path(found))


def first_line(error: PlaywrightError) -> str:
    """Return the first line of an error, for messages. The lines below may show typed secrets."""
    return shorten(printable(error.message.strip().partition("\n")[0]), 120)
