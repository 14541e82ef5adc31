"""Revisits find the bytes that their digest names."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from quire.archive import Archive, export, ingest
from quire.archive.build import build_archive
from quire.archive.warc.export import payload_digest
from tests.archive.test_companions import PAGE, added, again, records_in
from tests.sources.crawls import record, response, write

SPELLINGS = {
    "the same": ("https://a.example/x", payload_digest(PAGE)),
    "another scheme": ("http://a.example/x", payload_digest(PAGE)),
    "a slash": ("https://a.example/x/", payload_digest(PAGE)),
    "www": ("https://www.a.example/x", payload_digest(PAGE)),
    "capitals": ("HTTPS://A.Example:443/x", payload_digest(PAGE)),
    "another page": ("https://c.example/y", payload_digest(PAGE)),
    "no page": ("", payload_digest(PAGE)),
    "hexadecimal": ("", "sha1:" + hashlib.sha1(PAGE, usedforsecurity=False).hexdigest()),
    "sha256": ("", "sha256:" + hashlib.sha256(PAGE).hexdigest()),
}


@pytest.mark.parametrize("order", ["page first", "page last", "page before", "page in a segment"])
@pytest.mark.parametrize("how", ["journal", "build"])
def test_a_revisit_finds_its_bytes_by_their_digest(tmp_path: Path, how: str, order: str) -> None:
    revisits = [
        again(f"https://b.example/{i}", digest, of)
        for i, (of, digest) in enumerate(SPELLINGS.values())
    ]
    write(tmp_path / "page.warc", [record(response(PAGE), url="https://a.example/x")])
    write(tmp_path / "again.warc", revisits)
    paths = [str(tmp_path / "page.warc"), str(tmp_path / "again.warc")]
    if order == "page last":
        paths.reverse()
    folder = tmp_path / "a"
    if order in {"page before", "page in a segment"}:
        added(folder, paths[:1], "journal" if order == "page before" else "segment")
        if how == "build":
            done = build_archive(paths[1:], folder)
        else:
            with Archive.open(folder, write=True) as archive:
                done = ingest(archive, paths[1:])
        assert done.pages == len(revisits)
    else:
        done = added(folder, paths, how)
        assert done.pages == 1 + len(revisits)

    assert (done.warnings, done.companions) == ((), {})
    with Archive.open(folder) as archive:
        for i in range(len(revisits)):
            page = archive.get(f"https://b.example/{i}")
            assert page.body == PAGE
            assert b"X-Again: yes" in page.head
        export(archive, tmp_path / "out.warc.gz")
    both = records_in(paths[0]) + records_in(paths[1])
    assert records_in(tmp_path / "out.warc.gz") == both


def test_a_revisit_may_state_a_digest_that_only_the_record_of_its_page_states(
    tmp_path: Path,
) -> None:
    """Some crawlers compute digests before they undo the chunks, some after."""
    chunked = response(b"3\r\n<p>\r\n0\r\n\r\n", "Transfer-Encoding: chunked")
    digest = payload_digest(b"<p>")
    more = f"WARC-Payload-Digest: {digest}\r\n".encode()
    records = [again("https://b.example/", digest), record(chunked, more=more)]
    write(tmp_path / "a.warc", records)
    for how in ("journal", "build"):
        done = added(tmp_path / how, [str(tmp_path / "a.warc")], how)
        assert (done.pages, done.warnings) == (2, ())
        with Archive.open(tmp_path / how) as archive:
            assert archive.get("https://b.example/").body == b"3\r\n<p>\r\n0\r\n\r\n"
