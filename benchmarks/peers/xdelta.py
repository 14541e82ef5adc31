"""xdelta3, which writes VCDIFF (RFC 3284): the command, one process for each delta.

Without secondary compression, so that its deltas compare with those of TBC, and with windows no
larger than the pages: by default it clears 134 MB for every process.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import measure

COMMAND = "xdelta3"
MISSING = "xdelta3 is not installed, so VCDIFF is left out (Debian: apt-get install xdelta3)"
#: The smallest window of sources that it accepts.
_LEAST_WINDOW = 1 << 19
#: Processes with empty files, to know how long a start takes.
_STARTS = 20


@dataclass(frozen=True, slots=True)
class Deltas:
    """Deltas of pairs, and CPU seconds of all processes, with and without their starts."""

    deltas: list[bytes]
    seconds: float
    without_starts: float


def is_installed() -> bool:
    """Tell whether the command is there."""
    return shutil.which(COMMAND) is not None


def version() -> str:
    """``Xdelta version 3.0.11``."""
    done = subprocess.run([COMMAND, "-V"], capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).split(",")[0].strip()


def encode(pairs: Sequence[tuple[bytes, bytes]]) -> Deltas:
    """Make a delta for each pair of a reference and a page, at level 9."""
    with tempfile.TemporaryDirectory() as folder:
        old, new, delta = (Path(folder, name) for name in ("old", "new", "delta"))
        old.write_bytes(b"")
        new.write_bytes(b"")
        before = measure.children_time()
        for _ in range(_STARTS):
            _run(["-e", "-s", str(old), str(new), str(delta)], 0)
        start = (measure.children_time() - before) / _STARTS
        made = []
        spent = 0.0
        for reference, page in pairs:
            old.write_bytes(reference)
            new.write_bytes(page)
            before = measure.children_time()
            _run(["-e", "-s", str(old), str(new), str(delta)], max(len(reference), len(page)))
            spent += measure.children_time() - before
            made.append(delta.read_bytes())
    return Deltas(made, spent, max(spent - start * len(made), 0.0))


def decode(reference: bytes, delta: bytes) -> bytes:
    """Make the page again."""
    with tempfile.TemporaryDirectory() as folder:
        old, new, page = (Path(folder, name) for name in ("old", "delta", "page"))
        old.write_bytes(reference)
        new.write_bytes(delta)
        _run(["-d", "-s", str(old), str(new), str(page)], len(reference))
        return page.read_bytes()


def _run(arguments: list[str], longest: int) -> None:
    window = str(max(_LEAST_WINDOW, 1 << (longest - 1).bit_length() if longest else 0))
    options = ["-f", "-q", "-n", "-A", "-9", "-S", "none", "-B", window, "-W", window]
    subprocess.run([COMMAND, *options, *arguments], check=True)
