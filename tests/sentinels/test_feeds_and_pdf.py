"""Feeds and PDF through a check: what is told, and what hostile files can do."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable

import pytest

from quire.errors import MissingExtra, SourceUnreadable
from quire.sentinels.checking.answers import Fetched
from quire.sentinels.notices.event import Event
from quire.sentinels.store import Database
from quire.sentinels.store.tables import event
from quire.sentinels.versions import page_reading, pdf_text
from tests.sentinels.test_built_on_others import play
from tests.sentinels.test_worker import URL, Web, install, rows


def rss(*entries: tuple[str, str]) -> bytes:
    items = "".join(
        f"<item><title>{title}</title><link>https://example.org/{key}</link><guid>{key}</guid></item>"
        for key, title in entries
    )
    return f"<rss version='2.0'><channel><title>News</title>{items}</channel></rss>".encode()


def atom(*entries: tuple[str, str]) -> bytes:
    items = "".join(
        f"<entry><title>{title}</title><link href='https://example.org/{key}'/><id>{key}</id></entry>"
        for key, title in entries
    )
    return f"<feed xmlns='http://www.w3.org/2005/Atom'>{items}</feed>".encode()


def json_feed(*entries: tuple[str, str]) -> bytes:
    items = ",".join(
        f'{{"id": "{key}", "title": "{title}", "url": "https://example.org/{key}"}}'
        for key, title in entries
    )
    return f'{{"version": "https://jsonfeed.org/version/1", "items": [{items}]}}'.encode()


FEEDS = [
    (rss, "application/rss+xml"),
    (atom, "application/atom+xml"),
    (json_feed, "application/feed+json"),
]


@pytest.mark.parametrize(("make", "kind"), FEEDS)
def test_a_new_entry_is_told_and_an_edited_or_returning_one_is_not(
    database: Database,
    make: Callable[..., bytes],
    kind: str,
) -> None:
    web = Web()
    install(database, web.now, {"url": URL, "name": "news", "preset": "new entry"})
    one, two, three = ("1", "Fish"), ("2", "Chips"), ("3", "Peas")
    feeds = [
        [two, one],
        [one, two],  # another order
        [("2", "Chips (updated)"), one],  # another title
        [three, two],  # new, and one left
        [two, one],  # one came back
    ]

    told = play(database, web, *({URL: Fetched(200, make(*each), kind)} for each in feeds))
    assert told == [[], [], [], ["news"], []]
    (found,) = rows(database, event)
    assert "Peas https://example.org/3" in Event.from_dict(found.body).added
    assert found.body["finding"]["reason"] == "'3' is new"


def test_a_page_that_is_not_a_feed_has_no_new_entries(database: Database) -> None:
    web = Web()
    install(database, web.now, {"url": URL, "name": "news", "preset": "new entry"})

    assert play(database, web, {URL: b"<p>1</p></html>"}, {URL: b"<p>2</p></html>"}) == [[], []]


# ------------------------------------------------------------ PDF


def pdf(*lines: str, content: bytes | None = None) -> bytes:
    """Write a PDF with some lines of text on one page."""
    shown = b" T* ".join(b"(%s) Tj" % line.encode() for line in lines)
    stream = content or b"BT /F1 12 Tf 14 TL 72 700 Td " + shown + b" ET"
    packed = zlib.compress(stream)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed),
    ]
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    places = []
    for number, each in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, each))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % place for place in places)
    out.write(
        b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
    )
    return out.getvalue()


def test_the_text_of_a_pdf_is_watched_line_by_line(database: Database) -> None:
    pytest.importorskip("pypdf")
    web = Web()
    install(database, web.now, {"url": URL, "name": "menu", "when": {"number": {"below": 9}}})

    told = play(
        database,
        web,
        {URL: Fetched(200, pdf("Menu", "Fish 9.50"), "application/pdf")},
        {URL: Fetched(200, pdf("Menu", "Fish 8.50"), "application/octet-stream")},
    )
    assert told == [[], ["menu"]]
    (found,) = rows(database, event)
    change = Event.from_dict(found.body)
    assert (change.removed, change.added) == (("Fish 9.50",), ("Fish 8.50",))


@pytest.mark.parametrize(
    "body",
    [
        b"%PDF-1.7",
        b"%PDF-1.7 garbage " * 1000,
        pdf("Fish")[:200],
        pdf("Fish").replace(b"/Kids [3 0 R]", b"/Kids [2 0 R]"),
        pdf("Fish").replace(b"/Contents 4 0 R", b"/Contents 3 0 R"),
        pdf(content=b"q " * 2_000_000),
        pdf(content=bytes(200_000_000)),
        b"%PDF-1.7\n1 0 obj\n" + b"[" * 200_000,
    ],
    ids=["empty", "garbage", "cut", "loop of pages", "loop of contents", "long", "bomb", "deep"],
)  # fmt: skip
def test_a_hostile_pdf_ends_in_text_or_an_error(
    body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pypdf")
    monkeypatch.setattr(pdf_text, "CPU_SECONDS", 3)
    try:
        assert len(page_reading.read_page(body, "application/pdf").text()) < 1_000_000
    except SourceUnreadable as error:
        assert "PDF" in str(error)  # noqa: PT017 - text is as good


def test_time_and_memory_of_a_pdf_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pypdf")
    monkeypatch.setattr(pdf_text, "CPU_SECONDS", 1)
    monkeypatch.setattr(pdf_text, "MEMORY_BYTES", 50_000_000)
    with pytest.raises(
        SourceUnreadable, match=r"takes more than 1 s or 50\.0 MB of memory|cannot be read"
    ):
        pdf_text.pdf_text(pdf(content=b"(x) Tj " * 20_000_000))


def test_without_the_extra_the_error_names_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf_text, "has_pypdf", lambda: False)
    body = pdf("only here")
    with pytest.raises(MissingExtra, match=r"quire\[pdf\]|pypdf"):
        pdf_text.pdf_text(body)
    web = Web()
    install(database, web.now, {"url": URL, "name": "menu"})

    play(database, web, {URL: Fetched(200, body, "application/pdf")})
    (found,) = rows(database, event)
    assert (found.kind, "pypdf is not installed" in found.body["reason"]) == ("error", True)
