"""The session: one Java process that talks to a Spark cluster.

Common problems are checked beforehand, because Spark needs a minute or a wall of Java to report
them: Java is missing, no master answers at the address, or a session is already open. Java's
output goes to a log file.
"""

from __future__ import annotations

import ipaddress
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from quire.errors import EngineError

#: How long to wait for a master to accept a connection.
CONNECT_TIMEOUT_S = 10
_STOP_TIMEOUT_S = 20
# For the Java process that only builds a command line: it ends before optimization pays off.
_QUICK = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"

# Overridden by `settings`.
_DEFAULTS = {
    # We set the number of tasks ourselves, so that steps and stages correspond.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
    # The driver reads one partition at a time, which limits its memory.
    "spark.driver.maxResultSize": "0",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.speculation": "false",
    # Give up a silent machine after one minute instead of two; a closed connection at once.
    "spark.executor.heartbeatInterval": "5s",
    "spark.network.timeout": "60s",
    "spark.shuffle.io.maxRetries": "3",
    "spark.shuffle.io.retryWait": "2s",
    "spark.log.level": "WARN",
}


class Session:
    """An open session.

    Attributes:
        spark: The Spark session.
        log: The file with Java's output.
    """

    def __init__(
        self, address: str, *, memory: str, python: str | None, settings: Mapping[str, str]
    ) -> None:
        _need_java()
        _need_master(address)
        if SparkContext._active_spark_context is not None:  # noqa: SLF001 - no public way to ask
            raise EngineError("a Spark session is open in this process; expected one at a time")
        self._folder = Path(tempfile.mkdtemp(prefix="quire-spark-"))
        self.log: Path = self._folder / "driver.log"
        conf = SparkConf(loadDefaults=False).setMaster(address).setAppName("quire")
        conf.setAll([*_DEFAULTS.items(), *_of_place(address, memory), *settings.items()])
        try:
            with _environment(
                PYSPARK_PYTHON=python or os.environ.get("PYSPARK_PYTHON", sys.executable),
                SPARK_LAUNCHER_OPTS=os.environ.get("SPARK_LAUNCHER_OPTS", _QUICK),
            ):
                self.spark: SparkSession = self._start(conf)
        except BaseException:
            self.close()
            raise

    def _start(self, conf: SparkConf) -> SparkSession:
        try:
            gateway = SparkContext._gateway  # noqa: SLF001 - a Java process started by other code
            if gateway is None:
                with self.log.open("wb") as log:
                    output = {"stdout": log, "stderr": subprocess.STDOUT}
                    gateway = launch_gateway(conf, output)  # type: ignore[no-untyped-call]
                self._gateway = gateway
            return SparkSession(SparkContext(conf=conf, gateway=gateway))
        except Exception as error:  # noqa: BLE001 - errors of py4j, Java or the system
            found = EngineError(f"{conf.get('spark.master')}: no session; {_first_line(error)}")
            found.add_note("Spark's log ends:\n" + self.tail())
            raise found from None

    def tail(self) -> str:
        """Return the last lines of the log."""
        with suppress(OSError):
            return "\n".join(
                self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
            )
        return ""

    def close(self) -> None:
        """End the session and its Java process."""
        spark, gateway = getattr(self, "spark", None), getattr(self, "_gateway", None)
        if spark is not None:
            with suppress(Exception):  # Java may already be gone, which is fine
                spark.stop()
        if gateway is not None:
            _end(gateway)
        shutil.rmtree(self._folder, ignore_errors=True)


def _need_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if java is None:
        where = (
            f"JAVA_HOME is {home}" if home else "JAVA_HOME is not set, and java is not on the path"
        )
        raise EngineError(
            f"no Java found: {where}; Spark needs Java 17 or later, "
            "on Debian: apt install openjdk-17-jre-headless"
        )


def _hosts(address: str) -> Iterator[tuple[str, int]]:
    """Yield the masters of an address; there may be several, one of them leading."""
    for place in address.removeprefix("spark://").split(","):
        host, _, port = place.rpartition(":")
        if not host or not port.isdecimal():
            raise ValueError(f"{address}: {place} is not a master; expected spark://HOST:PORT")
        yield host.strip("[]"), int(port)


def _need_master(address: str) -> None:
    if not address.startswith("spark://"):
        return
    found = []
    for host, port in _hosts(address):
        try:
            socket.create_connection((host, port), CONNECT_TIMEOUT_S).close()
        except OSError as error:
            found.append(f"{host}:{port}: {error}")
        else:
            return
    raise EngineError(f"{address}: no Spark master answers ({'; '.join(found)})")


def _of_place(address: str, memory: str) -> Iterator[tuple[str, str]]:
    on_this_machine = True
    if address.startswith("spark://"):
        yield "spark.executor.memory", memory
        on_this_machine = all(_loopback(host) for host, _ in _hosts(address))
    else:
        yield "spark.driver.memory", memory
    if on_this_machine:
        yield "spark.driver.host", "127.0.0.1"
        yield "spark.driver.bindAddress", "127.0.0.1"


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _first_line(error: Exception) -> str:
    if isinstance(error, PySparkException):
        return str(error.getMessage()).strip().splitlines()[0]
    java = getattr(error, "java_exception", None)
    return str(java or error).strip().splitlines()[0]


def _end(gateway: Any) -> None:  # noqa: ANN401 - py4j has no types
    """End the Java process, which Spark would keep until this process ends."""
    with suppress(Exception):
        gateway.shutdown()
    if SparkContext._gateway is gateway:  # noqa: SLF001 - Spark would use it again
        SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001 - same
    process: subprocess.Popen[bytes] | None = gateway.proc
    if process is None:
        return
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()  # Java ends when its input ends
    try:
        process.wait(_STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
