"""The picker: the page as it was fetched, in which people click the part that matters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

import numpy as np
from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from quire.digest.page import Digest
from quire.errors import NotStored, QuireError
from quire.sentinels.pages.state import PageFacts, page_state
from quire.sentinels.parts import Location, PageReader, Part
from quire.sentinels.picking import alike, crumbs, find_text
from quire.sentinels.service.drafting import Draft, page_of
from quire.viewing import Layout, lacks_styles
from quire.viewing.pointing import HERE, Paint, Pointing, pointing_page
from quire.web.answers import Problem
from quire.web.api.context import App, Client, State, router
from quire.web.pages.adding.choice import Choice, Chooser, Item, Mode
from quire.web.pages.adding.words import STATES
from quire.web.pages.forms import read_fields
from quire.web.pages.page import page
from quire.web.pages.resources import pointing_place, prepare

routes: APIRouter = router()

#: Nothing but images, styles and fonts from here. A click may lead the whole window to us.
FRAME_POLICY = (
    "default-src 'none'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    "font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "
    "sandbox allow-top-navigation-by-user-activation"
)
SHOWN_TEXT = 600
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ITEMS = 2000

Number = Annotated[int | None, Query(ge=0, le=2**31)]
Items = Annotated[str, Query(max_length=_ITEMS)]


def _choice(
    watch: Items = "", ignore: Items = "", mode: Items = "", at: Number = None, plain: Number = 0
) -> Choice:
    return Choice.read(watch, ignore, mode, at, plain or 0)


Chosen = Annotated[Choice, Depends(_choice)]


@dataclass(frozen=True, slots=True)
class Opened:
    """A draft that is looked at.

    Attributes:
        draft: the draft.
        page: its page.
        chooser: what a choice means on it.
    """

    draft: Draft
    page: Digest
    chooser: Chooser

    def part(self, choice: Choice) -> Part:
        """Return the chosen part, with its text."""
        return Part(Location(*self.places(choice)))

    def places(self, choice: Choice) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the selectors of what is watched and of what is ignored."""
        chooser = self.chooser
        return tuple(chooser.selectors(choice.watch)), tuple(chooser.selectors(choice.ignore))


def open_draft(app: State, client: Any, key: str) -> Opened:  # noqa: ANN401 - an identity
    """Return a draft of the person who asks.

    Raises:
        Problem: there is none.
    """
    try:
        draft = app.service.draft(key, client.account)
        digest = page_of(draft)
    except NotStored as error:
        raise Problem(404, str(error)) from None
    except QuireError as error:
        raise Problem(422, str(error)) from None
    return Opened(draft, digest, Chooser(digest, draft.selectors))


@routes.get("/watches/new/{draft}", include_in_schema=False)
async def show_picker(
    *,
    app: App,
    client: Client,
    draft: str,
    chosen: Chosen,
    click: Number = None,
    find: Annotated[str, Query(max_length=200)] = "",
    wrong: Annotated[str, Query(max_length=500)] = "",
) -> Response:
    """Show the page and the choice so far."""
    return await app.run_heavy(_picker, app, client, draft, chosen, click, find, wrong)


def _picker(  # noqa: PLR0917 - the parameters of the route
    app: State,
    client: Any,  # noqa: ANN401 - an identity
    draft: str,
    chosen: Choice,
    click: int | None,
    find: str,
    wrong: str,
) -> Response:
    opened = open_draft(app, client, draft)
    node = opened.chooser.element(click) if click is not None else None
    choice = chosen if node is None else chosen.clicked(node)
    facts = PageFacts.of(opened.page)
    state = page_state(opened.draft.status, facts, None)
    base = f"/watches/new/{quote(draft)}"
    return page(
        "adding/picker.html",
        person=client.name,
        here="Watches",
        base=base,
        draft=opened.draft,
        warning=STATES.get(state, "").format(status=opened.draft.status),
        is_html=opened.page.kind == "html",
        frame=f"{base}/frame?{choice.query()}#{HERE}",
        choice=choice,
        modes=_modes(base, choice),
        panel=_panel(opened, base, choice),
        find=find,
        hits=[
            {"text": each.text, "link": f"{base}?{choice.clicked(each.node).query()}"}
            for each in find_text(opened.page, find)
        ],
        other_layout=f"{base}?{_other_layout(choice).query()}",
        rules=f"{base}/rules?{choice.query()}",
        wrong=wrong,
    )


@routes.get("/watches/new/{draft}/frame", include_in_schema=False)
async def show_frame(app: App, client: Client, draft: str, chosen: Chosen) -> Response:
    """Show the page itself, for the frame of the picker."""
    opened = await app.run_heavy(open_draft, app, client, draft)
    await prepare(app, opened.page, opened.draft.final_url)
    return await app.run_heavy(_frame, app, opened, draft, chosen)


def _frame(app: State, opened: Opened, draft: str, chosen: Choice) -> Response:
    painted = {node: Paint.CHOSEN for item in chosen.watch for node in opened.chooser.nodes(item)}
    for item in chosen.ignore:
        painted |= dict.fromkeys(opened.chooser.nodes(item), Paint.IGNORED)
    before = f"/watches/new/{quote(draft)}/at?{chosen.query()}"
    separator = "" if before.endswith("?") else "&"
    here = None if chosen.at is None else opened.chooser.element(chosen.at)
    pointing = Pointing(lambda node: f"{before}{separator}click={node}", painted, here)
    return framed(app, opened.page, opened.draft.final_url, pointing, plain=chosen.plain)


@routes.get("/watches/new/{draft}/at", include_in_schema=False)
def back_to_picker(draft: str, chosen: Chosen, click: Number = None) -> Response:
    """Lead from a click in the frame back to the picker.

    The frame has no origin, so browsers send no cookie with its links. They do with a link of ours:
    this page is one, and follows itself.
    """
    if not _KEY.fullmatch(draft):
        raise Problem(404, "there is no such page")
    return page("adding/back.html", to=f"/watches/new/{draft}?{chosen.query(click=click)}")


@routes.post("/watches/new/{draft}/selector", include_in_schema=False)
async def add_selector(
    request: Request, app: App, client: Client, draft: str, chosen: Chosen
) -> Response:
    """Take a selector that someone wrote."""
    fields = await read_fields(request)
    base = f"/watches/new/{quote(draft)}"
    try:
        key, number = app.service.add_selector(
            draft, client.account, fields.get("selector").strip()
        )
    except NotStored as error:
        raise Problem(404, str(error)) from None
    except QuireError as error:
        return RedirectResponse(f"{base}?{chosen.query(wrong=str(error)[:300])}", 303)
    item = Item(number, is_written=True)
    base = f"/watches/new/{quote(key)}"
    return RedirectResponse(f"{base}?{chosen.with_current(item).query()}", 303)


def framed(
    app: State, digest: Digest, url: str, pointing: Pointing, *, plain: bool = False
) -> Response:
    """Return a stranger's page for one of our frames."""
    place = pointing_place(app.resources.placer())
    is_bare = plain or lacks_styles(digest, url=url, place=place)
    body = pointing_page(
        digest,
        pointing,
        url=url,
        place=place,
        layout=Layout.READING if is_bare else Layout.PAGE,
    )
    headers = {"Content-Security-Policy": FRAME_POLICY, "X-Frame-Options": "SAMEORIGIN"}
    return HTMLResponse(body, headers=headers)


def _other_layout(choice: Choice) -> Choice:
    return Choice(choice.watch, choice.ignore, choice.mode, choice.at, not choice.plain)


_MODES = {
    Mode.ONE: ("Watch this", "A click chooses the part to watch."),
    Mode.MORE: ("Watch several", "Each click adds a part, or takes it away again."),
    Mode.IGNORE: ("Ignore", "Each click ignores a part, or stops ignoring it."),
}


def _modes(base: str, choice: Choice) -> list[dict[str, Any]]:
    return [
        {
            "title": title,
            "help": words,
            "link": f"{base}?{Choice(choice.watch, choice.ignore, mode, None, choice.plain).query()}",
            "is_now": mode is choice.mode,
        }
        for mode, (title, words) in _MODES.items()
    ]


def _panel(opened: Opened, base: str, choice: Choice) -> dict[str, Any]:
    """Return what the panel shows about the choice."""
    chooser, item = opened.chooser, choice.current
    nodes = [] if item is None else chooser.nodes(item)
    node = nodes[0] if nodes else None
    trail = _trail(opened, base, choice, nodes) if item is not None else []
    found = alike(chooser.make, node) if item and node is not None and not item.is_alike else None
    reading = PageReader(opened.page).read(opened.part(choice))
    return {
        "item": item,
        "selector": None if item is None else chooser.selector(item),
        "count": len(nodes),
        "trail": trail,
        "alike": None
        if found is None or item is None or item.is_written
        else {
            "count": found.count,
            "link": f"{base}?{choice.with_current(Item(node or 0, is_alike=True)).query()}",
            "list": f"{base}?{choice.with_current(Item(found.node)).query()}",
        },
        "watched": [_line(opened, base, choice, each) for each in choice.watch],
        "ignored": [_line(opened, base, choice, each) for each in choice.ignore],
        "text": _short(reading.text),
        "found": reading.found,
    }


def _trail(opened: Opened, base: str, choice: Choice, nodes: list[int]) -> list[dict[str, Any]]:
    """Return the elements around the one that was clicked, each with a link that chooses it."""
    chooser = opened.chooser
    end = chooser.element(choice.at) if choice.at is not None else None
    start = end if end is not None else (nodes[0] if nodes else None)
    if start is None:
        return []
    return [
        {
            "label": each.label,
            "link": f"{base}?{_at(choice, start).with_current(Item(each.node)).query()}",
            "is_now": nodes == [each.node],
        }
        for each in crumbs(chooser.make, start)
    ]


def _at(choice: Choice, node: int) -> Choice:
    return Choice(choice.watch, choice.ignore, choice.mode, node, choice.plain)


def _line(opened: Opened, base: str, choice: Choice, item: Item) -> dict[str, Any]:
    nodes = opened.chooser.nodes(item)
    text = " ".join(opened.page.text(nodes[0]).split()) if nodes else ""
    return {
        "text": _short(text, 80),
        "selector": opened.chooser.selector(item),
        "count": len(nodes),
        "remove": f"{base}?{choice.without(item).query()}",
    }


def _short(text: str, most: int = SHOWN_TEXT) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def title_of(digest: Digest) -> str:
    """Return the title of a page, on one line."""
    found = digest.select("title") if digest.kind == "html" else np.empty(0)
    return " ".join(digest.text(int(found[0])).split()) if len(found) else ""
