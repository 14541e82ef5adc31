"""changedetection.io under the load of ``rivals``: its own server, used through its API.

The program is found as ``QUIRE_CHANGEDETECTION`` or on the path as ``changedetection.io``. It starts
once with ten workers and an empty folder; the pages of the benchmark are on loopback, so private
addresses are allowed. A pass asks for a check of all watches and waits until each was checked. CPU
time is that of the server between the two; the first pass has the making of the watches in it.
"""

import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Watches that are checked at once; its documents recommend 10 for a machine with two cores.
WORKERS = "10"
#: Seconds until a pass counts as stuck.
LONGEST = 900
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Server:
    """A running changedetection.io.

    Attributes:
        address: its API.
        key: the key of the API.
        process: its number.
        folder: its files.
    """

    address: str
    key: str
    process: int
    folder: Path

    def ask(self, path: str, form: dict[str, Any] | None = None, method: str | None = None) -> Any:
        """Ask the API."""
        data = None if form is None else json.dumps(form).encode()
        headers = {"x-api-key": self.key, "Content-Type": "application/json"}
        request = urllib.request.Request(  # noqa: S310 - loopback
            f"{self.address}/api/v1/{path}", data, headers, method=method
        )
        with urllib.request.urlopen(request, timeout=300) as answer:  # noqa: S310 - loopback
            text = answer.read()
        return json.loads(text) if text.strip() else None

    def cpu_seconds(self) -> float:
        """Return the CPU time that it has used so far."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def peak_bytes(self) -> int:
        """Return the most memory that it has used so far."""
        lines = Path(f"/proc/{self.process}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) * 1024

    def stored_bytes(self) -> int:
        """Return the size of its files."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def changed(self) -> dict[str, int]:
        """Return when each watch last changed."""
        return {name: each["last_changed"] for name, each in self.ask("watch").items()}

    def check_all(self, *, is_new: bool) -> None:
        """Check every watch once, and wait for the end."""
        before = {name: each["last_checked"] for name, each in self.ask("watch").items()}
        if not is_new:  # it checks new watches by itself
            time.sleep(1.1)  # its clock has seconds
            self.ask("watch?recheck_all=1")
        _wait(
            lambda: all(
                each["last_checked"] > (0 if is_new else before[name])
                for name, each in self.ask("watch").items()
            )
        )


@contextmanager
def running(command: str, folder: Path) -> Iterator[Server]:
    """Start changedetection.io without watches."""
    folder.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {
        "ALLOW_IANA_RESTRICTED_ADDRESSES": "true",
        "FETCH_WORKERS": WORKERS,
        "MINIMUM_SECONDS_RECHECK_TIME": "0",
    }
    options = ["-d", str(folder), "-h", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(
        [command, *options],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            settings = folder / "changedetection.json"
            _wait(lambda: settings.exists() and "api_access_token" in settings.read_text())
            key = json.loads(settings.read_text())["settings"]["application"]["api_access_token"]
            server = Server(f"http://127.0.0.1:{port}", key, process.pid, folder)
            _wait(lambda: _answers(server))
            for name in server.ask("watch"):  # it brings two of its own
                server.ask(f"watch/{name}", method="DELETE")
            yield server
        finally:
            process.terminate()


def _answers(server: Server) -> bool:
    try:
        server.ask("systeminfo")
    except OSError:
        return False
    return True


def _wait(is_done: Callable[[], bool]) -> None:
    end = time.monotonic() + LONGEST
    while not is_done():
        if time.monotonic() > end:
            raise TimeoutError(f"changedetection.io was not done after {LONGEST} s")
        time.sleep(0.5)
