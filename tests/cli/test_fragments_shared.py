"""``quire fragments shared``: what a crawl shares, on threads, with what cannot be read named."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from quire.archive import Archive
from tests.cli.conftest import Quire, Watched
from tests.fragments.hostile import FOOT, MENU
from tests.sources.crawls import record, response, write


def pages() -> list[bytes]:
    """Four pages with a menu and a footer in common, and a text of their own that is longer than both."""
    own = ["".join(f"<p>Word {n * 7919 ** (k + 2)}</p>" for n in range(60)) for k in range(4)]
    return [MENU + text.encode() + FOOT for text in own]


@pytest.fixture
def crawl(folder: Path) -> Path:
    """Two pages in a folder and two in a WARC file, with a menu and a footer in common."""
    crawl = folder / "crawl"
    crawl.mkdir()
    bodies = pages()
    for number, page in enumerate(bodies[:2]):
        (crawl / f"{number}.html").write_bytes(page)
    write(crawl / "rest.warc.gz", [record(response(page)) for page in bodies[2:]])
    return crawl


def test_fragments_are_listed_with_their_first_place(quire: Quire, crawl: Path) -> None:
    result = quire("fragments", "shared", "crawl")

    lines = result.stdout.splitlines()
    assert result.exit_code == 0, result.stderr
    assert [line.split() for line in lines[:-1]] == [
        ["text", "pages", "places", "match", "first", "place"],
        ["430", "4", "4", "exact", "crawl/0.html", "at", first(crawl, FOOT)],
        ["310", "4", "4", "exact", "crawl/0.html", "at", first(crawl, MENU)],
    ]
    assert lines[-1] == (
        "4 pages, 11.4 kB: 2 fragments in 8 places; 2 exact, 0 with the same text, 0 approximate"
    )
    assert re.fullmatch(r"note: 3 files in \d+\.\d s\n", result.stderr), "one line, no bars"


def first(crawl: Path, part: bytes) -> str:
    return f"{(crawl / '0.html').read_bytes().index(part):,}"


def test_threads_do_not_matter(quire: Quire, crawl: Path) -> None:
    assert crawl.is_dir()
    plain = quire("fragments", "shared", "crawl", "--format", "json")
    for options in (["--threads", "2"], ["--engine", "local:3"], ["--min-match", "0.9"]):
        again = quire("fragments", "shared", *options, "--format", "json", "crawl")
        assert again.stdout == plain.stdout
    assert [one["pages"] for one in json.loads(plain.stdout)["fragments"]] == [4, 4]


def test_every_place_is_in_the_files(quire: Quire, crawl: Path) -> None:
    for name in ("places.parquet", "places.csv"):
        result = quire("fragments", "shared", "crawl", "-o", name, "--top", "1")
        assert result.exit_code == 0, result.stderr
        assert "… and 1 more with shorter text\n" in result.stdout
        assert result.stderr.startswith(f"note: {name}: written\nnote: 3 files in ")
    rows = pq.read_table(crawl.parent / "places.parquet").to_pylist()
    with (crawl.parent / "places.csv").open(newline="") as file:
        told = list(csv.DictReader(file))

    assert [int(row["byte_start"]) for row in told] == [row["byte_start"] for row in rows]
    page = (crawl / "1.html").read_bytes()
    cut = [
        page[row["byte_start"] : row["byte_end"]] for row in rows if row["name"] == "crawl/1.html"
    ]
    assert cut == [FOOT, MENU]


def test_what_cannot_be_read_is_named_and_the_rest_is_looked_at(quire: Quire, crawl: Path) -> None:
    (crawl / "empty.html").write_bytes(b"")
    starts = write(crawl / "cut.warc", [record(response(pages()[0])), record(b"", length=10**9)])
    result = quire("fragments", "shared", "crawl")
    told = json.loads(quire("fragments", "shared", "crawl", "--format", "json").stdout)

    assert result.exit_code == 0, result.stderr
    assert "2 could not be read:\n" in result.stdout
    assert "  crawl/empty.html: empty: 0 bytes\n" in result.stdout
    assert [one["name"] for one in told["troubles"]] == [
        f"crawl/cut.warc#{starts[1]}",
        "crawl/empty.html",
    ]
    assert (told["pages"], [one["pages"] for one in told["fragments"]]) == (5, [2, 5, 5])


def test_of_an_archive_the_newest_pages_are_taken(quire: Quire, crawl: Path) -> None:
    with Archive.create("site.quire") as archive:
        for day, page in enumerate([b"<p>An old page, which nobody asks for", *pages()], start=1):
            url = "https://a.example/" + ("0" if day <= 2 else str(day))
            archive.add(url, datetime(2026, 5, day, tzinfo=UTC), page)
    both = json.loads(
        quire("fragments", "shared", "site.quire", "crawl", "--format", "json").stdout
    )

    assert crawl.is_dir()
    assert (both["pages"], both["troubles"]) == (8, [])
    assert {one["pages"] for one in both["fragments"][-2:]} == {8}
    assert [one["first"]["name"] for one in both["fragments"][:4]] == [
        f"site.quire#https://a.example/{name} 2026-05-0{day}T00:00:00Z"
        for name, day in [("5", 5), ("4", 4), ("3", 3), ("0", 2)]
    ], "whole pages, which are in the crawl too"


def test_nothing_to_read_is_an_error(quire: Quire, folder: Path) -> None:
    (folder / "void").mkdir()
    (folder / "void" / "a.html").write_bytes(b"")
    (folder / "void" / "b.html").write_bytes(b"")
    for arguments, message in (
        (["void"], "error: nothing could be read: void/a.html: empty: 0 bytes; 1 more"),
        (["gone.warc"], "error: gone.warc: no such file or folder"),
        (["-"], "error: -: standard input is not read here"),
        (["fruit.html", "--engine", "abacus"], "error: abacus: not an engine"),
        (["fruit.html", "-o", "places.xls"], "error: places.xls: cannot tell the format"),
        (["fruit.html", "-o", "fruit.html"], "error: fruit.html: already exists"),
    ):
        result = quire("fragments", "shared", *arguments)
        assert result.exit_code == 2, arguments
        assert result.stderr.startswith(message), result.stderr
        assert result.stdout == ""


def test_a_bar_is_drawn_where_somebody_looks(watched: Watched, crawl: Path) -> None:
    assert crawl.is_dir()
    seen, stdout = watched("fragments", "shared", "crawl", stream="stderr")

    assert b"4 pages" in stdout
    assert b"reading pages" in seen
    assert b"3/3" in seen


def test_a_large_crawl_goes_to_a_folder_with_the_same_fragments(quire: Quire, crawl: Path) -> None:
    assert crawl.is_dir()
    here = quire("fragments", "shared", "crawl")

    there = quire("fragments", "shared", "crawl", "--to-folder", "shared")

    assert there.exit_code == 0, there.stderr
    assert there.stdout.splitlines()[:-1] == here.stdout.splitlines()[:-1]
    assert there.stdout.splitlines()[-1] == "4 pages, 11.4 kB: 2 fragments"
    assert there.stderr.startswith("note: shared: written\n")
    rows = pq.read_table(crawl.parent / "shared" / "places").to_pylist()
    assert sorted((row["fragment"], row["page"]) for row in rows) == [
        (fragment, page) for fragment in range(2) for page in range(4)
    ]


def test_a_large_crawl_tells_programs_where_its_files_are(quire: Quire, crawl: Path) -> None:
    (crawl / "broken.warc").write_bytes(b"WARC/1.0\r\nbroken")
    result = quire("fragments", "shared", "crawl", "--to-folder", "a", "--format", "json")
    said = json.loads(result.stdout)

    assert (said["n_pages"], said["n_fragments"], len(said["longest"])) == (4, 2, 2)
    assert all(Path(crawl.parent, file).is_file() for file in said["places"] + said["pages"])
    assert [each["name"] for each in said["troubles"]]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--to-folder", "a", "-o", "a.csv"], "expected only one of them"),
        (["--work", "a"], "expected --to-folder with it"),
        (["--to-folder", "crawl/a"], "crawl/a: is inside the source crawl"),
        (["--to-folder", "kept"], "kept: expected a new or an empty folder"),
        (["--to-folder", "a", "--work", "kept"], "kept: expected a new or an empty folder"),
    ],
)
def test_wrong_folders_are_refused(
    quire: Quire, crawl: Path, options: list[str], says: str
) -> None:
    (crawl.parent / "kept").mkdir()
    (crawl.parent / "kept" / "a").write_text("mine")
    before = sorted(crawl.parent.rglob("*"))
    result = quire("fragments", "shared", "crawl", *options)

    assert result.exit_code == 2
    assert says in result.stderr
    assert sorted(crawl.parent.rglob("*")) == before


def test_a_crawl_that_could_not_be_read_can_be_tried_again(quire: Quire, crawl: Path) -> None:
    (crawl.parent / "broken.warc").write_bytes(b"WARC/1.0\r\nbroken")
    first = quire("fragments", "shared", "broken.warc", "--to-folder", "shared")
    again = quire("fragments", "shared", "crawl", "--to-folder", "shared")

    assert (first.exit_code, again.exit_code) == (2, 0), again.stderr


FULL = """
import resource, signal, sys
from quire.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
sys.argv[1:] = ["fragments", "shared", "crawl", "--to-folder", "shared", "--work", "between"]
main()
"""


def test_a_full_disk_is_not_taken_for_a_problem_of_the_output(crawl: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL],
        cwd=crawl.parent,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr == (
        "error: between/parts: file too large\n"
        "hint: free some space, or choose another folder; "
        "TMPDIR names the one for temporary files\n"
    )
