"""A web server on loopback with real pages, which can change and count requests.

Run by ``rivals``: ``python -m benchmarks.sentinels.rivals_server FOLDER``; prints its port.
``/mode?changed=10&nonce=1`` sets what is served from then on, ``/count`` returns the requests since
the last time.
"""

import asyncio
import json
import re
import sys
from itertools import count
from pathlib import Path

from aiohttp import web

PARAGRAPH = b"<p>A new paragraph of 2026 for everybody who watches this page.</p>"


def main(folder: Path) -> None:
    """Serve until killed."""
    bodies = [path.read_bytes() for path in sorted(folder.iterdir())]
    state = {"changed": 0, "nonce": 0}
    requests: list[str] = []
    nonces = count()

    async def page(request: web.Request) -> web.Response:
        number = int(request.match_info["number"])
        requests.append(request.path)
        body = bodies[number]
        if number < state["changed"]:
            body = edited(body)
        if state["nonce"]:
            noise = b"<script>n=%d</script><input type=hidden value=%d>" % ((next(nonces),) * 2)
            body = re.sub(rb"(<body[^>]*>)", lambda found: found[1] + noise, body, count=1)
        return web.Response(body=body, content_type="text/html", charset="utf-8")

    async def mode(request: web.Request) -> web.Response:
        state.update({name: int(value) for name, value in request.query.items()})
        return web.Response(text="ok")

    async def counted(_: web.Request) -> web.Response:
        found = {"requests": len(requests), "pages": len(set(requests))}
        requests.clear()
        return web.Response(text=json.dumps(found))

    async def serve() -> None:
        application = web.Application()
        application.router.add_get("/page/{number}", page)
        application.router.add_get("/mode", mode)
        application.router.add_get("/count", counted)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        print(runner.addresses[0][1], flush=True)
        await asyncio.Event().wait()

    asyncio.run(serve())


def edited(body: bytes) -> bytes:
    """A page with one more paragraph in its middle."""
    places = [found.start() for found in re.finditer(rb"<p[ >]", body)]
    middle = places[len(places) // 2]
    return body[:middle] + PARAGRAPH + body[middle:]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
