"""Finding out which pages of a crawl were requested with which cookie."""

from __future__ import annotations

from pathlib import Path

import pytest

from quire.sources.readers import cookies_sent
from tests.sources.crawls import record, response, write


def crawl(folder: Path, *cookies: bytes) -> str:
    """A crawl of one page for each request header, linked by record ids."""
    records = []
    for number, cookie in enumerate(cookies):
        tie = f"<urn:{number}>\r\n".encode()
        sent = b"GET / HTTP/1.1\r\nHost: a.example\r\n" + cookie + b"\r\n"
        records.append(record(sent, kind="request", more=b"WARC-Concurrent-To: " + tie))
        records.append(record(response(b"<p>%d" % number), more=b"WARC-Record-ID: " + tie))
    write(folder / "crawl.warc", records)
    return str(folder / "crawl.warc")


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (b"", None),
        (b"Cookie: \r\n", None),
        (b"Cookie: id\r\n", "id="),
        (b"Cookie: id=7\r\n", "id=7"),
        (b"cookie:a=1;id=7;b=2\r\n", "id=7"),
        (b"Cookie: a=1\r\nCookie: id=a=b; id=8\r\n", "id=a=b"),
        (b"Cookie: xid=7; Id=7\r\n", None),
        (b"Cookie: a=1;\r\n id=7\r\n", "id=7"),
        (b"Cookie: id=\xff\x00\x1b\r\n", "id=\xff\x00\x1b"),
        (b"Set-Cookie: id=7\r\n", None),
    ],
)
def test_a_cookie_is_found_by_its_name(tmp_path: Path, header: bytes, found: str | None) -> None:
    told = list(cookies_sent(crawl(tmp_path, header), ["id"]).values())

    assert told == ([] if found is None else [found])


def test_several_cookies_are_told_in_one_order(tmp_path: Path) -> None:
    path = crawl(tmp_path, b"Cookie: b=2; a=1\r\n", b"Cookie: a=1; b=2\r\n", b"Cookie: b=2\r\n")

    assert list(cookies_sent(path, ["b", "a"]).values()) == ["a=1; b=2", "a=1; b=2", "b=2"]


def test_a_request_without_the_cookie_is_not_taken_for_another_of_the_same_second(
    tmp_path: Path,
) -> None:
    path = crawl(tmp_path, b"", b"Cookie: id=7\r\n", b"")

    found = cookies_sent(path, ["id"])
    assert list(found.values()) == ["id=7"]
    assert len(found) == 1


def test_damage_is_passed_over(tmp_path: Path) -> None:
    path = crawl(tmp_path, b"Cookie: id=7\r\n")
    with Path(path).open("ab") as file:
        file.write(b"WARC/1.0\r\nWARC-Type: request\r\nContent-Length: 99999\r\n\r\nGET")

    assert list(cookies_sent(path, ["id"]).values()) == ["id=7"]
