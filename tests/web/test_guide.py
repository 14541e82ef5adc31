"""The guide to the API: its commands are run against a real server."""

from __future__ import annotations

import doctest
import os
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from tests import patience
from tests.conftest import require
from tests.web.conftest import Site

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "api.md"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture
def port(site: Site) -> Iterator[int]:
    """Serve an application with uvicorn, on a free port."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(site.app, log_config=None, lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        patience.wait_until(lambda: server.started)
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join(patience.PATIENCE_S)


def examples() -> list[tuple[str, str]]:
    """List the commands of the guide with what they print."""
    found = []
    text = GUIDE.read_text(encoding="utf-8")
    for block in re.findall(r"```shell-session\n(.*?)```", text, re.DOTALL):
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = example.partition("\n")
            found.append((command, printed))
    return found


def test_the_commands_of_the_guide_print_what_it_says(site: Site, port: int) -> None:
    require("curl", "run the commands of a guide")
    require("jq", "run the commands of a guide")
    wrong = []
    for shown, expected in examples():
        result = subprocess.run(
            ["bash", "-c", shown.replace("127.0.0.1:8000", f"127.0.0.1:{port}")],
            env={**os.environ, "TOKEN": site.tokens["write"], "no_proxy": "*"},
            capture_output=True,
            text=True,
            check=False,
            timeout=patience.PATIENCE_S,
        )
        printed = result.stdout if result.stdout.endswith("\n") else f"{result.stdout}\n"
        if not doctest.OutputChecker().check_output(expected, printed, FLAGS):
            wrong.append(f"$ {shown}\n{printed}{result.stderr}\nbut the guide has\n{expected}")

    assert len(examples()) > 10
    assert not wrong, "\n\n".join(wrong)


def test_every_group_of_routes_is_in_the_guide() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    for word in ("/healthz", "/metrics", "/api/docs", "/replay", "/feed", "/events", "/history"):
        assert word in text
