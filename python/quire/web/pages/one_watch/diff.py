"""The differences between two versions of a watched page, and the frames that show them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from quire.digest.page import Digest
from quire.reports.changes.framed import FramedPage
from quire.reports.changes.framed import Shown as Drawn
from quire.reports.changes.marks import Quiet
from quire.sentinels.resources import StoredLooks
from quire.sentinels.service import StoredState
from quire.web.api.context import App, Client, State, Url, VersionNumber, WatchNumber, router
from quire.web.pages.diff.drawings import DRAWINGS, Pair, frame_answer
from quire.web.pages.diff.view import DiffView, ShownNoise, View, make_view
from quire.web.pages.one_watch.heading import (
    MOST_VERSIONS,
    Shown,
    Tab,
    find_shown,
    watch_page,
)
from quire.web.pages.resources import prepare

routes: APIRouter = router()

Change = Annotated[int, Query(ge=1, le=1_000_000)]


class FrameName(StrEnum):
    """A frame of a watched page."""

    both = "both"
    old = "old"
    new = "new"
    noise = "noise"


@routes.get("/watches/{watch}/diff", include_in_schema=False)
async def show_diff(
    *,
    app: App,
    client: Client,
    watch: WatchNumber,
    url: Url = None,
    old: VersionNumber = None,
    new: VersionNumber = None,
    view: View = View.redline,
    change: Change = 1,
    noise: ShownNoise = ShownNoise.show,
) -> Response:
    """Show the differences between two versions of a page; the last two by default."""

    def work() -> Response:
        shown = find_shown(app, watch, url)
        versions: list[StoredState] = []
        if shown.page is not None:
            versions = app.service.history(watch, shown.url, MOST_VERSIONS, read=False)
        numbers = [each.number for each in versions]
        diff: DiffView | None = None
        pair = _pair(numbers, old, new)
        if pair is not None:
            diff = _compare(app, shown, pair, view, change=change, noise=noise)
        return watch_page(
            app,
            client,
            shown,
            Tab.diff,
            versions=list(reversed(versions)),
            pair=pair,
            older=_step(numbers, pair, -1),
            newer=_step(numbers, pair, 1),
            diff=diff,
        )

    return await app.run_heavy(work)


@routes.get("/watches/{watch}/frame/{name}", include_in_schema=False)
async def show_frame(
    *,
    app: App,
    watch: WatchNumber,
    name: FrameName,
    url: Url = None,
    old: VersionNumber = None,
    new: VersionNumber = None,
    noise: ShownNoise = ShownNoise.show,
) -> Response:
    """Return a page of strangers with marks, for a frame."""
    if url is None:
        url = (await run_in_threadpool(find_shown, app, watch, None)).url
    base = url or ""
    if name is FrameName.noise:
        page, nodes = await app.run_heavy(app.service.noisy_page, watch, url)
        await prepare(app, page, base)

        def draw() -> FramedPage:
            words = {node: f"left out: {each.kind}" for node, each in nodes.items()}
            looks = StoredLooks([(page, base)], app.resources)
            return DRAWINGS.page(page, base, words, looks)

    else:
        before, after = await app.run_heavy(app.service.versions, watch, url, old, new)
        await prepare(app, after, base)  # first: the old version needs nearly the same
        await prepare(app, before, base)

        def draw() -> FramedPage:
            pair = _noted(app, watch, base, (before, after), noise)
            return DRAWINGS.changes(pair, Drawn(name.value))

    return frame_answer(await app.run_heavy(draw))


def _compare(
    app: State,
    shown: Shown,
    pair: tuple[int, int],
    view: View,
    *,
    change: int,
    noise: ShownNoise,
) -> DiffView:
    old, new = app.service.versions(shown.stored.id, shown.url, *pair)
    base = shown.url or ""
    compared = _noted(app, shown.stored.id, base, (old, new), noise)
    numbers: dict[str, object] = {"old": pair[0], "new": pair[1]}
    if noise is ShownNoise.hide:
        numbers["noise"] = noise.value

    def address(**values: object) -> str:
        return shown.at("diff", **{**numbers, "view": view.value, **values})

    def frame(what: Drawn) -> str:
        return shown.at(f"frame/{what.value}", **{**numbers, "url": shown.url})

    return make_view(compared, view=view, change=change, address=address, frame=frame)


def _noted(
    app: State, watch: int, url: str, pages: tuple[Digest, Digest], noise: ShownNoise
) -> Pair:
    """Return two versions of a page with the noise that is known of it."""
    old, new = pages
    found = app.service.quiet_nodes(watch, url, old, new)
    quiet = Quiet(
        found.old,
        found.new,
        found.old_moved,
        found.new_moved,
        found.old_tags,
        found.new_tags,
    )
    hides_noise = noise is ShownNoise.hide
    return Pair.of(app, old, new, old_url=url, new_url=url, quiet=quiet, hides_noise=hides_noise)


def _pair(numbers: list[int], old: int | None, new: int | None) -> tuple[int, int] | None:
    """Return the versions to compare; None if there is only one so far."""
    if new is None:
        new = numbers[-1] if numbers else None
    if old is None and new is not None:
        older = [each for each in numbers if each < new]
        old = older[-1] if older else None
    return None if old is None or new is None else (old, new)


def _step(numbers: list[int], pair: tuple[int, int] | None, step: int) -> tuple[int, int] | None:
    """Return the change between versions before or after a pair."""
    if pair is None:
        return None
    if step < 0:
        older = [each for each in numbers if each < pair[0]]
        return (older[-1], pair[0]) if older else None
    newer = [each for each in numbers if each > pair[1]]
    return (pair[1], newer[0]) if newer else None
