"""The result of an import: watches, and notes about everything that could not be carried over.

A ``Draft`` is a watch while it is put together. Nothing is dropped silently: whatever has no
counterpart becomes a note. A watch that would look at another part of the page without it, or ask
another question, is imported paused, so that it cannot raise false alarms before someone looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote

from quire import _core
from quire.display import shorten
from quire.errors import PatternError, SelectorError, WatchError
from quire.sentinels.form.reading import BROWSER_HEADERS, MAX_NAME, read_watch
from quire.sentinels.form.watch import Watch
from quire.sentinels.parts.location import WrongLocation, check_selector

#: Watches in one import.
MAX_WATCHES = 20_000

# Leaves room for the number of a name that occurs several times.
_LONGEST_NAME = MAX_NAME - 20

_META = re.compile(r"([\\.+*?()|\[\]{}^$#&\-~])")
_CREDENTIALS = re.compile(r"([A-Za-z]+://)([^/?#\s]*)@")
_DELIMITED = re.compile(r"/(.+)/([a-z]*)", re.DOTALL)
# Repetitions that start with a comma, and the end of a text: written differently by Python.
_UP_TO = re.compile(r"\{,([0-9]+)\}")


@dataclass(frozen=True, slots=True)
class Note:
    """Something that could not be carried over, or means something slightly different.

    Attributes:
        watch: the name of the watch; empty for the whole file.
        field: the field in the imported file.
        text: what happened to it.
    """

    watch: str
    field: str
    text: str

    def __str__(self) -> str:
        return ": ".join(each for each in (self.watch, self.field, self.text) if each)


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import.

    Attributes:
        watches: the watches; their names are unique.
        notes: what could not be carried over.
    """

    watches: tuple[Watch, ...]
    notes: tuple[Note, ...]


@dataclass(slots=True)
class Draft:
    """A watch that is being put together.

    Attributes:
        name: its name.
        form: fields of the form.
        conditions: conditions that must all hold.
        notes: what could not be carried over.
        hidden: regular expressions of text that does not count.
    """

    name: str
    form: dict[str, object] = field(default_factory=dict)
    conditions: list[object] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    fetch: dict[str, object] = field(default_factory=dict)
    ignore: dict[str, object] = field(default_factory=dict)

    def note(self, source: str, text: str) -> None:
        """Note that a field means something slightly different, or nothing."""
        self.notes.append((source, text))

    def pause(self, source: str, text: str) -> None:
        """Note that a field that matters could not be carried over, and pause the watch."""
        self.notes.append((source, f"{text}; the watch is paused"))
        self.form["paused"] = True

    # ------------------------------------------------------------ fields

    def address(self, source: str, url: str) -> None:
        """Set the address; credentials go where they are kept secret."""
        url = url.strip()
        found = _CREDENTIALS.match(url)
        if found is not None:
            url = f"{found[1]}{url[found.end() :]}"
            user, _, password = found[2].partition(":")
            if user:
                self.fetch["user"] = unquote(user)
            if password:
                self.fetch["password"] = unquote(password)
        if "{{" in url or "{%" in url:
            self.pause(source, "templates in addresses are not supported")
        self.form["url"] = url

    def selectors(self, source: str, name: str, found: Iterable[str]) -> None:
        """Add selectors to ``where`` or ``without``, as far as they are valid here."""
        kept = []
        for selector in found:
            try:
                check_selector(selector, elements=name == "without")
            except (SelectorError, WrongLocation) as error:
                self.pause(source, str(error))
            else:
                kept.append(selector)
        before = self.form.get(name)
        if kept:
            self.form[name] = [*(before if isinstance(before, list) else []), *kept]

    def steps(self, source: str, steps: list[object]) -> None:
        """Add steps in the browser, as far as they are valid here."""
        kept = []
        for step in steps:
            try:
                read_watch({"url": "https://example.org/", "fetch": {"steps": [step]}})
            except WatchError as error:
                self.pause(source, f"a step in the browser is not supported: {error}")
            else:
                kept.append(step)
        before = self.fetch.get("steps")
        if kept:
            self.fetch["browser"] = True
            self.fetch["steps"] = [*(before if isinstance(before, list) else []), *kept]

    def fit_browser(self) -> None:
        """Leave out how to fetch a page that its browser does not do."""
        headers = self.fetch.get("headers")
        if not self.fetch.get("browser"):
            return
        if self.fetch.pop("proxy", None):
            self.pause("proxy", "the browser does not use proxies")
        if not isinstance(headers, dict):
            return
        for name in list(headers):
            if name.lower() not in BROWSER_HEADERS:
                del headers[name]
                self.pause("headers", f"the browser does not send the header {name}")

    def ignore_lines(self, source: str, pattern: str) -> None:
        """Leave out lines that match an expression, which is one of Python."""
        translated = self.pattern(source, pattern)
        if translated is not None:
            self.hidden.append(f".*(?:{translated}).*")

    def ignore_text(self, source: str, pattern: str) -> None:
        """Leave out text that matches an expression, which is one of Python."""
        translated = self.pattern(source, pattern)
        if translated is not None:
            self.hidden.append(translated)

    def pattern(self, source: str, pattern: str) -> str | None:
        """Return an expression of Python in our syntax; None, with a note, if there is none."""
        translated = _UP_TO.sub(r"{0,\1}", pattern).replace(r"\Z", r"\z")
        try:
            _core.Pattern(f".*(?:{translated}).*")
        except (PatternError, ValueError) as error:
            self.pause(source, f"the expression {pattern!r} is not supported: {error}")
            return None
        return translated

    def words(self, source: str, texts: Iterable[str], scope: str = "new") -> list[object]:
        """Return conditions for texts that may be expressions between slashes."""
        found: list[object] = []
        for text in texts:
            delimited = _DELIMITED.fullmatch(text.strip())
            if delimited is None:
                found.append({"text": {"has": [text], "in": scope}})
                continue
            translated = self.pattern(source, with_flags(delimited[1], delimited[2]))
            if translated is not None:
                found.append({"text": {"matches": translated, "in": scope}})
        return found

    def lines(self, source: str, texts: Iterable[str]) -> None:
        """Leave out lines with texts that may be expressions between slashes."""
        for text in texts:
            delimited = _DELIMITED.fullmatch(text.strip())
            if delimited is None:
                self.ignore_lines(source, f"(?i){escaped(text.strip())}")
            else:
                self.ignore_lines(source, with_flags(delimited[1], delimited[2]))


def with_flags(pattern: str, flags: str) -> str:
    """Return an expression with flags that are written behind it.

    >>> with_flags("sold out", "i")
    '(?i)sold out'
    """
    known = "".join(sorted({flag for flag in flags if flag in "imsx"}))
    return f"(?{known}){pattern}" if known else pattern


def escaped(text: str) -> str:
    r"""Return an expression that matches a text.

    >>> escaped("1.50 (new)")
    '1\\.50 \\(new\\)'
    """
    return _META.sub(r"\\\1", text)


# ------------------------------------------------------------ from drafts to watches


def finish(drafts: Iterable[Draft], notes: Iterable[Note] = ()) -> Imported:
    """Turn drafts into watches with unique names."""
    found: dict[str, Watch] = {}
    all_notes = list(notes)
    for draft in drafts:
        whole = draft.name.replace("\0", "").strip() or str(draft.form.get("url", ""))
        name = base = shorten(whole, _LONGEST_NAME)
        number = 2
        while name in found:
            name, number = f"{base} ({number})", number + 1
        draft.form["name"] = name
        watch = _built(draft)
        if watch is not None:
            found[watch.name] = watch
        all_notes += [Note(name, source, text) for source, text in draft.notes]
    return Imported(tuple(found.values()), tuple(all_notes))


def _built(draft: Draft) -> Watch | None:
    """Read the form of a draft; fields that are refused become notes."""
    form = draft.form
    draft.fit_browser()
    if draft.hidden:
        draft.ignore["text"] = draft.hidden
    for name, value in (("fetch", draft.fetch), ("ignore", draft.ignore)):
        if value:
            form[name] = value
    if draft.conditions:
        is_one = len(draft.conditions) == 1
        form["when"] = draft.conditions[0] if is_one else {"all": draft.conditions}
    for _ in range(len(form) + 1):
        try:
            return read_watch(form)
        except WatchError as error:
            blamed = error.path.partition(".")[0].partition("[")[0]
            if blamed not in form or blamed in ("url", "name"):
                draft.note(blamed, f"not imported: {error}")
                return None
            del form[blamed]
            draft.pause(blamed, f"not carried over: {error}")
    return None


# ------------------------------------------------------------ values of any type


def texts_of(value: object) -> list[str]:
    """Return the texts of a value that should be a text or a list of texts.

    >>> texts_of(["a", 3, None, " "]), texts_of("b")
    (['a', '3'], ['b'])
    """
    listed = value if isinstance(value, list) else [value]
    return [
        str(each)
        for each in listed
        if isinstance(each, str | int | float) and not isinstance(each, bool) and str(each).strip()
    ]


def text_of(value: object) -> str:
    """Return a value that should be a text; empty if it is something else."""
    found = texts_of(value) if not isinstance(value, list) else []
    return found[0] if found else ""


def mapping_of(value: object) -> dict[str, object]:
    """Return a value that should be a mapping; empty if it is something else."""
    return value if isinstance(value, dict) else {}


def number_of(value: object) -> float:
    """Return a value that should be a number, perhaps in a text; 0 if it is something else.

    >>> number_of("3"), number_of(2.5), number_of(None), number_of("x")
    (3.0, 2.5, 0.0, 0.0)
    """
    try:
        found = float(value) if isinstance(value, str | int | float) else 0.0
    except (ValueError, OverflowError):
        return 0.0
    return found if 0 <= found < 1e10 else 0.0  # noqa: PLR2004 - longer than any interval


def is_on(value: object) -> bool:
    """Tell whether a value stands for true, also in the words of old YAML.

    >>> is_on("yes"), is_on(True), is_on("off"), is_on(None)
    (True, True, False, False)
    """
    if isinstance(value, str):
        return value.strip().lower() in ("true", "yes", "on", "y", "1")
    return bool(value)
