"""A forged digest, all checksums right, costs no more than the source length in its header says."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.errors import DigestFormatError
from tests import strategies
from tests.digest.forge import (
    ATTR,
    ATTR_HEAP,
    ATTR_LENGTHS,
    CHILDREN,
    CONTENT,
    CONTENT_HEAP,
    CONTENT_LENGTHS,
    TAG,
    TAG_HEAP,
    TAG_INFO,
    TAG_LENGTHS,
    Forged,
    taken_apart,
)

MANY, LONG = 4000, 1 << 20
Verify = Literal["all", "columns"]


def with_copies(of: bytes, node: int, copies: int) -> Forged:
    """Take a page apart whose last node is repeated."""
    page = quire.encode(of)
    assert node == page.n - 1
    forged = taken_apart(page.to_bytes())
    parent = int(page.parent[node])
    children = [int(count) for count in page.children]
    children[parent] += copies - 1
    forged.column(CHILDREN, children[:node] + [children[node]] * copies)
    for section, column in ((TAG, page.tag), (ATTR, page.attr), (CONTENT, page.content)):
        values = [int(value) for value in column]
        forged.column(section, values[:node] + [values[node]] * copies)
    forged.nodes(node + copies)
    return forged


def many_texts() -> bytes:
    forged = with_copies(b"<p>Fish", 5, MANY)
    forged.column(CONTENT_LENGTHS, [LONG])
    forged.sections[CONTENT_HEAP] = (1, b"x" * LONG)
    return forged.write()


def many_attributes() -> bytes:
    forged = with_copies(b"<p class=a>", 4, MANY)
    forged.column(ATTR_LENGTHS, [LONG])
    forged.sections[ATTR_HEAP] = (1, b" " + b"a" * (LONG - 1))
    return forged.write()


def many_names() -> bytes:
    forged = with_copies(b"<p>", 4, MANY)
    tags = len(forged.sections[TAG_INFO][1]) // 3
    width, lengths = forged.sections[TAG_LENGTHS]
    assert width == 1
    heap = forged.sections[TAG_HEAP][1]
    # The name of the last tag comes after those of all others.
    before = sum(lengths[: 3 * (tags - 1)])
    forged.sections[TAG_HEAP] = (1, heap[:before] + b"p" * LONG)
    forged.column(TAG_LENGTHS, [*lengths[: 3 * (tags - 1)], LONG, 0, 0])
    return forged.write()


def too_many_nodes() -> bytes:
    return with_copies(b"<p>Fish", 5, 100_000).write()


def too_long() -> bytes:
    forged = taken_apart(quire.encode(b"<p>Fish").to_bytes())
    forged.column(CONTENT_LENGTHS, [50 * LONG])
    forged.sections[CONTENT_HEAP] = (1, bytes(50 * LONG))
    return forged.write()


FORGED = [many_texts, many_attributes, many_names, too_many_nodes, too_long]


def compressed(digest: bytes) -> bytes:
    """Compress a forged digest as it is, which quire would refuse to do."""
    forged = taken_apart(digest)
    forged.head[11] = 1
    packed = forged.write()
    start = len(packed) - int.from_bytes(packed[32:40], "little")
    rows = (struct.unpack_from("<H6xQ", packed, at) for at in range(152, start - 8, 32))
    heaps = min((offset for section, offset in rows if section >= ATTR_HEAP), default=len(packed))
    frames = [frame for frame in (packed[start:heaps], packed[heaps:]) if frame]
    return packed[:start] + b"".join(zstandard.compress(frame, 19) for frame in frames)


@pytest.mark.parametrize("verify", ["all", "columns"])
@pytest.mark.parametrize("pack", [bytes, compressed])
@pytest.mark.parametrize("make", FORGED)
def test_a_digest_that_claims_more_than_its_source_has_is_refused(
    make: Callable[[], bytes], pack: Callable[[bytes], bytes], verify: Verify
) -> None:
    with pytest.raises(DigestFormatError, match=r"a source of \d+ bytes has at most"):
        quire.from_bytes(pack(make()), verify=verify).text()


COMMANDS = [
    ["show", "--text"],
    ["show"],
    ["show", "--tree"],
    ["decode", "-o", "-"],
    ["diff", "other.qd"],
    ["diff", "--format", "json", "other.qd"],
    ["similar", "other.qd"],
    ["similar", "--on", "content", "other.qd"],
]
LIMITED = """
import resource, sys
from quire.cli import app
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
for arguments in {commands!r}:
    print(app(arguments, standalone_mode=False), file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits on memory are others elsewhere")
@pytest.mark.parametrize("make", [many_texts, many_attributes, many_names])
def test_every_command_refuses_it_in_little_memory(
    tmp_path: Path, make: Callable[[], bytes]
) -> None:
    (tmp_path / "forged.qd").write_bytes(compressed(make()))
    quire.encode(b"<p>Chips").save(tmp_path / "other.qd")
    commands = [[first, "forged.qd", *rest] for first, *rest in COMMANDS]
    program = LIMITED.format(limit=3 << 30, commands=commands)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr[-500:]
    codes = [line for line in done.stderr.splitlines() if not line.startswith(("error", "hint"))]
    assert codes == ["2"] * len(commands), done.stderr
    assert done.stderr.count("has at most") == len(commands)


@pytest.mark.parametrize("copies", [2, 300, 3000])
def test_copies_of_a_long_tag_do_not_make_a_page_longer_than_it_is(copies: int) -> None:
    page = b"<p><b title='" + b"x" * 20_000 + b"'>x</p>" + b"<p>x</p>" * copies
    digest = quire.encode(page)
    named = sum(len(digest.attrs[run]) for run in digest.attr if run >= 0)

    assert named <= 3 * len(page) + (64 << 10)
    assert ("formatting-capped" in digest.flags) == (copies > 10)
    assert quire.from_bytes(digest.to_bytes()).decode() == page


@given(source=strategies.html | strategies.disguised, kind=st.sampled_from([None, "text", "html"]))
def test_every_page_keeps_to_the_limits(
    source: bytes, kind: Literal["text", "html"] | None
) -> None:
    page = quire.encode(source, kind=kind, recover=True)
    assert quire.from_bytes(page.to_bytes()) == page


MEMORY = """
import resource
import quire

page = b"a\\n\\n" * 10_000_000
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
try:
    quire.encode(page, kind="text")
except MemoryError as error:
    print(error)
print(quire.encode(b"<p>Fish").text())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits on memory are others elsewhere")
def test_where_memory_ends_there_is_an_error_and_not_the_end_of_the_process() -> None:
    program = MEMORY.format(limit=1 << 30)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.startswith("not enough memory: this page needs up to")
    assert done.stdout.endswith("Fish\n")
