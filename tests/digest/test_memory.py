"""Encoding takes memory in proportion to the page, also where every byte is a node."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import quire

source = {source}
quire.encode(b"<p>Fish")


def measured(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(name))


before = measured("VmRSS")
page = quire.encode(source, kind="{kind}", recover=True)
print((measured("VmHWM") - before) / len(source))
"""
# What a page may take at most, as a multiple of its length. Before arrays were let go as soon as
# they had been used: 51, 50, 35, 62, 99, 71, 118.
SHAPES = [
    ("json", 'b"[" + b"0," * 4_000_000 + b"0]"', 30),
    ("text", r'b"a\n" * 4_000_000', 30),
    ("html", 'b"<p>" * 3_000_000', 30),
    ("html", 'b"<b>x" * 2_000_000', 35),
    ("text", r'b"a\n\n" * 3_000_000', 55),
    ("html", 'b"<table>" + b"<b>x<tr>" * 1_000_000', 55),
    ("json", 'b"[" * 8_000_000', 75),
]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("kind", "source", "most"), SHAPES)
def test_a_page_with_a_node_for_every_few_bytes_takes_little_memory(
    kind: str, source: str, most: int
) -> None:
    program = PROGRAM.format(source=source, kind=kind)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) <= most
