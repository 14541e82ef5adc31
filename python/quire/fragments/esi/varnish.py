"""A real Varnish that runs while pages are verified.

``composing_varnish`` starts it on a free port of the loopback address, with a server of this
package as its origin and a temporary work folder; it is stopped and everything removed in any case.
If this process is killed, Varnish ends too. The VCL is generated from the manifest with the port of
the origin, so a folder from elsewhere cannot bring code into it. Every page is asked for at its own
address; a page without one by the name of its file.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from quire.errors import CompositionError, ProxyError
from quire.fragments.esi.addresses import split_address
from quire.fragments.esi.compose import folder_reader
from quire.fragments.esi.manifest import ComposedPage, FragmentFile, Manifest
from quire.fragments.esi.vcl import varnish_vcl

_HOST = "127.0.0.1"
# A C compiler compiles the VCL, which takes a while on a busy machine.
_START_S = 60
_STOP_S = 10
_REQUEST_S = 60
_ATTEMPTS = 3
# Ends Varnish when the pipe on its input closes, which happens whenever this process ends.
_UNTIL_PIPE_CLOSES = """
exec 3<&0 </dev/null
"$@" 3<&- & varnish=$!
{ read -r _ <&3; kill "$varnish" 2>/dev/null; } & watcher=$!
exec 3<&-
wait "$varnish"; code=$?
kill "$watcher" 2>/dev/null
exit "$code"
"""


@contextmanager
def composing_varnish(
    folder: Path, manifest: Manifest
) -> Iterator[Callable[[ComposedPage], bytes]]:
    """Return a function that fetches pages of a composition through Varnish.

    Raises:
        ProxyError: Varnish is not installed, or does not start.
    """
    with (
        _origin(folder, manifest) as port,
        running_varnish(manifest, port) as address,
        closing(http.client.HTTPConnection(*address, timeout=_REQUEST_S)) as connection,
    ):
        yield lambda page: _get(connection, page, manifest.prefix)


@contextmanager
def running_varnish(manifest: Manifest, port: int) -> Iterator[tuple[str, int]]:
    """Run Varnish with the VCL of a composition and an origin on this machine; return its address.

    Raises:
        ProxyError: Varnish is not installed, or does not start.
    """
    program = shutil.which("varnishd")
    if program is None:
        raise ProxyError("varnishd is not installed")
    with tempfile.TemporaryDirectory(prefix="quire-") as work:
        vcl = Path(work) / "varnish.vcl"
        vcl.write_text(varnish_vcl(manifest, host=_HOST, port=port), encoding="ascii")
        # Varnish drops root privileges and must still read this; so TMPDIR must be open as /tmp is.
        Path(work).chmod(0o755)
        with _running(program, Path(work), vcl, xml_check=manifest.xml_check) as address:
            yield address


@contextmanager
def _origin(folder: Path, manifest: Manifest) -> Iterator[int]:
    """Serve the files of a composition, and nothing else."""
    prefix = manifest.prefix
    listed: list[ComposedPage | FragmentFile] = [*manifest.pages, *manifest.fragments]
    known = {f"{prefix}/{one.folder}/{one.file}.html": (one.folder, one.file) for one in listed}

    read = folder_reader(folder)
    # No file is longer than its page or fragment; a longer one is cut off, and so differs.
    longest = max((one.length for one in listed), default=0)

    class Files(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one write: a second one would wait 40 ms

        def do_GET(self) -> None:
            data = None
            with contextlib.suppress(KeyError, CompositionError):
                data = read(*known[self.path], longest)
            self.send_response(404 if data is None else 200)
            data = data or b""
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited
            """Say nothing."""

    server = ThreadingHTTPServer((_HOST, 0), Files)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join(_STOP_S)


@contextmanager
def _running(program: str, work: Path, vcl: Path, *, xml_check: bool) -> Iterator[tuple[str, int]]:
    """Run Varnish until the end of the block; retry, as the free port may be taken meanwhile."""
    told = ""
    for attempt in range(_ATTEMPTS):
        address = (_HOST, _free_port())
        folder = work / f"varnish{attempt}"
        with (work / f"varnish{attempt}.log").open("w+b") as log:
            command = [
                *("/bin/sh", "-c", _UNTIL_PIPE_CLOSES, "sh"),
                *(program, "-F", "-n", str(folder), "-f", str(vcl)),
                *("-a", f"{address[0]}:{address[1]}", "-s", "malloc,256m"),
                *(() if xml_check else ("-p", "feature=+esi_disable_xml_check")),
            ]
            process = subprocess.Popen(  # noqa: S603 - a program by its path, and arguments of ours
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=work,
                start_new_session=True,
            )
            try:
                if _answers(process, address):
                    yield address
                    return
            finally:
                _stop(process)
            log.seek(0)
            told = log.read(4096).decode("utf-8", "replace")
    raise ProxyError(f"varnishd did not start: {' '.join(told.split())[:400] or 'no output'}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(process: subprocess.Popen[bytes], address: tuple[str, int]) -> bool:
    """Wait until Varnish answers; False when it ended, or took too long."""
    end = time.monotonic() + _START_S
    while time.monotonic() < end and process.poll() is None:
        with (
            contextlib.suppress(OSError, http.client.HTTPException),
            closing(http.client.HTTPConnection(*address, timeout=_REQUEST_S)) as connection,
        ):
            connection.request("GET", "/")
            connection.getresponse().read()
            return process.poll() is None
        time.sleep(0.05)
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End Varnish: it ends its worker, which also ends with its parent."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        # It has a process group of its own (`start_new_session`), so nothing else is hit.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _get(connection: http.client.HTTPConnection, page: ComposedPage, prefix: str) -> bytes:
    host, path = "", f"{prefix}/{page.folder}/{page.file}.html"
    if page.address:
        host, path = split_address(page.address)
    try:
        connection.request("GET", path, headers={"Host": host} if host else {})
        answer = connection.getresponse()
        data = answer.read()
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        raise ProxyError(f"{type(error).__name__}: {error}") from None
    if answer.status != http.client.OK:
        raise ProxyError(f"Varnish answered {answer.status}")
    found = answer.getheader("Content-Type", "none")
    if page.address and found != page.content_type:
        raise ProxyError(f"content type {found}, expected {page.content_type}")
    return data
