"""The part that all pages of a watch share: its state, its questions, its buttons and its tabs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from quire.display import format_duration
from quire.sentinels.accounts import Identity, Level
from quire.sentinels.form.watch import Schedule
from quire.sentinels.service import PageStatus, Proposal
from quire.sentinels.store.plain import instant
from quire.sentinels.store.watches import StoredWatch
from quire.web.api.context import State
from quire.web.pages.page import page
from quire.web.pages.watches.row import shown as shown_row

#: Pages of a watch in the menu.
MOST_PAGES = 300
#: Versions that can be chosen.
MOST_VERSIONS = 300


class Tab(StrEnum):
    """A page of a watch; the value is the end of its address."""

    changes = ""
    diff = "diff"
    why = "why"
    history = "history"
    noise = "noise"
    replay = "replay"
    notices = "notices"
    form = "form"


NAMES = {
    Tab.changes: "Changes",
    Tab.diff: "Diff",
    Tab.why: "Why",
    Tab.history: "History",
    Tab.noise: "Noise",
    Tab.replay: "Replay",
    Tab.notices: "Notices",
    Tab.form: "Form",
}


class Done(StrEnum):
    """The result of a button, for a line on the next page."""

    checked = "checked"
    paused = "paused"
    resumed = "resumed"
    saved = "saved"
    accepted = "accepted"
    rejected = "rejected"
    noise_on = "noise-on"
    noise_off = "noise-off"
    left_out = "left-out"
    resent = "resent"
    only_form = "only-form"


WORDS = {
    Done.checked: "The pages of this watch are checked as soon as possible. Reload in a moment.",
    Done.paused: "Paused. It is not checked until you resume it.",
    Done.resumed: "It is checked again.",
    Done.saved: "Saved. The next check uses the new form.",
    Done.accepted: "The part is watched at its new place.",
    Done.rejected: "That place is not proposed again.",
    Done.noise_on: "Parts that change at every fetch are left out again.",
    Done.noise_off: "Everything counts now, also parts that change at every fetch.",
    Done.left_out: "That part of the page is left out from now on.",
    Done.resent: "The notices are sent again.",
    Done.only_form: "This watch is edited here. Clicking works for one part of a stored page.",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A watch and the page of it that someone looks at.

    Attributes:
        stored: the watch.
        pages: how all its pages are doing.
        page: the page that was chosen, or the one that changed last; None if there is none.
    """

    stored: StoredWatch
    pages: list[PageStatus]
    page: PageStatus | None

    @property
    def url(self) -> str | None:
        """The address of the page."""
        return None if self.page is None else self.page.url

    def at(self, tab: str = "", **values: object) -> str:
        """Return the address of a tab, for the same page of the watch."""
        chosen = {"url": self.url} if len(self.pages) > 1 and self.url is not None else {}
        return address(self.stored.id, tab, {**chosen, **values})


def address(watch: int, tab: str = "", values: Mapping[str, object] | None = None) -> str:
    """Return the address of a page of a watch; values that are None are left out."""
    query = urlencode(
        {name: value for name, value in (values or {}).items() if value is not None},
        errors="replace",
    )
    return f"/watches/{watch}{f'/{tab}' if tab else ''}{f'?{query}' if query else ''}"


def find_shown(app: State, watch: int, url: str | None) -> Shown:
    """Find a watch, and the page of it to show.

    Raises:
        NotStored: the watch does not exist.
    """
    stored = app.service.find(watch)
    pages = [each for each in app.service.pages(watch) if not each.is_list]
    chosen = next((each for each in pages if each.url == url), None)
    if chosen is None and pages:
        never = datetime.min.replace(tzinfo=UTC)
        chosen = max(pages, key=lambda each: (each.fired or never, each.changed or never))
    return Shown(stored, pages, chosen)


def watch_page(
    app: State,
    client: Identity,
    shown: Shown,
    tab: Tab,
    *,
    status: int = 200,
    done: str = "",
    **values: object,
) -> Response:
    """Return a page of a watch.

    Args:
        app: the application.
        client: who asks.
        shown: the watch.
        tab: which of its pages.
        status: the status of the answer.
        done: the result of a button on the page before.
        values: what the template of the tab shows.
    """
    stored = shown.stored
    known = {each.value: WORDS[each] for each in Done}
    return page(
        f"one_watch/{tab.name}.html",
        status,
        person=client.name,
        here="Watches",
        at=shown.at,
        watch=_watch(shown),
        pages=[each.url for each in shown.pages[:MOST_PAGES]],
        more_pages=max(0, len(shown.pages) - MOST_PAGES),
        url=shown.url,
        page=shown.page,
        may_write=client.level >= Level.WRITE,
        questions=[_question(each) for each in app.service.proposals(stored.id)],
        live=next(map(shown_row, app.service.rows_of([stored.id])), None),
        tab=tab,
        tabs=[(each, NAMES[each], shown.at(each.value)) for each in Tab],
        done=known.get(done, ""),
        **values,
    )


def state_of(stored: StoredWatch, pages: list[PageStatus]) -> tuple[str, str]:
    """Return the state of a watch in words, and how good it is: ``good``, ``warn`` or ``bad``."""
    if stored.paused:
        return "paused", ""
    if not pages or all(each.checked is None for each in pages):
        return "not checked yet", ""
    if any(each.missing for each in pages):
        return "part not found", "bad"
    if any(each.error for each in pages):
        return "failing", "bad"
    wrong = next((each.state for each in pages if each.state != "fine"), "")
    return (wrong, "warn") if wrong else ("fine", "good")


def _watch(shown: Shown) -> dict[str, Any]:
    stored, pages = shown.stored, shown.pages
    words, mood = state_of(stored, pages)
    due = [each.due for each in pages if each.due is not None]
    return {
        "id": stored.id,
        "name": stored.watch.name,
        "paused": stored.paused,
        "state": words,
        "mood": mood,
        "error": next((each.error for each in pages if each.error), "")[:500],
        "tags": stored.watch.tags,
        "schedule": schedule_words(stored.watch.schedule),
        "due": _from_now(min(due)) if due and not stored.paused else "",
        "checked": max((each.checked for each in pages if each.checked), default=None),
        "changed": max((each.changed for each in pages if each.changed), default=None),
        "created": instant(stored.created),
        "pages": len(pages),
        "targets": len(stored.watch.notify.targets),
    }


def _question(proposal: Proposal) -> dict[str, Any]:
    return {
        "url": proposal.url,
        "where": proposal.where,
        "part": proposal.part,
        "selector": ", ".join(proposal.selector),
        "path": proposal.path,
        "percent": round(100 * proposal.score),
        "before": proposal.before,
        "after": proposal.after,
        "used": proposal.used,
        "since": proposal.since,
    }


def schedule_words(schedule: Schedule) -> str:
    """Say how often a watch is checked.

    >>> schedule_words(Schedule(every=timedelta(minutes=90)))
    'every 1.5 h'
    """
    if schedule.cron:
        words = f"cron {schedule.cron} ({schedule.zone})"
    else:
        words = f"every {format_duration((schedule.every or timedelta(hours=1)).total_seconds())}"
    return f"{words}, in set hours only" if schedule.windows else words


def _from_now(due: datetime) -> str:
    seconds = (due - datetime.now(UTC)).total_seconds()
    return "now" if seconds < 1 else f"in {format_duration(round(seconds))}"
