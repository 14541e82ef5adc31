"""``quire watch``: from an address to an event, with a real server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.cli.conftest import Quire


class _Shop(BaseHTTPRequestHandler):
    price = "79.90"
    requests = 0

    def do_GET(self) -> None:
        type(self).requests += self.path == "/kettle"
        body = f"<h1>Kettle</h1><p>Price: <b id=price>€ {self.price}</b></p></html>".encode()
        self.send_response(200 if self.path == "/kettle" else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """A shop on loopback, and a database of its own."""
    monkeypatch.setenv("QUIRE_ALLOW_NETWORKS", "127.0.0.0/8")
    monkeypatch.setenv("QUIRE_DATABASE", str(tmp_path / "watches.db"))
    monkeypatch.setattr(_Shop, "price", "79.90")
    monkeypatch.setattr(_Shop, "requests", 0)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Shop) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/kettle"
        server.shutdown()
        thread.join()


def test_a_price_that_falls_is_told_and_everything_can_be_asked(
    quire: Quire, shop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = quire(
        "watch", "add", shop, "--where", "#price", "--preset", "price drop", "--name", "Kettle"
    )
    assert (added.exit_code, added.stdout) == (0, "Kettle: added as number 1\n")
    assert quire("watch", "run").exit_code == 0
    assert quire("watch", "run").stderr == "note: 0 pages checked, 0 failed, 0 events\n"
    monkeypatch.setattr(_Shop, "price", "84.00")
    assert quire("watch", "run", "Kettle", "--exit-code").exit_code == 0  # it rose
    monkeypatch.setattr(_Shop, "price", "69.90")

    fired = quire("watch", "run", "Kettle", "--exit-code")

    assert (fired.exit_code, fired.stdout) == (1, "Kettle: change: € 69.90\n")
    assert _Shop.requests == 3
    history = json.loads(quire("watch", "history", "Kettle", "--format", "json").stdout)
    assert [state["text"][""] for state in history] == ["€ 79.90", "€ 84.00", "€ 69.90"]
    assert "- Price: € 84.00\n+ Price: € 69.90" in quire("watch", "diff", "Kettle").stdout
    assert quire("watch", "explain", "1").stdout == "yes      number falls: from 84 to 69.9\n"
    assert "1 time in 3 versions" in quire("watch", "replay", "Kettle").stderr
    listed = json.loads(quire("watch", "ls", "--format", "json").stdout)
    assert listed[0]["pages"][0]["state"] == "fine"
    assert "€ 84.00 +€ 69.90" in quire("watch", "show", "Kettle").stdout


def test_a_watch_is_edited_paused_and_removed(quire: Quire, shop: str) -> None:
    quire("watch", "add", shop, "--name", "Kettle")

    assert quire("watch", "edit", "Kettle", "--where", "#price", "--every", "1 day").exit_code == 0
    form = json.loads(quire("watch", "show", "Kettle", "--format", "json").stdout)["form"]
    assert (form["where"], form["every"]) == ("#price", "1 d")
    quire("watch", "edit", "Kettle", "--pause")
    assert "0 pages checked" in quire("watch", "run").stderr
    assert quire("watch", "rm", "Kettle").stdout == "Kettle: removed\n"
    assert "no watches" in quire("watch", "ls").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add",), "nothing to watch"),
        (("add", "ftp://example.org/"), "starts with http:// or https://"),
        (("add", "https://example.org/", "--where", "p["), "where: selector"),
        (("add", "https://example.org/", "--notify", "json://localhost/"), "notify[0]: json: "),
        (("add", "https://example.org/", "--notify", "mailto:me@example.org"), "mail server"),
        (("add", "https://example.org/", "--when", "{number: {below: x}}"), "when.number.below"),
        (("add", "--file", "none.yaml"), "none.yaml: No such file"),
        (("show", "Kettle"), "there is no watch 'Kettle'"),
        (("restore", "none.db"), "there is no backup none.db"),
        (("import", "none.zip"), "No such file"),
    ],
)
def test_an_error_says_what_is_wrong(
    quire: Quire, shop: str, arguments: tuple[str, ...], message: str
) -> None:
    assert shop
    result = quire("watch", *arguments)

    assert result.exit_code == 2
    assert message in result.stderr


def test_watches_go_to_a_file_and_come_back(
    quire: Quire, shop: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quire("watch", "add", shop, "--name", "Kettle", "--notify", "https://hooks.example/secret")
    (folder / "shown.yaml").write_text(quire("watch", "export").stdout)
    (folder / "all.yaml").write_text(quire("watch", "export", "--secrets").stdout)
    assert "hooks.example/secret" not in (folder / "shown.yaml").read_text()
    assert quire("watch", "backup", "copy.db").exit_code == 0

    monkeypatch.setenv("QUIRE_DATABASE", str(folder / "other.db"))
    assert quire("watch", "add", "--file", "all.yaml").stdout == "Kettle: added as number 1\n"
    monkeypatch.setenv("QUIRE_DATABASE", str(folder / "third.db"))
    assert quire("watch", "restore", "copy.db").exit_code == 0
    assert "Kettle" in quire("watch", "ls").stdout


def test_watches_of_other_tools_are_imported(quire: Quire, shop: str, folder: Path) -> None:
    (folder / "urls.yaml").write_text(
        f"name: Kettle\nurl: {shop}\nfilter:\n  - css: '#price'\n---\nname: Shell\ncommand: ls\n"
    )

    result = quire("watch", "import", "urls.yaml")

    assert result.stdout == "1 watch imported\n"
    assert "Shell" in result.stderr
    assert json.loads(quire("watch", "schema").stdout)["$schema"].startswith("https://json-schema")


class _Hook(BaseHTTPRequestHandler):
    status = 200
    got: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.status == 200:
            self.got.append(body)
        self.send_response(self.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A webhook on loopback."""
    monkeypatch.setattr(_Hook, "status", 200)
    monkeypatch.setattr(_Hook, "got", [])
    with ThreadingHTTPServer(("127.0.0.1", 0), _Hook) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/token"
        server.shutdown()
        thread.join()


def test_notices_are_sent_seen_given_up_and_sent_again(
    quire: Quire, shop: str, hook: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quire("watch", "add", shop, "--where", "#price", "--name", "Kettle", "--notify", hook)
    quire("watch", "run")
    assert quire("watch", "notices").stderr == "note: no notices\n"
    monkeypatch.setattr(_Shop, "price", "69.90")
    assert "message" not in quire("watch", "run", "Kettle", "--no-send").stderr
    assert _Hook.got == []

    run = quire("watch", "run", "--format", "json")

    assert json.loads(run.stdout)["notices"] == {"sent": 1, "failed": 0, "dead": 0}
    (event,) = _Hook.got[0]["events"]
    assert (event["name"], event["kind"]) == ("Kettle", "change")
    assert event["differences"]["entries"][0]["after"] == "€ 69.90"
    monkeypatch.setattr(_Shop, "price", "59.90")
    monkeypatch.setattr(_Hook, "status", 410)
    run = quire("watch", "run", "Kettle")
    assert "note: 0 messages sent, 0 to be sent again, 1 given up\n" in run.stderr
    (dead,) = json.loads(quire("watch", "notices", "--dead", "--format", "json").stdout)
    assert dead["reason"].endswith("the webhook answered with status 410; expected 200 to 299")
    shown = quire("watch", "notices", "Kettle").stdout
    assert "dead" in shown
    assert "sent" in shown
    assert "token" not in shown
    monkeypatch.setattr(_Hook, "status", 200)
    assert quire("watch", "notices", "--resend", "none").exit_code == 2
    assert quire("watch", "notices", "--resend", dead["id"]).stdout == "1 notice waiting again\n"
    assert quire("watch", "notices", "--resend", "all").stdout == "0 notices waiting again\n"
    assert "1 message sent" in quire("watch", "run").stderr
    assert _Hook.got[1]["events"][0]["id"] == dead["event"]


def test_a_test_message_says_whether_each_target_was_reached(
    quire: Quire, shop: str, hook: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quire("watch", "add", shop, "--name", "Kettle", "--notify", hook)

    sent = quire("watch", "test", "Kettle")
    monkeypatch.setattr(_Hook, "status", 500)
    failed = quire("watch", "test", "Kettle", "--format", "json")

    assert (sent.exit_code, failed.exit_code) == (0, 1)
    assert "/…: sent\n    signed with whsec_" in sent.stdout
    assert _Hook.got[0]["events"][0]["kind"] == "test"
    assert "status 500" in json.loads(failed.stdout)[0]["error"]
    quire("watch", "add", shop, "--name", "Silent")
    assert quire("watch", "test", "Silent").stderr.startswith("note: this watch has no targets")


def test_targets_of_another_tool_that_are_refused_are_named_and_left_out(
    quire: Quire, shop: str, folder: Path
) -> None:
    targets = ["json://localhost/a", "https://hooks.example/b", "mailto:me@example.org"]
    watching = {"1": {"url": shop, "title": "Kettle", "notification_urls": targets}}
    (folder / "url-watches.json").write_text(json.dumps({"watching": watching}), encoding="utf-8")

    result = quire("watch", "import", "url-watches.json")

    assert result.stdout == "1 watch imported\n"
    assert "note: Kettle: a target is left out: json: notices are not sent" in result.stderr
    assert "note: Kettle: a target is left out: mailto: the operator" in result.stderr
    shown = quire("watch", "show", "Kettle", "--format", "json").stdout
    assert "hooks.example/b" not in shown  # an address can have a secret in it
    exported = json.loads(quire("watch", "export", "--secrets", "--format", "json").stdout)
    (form,) = exported["watches"]
    assert form["notify"]["to"] == ["https://hooks.example/b"]
