"""A small site in a WARC file, with style sheets, images, a font, frames and hostile parts."""

from __future__ import annotations

import gzip
import struct
import zlib
from pathlib import Path
from uuid import uuid4

from quire.archive import Archive
from quire.archive.warc.ingest import ingest

SITE = "http://paper.example"
OLD, NEW = "2024-03-01T10:00:00Z", "2026-05-17T11:02:33Z"
#: A host that must never be asked.
ELSEWHERE = "canary.example"


def png(width: int, height: int, colour: tuple[int, int, int]) -> bytes:
    """Draw a picture of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = b"".join(b"\0" + bytes(colour) * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def front(headline: str) -> str:
    """Write the front page."""
    return f"""<!doctype html><html lang=en><head><title>The Paper</title>
<link rel=stylesheet href=/css/main.css><link rel=stylesheet href=//{ELSEWHERE}/gone.css>
<link rel=preconnect href=//{ELSEWHERE}><base target=_blank>
<style>.box{{background:url(/img/box.png);width:40px;height:20px}}
.evil{{background:url(//{ELSEWHERE}/bg.png)}}</style>
<script src=//{ELSEWHERE}/x.js></script><script>document.title='ran';fetch('//{ELSEWHERE}/f')</script>
<meta http-equiv=refresh content="0;url=//{ELSEWHERE}/"></head>
<body onload="document.title='ran'"><header><h1>{headline}</h1></header>
<p class=lead>Boats may stay for two weeks.</p><div class=box></div><p class=evil>x</p>
<img id=plain src="/img/red.png" alt=red><img id=set srcset="/img/green.png 1x" alt=green>
<picture><source srcset="/img/blue.png" media="(min-width: 1px)"><img id=pic src=/img/red.png></picture>
<img id=gone src=/img/gone.png alt="a picture that is not there"><img src=//{ELSEWHERE}/i.png>
<svg width=10 height=10><script>document.title='ran'</script><image href="//{ELSEWHERE}/s.png"/></svg>
<iframe src=/frame.html></iframe><iframe src=//{ELSEWHERE}/ad></iframe>
<form action=//{ELSEWHERE}/send><input name=q value=1><button>Send</button></form>
<p><a id=inside href="/about.html?a=1&amp;b=2#team">About</a> <a id=moved href=/old>Moved</a>
<a id=away href=//{ELSEWHERE}/>Away</a> <a id=bad href="javascript:document.title='ran'">Bad</a></p>
</body></html>"""


#: Redirects that lead nowhere: to themselves, to another spelling, and out of the web.
LOOPS = {
    "/again": "/again",
    "/secure": "https://www.paper.example/secure/",
    "/script": "javascript:alert(1)",
}

PAGES: list[tuple[str, str, str, str | bytes]] = [
    ("/", OLD, "text/html; charset=utf-8", front("Fees of 2024")),
    ("/", NEW, "text/html; charset=utf-8", front("Fees of 2026")),
    (
        "/css/main.css",
        OLD,
        "text/css",
        (f"@import 'more.css';@import '//{ELSEWHERE}/i.css';h1{{color:rgb(10,20,30);"
        "font-family:Paper}@font-face{font-family:Paper;src:url(../f.woff2)}"
        f"body{{background:url(//{ELSEWHERE}/body.png)}}"),
    ),
    ("/css/main.css", NEW, "text/css", "@import 'more.css';h1{color:rgb(40,50,60)}"),
    ("/css/more.css", OLD, "text/css", ".lead{margin-left:33px;background:url('../img/red.png')}"),
    ("/img/red.png", OLD, "image/png", png(16, 8, (200, 0, 0))),
    ("/img/green.png", OLD, "image/png", png(17, 8, (0, 200, 0))),
    ("/img/blue.png", OLD, "image/png", png(18, 8, (0, 0, 200))),
    ("/img/box.png", OLD, "image/png", png(4, 4, (240, 200, 0))),
    ("/f.woff2", OLD, "font/woff2", b"wOF2 not a font"),
    ("/frame.html", OLD, "text/html", "<p id=framed>In a frame <a href=/about.html>About</a>"),
    ("/about.html?a=1&b=2", OLD, "text/html", "<title>About</title><h1 id=team>About us</h1>"),
    ("/script.js", OLD, "text/javascript", "alert(1)"),
    ("/page.svg", OLD, "image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"),
    ("/wrong.png", OLD, "text/html", "<script>alert(1)</script>"),
]  # fmt: skip


def write_warc(path: Path) -> None:
    """Write the site as a WARC file."""
    moved = b"HTTP/1.1 301 Moved\r\nLocation: /about.html?a=1&b=2\r\n\r\n"
    with path.open("wb") as out:
        for where, time, kind, body in PAGES:
            data = body.encode() if isinstance(body, str) else body
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode()
            out.write(_record(where, time, head + data))
        out.write(_record("/old", OLD, moved))
        for where, to in LOOPS.items():
            found = f"HTTP/1.1 302 Found\r\nLocation: {to}\r\n\r\n"
            out.write(_record(where, OLD, found.encode()))


def _record(where: str, time: str, block: bytes) -> bytes:
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{uuid4()}>\r\n"
        f"WARC-Date: {time}\r\nWARC-Target-URI: {SITE}{where}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + block + b"\r\n\r\n")


def pack(folder: Path) -> Path:
    """Pack the site into an archive, and return its path."""
    warc = folder / "paper.warc.gz"
    write_warc(warc)
    path = folder / "paper.quire"
    with Archive.create(path) as archive:
        ingest(archive, [str(warc)])
    return path
