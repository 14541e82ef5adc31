"""Reading a watch from plain data, as YAML and JSON give it. The only place that checks one."""

from __future__ import annotations

import re
from collections.abc import Mapping as PlainMapping
from datetime import time, timedelta
from functools import lru_cache
from typing import TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from quire import _core
from quire.display import is_web_address, shorten
from quire.errors import MissingExtra, WatchError
from quire.sentinels.form.conditions import Parts, read_condition
from quire.sentinels.form.fields import Field, Mapping
from quire.sentinels.form.presets import PRESETS
from quire.sentinels.form.secrets import has_credentials, has_hidden
from quire.sentinels.form.watch import (
    BUNDLES,
    FINDERS,
    LISTED,
    WEEKDAYS,
    Fetching,
    Listed,
    Notify,
    Pages,
    Schedule,
    Step,
    Watch,
    Window,
)
from quire.sentinels.parts.location import Location, check_selector, gives_texts
from quire.sentinels.parts.part import ASPECTS, CONTENT, Aspect, Ignore, Part
from quire.sentinels.sentinel import Sentinel
from quire.sentinels.versions.retention import Keep

#: Characters of a name. Lists and databases have room for so many.
MAX_NAME = 500
#: Placeholders that the text of a notice can have.
PLACEHOLDERS = ("name", "url", "time", "changes", "added", "removed", "link")

#: What watches have that say nothing about it; shared, because a worker keeps many watches.
USUAL_FETCHING = Fetching()
USUAL_NOTIFY = Notify()
#: Parts and schedules that are remembered, so that equal ones are kept once.
MOST_SHARED = 10_000

T = TypeVar("T")

#: Header fields that a browser may send to every host that a page names.
BROWSER_HEADERS = (
    "accept",
    "accept-language",
    "cache-control",
    "dnt",
    "pragma",
    "user-agent",
)

_CLOCK = re.compile(r"([01]?[0-9]|2[0-4]):([0-5][0-9])")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def read_watch(data: object) -> Watch:
    """Read a watch from plain data.

    >>> watch = read_watch({"url": "https://example.org/", "where": "#price", "every": "15 min"})
    >>> watch.name, watch.schedule.every
    ('https://example.org/', datetime.timedelta(seconds=900))

    Raises:
        WatchError: a field is missing, has a wrong value, or does not exist. ``path`` names it.
    """
    whole = Field(data).mapping("a mapping with 'url' and more")
    preset = whole.get("preset")
    if preset is not None:
        chosen = PRESETS[preset.choice(tuple(PRESETS))]
        if whole.get("parts") is not None:
            raise WatchError("preset: a preset is for one part; remove 'parts'", path="preset")
        whole = whole.with_defaults(chosen.form)
        whole.get("preset")
    pages = _pages(whole)
    name = whole.get("name")
    parts = {part_name: _shared(part) for part_name, part in _parts(whole).items()}
    title = name.text("a name") if name else shorten(pages.urls[0], MAX_NAME)
    if name and len(title) > MAX_NAME:
        raise name.wrong(f"a name of at most {MAX_NAME} characters")
    when = whole.get("when")
    condition = read_condition(when, parts) if when else None
    watch = Watch(
        name=title,
        pages=pages,
        parts=parts,
        sentinel=Sentinel(title, tuple(parts.values()), condition),
        schedule=_shared(_schedule(whole)),
        fetching=_fetching(whole.get("fetch")),
        notify=_notify(whole.get("notify")),
        tags=_texts(whole.get("tags")),
        learn_noise=_flag(whole.get("learn_noise"), default=True),
        follow=_flag(whole.get("follow"), default=True),
        paused=_flag(whole.get("paused"), default=False),
        keep=_keep(whole.get("keep")),
    )
    whole.finish()
    return watch


@lru_cache(maxsize=MOST_SHARED)
def _shared(value: T) -> T:
    """Return an equal value that was read before, if there is one: a worker keeps many watches."""
    return value


# ------------------------------------------------------------ pages and parts


def _pages(whole: Mapping) -> Pages:
    url, urls, find = whole.get("url"), whole.get("urls"), whole.get("find")
    if (url is None) == (urls is None):
        raise WatchError("url: expected either 'url' or 'urls'", path="url")
    fields = [url] if url else (urls.items("a list of addresses") if urls else [])
    if not fields:
        raise WatchError("urls: expected one or more addresses, found an empty list", path="urls")
    addresses = tuple(_page(each) for each in fields)
    if find is None:
        return Pages(addresses)
    mapping = find.mapping("a mapping with 'in', 'matching' and more")
    finder = mapping.need("in", "sitemap, feed or links").choice(FINDERS)
    pattern, most = mapping.get("matching"), mapping.get("most")
    every, tell, elsewhere = mapping.get("every"), mapping.get("tell"), mapping.get("elsewhere")
    mapping.finish()
    if pattern is not None:
        with pattern.naming():
            _core.Pattern(pattern.text("a regular expression"))
    return Pages(
        addresses,
        finder,
        pattern.text() if pattern else "",
        most.whole(1, 100_000) if most else 1000,
        every.duration(timedelta(minutes=1)) if every else None,
        _listed_words(tell) if tell else Pages(()).tell,
        _flag(elsewhere, default=False),
    )


def _listed_words(field: Field) -> tuple[Listed, ...]:
    """Read what to tell about lists; an empty list for nothing."""
    chosen = () if field.value == [] else field.choices(LISTED)
    return tuple(each for each in LISTED if each in chosen)


def _keep(field: Field | None) -> Keep | None:
    if field is None:
        return None
    mapping = field.mapping("a mapping with 'versions', 'age' and 'bytes'")
    versions, age, length = mapping.get("versions"), mapping.get("age"), mapping.get("bytes")
    mapping.finish()
    return Keep(
        versions.whole(1, 1_000_000) if versions else None,
        age.duration(timedelta(minutes=1)) if age else None,
        length.size() if length else None,
    )


def _page(field: Field) -> str:
    """Read the address of a page. Credentials in it would show in names, logs and notices."""
    address = _address(field)
    if has_credentials(address):
        raise WatchError(
            f"{field.path}: write 'user' and 'password' under 'fetch', not in the address",
            path=field.path,
        )
    return address


def _address(field: Field) -> str:
    text = _secret(field, "an address such as https://example.org/").strip()
    if not is_web_address(text):
        raise field.wrong("an address that starts with http:// or https://")
    return text


def _parts(whole: Mapping) -> Parts:
    named = whole.get("parts")
    single = [
        name for name in ("where", "without", "watch", "attributes", "ignore") if whole.get(name)
    ]
    if named is None:
        return {"": _part(whole)}
    if single:
        raise WatchError(f"{single[0]}: write this inside one of the parts", path=single[0])
    mapping = named.mapping("a mapping of names to parts")
    found = {}
    for name, inside in mapping.entries("a part: a mapping with 'where'"):
        part = inside.mapping("a part: a mapping with 'where'")
        found[name] = _part(part)
        part.finish()
    if not found:
        raise named.wrong("one or more parts")
    return found


def _part(mapping: Mapping) -> Part:
    where, without = mapping.get("where"), mapping.get("without")
    location = Location(_selectors(where), _selectors(without, elements=True))
    watch, names = mapping.get("watch"), mapping.get("attributes")
    words = watch.choices(("content", *ASPECTS)) if watch else ("text",)
    aspects = [
        each for each in ASPECTS if each in words or ("content" in words and each in CONTENT)
    ]
    if names is not None and "attributes" not in aspects:
        aspects.append("attributes")
    _check_texts(location, tuple(aspects), without or names or watch)
    return Part(location, tuple(aspects), _texts(names), _ignore(mapping.get("ignore")))


def _check_texts(location: Location, aspects: tuple[Aspect, ...], blamed: Field | None) -> None:
    """Refuse to watch more than the text of a location without elements, as ``//a/@href``."""
    if blamed is None or not location.where or not all(map(gives_texts, location.where)):
        return
    if location.without or aspects != ("text",):
        raise WatchError(
            f"{blamed.path}: {location.where[0]!r} gives texts, of which nothing but the text can be "
            "watched, and nothing left out; select elements instead",
            path=blamed.path,
        )


def _selectors(field: Field | None, *, elements: bool = False) -> tuple[str, ...]:
    if field is None:
        return ()
    found = field.texts("a selector or a list of selectors")
    with field.naming():
        for selector in found:
            check_selector(selector, elements=elements)
    return found


def _ignore(field: Field | None) -> Ignore:
    if field is None:
        return Ignore()
    mapping = field.mapping("a mapping with 'case', 'order', 'text' and 'queries'")
    text = mapping.get("text")
    case, order = mapping.get("case"), mapping.get("order")
    queries = _texts(mapping.get("queries"))
    mapping.finish()
    with (text or field).naming():
        return Ignore(
            case=_flag(case, default=False),
            order=_flag(order, default=False),
            text=text.texts("a regular expression or a list of them") if text else (),
            queries=queries,
        )


# ------------------------------------------------------------ how often


def _schedule(whole: Mapping) -> Schedule:
    every, cron = whole.get("every"), whole.get("cron")
    if every is not None and cron is not None:
        raise WatchError("cron: expected either 'every' or 'cron'", path="cron")
    zone, windows = whole.get("zone"), whole.get("windows")
    jitter, slow = whole.get("jitter"), whole.get("slow_down")
    interval = every.duration(timedelta(seconds=1)) if every else Schedule().every
    return Schedule(
        every=None if cron else interval,
        cron=_cron(cron) if cron else "",
        zone=_zone(zone),
        windows=_windows(windows),
        jitter=jitter.duration() if jitter else timedelta(0),
        slow_down=slow.duration(timedelta(minutes=1)) if slow else None,
    )


def _cron(field: Field) -> str:
    text = field.text("a cron expression such as '0 9 * * mon-fri'")
    try:
        from cronsim import CronSim, CronSimError  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtra("cron expressions need cronsim", extra="serve") from None
    from datetime import UTC, datetime  # noqa: PLC0415 - only here

    try:
        next(CronSim(text, datetime(2026, 1, 1, tzinfo=UTC)))
    except (CronSimError, StopIteration):
        raise field.wrong("a cron expression with five fields, such as '0 9 * * mon-fri'") from None
    return text


def _zone(field: Field | None) -> str:
    if field is None:
        return "UTC"
    text = field.text("a time zone such as Europe/Berlin")
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise field.wrong("a time zone such as Europe/Berlin") from None
    return text


def _windows(field: Field | None) -> tuple[Window, ...]:
    if field is None:
        return ()
    fields = field.items() if isinstance(field.value, list) else [field]
    return tuple(_window(each) for each in fields)


def _window(field: Field) -> Window:
    mapping = field.mapping("a mapping with 'days', 'from' and 'to'")
    days, start, end = mapping.get("days"), mapping.get("from"), mapping.get("to")
    mapping.finish()
    chosen = days.choices(WEEKDAYS) if days else WEEKDAYS
    return Window(
        tuple(day for day in WEEKDAYS if day in chosen),
        _clock(start) if start else time(0),
        _clock(end) if end else time(0),
    )


def _clock(field: Field) -> time:
    match = _CLOCK.fullmatch(field.value) if isinstance(field.value, str) else None
    if match is None or (match[1] == "24" and match[2] != "00"):
        raise field.wrong("a time of day such as '09:30', in quotes")
    return time(int(match[1]) % 24, int(match[2]))


# ------------------------------------------------------------ fetching and notices


def _fetching(field: Field | None) -> Fetching:
    if field is None:
        return USUAL_FETCHING
    mapping = field.mapping("a mapping with 'headers', 'browser' and more")
    steps, proxy = mapping.get("steps"), mapping.get("proxy")
    user, password = mapping.get("user"), mapping.get("password")
    found = Fetching(
        browser=_flag(mapping.get("browser"), default=steps is not None),
        steps=tuple(_step(each) for each in steps.items("a list of steps")) if steps else (),
        headers=_pairs(mapping.get("headers"), _HEADER),
        cookies=_pairs(mapping.get("cookies"), _HEADER),
        user=user.text() if user else "",
        password=_secret(password) if password else "",
        proxy=_address(proxy) if proxy else "",
        robots=_flag(mapping.get("robots"), default=True),
        verify_tls=_flag(mapping.get("verify_tls"), default=True),
    )
    mapping.finish()
    if found.steps and not found.browser:
        raise field.wrong("'browser: true' together with 'steps'")
    if found.browser:
        _check_browser(mapping, found)
    return found


def _check_browser(mapping: Mapping, fetching: Fetching) -> None:
    """Refuse what the browser does not do: it would use these for every host that a page names."""
    if fetching.proxy:
        raise WatchError("fetch.proxy: the browser does not use proxies", path="fetch.proxy")
    for name in fetching.headers:
        if name.lower() not in BROWSER_HEADERS:
            raise WatchError(
                f"{mapping.path}.headers.{name}: the browser sends only "
                f"{', '.join(BROWSER_HEADERS)}; use cookies, user and password, or steps",
                path=f"{mapping.path}.headers.{name}",
            )


def _pairs(field: Field | None, names: re.Pattern[str]) -> PlainMapping[str, str]:
    if field is None:
        return {}
    mapping = field.mapping("a mapping of names to texts")
    found = {}
    for name, value in mapping.entries("a text"):
        if not names.fullmatch(name):
            raise value.wrong(f"a name of letters, digits and '-' instead of {name!r}, and a text")
        text = _secret(value)
        if any(ord(char) < 32 or ord(char) == 127 for char in text):  # noqa: PLR2004 - control
            raise value.wrong("a text without line breaks and control characters")
        found[name] = text
    return found


def _step(field: Field) -> Step:
    mapping = field.mapping("a step: open, click, type, press or wait")
    kinds = [name for name in ("open", "click", "type", "press", "wait") if mapping.get(name)]
    text, seconds = mapping.get("text"), mapping.get("seconds")
    if len(kinds) != 1:
        raise field.wrong("exactly one of open, click, type, press, wait")
    mapping.finish()
    kind = kinds[0]
    target = mapping.get(kind)
    assert target is not None  # noqa: S101 - found above
    length = seconds.number(0.1, 60) if seconds else 10.0
    if kind == "wait" and not isinstance(target.value, str):
        return Step("wait", seconds=target.number(0.1, 60))
    if kind == "open":
        return Step("open", _page(target), seconds=length)
    if kind == "type":
        if text is None:
            raise field.wrong("'text', what to type")
        return Step("type", _element(target), _secret(text), length)
    if kind == "press":
        return Step("press", target.text("a key such as Enter"), seconds=length)
    return Step("click" if kind == "click" else "wait", _element(target), seconds=length)


def _element(field: Field) -> str:
    selector = field.text("a selector")
    with field.naming():
        check_selector(selector, elements=True)
    return selector


def _notify(field: Field | None) -> Notify:
    if field is None:
        return USUAL_NOTIFY
    if not isinstance(field.value, dict):
        return Notify(targets=tuple(_target(each) for each in _listed(field)))
    mapping = field.mapping()
    to, bundle, quiet = mapping.get("to"), mapping.get("bundle"), mapping.get("quiet")
    most, text, zone = mapping.get("at_most"), mapping.get("text"), mapping.get("zone")
    found = Notify(
        targets=tuple(_target(each) for each in _listed(to)) if to else (),
        bundle=bundle.choice(BUNDLES) if bundle else "now",
        quiet=_windows(quiet),
        zone=_zone(zone),
        at_most=most.whole(0, 10_000) if most else 0,
        errors=_flag(mapping.get("errors"), default=True),
        text=_template(text) if text else "",
    )
    mapping.finish()
    return found


def _listed(field: Field) -> list[Field]:
    return field.items() if isinstance(field.value, list) else [field]


def _target(field: Field) -> str:
    expected = "a target such as mailto:me@example.org or https://example.org/hook"
    text = _secret(field, expected).strip()
    scheme, colon, rest = text.partition(":")
    if not colon or not rest or not _SCHEME.fullmatch(scheme):
        raise field.wrong(expected)
    return text


def _template(field: Field) -> str:
    text = field.text()
    for name in _PLACEHOLDER.findall(text):
        if name not in PLACEHOLDERS:
            known = ", ".join(f"{{{each}}}" for each in PLACEHOLDERS)
            raise field.wrong(f"placeholders of {known} only")
    return text


def _secret(field: Field, expected: str = "a text") -> str:
    text = field.text(expected)
    if has_hidden(text):
        raise field.wrong("the secret itself, not its placeholder")
    return text


def _texts(field: Field | None) -> tuple[str, ...]:
    return field.texts() if field else ()


def _flag(field: Field | None, *, default: bool) -> bool:
    return field.flag() if field else default
