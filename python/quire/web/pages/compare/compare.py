"""The pages that compare: what to compare, and the result, which is held for an hour."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from fastapi import Path as PathPart
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from quire.captures.compare import ComparedPage
from quire.display import format_bytes, format_count
from quire.reports.changes.framed import Shown
from quire.sentinels.accounts import Identity
from quire.web.answers import Problem
from quire.web.api.context import App, Client, State, router
from quire.web.pages.compare.crawls import ComparedCrawls, Kind, compare_crawls, kind_of
from quire.web.pages.compare.folder_files import address_in_folder
from quire.web.pages.compare.given import (
    MOST_PAGE,
    GivenError,
    GivenPage,
    fetch_given,
    read_given,
    read_page,
)
from quire.web.pages.diff.drawings import DRAWINGS, Pair, frame_answer
from quire.web.pages.diff.view import View, make_view
from quire.web.pages.forms import Fields, read_fields
from quire.web.pages.page import page
from quire.web.pages.resources import prepare

routes: APIRouter = router()

#: Pages of two crawls that are listed, and characters that are typed into a form again.
MOST_LISTED = 2_000
MOST_AGAIN = 200_000

Key = Annotated[str, PathPart(min_length=32, max_length=32, pattern="^[A-Za-z0-9_-]+$")]
PageNumber = Annotated[int | None, Query(alias="page", ge=0, le=1_000_000)]
Change = Annotated[int, Query(ge=1, le=1_000_000)]

STATUSES = {"changed": "warn", "new": "good", "gone": "bad", "unreadable": "", "same": ""}


@dataclass(frozen=True, slots=True)
class ComparedPages:
    """Two pages that were given."""

    old: GivenPage
    new: GivenPage


@routes.get("/compare", include_in_schema=False)
async def show_form(client: Client) -> Response:
    """Show the page on which people give two pages to compare."""
    return _form(client)


@routes.post("/compare", include_in_schema=False)
async def compare(app: App, client: Client, request: Request) -> Response:
    """Compare two pages or two crawls, and lead to the result."""
    posted = await read_fields(request)
    try:
        key = await _compared(app, posted)
    except GivenError as error:
        return _form(client, posted, error)
    return RedirectResponse(f"/compare/{key}", 303)


@routes.get("/compare/{key}", include_in_schema=False)
async def show_result(
    *,
    app: App,
    client: Client,
    key: Key,
    number: PageNumber = None,
    view: View = View.redline,
    change: Change = 1,
) -> Response:
    """Show the differences between two pages, or which pages of two crawls differ."""
    held = _held(app, key)
    if isinstance(held, ComparedCrawls) and number is None:
        return _crawls(client, key, held)

    def work() -> Response:
        names, title, pair = _pair(app, held, number)

        def address(**values: object) -> str:
            return _address(f"/compare/{key}", {"page": number, "view": view.value, **values})

        def frame(what: Shown) -> str:
            return _address(f"/compare/{key}/frame/{what.value}", {"page": number})

        diff = make_view(pair, view=view, change=change, address=address, frame=frame)
        back = f"/compare/{key}" if number is not None else ""
        return page(
            "compare/result.html",
            diff=diff,
            names=names,
            title=title if back else "",
            back=back,
            **_who(client),
        )

    return await app.run_heavy(work)


@routes.get("/compare/{key}/frame/{name}", include_in_schema=False)
async def show_frame(app: App, key: Key, name: Shown, number: PageNumber = None) -> Response:
    """Return a page of strangers with marks, for a frame."""
    held = _held(app, key)
    if isinstance(held, ComparedPages):
        for each in (held.new, held.old):
            if each.url:  # pasted texts and files cannot make the service fetch anything
                await prepare(app, each.digest, each.url)

    def draw() -> Response:
        return frame_answer(DRAWINGS.changes(_pair(app, held, number)[2], name))

    return await app.run_heavy(draw)


async def _compared(app: State, posted: Fields) -> str:
    """Compare two pages or crawls, and return the key of the result."""
    sides = [read_given(posted, side) for side in ("old", "new")]
    kinds = [kind_of(each.file) for each in sides]
    crawls = [kind is not Kind.PAGE for kind in kinds]
    if any(crawls):
        if not all(crawls):
            wrong = sides[crawls.index(False)].side
            raise GivenError("expected a crawl here too: a WARC, WACZ or zip file", wrong)
        files = [each.file for each in sides if each.file is not None]
        found = await app.run_heavy(compare_crawls, files[0], files[1])
        return app.held.put(found, found.folder.size(), found.folder.delete)
    fetched = await asyncio.gather(*(fetch_given(each, app.fetch_page) for each in sides))

    def read() -> ComparedPages:
        pages = [read_page(side, *got) for side, got in zip(sides, fetched, strict=True)]
        return ComparedPages(pages[0], pages[1])

    both = await app.run_heavy(read)
    # A digest takes a few times the bytes of its page.
    return app.held.put(both, 4 * (both.old.size + both.new.size))


def _held(app: State, key: str) -> ComparedPages | ComparedCrawls:
    found: ComparedPages | ComparedCrawls | None = app.held.get(key)
    if found is None:
        raise Problem(404, "this comparison is gone; comparisons are kept for an hour")
    return found


def _pair(
    app: State, held: ComparedPages | ComparedCrawls, number: int | None
) -> tuple[tuple[str, str], str, Pair]:
    """Return the names of both sides, the address of the page, and both pages."""
    if isinstance(held, ComparedPages):
        old, new = held.old, held.new
        pair = Pair.of(app, old.digest, new.digest, old_url=old.url, new_url=new.url)
        return (old.name, new.name), new.url, pair
    found = held.pages(-1 if number is None else number)
    if found is None:
        raise Problem(404, "this page is not in both crawls")
    address = found[0].address
    looks, old_looks = held.looks(is_old=False), held.looks(is_old=True)
    base = address_in_folder(address)
    pair = Pair(found[1], found[2], base, base, looks, old_looks)
    return held.names, address, pair


def _crawls(client: Identity | None, key: str, held: ComparedCrawls) -> Response:
    order = list(STATUSES)
    listed = sorted(
        ((number, each) for number, each in enumerate(held.comparison.pages)),
        key=lambda pair: order.index(pair[1].status),
    )
    shown = [(number, each) for number, each in listed if each.status != "same"]
    counts = held.comparison.counts()
    return page(
        "compare/crawls.html",
        names=held.names,
        counts=[(status, counts[status]) for status in STATUSES if status in counts],
        rows=[_row(key, number, each) for number, each in shown[:MOST_LISTED]],
        left_out=max(0, len(shown) - MOST_LISTED),
        troubles=len(held.comparison.troubles),
        **_who(client),
    )


def _row(key: str, number: int, compared: ComparedPage) -> dict[str, Any]:
    summary = compared.summary
    parts = []
    if summary is not None:
        parts = [
            f"{format_count(count, word)} {said}"
            for count, word, said in (
                (summary.content, "text", "edited"),
                (summary.insertions, "part", "inserted"),
                (summary.deletions, "part", "deleted"),
                (summary.moved, "node", "moved"),
                (summary.attributes, "node", "with changed attributes"),
            )
            if count
        ]
    is_shown = compared.status == "changed"
    return {
        "status": compared.status,
        "mood": STATUSES[compared.status],
        "address": compared.address[:1000],
        "href": _address(f"/compare/{key}", {"page": number}) if is_shown else "",
        "said": ", ".join(parts) or ", ".join(compared.unseen) or compared.reason[:500],
    }


def _form(
    client: Identity | None, posted: Fields | None = None, wrong: GivenError | None = None
) -> Response:
    fields = posted if posted is not None else Fields([])
    return page(
        "compare/form.html",
        422 if wrong is not None else 200,
        sides=[
            {
                "side": side,
                "title": title,
                "address": fields.get(f"{side}-address", "")[:MOST_AGAIN],
                "text": fields.get(f"{side}-text", "")[:MOST_AGAIN],
                "wrong": str(wrong) if wrong is not None and wrong.side == side else "",
            }
            for side, title in (("old", "Old"), ("new", "New"))
        ],
        most=format_bytes(MOST_PAGE),
        **_who(client),
    )


def _who(client: Identity | None) -> dict[str, str]:
    """Return the values of the menu; people without an account get none."""
    return {} if client is None else {"person": client.name, "here": "Compare"}


def _address(path: str, values: dict[str, object]) -> str:
    query = urlencode({name: value for name, value in values.items() if value is not None})
    return f"{path}?{query}" if query else path
