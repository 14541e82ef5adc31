"""``quire watch add``, ``edit``, ``accept``, ``reject`` and ``rm``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from quire.cli.common import terminal
from quire.cli.common.files import STANDARD_INPUT, read_standard_input
from quire.cli.common.options import Format, FormatOption
from quire.cli.common.terminal import Refusal, reports_errors
from quire.cli.watch.opening import DatabaseOption, NameArgument, UrlOption, open_service

WhereOption = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="CSS", help="Watch only these elements; CSS or XPath."),
]
WithoutOption = Annotated[
    list[str] | None,
    typer.Option("--without", metavar="CSS", help="Leave these elements out."),
]
WatchOption = Annotated[
    list[str] | None,
    typer.Option(
        "--watch",
        metavar="ASPECT",
        help="What counts: text, links, images, content, structure, tags, attributes (default: text).",
    ),
]
WhenOption = Annotated[
    str | None,
    typer.Option("--when", metavar="CONDITION", help="Condition, as JSON or YAML; see the guide."),
]
EveryOption = Annotated[
    str | None,
    typer.Option("--every", metavar="TIME", help="How often to check (default: 1 hour)."),
]
NotifyOption = Annotated[
    list[str] | None,
    typer.Option("--notify", metavar="TARGET", help="Whom to tell: mailto:…, https://… webhook."),
]
PresetOption = Annotated[
    str | None,
    typer.Option("--preset", metavar="NAME", help="Start from a preset, such as 'price'."),
]
NoiseOption = Annotated[
    bool | None,
    typer.Option(
        "--learn-noise/--no-learn-noise",
        help="Leave out what changes at every fetch (default: yes).",
    ),
]
FileOption = Annotated[
    str | None,
    typer.Option("--file", metavar="FILE", help="Read the watch from a YAML or JSON file."),
]


@reports_errors
def add(
    url: Annotated[str | None, typer.Argument(metavar="URL", help="Address of the page.")] = None,
    *,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Name (default: the address).")
    ] = None,
    where: WhereOption = None,
    without: WithoutOption = None,
    watch: WatchOption = None,
    when: WhenOption = None,
    every: EveryOption = None,
    notify: NotifyOption = None,
    preset: PresetOption = None,
    learn_noise: NoiseOption = None,
    file: FileOption = None,
    database: DatabaseOption = None,
    format: FormatOption = Format.text,  # noqa: A002 - the name of the option
) -> None:
    """Add a watch.

    \b
    Examples:
      quire watch add https://example.org/
      quire watch add https://example.org/kettle --where "#price" --preset "price drop"
      quire watch add https://example.org/news --where "h2" --every "15 min" --name News
      quire watch add https://example.org/jobs --where "ul.jobs" --preset "new record"
      quire watch add --file watches.yaml
    """
    forms = _forms(file) if file else [{}]
    given: dict[str, Any] = {
        "url": url,
        "name": name,
        "where": where,
        "without": without,
        "watch": watch,
        "when": _value(when),
        "every": every,
        "notify": notify,
        "preset": preset,
    }
    given = {key: value for key, value in given.items() if value}
    if learn_noise is not None:
        given["learn_noise"] = learn_noise
    if not given and not file:
        raise Refusal(
            "nothing to watch", hint="name an address: quire watch add https://example.org/"
        )
    service = open_service(database)
    added = [service.add({**form, **given}) for form in forms]
    if format is Format.json:
        terminal.write_json([{"id": each.id, "name": each.watch.name} for each in added])
        return
    for each in added:
        terminal.write_text(f"{each.watch.name}: added as number {each.id}\n")
    terminal.advise("check it now: quire watch run")


@reports_errors
def edit(
    name: NameArgument,
    *,
    new_name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Another name.")
    ] = None,
    where: WhereOption = None,
    without: WithoutOption = None,
    watch: WatchOption = None,
    when: WhenOption = None,
    every: EveryOption = None,
    notify: NotifyOption = None,
    learn_noise: NoiseOption = None,
    paused: Annotated[
        bool | None, typer.Option("--pause/--resume", help="Stop or continue checking.")
    ] = None,
    file: FileOption = None,
    database: DatabaseOption = None,
) -> None:
    """Change a watch. Options that are not given stay as they are; --file replaces everything.

    The history of the page is kept, and the watch is judged on it: see `quire watch replay`.

    \b
    Examples:
      quire watch edit News --every "1 day"
      quire watch edit News --pause
      quire watch edit 3 --where "#headlines" --when '{"never_seen": true}'
    """
    service = open_service(database)
    if file:
        forms = _forms(file)
        if len(forms) != 1:
            raise Refusal(f"{file} has {len(forms)} watches; expected one")
        form = forms[0]
    else:
        form = dict(service.find(name).form)
    given: dict[str, Any] = {
        "name": new_name,
        "where": where,
        "without": without,
        "watch": watch,
        "when": _value(when),
        "every": every,
        "notify": notify,
    }
    form.update({key: value for key, value in given.items() if value})
    if learn_noise is not None:
        form["learn_noise"] = learn_noise
    if paused is not None:
        form["paused"] = paused
    changed = service.edit(name, form)
    terminal.write_text(f"{changed.watch.name}: changed\n")


@reports_errors
def accept(name: NameArgument, *, url: UrlOption = None, database: DatabaseOption = None) -> None:
    """Say yes: the part of a watch is where quire found it again.

    The watch is changed to look there. `quire watch show` has the question.

    \b
    Examples:
      quire watch accept Kettle
    """
    proposal = open_service(database).accept(name, url)
    where = proposal.path or ", ".join(proposal.selector)
    terminal.write_text(f"{name}: watched at {terminal.printable(where)}\n")


@reports_errors
def reject(name: NameArgument, *, url: UrlOption = None, database: DatabaseOption = None) -> None:
    """Say no: the place that quire found is not the part of a watch.

    The watch looks where its selector looks, and waits if there is nothing.

    \b
    Examples:
      quire watch reject Kettle
    """
    proposal = open_service(database).reject(name, url)
    terminal.write_text(f"{name}: looks for {terminal.printable(', '.join(proposal.selector))}\n")
    terminal.advise(f"say where it is: quire watch edit {name!r} --where CSS")


@reports_errors
def rm(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Names or numbers.")],
    *,
    database: DatabaseOption = None,
) -> None:
    """Remove watches with their events. Pages that no other watch has are removed too.

    \b
    Examples:
      quire watch rm News
    """
    service = open_service(database)
    for name in names:
        service.find(name)  # all of them exist, or nothing is removed
    for name in names:
        service.remove(name)
        terminal.write_text(f"{name}: removed\n")


def _forms(file: str) -> list[dict[str, Any]]:
    """Read watches from a YAML or JSON file; ``-`` is standard input."""
    from quire.sentinels.form import read_watches, watch_to_dict  # noqa: PLC0415 - heavy

    try:
        text = read_standard_input() if file == STANDARD_INPUT else Path(file).read_bytes()
    except OSError as error:
        raise Refusal(f"{file}: {error.strerror}") from None
    return [watch_to_dict(watch, secrets=True) for watch in read_watches(text, file)]


def _value(text: str | None) -> object:
    """Read a condition: YAML or JSON, or a plain text such as ``changed``."""
    from quire.sentinels.form.plain_data import read_plain_data  # noqa: PLC0415 - heavy

    if text is None:
        return None
    return read_plain_data(text).data
