"""Arguments are resolved: files, folders, patterns, addresses; anything missing is reported."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quire.cli.common.terminal import explain
from quire.errors import MissingExtra, SourceNotFound
from quire.sources import Capture, find, read, read_one
from tests.sources.crawls import record, response, write


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def memory() -> Iterator[str]:
    """A folder that only fsspec can see, with a page, a crawl and a Parquet file."""
    system = fsspec.filesystem("memory")
    here = Path("crawl.warc.gz")
    write(here, [record(response(b"<p>Shut"))])
    pq.write_table(pa.table({"body": [b"<p>Rows"]}), "rows.parquet")
    with system.open("/site/a.html", "wb") as file:
        file.write(b"<p>Open")
    for name in ("crawl.warc.gz", "rows.parquet"):
        with system.open(f"/site/deep/{name}", "wb") as file:
            file.write(Path(name).read_bytes())
        Path(name).unlink()
    for name in ("/site/.hidden/b.html", "/site/c.png", "/site/d.qd"):
        with system.open(name, "wb") as file:
            file.write(b"-")
    yield "memory://site"
    system.rm("/site", recursive=True)


def touch(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(b"-")


@pytest.mark.usefixtures("folder")
def test_a_folder_is_searched_for_pages_crawls_and_rows() -> None:
    wanted = [
        "a.arc",
        "a.arc.gz",
        "a.parquet",
        "a.warc",
        "b/a.WARC.GZ",
        "b/a.warc.lz4",
        "b/a.warc.zst",
    ]
    touch(*[f"site/{name}" for name in wanted], "site/b/page", "site/b/c/page.HTML")
    touch("site/a.gz", "site/a.png", "site/page.qd", "site/.git/x.html", "site/.x.html")
    Path("site/loop").symlink_to(Path("site").resolve(), target_is_directory=True)

    assert find(["site"]) == sorted(
        [*(f"site/{name}" for name in wanted), "site/b/page", "site/b/c/page.HTML"]
    )


@pytest.mark.usefixtures("folder")
def test_what_is_named_twice_is_found_once_and_all_is_sorted() -> None:
    touch("site/b.html", "site/a.html", "x.php", "we[i]rd.html")

    assert find(["x.php", "site/b.html", "site", "site/*.html", "we[i]rd.html"]) == [
        "site/a.html",
        "site/b.html",
        "we[i]rd.html",
        "x.php",
    ]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gone.html", "gone.html: no such file or folder"),
        ("empty", "empty: nothing to read in this folder"),
        ("*.php", "*.php: no file fits this pattern"),
        ("memory://gone", "memory://gone: no such file or folder"),
        ("memory://gone/*.html", "memory://gone/*.html: no file fits this pattern"),
        ("nosuch://a/b", "nosuch://a/b: Protocol not known: nosuch"),
    ],
)
def test_what_leads_to_nothing_is_named(name: str, reason: str) -> None:
    touch("empty/page.qd")

    with pytest.raises(SourceNotFound) as caught:
        find([name])

    assert str(caught.value) == reason
    assert caught.value.name == name
    assert str(pickle.loads(pickle.dumps(caught.value))) == reason  # noqa: S301 - our own bytes
    message, hint = explain(caught.value)
    assert message == reason
    assert hint is not None


@pytest.mark.usefixtures("folder")
def test_addresses_are_found_and_read(memory: str) -> None:
    found = find([memory])

    assert [path.removeprefix("memory://").lstrip("/") for path in found] == [
        "site/a.html",
        "site/deep/crawl.warc.gz",
        "site/deep/rows.parquet",
    ]
    pages = [page for path in found for page in read(path)]
    assert [page.body for page in pages if isinstance(page, Capture)] == [
        b"<p>Open",
        b"<p>Shut",
        b"<p>Rows",
    ]
    assert [read_one(page.name) for page in pages] == pages
    assert find([f"{memory}/*.html", f"{memory}/a.html"]) == found[:1]


def test_addresses_of_this_machine_are_addresses_too(folder: Path) -> None:
    touch("site/a.html")

    (path,) = find([f"file://{folder}/site"])

    assert path == f"file://{folder}/site/a.html"
    assert read_one(path).body == b"-"


@pytest.mark.parametrize(
    ("library", "path"),
    [
        ("fsspec", "memory://site/a.html"),
        ("fastwarc", "a.warc.gz"),
        ("pyarrow", "a.parquet"),
    ],
)
def test_a_library_that_is_missing_is_named_with_the_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch, library: str, path: str
) -> None:
    write(folder / "a.warc.gz", [record(response(b"<p>"))])
    (folder / "a.parquet").touch()
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.setattr("quire.sources.libraries._stream_io", lambda: __import__("fastwarc"))

    with pytest.raises(
        MissingExtra, match=rf"{library} is not installed; run: pip install 'quire\[archive\]'"
    ):
        list(read(path))


def test_files_of_this_machine_need_no_extra(folder: Path) -> None:
    touch("site/a.html")
    write(folder / "site/plain.warc", [record(response(b"<p>Open"))])
    code = (
        "import sys\n"
        "for name in ('fsspec', 'fastwarc', 'pyarrow', 'zstandard', 'brotli'): sys.modules[name] = None\n"
        "from quire.sources import find, read\n"
        "print([page.body for path in find(['site']) for page in read(path)])\n"
    )

    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )

    assert result.stdout == "[b'-', b'<p>Open']\n"
