"""The second step: what counts, how often, whom to tell, with a preview; then the watch is added."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from quire.errors import NameTaken, QuireError
from quire.sentinels.checking.replay import by_month
from quire.sentinels.form.reading import MAX_NAME, read_watch
from quire.sentinels.parts import PageReader
from quire.sentinels.picking import alike
from quire.sentinels.service import TestedTarget
from quire.web.answers import Problem
from quire.web.api.context import App, Client, State, router
from quire.web.pages.adding.choice import Choice
from quire.web.pages.adding.picker import Chosen, Opened, open_draft, title_of
from quire.web.pages.adding.words import KEEP, OFTEN, WORDINGS, Counts, condition, likely
from quire.web.pages.forms import Fields, read_fields
from quire.web.pages.page import page

routes: APIRouter = router()

SHOWN_LINES = 12
SHOWN_LINE = 200
MOST_COPIES = 100
#: Fields of the form: one for each known target, and the others.
MOST_FIELDS = 60
#: Fields that a choice of what counts replaces.
_REPLACED = ("preset", "watch", "when", "attributes", "ignore")


@dataclass(frozen=True, slots=True)
class Filled:
    """The fields of the form, as they were filled in.

    Attributes:
        name: the name of the watch.
        counts: what counts.
        below: the number for a price that falls below it.
        words: the words that appear.
        every: how often.
        tell: keys of targets that other watches have.
        target: a new target.
    """

    name: str
    counts: Counts
    below: str = ""
    words: str = ""
    every: str = "1 h"
    tell: tuple[str, ...] = ()
    target: str = ""


@routes.get("/watches/new/{draft}/rules", include_in_schema=False)
async def show_rules(app: App, client: Client, draft: str, chosen: Chosen) -> Response:
    """Show the form, with likely answers filled in."""
    opened = await app.run_heavy(open_draft, app, client, draft)
    filled = await app.run_heavy(_first, app, opened, chosen)
    return await app.run_heavy(_shown, app, client, opened, chosen, filled)


@routes.post("/watches/new/{draft}/rules", include_in_schema=False)
async def use_rules(
    request: Request, app: App, client: Client, draft: str, chosen: Chosen
) -> Response:
    """Preview, send a test message, or add the watch."""
    fields = await read_fields(request, MOST_FIELDS)
    opened = await app.run_heavy(open_draft, app, client, draft)
    filled = _filled(fields)
    try:
        form = await app.run_heavy(_form, app, opened, chosen, filled)
        if fields.get("test"):
            tested = await _tested(app, form)
            return await app.run_heavy(_shown, app, client, opened, chosen, filled, tested=tested)
        if not fields.get("add"):
            return await app.run_heavy(_shown, app, client, opened, chosen, filled)
        number = await app.run_heavy(_save, app, opened, form, client.account)
    except QuireError as error:
        status = 409 if isinstance(error, NameTaken) else 422
        return await app.run_heavy(
            _shown, app, client, opened, chosen, filled, wrong=str(error), status=status
        )
    return RedirectResponse(f"/watches/{number}", 303)


def _save(app: State, opened: Opened, form: dict[str, Any], account: int) -> int:
    if opened.draft.watch is not None:
        number = app.service.edit(opened.draft.watch, form).id
    else:
        number = app.service.add(form, account).id
    app.service.remove_draft(opened.draft.key, account)
    return number


async def _tested(app: State, form: dict[str, Any]) -> list[TestedTarget]:
    targets = read_watch(form).notify.targets
    if app.open_gate is None:
        raise Problem(501, "this service cannot send test messages")
    refused = app.service.refused_targets(targets)
    async with app.open_gate() as gate:
        found = await app.service.test_targets([t for t in targets if t not in refused], gate)
    return [*found, *(TestedTarget("", why, "") for why in refused.values())]


# ------------------------------------------------------------ the form


def _first(app: State, opened: Opened, choice: Choice) -> Filled:
    """Fill in likely answers, or those of the watch."""
    if opened.draft.watch is not None:
        stored = app.service.find(opened.draft.watch)
        known = {each.target: each.key for each in app.service.known_targets()}
        told = tuple(known[each] for each in stored.watch.notify.targets if each in known)
        every = stored.form.get("every", "1 h")
        return Filled(stored.watch.name, Counts.KEEP, every=str(every), tell=told)
    reading = PageReader(opened.page).read(opened.part(choice))
    item = choice.watch[-1] if choice.watch else None
    nodes = [] if item is None else opened.chooser.nodes(item)
    is_list = len(nodes) > 1 or (
        len(nodes) == 1
        and (inner := _first_child(opened, nodes[0])) is not None
        and (found := alike(opened.chooser.make, inner)) is not None
        and found.node == nodes[0]
    )
    has_links = len(nodes) == 1 and opened.chooser.make.name(nodes[0]) == "a"
    # One column is a line for each item; several are records, of which some fields change.
    listed = PageReader(opened.page).records(opened.part(choice)) if is_list else None
    counts = Counts.ANY
    if item:
        counts = likely(
            reading.text,
            is_list=is_list,
            has_links=has_links,
            has_records=listed is not None and len(listed.region.columns) > 1,
        )
    return Filled(_free_name(app, _name(opened, reading.text if item else "")), counts)


def _first_child(opened: Opened, node: int) -> int | None:
    page, child = opened.page, node + 1
    end = node + int(page.size[node])
    while child < end:
        if not str(page.tag_names[page.tag[child]]).startswith("#"):
            return child
        child += int(page.size[child])
    return None


def _name(opened: Opened, text: str) -> str:
    title = title_of(opened.page) or opened.draft.url
    line = text.partition("\n")[0]
    named = f"{title}: {line}" if line and len(line) <= 40 and not line[:1].isdigit() else title  # noqa: PLR2004
    return named[:MAX_NAME]


def _free_name(app: State, name: str) -> str:
    """Return a name that no other watch has."""
    taken = {each.watch.name for each in app.service.watches(text=name[:100], most=MOST_COPIES)}
    if name not in taken:
        return name
    short = name[: MAX_NAME - 5]
    return next(
        (f"{short} ({number})" for number in range(2, 1000) if f"{short} ({number})" not in taken),
        short,
    )


def _filled(fields: Fields) -> Filled:
    counts = fields.get("counts").strip()
    return Filled(
        name=fields.get("name").strip(),
        counts=Counts(counts) if counts in set(Counts) else Counts.ANY,
        below=fields.get("below").strip(),
        words=fields.get("words").strip(),
        every=fields.get("every").strip() or "1 h",
        tell=tuple(fields.all("tell")),
        target=fields.get("target").strip(),
    )


def _form(app: State, opened: Opened, choice: Choice, filled: Filled) -> dict[str, Any]:
    """Return the form of the watch.

    Raises:
        WatchError: a field is not valid.
    """
    where, without = opened.places(choice)
    before = {}
    if opened.draft.watch is not None:
        before = dict(app.service.find(opened.draft.watch).form)
    if filled.counts is not Counts.KEEP:
        before = {key: value for key, value in before.items() if key not in _REPLACED}
    chosen = condition(filled.counts, below=_number(filled.below), words=filled.words)
    known = {each.key: each.target for each in app.service.known_targets()}
    targets = [known[key] for key in filled.tell if key in known]
    if filled.target:
        targets.append(filled.target)
    form: dict[str, Any] = {
        **before,
        **({} if "urls" in before else {"url": opened.draft.url}),
        **({"fetch": opened.draft.fetch} if opened.draft.fetch else {}),
        "name": filled.name or opened.draft.url,
        **chosen,
        "every": filled.every,
        "notify": _notify(before.get("notify"), list(dict.fromkeys(targets))),
        **_place("where", where),
        **_place("without", without),
    }
    for name, found in (("where", where), ("without", without)):
        if not found:
            form.pop(name, None)
    if not form["notify"]:
        del form["notify"]
    if "cron" in before:
        form.pop("every")
    read_watch(form)
    return form


def _place(name: str, selectors: tuple[str, ...]) -> dict[str, Any]:
    return {name: selectors[0] if len(selectors) == 1 else list(selectors)} if selectors else {}


def _notify(before: object, targets: list[str]) -> Any:  # noqa: ANN401 - as in a form
    return {**before, "to": targets} if isinstance(before, dict) else targets


def _number(text: str) -> float:
    try:
        found = float(text.replace(",", ".")) if text else 0.0
    except ValueError:
        return 0.0
    return found if math.isfinite(found) else 0.0


# ------------------------------------------------------------ the page


def _shown(
    app: State,
    client: Any,  # noqa: ANN401 - an identity
    opened: Opened,
    choice: Choice,
    filled: Filled,
    *,
    tested: list[TestedTarget] | None = None,
    wrong: str = "",
    status: int = 200,
) -> Response:
    base = f"/watches/new/{quote(opened.draft.key)}"
    where, without = opened.places(choice)
    reader, part = PageReader(opened.page), opened.part(choice)
    reading = reader.read(part)
    lines = [_cut(line) for line in reading.text.splitlines() if line.strip()]
    if filled.counts is Counts.RECORD:
        listed = reader.records(part)
        lines = [] if listed is None else [_cut(each.line) for each in listed.records]
        if listed is None and not wrong:
            wrong = "There is no list of records in this part. Choose an element with a list in it."
    wordings = dict(WORDINGS)
    if opened.draft.watch is not None:
        wordings = {Counts.KEEP: KEEP, **wordings}
    often = dict(OFTEN) | ({} if filled.every in OFTEN else {filled.every: f"every {filled.every}"})
    return page(
        "adding/rules.html",
        status,
        person=client.name,
        here="Watches",
        base=base,
        action=f"{base}/rules?{choice.query()}",
        picker=f"{base}?{choice.query()}",
        draft=opened.draft,
        is_whole=not where,
        where=where,
        without=without,
        found=reading.found,
        lines=lines[:SHOWN_LINES],
        more_lines=max(0, len(lines) - SHOWN_LINES),
        wordings=[(counts.value, each) for counts, each in wordings.items()],
        filled=filled,
        often=often,
        targets=app.service.known_targets(),
        tested=tested,
        past=_past(app, opened, choice, filled),
        wrong=wrong,
    )


def _past(app: State, opened: Opened, choice: Choice, filled: Filled) -> dict[str, Any] | None:
    """Return how often the watch would have told something, if the page was stored before."""
    if not app.service.is_stored(opened.draft.url):
        return None
    try:
        found = app.service.replay(_form(app, opened, choice, filled), opened.draft.url)
    except QuireError:
        return None
    return {
        "captures": found.captures,
        "months": list(by_month(found).items()),
        "last": [
            {"time": each.time, "added": [_cut(t) for t in each.event.added[:3]],
             "removed": [_cut(t) for t in each.event.removed[:3]],
             "reason": _cut(each.event.reason)}
            for each in found.firings[-5:][::-1]
        ],
    }  # fmt: skip


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_LINE else f"{text[:SHOWN_LINE]}…"
