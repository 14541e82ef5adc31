"""Files of watches: YAML or JSON texts with one watch, a list, or ``watches`` with ``defaults``.

defaults:
  every: 30 min
  notify: mailto:me@example.org
watches:
  - url: https://example.org/menu
  - url: https://example.org/news
    every: 5 min
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from quire.errors import MissingExtra, WatchError
from quire.sentinels.form.plain_data import (
    MAX_BYTES,
    Format,
    Written,
    looks_like_number,
    read_plain_data,
)
from quire.sentinels.form.reading import read_watch
from quire.sentinels.form.watch import Watch
from quire.sentinels.form.writing import Form, watch_to_dict

#: What can be in ``defaults``: how to check, fetch and tell, but not what to watch.
DEFAULTS = (
    "every",
    "cron",
    "zone",
    "windows",
    "jitter",
    "slow_down",
    "fetch",
    "notify",
    "tags",
    "learn_noise",
    "follow",
    "paused",
    "keep",
)


def read_watches(
    text: str | bytes,
    file: str = "",
    format: Format | None = None,  # noqa: A002 - the usual word
) -> list[Watch]:
    r"""Read the watches of a YAML or JSON text.

    >>> [each.name for each in read_watches("- url: http://a.example/\n- url: http://b.example/")]
    ['http://a.example/', 'http://b.example/']

    Args:
        text: the text; bytes are UTF-8.
        file: the name of the file, for errors.
        format: the format; by default from the name of the file, otherwise from the text.

    Raises:
        WatchError: the text is not valid, or a field of a watch is wrong. It names the line.
        MissingExtra: PyYAML is not installed, and the text is not JSON.
    """
    written = read_plain_data(text, file, format)
    data, defaults, place = written.data, {}, ""
    if isinstance(data, dict) and not {"url", "urls"} & data.keys():
        if "watches" not in data and "defaults" not in data:
            raise written.error("expected a watch with 'url', a list, or 'watches'", "")
        for name in data:
            if name not in ("watches", "defaults"):
                raise written.error(f"{name}: expected only 'watches' and 'defaults' here", name)
        defaults = _defaults(written)
        data, place = data.get("watches"), "watches"
        if not isinstance(data, list):
            raise written.error("watches: expected a list of watches", "watches")
    if not isinstance(data, list):
        return [_read(written, data, "", {})]
    found: dict[str, int] = {}
    watches = []
    for number, form in enumerate(data):
        path = f"{place}[{number}]"
        watch = _read(written, form, path, defaults)
        if watch.name in found:
            other = f"{place}[{found[watch.name]}]"
            raise written.error(
                f"{path}.name: {watch.name!r} is also the name of {other}; give each its own",
                f"{path}.name",
            )
        found[watch.name] = number
        watches.append(watch)
    return watches


def read_watch_file(path: Path) -> list[Watch]:
    """Read the watches of a file.

    Raises:
        OSError: the file cannot be read.
        WatchError: it is not valid.
        MissingExtra: PyYAML is not installed, and the file is not JSON.
    """
    with path.open("rb") as file:
        return read_watches(file.read(MAX_BYTES + 1), path.name)


def watches_to_text(
    watches: Iterable[Watch],
    format: Format = "yaml",  # noqa: A002 - the usual word
    *,
    secrets: bool = False,
) -> str:
    """Write watches as a text that ``read_watches`` reads.

    >>> print(watches_to_text(read_watches("url: https://a.example/")))
    watches:
    - name: https://a.example/
      url: https://a.example/

    Args:
        watches: the watches.
        format: YAML or JSON.
        secrets: include secrets; by default there is ``<secret>`` in their place.

    Raises:
        MissingExtra: PyYAML is not installed, and the format is YAML.
    """
    data: Form = {"watches": [watch_to_dict(watch, secrets=secrets) for watch in watches]}
    if format == "json":
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    return write_yaml(data)


def write_yaml(data: object) -> str:
    """Write plain data as YAML that ``read_plain_data`` reads.

    Raises:
        MissingExtra: PyYAML is not installed.
    """
    try:
        import yaml  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtra("YAML files need PyYAML", extra="serve") from None

    class Dumper(yaml.SafeDumper):
        """Writes no aliases, and quotes all texts that would be read as numbers."""

        def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
            return True

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
            super().increase_indent(flow, False)  # noqa: FBT003

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        # Line breaks, of which YAML has more kinds than others, survive only between double quotes.
        style = "'" if looks_like_number(value) else None if value.isprintable() else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style)

    Dumper.add_representer(str, text)
    written = yaml.dump(
        data,
        Dumper=Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=100,
        default_flow_style=False,
    )
    return str(written)


def _read(written: Written, form: object, path: str, defaults: Form) -> Watch:
    try:
        return read_watch(_with_defaults(form, defaults))
    except WatchError as error:
        inside = f"{path}.{error.path}" if path and error.path else path or error.path
        message = (
            f"{path}.{error}" if path and error.path else f"{path}: {error}" if path else str(error)
        )
        raise written.error(message, inside) from None


def _defaults(written: Written) -> Form:
    data = written.data
    defaults = data.get("defaults") if isinstance(data, dict) else None
    if defaults is None:
        return {}
    if not isinstance(defaults, dict):
        raise written.error("defaults: expected a mapping of names to values", "defaults")
    for name in defaults:
        if name not in DEFAULTS:
            raise written.error(
                f"defaults.{name}: expected one of {', '.join(DEFAULTS)}", f"defaults.{name}"
            )
    _read(written, {"url": "https://example.org/", **defaults}, "defaults", {})
    return defaults


def _with_defaults(form: object, defaults: Form) -> object:
    """Fill in defaults. ``fetch`` and ``notify`` are joined name by name; the watch wins."""
    if not defaults or not isinstance(form, dict):
        return form
    given = {name: value for name, value in form.items() if value is not None}
    left = {
        name: value
        for name, value in defaults.items()
        if not (name in ("every", "cron") and {"every", "cron"} & given.keys())
    }
    found = {**left, **form, **given}
    for name in ("fetch", "notify"):
        mine, default = _as_mapping(given.get(name)), _as_mapping(defaults.get(name))
        if isinstance(mine, dict) and isinstance(default, dict):
            found[name] = {**_without_conflicts(default, mine), **mine}
    return found


def _without_conflicts(default: Form, mine: Form) -> Form:
    """Return defaults that do not contradict a watch: steps need a browser."""
    if mine.get("browser") is False:
        return {name: value for name, value in default.items() if name != "steps"}
    if mine.get("steps"):
        return {name: value for name, value in default.items() if name != "browser"}
    return default


def _as_mapping(value: object) -> object:
    """Return targets that are given without ``to`` as a mapping."""
    return {"to": value} if isinstance(value, str | list) else value
