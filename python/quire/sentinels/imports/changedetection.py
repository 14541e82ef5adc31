"""Import from changedetection.io: its backup (zip or JSON), and watches from its API.

A backup is a zip file with ``url-watches.json``; in newer versions ``changedetection.json`` with
the settings, and ``watch.json`` and ``tag.json`` in a folder for each watch and group. Only these
files are read, into memory, up to a limit; the stored history is not imported.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from quire.sentinels.form.plain_data import as_text, error_at, read_json
from quire.sentinels.form.watch import WEEKDAYS
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
from quire.sentinels.imports.json_paths import pointer
from quire.sources.wacz import BadZip, open_zip, read_member

#: Files in a backup, bytes of one JSON file in it, and of all together.
MAX_ENTRIES = 200_000
MAX_JSON_BYTES = 20_000_000
MAX_BACKUP_BYTES = 100_000_000

_WANTED = re.compile(r"(?:url-watches\.json|changedetection\.json|[\w-]+/(?:watch|tag)\.json)")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = {"weeks": 604800, "days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}
_CLOCK = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")

#: Fields that are carried over.
_READ = {
    *("url", "title", "tag", "tags", "paused", "include_filters", "subtractive_selectors"),
    *("ignore_text", "trigger_text", "text_should_not_be_present", "extract_text", "headers"),
    *("filter_text_added", "filter_text_removed", "filter_text_replaced", "check_unique_lines"),
    *("sort_text_alphabetically", "remove_duplicate_lines", "time_between_check", "method", "body"),
    *("time_between_check_use_default", "time_schedule_limit", "fetch_backend", "browser_profile"),
    *("webdriver_delay", "webdriver_js_execute_code", "browser_steps", "proxy", "processor"),
    *(
        "notification_urls",
        "notification_muted",
        "conditions",
        "conditions_match_logic",
        "css_filter",
    ),
}
#: Fields about results and looks: not settings.
_STATUS = {
    *(
        "uuid",
        "last_checked",
        "last_changed",
        "last_error",
        "last_viewed",
        "last_notification_error",
    ),
    *("previous_md5", "previous_md5_before_filters", "check_count", "date_created", "fetch_time"),
    *("consecutive_filter_failures", "notification_alert_count", "page_title", "content-type"),
    *("remote_server_reply", "has_ldjson_price_data", "browser_steps_last_error_step", "viewed"),
    *("history", "history_n", "newest_history_key", "link", "favicon", "restock", "default"),
    *("use_page_title_in_list", "extract_title_as_title", "trim_text_whitespace"),
    *("strip_ignored_lines", "notification_format", "filter_failure_notification_send"),
    *("in_stock_only", "follow_price_changes", "track_ldjson_price_data", "history_snapshots"),
    *("last_check_status", "last_filter_config_hash", "fetch_backend_used", "processor_config"),
}


@dataclass(slots=True)
class _Settings:
    """Settings of the whole service, and the names of groups."""

    requests: dict[str, object] = field(default_factory=dict)
    application: dict[str, object] = field(default_factory=dict)
    headers: dict[str, object] = field(default_factory=dict)
    tags: dict[str, dict[str, object]] = field(default_factory=dict)

    def take(self, settings: dict[str, object]) -> None:
        self.requests = mapping_of(settings.get("requests"))
        self.application = mapping_of(settings.get("application"))
        self.headers = mapping_of(settings.get("headers"))
        for key, tag in mapping_of(self.application.get("tags")).items():
            self.tags[key] = mapping_of(tag)


def import_changedetection(data: str | bytes | BinaryIO, file: str = "") -> Imported:
    """Import watches of changedetection.io.

    Args:
        data: a backup, ``url-watches.json``, or an answer of the API: one watch, or watches by
            their id. A zip file can be an open file.
        file: the name of the file, for errors.

    Raises:
        WatchError: the data is not such a file, is too long, nested too deep or packed too densely.
    """
    settings = _Settings()
    if isinstance(data, bytes) and data.startswith(b"PK\x03\x04"):
        data = io.BytesIO(data)
    if isinstance(data, str | bytes):
        whole = read_json(as_text(data, file, MAX_JSON_BYTES), file).data
        watches = list(_watches(whole, settings))
    else:
        watches = _from_zip(data, file, settings)
    if not watches:
        raise error_at("no watches of changedetection.io found", "", file, None)
    notes = []
    if len(watches) > MAX_WATCHES:
        notes.append(Note("", "", f"only the first {MAX_WATCHES:,} watches are imported"))
    return finish((_draft(each, settings) for each in watches[:MAX_WATCHES]), notes)


def _watches(whole: object, settings: _Settings) -> Iterator[dict[str, object]]:
    """Return the watches of any of the JSON files."""
    if isinstance(whole, list):
        yield from (each for each in whole if isinstance(each, dict) and "url" in each)
        return
    found = mapping_of(whole)
    settings.take(mapping_of(found.get("settings")))
    if isinstance(found.get("url"), str):
        yield found
        return
    inside = mapping_of(found.get("watching")) if "watching" in found else found
    yield from (each for each in inside.values() if isinstance(each, dict) and "url" in each)


def _from_zip(file: BinaryIO, name: str, settings: _Settings) -> list[dict[str, object]]:
    watches: list[dict[str, object]] = []
    tags: dict[str, dict[str, object]] = {}
    left = MAX_BACKUP_BYTES
    try:
        with open_zip(file, MAX_ENTRIES) as zipped:
            for info in zipped.infolist():
                if not _WANTED.fullmatch(info.filename):
                    continue
                text = read_member(zipped, info, min(left, MAX_JSON_BYTES))
                left -= len(text)
                inside = f"{name}/{info.filename}".lstrip("/")
                data = read_json(as_text(text, inside, MAX_JSON_BYTES), inside).data
                folder, _, last = info.filename.rpartition("/")
                if last == "tag.json":
                    tags[folder] = mapping_of(data)
                elif last == "watch.json":
                    watches += [mapping_of(data)] if "url" in mapping_of(data) else []
                else:
                    watches += _watches(data, settings)
    except BadZip as error:
        raise error_at(str(error), "", name, None) from None
    settings.tags |= tags
    return watches


# ------------------------------------------------------------ one watch


def _draft(watch: dict[str, object], settings: _Settings) -> Draft:
    draft = Draft(text_of(watch.get("title")))
    url = text_of(watch.get("url"))
    if url.startswith("source:"):
        url = url.removeprefix("source:")
        draft.form["watch"] = ["content", "structure", "attributes"]
        draft.note("url", "the source was compared; now everything but scripts is compared")
    draft.address("url", url)
    if is_on(watch.get("paused")):
        draft.form["paused"] = True
    _tags(draft, watch, settings)
    _location(draft, watch, settings)
    _conditions(draft, watch)
    _schedule(draft, watch, settings)
    _fetching(draft, watch, settings)
    _notify(draft, watch, settings)
    _processor(draft, watch)
    for name, value in watch.items():
        if name not in _READ | _STATUS and value not in (None, "", [], {}, False, 0):
            draft.note(name, "not carried over")
    return draft


def _tags(draft: Draft, watch: dict[str, object], settings: _Settings) -> None:
    names = [each.strip() for each in text_of(watch.get("tag")).split(",") if each.strip()]
    for key in texts_of(watch.get("tags")):
        tag = settings.tags.get(key)
        if tag is None:
            draft.note("tags", f"the name of the group {key} is not in the file")
            continue
        if text_of(tag.get("title")):
            names.append(text_of(tag.get("title")))
        used = (
            "include_filters",
            "subtractive_selectors",
            "ignore_text",
            "trigger_text",
            "headers",
        )
        if any(tag.get(name) for name in used):
            draft.pause("tags", "the group has filters of its own, which are not carried over")
    if names:
        draft.form["tags"] = list(dict.fromkeys(names))


def _location(draft: Draft, watch: dict[str, object], settings: _Settings) -> None:
    chosen = texts_of(watch.get("include_filters")) or texts_of(watch.get("css_filter"))
    draft.selectors("include_filters", "where", _selectors(draft, "include_filters", chosen))
    removed = [
        *texts_of(watch.get("subtractive_selectors")),
        *texts_of(settings.application.get("global_subtractive_selectors")),
    ]
    found = _selectors(draft, "subtractive_selectors", removed)
    draft.selectors("subtractive_selectors", "without", found)
    ignored = [
        *texts_of(watch.get("ignore_text")),
        *texts_of(settings.application.get("global_ignore_text")),
    ]
    draft.lines("ignore_text", ignored)
    if is_on(watch.get("sort_text_alphabetically")):
        draft.ignore["order"] = True
    if is_on(watch.get("remove_duplicate_lines")):
        draft.note("remove_duplicate_lines", "a line that occurs more often counts as a change")


def _selectors(draft: Draft, source: str, found: list[str]) -> Iterator[str]:
    for written in found:
        text = written.strip()
        prefix, colon, rest = text.partition(":")
        if colon and prefix in ("xpath", "xpath1"):
            yield f"xpath:{rest.strip()}"
        elif colon and prefix in ("json", "jq", "jqraw"):
            path = pointer(rest)
            if path is None:
                draft.pause(source, f"only paths to one value are supported, not {text!r}")
            elif path != "json:":
                yield path
        else:
            yield text


def _conditions(draft: Draft, watch: dict[str, object]) -> None:
    wanted = draft.words("trigger_text", texts_of(watch.get("trigger_text")))
    if wanted:
        draft.conditions.append(wanted[0] if len(wanted) == 1 else {"any": wanted})
    source = "text_should_not_be_present"
    for condition in draft.words(source, texts_of(watch.get(source))):
        draft.conditions.append({"not": condition})
    extracted = [
        each if each.startswith("/") else f"/{each}/"
        for each in texts_of(watch.get("extract_text"))
    ]
    found = draft.words("extract_text", extracted, "changed")
    if found:
        draft.conditions.append(found[0] if len(found) == 1 else {"any": found})
        draft.note("extract_text", "fires if a line that matches was added or removed")
    if is_on(watch.get("check_unique_lines")):
        draft.conditions.append({"never_seen": True})
    _directions(draft, watch)
    _rules(draft, watch)


def _directions(draft: Draft, watch: dict[str, object]) -> None:
    """Carry over that only added, removed or replaced lines count."""
    added, removed, replaced = (
        watch.get(f"filter_text_{name}") in (None, True)
        for name in ("added", "removed", "replaced")
    )
    if added and removed:
        return
    if not added and not removed:
        draft.note(
            "filter_text_replaced", "replaced lines cannot be told from added and removed ones"
        )
        return
    scope = "added" if added else "removed"
    draft.conditions.append({"text": {"matches": r"\S", "in": scope}})
    if not replaced:
        draft.note("filter_text_replaced", f"a line that was replaced counts as {scope} too")


#: Operators with the move of a number that they are, or are the opposite of.
_COMPARED = {">": "above", "<": "below", ">=": "not below", "<=": "not above"}


def _rules(draft: Draft, watch: dict[str, object]) -> None:
    """Carry over the conditions of a watch, as far as there are such."""
    found: list[object] = []
    rules = watch.get("conditions")
    for rule in rules if isinstance(rules, list) else []:
        operator = text_of(mapping_of(rule).get("operator"))
        about, value = (
            text_of(mapping_of(rule).get("field")),
            text_of(mapping_of(rule).get("value")),
        )
        if about == "extracted_number" and operator in _COMPARED:
            move, limit = _COMPARED[operator], _limit(value)
            condition: object = {"number": {move.removeprefix("not "): limit}}
            found.append({"not": condition} if move.startswith("not") else condition)
        elif about == "page_filtered_text" and operator in ("contains", "!contains") and value:
            condition = {"text": {"has": [value]}}
            found.append(condition if operator == "contains" else {"not": condition})
        elif about == "page_filtered_text" and operator in ("contains_regex", "!contains_regex"):
            pattern = draft.pattern("conditions", value)
            if pattern is not None:
                condition = {"text": {"matches": pattern}}
                found.append(condition if operator == "contains_regex" else {"not": condition})
        elif operator or about:
            draft.pause("conditions", f"the condition {about} {operator} is not supported")
    if found:
        joined = "any" if text_of(watch.get("conditions_match_logic")).upper() == "ANY" else "all"
        draft.conditions.append(found[0] if len(found) == 1 else {joined: found})


def _limit(text: str) -> float | str:
    """Return a limit as a number; as it is, for the error, if it is none."""
    try:
        return float(text)
    except ValueError:
        return text


# ------------------------------------------------------------ how often


def _schedule(draft: Draft, watch: dict[str, object], settings: _Settings) -> None:
    own = _seconds(watch.get("time_between_check"))
    uses_default = watch.get("time_between_check_use_default", not own)
    seconds = _seconds(settings.requests.get("time_between_check")) if is_on(uses_default) else own
    if seconds:
        draft.form["every"] = seconds
    jitter = number_of(settings.requests.get("jitter_seconds"))
    if jitter:
        draft.form["jitter"] = jitter
    limit = mapping_of(watch.get("time_schedule_limit"))
    if not is_on(limit.get("enabled")):
        return
    zone = text_of(limit.get("timezone"))
    zone = zone or text_of(settings.application.get("scheduler_timezone_default"))
    if zone:
        draft.form["zone"] = zone
    windows = []
    for day, name in zip(WEEKDAYS, _DAYS, strict=True):
        window = mapping_of(limit.get(name))
        if is_on(window.get("enabled")):
            windows.append({"days": [day], **_hours(draft, window)})
    if windows:
        draft.form["windows"] = windows
    else:
        draft.pause("time_schedule_limit", "it allows no checks at all")


def _seconds(value: object) -> float:
    parts = mapping_of(value)
    return sum(number_of(parts.get(unit)) * seconds for unit, seconds in _UNITS.items())


def _hours(draft: Draft, window: dict[str, object]) -> dict[str, object]:
    start = _CLOCK.fullmatch(text_of(window.get("start_time")) or "0:00")
    length = mapping_of(window.get("duration"))
    minutes = int(number_of(length.get("hours")) * 60 + number_of(length.get("minutes")))
    if start is None:
        draft.pause("time_schedule_limit", "a start time cannot be read")
        return {}
    first = int(start[1]) * 60 + int(start[2])
    last = (first + min(minutes, 1440)) % 1440
    return {"from": f"{first // 60:02}:{first % 60:02}", "to": f"{last // 60:02}:{last % 60:02}"}


# ------------------------------------------------------------ fetching, notices


def _fetching(draft: Draft, watch: dict[str, object], settings: _Settings) -> None:
    name = "browser_profile" if text_of(watch.get("browser_profile")) else "fetch_backend"
    backend = text_of(watch.get(name)) or "system"
    if backend == "system":
        backend = text_of(settings.application.get(name)) or "html_requests"
    if backend not in ("html_requests", "direct_http_requests", "requests", "system"):
        draft.fetch["browser"] = True
    pairs = {**settings.headers, **mapping_of(watch.get("headers"))}
    headers = {key: text_of(value) for key, value in pairs.items() if text_of(value)}
    if headers:
        draft.fetch["headers"] = headers
    if (text_of(watch.get("method")) or "GET").upper() != "GET" or text_of(watch.get("body")):
        draft.pause("method", "only GET requests are supported")
    _proxy(draft, text_of(watch.get("proxy")), settings)
    steps = watch.get("browser_steps")
    for step in steps if isinstance(steps, list) else []:
        _step(draft, mapping_of(step))
    delay = number_of(watch.get("webdriver_delay"))
    if delay:
        draft.steps("webdriver_delay", [{"wait": min(max(delay, 0.1), 60)}])
    if text_of(watch.get("webdriver_js_execute_code")):
        draft.pause("webdriver_js_execute_code", "scripts of your own are not run")


def _proxy(draft: Draft, chosen: str, settings: _Settings) -> None:
    if not chosen or chosen == "no-proxy":
        return
    known = settings.requests.get("extra_proxies")
    for proxy in known if isinstance(known, list) else []:
        name = text_of(mapping_of(proxy).get("proxy_name"))
        if name and chosen.endswith(name):
            draft.fetch["proxy"] = text_of(mapping_of(proxy).get("proxy_url"))
            return
    draft.pause("proxy", f"the address of the proxy {chosen!r} is not in the file")


def _step(draft: Draft, step: dict[str, object]) -> None:
    operation = text_of(step.get("operation")).lower()
    selector, value = text_of(step.get("selector")), text_of(step.get("optional_value"))
    if operation in ("", "choose one", "goto site"):
        return
    steps: dict[str, object] = {
        "click element": {"click": selector},
        "click element if exists": {"click": selector},
        "enter text in field": {"type": selector, "text": value},
        "wait for seconds": {"wait": number_of(value)},
        "wait for element": {"wait": selector},
        "press enter": {"press": "Enter"},
        "goto url": {"open": value},
    }
    if operation in steps:
        draft.steps("browser_steps", [steps[operation]])
    else:
        draft.pause("browser_steps", f"the step {operation!r} is not supported")


def _notify(draft: Draft, watch: dict[str, object], settings: _Settings) -> None:
    targets = texts_of(watch.get("notification_urls")) or [
        target
        for key in texts_of(watch.get("tags"))
        for target in texts_of(settings.tags.get(key, {}).get("notification_urls"))
    ]
    targets = targets or texts_of(settings.application.get("notification_urls"))
    if is_on(watch.get("notification_muted")):
        if targets:
            draft.note("notification_muted", "it was muted, so its targets are left out")
        return
    kept = []
    for target in targets:
        if "{{" in target or "{%" in target:
            draft.note("notification_urls", "a target with a template is not carried over")
        else:
            kept.append(target)
    if kept:
        draft.form["notify"] = {"to": kept}


def _processor(draft: Draft, watch: dict[str, object]) -> None:
    processor = text_of(watch.get("processor")) or "text_json_diff"
    if processor == "restock_diff":
        if draft.conditions:
            draft.note("processor", "its own conditions replace those of the preset")
        draft.form["preset"] = "back in stock"
        draft.note("processor", "data about products is not read; 'sold out' in the text decides")
    elif processor != "text_json_diff":
        draft.pause("processor", f"the processor {processor!r} is not supported")
