"""Writing a watch as plain data: what ``read_watch`` reads as the same watch again.

Fields with their default values are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from quire.sentinels.conditions import (
    All,
    AnyOf,
    Changed,
    Condition,
    Count,
    Fired,
    NeverSeen,
    NewEntry,
    NewRecord,
    Not,
    Number,
    Similarity,
    State,
    Text,
    Unchanged,
)
from quire.sentinels.form.conditions import COUNTS, MOVES
from quire.sentinels.form.secrets import (
    HIDDEN,
    hidden,
    hide_credentials,
    hide_header,
    hide_target,
)
from quire.sentinels.form.watch import (
    DEFAULT_INTERVAL,
    WEEKDAYS,
    Fetching,
    Notify,
    Pages,
    Schedule,
    Step,
    Watch,
    Window,
)
from quire.sentinels.parts.part import Ignore, Part
from quire.sentinels.versions.retention import Keep

#: Plain data of one watch.
Form = dict[str, object]

_UNITS = ((604800, "w"), (86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_MOVE_NAMES = {move: name for name, move in MOVES.items()}
_COUNT_NAMES = {operator: name for name, operator in COUNTS.items()}


def watch_to_dict(watch: Watch, *, secrets: bool = False) -> Form:
    """Write a watch as plain data for JSON or YAML.

    >>> from quire.sentinels.form.reading import read_watch
    >>> watch_to_dict(read_watch({"url": "https://example.org/", "preset": "price drop"}))
    {'name': 'https://example.org/', 'url': 'https://example.org/', 'when': {'number': ...}}

    Args:
        watch: a watch, as ``read_watch`` returns it.
        secrets: include secrets; by default there is ``<secret>`` in their place.
    """
    form: Form = {"name": watch.name, **_pages(watch.pages)}
    if tuple(watch.parts) == ("",):
        form |= _part(watch.parts[""])
    else:
        form["parts"] = {name: _part(part) for name, part in watch.parts.items()}
    if watch.sentinel.when is not None:
        form["when"] = _Conditions(watch.parts).write(watch.sentinel.when)
    form |= _schedule(watch.schedule)
    fetching = _fetching(watch.fetching, secrets=secrets)
    notify = _notify(watch.notify, secrets=secrets)
    optional = {
        "fetch": fetching,
        "notify": notify,
        "tags": list(watch.tags),
    }
    form |= {name: value for name, value in optional.items() if value}
    if watch.keep is not None:
        form["keep"] = _keep(watch.keep)
    flags = {"learn_noise": watch.learn_noise, "follow": watch.follow, "paused": watch.paused}
    defaults = {"learn_noise": True, "follow": True, "paused": False}
    return form | {name: value for name, value in flags.items() if value != defaults[name]}


# ------------------------------------------------------------ pages and parts


def _pages(pages: Pages) -> Form:
    form: Form = {"url": pages.urls[0]} if len(pages.urls) == 1 else {"urls": list(pages.urls)}
    if pages.finder is not None:
        find: Form = {"in": pages.finder}
        if pages.pattern:
            find["matching"] = pages.pattern
        if pages.most != Pages(()).most:
            find["most"] = pages.most
        if pages.every is not None:
            find["every"] = _duration(pages.every)
        if pages.tell != Pages(()).tell:
            find["tell"] = list(pages.tell)
        if pages.elsewhere:
            find["elsewhere"] = True
        form["find"] = find
    return form


def _part(part: Part) -> Form:
    form: Form = {}
    if part.location.where:
        form["where"] = _one_or_list(part.location.where)
    if part.location.without:
        form["without"] = _one_or_list(part.location.without)
    if part.watch != ("text",):
        form["watch"] = _one_or_list(part.watch)
    if part.attributes:
        form["attributes"] = list(part.attributes)
    ignore = _ignore(part.ignore)
    return form | ({"ignore": ignore} if ignore else {})


def _ignore(ignore: Ignore) -> Form:
    found: Form = {"case": ignore.case, "order": ignore.order}
    if ignore.text:
        found["text"] = list(ignore.text)
    if ignore.queries:
        found["queries"] = list(ignore.queries)
    return {name: value for name, value in found.items() if value}


def _one_or_list(texts: tuple[str, ...]) -> object:
    return texts[0] if len(texts) == 1 else list(texts)


# ------------------------------------------------------------ conditions


class _Conditions:
    """Writes conditions of a watch, with the names of its parts."""

    def __init__(self, parts: Mapping[str, Part]) -> None:
        self.parts = parts

    def write(self, condition: Condition) -> object:
        for kind, write in _WRITERS.items():
            if isinstance(condition, kind):
                return write(self, condition)
        raise ValueError(f"a form has no words for {condition}")

    def about(self, part: Part, *, aspects: tuple[str, ...] = ("text",)) -> Form:
        """Name the part that a condition reads; nothing if there is only one."""
        if len(self.parts) == 1:
            return {}
        for name, each in self.parts.items():
            # Reading a condition adds the aspects that it asks about.
            if part == each or part == _with(each, aspects):
                return {"part": name}
        raise ValueError("a condition reads a part that the watch does not have")

    def changed(self, condition: Changed) -> object:
        form = self.about(condition.part, aspects=condition.aspects)
        if condition.aspects:
            form["aspects"] = list(condition.aspects)
        return {"changed": form or True}

    def text(self, condition: Text) -> object:
        form = self.about(condition.part)
        if condition.scope != "new":
            form["in"] = condition.scope
        if condition.pattern:
            form["matches"] = condition.pattern
        else:
            form["has"] = list(condition.words)
        if condition.all_words:
            form["all"] = True
        return {"text": form}

    def number(self, condition: Number) -> object:
        form = self.about(condition.part)
        than: object = _number(condition.than)
        if condition.percent:
            than = f"{Decimal(repr(condition.than)):f} %"
        form[_MOVE_NAMES[condition.move]] = than
        if condition.pick != "first":
            form["pick"] = condition.pick
        return {"number": form}

    def count(self, condition: Count) -> object:
        limit = {_COUNT_NAMES[condition.operator]: _number(condition.than)}
        return {"count": {"of": condition.selector, **limit}}

    def similarity(self, condition: Similarity) -> object:
        return {"similarity": {condition.measure: condition.below}}

    def never_seen(self, condition: NeverSeen) -> object:
        return {"never_seen": self.about(condition.part).get("part", True)}

    def new_entry(self, _: NewEntry) -> object:
        return {"new_entry": True}

    def new_record(self, condition: NewRecord) -> object:
        if len(self.parts) == 1:
            return {"new_record": True}
        for name, each in self.parts.items():
            if condition.part == NewRecord(each).part:
                return {"new_record": name}
        raise ValueError("a condition reads a part that the watch does not have")

    def unchanged(self, condition: Unchanged) -> object:
        return {"unchanged": _duration(condition.length)}

    def fired(self, condition: Fired) -> object:
        if condition.within is None:
            return {"fired": condition.sentinel}
        return {"fired": {"sentinel": condition.sentinel, "within": _duration(condition.within)}}

    def state(self, condition: State) -> object:
        return {"page": _one_or_list(condition.states)}

    def all_of(self, condition: All) -> object:
        return {"all": [self.write(each) for each in condition.conditions]}

    def any_of(self, condition: AnyOf) -> object:
        return {"any": [self.write(each) for each in condition.conditions]}

    def negated(self, condition: Not) -> object:
        return {"not": self.write(condition.condition)}


_WRITERS: dict[type, Callable[..., object]] = {
    Changed: _Conditions.changed,
    Text: _Conditions.text,
    Number: _Conditions.number,
    Count: _Conditions.count,
    Similarity: _Conditions.similarity,
    NeverSeen: _Conditions.never_seen,
    NewEntry: _Conditions.new_entry,
    NewRecord: _Conditions.new_record,
    Unchanged: _Conditions.unchanged,
    Fired: _Conditions.fired,
    State: _Conditions.state,
    All: _Conditions.all_of,
    AnyOf: _Conditions.any_of,
    Not: _Conditions.negated,
}


def _with(part: Part, aspects: tuple[str, ...]) -> Part:
    return replace(part, watch=(*part.watch, *aspects))  # type: ignore[arg-type]


# ------------------------------------------------------------ how often


def _schedule(schedule: Schedule) -> Form:
    form: Form = {}
    if schedule.cron:
        form["cron"] = schedule.cron
    elif schedule.every is not None and schedule.every != DEFAULT_INTERVAL:
        form["every"] = _duration(schedule.every)
    if schedule.zone != "UTC":
        form["zone"] = schedule.zone
    if schedule.windows:
        form["windows"] = [_window(each) for each in schedule.windows]
    if schedule.jitter:
        form["jitter"] = _duration(schedule.jitter)
    if schedule.slow_down is not None:
        form["slow_down"] = _duration(schedule.slow_down)
    return form


def _keep(keep: Keep) -> Form:
    form: Form = {"versions": keep.versions, "bytes": keep.bytes}
    if keep.age is not None:
        form["age"] = _duration(keep.age)
    return {name: value for name, value in form.items() if value is not None}


def _window(window: Window) -> Form:
    form: Form = {} if window.days == WEEKDAYS else {"days": list(window.days)}
    return form | {"from": f"{window.start:%H:%M}", "to": f"{window.end:%H:%M}"}


def _duration(length: timedelta) -> str | float:
    """Write a duration as people do; as seconds if it has a fraction of a second."""
    if length.microseconds or not length:
        return length.total_seconds()
    left, found = round(length.total_seconds()), []
    for seconds, unit in _UNITS:
        count, left = divmod(left, seconds)
        if count:
            found.append(f"{count} {unit}")
    return " ".join(found)


def _number(value: float) -> float:
    return int(value) if value == int(value) else value


# ------------------------------------------------------------ fetching and notices


def _fetching(fetching: Fetching, *, secrets: bool) -> Form:
    form: Form = {}
    if fetching.browser != bool(fetching.steps):
        form["browser"] = fetching.browser
    if fetching.steps:
        form["steps"] = [
            _step(step, 0 if secrets else place) for place, step in enumerate(fetching.steps, 1)
        ]
    if fetching.headers:
        form["headers"] = {
            name: value if secrets else hide_header(name, value)
            for name, value in fetching.headers.items()
        }
    if fetching.cookies:
        form["cookies"] = {
            name: value if secrets else HIDDEN for name, value in fetching.cookies.items()
        }
    if fetching.user:
        form["user"] = fetching.user
    if fetching.password:
        form["password"] = fetching.password if secrets else HIDDEN
    if fetching.proxy:
        form["proxy"] = fetching.proxy if secrets else hide_credentials(fetching.proxy)
    if not fetching.robots:
        form["robots"] = False
    if not fetching.verify_tls:
        form["verify_tls"] = False
    return form


def _step(step: Step, number: int) -> Form:
    """Write a step, with its number in place of secrets; 0 to write them."""
    if step.kind == "wait" and not step.target:
        return {"wait": step.seconds}
    form: Form = {step.kind: step.target}
    if step.text:
        form["text"] = hidden(number) if number else step.text
    if step.seconds != Step("wait").seconds:
        form["seconds"] = step.seconds
    return form


def _notify(notify: Notify, *, secrets: bool) -> Form:
    form: Form = {}
    if notify.targets:
        form["to"] = [
            each if secrets else hide_target(each, place)
            for place, each in enumerate(notify.targets, 1)
        ]
    if notify.bundle != "now":
        form["bundle"] = notify.bundle
    if notify.quiet:
        form["quiet"] = [_window(each) for each in notify.quiet]
    if notify.zone != "UTC":
        form["zone"] = notify.zone
    if notify.at_most:
        form["at_most"] = notify.at_most
    if not notify.errors:
        form["errors"] = False
    if notify.text:
        form["text"] = notify.text
    return form
