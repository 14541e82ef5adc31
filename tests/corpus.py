"""The shared corpora: real pages and conformance suites, kept beside the repository.

The archives are in ``../shared/corpus`` and never in the repository: the pages
belong to their publishers. Where that folder is absent, tests skip with
``ABSENT`` as the reason; that is no fault, even in CI.

An archive is unpacked once per machine, into a cache folder named for its
content, so a new version of an archive never meets files of the old one. The
folder is filled under another name and renamed into place: several processes
may ask at once, the first to finish wins, and a folder that exists is whole.

Tests say ``from tests.corpus import files``. Benchmarks, being scripts, put the
repository's root on ``sys.path`` first and then say the same.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import tempfile
from pathlib import Path

import zstandard

SHARED = Path(__file__).resolve().parents[2] / "shared" / "corpus"
ABSENT = "the shared corpora are not beside the repository (../shared/corpus)"

# The archives were packed with long-range matching; the default limit of the
# reader is 2^23 and refuses them.
WINDOW_BYTES = 2**27


def available() -> bool:
    """Tell whether the shared corpora are there."""
    return SHARED.is_dir()


def names() -> list[str]:
    """Name every corpus there is, sorted."""
    return sorted(path.name.removesuffix(".tar.zst") for path in SHARED.glob("*.tar.zst"))


def files(name: str) -> list[Path]:
    """List the files of a corpus, sorted by path; unpacks it the first time.

    Raises:
        FileNotFoundError: there is no corpus of that name.
    """
    return sorted(path for path in folder(name).rglob("*") if path.is_file())


def folder(name: str) -> Path:
    """Give the folder that holds an unpacked corpus; unpacks it the first time.

    Raises:
        FileNotFoundError: there is no corpus of that name.
    """
    return unpacked(SHARED / f"{name}.tar.zst", _cache())


def unpacked(archive: Path, cache: Path) -> Path:
    """Unpack an archive below ``cache``, unless that was done before."""
    with archive.open("rb") as stream:
        content = hashlib.file_digest(stream, "sha256").hexdigest()[:16]
    name = archive.name.removesuffix(".tar.zst")
    target = cache / f"quire-corpus-{content}" / name
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    filling = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=target.parent))
    try:
        _extract(archive, filling)
        filling.rename(target)
    except OSError:
        # Another process was first: a folder in use is never replaced.
        if not target.is_dir():
            raise
    finally:
        shutil.rmtree(filling, ignore_errors=True)
    return target


def _extract(archive: Path, target: Path) -> None:
    reader = zstandard.ZstdDecompressor(max_window_size=WINDOW_BYTES)
    with (
        archive.open("rb") as packed,
        reader.stream_reader(packed) as plain,
        tarfile.open(fileobj=plain, mode="r|") as tar,
    ):
        tar.extractall(target, filter="data")


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or tempfile.gettempdir())
