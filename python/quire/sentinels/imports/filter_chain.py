"""Filter chains of urlwatch and webchanges, as parts and conditions.

There, a page goes through filters one after the other, and the text at the end is compared. Here, a
part says what to compare and a condition says when it matters. Most chains have a counterpart:

* filters that choose elements are the location;
* filters that remove lines or text are text that does not count;
* filters that keep lines are a condition over the lines that changed: a line that is kept changed
  exactly if it was added or removed;
* filters that make text readable are not needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from quire.sentinels.imports.imported import (
    Draft,
    escaped,
    is_on,
    mapping_of,
    number_of,
    text_of,
)
from quire.sentinels.imports.json_paths import pointer

#: Filters that make plain text of a page. Text is compared here anyway.
TO_TEXT = {"html2text", "pdf2text", "pypdf", "ical2text", "csv2text", "ocr"}
#: Filters that change how a text looks, and not whether two texts are equal.
HARMLESS = {
    *("strip", "striplines", "strip_each_line", "beautify", "pretty-html", "pretty-xml"),
    *("format-xml", "format-json", "jsontoyaml", "reverse", "absolute_links", "sha1sum", "hexdump"),
    *("sha1", "ascii85", "base64"),
}
#: Filters that run programs.
PROGRAMS = {"shellpipe", "execute"}
#: The value of a filter that is given without a name.
_MAIN = {
    **dict.fromkeys(("css",), "selector"),
    **dict.fromkeys(("xpath",), "path"),
    **dict.fromkeys(("grep", "grepi"), "re"),
    **dict.fromkeys(("keep_lines_containing", "delete_lines_containing"), "text"),
    **dict.fromkeys(("re.sub", "re.findall"), "pattern"),
    "element-by-id": "id",
    "element-by-class": "class",
    "element-by-style": "style",
    "element-by-tag": "tag",
    "jq": "query",
}


def read_filters(draft: Draft, value: object) -> None:
    """Carry a chain of filters over to a draft."""
    chain = list(_listed(draft, value))
    _Chain(draft, has_text="html2text" in [name for name, _ in chain]).read(chain)


def _listed(draft: Draft, value: object) -> Iterator[tuple[str, dict[str, object]]]:
    """Return the filters of a chain with their options."""
    if isinstance(value, str):  # the old way: css:p,html2text
        value = [{name: rest or None} for name, _, rest in _split(value)]
    if not isinstance(value, list):
        if value is not None:
            draft.pause("filter", "expected a list of filters")
        return
    for each in value:
        if isinstance(each, str):
            yield each, {}
        elif isinstance(each, dict):
            for name, options in each.items():
                if isinstance(options, dict):
                    yield name, options
                else:
                    yield name, {} if options is None else {_MAIN.get(name, "value"): options}
        else:
            draft.pause("filter", "expected the name of a filter")


def _split(text: str) -> Iterator[tuple[str, str, str]]:
    for each in text.split(","):
        yield each.strip().partition(":")


class _Chain:
    """A chain of filters on its way into a draft."""

    def __init__(self, draft: Draft, *, has_text: bool) -> None:
        self.draft = draft
        self.has_text = has_text
        self.is_text = False  # whether the filters so far made text of the page
        self.keeps = 0
        self.has_location = False

    def read(self, chain: list[tuple[str, dict[str, object]]]) -> None:
        readers: dict[str, Callable[[str, dict[str, object]], None]] = {
            "css": self._css,
            "xpath": self._xpath,
            "element-by-id": self._element,
            "element-by-class": self._element,
            "element-by-style": self._element,
            "element-by-tag": self._element,
            "grep": self._keep,
            "keep_lines_containing": self._keep,
            "grepi": self._delete,
            "delete_lines_containing": self._delete,
            "re.sub": self._replace,
            "re.findall": self._find,
            "sort": self._sort,
            "jq": self._jq,
        }
        for name, options in chain:
            if name in TO_TEXT:
                self.is_text = True
                self._note_options(name, options)
            elif name in PROGRAMS:
                self.draft.pause(name, "filters that run programs are never imported")
            elif name in readers:
                readers[name](name, options)
            elif name in HARMLESS:
                continue
            else:
                self.draft.pause(name, "the filter is not supported")
        if not self.is_text and not any(name in ("jq", "format-json") for name, _ in chain):
            self._watch_source()

    def _note_options(self, name: str, options: dict[str, object]) -> None:
        if name != "html2text":
            self.draft.note(name, "the kind of page is found out when it is fetched")
        elif set(options) - {"value", "method"}:
            self.draft.note(name, "its options are not needed: the visible text is compared")

    def _watch_source(self) -> None:
        where = self.draft.form.get("where")
        gives_texts = isinstance(where, list) and any("@" in each or "(" in each for each in where)
        if not gives_texts:
            self.draft.form["watch"] = ["content"]
            self.draft.note(
                "filter", "the source was compared; now text, links and images are compared"
            )

    # ------------------------------------------------------------ choosing elements

    def _locate(self, name: str, selector: str, options: dict[str, object]) -> None:
        if not selector:
            self.draft.pause(name, "expected a selector")
            return
        if self.has_location:
            before = self.draft.form.get("where")
            if (
                isinstance(before, list)
                and len(before) == 1
                and not any(_is_xpath(each) or "," in each for each in (*before, selector))
            ):
                self.draft.form["where"] = []
                selector = f"{before[0]} {selector}"
                self.draft.note(name, f"inside the element chosen before: {selector}")
            else:
                self.draft.pause(name, "a selector inside the result of another one")
                return
        self.has_location = True
        self.draft.selectors(name, "where", [selector])
        exclude = text_of(options.get("exclude"))
        if exclude:
            prefix = "xpath:" if name == "xpath" else ""
            self.draft.selectors(f"{name}.exclude", "without", [prefix + exclude])
        if mapping_of(options.get("namespaces")):
            self.draft.note(f"{name}.namespaces", "prefixes are those written in the page")
        if is_on(options.get("sort")):
            self.draft.ignore["order"] = True

    def _css(self, name: str, options: dict[str, object]) -> None:
        if number_of(options.get("skip")) or number_of(options.get("maxitems")):
            self.draft.note(name, "'skip' and 'maxitems' are not carried over; use XPath for them")
        self._locate(name, text_of(options.get("selector")), options)

    def _xpath(self, name: str, options: dict[str, object]) -> None:
        path = text_of(options.get("path"))
        skip, most = int(number_of(options.get("skip"))), int(number_of(options.get("maxitems")))
        if path and (skip or most):
            last = f" and position() <= {skip + most}" if most else ""
            path = f"({path})[position() > {skip}{last}]"
        self._locate(name, f"xpath:{path}" if path else "", options)

    def _element(self, name: str, options: dict[str, object]) -> None:
        kind = name.removeprefix("element-by-")
        value = text_of(options.get(kind))
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        selector = {
            "id": f'[id="{quoted}"]',
            "class": f'[class="{quoted}"]' if " " in value else f'[class~="{quoted}"]',
            "style": f'[style="{quoted}"]',
            "tag": value,
        }[kind]
        self._locate(name, selector if value else "", options)

    def _jq(self, name: str, options: dict[str, object]) -> None:
        found = pointer(text_of(options.get("query")))
        if found is None:
            self.draft.pause(name, "only paths to one value are supported")
        elif found != "json:":
            self._locate(name, found, {})

    # ------------------------------------------------------------ lines of text

    def _expression(self, name: str, options: dict[str, object]) -> str:
        """Return the expression of a filter over lines; empty if it cannot be carried over."""
        if self.has_text and not self.is_text:
            self.draft.pause(name, "a filter of the source, before it becomes text")
            return ""
        expression = text_of(options.get("re")) or text_of(options.get("pattern"))
        if not expression:
            expression = escaped(text_of(options.get("text")))
        if not expression:
            self.draft.pause(name, "expected a text or an expression")
        return expression

    def _keep(self, name: str, options: dict[str, object]) -> None:
        expression = self._expression(name, options)
        found = self.draft.pattern(name, expression) if expression else None
        if found is None:
            return
        self.draft.conditions.append({"text": {"matches": found, "in": "changed"}})
        self.keeps += 1
        if self.keeps > 1:
            self.draft.note(name, "with several of these, each can match another line")

    def _delete(self, name: str, options: dict[str, object]) -> None:
        expression = self._expression(name, options)
        if expression:
            self.draft.ignore_lines(name, expression)

    def _replace(self, name: str, options: dict[str, object]) -> None:
        expression = self._expression(name, options)
        if not expression:
            return
        self.draft.ignore_text(name, expression)
        if text_of(options.get("repl")):
            self.draft.note(name, "the text is ignored instead of replaced")

    def _find(self, name: str, options: dict[str, object]) -> None:
        self._keep(name, options)
        self.draft.note(name, "whole lines that match are compared, not only what matches")

    def _sort(self, name: str, options: dict[str, object]) -> None:
        self.draft.ignore["order"] = True
        if text_of(options.get("separator")):
            self.draft.note(name, "lines are compared in any order, whatever separates items")


def _is_xpath(selector: str) -> bool:
    return selector.startswith(("/", "(", "xpath:", "json:"))
