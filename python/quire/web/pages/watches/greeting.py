"""The greeting of the demo: the last events, the noise, and three things to try."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode, urljoin

from quire.sentinels.service import LeftOut, StoredEvent
from quire.sentinels.store.overview.event_rows import WantedEvents
from quire.sentinels.store.overview.watch_rows import Order, Show, Wanted
from quire.web.api.context import State
from quire.web.pages.watches.changes import ShownEvent, shown_event
from quire.web.pages.watches.row import short

#: Events, and parts that were left out, in the greeting.
MOST_EVENTS = 3
MOST_NOISE = 4
#: Watches whose noise is looked at: the demo has a handful.
MOST_WATCHES = 10
LONGEST_SAMPLE = 60

_KINDS = {
    "text": "text",
    "links": "links",
    "images": "images",
    "attribute": "an attribute",
    "region": "a whole element",
    "order": "the order of elements",
}


@dataclass(frozen=True, slots=True)
class Noise:
    """A part that was left out: its kind, its place, and two values that it had."""

    kind: str
    place: str
    samples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """Something to try."""

    name: str
    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Greeting:
    """What the demo tells a visitor.

    Attributes:
        site: the address of the demo site.
        checks: whether its pages have been checked.
        events: the last events.
        noise: parts that were left out.
        tasks: three things to try.
    """

    site: str
    checked: bool
    events: list[ShownEvent]
    noise: list[Noise]
    tasks: list[Task]


def greeting(app: State) -> Greeting | None:
    """Return the greeting of the demo; None if this is not the demo."""
    if not app.demo:
        return None
    found = app.service.watch_rows(Wanted(order=Order.ADDED), most=MOST_WATCHES)
    events = app.service.changes(WantedEvents(), most=MOST_EVENTS)
    noise: dict[tuple[str, str], Noise] = {}
    for row in found.rows:
        for each in app.service.noise(row.id):
            noise.setdefault((each.kind, each.place), _noise(each))
    asking = next((row for row in found.rows if row.asks), None)
    return Greeting(
        site=app.demo,
        checked=any(row.checked for row in found.rows),
        events=[shown_event(each) for each in events],
        noise=list(noise.values())[:MOST_NOISE],
        tasks=[
            _look(events),
            Task(
                "Watch a price",
                "Open the fish market of the demo and click the price of mackerel.",
                f"/watches/new?{urlencode({'url': urljoin(app.demo, 'market.html')})}",
            ),
            Task(
                "Answer a question",
                f"The market got a new design. Is this still the part that "
                f"“{short(asking.name, LONGEST_SAMPLE)}” watches?",
                f"/watches/{asking.id}/question",
            )
            if asking is not None
            else Task(
                "Wait for a new design",
                "After a minute the market looks different. quire finds the prices again and asks "
                "you whether they are the right ones.",
                f"/?show={Show.ASKING.value}",
            ),
        ],
    )


def _look(events: list[StoredEvent]) -> Task:
    if not events:
        text = "The first change comes within half a minute. This page shows it by itself."
        return Task("See what changed", text, "/changes")
    first = events[0]
    name = short(first.event.name, LONGEST_SAMPLE)
    return Task(
        "See what changed",
        f"Open “{name}” and step through the changes.",
        f"/events/{first.id}",
    )


def _noise(found: LeftOut) -> Noise:
    samples = tuple(short(each, LONGEST_SAMPLE) for each in found.samples[:2])
    return Noise(_KINDS.get(found.kind, found.kind), short(found.place, LONGEST_SAMPLE), samples)
