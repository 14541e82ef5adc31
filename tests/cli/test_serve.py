"""``quire serve``: refuses wrong options with a word on the way out, and answers until it is stopped."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

QUIRE = (sys.executable, "-m", "quire.cli")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--base-url", "ftp://x"), "error: --base-url: expected an address such as https://"),
        (
            ("--base-url", "https://x.example/path"),
            "error: --base-url: expected an address without",
        ),
        (("--host", "203.0.113.9"), "hint: choose an address of this machine"),
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    command = [*QUIRE, "serve", "--port", "0", "--database", str(tmp_path / "quire.db"), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)

    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert message in done.stderr


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [*QUIRE, "serve", "--port", port, "--database", str(tmp_path / "quire.db")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)

    assert done.returncode == 2
    assert f"port {port}" in done.stderr
    assert "hint: choose another port" in done.stderr


def test_it_prints_the_password_once_and_answers(tmp_path: Path) -> None:
    command = [*QUIRE, "serve", "--port", "0", "--database", str(tmp_path / "quire.db")]
    passwords = []
    for _ in range(2):
        with subprocess.Popen(
            [*command, "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            try:
                assert process.stdout is not None
                text = ""  # one JSON document over several lines
                while not text.rstrip().endswith("}"):
                    text += process.stdout.readline().decode()
                greeting = json.loads(text)
                passwords.append(greeting["password"])
                assert status(greeting["address"], "/healthz") == 200
                process.send_signal(signal.SIGTERM)
                assert process.wait(timeout=240) == 0
            finally:
                process.kill()

    assert passwords[0]
    assert passwords[1] is None


@pytest.mark.parametrize(("options", "is_json"), [([], True), (["--log-format", "text"], False)])
def test_logs_are_json_for_programs_and_short_lines_for_people(
    tmp_path: Path, options: list[str], *, is_json: bool
) -> None:
    command = [*QUIRE, "serve", "--port", "0", "--database", str(tmp_path / "quire.db"), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().decode().split()[-1]
            assert status(address, "/nothing") == 404
            process.send_signal(signal.SIGTERM)
            logged = process.communicate(timeout=240)[1].decode()
        finally:
            process.kill()

    assert '"path": "/nothing"' in logged if is_json else "GET /nothing: 404" in logged
    assert logged.startswith("{") == is_json


def status(address: str, path: str) -> int:
    connection = HTTPConnection(urlsplit(address).netloc, timeout=240)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()
