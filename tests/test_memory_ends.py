"""Where memory ends, every kernel raises an error, and the process goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import quire

PROGRAM = """
import resource
import numpy  # imported before the limit
import quire
from quire._core import AfTree, Bags, FragmentPool, PartPacker, kang, sketch, source_spans, token_bins

source = {source!r} * {count}
page, other = (quire.load(name) for name in ("page.qd", "other.qd"))
native = page._native
parts = (30, 8, 4, 32, ["b"])
{before}


def call():
    {call}


with open("/proc/self/status") as status:
    used = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmSize"))
done = failed = 0
# Kernels do not ask for less than 8 MB.
for power in range(8, 24):
    limit = used + int(2 ** (power / 2) * (1 << 20))
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    try:
        call()
        done += 1
    except MemoryError:
        failed += 1
print(done, failed)
"""
SCRIPT = "script = quire.edit_script(page, other)"
SCRIPT_OF_ALL = "script = quire.edit_script(quire.encode(b''), page)"
CALLS = [
    ("", "quire.encode(source, kind='text')"),
    ("", "Bags.of_pages([native, other._native], 'content')"),
    ("", "AfTree(native, ['b'], False)"),
    ("", "FragmentPool(*parts).push(native)"),
    ("", "PartPacker(*parts).pack(native)"),
    ("", "source_spans(native)"),
    ("", "sketch(native, 'structure', 64, None, False)"),
    ("", "token_bins(native, 64, 3)"),
    ("", "kang(native, other._native, 4)"),
    ("", "quire.similarity(page, other, 'content')"),
    ("", "quire.edit_script(page, other)"),
    (SCRIPT, "script.apply(page)"),
    (SCRIPT_OF_ALL, "script.invert()"),
    (SCRIPT + "; back = script.invert()", "script.compose(back)"),
]
LINES, COUNT = b"a\n\n", 200_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pages with a node for each byte."""
    folder = tmp_path_factory.mktemp("pages")
    quire.encode(LINES * COUNT, kind="text").save(folder / "page.qd")
    quire.encode(LINES * COUNT + b"b\n", kind="text").save(folder / "other.qd")
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="limits on memory are others elsewhere")
@pytest.mark.parametrize(("before", "call"), CALLS)
def test_where_memory_ends_a_kernel_raises_an_error(before: str, call: str, folder: Path) -> None:
    program = PROGRAM.format(source=LINES, count=COUNT, before=before, call=call)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr[-500:]
    succeeded, failed = map(int, done.stdout.split())
    assert succeeded > 0
    assert failed > 0
