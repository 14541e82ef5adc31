"""A real Spark cluster on this machine: a master, workers, and a way to kill one of them.

Every process gets its own operating system session. Everything a worker starts (Java for an
executor, Python for tasks) stays in the worker's session, even if it leaves the process group, so
that a kill leaves nothing alive. The system chooses the ports, and only loopback is used.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import pyspark

ROOT = Path(__file__).parents[2]
SPARK = Path(pyspark.__file__).parent
START_TIMEOUT_S = 120
#: Options for a Java that starts quickly and stays small.
LEAN = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData"


class Process:
    """A Java process of Spark that leads its own session."""

    def __init__(self, name: str, folder: Path, arguments: list[str]) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self.data = folder / f"{name}-local"
        environment = os.environ | {
            "SPARK_HOME": str(SPARK),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.data),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": LEAN,
            "SPARK_LAUNCHER_OPTS": LEAN,
            # So that workers can import the functions of the tests, and the same quire as these.
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        }
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [str(SPARK / "bin" / "spark-class"), *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def said(self, pattern: str) -> list[str]:
        """Search the log for text."""
        return re.findall(pattern, self.log.read_text(encoding="utf-8", errors="replace"))

    def members(self) -> list[int]:
        """List the processes of the session."""
        found = []
        for entry in Path("/proc").iterdir():
            with suppress(ValueError, ProcessLookupError, PermissionError):
                pid = int(entry.name)
                if os.getsid(pid) == self._process.pid:
                    found.append(pid)
        return found

    def kill(self) -> None:
        """Kill the whole session at once, as a power cut would."""
        deadline = time.monotonic() + 10
        while members := self.members():
            for pid in members:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._process.poll()  # else it stays in the session as a zombie
            if time.monotonic() > deadline:
                break
            time.sleep(0.01)
        self._process.wait(10)

    @property
    def alive(self) -> bool:
        """Whether it is still running."""
        return self._process.poll() is None


class Cluster:
    """A master and workers with one core each. Leaving the context manager kills them all.

    Args:
        folder: Folder for logs and data of the workers.
        workers: Number of workers.

    Attributes:
        address: Address of the master.
        workers: Workers that were not killed.
    """

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self._folder = folder
        self._started = 0
        self.workers: list[Process] = []
        self._master = Process(
            "master",
            folder,
            [
                "org.apache.spark.deploy.master.Master",
                "--host",
                "127.0.0.1",
                "--port",
                "0",
                "--webui-port",
                "0",
            ],
        )
        try:
            wait_for(lambda: self._master.said(r"Starting Spark master at (\S+)"), self._master)
            self.address = self._master.said(r"Starting Spark master at (\S+)")[0]
            for _ in range(workers):
                self.start_worker()
            self.wait_for_workers()
        except BaseException:
            self.stop()
            raise

    def start_worker(self) -> None:
        """Start one more worker; see ``wait_for_workers``."""
        self._started += 1
        name = f"worker-{self._started}"
        options = "--host 127.0.0.1 --port 0 --webui-port 0 --cores 1 --memory 600m --work-dir"
        work = str(self._folder / f"{name}-work")
        arguments = ["org.apache.spark.deploy.worker.Worker", *options.split(), work, self.address]
        self.workers.append(Process(name, self._folder, arguments))

    def wait_for_workers(self) -> None:
        """Wait until the master knows all workers."""
        for worker in self.workers:
            wait_for(lambda: worker.said("Successfully registered with master"), worker)  # noqa: B023

    def kill_worker_of(self, pid: int) -> None:
        """Kill -9 the worker that a process belongs to, with everything it started and its data.

        Workers of one machine may read each other's files, so that nothing has to be done again if
        the files outlive their worker. Here they go with it, as if each had a machine of its own.
        """
        session = os.getsid(pid)
        worker = next(worker for worker in self.workers if session in worker.members())
        self.workers.remove(worker)
        worker.kill()
        assert worker.data.is_dir()
        shutil.rmtree(worker.data)

    def stop(self) -> None:
        """Kill everything."""
        for process in [*self.workers, self._master]:
            process.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def wait_for(
    condition: Callable[[], object],
    process: Process | None = None,
    timeout_s: float = START_TIMEOUT_S,
) -> None:
    """Wait until a condition holds.

    Raises:
        TimeoutError: It does not, or the process that should bring it about has ended.
    """
    deadline = time.monotonic() + timeout_s
    while not condition():
        ended = process is not None and not process.alive
        if ended or time.monotonic() > deadline:
            words = process.log.read_text(encoding="utf-8")[-3000:] if process else ""
            raise TimeoutError(f"waited {timeout_s} s in vain: {words}")
        time.sleep(0.05)
