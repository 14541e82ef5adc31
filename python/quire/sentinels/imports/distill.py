"""Import from Distill: the JSON file of "Export monitors"."""

from __future__ import annotations

from collections.abc import Iterator

from quire.errors import WatchError
from quire.sentinels.form.plain_data import as_text, error_at, read_json
from quire.sentinels.imports.imported import (
    MAX_WATCHES,
    Draft,
    Imported,
    Note,
    finish,
    is_on,
    mapping_of,
    number_of,
    text_of,
    texts_of,
)

#: Monitors of web pages, and monitors that are switched on, in the numbers of Distill.
WEB_PAGE, SWITCHED_ON = 2, 40
#: Fields that are carried over; all others that have a value become notes.
_READ = {"name", "uri", "config", "tags", "schedule", "content_type", "state"}
#: Fields about results: not settings.
_STATUS = {"id", "ts", "user_id", "client_id", "ts_data", "ts_mod", "text", "data", "favicon"}
_SETTINGS = {"selections", "ignoreEmptyText", "includeStyle", "dataAttr", "regexp"}


def import_distill(data: str | bytes, file: str = "") -> Imported:
    """Import monitors of Distill.

    Raises:
        WatchError: the text is not an export of Distill, is too long or nested too deep.
    """
    whole = mapping_of(read_json(as_text(data, file), file).data)
    monitors = whole.get("data")
    if not isinstance(monitors, list):
        raise error_at("expected an export of Distill with a list 'data'", "data", file, None)
    notes = []
    if len(monitors) > MAX_WATCHES:
        notes.append(Note("", "data", f"only the first {MAX_WATCHES:,} monitors are imported"))
    return finish((_draft(mapping_of(each)) for each in monitors[:MAX_WATCHES]), notes)


def _draft(monitor: dict[str, object]) -> Draft:
    draft = Draft(text_of(monitor.get("name")))
    draft.address("uri", text_of(monitor.get("uri")))
    tags = monitor.get("tags")
    listed = tags.split(",") if isinstance(tags, str) else texts_of(tags)
    if any(tag.strip() for tag in listed):
        draft.form["tags"] = [tag.strip() for tag in listed if tag.strip()]
    if monitor.get("content_type") not in (None, WEB_PAGE):
        draft.note("content_type", "the kind of page is found out when it is fetched")
    if monitor.get("state") not in (None, SWITCHED_ON):
        draft.pause("state", "the monitor was switched off")
    _config(draft, _json_of(draft, monitor, "config"))
    _schedule(draft, _json_of(draft, monitor, "schedule"))
    for name, value in monitor.items():
        if name not in _READ | _STATUS and value not in (None, "", [], {}, False):
            draft.note(name, "not carried over")
    return draft


def _json_of(draft: Draft, monitor: dict[str, object], name: str) -> dict[str, object]:
    """Return a field that is a mapping, or JSON in a text."""
    value = monitor.get(name)
    if not isinstance(value, str) or not value.strip():
        return mapping_of(value)
    try:
        return mapping_of(read_json(value).data)
    except WatchError as error:
        draft.pause(name, str(error))
        return {}


def _config(draft: Draft, config: dict[str, object]) -> None:
    for selection in _mappings(config.get("selections")):
        _selection(draft, selection)
    attribute = text_of(config.get("dataAttr")) or "text"
    if attribute != "text":
        draft.form["watch"] = ["content"]
        draft.note("dataAttr", f"it was {attribute!r}; text, links and images are watched")
    expression = text_of(mapping_of(config.get("regexp")).get("expr"))
    found = draft.pattern("regexp", expression) if expression else None
    if found is not None:
        draft.conditions.append({"text": {"matches": found, "in": "changed"}})
        draft.note("regexp", "fires if a line that matches was added or removed")
    for name, value in config.items():
        if name not in _SETTINGS and value not in (None, "", [], {}, False):
            draft.note(f"config.{name}", "not carried over")


def _selection(draft: Draft, selection: dict[str, object]) -> None:
    if is_on(selection.get("dynamic")):
        draft.fetch["browser"] = True
        delay = min(number_of(selection.get("delay")), 60)
        if delay >= 1:
            draft.steps("delay", [{"wait": delay}])
    for name, value in selection.items():
        if name not in ("frames", "dynamic", "delay") and value:
            draft.note(f"selections.{name}", "not carried over")
    for frame in _mappings(selection.get("frames")):
        if number_of(frame.get("index")):
            draft.pause("frames", "parts inside frames of the page are not supported")
            continue
        draft.selectors("includes", "where", _selectors(draft, frame, "includes"))
        draft.selectors("excludes", "without", _selectors(draft, frame, "excludes"))


def _mappings(value: object) -> Iterator[dict[str, object]]:
    for each in value if isinstance(value, list) else []:
        if isinstance(each, dict):
            yield each


def _selectors(draft: Draft, frame: dict[str, object], name: str) -> Iterator[str]:
    for each in _mappings(frame.get(name)):
        kind, expression = text_of(each.get("type")), text_of(each.get("expr"))
        if kind == "css" and expression:
            yield expression
        elif kind == "xpath" and expression:
            yield f"xpath:{expression}"
        elif expression:
            draft.pause(name, f"selectors of the kind {kind!r} are not supported")


def _schedule(draft: Draft, schedule: dict[str, object]) -> None:
    if not schedule:
        return
    kind, params = text_of(schedule.get("type")), mapping_of(schedule.get("params"))
    if kind == "INTERVAL" and number_of(params.get("interval")) >= 1:
        draft.form["every"] = number_of(params.get("interval"))
    elif kind == "RANDOM" and number_of(params.get("min")) >= 1:
        least, most = number_of(params.get("min")), number_of(params.get("max"))
        draft.form |= {"every": least, "jitter": max(0.0, most - least)}
    else:
        draft.note("schedule", f"schedules of the kind {kind!r} are not carried over")
