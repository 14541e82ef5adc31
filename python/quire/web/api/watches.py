"""Watches: list, add, show, edit, pause, remove and run them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from quire.errors import WatchError
from quire.sentinels.form import keep_secrets, watch_to_dict
from quire.sentinels.store.plain import instant
from quire.sentinels.store.watches import StoredWatch
from quire.web.answers import Answer
from quire.web.api.context import (
    LARGEST,
    PREFIX,
    PROBLEMS,
    App,
    Client,
    Most,
    PlainText,
    WatchNumber,
    router,
)
from quire.web.api.models import Form, PageShown, PauseGiven, WatchesShown, WatchShown

routes: APIRouter = router()


@routes.get(f"{PREFIX}/watches", response_model=WatchesShown, responses=PROBLEMS)
def list_watches(
    app: App,
    after: Annotated[int, Query(ge=0, le=LARGEST, description="Only watches after this one.")] = 0,
    most: Most = 100,
    text: PlainText = "",
    tag: PlainText = "",
) -> Response:
    """List watches, a page at a time; `text` is a part of the name."""
    found = app.service.watches(after=after, most=most, text=text, tag=tag)
    following = found[-1].id if len(found) == most else None
    return Answer({"watches": [shown(each) for each in found], "next": following})


@routes.post(f"{PREFIX}/watches", status_code=201, response_model=WatchShown, responses=PROBLEMS)
def add_watch(app: App, client: Client, form: Form) -> Response:
    """Add a watch. Its pages are checked at once."""
    added = app.service.add(form, client.account)
    return Answer(shown(added), 201, {"Location": f"{PREFIX}/watches/{added.id}"})


@routes.get(f"{PREFIX}/watches/{{watch}}", response_model=WatchShown, responses=PROBLEMS)
def show_watch(app: App, watch: WatchNumber) -> Response:
    """Show a watch. Secrets in its form read `<secret>`."""
    return Answer(shown(app.service.find(watch)))


@routes.put(f"{PREFIX}/watches/{{watch}}", response_model=WatchShown, responses=PROBLEMS)
def replace_watch(app: App, watch: WatchNumber, form: Form) -> Response:
    """Replace the form of a watch. Its history stays.

    Secrets that read `<secret>` are kept, unless the form would send them to another address.
    """
    whole = with_secrets(app.service.find(watch), form)
    return Answer(shown(app.service.edit(watch, whole)))


@routes.patch(f"{PREFIX}/watches/{{watch}}", response_model=WatchShown, responses=PROBLEMS)
def pause_watch(app: App, watch: WatchNumber, given: PauseGiven) -> Response:
    """Pause a watch, or let it continue."""
    form = {**app.service.find(watch).form, "paused": given.paused}
    return Answer(shown(app.service.edit(watch, form)))


@routes.delete(f"{PREFIX}/watches/{{watch}}", status_code=204, responses=PROBLEMS)
def remove_watch(app: App, watch: WatchNumber) -> Response:
    """Remove a watch with its events. Pages that no other watch has are removed too."""
    app.service.remove(watch)
    return Response(status_code=204)


@routes.post(f"{PREFIX}/watches/{{watch}}/run", status_code=202, responses=PROBLEMS)
def run_watch(app: App, watch: WatchNumber) -> Response:
    """Let the pages of a watch be checked as soon as possible."""
    app.service.make_due(watch)
    return Answer({"due": True}, 202)


@routes.get(f"{PREFIX}/watches/{{watch}}/pages", response_model=list[PageShown], responses=PROBLEMS)
def list_pages(app: App, watch: WatchNumber) -> Response:
    """Show how the pages of a watch are doing."""
    return Answer(app.service.pages(watch))


def shown(stored: StoredWatch) -> dict[str, Any]:
    """Return a watch for an answer, without its secrets."""
    return {
        "id": stored.id,
        "name": stored.watch.name,
        "paused": stored.paused,
        "tags": list(stored.watch.tags),
        "created": instant(stored.created),
        "updated": instant(stored.updated),
        "form": watch_to_dict(stored.watch),
    }


def with_secrets(stored: StoredWatch, form: dict[str, Any]) -> dict[str, Any]:
    """Return a form with the secrets of a stored watch in place of ``<secret>``."""
    whole = keep_secrets(
        form, watch_to_dict(stored.watch), watch_to_dict(stored.watch, secrets=True)
    )
    if not isinstance(whole, dict):
        raise WatchError("the watch: expected a mapping of names to values", path="")
    return whole
