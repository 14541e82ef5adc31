"""The file: what is saved is loaded, what is damaged is refused, what is lent stays alive."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import resource
import threading
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from tests import strategies

PAGE = (
    b"<!doctype html><title>Fruit</title><body class=shop><table>"
    + b"".join(b"<tr><td>Item %d<td title='a &amp; b'>%d.50" % (i, i) for i in range(300))
    + b"</table>"
)
# Longer than files that are read as a whole.
LONG_PAGE = PAGE * 20
COLUMNS = ("children", "tag", "attr", "content", "parent", "depth", "size")


def assert_same(page: quire.Digest, other: quire.Digest) -> None:
    assert page == other
    assert hash(page) == hash(other)
    for name in COLUMNS:
        assert np.array_equal(getattr(page, name), getattr(other, name))
    assert (page.tags, page.tag_namespaces) == (other.tags, other.tag_namespaces)
    assert (page.attrs, page.contents) == (other.attrs, other.contents)
    assert (page.flags, page.encoding, page.encoding_reason) == (
        *(other.flags, other.encoding, other.encoding_reason),
    )
    assert page.decode() == other.decode()


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("verify", ["all", "columns"])
def test_a_digest_is_loaded_as_it_was_saved(
    tmp_path: Path, verify: Literal["all", "columns"], *, compress: bool
) -> None:
    page = quire.encode(PAGE)
    page.save(tmp_path / "a.qd", compress=compress)

    assert_same(quire.load(tmp_path / "a.qd", verify=verify), page)
    assert_same(quire.load(str(tmp_path / "a.qd")), page)
    assert [path.name for path in tmp_path.iterdir()] == ["a.qd"]


@given(source=strategies.html | strategies.disguised, compress=st.booleans())
def test_every_digest_survives_being_bytes(*, source: bytes, compress: bool) -> None:
    page = quire.encode(source, recover=True)

    assert_same(quire.from_bytes(page.to_bytes(compress=compress)), page)


@pytest.mark.parametrize("compress", [False, True])
def test_a_header_says_without_loading_what_the_digest_says(
    tmp_path: Path, *, compress: bool
) -> None:
    page = quire.encode(PAGE)
    page.save(tmp_path / "a.qd", compress=compress)
    header = quire.peek(tmp_path / "a.qd")

    assert header == quire.Header(
        page.kind, page.n, page.flags, len(PAGE), compress, page.signatures
    )
    # The header is enough: the rest of the file need not even be there.
    os.truncate(tmp_path / "a.qd", 1024)
    assert quire.peek(tmp_path / "a.qd") == header


def test_signatures_tell_facets_apart() -> None:
    page = quire.encode(b"<p class=a>Fish<a href=x>y</a>").signatures
    respelled = quire.encode(b"<P CLASS='a'>F&#105;sh<a href=x>y</a>").signatures
    reclassed = quire.encode(b"<p class=b>Fish<a href=x>y</a>").signatures
    relinked = quire.encode(b"<p class=a>Fish<a href=z>y</a>").signatures

    def differ(other: quire.Signatures) -> set[str]:
        return {name for name in page.__slots__ if getattr(page, name) != getattr(other, name)}

    assert differ(respelled) == {"source"}
    assert differ(reclassed) == {"source", "attributes"}
    assert differ(relinked) == {"source", "attributes", "links"}
    assert all(0 <= getattr(page, name) < 2**128 for name in page.__slots__)


@pytest.mark.parametrize("compress", [False, True])
def test_a_digest_is_the_same_file_whether_or_not_its_signatures_were_read(
    *, compress: bool
) -> None:
    unread, read = quire.encode(PAGE), quire.encode(PAGE)
    signatures = read.signatures

    stored = unread.to_bytes(compress=compress)
    assert stored == read.to_bytes(compress=compress)
    assert unread.signatures == signatures == quire.from_bytes(stored).signatures


def test_threads_that_ask_at_once_get_the_same_signatures() -> None:
    page, expected = quire.encode(LONG_PAGE), quire.encode(LONG_PAGE).signatures
    start = threading.Barrier(4)
    found = []

    def ask() -> None:
        start.wait()
        found.append((page.signatures, quire.from_bytes(page.to_bytes()).signatures))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [(expected, expected)] * 4


def test_a_digest_can_be_pickled_and_copied() -> None:
    page = quire.encode(PAGE)

    assert_same(pickle.loads(pickle.dumps(page)), page)  # noqa: S301 - our own bytes
    assert copy.copy(page) is page
    assert copy.deepcopy(page) is page


def test_digests_are_equal_when_their_pages_and_trees_are() -> None:
    source = b"<noscript><p>x</noscript>"

    assert quire.encode(source) == quire.encode(source)
    assert quire.encode(source) != quire.encode(source, scripting=False)
    assert quire.encode(source) != quire.encode(source, kind="text")
    assert quire.encode(source) != source
    assert len({quire.encode(source), quire.encode(source)}) == 1


def test_columns_cannot_be_written_to() -> None:
    page = quire.encode(PAGE)
    for name in COLUMNS:
        column = getattr(page, name)
        assert not column.flags.writeable
        assert column.base is not None, "a view, not a copy"
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1
        with pytest.raises(ValueError, match="WRITEABLE"):
            column.flags.writeable = True
        with pytest.raises(AttributeError):
            setattr(page, name, column)


@pytest.mark.parametrize("loaded", [False, True])
def test_columns_outlive_their_digest_and_their_file(tmp_path: Path, *, loaded: bool) -> None:
    page = quire.encode(PAGE)
    expected = {name: getattr(page, name).tolist() for name in COLUMNS}
    if loaded:
        page.save(tmp_path / "a.qd")
        page = quire.load(tmp_path / "a.qd")
    columns = {name: getattr(page, name) for name in COLUMNS}
    del page
    gc.collect()
    (tmp_path / "a.qd").unlink(missing_ok=True)

    assert {name: column.tolist() for name, column in columns.items()} == expected


@pytest.mark.parametrize("source", [PAGE, LONG_PAGE], ids=["short", "long"])
@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("verify", ["all", "columns"])
def test_a_file_may_be_replaced_while_its_digest_is_in_use(
    tmp_path: Path, source: bytes, verify: Literal["all", "columns"], *, compress: bool
) -> None:
    path = tmp_path / "a.qd"
    quire.encode(source).save(path, compress=compress)
    old = quire.load(path, verify=verify)
    quire.encode(b"<p>new").save(path)

    assert_same(old, quire.encode(source))
    assert old.to_bytes() == quire.encode(source).to_bytes()
    assert quire.load(path).decode() == b"<p>new"


def test_texts_that_were_left_in_the_file_are_checked_when_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.qd"
    data = bytearray(quire.encode(LONG_PAGE).to_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    page = quire.load(path, verify="columns")

    assert page.n == quire.encode(LONG_PAGE).n
    for read in (page.decode, page.text, page.to_bytes, page.links):
        with pytest.raises(quire.DigestFormatError, match="damaged"):
            read()


@pytest.mark.parametrize("length", [20_000, -1])
def test_a_long_file_that_is_cut_off_is_refused(tmp_path: Path, length: int) -> None:
    path = tmp_path / "a.qd"
    path.write_bytes(quire.encode(LONG_PAGE).to_bytes()[:length])

    with pytest.raises(quire.DigestFormatError, match="its header says"):
        quire.load(path, verify="columns")


# Texts longer than a mebibyte are mapped.
@pytest.mark.parametrize("text", [b"x" * 40_000, b"x" * 2_000_000], ids=["short", "long"])
@pytest.mark.parametrize("others", [0, 16], ids=["file open", "file closed for others"])
def test_a_file_that_is_cut_off_in_use_is_an_error_and_not_the_end(
    tmp_path: Path, text: bytes, others: int
) -> None:
    path = tmp_path / "a.qd"
    quire.encode(b"<p>" + text).save(path)
    quire.encode(LONG_PAGE).save(tmp_path / "b.qd")
    page = quire.load(path, verify="columns")
    length = path.stat().st_size
    os.truncate(path, length - 10_000)
    held = [quire.load(tmp_path / "b.qd", verify="columns") for _ in range(others)]

    for read in (page.text, page.decode, page.to_bytes):
        with pytest.raises(quire.DigestFormatError, match=f"shrank to {length - 10_000} bytes"):
            read()
    assert all(other.n > 0 for other in held)


@pytest.mark.parametrize("verify", ["all", "columns"])
def test_a_loaded_digest_holds_no_file_open(
    tmp_path: Path, verify: Literal["all", "columns"]
) -> None:
    quire.encode(LONG_PAGE).save(tmp_path / "a.qd")
    limit, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        held = [quire.load(tmp_path / "a.qd", verify=verify) for _ in range(400)]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))

    assert held[-1].decode() == LONG_PAGE


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        quire.load(tmp_path / "a.qd")
    assert caught.value.filename == str(tmp_path / "a.qd")
    with pytest.raises(IsADirectoryError):
        quire.load(tmp_path)


def test_a_digest_is_loaded_through_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = quire.encode(PAGE).to_bytes()
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()

    assert quire.load(pipe).decode() == PAGE
    writer.join()


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.qd"
    quire.encode(PAGE).save(path)

    def full(_: int) -> None:
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: .*a\.qd"):
        quire.encode(b"<p>new").save(path)

    assert quire.load(path).decode() == PAGE
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.qd"]


@pytest.mark.parametrize(
    "data",
    [b"", b"<p>", b"\x89quire\r\n", quire.encode(PAGE).to_bytes()[:-1], b"\0" * 5000],
    ids=["empty", "a page", "mark only", "cut off", "zeros"],
)
def test_what_is_no_digest_is_refused_by_name(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.qd"
    path.write_bytes(data)

    with pytest.raises(quire.DigestFormatError):
        quire.from_bytes(data)
    with pytest.raises(quire.DigestFormatError) as caught:
        quire.load(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_newer_format_is_refused_with_both_numbers() -> None:
    data = bytearray(quire.encode(PAGE).to_bytes())
    data[8:10] = (7).to_bytes(2, "little")

    with pytest.raises(quire.DigestFormatError) as caught:
        quire.from_bytes(data)

    assert (caught.value.found, caught.value.newest) == (7, 1)


# Small, so that a few thousand changes reach every byte of it.
SMALL = quire.encode(b"<p class=a>Fish &amp; <b>chips</b></p x>").to_bytes()


@given(st.integers(0, len(SMALL) - 1), st.integers(1, 255), st.sampled_from(["all", "columns"]))
def test_a_changed_byte_is_noticed_or_harmless(
    place: int, change: int, verify: Literal["all", "columns"]
) -> None:
    data = bytearray(SMALL)
    data[place] ^= change
    try:
        page = quire.from_bytes(data, verify=verify)
        page.text()
        source = page.decode()
    except quire.DigestFormatError:
        return
    # Room between the sections is covered by no checksum, and read by nobody.
    assert source == b"<p class=a>Fish &amp; <b>chips</b></p x>"


def test_damaged_texts_are_noticed_when_they_are_first_read() -> None:
    data = bytearray(quire.encode(PAGE).to_bytes())
    data[data.rindex(b"Item 7")] ^= 1

    with pytest.raises(quire.DigestFormatError, match="damaged"):
        quire.from_bytes(data)
    page = quire.from_bytes(data, verify="columns")
    assert page.n == quire.encode(PAGE).n
    for read in (page.decode, page.text, lambda: page.attrs[0], lambda: page.select("td")):
        with pytest.raises(quire.DigestFormatError, match="damaged"):
            read()


def test_an_unknown_way_of_checking_is_refused() -> None:
    with pytest.raises(ValueError, match="expected all or columns"):
        quire.from_bytes(SMALL, verify="none")  # type: ignore[arg-type] # that is the point


def test_memory_that_can_change_is_copied() -> None:
    data = bytearray(quire.encode(PAGE).to_bytes())
    page = quire.from_bytes(data)
    data[:] = bytes(len(data))

    assert page.decode() == PAGE


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no /proc to count open files in")
def test_held_digests_keep_few_files_open(tmp_path: Path) -> None:
    text = "x" * 40_000
    for number in range(60):
        quire.encode(f"<p>{number} {text}".encode()).save(tmp_path / f"{number}.qd")
    before = len(list(Path("/proc/self/fd").iterdir()))

    held = [quire.load(tmp_path / f"{number}.qd", verify="columns") for number in range(60)]
    during = len(list(Path("/proc/self/fd").iterdir()))
    for number in range(60):
        quire.encode(b"another page").save(tmp_path / f"{number}.qd")

    assert during - before <= 16
    assert [page.text().split()[0] for page in held] == [str(number) for number in range(60)]
