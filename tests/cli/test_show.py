"""What a page holds is shown, and nothing of it commands the terminal."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tests.cli.conftest import PAGE, Process, Quire

HOSTILE = b"<title>\x1b]0;owned\x07</title><p id='\x1b[2J'>a\xe2\x80\xaeb<!--\x1b[31m--><p>[red]x[/red] :tada:"


def test_a_summary_says_what_one_would_ask(quire: Quire) -> None:
    result = quire("show", "fruit.html")

    assert result.exit_code == 0, result.stderr
    for word in (
        "html",
        "9",
        "utf-8",
        "structure",
        "scripting",
        "#doctype",
        "title",
        "Pears & plums",
    ):
        assert word in result.stdout, word


def test_a_page_and_its_digest_show_the_same(quire: Quire) -> None:
    assert quire("encode", "fruit.html").exit_code == 0

    assert (
        quire("show", "fruit.qd", "--tree").stdout == quire("show", "fruit.html", "--tree").stdout
    )
    page = quire("show", "-", "--format", "json", given=PAGE).stdout
    assert page == quire("show", "fruit.qd", "--format", "json").stdout


def test_the_tree_is_drawn(quire: Quire) -> None:
    assert quire("show", "fruit.html", "--tree").stdout.splitlines() == [
        "#document",
        "├─ #doctype html",
        "└─ html",
        "   ├─ head",
        "   │  └─ title",
        "   │     └─ #text Fruit",
        "   └─ body",
        "      ├─ p class=a",
        "      │  └─ #text Pears & plums",
        "      └─ p",
        "         └─ #text Figs",
    ]


def test_the_tree_can_be_cut(quire: Quire) -> None:
    assert quire("show", "fruit.html", "--tree", "--depth", "2").stdout.splitlines() == [
        "#document",
        "├─ #doctype html",
        "└─ html",
        "   ├─ head  … 2 below",
        "   └─ body  … 4 below",
    ]


def test_selected_nodes_are_listed_with_path_and_text(quire: Quire) -> None:
    table = quire("show", "fruit.html", "--select", "p.a").stdout
    found = json.loads(quire("show", "fruit.html", "--select", "p", "--format", "json").stdout)

    assert "Pears & plums" in table
    assert [node["text"] for node in found["found"]] == ["Pears & plums", "Figs"]
    assert found["found"][0]["attributes"] == {"class": "a"}
    assert quire("show", "fruit.html", "--xpath", "//p[2]", "--text").stdout == "Figs\n"
    assert quire("show", "fruit.html", "--xpath", "count(//p)").stdout == "2.0\n"


def test_nothing_found_is_said_and_no_fault(quire: Quire) -> None:
    result = quire("show", "fruit.html", "--select", "table")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "no node matches" in result.stderr


@pytest.mark.parametrize("option", ["--select", "--xpath"])
def test_a_selector_that_cannot_be_read_is_an_error(quire: Quire, option: str) -> None:
    result = quire("show", "fruit.html", option, "p[[")

    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert "hint: " in result.stderr


def test_views_can_be_had_one_by_one(quire: Quire) -> None:
    assert "scripting: " in quire("show", "fruit.html", "--flags").stdout
    assert "contents" in quire("show", "fruit.html", "--sizes").stdout
    assert quire("show", "fruit.html", "--text").stdout == "Fruit\nPears & plums\nFigs\n"
    assert quire("show", "fruit.html", "--markdown").stdout.endswith("Pears & plums\n\nFigs\n")
    columns = quire("show", "fruit.html", "--columns").stdout.splitlines()
    assert columns[0].split() == ["n", "11"]
    values = json.loads(quire("show", "fruit.html", "--columns", "--format", "json").stdout)
    assert sum(values["columns"]["children"]) == values["columns"]["n"] - 1


def test_markdown_of_some_nodes(quire: Quire) -> None:
    asked = ("show", "fruit.html", "--select", "p", "--markdown")

    assert quire(*asked).stdout == "Pears & plums\n\nFigs\n"
    found = json.loads(quire(*asked, "--format", "json").stdout)["found"]
    assert [one["markdown"] for one in found] == ["Pears & plums", "Figs"]
    page = json.loads(quire("show", "fruit.html", "--markdown", "--format", "json").stdout)
    assert page["markdown"].endswith("Pears & plums\n\nFigs")


def test_sizes_add_up_to_the_digest(quire: Quire) -> None:
    shown = json.loads(quire("show", "fruit.html", "--format", "json").stdout)

    assert sum(shown["sizes"].values()) == shown["digest_bytes"]
    assert min(shown["sizes"].values()) >= 0


@pytest.mark.parametrize(
    "view", [[], ["--tree"], ["--text"], ["--select", "p"], ["--format", "json"]]
)
def test_a_page_cannot_command_the_terminal(folder: Path, view: list[str]) -> None:
    pty = pytest.importorskip("pty", reason="no pseudo-terminals here")
    (folder / "hostile.html").write_bytes(HOSTILE)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "quire.cli", "show", "hostile.html", *view],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**os.environ, "TERM": "dumb", "COLUMNS": "200"},
    )
    os.close(theirs)
    seen = b""
    try:
        while piece := os.read(ours, 65536):
            seen += piece
    except OSError:  # Linux says so when the other side has closed
        pass
    os.close(ours)
    _, complaints = process.communicate(timeout=240)

    assert process.returncode == 0, complaints
    assert b"\x1b" not in seen
    assert b"\x07" not in seen
    assert "\u202e" not in seen.decode()
    if view == ["--text"]:
        assert b"[red]x[/red] :tada:" in seen


def test_text_in_a_pipe_is_exact(process: Process, folder: Path) -> None:
    (folder / "hostile.html").write_bytes(HOSTILE)

    result = process("show", "hostile.html", "--text")

    assert "a\u202eb" in result.stdout.decode()


def test_a_page_or_digest_can_come_through_a_named_pipe(folder: Path) -> None:
    quire = f"'{sys.executable}' -m quire.cli"
    command = f"{quire} show <({quire} encode - -o - < fruit.html) --text; {quire} show <(cat fruit.html) --text"

    result = subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, check=False, timeout=240
    )

    assert result.stdout.decode() == 2 * "Fruit\nPears & plums\nFigs\n", result.stderr


def test_a_reader_that_leaves_is_no_fault(folder: Path) -> None:
    (folder / "long.html").write_bytes(b"<p>line" * 50_000)
    command = f"'{sys.executable}' -m quire.cli show long.html --tree | head -n 1"

    result = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=240,
    )

    assert (result.returncode, result.stdout, result.stderr) == (0, b"#document\n", b"")


def test_a_page_of_any_depth_is_drawn(quire: Quire, folder: Path) -> None:
    (folder / "deep.json").write_bytes(b"[" * 5000 + b"]" * 5000)

    result = quire("show", "deep.json", "--tree")

    assert result.exit_code == 0, result.stderr
    assert len(result.stdout.splitlines()) == 5001


def test_a_wrong_option_is_an_error_with_a_hint(process: Process) -> None:
    result = process("show", "fruit.html", "--colour")

    assert result.returncode == 2
    assert result.stderr.startswith(b"error: ")
    assert b"hint: see `" in result.stderr


def test_help_imports_nothing_heavy() -> None:
    # What takes longer to import than help may take to answer; commands import it when they run.
    code = """
import sys
from quire.cli import app
app(["--help"], standalone_mode=False)
heavy = {
    "asyncio", "fastwarc", "fsspec", "importlib.metadata", "lxml", "multiprocessing", "numpy", "pyarrow", "pyspark",
    "quire._core", "quire.archive", "quire.digest", "quire.engines", "quire.sdiff", "quire.similar", "rich",
}
print(sorted(heavy & set(sys.modules)), file=sys.stderr)
"""
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

    assert b"Usage" in loaded.stdout
    assert loaded.stderr.strip() == b"[]"


@pytest.mark.parametrize("damage", ["empty", "cut", "mark", "page"])
def test_what_is_called_a_digest_and_is_none_is_no_page(
    quire: Quire, folder: Path, damage: str
) -> None:
    assert quire("encode", "fruit.html").exit_code == 0
    path = folder / "fruit.qd"
    data = path.read_bytes()
    damaged = {"empty": b"", "cut": data[:5], "mark": b"X" + data[1:], "page": PAGE}
    path.write_bytes(damaged[damage])

    result = quire("show", "fruit.qd")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: fruit.qd: ")
    assert "hint: " in result.stderr


def test_the_version_is_told(process: Process) -> None:
    result = process("--version")

    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.decode() == f"quire {metadata.version('quire')}\n"


def test_a_compressed_page_is_read_as_the_page_in_it(quire: Quire, folder: Path) -> None:
    page = (folder / "fruit.html").read_bytes()
    (folder / "fruit.html.gz").write_bytes(gzip.compress(page))
    expected = quire("show", "fruit.html", "--text").stdout

    result = quire("show", "fruit.html.gz", "--text")
    assert result.stdout == expected
    assert result.stderr.startswith("note: fruit.html.gz: compressed (gzip)")
    assert quire("show", "-", "--text", given=gzip.compress(page)).stdout == expected
    assert quire("diff", "fruit.html.gz", "fruit.html", "--exit-code").exit_code == 0
    assert quire("encode", "fruit.html.gz", "-o", "fruit.qd").exit_code == 0
    assert quire("decode", "fruit.qd", "-o", "again.html").exit_code == 0
    assert (folder / "again.html").read_bytes() == page
    assert quire("show", "fruit.html.gz", "--tree", "--kind", "bytes").stdout.count("#bytes") == 1


def test_a_compressed_page_that_is_damaged_is_named(quire: Quire, folder: Path) -> None:
    (folder / "cut.html.gz").write_bytes(gzip.compress(b"<p>Figs" * 99)[:-9])

    result = quire("show", "cut.html.gz")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: cut.html.gz: compressed, but gzip: truncated")


def test_a_binary_file_is_called_so(quire: Quire, folder: Path) -> None:
    (folder / "photo").write_bytes(bytes(range(256)) * 12)

    told = quire("show", "photo").stdout
    assert "bytes: a binary file" in told
    assert "#bytes 3,072 bytes, binary" in told
    assert "white space" not in told


@pytest.mark.parametrize(
    "command",
    [
        ("show", "http://127.0.0.1:8009/a"),
        ("encode", "http://127.0.0.1:8009/a", "-o", "a.qd"),
        ("diff", "http://127.0.0.1:8009/a", "fruit.html"),
        ("similar", "fruit.html", "http://127.0.0.1:8009/a"),
    ],
)
def test_a_web_address_on_a_private_network_is_refused(
    quire: Quire, command: tuple[str, ...]
) -> None:
    result = quire(*command)

    assert result.exit_code == 2
    assert result.stderr == (
        "error: http://127.0.0.1:8009/a: 127.0.0.1 is not a public address "
        "(127.0.0.0/8, loopback)\n"
        "hint: name the network to allow it: QUIRE_ALLOW_NETWORKS=127.0.0.0/8\n"
    )


@pytest.mark.parametrize("group", [(), ("archive",), ("fragments",), ("templates",)])
def test_groups_print_their_help_and_so_does_h(process: Process, group: tuple[str, ...]) -> None:
    bare, short, long = process(*group), process(*group, "-h"), process(*group, "--help")

    assert [each.returncode for each in (bare, short, long)] == [0, 0, 0]
    assert bare.stdout == short.stdout == long.stdout
    assert bare.stdout.startswith(b"Usage:")
    assert bare.stderr == b""


@pytest.mark.parametrize("command", [("diff",), ("templates", "group"), ("archive", "add")])
def test_h_works_for_every_command(quire: Quire, command: tuple[str, ...]) -> None:
    result = quire(*command, "-h")

    assert result.exit_code == 0
    assert "--help" in result.stdout
