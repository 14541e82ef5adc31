"""The compiled door: threads pass, panics do not."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import quire
from quire import _core
from quire._core import _native

PAGE = b"<table class=prices>" + b"<tr><td>Fish &amp; chips<td title='a b'>9.50" * 3000


def test_a_panic_in_a_kernel_is_an_error_like_any_other(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(quire.InternalError, match=r"a bug in quire\): asked to fail"):
        _native._panic_for_test()
    capfd.readouterr()  # Rust says where it was on standard error

    assert quire.encode(b"<p>").n == 5, "and the module goes on working"


def test_threads_share_one_digest() -> None:
    expected = quire.encode(PAGE)
    answers = expected.text(), expected.select("td:last-child").tolist(), expected.decode()
    page = quire.from_bytes(expected.to_bytes(), verify="columns")
    barrier = threading.Barrier(8)

    def ask(_: int) -> bool:
        barrier.wait()  # so that what is derived on first use is asked for by all at once
        found = page.select("td:last-child").tolist()
        sizes = page.size.tolist()
        return (page.text(), found, page.decode()) == answers and sizes == expected.size.tolist()

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(8)))


def test_other_threads_run_while_a_kernel_works() -> None:
    source = PAGE * 40
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.0005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    end = time.monotonic() + 120
    during = 0
    while during <= 5 and time.monotonic() < end:  # on a busy machine the other one gets few turns
        before = ticks
        quire.encode(source)
        during = ticks - before
    done.set()
    ticker.join()

    assert during > 5


def test_a_compression_level_that_zstd_lacks_is_refused() -> None:
    page = _core.encode(b"<p>", "html", None, None, True, None, False)  # noqa: FBT003 - as the kernel has it

    with pytest.raises(ValueError, match="expected 1 to 22"):
        _core.compress(page, 0)


def test_a_column_that_is_not_stored_is_refused() -> None:
    page = _core.encode(b"<p>", "html", None, None, True, None, False)  # noqa: FBT003 - as the kernel has it

    with pytest.raises(KeyError, match="expected children, tag, attr or content"):
        page.column("parent")


def test_the_package_is_imported_quickly() -> None:
    # numpy is most of it; lxml and the command line must stay out.
    command = "import quire, sys; print(sorted({'lxml', 'typer', 'rich'} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True
    )

    assert result.stdout.strip() == "[]"
