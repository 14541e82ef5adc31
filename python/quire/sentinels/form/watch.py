"""A watch: everything that a user says about one sentinel, in one declarative form.

Where (pages and parts), what (aspects), when (conditions), how often (schedule), whom to tell
(targets), and how to fetch. Command line, API and web pages share this form; ``reading`` is the only
place that checks it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import time, timedelta
from typing import Literal, TypeAlias, get_args

from quire.sentinels.parts.part import Part
from quire.sentinels.sentinel import Sentinel
from quire.sentinels.versions.retention import Keep

Weekday: TypeAlias = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEKDAYS: tuple[Weekday, ...] = get_args(Weekday)
#: How several pages are found: ``sitemap`` and ``feed`` list pages, new ones are added by themselves.
Finder: TypeAlias = Literal["sitemap", "feed", "links"]
FINDERS: tuple[Finder, ...] = get_args(Finder)
#: What a watch tells about a list of pages: pages that are new in it, pages that it lost.
Listed: TypeAlias = Literal["new", "gone"]
LISTED: tuple[Listed, ...] = get_args(Listed)
Bundle: TypeAlias = Literal["now", "hourly", "daily", "weekly"]
BUNDLES: tuple[Bundle, ...] = get_args(Bundle)
StepKind: TypeAlias = Literal["open", "click", "type", "press", "wait"]

DEFAULT_INTERVAL = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Window:
    """Hours of the day in which checks, or notices, are allowed.

    Attributes:
        days: days of the week.
        start: the first minute.
        end: the first minute after it; earlier than ``start`` for a window over midnight.
    """

    days: tuple[Weekday, ...] = WEEKDAYS
    start: time = time(0)
    end: time = time(0)


@dataclass(frozen=True, slots=True)
class Schedule:
    """How often a page is checked.

    Attributes:
        every: the interval; None if ``cron`` is given.
        cron: a cron expression with five fields.
        zone: the time zone of ``cron`` and ``windows``.
        windows: when checks are allowed; empty for always.
        jitter: the largest random delay added to each check.
        slow_down: check pages that never change less often, up to this interval.
    """

    every: timedelta | None = DEFAULT_INTERVAL
    cron: str = ""
    zone: str = "UTC"
    windows: tuple[Window, ...] = ()
    jitter: timedelta = timedelta(0)
    slow_down: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step in a browser: open an address, click, type, press a key, or wait.

    Attributes:
        kind: what to do.
        target: a selector; for ``open`` an address, for ``press`` a key.
        text: what to type.
        seconds: how long to wait, at most.
    """

    kind: StepKind
    target: str = ""
    text: str = ""
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Fetching:
    """How to fetch a page. Values that may be secret are not shown.

    Attributes:
        browser: load the page in Chromium and run its scripts.
        steps: what to do in the browser before the page is read.
        headers: headers to send.
        cookies: cookies to send.
        user: user name for basic authentication.
        password: password for it.
        proxy: the proxy to use.
        robots: respect ``robots.txt``.
        verify_tls: refuse certificates that are not valid.
    """

    browser: bool = False
    steps: tuple[Step, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    cookies: Mapping[str, str] = field(default_factory=dict, repr=False)
    user: str = ""
    password: str = field(default="", repr=False)
    proxy: str = field(default="", repr=False)
    robots: bool = True
    verify_tls: bool = True

    def profile(self) -> tuple[object, ...]:
        """Return a key that is equal for watches that can share one fetch."""
        return (
            self.browser,
            self.steps,
            tuple(sorted(self.headers.items())),
            tuple(sorted(self.cookies.items())),
            self.user,
            self.password,
            self.proxy,
            self.robots,
            self.verify_tls,
        )


@dataclass(frozen=True, slots=True)
class Notify:
    """Whom to tell, and when.

    Attributes:
        targets: addresses of notification services, in the notation of Apprise; webhooks as
            ``https://`` addresses; mail as ``mailto:``.
        bundle: send changes at once, or together once an hour, a day or a week.
        quiet: when nothing is sent; it is sent afterwards.
        zone: the time zone of ``quiet``.
        at_most: the largest number of notices in an hour; more are sent together. 0 for no limit.
        errors: also tell about pages that cannot be fetched, and parts that are gone.
        text: the text of a notice, with placeholders such as ``{name}`` and ``{url}``.
    """

    targets: tuple[str, ...] = field(default=(), repr=False)
    bundle: Bundle = "now"
    quiet: tuple[Window, ...] = ()
    zone: str = "UTC"
    at_most: int = 0
    errors: bool = True
    text: str = ""


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a watch.

    Attributes:
        urls: addresses.
        finder: if given, the addresses are those of sitemaps, feeds or pages with links, and the
            pages that they list are watched in their place.
        pattern: only found pages whose address matches this regular expression.
        most: the largest number of found pages.
        every: how often the lists are read; None for the schedule of the watch.
        tell: what to tell about the lists.
        elsewhere: also watch found pages of other sites.
    """

    urls: tuple[str, ...]
    finder: Finder | None = None
    pattern: str = ""
    most: int = 1000
    every: timedelta | None = None
    tell: tuple[Listed, ...] = ("gone",)
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Watch:
    """Everything that a user says about one sentinel.

    Attributes:
        name: unique among the watches of a user.
        pages: the pages.
        parts: the watched parts by name; a single part has the name ``""``.
        sentinel: what to watch, and when to fire.
        schedule: how often.
        fetching: how to fetch.
        notify: whom to tell.
        tags: labels for people.
        learn_noise: leave out parts that change at every fetch.
        follow: find a part again after a redesign.
        paused: make no checks.
        keep: which versions are kept; None for what the service says.
    """

    name: str
    pages: Pages
    parts: Mapping[str, Part]
    sentinel: Sentinel
    schedule: Schedule = field(default_factory=Schedule)
    fetching: Fetching = field(default_factory=Fetching)
    notify: Notify = field(default_factory=Notify)
    tags: tuple[str, ...] = ()
    learn_noise: bool = True
    follow: bool = True
    paused: bool = False
    keep: Keep | None = None
