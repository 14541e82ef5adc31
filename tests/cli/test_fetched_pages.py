"""Commands that take pages take web addresses too, through the gate."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from quire.cli.common import fetched
from tests.cli.conftest import PAGE, Process, Quire

LATIN = "<p>Käse".encode("latin-1")


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        pages = {
            "/fruit": ("text/html", PAGE),
            "/cheese": ("text/html; charset=iso-8859-2", LATIN),
            "/model.json?x=*": ("application/json", b'{"a": 1}'),
        }
        kind, body = pages.get(self.path, ("text/plain", b"none"))
        self.send_response(200 if self.path in pages else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server on loopback, which the environment allows."""
    monkeypatch.setenv("QUIRE_ALLOW_NETWORKS", "127.0.0.0/8")
    with ThreadingHTTPServer(("127.0.0.1", 0), _Pages) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_page_is_shown_from_the_web(quire: Quire, web: str) -> None:
    result = quire("show", f"{web}/fruit", "--text")

    assert result.exit_code == 0
    assert result.stdout == quire("show", "fruit.html", "--text").stdout


def test_the_served_character_set_is_used(quire: Quire, web: str) -> None:
    assert "windows-1252" not in quire("show", f"{web}/cheese").stdout
    assert "iso-8859-2" in quire("show", f"{web}/cheese").stdout.lower()
    assert "utf-8" in quire("show", f"{web}/cheese", "--encoding", "utf-8").stdout.lower()


def test_a_page_is_compared_with_the_web(quire: Quire, web: str) -> None:
    assert quire("diff", "fruit.html", f"{web}/fruit", "--exit-code").exit_code == 0
    assert quire("diff", "fruit.html", f"{web}/cheese", "--exit-code").exit_code == 1
    assert quire("diff", "-q", "fruit.html", f"{web}/fruit").exit_code == 0
    assert quire("similar", "fruit.html", f"{web}/fruit").exit_code == 0


def test_a_page_of_the_web_is_encoded(process: Process, web: str, folder: Path) -> None:
    done = process("encode", f"{web}/fruit", "-o", "web.qd")
    assert (done.returncode, done.stderr) == (0, b"")
    assert process("decode", "web.qd", "-o", "-").stdout == PAGE
    piped = process("encode", f"{web}/fruit")
    assert piped.stdout == (folder / "web.qd").read_bytes()


def test_a_web_page_is_encoded_alone(quire: Quire, web: str) -> None:
    several = quire("encode", "fruit.html", f"{web}/fruit")
    assert several.exit_code == 2
    assert f"{web}/fruit cannot be combined with files" in several.stderr
    assert "has no file name" in quire("encode", f"{web}/fruit", "--output-dir", "x").stderr


def test_an_error_of_the_web_is_one_line_with_a_hint(
    quire: Quire, web: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = quire("show", f"{web}/missing")
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert missing.stderr == (
        f"error: {web}/missing: the server answered with status 404; expected 200\n"
    )
    monkeypatch.delenv("QUIRE_ALLOW_NETWORKS")
    refused = quire("show", f"{web}/fruit")
    assert refused.stderr == (
        f"error: {web}/fruit: 127.0.0.1 is not a public address (127.0.0.0/8, loopback)\n"
        "hint: name the network to allow it: QUIRE_ALLOW_NETWORKS=127.0.0.0/8\n"
    )
    monkeypatch.setenv("QUIRE_ALLOW_NETWORKS", "home")
    assert "QUIRE_ALLOW_NETWORKS: home: not a network" in quire("show", f"{web}/fruit").stderr


@pytest.mark.parametrize(
    "name", ["www.example.org", "ftp://example.org/a", "http://127.1/", "https://a@b@c/"]
)
def test_an_address_that_is_not_fetched_is_refused(quire: Quire, name: str) -> None:
    result = quire("show", name)

    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {name}: ") or "…@" in result.stderr


def test_a_file_with_such_a_name_is_a_file(quire: Quire, folder: Path) -> None:
    (folder / "http:").mkdir()
    (folder / "http:" / "page").write_bytes(PAGE)

    assert not fetched.is_web_page("http://page")
    assert quire("show", "http://page").exit_code == 0


def test_commands_that_need_files_say_so(quire: Quire) -> None:
    result = quire("encode", "www.example.org")

    assert result.stderr.endswith("hint: try https://www.example.org\n")
