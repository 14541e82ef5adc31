r"""Style sheets of strangers: every address goes through ``place``; nothing else can load.

The text is split into tokens by the rules of CSS Syntax 3, and every token is written again. So a
browser and this module always agree on where a string, a comment or an address begins and ends,
also in damaged style sheets. Properties, selectors and rules stay as they are.

Three choices worth knowing before changing this file:

* A tokenizer of our own. tinycss2 takes 290 ms and 40 bytes of memory per byte for 300 KB of CSS, and
  fails with RecursionError on 5,000 open brackets. This one takes one pass of one regular expression
  with possessive quantifiers: its cost is linear, nothing recurses, and runs of harmless tokens are
  skipped as one.
* Strings are harmless, except where CSS reads them as addresses: in ``@import``, ``@namespace``,
  ``url()``, ``src()`` and ``image-set()``. A function with such arguments that cannot be read to its
  end is renamed, so that the browser drops the declaration. The same happens if the arguments come
  from variables: ``image-set(var(--x) 1x)``.
* The result reads the same in ``<style>`` of HTML and of SVG, in files and in attributes: it has no
  ``</``, no ``<!``, and no ``&`` that a parser of HTML would decode.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

from quire.viewing.places import Place, Places, Use

#: The name that dangerous functions and rules get. No browser knows it.
NOTHING = "quire-none"

#: Longer style sheets are cut. The longest of 3,000 real pages have 2 MB.
MAX_CHARACTERS = 8 * 2**20

_NAME = r"[\w\-\x80-\U0010ffff]"
_ESCAPE = r"\\(?:[0-9a-fA-F]{1,6}[ \t\n]?|[^\n0-9a-fA-F])"
_STRING = r'"(?:[^"\\\n]|\\[\s\S]|\\\Z)*+(?:"|\Z)|' + r"'(?:[^'\\\n]|\\[\s\S]|\\\Z)*+(?:'|\Z)"
_BAD_STRING = r'"(?:[^"\\\n]|\\[\s\S])*+|' + r"'(?:[^'\\\n]|\\[\s\S])*+"
_COMMENT = r"/\*[\s\S]*?(?:\*/|\Z)"
_SPACE = rf"(?:[ \t\n]|{_COMMENT})*+"

_TOKEN = re.compile(
    rf"""
    (?P<plain> (?: [^\w\-\x80-\U0010ffff"'/\\@#<&{{}}]++     # punctuation and white space
                 | \#?+{_NAME}++(?![\\(])                    # names, numbers and colours
                 | \#{_NAME}++(?!\\)                         # a colour or id before a bracket
               )++ )
  | (?P<comment> {_COMMENT} )
  | (?P<string> {_STRING} )
  | (?P<bad> {_BAD_STRING} )
  | (?P<at> @(?:{_NAME}|{_ESCAPE})++ )
  | (?P<hash> \#(?:{_NAME}|{_ESCAPE})++ )
  | (?P<name> (?:{_NAME}|{_ESCAPE})++ \(?+ )
  | (?P<open> \{{ )
  | (?P<close> \}} )
  | (?P<tag> <!-- | < )
  | (?P<and> & )
  | (?P<other> [\s\S] )
    """,
    re.VERBOSE | re.ASCII,
)
_ESCAPED = re.compile(_ESCAPE)
_IN_STRING = re.compile(r"\\([0-9a-fA-F]{1,6}[ \t\n]?|[\s\S]?)")
_RISKY = re.compile(r"(\\[\s\S])|[<&]")
# What follows `url(` if its argument has no quotes, as far as it is well formed.
_BARE_URL = re.compile(
    rf"[ \t\n]*+((?:[^\"'()\\ \t\n\x00-\x08\x0b\x0e-\x1f\x7f]|{_ESCAPE})*+)[ \t\n]*+(?:\)|\Z)"
)
_BAD_URL = re.compile(r"(?:\\[^\n]|[^)])*+\)?")
_QUOTED = re.compile(rf"[ \t\n]*+({_STRING})")
_QUOTE = re.compile(r"[ \t\n]*+[\"']")
_ONLY_STRING = re.compile(rf"{_SPACE}({_STRING}){_SPACE}(?:\)|\Z)")
_URL_NAME = re.compile(rf"{_SPACE}((?:{_NAME}|{_ESCAPE})++)\(")
_AFTER_SPACE = re.compile(rf"{_SPACE}({_STRING})")
_PREFIX = re.compile(rf"{_SPACE}((?:{_NAME}|{_ESCAPE})++)(?!\()")
_IN_IMAGE_SET = re.compile(rf"[ \t\n]++|{_COMMENT}|,|[\d.]++[a-zA-Z]*+|({_STRING})|\)")
_TYPE = re.compile(rf"type\({_SPACE}(?:{_STRING}){_SPACE}\)", re.IGNORECASE)
_UNREADABLE = re.compile(r"[\x00\ud800-\udfff]")
_SURROGATES = range(0xD800, 0xE000)
_NEWLINES = re.compile(r"\r\n?|\f")
_ENDS_PROPERTY = re.compile(rf"{_SPACE}:")

# Namespaces are names, not addresses; these are the ones that pages need.
_NAMESPACES = frozenset(
    {
        "http://www.w3.org/1999/xhtml",
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1998/Math/MathML",
        "http://www.w3.org/1999/xlink",
    }
)
# Old browsers ran scripts from these.
_DEAD_PROPERTIES = frozenset({"behavior", "-moz-binding", "-ms-behavior"})
_DEAD = re.compile(
    rf"(?<!{_NAME})(?<![#.])(?:behavior|-ms-behavior|-moz-binding)(?=[ \t\n]*+(?::|\Z))",
    re.IGNORECASE | re.ASCII,
)
_DEAD_FUNCTIONS = frozenset({"expression", "image"})
_IMAGE_SETS = frozenset({"image-set", "-webkit-image-set", "-moz-image-set"})


def safe_css(text: str, *, url: str, place: Place) -> str:
    """Return a style sheet, or the declarations of a ``style`` attribute, with addresses placed.

    >>> css = "@import 'a.css'; p { background: URL(b.png); color: red }"
    >>> safe_css(css, url="https://a.example/c/", place=lambda url, use: f"/{use.value}?{url}")
    '@import url("/style?https://a.example/c/a.css"); p { background:
    url("/image?https://a.example/c/b.png"); color: red }'
    >>> safe_css(css, url="https://a.example/c/", place=lambda url, use: None)
    "@quire-none 'a.css'; p { background: quire-none(); color: red }"

    Args:
        text: the style sheet.
        url: the address that others are relative to.
        place: returns the address to write; None to leave it out.
    """
    return placed_css(text, Places(url, url, place))


def placed_css(text: str, places: Places) -> str:
    """Return a style sheet with its addresses placed; see ``safe_css``."""
    text = _NEWLINES.sub("\n", text[:MAX_CHARACTERS])
    # Half a surrogate pair would later be written as another character, maybe not one of a name.
    return _Sheet(_UNREADABLE.sub("\ufffd", text), places).written()


class _Sheet:
    """A style sheet, the reading position, and the output so far."""

    def __init__(self, text: str, places: Places) -> None:
        self.text = text
        self.places = places
        self.at = 0
        self.out: list[str] = []
        # Depth of braces, and the depth at which a rule @font-face began.
        self.depth = 0
        self.font_at: int | None = None

    def written(self) -> str:
        text, out = self.text, self.out
        steps: dict[str, Callable[[str], None]] = {
            "comment": self._comment,
            "string": self._string,
            "bad": self._bad_string,
            "at": self._at_rule,
            "name": self._name,
            "open": self._open,
            "close": self._close,
            "tag": self._tag,
            "and": self._and,
            "other": self._other,
            "hash": self._hash,
        }
        while self.at < len(text):
            found = _TOKEN.match(text, self.at)
            if found is None:  # every character is at least "other"
                break
            self.at = found.end()
            kind, token = found.lastgroup, found.group()
            if kind == "plain":
                out.append(self._plain(token))
            elif kind is not None:
                steps[kind](token)
        return "".join(out)

    # ------------------------------------------------------------ harmless tokens

    def _plain(self, token: str) -> str:
        return _DEAD.sub(NOTHING, token) if "b" in token or "B" in token else token

    def _comment(self, _token: str) -> None:
        self.out.append("/**/")

    def _string(self, token: str) -> None:
        self.out.append(_closed(token))

    def _bad_string(self, token: str) -> None:
        # The line end that follows closes it, and makes the declaration invalid.
        self.out.append(_inert(token))

    def _hash(self, token: str) -> None:
        self.out.append(_inert(token))

    def _open(self, token: str) -> None:
        self.depth += 1
        self.out.append(token)

    def _close(self, token: str) -> None:
        self.depth = max(0, self.depth - 1)
        if self.font_at is not None and self.depth <= self.font_at:
            self.font_at = None
        self.out.append(token)

    def _tag(self, token: str) -> None:
        if len(token) > 1:
            self.out.append("/**/")  # white space would end an escape in front of it
        else:
            # `<` compares widths in media queries. A letter behind it would begin a tag.
            self.out.append("< " if self.text[self.at : self.at + 1].strip(" =") else "<")

    def _and(self, _token: str) -> None:
        # `&#a` and `&amp` would be character references.
        after = self.text[self.at : self.at + 1]
        self.out.append("&/**/" if after == "#" or after.isalnum() or after == "\\" else "&")

    def _other(self, token: str) -> None:
        # A slash, a backslash in front of a line end, or a lonely `@` or `#`.
        self.out.append(token)

    # ------------------------------------------------------------ names and functions

    def _name(self, token: str) -> None:
        is_function = token.endswith("(") and not token.endswith("\\(")
        if token.endswith("\\("):  # an escaped bracket, unless the backslash is escaped itself
            is_function = _ESCAPED.sub("", token).endswith("(")
        name = _decoded(token[:-1] if is_function else token).lower()
        if not is_function:
            dead = name in _DEAD_PROPERTIES and _ENDS_PROPERTY.match(self.text, self.at)
            self.out.append(NOTHING if dead else _inert(token))
        elif name == "url":
            self._url()
        elif name == "src":
            found = _ONLY_STRING.match(self.text, self.at)
            self._give(None if found is None else _content(found.group(1)), found)
        elif name in _IMAGE_SETS or name.endswith("image-set"):
            self._image_set(name)
        elif name in _DEAD_FUNCTIONS:
            self.out.append(f"{NOTHING}(")
        else:
            self.out.append(_inert(token))

    def _url(self, use: Use | None = None) -> None:
        """Write the function ``url`` whose name and bracket have been read."""
        quoted = _QUOTED.match(self.text, self.at)
        if quoted is not None:
            found = _ONLY_STRING.match(self.text, self.at)
            self._give(None if found is None else _content(quoted.group(1)), found, use)
            return
        if _QUOTE.match(self.text, self.at):  # of a string that is not closed on its line
            self.out.append(f"{NOTHING}(")
            return
        bare = _BARE_URL.match(self.text, self.at)
        if bare is None:
            bad = _BAD_URL.match(self.text, self.at)
            self.at = bad.end() if bad is not None else len(self.text)
            self.out.append(f"{NOTHING}()")
            return
        self._give(_decoded(bare.group(1)), bare, use)

    def _give(
        self, address: str | None, found: re.Match[str] | None, use: Use | None = None
    ) -> None:
        """Write an address with its function and closing bracket, and move behind it."""
        if address is None or found is None:
            self.out.append(f"{NOTHING}(")
            return
        self.at = found.end()
        written = self._placed(address, use)
        self.out.append(f"{NOTHING}()" if written is None else written)

    def _placed(self, address: str, use: Use | None = None) -> str | None:
        if use is None:
            use = Use.IMAGE if self.font_at is None else Use.FONT
        if address.startswith("#"):  # a filter or a gradient of the same document
            return _url(address) if len(address) > 1 else None
        found = self.places.find(address, use) if address.strip() else None
        return None if found is None else _url(found)

    def _image_set(self, name: str) -> None:
        """Write ``image-set()`` if it only has addresses, resolutions and types."""
        text, at, parts = self.text, self.at, [f"{name}("]
        inner = _Sheet(text, self.places)
        while True:
            found = _IN_IMAGE_SET.match(text, at)
            if found is None:
                called = _TYPE.match(text, at)
                if called is not None:
                    parts.append(_inert(called.group()))
                    at = called.end()
                    continue
                named = _URL_NAME.match(text, at)
                if named is None or _decoded(named.group(1)).lower() != "url":
                    break
                inner.at, inner.out = named.end(), []
                inner._url(Use.IMAGE)
                at = inner.at
                if inner.out[-1].startswith(NOTHING):
                    break
                parts += inner.out
                continue
            at = found.end()
            token = found.group()
            if found.group(1) is not None:
                written = self._placed(_content(token), Use.IMAGE)
                if written is None:
                    break
                parts.append(written)
            elif token.startswith("/*"):
                parts.append("/**/")
            else:
                parts.append(token)
            if token[0] == ")":
                self.at = at
                self.out += parts
                return
        # The argument is read again as harmless tokens of an unknown function.
        self.out.append(f"{NOTHING}(")

    # ------------------------------------------------------------ rules

    def _at_rule(self, token: str) -> None:
        name = _decoded(token[1:]).lower()
        if name == "import":
            self._import()
        elif name == "namespace":
            self._namespace()
        else:
            if name == "font-face":
                self.font_at = self.depth
            self.out.append(_inert(token))

    def _import(self) -> None:
        quoted = _AFTER_SPACE.match(self.text, self.at)
        if quoted is not None:
            written = self._placed(_content(quoted.group(1)), Use.STYLE)
            end = quoted.end()
        else:
            named = _URL_NAME.match(self.text, self.at)
            if named is None or _decoded(named.group(1)).lower() not in {"url", "src"}:
                self.out.append(f"@{NOTHING}")
                return
            inner = _Sheet(self.text, self.places)
            inner.at = named.end()
            inner._url(Use.STYLE)
            written, end = inner.out[-1], inner.at
        if written is None or not written.startswith("url("):
            self.out.append(f"@{NOTHING}")
            return
        self.out += ["@import ", written]
        self.at = end

    def _namespace(self) -> None:
        """Write ``@namespace`` if it is one that pages need."""
        prefix = _PREFIX.match(self.text, self.at)
        at = prefix.end() if prefix is not None else self.at
        found = _AFTER_SPACE.match(self.text, at)
        name = "" if found is None else _content(found.group(1))
        called = _URL_NAME.match(self.text, at)
        if found is None and called is not None and _decoded(called.group(1)).lower() == "url":
            found = _ONLY_STRING.match(self.text, called.end())
            name = "" if found is None else _content(found.group(1))
            if found is None:
                found = _BARE_URL.match(self.text, called.end())
                name = "" if found is None else _decoded(found.group(1))
        if found is None or name not in _NAMESPACES:
            self.out.append(f"@{NOTHING}")
            return
        written = f" {_inert(prefix.group(1))}" if prefix is not None else ""
        self.out.append(f'@namespace{written} "{name}"')
        self.at = found.end()


def _decoded(token: str) -> str:
    """Return a name or a bare address with its escapes decoded."""
    return _ESCAPED.sub(_character, token) if "\\" in token else token


def _content(string: str) -> str:
    """Return the content of a string with its escapes decoded."""
    inner = string[1:-1] if _is_closed(string) else string[1:]
    return _IN_STRING.sub(_character, inner) if "\\" in inner else inner


def _character(found: re.Match[str]) -> str:
    escaped = found.group()[1:]
    if escaped in {"", "\n"}:
        return ""
    if escaped[0] in "0123456789abcdefABCDEF":
        code = int(escaped.strip(), 16)
        return chr(code) if 0 < code <= sys.maxunicode and code not in _SURROGATES else "\ufffd"
    return escaped


def _inert(token: str) -> str:
    """Write a string or name without characters that a parser of HTML reads."""
    return _RISKY.sub(_in_hex, token) if "<" in token or "&" in token else token


def _in_hex(found: re.Match[str]) -> str:
    pair = found.group()
    return f"\\{ord(pair[-1]):x} " if pair[-1] in "<&" else pair


def _is_closed(string: str) -> bool:
    """Tell whether a string has its second quote; it lacks one at the end of a style sheet."""
    rest = string[1:]
    return (_IN_STRING.sub("", rest) if "\\" in rest else rest).endswith(string[0])


def _closed(string: str) -> str:
    """Write a string, and close it if the style sheet ended inside it."""
    if _is_closed(string):
        return _inert(string)
    # A backslash at the very end would escape the new quote.
    return _inert(_IN_STRING.sub(_unless_empty, string)) + string[0]


def _unless_empty(found: re.Match[str]) -> str:
    return found.group() if found.group(1) else ""


def _url(address: str) -> str:
    r"""Write an address as CSS.

    >>> print(_url('/a"b<c\n'))
    url("/a\22 b\3c c\a ")
    """
    return f'url("{_UNSAFE.sub(lambda found: f"{chr(92)}{ord(found.group()):x} ", address)}")'


_UNSAFE = re.compile(r"[\"'\\<>&\x00-\x1f\x7f\u2028\u2029\ud800-\udfff]")
