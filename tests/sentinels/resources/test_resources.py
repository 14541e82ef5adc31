"""Resources of pages: fetched within limits, stored once, signed, and forgotten when not needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import time

import pytest
from sqlalchemy import func, select

import quire
from quire.display import escape
from quire.errors import FetchCause, FetchFailed
from quire.reports.changes.framed import FramedPage, framed_changes
from quire.sentinels.resources import Resources, StoredLooks, gather, sniff
from quire.sentinels.resources.gathering import Bounds, Gathered
from quire.sentinels.resources.storing import FAILED_S, FRESH_S, UNUSED_S, Found, key_of
from quire.sentinels.service import Service
from quire.sentinels.store import Database
from quire.sentinels.store.tables import address, resource
from quire.sources.gate import Request, Response
from quire.viewing import NOTHING, Use
from tests.sources.gate import vectors
from tests.sources.gate.servers import names, open_gate, serving
from tests.sources.gate.test_ssrf import canaries, outside

URL = "https://site.example/"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
CSS, IMAGE = "text/css", "image/png"


@dataclass
class FakeGate:
    """A gate to a site that exists only here."""

    pages: dict[str, tuple[str, bytes]]
    asked: list[str] = field(default_factory=list)
    limits: list[int] = field(default_factory=list)
    seconds: float = 0.0

    async def fetch(self, request: Request) -> Response:
        """Answer, or fail as the gate does."""
        self.asked.append(request.url)
        assert request.limits is not None
        assert not request.private_fields()
        self.limits.append(request.limits.decoded_bytes)
        await asyncio.sleep(self.seconds)
        if request.url not in self.pages:
            raise FetchFailed("no", url=request.url, cause=FetchCause.DNS)
        kind, body = self.pages[request.url]
        return Response(request.url, 200, [(b"Content-Type", kind.encode())], body)


def gathered(
    store: Resources, gate: FakeGate, source: bytes, bounds: Bounds | None = None
) -> Gathered:
    page = quire.encode(source)
    return asyncio.run(gather(page, URL, store, gate, bounds or Bounds()))


def rows(database: Database) -> tuple[int, int]:
    """Count addresses and resources."""
    with database.read() as connection:
        return (
            connection.execute(select(func.count()).select_from(address)).scalar_one(),
            connection.execute(select(func.count()).select_from(resource)).scalar_one(),
        )


def test_a_resource_is_stored_once_and_not_fetched_again_while_it_is_fresh(
    database: Database,
) -> None:
    store = Resources(database)
    gate = FakeGate({f"{URL}a.png": (IMAGE, PNG), f"{URL}b.png": (IMAGE, PNG)})
    source = b"<img src=a.png><img src=b.png><img src=gone.png>"
    found = gathered(store, gate, source)
    assert (found.asked, found.fetched, found.failed, found.left) == (3, 2, 1, 0)
    assert rows(database) == (3, 1)
    assert gathered(store, gate, source).fetched == 0
    assert len(gate.asked) == 3
    urls = [f"{URL}a.png", f"{URL}gone.png"]
    assert store.wanted(urls, time() + FAILED_S + 1) == urls[1:]
    assert store.wanted(urls, time() + FRESH_S + 1) == urls


def test_a_failure_does_not_replace_a_stored_resource(database: Database) -> None:
    store = Resources(database)
    store.keep([Found(URL, IMAGE, PNG)], 0.0)
    store.keep([Found(URL, error="dns")], 1.0)
    found = store.at(URL)
    assert found is not None
    assert found.data == PNG


def test_style_sheets_bring_their_images_fonts_and_imports(database: Database) -> None:
    gate = FakeGate(
        {
            f"{URL}css/a.css": (CSS, b"@import 'b.css'; p{background:url(x.png)}"),
            f"{URL}css/b.css": (CSS, b"@import 'c.css'; @font-face{src:url(/f.woff2)}"),
            f"{URL}css/c.css": (CSS, b"@import 'd.css';"),
            f"{URL}css/x.png": (IMAGE, PNG),
            f"{URL}f.woff2": ("x/y", b"wOF2" + bytes(9)),
        }
    )
    gathered(Resources(database), gate, b"<link rel=stylesheet href=css/a.css>")
    assert sorted(gate.asked) == sorted(
        [f"{URL}css/{name}" for name in ("a.css", "b.css", "x.png")] + [f"{URL}f.woff2"]
    )


def test_scripts_frames_links_and_media_are_never_fetched(database: Database) -> None:
    gate = FakeGate({})
    gathered(
        Resources(database),
        gate,
        b"<script src=a.js></script><iframe src=b></iframe><a href=c>x</a><video src=d></video>"
        b"<object data=e></object><embed src=f><link rel=preload as=script href=g><base href=//h/>"
        b"<form action=i><input type=image src=j.png></form><link rel=icon href=k.png>",
    )
    assert [url for url in gate.asked if not url.endswith("j.png")] == []


@pytest.mark.parametrize(
    ("bounds", "most"),
    [(Bounds(images=5), 5), (Bounds(bytes=4 * len(PNG), at_once=1), 4), (Bounds(images=0), 0)],
)
def test_a_page_with_many_images_costs_no_more_than_its_limits(
    database: Database, bounds: Bounds, most: int
) -> None:
    count = 300
    gate = FakeGate({f"{URL}{n}.png": (IMAGE, PNG) for n in range(count)})
    source = b"".join(b"<img src=%d.png>" % number for number in range(count))
    found = gathered(Resources(database), gate, source, bounds)
    assert len(gate.asked) == found.fetched == most
    assert found.left == count - min(bounds.images, count) + max(0, bounds.images - most)
    assert all(limit <= bounds.each_bytes for limit in gate.limits)


def test_a_slow_site_takes_no_longer_than_its_limit(database: Database) -> None:
    gate = FakeGate({f"{URL}a.png": (IMAGE, PNG)}, seconds=60)
    found = gathered(Resources(database), gate, b"<img src=a.png>", Bounds(seconds=0.2))
    assert (found.fetched, found.left) == (0, 1)
    # For a while, people do not wait for it again.
    assert Resources(database).wanted([f"{URL}a.png"], time()) == []


def test_style_sheets_that_import_each_other_end(database: Database) -> None:
    gate = FakeGate({f"{URL}{n}.css": (CSS, b"@import '%d.css'" % (n + 1)) for n in range(100)})
    gathered(Resources(database), gate, b"<link rel=stylesheet href=0.css>")
    assert len(gate.asked) <= Bounds().imports


@pytest.mark.parametrize(
    ("data", "kind", "use", "expected"),
    [
        (b"<html><script>alert(1)</script>", IMAGE, Use.IMAGE, None),
        (
            b"<?xml version='1.0'?><!-- x --><svg xmlns='x'/>",
            "text/plain",
            Use.IMAGE,
            "image/svg+xml",
        ),
        (b"<!DOCTYPE html><svg>", "image/svg+xml", Use.IMAGE, None),
        (b"%PDF-1.7", "image/png", Use.IMAGE, None),
        (b"PK\x03\x04", "font/woff", Use.FONT, None),
        (PNG, IMAGE, Use.STYLE, None),
        (PNG, IMAGE, Use.FONT, None),
        (b"wOFF....", "text/html", Use.FONT, "font/woff"),
        (b"wOFF....", "text/html", Use.IMAGE, None),
        (b"p{}", "text/javascript", Use.STYLE, None),
        (b"<p>404", "text/css", Use.STYLE, None),
        (b"p{}", "text/css;charset=x", Use.STYLE, "text/css; charset=utf-8"),
        (b"", "", Use.IMAGE, None),
        (PNG, IMAGE, Use.LINK, None),
    ],
)
def test_the_kind_is_decided_by_the_bytes(
    data: bytes, kind: str, use: Use, expected: str | None
) -> None:
    found = sniff(data, kind, use)
    assert (found.value if found else None) == expected


def test_only_signed_addresses_lead_to_a_resource(database: Database) -> None:
    store = Resources(database)
    store.keep([Found(URL, IMAGE, PNG)], time())
    name = store.path(key_of(URL)).rpartition("/")[2]
    key, _, signature = name.partition("-")
    found = store.open(name)
    assert found is not None
    assert (found.type, found.data) == (IMAGE, PNG)
    changed = signature[:-1] + ("0" if signature[-1] != "0" else "1")
    for wrong in (key, f"{key}-", f"{key}-{changed}", f"{key}-{key}", f"../{name}", name.upper()):
        assert store.open(wrong) is None
    assert store.placer()(URL, Use.IMAGE) == store.path(key)
    assert store.placer()(URL, Use.LINK) is None
    assert store.placer()(f"{URL}other", Use.IMAGE) is None
    assert Resources(database).path(key) == store.path(key)


def test_resources_are_in_backups_and_are_forgotten_when_no_page_needs_them(
    database: Database, tmp_path: Path
) -> None:
    store = Resources(database)
    now = time()
    store.keep([Found(f"{URL}old", IMAGE, PNG + b"old")], now - UNUSED_S - 1)
    store.keep([Found(f"{URL}{n}", IMAGE, PNG + b"%d" % n) for n in range(10)], now)
    service = Service(database)
    service.backup(tmp_path / "copy.db")
    copy = Database.open(tmp_path / "copy.db")
    assert rows(copy) == (11, 11)
    copy.close()
    service.prune(vacuum=False)
    assert rows(database) == (10, 10)
    assert store.prune(now, most_bytes=3 * len(PNG) + 10) > 0
    assert rows(database) == (3, 3)


def _image(url: str) -> str:
    return f'<img src="{escape(url)}">'


def _style(url: str) -> str:
    return f'<link rel=stylesheet href="{escape(url)}">'


def _background(url: str) -> str:
    quoted = "".join(f"\\{ord(each):x} " for each in url)
    return f'<p style="background:url({escape(chr(39) + quoted + chr(39))})">'


@pytest.mark.parametrize("written", [_image, _style, _background])
def test_no_address_on_a_page_reaches_the_inside(
    tmp_path: Path, written: Callable[[str], str]
) -> None:
    many = Bounds(silences=9999, styles=9999, images=9999, fonts=9999, seconds=120, at_once=20)
    database = Database.open(tmp_path / "quire.db")

    async def run() -> tuple[list[int], int]:
        table = {**vectors.HOSTILE_NAMES, "public.example": ["127.0.0.1"]}
        async with canaries() as (port, hits), serving(outside) as seen:
            found = vectors.urls(port)
            found += [f"http://{name}:{port}/" for name in vectors.HOSTILE_NAMES]
            found += [
                seen.url(f"/to/{url.encode('utf-8', 'surrogateescape').hex()}") for url in found
            ]
            text = "".join(map(written, found)).encode("utf-8", "surrogatepass")
            page = quire.encode(text, kind="html", encoding="utf-8")
            async with open_gate(names(table)) as gate:
                tally = await gather(page, seen.url("/"), Resources(database), gate, many)
            return hits, tally.failed

    hits, failed = asyncio.run(run())
    database.close()
    assert hits == []
    assert failed > 100


def test_a_host_that_does_not_answer_is_not_asked_for_everything(database: Database) -> None:
    gate = FakeGate({f"{URL}here.png": (IMAGE, PNG)})
    source = b"".join(b"<img src=//silent.example/%d>" % n for n in range(50))
    bounds = Bounds(at_once=1)
    found = gathered(Resources(database), gate, source + b"<img src=here.png>", bounds)
    assert (found.fetched, found.failed, len(gate.asked)) == (1, 50, bounds.silences + 1)


def drawn_with(store: Resources, source: str, prices: tuple[int, int] = (8, 9)) -> FramedPage:
    """Draw the changes of a page with its stored style sheets and images."""
    old, new = (quire.encode(f"{source}<p>Price é {price}</p>".encode()) for price in prices)
    looks = StoredLooks([(old, URL), (new, URL)], store)
    return framed_changes(quire.annotate(old, new), base=URL, embedded=looks.load())


def test_a_redline_of_a_page_with_stored_resources_looks_like_the_page(database: Database) -> None:
    store = Resources(database)
    css = "@import 'b.css'; h1::before{content:'é</style>'} p{color:rgb(1,2,3)}"
    store.keep([Found(f"{URL}a.css", "text/css; charset=utf-8", css.encode())], 0)
    store.keep([Found(f"{URL}b.css", "text/css; charset=utf-8", b"p{margin:7px}")], 0)
    store.keep([Found(f"{URL}c.png", IMAGE, PNG)], 0)
    head = "<base href=/><link href=a.css rel='x Stylesheet' media=screen><title>é</title>"
    found = drawn_with(store, f"{head}<img src=c.png srcset='d 2x'><img src=gone.png>").document

    assert "color:rgb(1,2,3)" in found.replace(" ", "")
    assert "margin:7px" in found
    assert found.count("data:image/png;base64,") == 1
    assert ">9</ins>" in found
    assert "</style>'" not in found


def test_marks_do_not_depend_on_stored_resources(database: Database) -> None:
    store = Resources(database)
    source = "<link rel=stylesheet href=a.css><img src=c.png?1><p style='height:90px'>x</p>"
    bare = drawn_with(store, source)
    assert "height:90px" not in bare.document, "the layout for reading"
    store.keep([Found(f"{URL}a.css", "text/css; charset=utf-8", b"p{color:red}")], 0)
    store.keep([Found(f"{URL}c.png?1", IMAGE, PNG)], 0)
    dressed = drawn_with(store, source)

    assert dressed.document != bare.document
    assert "height:90px" in dressed.document
    assert dressed.marks == bare.marks


def test_the_key_of_drawings_changes_with_what_is_stored(database: Database) -> None:
    store, page = Resources(database), quire.encode(b"<img src=c.png>")

    def key() -> str:
        return StoredLooks([(page, URL)], store).key

    before = key()
    store.keep([Found(f"{URL}other.png", IMAGE, PNG)], 0)
    assert key() == before
    store.keep([Found(f"{URL}c.png", IMAGE, PNG)], 0)
    first = key()
    store.keep([Found(f"{URL}c.png", IMAGE, PNG + b"x")], 1)
    assert len({before, first, key()}) == 3


def test_an_image_that_is_on_a_page_a_thousand_times_is_written_a_few_times(
    database: Database,
) -> None:
    store = Resources(database)
    store.keep([Found(f"{URL}c.png", IMAGE, PNG + bytes(100_000))], 0)
    found = drawn_with(store, "<img src=c.png>" * 1000).document
    assert 10 < found.count("data:image/png;base64,") < 30


def test_pages_that_are_not_html_have_no_looks(database: Database) -> None:
    store = Resources(database)
    for source in (b'{"a": 1}', b"\0\1\2", b"plain text"):
        looks = StoredLooks([(quire.encode(source), URL)], store)
        assert (looks.key, looks.load()) == ("", NOTHING)
