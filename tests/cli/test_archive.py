"""``quire archive``: the output, the streams and the exit codes of its commands."""

from __future__ import annotations

import base64
import errno
import gzip
import http.client
import json
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from quire.archive import Archive
from quire.archive.warc.export import payload_digest
from tests.cli.conftest import Process, Quire, Watched
from tests.sources.crawls import record, response, write

URL = "https://a.example/1"


@pytest.fixture
def crawl(folder: Path) -> Path:
    """Two versions of a page, an encoded one, a request, and a record with a wrong length."""
    page = response(b"<p>Cod 8.40<p>Plaice")
    records = [
        record(b"GET / HTTP/1.1\r\n\r\n", kind="request"),
        record(page, url=URL),
        record(page.replace(b"8.40", b"9.10"), url=URL).replace(b"2026-05-17", b"2026-05-18"),
        record(
            response(gzip.compress(b"<p>Hake", mtime=0), "Content-Encoding: gzip"),
            url="https://b.example/\x1b[31m",
        ),
        record(response(b"x"), length=99),
    ]
    write(folder / "crawl.warc", records)
    return folder / "crawl.warc"


@pytest.fixture
def archive(quire: Quire, crawl: Path) -> str:
    assert crawl.exists()
    assert quire("archive", "add", "a.quire", "crawl.warc", "--create").exit_code == 1
    return "a.quire"


def test_an_archive_is_made_once(quire: Quire, folder: Path) -> None:
    result = quire("archive", "create", "a.quire")
    assert (result.exit_code, result.stdout) == (0, "a.quire: empty archive created\n")
    assert (folder / "a.quire" / "archive.json").exists()
    result = quire("archive", "create", "a.quire")
    assert result.exit_code == 2
    assert "not empty; a new archive needs" in result.stderr
    assert "hint: " in result.stderr
    result = quire("archive", "create", "fruit.html")
    assert result.exit_code == 2
    assert "fruit.html: is a file, not a folder" in result.stderr


def test_adding_says_what_was_added_and_what_was_not(quire: Quire, crawl: Path) -> None:
    result = quire("archive", "add", "a.quire", str(crawl), "fruit.html", "--create")

    assert result.exit_code == 1, "a record was left out"
    lines = result.stdout.splitlines()
    assert lines[0].startswith("a.quire: 4 pages added (")
    assert lines[0].endswith("; 4 in total")
    assert lines[1] == "other records added: 1 request"
    assert lines[2] == "1 could not be read:"
    assert "crawl.warc#" in lines[3]

    again = quire("archive", "add", "a.quire", str(crawl), "--skip-known", "--format", "json")
    told = json.loads(again.stdout)
    assert (told["pages"], told["known"], told["total_pages"]) == (0, 3, 4)
    assert (told["companions"], told["known_companions"]) == ({}, 1)
    assert "of 99 bytes" in told["troubles"][0]["reason"]
    assert again.exit_code == 1
    whole = quire("archive", "add", "a.quire", "fruit.html", "--format", "json")
    assert (whole.exit_code, json.loads(whole.stdout)["troubles"]) == (0, [])


@pytest.mark.parametrize("command", [("add", "--create", "a.quire"), ("build", "-o", "a.quire")])
def test_everything_left_out_is_listed_for_programs(
    quire: Quire, folder: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["quire.archive.warc.ingest"], "MOST_TROUBLES", 3)
    wrong = f"WARC-Block-Digest: {payload_digest(b'')}\r\n".encode()
    records = [record(response(b"<p>%d" % i), length=99) for i in range(30)]
    records += [record(response(b"<p>%d" % i), more=wrong) for i in range(30)]
    write(folder / "bad.warc.gz", records)

    result = quire("archive", *command, "bad.warc.gz", "--format", "json")
    told = json.loads(result.stdout)
    assert result.exit_code == 1
    assert len(told["troubles"]) == told["trouble_count"] == 30
    assert len(told["warnings"]) == told["warning_count"] == told["pages"] == 30
    text = quire("archive", *command, "bad.warc.gz").stdout.splitlines()
    assert "30 could not be read:" in text
    assert "30 added with a warning:" in text
    assert text[-1] == "  … 27 more; --format json lists all"


def test_records_without_a_page_are_listed_by_type(quire: Quire, archive: str) -> None:
    def listed(*options: str) -> list[str]:
        return quire("archive", "ls", archive, *options).stdout.splitlines()

    assert listed("--type", "request") == ["https://a.example/"]
    assert listed("--type", "Response") == [URL, "https://b.example/\\x1b[31m"]
    assert listed("--type", "metadata") == []
    assert listed("--type", "text/html", "https://a") == [URL]
    assert listed("--type", "image/*") == []
    assert listed("--status", "200", "https://a") == listed("--status", "2xx", "https://a") == [URL]
    assert listed("--status", "404") == []
    result = quire("archive", "ls", archive, "--status", "fine")
    assert (result.exit_code, result.stderr.splitlines()[0]) == (
        2,
        "error: --status fine: not an HTTP status",
    )


def test_nothing_is_added_where_nothing_can_be_read(quire: Quire, folder: Path) -> None:
    (folder / "bad.warc").write_bytes(b"rubbish")
    result = quire("archive", "add", "a.quire", "bad.warc", "--create")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: nothing could be read: bad.warc#0: ")
    result = quire("archive", "add", "b.quire", "fruit.html")
    assert result.exit_code == 2
    assert result.stderr == "error: b.quire: no such archive\nhint: use --create to create it\n"
    assert quire("archive", "add", "b.quire", "none.warc", "--create").exit_code == 2
    assert not (folder / "b.quire").exists(), "nothing is made when there is nothing to read"


def test_one_writer_at_a_time(quire: Quire, archive: str) -> None:
    with Archive.open(archive, write=True):
        result = quire("archive", "add", archive, "fruit.html")
        assert quire("archive", "ls", archive).exit_code == 0
    assert result.exit_code == 2
    assert "has this archive open; wait until it is done" in result.stderr
    assert "hint: " in result.stderr


def test_addresses_are_listed(quire: Quire, archive: str) -> None:
    result = quire("archive", "ls", archive)
    assert result.stdout == f"{URL}\nhttps://b.example/\\x1b[31m\n"
    assert quire("archive", "ls", archive, "https://b").stdout.count("\n") == 1
    long = quire("archive", "ls", archive, "https://a", "-l").stdout
    assert long.split()[:3] == ["2", "2026-05-18", "11:02:33"]
    assert quire("archive", "ls", archive, "--since", "2026-05-18").stdout == f"{URL}\n"
    assert quire("archive", "ls", archive, "--until", "2026-05-16").stderr == "note: no pages\n"
    told = json.loads(quire("archive", "ls", archive, "--format", "json").stdout)
    assert told[0]["versions"] == 2
    assert told[0]["newest"] == "2026-05-18T11:02:33Z"


def test_a_page_comes_back_byte_for_byte(process: Process, archive: str, folder: Path) -> None:
    newest = process("archive", "get", archive, URL)
    assert newest.stdout == b"<p>Cod 9.10<p>Plaice"
    old = process("archive", "get", archive, URL, "--time", "2026-05-17", "--headers")
    assert old.stdout == response(b"<p>Cod 8.40<p>Plaice")
    coded = process("archive", "get", archive, "https://b.example/\x1b[31m", "--decoded")
    assert coded.stdout == b"<p>Hake"
    assert process("archive", "get", archive, URL, "-o", "out.html").returncode == 0
    assert (folder / "out.html").read_bytes() == newest.stdout
    assert process("archive", "get", archive, URL, "-o", "out.html").returncode == 2
    told = json.loads(process("archive", "get", archive, URL, "--format", "json").stdout)
    assert base64.b64decode(told["body_base64"]) == newest.stdout
    assert told["status"] == 200


def test_a_page_on_a_terminal_gives_no_orders(watched: Watched, archive: str) -> None:
    with Archive.open(archive, write=True) as opened:
        opened.add("u", opened.get(URL).time, b"\x1b[31mred")
    told, _ = watched("archive", "get", archive, "u", stream="stdout")

    assert told == b"\\x1b[31mred\r\n"


def test_a_page_that_is_not_there_is_an_error(quire: Quire, archive: str) -> None:
    for arguments in (
        ["get", archive, "https://nowhere.test/"],
        ["get", archive, URL, "--time", "2020"],
        ["versions", archive, "https://nowhere.test/"],
        ["diff", archive, "https://b.example/\x1b[31m"],
    ):
        result = quire("archive", *arguments)
        assert result.exit_code == 2, arguments
        assert result.stderr.startswith("error: https://")
        assert "hint: `quire archive ls`" in result.stderr
    result = quire("archive", "get", archive, "https://a.exmple/1")
    assert result.stderr.endswith(f"hint: similar addresses: {URL}\n")
    result = quire("archive", "get", archive, URL, "--time", "yesterday")
    assert result.stderr.startswith("error: yesterday: not a time\nhint: ")


def test_versions_are_listed_and_compared(quire: Quire, archive: str) -> None:
    lines = quire("archive", "versions", archive, URL).stdout.splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["2026-05-17T11:02:33Z", "200", "20"],
        ["2026-05-18T11:02:33Z", "200", "20"],
    ]
    told = json.loads(quire("archive", "versions", archive, URL, "--format", "json").stdout)
    assert told[1]["content_type"] == "text/html; charset=utf-8"

    result = quire("archive", "diff", archive, URL, "--exit-code")
    assert result.exit_code == 1
    assert "- Cod 8.40\n+ Cod 9.10\n" in result.stdout
    assert "2026-05-17T11:02:33Z to 2026-05-18T11:02:33Z" in result.stderr
    same = quire("archive", "diff", archive, URL, "--only", "p + p", "--exit-code")
    assert same.exit_code == 0
    told = json.loads(quire("archive", "diff", archive, URL, "--format", "json").stdout)
    assert told["changed"]
    assert quire("archive", "diff", archive, URL, "-o", "red.html").exit_code == 0
    assert b"9.10" in Path("red.html").read_bytes()
    assert quire("archive", "diff", archive, URL, "-o", "x", "--view", "tree").exit_code == 2
    assert quire("archive", "diff", archive, URL, "--view", "script", "--only", "p").exit_code == 2


def test_compacting_and_statistics_add_up(quire: Quire, archive: str) -> None:
    done = quire("archive", "compact", archive)
    assert done.stdout.startswith("a.quire: 3 pages; ")
    told = json.loads(quire("archive", "stats", archive, "--format", "json").stdout)
    assert (told["pages"], told["urls"], told["hosts"]) == (3, 2, 2)
    assert sum(told["parts"].values()) == told["stored_bytes"]
    text = quire("archive", "stats", archive).stdout
    assert "space by part" in text
    assert "█" * 40 in text
    told = json.loads(quire("archive", "compact", archive, "--format", "json").stdout)
    assert told["pages"] == 3


def test_verify_finds_damage_and_leaves_with_2(quire: Quire, archive: str, folder: Path) -> None:
    whole = quire("archive", "verify", archive)
    assert (whole.exit_code, whole.stdout) == (0, "a.quire: 3 pages, no damage found\n")
    (file,) = (folder / archive).glob("*.journal")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    result = quire("archive", "verify", archive)
    assert result.exit_code == 2
    assert result.stdout.startswith(str(file.relative_to(folder)))
    assert "finding" in result.stderr
    told = quire("archive", "verify", archive, "--format", "json")
    assert told.exit_code == 2
    assert json.loads(told.stdout)["findings"]


def test_a_damaged_archive_is_mended(quire: Quire, archive: str, folder: Path) -> None:
    whole = quire("archive", "repair", archive)
    assert (whole.exit_code, whole.stdout) == (
        0,
        "a.quire: 3 pages can be read; nothing was lost\n",
    )
    (file,) = (folder / archive).glob("*.journal")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    result = quire("archive", "repair", archive, "new.quire")
    assert result.exit_code == 2
    assert result.stdout.startswith("new.quire: 2 pages; lost:\n  a.quire/")
    assert quire("archive", "verify", "new.quire").exit_code == 0
    again = quire("archive", "repair", archive, "new.quire")
    assert again.exit_code == 2
    assert "hint: choose a name that is not taken" in again.stderr
    told = json.loads(quire("archive", "repair", archive, "--format", "json").stdout)
    assert told["pages"] == 2
    assert told["lost"][0]["offset"] > 0


def test_a_disk_that_is_full_is_named(
    quire: Quire, archive: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("quire.archive.disk.storage.Disk.append", full)
    result = quire("archive", "add", archive, "fruit.html")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: a.quire/")
    assert "hint: free some space" in result.stderr


def test_an_export_can_be_added_again(quire: Quire, archive: str, folder: Path) -> None:
    result = quire("archive", "export", archive, "out.warc.gz")
    assert result.stdout == "out.warc.gz: 4 records\nout.cdxj: index\n"
    assert (folder / "out.cdxj").read_text().count("\n") == 3
    assert quire("archive", "export", archive, "out.warc.gz").exit_code == 2
    told = quire(
        "archive", "export", archive, "out.warc.gz", "--force", "--prefix", URL, "--format", "json"
    )
    assert json.loads(told.stdout)["pages"] == 2
    again = quire("archive", "add", "b.quire", "out.warc.gz", "--create", "--compact")
    assert again.exit_code == 0
    assert quire("archive", "ls", "b.quire").stdout == f"{URL}\n"


def test_bars_are_drawn_where_somebody_looks(watched: Watched, crawl: Path) -> None:
    told, out = watched(
        "archive", "add", "a.quire", str(crawl), "--create", "--compact", stream="stderr", code=1
    )
    assert b"storing pages" in told
    assert out.startswith(b"a.quire: 3 pages added")


class Browser:
    """Sends requests to the server, like any client."""

    def __init__(self, port: int) -> None:
        self.port = port

    def __call__(  # noqa: D102 - the class says it
        self, path: str, *, host: str | None = None, method: str = "GET"
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=240)
        connection.putrequest(method, path, skip_host=True)
        connection.putheader("Host", f"127.0.0.1:{self.port}" if host is None else host)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body


@pytest.fixture
def browser(archive: str, folder: Path) -> Iterator[Browser]:
    hostile = 'https://c.example/"><script>alert(1)</script>'
    with Archive.open(archive, write=True) as opened:
        time = opened.get(URL).time
        opened.add(hostile, time, b"<script>alert(1)</script>", {"Content-Type": "text/html"})
        opened.add(
            "https://d.example/", time, b"x", b"HTTP/1.1 200 OK\r\nContent-Type: a/b;\x01\r\n\r\n"
        )
    with (
        (folder / "stderr.txt").open("wb") as said,
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "quire.cli",
                "archive",
                "serve",
                archive,
                "--port",
                "0",
                "--format",
                "json",
            ],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=said,
        ) as running,
    ):
        assert running.stdout is not None
        text = b""
        while not text.endswith(b"}\n"):
            text += running.stdout.readline()
        try:
            yield Browser(int(json.loads(text)["address"].rstrip("/").rpartition(":")[2]))
        finally:
            running.terminate()


def test_a_missing_library_of_the_browser_is_named_with_the_way_out(
    quire: Quire, archive: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = [
        name for name in sys.modules if name.startswith(("quire.web", "quire.cli.archive.loop"))
    ]
    for name in hidden:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = quire("archive", "serve", archive)
    # Packages name their modules as attributes: the ones of other tests, not of this one.
    monkeypatch.undo()
    for name in sorted(hidden):
        package, _, module = name.rpartition(".")
        setattr(sys.modules[package], module, sys.modules[name])

    assert result.exit_code == 2
    assert "uvicorn is not installed; run: pip install 'quire[serve]'" in result.stderr


def test_pages_are_served_in_a_sandbox(browser: Browser) -> None:
    status, headers, body = browser(f"/web/*/{URL}")
    assert status == 200
    assert b"<p>Cod 9.10</p><p>Plaice</p>" in body
    assert headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Set-Cookie"] is None

    assert b"<p>Cod 8.40</p>" in browser(f"/web/20260517110233/{URL}")[2]
    coded = quote("https://b.example/\x1b[31m", safe=":/")
    assert b"<p>Hake</p>" in browser(f"/web/*/{coded}")[2]
    status, headers, body = browser(f"/web/*id_/{coded}".replace("*", "2026"))
    assert body == b"<p>Hake"
    assert headers["Content-Type"] == "application/octet-stream"
    assert browser("/web/*/https://d.example/")[1]["Content-Type"] == "application/octet-stream"


def test_lists_hold_no_markup_of_others(browser: Browser) -> None:
    status, headers, body = browser("/archives")
    assert status == 200
    assert b"<script" not in body
    assert body.count(b"<tr><td>") == 4
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert browser("/archives?q=https%3A%2F%2Fa")[2].count(b"<tr><td>") == 1
    assert b'value="&#34;&gt;&lt;p&gt;"' in browser("/archives?q=%22%3E%3Cp%3E")[2]
    hostile = quote('https://c.example/"><script>alert(1)</script>', safe="")
    assert b"<script" not in browser(f"/archives/address?url={hostile}")[2]
    assert b"<script" not in browser(f"/web/*/{hostile}")[2]
    listed = browser(f"/archives/address?url={quote(URL, safe='')}")[2]
    assert listed.count(b">download</a>") == 2


def test_only_this_machine_is_answered(browser: Browser) -> None:
    for host in ("evil.example", "evil.example:80", "", "127.0.0.1.evil.example", "localhost:1:2"):
        status, headers, body = browser("/archives", host=host)
        assert status == 421, host
        assert b"a.example" not in body
        assert headers["Content-Security-Policy"]
    assert browser("/archives", host="localhost")[0] == 200
    assert browser("/archives", host=f"[::1]:{browser.port}")[0] == 200


def test_odd_requests_are_refused(browser: Browser) -> None:
    assert browser("/../../etc/passwd")[0] == 404
    assert browser("/web/2026/nowhere")[0] == 404
    assert browser("/archives/address?url=nowhere")[0] == 404
    assert browser("/web/99999999999999/http://a.example/")[0] == 303
    assert browser("/replay/1-2/2026/http://a.example/")[0] == 403
    assert browser("/go/evil")[0] == 404
    assert browser("/cdx")[0] == 400
    assert browser("/archives", method="POST")[0] == 405


def test_what_is_no_archive_is_said_to_be_none_with_a_way_out(quire: Quire, folder: Path) -> None:
    (folder / "pages").mkdir()
    for command in ("ls", "stats", "verify", "compact", "repair"):
        for name, finding in (
            ("gone.quire", "gone.quire: no such archive"),
            ("pages", "pages: a folder, but not an archive"),
            ("fruit.html", "fruit.html: a file, and an archive is a folder"),
        ):
            result = quire("archive", command, name)
            assert result.exit_code == 2
            assert f"error: {finding}" in result.stderr
            assert "hint: `quire archive " in result.stderr


@pytest.mark.usefixtures("archive")
@pytest.mark.parametrize(
    ("arguments", "finding", "way_out"),
    [
        (["archive", "add", "a.quire", "-"], "-: standard input is not read", "write it to a file"),
        (["archive", "add", "a.quire", "a.quire"], "a.quire: a quire archive", "export"),
        (["archive", "add", "a.quire", "void.warc"], "void.warc#0: empty", "sources are WARC"),
        (["archive", "add", "-", "crawl.warc", "--create"], "'-': not a name for", "site.quire"),
        (["archive", "add", "fruit.html", "crawl.warc"], "a file, and an archive", "--create"),
        (["archive", "create", "-"], "'-': not a name for a folder", "site.quire"),
        (["archive", "create", "/proc/a.quire"], "/proc/a.quire: could not be", "you can write to"),
        (["archive", "export", "a.quire", "pages"], "pages: is a folder", "give a file name"),
        (
            ["archive", "get", "a.quire", URL, "-o", "pages"],
            "pages: is a folder",
            "give a file name in it",
        ),
        (["archive", "add", "a.quire", "dropbox://a"], "pip install 'fsspec[dropbox]'", ""),
        (["templates", "-"], "-: standard input is not read here", "write it to a file"),
        (["templates", "void.warc"], "void.warc#0: empty", "sources are WARC"),
    ],
)
def test_what_cannot_be_done_is_said_with_a_way_out(
    quire: Quire, folder: Path, arguments: list[str], finding: str, way_out: str
) -> None:
    (folder / "pages").mkdir()
    (folder / "void.warc").touch()
    result = quire(*arguments)

    assert result.exit_code == 2
    error, _, hint = result.stderr.partition("\n")
    assert error.startswith("error: ")
    assert finding in error
    assert hint.startswith("hint: ")
    assert way_out in hint


def test_an_archive_inside_a_folder_of_pages_is_left_out(quire: Quire, archive: str) -> None:
    result = quire("archive", "add", "b.quire", ".", "--create", "--format", "json")

    assert result.exit_code == 1, "its crawl has a record that cannot be read"
    assert f"note: ./{archive}: a quire archive, left out\n" in result.stderr
    urls = quire("archive", "ls", "b.quire").stdout
    assert "archive.json" not in urls
    assert "lock" not in urls


def test_an_export_makes_the_folders_above_it(quire: Quire, archive: str, folder: Path) -> None:
    result = quire("archive", "export", archive, "new/über uns/a b.warc.gz")

    assert result.exit_code == 0, result.stderr
    assert (folder / "new" / "über uns" / "a b.warc.gz").exists()


def test_a_visitor_that_hangs_up_is_not_worth_a_word(browser: Browser, folder: Path) -> None:
    for i in range(20):
        with socket.create_connection(("127.0.0.1", browser.port)) as connection:
            # Closed with unread bytes, the connection is reset.
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            start = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            connection.sendall(start + (b"" if i % 2 else b"\r\n"))
    assert browser("/archives")[0] == 200
    assert (folder / "stderr.txt").read_bytes() == b""


def test_what_is_not_there_does_not_tell_where_the_archive_is(
    browser: Browser, folder: Path
) -> None:
    for path in ("/web/*/x", "/archives/address?url=x", "/archives/compare?url=x"):
        status, _, body = browser(path)
        assert status == 404
        assert b'<h1>Not in this archive</h1>\n<p class="address">x</p>' in body
        assert b".quire" not in body
        assert str(folder).encode() not in body


def test_a_command_that_is_terminated_leaves_no_temporary_files(archive: str, folder: Path) -> None:
    program = f"""
import sys, time
from quire.archive.warc import export
from quire.cli import main
def slow(page):
    print("writing", flush=True)
    time.sleep(60)
export.record_of = slow
sys.argv = ["quire", "archive", "export", {archive!r}, "out.warc.gz"]
main()
"""
    before = sorted(path.name for path in folder.iterdir())
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=folder, stdout=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"writing\n"
        assert sorted(path.name for path in folder.iterdir()) != before
        running.terminate()
        assert running.wait() == 128 + signal.SIGTERM
    assert sorted(path.name for path in folder.iterdir()) == before
