"""The pages of the archive browser."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any
from urllib.parse import unquote, urlencode

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from quire.archive.browsing import Capture, parse_timestamp
from quire.archive.browsing.cdx import MOST_LINES, Match, answer
from quire.archive.browsing.cdx import Query as CdxQuery
from quire.display import escape, format_bytes, format_count
from quire.errors import ArchiveError, PageNotFound, QuireError, SourceUnreadable
from quire.reports.changes.framed import Shown
from quire.web.answers import Problem
from quire.web.api.context import router
from quire.web.archives.addresses import LONGEST, Mark, asked, in_path, in_query
from quire.web.archives.calendar import months, years
from quire.web.archives.comparing import pair_of
from quire.web.archives.context import Browsing, InUse, InUseIfAny, Person
from quire.web.archives.replay import Replay, missing
from quire.web.pages.diff.drawings import DRAWINGS, frame_answer
from quire.web.pages.diff.view import View, make_view
from quire.web.pages.page import page

routes: APIRouter = router()

#: Addresses and captures on one page.
MOST_ADDRESSES = 50
MOST_CAPTURES = 100
MOST_HOSTS = 12
_HERE = "Archives"

Text = Annotated[str, Query(max_length=LONGEST)]
Number = Annotated[int, Query(ge=0, le=10**9)]


@routes.get("/archives", include_in_schema=False)
def start(browsing: InUseIfAny, person: Person, q: Text = "", skip: Number = 0) -> Response:
    """Show the archives in figures, and search their addresses."""
    if browsing is None:
        return page("archives/none.html", **person, here=_HERE)
    found = browsing.library.search(q, skip=skip, most=MOST_ADDRESSES + 1)
    summary = browsing.library.summary()
    return page(
        "archives/start.html",
        **person,
        here=_HERE,
        names=browsing.library.names,
        summary=summary,
        bodies=format_bytes(summary.body_bytes),
        stored=format_bytes(summary.stored_bytes),
        q=q,
        hosts=[
            {"name": name, "count": f"{count:,}", "query": in_query(name)}
            for name, count in browsing.library.hosts(MOST_HOSTS)
        ],
        rows=[
            {"url": url, "count": f"{count:,}", "query": in_query(url)}
            for url, count in found[:MOST_ADDRESSES]
        ],
        before=_list_address(q, max(0, skip - MOST_ADDRESSES)) if skip else "",
        after=_list_address(q, skip + MOST_ADDRESSES) if len(found) > MOST_ADDRESSES else "",
    )


@routes.get("/archives/address", include_in_schema=False)
def address(
    browsing: InUse, person: Person, url: Text, year: Number = 0, skip: Number = 0
) -> Response:
    """Show the captures of an address: a calendar and a list."""
    found = browsing.library.captures(url)
    if not found:
        return _not_found(browsing, person, url)
    counts = years(found)
    chosen = year if year in dict(counts) else counts[-1][0]
    newest_first = found[::-1]
    shown = newest_first[skip : skip + MOST_CAPTURES]
    older = _change_since(found)
    there = f"/archives/address?url={in_query(url)}&year={chosen}"
    return page(
        "archives/address.html",
        **person,
        here=_HERE,
        url=found[-1].url,
        newest=found[-1].timestamp,
        path=in_path(found[-1].url),
        query=in_query(found[-1].url),
        years=[{"number": number, "count": count} for number, count in counts],
        chosen=chosen,
        months=months(found, chosen),
        total=format_count(len(found), "capture"),
        rows=[_row(each, older.get(id(each), ("first", ""))) for each in shown],
        before=f"{there}&skip={max(0, skip - MOST_CAPTURES)}" if skip else "",
        after=f"{there}&skip={skip + MOST_CAPTURES}" if len(found) > skip + MOST_CAPTURES else "",
    )


@routes.get("/archives/compare", include_in_schema=False)
def compare(
    *,
    browsing: InUse,
    person: Person,
    url: Text,
    old: Text = "",
    new: Text = "",
    view: View = View.redline,
    change: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> Response:
    """Show the changes between two captures of an address."""
    found = browsing.library.captures(url)
    if not found:
        return _not_found(browsing, person, url)
    after = _chosen(found, new, found[-1])
    earlier = [each for each in found if each.time < after.time]
    before = _chosen(found, old, earlier[-1] if earlier else found[0])
    query = f"url={in_query(after.url)}&old={before.timestamp}&new={after.timestamp}"

    def address(**values: object) -> str:
        return f"/archives/compare?{query}&{urlencode({'view': view.value, **values})}"

    try:
        pair = pair_of(browsing.library, after.url, before.time, after.time)
    except (ArchiveError, SourceUnreadable):
        return _unreadable(person, after.url, 422)
    return page(
        "archives/compare.html",
        **person,
        here=_HERE,
        url=after.url,
        path=in_path(after.url),
        query=in_query(after.url),
        old=before,
        new=after,
        captures=found[-MOST_CAPTURES:][::-1],
        diff=make_view(
            pair,
            view=view,
            change=change,
            address=address,
            frame=lambda shown: f"/archives/frame/{shown.value}?{query}",
        ),
    )


@routes.get("/archives/frame/{shown}", include_in_schema=False)
def framed(browsing: InUse, shown: Shown, url: Text, old: Text, new: Text) -> Response:
    """Return captures with the changes marked, for a frame."""
    first, last = parse_timestamp(old), parse_timestamp(new)
    if first is None or last is None:
        raise Problem(422, "old and new: expected up to 14 digits")
    try:
        pair = pair_of(browsing.library, url, first, last)
    except PageNotFound as error:
        raise Problem(404, f"{error.url}: not in this archive") from None
    except (ArchiveError, SourceUnreadable):
        raise Problem(422, "one of the captures cannot be read") from None
    return frame_answer(DRAWINGS.changes(pair, shown))


@routes.get("/web/{rest:path}", include_in_schema=False)
def web(request: Request, browsing: InUse, person: Person, rest: str) -> Response:
    """Replay the capture nearest to a time: ``/web/20260517110233/https://example.org/``."""
    del rest  # the path as it was sent tells `%2F` from `/`
    wanted = asked(request, "/web")
    if wanted is None:
        return RedirectResponse("/archives", 303)
    replay = Replay(browsing.library, browsing.passes.new(), has_detour=browsing.has_accounts)
    try:
        made = replay.answer(wanted)
    except PageNotFound as error:
        return _not_found(browsing, person, error.url)
    except (ArchiveError, SourceUnreadable):
        return _unreadable(person, wanted.url, 500)
    # Others must not hold this page in a frame, or load it as an image.
    del made.headers["Access-Control-Allow-Origin"]
    made.headers["X-Frame-Options"] = "DENY"
    made.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    made.headers["Cache-Control"] = "no-store"
    return made


@routes.get("/replay/{key}/{rest:path}", include_in_schema=False)
def replayed(request: Request, browsing: InUse, key: str, rest: str) -> Response:
    """Return something that a replayed page loads; the key stands for the log-in."""
    del rest
    if not browsing.passes.is_valid(key):
        raise Problem(403, "this address has ended; open the page again")
    wanted = asked(request, f"/replay/{key}")
    if wanted is None:
        return missing()
    try:
        is_frame = wanted.mark is Mark.FRAME
        replay = Replay(browsing.library, key, has_detour=browsing.has_accounts, is_inside=is_frame)
        return replay.answer(wanted)
    except QuireError:
        return missing()


@routes.get("/go/{rest:path}", include_in_schema=False)
async def go(request: Request, rest: str) -> Response:
    """Lead from a page in a sandbox to one of ours.

    A browser sends no cookies with a link in a sandbox. It does with the reload of this page. A
    fragment of the link is in the path: ``/go/at/FRAGMENT/web/…``.
    """
    raw = (request.scope.get("raw_path") or b"").partition(b"?")[0].decode("latin-1")
    query = request.scope.get("query_string", b"").decode("latin-1")
    path, fragment = raw.removeprefix("/go"), ""
    if path.startswith("/at/"):
        quoted, slash, path = path.removeprefix("/at/").partition("/")
        path, fragment = slash + path, f"#{unquote(quoted)}"
    if not path.startswith(("/web/", "/archives")):
        raise Problem(404, "only pages of the archive browser are here")
    del rest
    to = escape(path + (f"?{query}" if query else "") + fragment)
    return HTMLResponse(
        '<!doctype html><meta charset="utf-8"><title>Archive</title>'
        f'<meta http-equiv="refresh" content="0;url={to}"><p><a href="{to}">Go on</a>'
    )


@routes.get("/cdx", include_in_schema=False)
@routes.get("/cdx/search/cdx", include_in_schema=False)
def cdx(request: Request, browsing: InUse) -> Response:
    """Answer the queries of Wayback clients."""
    given = request.query_params
    output = given.get("output", "")
    if not given.get("url"):
        raise Problem(400, "url: expected an address")
    try:
        query = CdxQuery(
            url=given["url"][:LONGEST],
            match=Match(given.get("matchType", "exact")),
            since=given.get("from", ""),
            until=given.get("to", ""),
            limit=int(given.get("limit", "") or MOST_LINES),
            filters=tuple(given.getlist("filter")),
            collapse=given.get("collapse", ""),
            closest=given.get("closest", "") if given.get("sort", "closest") == "closest" else "",
            newest_first=given.get("sort", "") == "reverse",
            resume_key=given.get("resumeKey", ""),
            shows_resume_key=given.get("showResumeKey", "") == "true",
            is_json=output == "json",
            **({"fields": tuple(given["fl"].split(","))} if given.get("fl") else {}),
        )
        text = answer(browsing.library, query)
    except ValueError as error:
        raise Problem(400, str(error)) from None
    kind = "application/json" if output == "json" else "text/plain; charset=utf-8"
    return PlainTextResponse(text.encode("utf-8", "replace"), media_type=kind)


# ---------------------------------------------------------------- values for templates


def _not_found(browsing: Browsing, person: dict[str, str], url: str) -> Response:
    host = url.partition("://")[2].partition("/")[0] or url
    near = browsing.library.search(host, most=10)
    return page(
        "archives/missing.html",
        404,
        **person,
        here=_HERE,
        url=url,
        near=[{"url": each, "query": in_query(each)} for each, _ in near],
    )


def _unreadable(person: dict[str, str], url: str, status: int) -> Response:
    return page("archives/unreadable.html", status, **person, here=_HERE, query=in_query(url))


def _list_address(q: str, skip: int) -> str:
    return f"/archives?q={in_query(q)}&skip={skip}"


def _chosen(captures: list[Capture], stamp: str, otherwise: Capture) -> Capture:
    time = parse_timestamp(stamp) if stamp else None
    if time is None:
        return otherwise
    return min(captures, key=lambda each: abs(each.time - time))


def _change_since(captures: list[Capture]) -> dict[int, tuple[str, str]]:
    """Return for each capture whether its bytes are those of the one before, and its time."""
    found = {}
    for before, after in pairwise(captures):
        word = "same" if before.hash == after.hash else "changed"
        found[id(after)] = word, before.timestamp
    return found


def _row(capture: Capture, change: tuple[str, str]) -> dict[str, Any]:
    word, before = change
    return {
        "time": capture.time.strftime("%Y-%m-%d %H:%M:%S"),
        "timestamp": capture.timestamp,
        "path": in_path(capture.url),
        "query": in_query(capture.url),
        "status": "" if capture.status is None else capture.status,
        "type": capture.type,
        "size": format_bytes(capture.length),
        "change": word,
        "before": before,
    }
