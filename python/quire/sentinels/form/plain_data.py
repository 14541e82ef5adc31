"""Plain data from YAML and JSON texts, with the line of every field.

YAML is read as far as it says the same as JSON: mappings with texts as names, lists, texts,
numbers, true, false and null. Anchors, aliases, tags and names that occur twice are errors. Only
``true`` and ``false`` are flags and only decimal digits are numbers, as in YAML 1.2: ``no`` and
``09:30`` are texts.

Texts can come from anyone: their length and the depth of what they hold are limited, and nothing
here calls itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias, cast

from quire.errors import MissingExtra, WatchError

if TYPE_CHECKING:
    import yaml

Format: TypeAlias = Literal["yaml", "json"]

#: Bytes of one text.
MAX_BYTES = 5_000_000
#: Names and values in one YAML text; a few seconds of work.
MAX_VALUES = 300_000
#: Lists and mappings inside each other. A condition takes at most two levels for each of its own.
MAX_NESTING = 200

_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,18}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_WHOLE = re.compile(r"[-+]?[0-9]+")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_FLAGS = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


@dataclass(slots=True)
class Lines:
    """The line of a list or mapping, and those of everything inside.

    A tree like the data itself: a table of whole paths would grow with the square of a text that
    has one very long name around many values.
    """

    line: int
    inside: dict[str, int | Lines] | list[int | Lines]

    def nearest(self, path: str) -> int:
        """Return the line of a field, or of the nearest field around it."""
        at = self
        while path:
            found: int | Lines | None = None
            if isinstance(at.inside, list):
                index, _, rest = path.removeprefix("[").partition("]")
                if path.startswith("[") and index.isdecimal() and int(index) < len(at.inside):
                    found = at.inside[int(index)]
            else:
                name = max((name for name in at.inside if _begins(path, name)), key=len, default="")
                found, rest = at.inside.get(name), path[len(name) :]
            if not isinstance(found, Lines):
                return at.line if found is None else found
            at, path = found, rest.removeprefix(".")
        return at.line


def _begins(path: str, name: str) -> bool:
    return path.startswith(name) and path[len(name) : len(name) + 1] in ("", ".", "[")


@dataclass(slots=True)
class Written:
    """Plain data, and where it was written.

    Attributes:
        data: mappings, lists, texts, numbers, true, false and null.
        file: the name of the file; empty if there is none.
        json_text: the text, if it is JSON. Its lines are counted only for an error.
        lines: the lines, if they are known.
    """

    data: object
    file: str = ""
    json_text: str = ""
    lines: Lines | None = None

    def line(self, path: str) -> int | None:
        """Return the line of a field, or of the nearest field around it; None if not known."""
        if self.lines is None and self.json_text:
            self.lines = _json_lines(self.json_text)
        return self.lines.nearest(path) if self.lines else None

    def error(self, message: str, path: str) -> WatchError:
        """Return an error that names the file and the line of a field."""
        return error_at(message, path, self.file, self.line(path))


def error_at(message: str, path: str, file: str, line: int | None) -> WatchError:
    """Return an error that names a file and a line, as far as they are known."""
    place = ", ".join(part for part in (file, f"line {line}" if line else "") if part)
    return WatchError(f"{place}: {message}" if place else message, path=path, file=file, line=line)


def read_plain_data(
    text: str | bytes,
    file: str = "",
    format: Format | None = None,  # noqa: A002 - the usual word
) -> Written:
    r"""Read a text that is one YAML or JSON document.

    >>> read_plain_data("url: https://example.org/\nevery: 1 h").line("every")
    2

    Args:
        text: the text; bytes are UTF-8.
        file: the name of the file, for errors.
        format: the format; by default from the name of the file, otherwise from the text.

    Raises:
        WatchError: the text is too long, nested too deep, or not valid.
        MissingExtra: PyYAML is not installed.
    """
    text = as_text(text, file)
    if format is None and file.lower().endswith((".yaml", ".yml", ".json")):
        format = "json" if file.lower().endswith(".json") else "yaml"  # noqa: A001
    if format is None and text.lstrip()[:1] in ("{", "["):
        try:
            return read_json(text, file)
        except WatchError as error:
            if error.path:  # valid JSON, but not for us
                raise
    if format == "json":
        return read_json(text, file)
    documents = list(read_yaml(text, file, most=1))
    if not documents:
        raise error_at("the file is empty", "", file, None)
    return documents[0]


def as_text(text: str | bytes, file: str = "", most: int = MAX_BYTES) -> str:
    """Return a text as characters.

    Raises:
        WatchError: it is too long, or not UTF-8.
    """
    if len(text) > most:
        raise error_at(f"longer than {most:,} bytes", "", file, None)
    if isinstance(text, bytes):
        try:
            return text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = text.count(b"\n", 0, error.start) + 1
            raise error_at("not UTF-8", "", file, line) from None
    return text.removeprefix("\ufeff")


# ------------------------------------------------------------ JSON


def read_json(text: str, file: str = "") -> Written:
    """Read JSON.

    Raises:
        WatchError: the text is not valid, nested too deep, or has a name twice.
    """
    try:
        data = json.loads(text, object_pairs_hook=_mapping, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise error_at(f"not JSON: {error.msg}", "", file, error.lineno) from None
    except _TwiceError as error:
        raise _located(text, file) or error_at(f"{error} occurs twice", "", file, None) from None
    except RecursionError:
        raise error_at(f"nested more than {MAX_NESTING} deep", "", file, None) from None
    except ValueError as error:  # numbers with thousands of digits, NaN
        raise error_at(f"not JSON: {error}", "", file, None) from None
    if _is_too_deep(data):
        raise error_at(f"nested more than {MAX_NESTING} deep", "", file, None)
    return Written(data, file, text)


class _TwiceError(Exception):
    """A name occurs twice in a mapping."""


def _mapping(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise _TwiceError(repr(name))
        found[name] = value
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _is_too_deep(data: object) -> bool:
    level = [data]
    for _ in range(MAX_NESTING + 1):
        level = [
            value
            for each in level
            if isinstance(each, dict | list)
            for value in (each.values() if isinstance(each, dict) else each)
            if isinstance(value, dict | list)
        ]
    return bool(level)


# The parser of JSON gives no lines. JSON is also YAML, but for tabs and a few rare spellings; with
# those, or without PyYAML, errors name no line.


def _located(text: str, file: str) -> WatchError | None:
    """Return the error with its line that a text has as YAML."""
    try:
        list(read_yaml(text.replace("\t", " "), file))
    except WatchError as error:
        return error if error.path else None
    except MissingExtra:
        pass
    return None


def _json_lines(text: str) -> Lines | None:
    try:
        return next(read_yaml(text.replace("\t", " "))).lines
    except (WatchError, MissingExtra):
        return None


# ------------------------------------------------------------ YAML


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being read."""

    data: dict[str, object] | list[object]
    lines: Lines
    name: str | None = None  # of a mapping: the name whose value comes next
    name_line: int = 1


def read_yaml(text: str, file: str = "", most: int = 1) -> Iterator[Written]:
    """Read the documents of a YAML text.

    Raises:
        WatchError: the text is not valid, nested too deep, has more documents than ``most``, or
            uses features that are not supported: anchors, aliases, tags, names that are not texts
            or occur twice.
        MissingExtra: PyYAML is not installed.
    """
    try:
        import yaml  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtra("YAML files need PyYAML", extra="serve") from None
    reader = _YamlReader(file)
    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    found = values = 0
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.DocumentStartEvent):
                found += 1
                if found > most:
                    raise error_at("more documents than expected", "", file, _line(event))
                reader = _YamlReader(file)
            elif isinstance(event, yaml.NodeEvent):
                values += 1
                if values > MAX_VALUES:
                    raise error_at(f"more than {MAX_VALUES:,} values", "", file, _line(event))
                reader.take(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                reader.close()
            elif isinstance(event, yaml.DocumentEndEvent):
                yield Written(reader.whole, file, lines=reader.lines)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", "") or "not readable"
        line = mark.line + 1 if mark is not None else None
        raise error_at(f"not YAML: {problem}", reader.path(), file, line) from None


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


class _YamlReader:
    """Builds the data of one document from the events of the parser."""

    def __init__(self, file: str) -> None:
        self.file: str = file
        self.whole: object = None
        self.lines: Lines = Lines(1, {})
        self._open: list[_Open] = []

    def take(self, event: yaml.NodeEvent) -> None:
        """Take the next value, or the next name in a mapping."""
        import yaml  # noqa: PLC0415 - an extra

        line = _line(event)
        if isinstance(event, yaml.AliasEvent):
            raise self._wrong("aliases (*) are not read; write the value itself", line)
        if event.anchor is not None:
            raise self._wrong("anchors (&) are not read; write the value itself", line)
        inside = self._open[-1] if self._open else None
        needs_name = inside is not None and isinstance(inside.data, dict) and inside.name is None
        if isinstance(event, yaml.ScalarEvent):
            if event.tag is not None:
                raise self._wrong("tags (!) are not read", line)
            if inside is not None and needs_name:
                inside.name, inside.name_line = event.value, line
                if event.value in inside.data:
                    raise self._wrong("the name occurs twice", line)
            else:
                self._put(_scalar(event.value) if event.implicit[0] else event.value, line)
            return
        if isinstance(event, yaml.CollectionStartEvent) and event.tag is not None:
            raise self._wrong("tags (!) are not read", line)
        if needs_name:
            raise self._wrong("expected a name, found a list or mapping", line)
        if len(self._open) > MAX_NESTING:
            raise self._wrong(f"nested more than {MAX_NESTING} deep", line)
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        lines = Lines(line, {} if is_mapping else [])
        data: dict[str, object] | list[object] = {} if is_mapping else []
        self._put(data, lines)
        self._open.append(_Open(data, lines))

    def close(self) -> None:
        """Take the end of a list or mapping."""
        self._open.pop()

    def path(self) -> str:
        """Return the path of the value that comes next."""
        found = ""
        for each in self._open:
            is_list = isinstance(each.data, list)
            # Of the lists and mappings around it, the last item is the one that is open.
            last = each is self._open[-1]
            name = (
                f"[{len(each.data) - (not last)}]" if is_list else f".{_name(each, is_last=last)}"
            )
            found += "" if name == "." else name
        return found.removeprefix(".")

    def _wrong(self, message: str, line: int) -> WatchError:
        path = self.path()
        return error_at(f"{path}: {message}" if path else message, path, self.file, line)

    def _put(self, value: object, line: int | Lines) -> None:
        if not self._open:
            self.whole = value
            self.lines = line if isinstance(line, Lines) else Lines(line, {})
            return
        inside, lines = self._open[-1], self._open[-1].lines.inside
        if isinstance(inside.data, list):
            inside.data.append(value)
            cast("list[int | Lines]", lines).append(line)
        elif inside.name is not None:
            inside.data[inside.name] = value
            if isinstance(line, Lines):
                line.line = inside.name_line
            else:
                line = inside.name_line
            cast("dict[str, int | Lines]", lines)[inside.name] = line
            inside.name = None


def _name(mapping: _Open, *, is_last: bool) -> str:
    if is_last:
        return mapping.name or ""
    return next(reversed(cast("dict[str, object]", mapping.data)), "")


def _scalar(text: str) -> object:
    """Return the value of a text without quotes."""
    if text in _NULLS:
        return None
    if text in _FLAGS:
        return _FLAGS[text]
    if looks_like_number(text):
        return int(text) if _WHOLE.fullmatch(text) else float(text)
    return text


def looks_like_number(text: str) -> bool:
    """Tell whether a text without quotes is read as a number.

    >>> [looks_like_number(text) for text in ("12", "-.5e3", "0x1f", "09:30", ".inf")]
    [True, True, False, False, False]
    """
    return _NUMBER.fullmatch(text) is not None
