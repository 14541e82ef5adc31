"""The bar of a redline, in a real browser: from change to change by button and key, and other changes.

The redline is in a frame of a page from the same server, whose script presses buttons and keys.
"""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import quire
from tests.conftest import require

SPACE = "<p>" + "<br>" * 60
OLD = f"<body><p>Fee: 10{SPACE}<p class=a>Boats may stay{SPACE}<p>Opens at nine</body>"
NEW = f"<body><p>Fee: 12{SPACE}<p class=b>Boats must stay{SPACE}<p>Opens at eight</body>"

PROBE = """
const frame = document.querySelector('iframe');
const wait = () => new Promise((done) => setTimeout(done, 50));
frame.onload = async () => {
  const page = frame.contentDocument, steps = [];
  const look = async (name) => {
    await wait();
    const mark = page.querySelector(':target');
    const box = mark && mark.getBoundingClientRect();
    const bar = page.querySelector('.quire-bar').getBoundingClientRect();
    steps.push([name, page.getElementById('quire-count').textContent, mark && mark.textContent,
      !!box && box.top >= bar.bottom && box.bottom <= frame.clientHeight]);
  };
  const press = (key, more) => page.dispatchEvent(
    new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }));
  const outlined = () => getComputedStyle(page.querySelector('.quire-attr')).outlineStyle;
  await look('start');
  page.getElementById('quire-next').click(); await look('next');
  for (const key of 'njpk') { press(key); await look(key); }
  press('n', { ctrlKey: true }); await look('ctrl+n');
  page.getElementById('quire-previous').click(); await look('previous');
  page.querySelector('.quire-bar li:nth-child(2) a').click(); await look('list');
  const others = [outlined()];
  page.getElementById('quire-others').click();
  others.push(outlined());
  document.getElementById('found').textContent = JSON.stringify({ steps, others });
};
frame.src = 'redline.html';
"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder, and says nothing about it."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def drawn() -> str:
    old, new = quire.encode(OLD.encode(), kind="html"), quire.encode(NEW.encode(), kind="html")
    return quire.redline(quire.annotate(old, new))


def test_buttons_keys_and_the_list_lead_from_change_to_change(tmp_path: Path, address: str) -> None:
    browser = require("chromium", "see that the bar of a redline works")
    (tmp_path / "redline.html").write_text(drawn(), "utf-8")
    (tmp_path / "harness.html").write_text(
        "<!doctype html><meta charset=utf-8><iframe width=800 height=600></iframe>"
        f"<pre id=found></pre><script>{PROBE}</script>",
        "utf-8",
    )
    result = subprocess.run(
        [
            browser,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=10000",
            "--dump-dom",
            f"{address}/harness.html",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    said = re.search(r'<pre id="found">(.+?)</pre>', result.stdout, re.DOTALL)
    assert said, "the page did not come to an end"
    found = json.loads(unescape(said[1]))

    first, second, third = (
        ["1 of 3 changes", "10", True],
        ["2 of 3 changes", "may", True],
        ["3 of 3 changes", "nine", True],
    )
    assert found["steps"] == [
        ["start", "3 changes", None, False],
        ["next", *first],
        ["n", *second],
        ["j", *third],
        ["p", *second],
        ["k", *first],
        ["ctrl+n", *first],
        ["previous", *third],
        ["list", *second],
    ]
    assert found["others"] == ["none", "dotted"]


def test_without_scripts_there_are_no_dead_buttons_and_the_list_still_leads_to_the_changes() -> (
    None
):
    page = quire.encode(drawn().encode(), kind="html")
    buttons = page.select(".quire-bar button").tolist()
    links = [page.attributes(node)["href"] for node in page.select(".quire-bar li a").tolist()]

    assert all("hidden" in page.attributes(node) for node in buttons)
    assert len(links) == 3
    assert [page.select(link).size for link in links] == [1, 1, 1]
