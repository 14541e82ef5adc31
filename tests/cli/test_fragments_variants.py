"""Readers on the command line: by folders, by a parameter of addresses, by a cookie of requests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quire.archive import Archive
from quire.display import escape
from tests.cli.conftest import Quire
from tests.cli.test_fragments import asked
from tests.fragments.test_measuring import PAGES, START, greeting, page
from tests.sources.crawls import record, response, write

READERS = ("", "mary", "bob")


def body(name: str, reader: str) -> bytes:
    return page(name, 0, greeting(reader)).encode()


def request(name: str, reader: str) -> bytes:
    cookie = f"Cookie: theme=dark; session={reader}\r\n" if reader else "Cookie: theme=dark\r\n"
    return f"GET /{name} HTTP/1.1\r\nHost: a.example\r\n{cookie}\r\n".encode()


def sharing(quire: Quire, *arguments: str) -> tuple[list[str], list[str]]:
    """What a plan says of fragments, longest first, and of the pages around them."""
    found = json.loads(json.dumps(asked(quire, "plan", *arguments, "--min-source-bytes", "100")))
    assert found["pages"] == len(PAGES)
    fragments = sorted(found["fragments"], key=lambda one: -int(one["length"]))
    return (
        [one["policy"]["sharing"] for one in fragments],
        sorted({one["sharing"] for one in found["page_policies"]}),
    )


@pytest.fixture
def folders(folder: Path) -> Path:
    """What three readers got, in a folder each."""
    for reader in READERS:
        (folder / (reader or "nobody")).mkdir()
        for name in PAGES:
            (folder / (reader or "nobody") / f"{name}.html").write_bytes(body(name, reader))
    return folder


def test_folders_with_the_same_names_are_of_different_readers(quire: Quire, folders: Path) -> None:
    (folders / "bob" / "new.html").write_bytes(b"<p>Only for Bob")
    result = quire("fragments", "plan", "nobody", "--variant", "mary", "--variant", "bob")

    assert sharing(quire, "nobody/", "--variant", "mary", "--variant", "./bob") == (
        ["shared", "private"],
        ["shared"],
    )
    assert "1 page of --variant left out" in result.stderr
    assert sharing(quire, "nobody") == (["unknown", "unknown"], ["unknown"])


def test_addresses_that_differ_in_a_parameter_are_one_page(quire: Quire, folder: Path) -> None:
    with Archive.create(folder / "a.quire") as archive:
        for reader in READERS[1:]:
            for name in PAGES:
                url = f"https://a.example/{name}?user={reader}&day=1"
                archive.add(url, START, body(name, reader))
        archive.commit()

    found = sharing(quire, "a.quire", "--variant-query", "user")
    assert found == (["shared", "private"], ["shared"])
    told = asked(quire, "lifetimes", "a.quire", "--variant-query", "user")
    pages: list[dict[str, object]] = list(told["pages"])  # type: ignore[call-overload]
    assert [one["page"] for one in pages] == [f"https://a.example/{name}?day=1" for name in PAGES]


def test_what_tells_readers_apart_in_addresses_is_written_nowhere(
    quire: Quire, folder: Path
) -> None:
    with Archive.create(folder / "a.quire") as archive:
        for reader in ("secret-of-mary", "secret-of-bob"):
            for name in PAGES:
                url = f"https://a.example/{name}?token={reader}&day=1"
                archive.add(url, START, body(name, "nobody"))
        archive.commit()

    for command in (["esi", "-o", "out"], ["report", "-o", "report.html"]):
        name, *output = command
        result = quire("fragments", name, "a.quire", *output, "--variant-query", "token")
        assert result.exit_code == 0, result.stderr
        assert "secret-of" not in result.stdout + result.stderr
    written = [*(folder / "out").rglob("*"), folder / "report.html", folder / "report.json"]
    assert len(written) > 5
    for path in written:
        assert not path.is_file() or b"secret-of" not in path.read_bytes(), path


@pytest.mark.parametrize("tie", ["request names response", "response names request", "place"])
def test_requests_with_another_cookie_are_of_another_reader(
    quire: Quire, folder: Path, tie: str
) -> None:
    records = []
    for number, reader in enumerate(READERS):
        for name in PAGES:
            mine, theirs = f"<urn:q:{number}{name}>", f"<urn:a:{number}{name}>"
            url = f"https://a.example/{name}"
            sent, got = f"WARC-Record-ID: {mine}\r\n", f"WARC-Record-ID: {theirs}\r\n"
            if tie == "request names response":
                sent += f"WARC-Concurrent-To: {theirs}\r\n"
            elif tie == "response names request":
                got += f"WARC-Concurrent-To: {mine}\r\n"
            else:
                # Nothing but the address and the time: another second for each reader.
                sent = got = f"WARC-Date: 2026-05-17T11:02:0{number}Z\r\n"
            answer = record(response(body(name, reader)), url=url, more=got.encode())
            asked_for = record(request(name, reader), kind="request", url=url, more=sent.encode())
            records += [answer, asked_for] if number % 2 else [asked_for, answer]
    write(folder / "crawl.warc", records)

    if tie == "place":
        # The head's first date goes, which is the same for all: two readers in one second cannot be told apart.
        assert sharing(quire, "crawl.warc", "--variant-cookie", "session")[0] == [
            "unknown",
            "unknown",
        ]
        return
    assert sharing(quire, "crawl.warc", "--variant-cookie", "session") == (
        ["shared", "private"],
        ["shared"],
    )
    # Everybody has the same theme.
    assert sharing(quire, "crawl.warc", "--variant-cookie", "theme")[0] == ["unknown", "unknown"]
    none = quire("fragments", "plan", "crawl.warc", "--variant-cookie", "no\x1b[31m")
    assert "no request has the cookie no\\x1b[31m" in none.stderr


def test_values_of_cookies_are_written_nowhere(quire: Quire, folder: Path) -> None:
    records = []
    for number, secret in enumerate(("hunter2", "swordfish")):
        tie = f"WARC-Record-ID: <urn:{number}>\r\n".encode()
        tied = f"WARC-Concurrent-To: <urn:{number}>\r\n".encode()
        records.append(record(response(body("fish", str(number))), more=tie))
        records.append(record(request("fish", secret), kind="request", more=tied))
    write(folder / "crawl.warc", records)
    arguments = ("crawl.warc", "--variant-cookie", "session")
    outputs = [
        quire("fragments", command, *arguments, *more, "--format", form)
        for command, *more in (
            ("plan",),
            ("lifetimes",),
            ("esi", "-o", "composed", "--force"),
            ("report", "-o", "report.html", "--force"),
        )
        for form in ("json", "text")
    ]

    assert [one.exit_code for one in outputs] == [0] * 8, [one.stderr for one in outputs]
    written = [path.read_bytes() for path in folder.rglob("*") if path.suffix in {".json", ".html"}]
    told = b"".join(written) + "".join(one.stdout + one.stderr for one in outputs).encode()
    assert b"hunter2" not in told
    assert b"swordfish" not in told
    assert "private" in outputs[0].stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nobody", "mary", "--variant", "bob"), "--variant: there are 2 main sources"),
        (("nobody", "--variant", "nowhere"), "nowhere: no such file or folder"),
        (("nobody", "--variant-cookie", "session"), "--variant-cookie reads the requests in WARC"),
        (("nobody", "--ttl", "-1"), "--ttl"),
    ],
)
def test_what_readers_cannot_be_told_by_is_said(
    quire: Quire, folders: Path, arguments: tuple[str, ...], words: str
) -> None:
    assert folders.is_dir()
    result = quire("fragments", "plan", *arguments)

    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


def test_a_time_that_is_given_goes_before_what_was_measured(quire: Quire, folders: Path) -> None:
    assert folders.is_dir()
    found = json.loads(
        quire(
            *("fragments", "plan", "nobody", "--variant", "mary", "--ttl", "7", "--format", "json"),
            *("--min-source-bytes", "100"),
        ).stdout
    )
    told = {(one["policy"]["ttl_s"], one["policy"]["sharing"]) for one in found["fragments"]}

    assert told == {(7, "shared"), (0, "private")}
    assert {one["source"] for one in found["page_policies"]} == {"given"}


def test_a_report_says_which_parts_are_private_and_which_are_for_all(
    quire: Quire, folders: Path
) -> None:
    arguments = ("nobody", "--variant", "mary", "-o", "report.html", "--min-text-bytes", "50")
    found = asked(quire, "report", *arguments)
    told: list[dict[str, object]] = list(found["fragments"])  # type: ignore[call-overload]

    exact = {
        str(one["path"]).split(" > ")[-1]: one["sharing"] for one in told if one["tier"] == "exact"
    }
    assert (exact["nav"], exact["aside"]) == ("shared", "private")
    assert {one["sharing"] for one in told if one["tier"] == "own pace"} == {"private"}
    drawn = (folders / "report.html").read_text("utf-8")
    assert "3</b><span>captures for other users" in drawn
    advice = {str(one["label"]): str(one["advice"]) for one in told if one["tier"] == "exact"}
    assert "keep it out of shared caches" in advice["aside"]
    assert escape(advice["aside"]) in drawn
    # The same part with its own pace is listed, but advised once.
    assert {one["action"] for one in told if one["tier"] == "own pace"} == {"leave"}
