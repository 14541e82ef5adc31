"""Chromium behind the gate: pages, steps, and pages that try to reach the inside with it."""

from __future__ import annotations

import asyncio
import base64
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.async_api import Page

from quire.errors import FetchCause, FetchFailed
from quire.sources.gate import Gate, Proxy, Request, Secret
from quire.sources.gate.browser import (
    Browser,
    Click,
    Open,
    Press,
    RenderLimits,
    Step,
    Type,
    Wait,
    chromium,
    process,
)
from tests.conftest import require
from tests.sources.gate import vectors
from tests.sources.gate.servers import PATIENT, Handler, Seen, answer, names, open_gate, serving
from tests.sources.gate.test_ssrf import canaries
from tests.sources.gate.test_tls import client_context, server_context

NAMES = {
    "site.example": ["127.0.0.1"],
    "other.example": ["127.0.0.1"],
    **vectors.HOSTILE_NAMES,
}
Work = Callable[[Browser, Seen], Awaitable[None]]


@pytest.fixture(autouse=True)
def _needs_chromium() -> None:
    require("chromium", "see that pages in a browser do not reach the inside")


def html(text: str) -> bytes:
    return answer(text.encode(), "200 OK", "Content-Type: text/html; charset=utf-8")


def pages(table: dict[str, str | bytes]) -> Handler:
    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        path = head.split(b" ", 2)[1].decode("latin-1").partition("?")[0]
        found = table.get(path, answer(b"", "404 Not Found"))
        writer.write(found if isinstance(found, bytes) else html(found))

    return handler


def with_browser(handler: Handler, work: Work, limits: RenderLimits | None = None) -> Seen:
    async def run() -> Seen:
        async with (
            serving(handler) as seen,
            open_gate(names(NAMES), limits=PATIENT) as gate,
            Browser(gate, limits=limits or RenderLimits(render_s=240, settle_s=5)) as browser,
        ):
            await work(browser, seen)
            return seen

    return asyncio.run(run())


def visit(seen: Seen, path: str = "/", **options: object) -> Request:
    options.setdefault("obey_robots", False)
    return Request(seen.url(path, "site.example"), **options)  # type: ignore[arg-type]


def test_a_page_is_read_after_its_scripts_ran() -> None:
    script = (
        "<!doctype html><p>static<script>document.querySelector('p').textContent='ran ö'</script>"
    )

    async def work(browser: Browser, seen: Seen) -> None:
        response = await browser.fetch(visit(seen))
        assert (
            "<p>ran ö<script>" in response.body.decode() or "<p>ran ö</p>" in response.body.decode()
        )
        assert response.body.startswith(b"<!DOCTYPE html><html>")
        assert (response.status, response.url) == (200, seen.url("/", "site.example"))
        assert response.content_type == "text/html; charset=utf-8"
        for path, body in (("/missing", b""), ("/gone", b"<p>gone")):
            missing = await browser.fetch(visit(seen, path))
            assert missing.status == 404
            assert body in missing.body

    policy = "Content-Security-Policy: default-src 'none'; sandbox"
    gone = answer(b"<p>gone", "404 Gone", "Content-Type: text/html", policy)
    with_browser(pages({"/": script, "/gone": gone}), work)


def test_steps_open_click_type_press_and_wait() -> None:
    table: dict[str, str | bytes] = {
        "/": "<button id=accept onclick=\"document.body.innerHTML='<a id=go href=/login>go</a>'\">ok</button>",
        "/login": (
            "<form action=/in><input name=user><input name=pass type=password>"
            "<input type=submit></form>"
        ),
        "/in": "<script>setTimeout(()=>{document.body.innerHTML='<h1>welcome</h1>'},200)</script>",
        "/last": "<p>the last page",
    }

    async def work(browser: Browser, seen: Seen) -> None:
        steps: list[Step] = [
            Click("#accept"), Click("#go"), Type("[name=user]", "me"),
            Type("[name=pass]", Secret("pass-1")), Press("Enter"), Wait("h1"), Wait(seconds=0.1),
        ]  # fmt: skip
        response = await browser.fetch(visit(seen), steps)
        assert b"welcome" in response.body
        assert "/in?user=me&pass=pass-1" in seen.paths()
        response = await browser.fetch(visit(seen), [Open(seen.url("/last", "other.example"))])
        assert b"the last page" in response.body
        assert response.url == seen.url("/last", "other.example")

    with_browser(pages(table), work)


def test_a_step_that_fails_is_named_and_does_not_show_its_secret() -> None:
    async def work(browser: Browser, seen: Seen) -> None:
        with pytest.raises(FetchFailed, match=r"step 2 \(type\) failed") as caught:
            await browser.fetch(visit(seen), [Click("p"), Type("#none", Secret("planted"))])
        assert caught.value.cause is FetchCause.BROWSER
        assert "planted" not in str(caught.value)

    limits = RenderLimits(render_s=240, step_s=1, settle_s=0.5)
    with_browser(pages({"/": "<p>x"}), work, limits)
    with pytest.raises(FetchFailed):
        Open("file:///etc/passwd")
    with pytest.raises(ValueError, match="expected 0 to 60"):
        Wait(seconds=1e9)


# Every way known to us in which a page makes a browser ask for something. U is the canary.
MECHANISMS = [
    "<img src=U>", "<img srcset='U 2x'>", "<picture><source srcset=U><img></picture>",
    "<script src=U></script>", "<script type=module src=U></script>",
    "<script type=module>import('U')</script>", "<link rel=stylesheet href=U>",
    "<link rel=icon href=U>", "<link rel=preload as=image href=U>", "<link rel=prefetch href=U>",
    "<link rel=preconnect href=U>", "<link rel=dns-prefetch href=U>", "<link rel=modulepreload href=U>",
    "<link rel=manifest href=U>", "<link rel=prerender href=U>",
    '<script type=speculationrules>{"prefetch":[{"source":"list","urls":["U"]}]}</script>',
    '<script type=speculationrules>{"prerender":[{"source":"list","urls":["U"]}]}</script>',
    "<iframe src=U></iframe>", "<iframe srcdoc='<img src=U>'></iframe>", "<object data=U></object>",
    "<embed src=U>", "<video src=U poster=U autoplay muted></video>", "<audio src=U autoplay></audio>",
    "<video><track default src=U></video>", "<body background=U>", "<input type=image src=U>",
    "<style>p{background:url(U)} @import 'U';</style><p>x",
    "<style>@font-face{font-family:f;src:url(U)} p{font-family:f}</style><p>x",
    "<style>p{cursor:url(U),auto;list-style:url(U);border-image:url(U) 1;mask:url(U)}</style><p>x",
    "<svg><image href=U /><use href='U#a'/></svg>", "<svg><script href=U></script></svg>",
    "<script>fetch('U',{mode:'no-cors'})</script>",
    "<script>x=new XMLHttpRequest;x.open('GET','U');x.send()</script>",
    "<script>navigator.sendBeacon('U','x')</script>", "<script>new EventSource('U')</script>",
    "<script>new WebSocket('U'.replace('http','ws'))</script>",
    "<script>new Worker('U')</script>",
    "<script>new Worker(URL.createObjectURL(new Blob([\"fetch('U',{mode:'no-cors'})\"])))</script>",
    "<script>new SharedWorker(URL.createObjectURL(new Blob([\"fetch('U')\"])))</script>",
    "<script>navigator.serviceWorker&&navigator.serviceWorker.register('U')</script>",
    "<script>window.open('U')</script>", "<a id=a href=U ping=U>x</a><script>a.click()</script>",
    "<form id=f action=U method=post target=x></form><script>f.submit()</script>",
    "<script>location='U'</script>", "<meta http-equiv=refresh content='0;url=U'>",
    "<base href=U><img src=x>", "<script>new Image().src='U'</script>",
    "<script>document.write('<img src=U>')</script>",
    "<script>fetch('/away?U',{mode:'no-cors'})</script>", "<img src='/away?U'>",
    "<script>new FontFace('f','url(U)').load()</script>",
    "<script>CSS.paintWorklet&&CSS.paintWorklet.addModule('U')</script>",
    "<script>new Audio('U').play().catch(()=>0)</script>",
    "<script>navigator.connection;fetch('U',{keepalive:true,mode:'no-cors'})</script>",
    "<script>try{new WebTransport('U'.replace('http:','https:'))}catch(e){}</script>",
    "<script>p=new RTCPeerConnection({iceServers:[{urls:'stun:H'}]});P</script>",
    "<script>p=new RTCPeerConnection({iceServers:[{urls:'turn:H?transport=tcp',L}]});P</script>",
    "<script>p=new RTCPeerConnection({iceServers:[{urls:'turn:H',L}]});P</script>",
]  # fmt: skip


async def redirecting(
    head: bytes, writer: asyncio.StreamWriter, page: Callable[[bytes], bytes]
) -> None:
    path = head.split(b" ", 2)[1]
    if path.startswith(b"/away?"):
        target = path.removeprefix(b"/away?").decode("latin-1")
        writer.write(answer(b"", "302 Found", f"Location: {target}"))
    else:
        writer.write(page(path))


def test_no_mechanism_of_a_page_reaches_a_canary() -> None:
    assert len(MECHANISMS) >= 40
    targets = ["127.0.0.2", "[::1]", "loop.example", "localhost", "[::ffff:127.0.0.3]"]

    async def run() -> tuple[int, list[int], list[bytes], set[str], int]:
        datagrams: list[bytes] = []
        async with canaries() as (port, hits):

            def page(path: bytes) -> bytes:
                if not path.startswith(b"/p"):
                    return answer(b"", "404 Not Found")
                number, _, host = path[2:].decode().partition("-")
                bytes_host = bytes.fromhex(host.partition("?")[0]).decode()
                url = f"http://{bytes_host}:{port}/hit"
                body = (
                    MECHANISMS[int(number)].replace("U", url).replace("H", f"{bytes_host}:{port}")
                )
                return html(f"<!doctype html><title>t</title>{body}")

            async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
                await redirecting(head, writer, page)

            class Listener(asyncio.DatagramProtocol):
                def datagram_received(self, data: bytes, addr: object) -> None:
                    del addr
                    datagrams.append(data)

            loop = asyncio.get_running_loop()
            transports = [
                (await loop.create_datagram_endpoint(Listener, (address, port)))[0]
                for address in ("127.0.0.2", "::1")
            ]
            refused: set[str] = set()
            read = 0
            limits = RenderLimits(render_s=120, settle_s=1, pages=2)
            async with (
                serving(handler) as seen,
                open_gate(names(NAMES), limits=PATIENT) as gate,
                Browser(gate, limits=limits) as browser,
            ):
                original = browser._proxy.close_visit

                def remember(visit: object) -> None:
                    refused.update(visit.failures)  # type: ignore[attr-defined]
                    original(visit)  # type: ignore[arg-type]

                browser._proxy.close_visit = remember  # type: ignore[method-assign]

                async def one(number: int) -> None:
                    nonlocal read
                    host = targets[number % len(targets)].encode().hex()
                    try:
                        await browser.fetch(visit(seen, f"/p{number}-{host}"))
                        read += 1
                    except FetchFailed:
                        pass  # a page that goes to the inside itself

                await asyncio.gather(*(one(number) for number in range(len(MECHANISMS))))
            for transport in transports:
                transport.close()
            return read, hits, datagrams, refused, len(MECHANISMS)

    read, hits, datagrams, refused, tried = asyncio.run(run())
    assert hits == []
    assert datagrams == []
    assert read >= tried - 6
    # The browser did ask: the gate refused.
    assert {"127.0.0.2", "::1", "loop.example", "localhost"} <= refused


@pytest.mark.parametrize(
    "target",
    ["file:///etc/passwd", "view-source:file:///etc/passwd", "chrome://version/", "about:blank",
     "data:text/html,planted", "javascript:document.write('planted')"],
)  # fmt: skip
def test_local_and_internal_pages_are_not_read(target: str) -> None:
    table: dict[str, str | bytes] = {
        "/frame": f'<p>page<iframe src="{target}"></iframe>',
        "/go": f'<p>page<script>location="{target}"</script>',
        "/away": answer(b"", "302 Found", f"Location: {target}"),
    }

    async def work(browser: Browser, seen: Seen) -> None:
        for path in table:
            try:
                body = (await browser.fetch(visit(seen, path))).body
            except FetchFailed:
                continue
            assert b"root:" not in body
            assert b"Chromium" not in body

    # A document that a script writes and does not end is never done.
    with_browser(pages(table), work, RenderLimits(render_s=8, settle_s=0.5))


def test_refused_pages_have_the_cause_of_the_gate() -> None:
    async def work(browser: Browser, seen: Seen) -> None:
        for host, cause in (
            ("127.0.0.2", FetchCause.REFUSED_ADDRESS),
            ("loop.example", FetchCause.REFUSED_ADDRESS),
            ("unknown.example", FetchCause.DNS),
        ):
            for scheme in ("http", "https"):
                with pytest.raises(FetchFailed) as caught:
                    await browser.fetch(Request(seen.url("/", host, scheme), obey_robots=False))
                assert caught.value.cause is cause
        with pytest.raises(FetchFailed) as caught:
            await browser.fetch(visit(seen, "/away"))
        assert caught.value.cause is FetchCause.REFUSED_ADDRESS

    away = answer(b"", "302 Found", "Location: http://loop.example:8009/")
    with_browser(pages({"/away": away}), work)


def test_certificates_are_verified_unless_the_request_says_otherwise() -> None:
    async def run() -> None:
        async with (
            serving(pages({"/": "<p>x"}), tls=server_context(host="site.example")) as seen,
            Gate(
                allow_networks=open_gate().resolver.policy.allowed,
                lookup=names(NAMES),
                trust=client_context(),
            ) as gate,
            Browser(gate, limits=RenderLimits(settle_s=0.2)) as browser,
        ):
            url = seen.url("/", "site.example", "https")
            with pytest.raises(FetchFailed) as caught:
                await browser.fetch(Request(url, obey_robots=False))
            assert caught.value.cause is FetchCause.TLS
            response = await browser.fetch(Request(url, obey_robots=False, verify_tls=False))
            assert b"<p>x" in response.body

    asyncio.run(run())


def test_credentials_only_go_to_their_origin() -> None:
    table: dict[str, str | bytes] = {}

    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        if b"Host: site" in head and b" / " in head and b"Authorization" not in head:
            writer.write(answer(b"", "401 No", 'WWW-Authenticate: Basic realm="a"'))
        else:
            await pages(table)(head, writer)

    async def work(browser: Browser, seen: Seen) -> None:
        table["/"] = f"<p>in<img src='{seen.url('/pixel', 'other.example')}'>"
        request = visit(
            seen, user="me", password=Secret("pass-1"), cookies={"session": Secret("cookie-2")},
            headers={"Accept-Language": "fi", "User-Agent": "tester"},
        )  # fmt: skip
        assert b"<p>in" in (await browser.fetch(request)).body
        own = [head for head in seen.heads if b"Host: site" in head]
        other = [head for head in seen.heads if b"Host: other" in head]
        code = base64.b64encode(b"me:pass-1")
        assert any(code in head and b"session=cookie-2" in head for head in own)
        assert other
        for head in other:
            assert code not in head
            assert b"cookie-2" not in head
        for head in seen.heads:
            assert b"Proxy-" not in head
            assert b"User-Agent: tester" in head

    with_browser(handler, work)


def test_requests_that_a_browser_would_leak_are_refused() -> None:
    async def work(browser: Browser, seen: Seen) -> None:
        for request in (
            visit(seen, headers={"X-Api-Key": "k"}),
            visit(seen, method="POST"),
            visit(seen, proxy=Proxy("http://127.0.0.1:3128")),
        ):
            with pytest.raises(FetchFailed) as caught:
                await browser.fetch(request)
            assert caught.value.cause is FetchCause.BROWSER
        assert seen.heads == []

    with_browser(pages({}), work)


HANGING = {
    "loop": "<script>while(1){}</script>",
    "late loop": "<script>onload=()=>setTimeout(()=>{while(1){}},50)</script>",
    "alerts": "<script>while(1)alert(1)</script>",
    "reload": "<script>location.reload()</script>",
}


@pytest.mark.parametrize("name", HANGING)
def test_a_page_that_hangs_ends_by_its_deadline_and_others_are_unharmed(name: str) -> None:
    async def work(browser: Browser, seen: Seen) -> None:
        with pytest.raises(FetchFailed) as caught:
            await browser.fetch(visit(seen))
        assert caught.value.cause in {FetchCause.TIMEOUT, FetchCause.BROWSER}
        browser._limits = RenderLimits(render_s=240, settle_s=0.2)
        assert b"<p>good" in (await browser.fetch(visit(seen, "/good"))).body

    table: dict[str, str | bytes] = {"/": HANGING[name], "/good": "<p>good"}
    with_browser(pages(table), work, RenderLimits(render_s=4, settle_s=3.9))


def test_a_page_with_a_part_that_never_comes_is_read_without_it() -> None:
    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        if b" /endless " in head:
            await asyncio.Event().wait()
        await pages({"/": "<p>page<img src=/endless>"})(head, writer)

    async def work(browser: Browser, seen: Seen) -> None:
        assert b"<p>page" in (await browser.fetch(visit(seen))).body

    with_browser(handler, work, RenderLimits(render_s=240, settle_s=1))


def test_a_storm_of_windows_and_downloads_is_harmless() -> None:
    table: dict[str, str | bytes] = {
        "/": "<p>page<script>for(i=0;i<50;i++)window.open('/w'+i);location='/file'</script>",
        "/file": answer(b"data", "200 OK", "Content-Disposition: attachment; filename=x"),
    }

    async def work(browser: Browser, seen: Seen) -> None:
        response = await browser.fetch(visit(seen))
        assert b"<p>page" in response.body

    with_browser(pages(table), work)


def test_traffic_and_length_are_limited() -> None:
    table: dict[str, str | bytes] = {
        "/big": html("x" * 3_000_000),
        "/grow": "<body><script>document.body.innerHTML='x'.repeat(2e5)</script>",
    }

    async def work(browser: Browser, seen: Seen) -> None:
        with pytest.raises(FetchFailed) as caught:
            await browser.fetch(visit(seen, "/big"))
        assert (caught.value.cause, caught.value.limit) == (FetchCause.TOO_LARGE, "traffic_bytes")
        with pytest.raises(FetchFailed) as caught:
            await browser.fetch(
                visit(seen, "/grow", limits=replace(PATIENT, decoded_bytes=100_000))
            )
        assert (caught.value.cause, caught.value.limit) == (FetchCause.TOO_LARGE, "decoded_bytes")

    with_browser(pages(table), work, RenderLimits(traffic_bytes=2_000_000, settle_s=0.2))


def test_chromium_is_replaced_after_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(browser: Browser, seen: Seen) -> None:
        assert b"<p>x" in (await browser.fetch(visit(seen))).body
        first = browser._process
        assert first is not None
        assert first.pid is not None
        os.kill(first.pid, 9)
        while first.chromium.is_connected():  # noqa: ASYNC110 - playwright has no event for it
            await asyncio.sleep(0.05)
        assert b"<p>x" in (await browser.fetch(visit(seen))).body
        assert browser._process is not first

        original = chromium._read

        async def crash(page: Page, *_: object) -> bytes:
            session = await page.context.new_cdp_session(page)
            await session.send("Page.crash")
            await asyncio.Event().wait()
            return b""

        monkeypatch.setattr(chromium, "_read", crash)
        with pytest.raises(FetchFailed, match="crashed") as caught:
            await browser.fetch(visit(seen))
        assert caught.value.cause is FetchCause.BROWSER
        monkeypatch.setattr(chromium, "_read", original)
        assert b"<p>x" in (await browser.fetch(visit(seen))).body

    with_browser(pages({"/": "<p>x"}), work)


def test_an_old_chromium_is_replaced_without_harm_to_open_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process, "MOST_PAGES", 2)

    asked, go_on = asyncio.Event(), asyncio.Event()

    async def handler(head: bytes, writer: asyncio.StreamWriter) -> None:
        if b" /slow " in head:
            asked.set()
            await go_on.wait()
        await pages({"/": "<p>x", "/slow": "<p>slow"})(head, writer)

    async def work(browser: Browser, seen: Seen) -> None:
        used: set[int | None] = set()
        slow = asyncio.create_task(browser.fetch(visit(seen, "/slow")))
        await asked.wait()
        for _ in range(4):
            assert b"<p>x" in (await browser.fetch(visit(seen))).body
            assert browser._process is not None
            used.add(browser._process.pid)
        go_on.set()
        assert b"<p>slow" in (await slow).body
        assert len(used) >= 2

    with_browser(handler, work, RenderLimits(render_s=240, settle_s=0.2))


def test_no_process_is_left_behind() -> None:
    pids: list[int] = []

    async def work(browser: Browser, seen: Seen) -> None:
        await browser.fetch(visit(seen))
        assert browser._process is not None
        assert browser._process.pid is not None
        pids.append(browser._process.pid)

    with_browser(pages({"/": "<p>x"}), work)
    end = time.monotonic() + 240
    while Path(f"/proc/{pids[0]}/exe").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path(f"/proc/{pids[0]}/exe").exists()


def test_robots_and_turns_hold_for_the_browser_too() -> None:
    async def work(browser: Browser, seen: Seen) -> None:
        with pytest.raises(FetchFailed) as caught:
            await browser.fetch(visit(seen, "/no", obey_robots=True))
        assert caught.value.cause is FetchCause.ROBOTS
        assert seen.paths() == ["/robots.txt"]

    rules = answer(b"User-agent: *\nDisallow: /no")
    with_browser(pages({"/robots.txt": rules, "/no": "<p>x"}), work)


def test_a_browser_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("QUIRE_CHROMIUM", raising=False)
    with pytest.raises(FetchFailed, match="Chromium is not installed"):
        process.find_chromium()
    monkeypatch.setenv("QUIRE_CHROMIUM", "/opt/chromium")
    assert process.find_chromium() == "/opt/chromium"

    async def run() -> None:
        async with open_gate() as gate, Browser(gate, executable="/nowhere/chromium") as browser:
            with pytest.raises(FetchFailed, match="does not start"):
                await browser.fetch(Request("http://127.0.0.1:8009/", obey_robots=False))

    asyncio.run(run())
