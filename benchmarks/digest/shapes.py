"""Hostile pages: one generator for each way known to make a parser slow, deep or large.

A shape takes ``n`` and gives bytes whose length is proportional to ``n``, so that a growth
exponent above 1 is the parser's doing. Shapes that ask for a quadratic *tree* by the rules
of HTML (formatting elements with distinct attributes) are among them on purpose.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["html", "xml", "json", "text"]


@dataclass(frozen=True, slots=True)
class Shape:
    """A family of pages of growing size."""

    name: str
    kind: Kind
    make: Callable[[int], bytes]


def _repeat(unit: str, before: str = "", after: str = "") -> Callable[[int], bytes]:
    return lambda n: (before + unit * n + after).encode()


def _nest(opening: str, closing: str, inside: str = "") -> Callable[[int], bytes]:
    return lambda n: (opening * n + inside + closing * n).encode()


def _each(write: Callable[[int], str], before: str = "", after: str = "") -> Callable[[int], bytes]:
    """One unit for each number below n; numbers have six digits so that length stays proportional."""
    return lambda n: (before + "".join(write(number) for number in range(n)) + after).encode()


def _then(first: str, second: str) -> Callable[[int], bytes]:
    """Write n of the first, then n of the second: the second acts on what the first left open."""
    return lambda n: (first * n + second * n).encode()


def _numbered_namespaces(n: int) -> bytes:
    opening = "".join(f"<p{i:06}:a xmlns:p{i:06}='u'>" for i in range(n))
    closing = "".join(f"</p{i:06}:a>" for i in reversed(range(n)))
    return (opening + closing).encode()


HTML_SHAPES: dict[str, Callable[[int], bytes]] = {
    # nesting
    "nested div": _nest("<div>", "</div>", "x"),
    "unclosed div": _repeat("<div>"),
    "ul li": _repeat("<ul><li>"),
    "dl dd": _repeat("<dl><dd>"),
    "nested span with text": _repeat("<span>x"),
    "unknown names nested": _repeat("<x-y>"),
    # formatting elements, adoption agency, reconstruction
    "b, attribute of its own": _each(lambda i: f"<b i{i:06}>"),
    "i, attribute of its own": _each(lambda i: f"<i i{i:06}>"),
    "n x <b i>, same attribute": _repeat("<b i>"),
    "x</b> after n <b>": _then("<b>", "x</b>"),
    "p in open b": _each(lambda i: f"<p><b i{i:06}>x"),
    "p and b mis-nested": _repeat("<p><b></p>x</b>"),
    "b i p crossed": _repeat("<b><i><p></b></i></p>"),
    "a in a": _repeat("<a>x"),
    "a around div": _repeat("<a><div>"),
    "nobr flood": _repeat("<nobr>x"),
    "font mis-nested in div": _repeat("<font><div></font>"),
    # stray end tags
    "</p> flood": _repeat("</p>"),
    "</p> in nested div": _then("<div>", "</p>"),
    "</br> flood": _repeat("</br>"),
    "</x> in nested svg g": lambda n: b"<svg>" + b"<g>" * n + b"</x>" * n,
    "</a> in nested div": _then("<div>", "</a>"),
    # tables and foster parenting
    "table rows": _repeat("<tr><td>x", "<table>"),
    "table td unclosed": _repeat("<table><td>"),
    "text fostered": _repeat("x<tr>", "<table>"),
    "elements fostered": _repeat("<b>x</b><tr>", "<table>"),
    "deep tables": _nest("<table><tr><td>", "</table>"),
    "caption and colgroup": _repeat("<caption><colgroup><col>", "<table>"),
    # forms, lists of choices, templates, foreign content
    "select option": _repeat("<option>x", "<select>"),
    "select in select": _repeat("<select><option>"),
    "optgroup": _repeat("<optgroup><option>", "<select>"),
    "form in div": _repeat("<form><div></form>"),
    "button in button": _repeat("<button>x"),
    "nested template": _repeat("<template>"),
    "template in table": _repeat("<template><tr><td>", "<table>"),
    "svg nested": _repeat("<svg><g>"),
    "svg foreignObject": _repeat("<svg><foreignObject>"),
    "math mi": _repeat("<math><mi>"),
    "ruby": _repeat("<ruby><rb>x<rt>y<rp>"),
    "headings": _repeat("<h1><h2>x"),
    "frameset": _repeat("<frameset><frame>"),
    "object and applet markers": _repeat("<object><b>"),
    # tokens
    "attributes, one tag": _each(lambda i: f" a{i:06}=1", "<div", ">"),
    "attributes, all the same": _repeat(" a=1", "<div", ">"),
    "html attributes merged": _each(lambda i: f"<html a{i:06}=1>"),
    "unclosed comment": _repeat("<!-", "<!--"),
    "comment dashes": _repeat("--!", "<!--"),
    "many comments": _repeat("<!--x-->"),
    "entities": _repeat("&amp;&notit;&#x41;"),
    "ampersands": _repeat("&"),
    "half entity names": _repeat("&CounterClockwiseContourIntegra"),
    "less-than signs": _repeat("< "),
    "unclosed tag starts": _repeat("<a "),
    "script double escape": _repeat("<!--<script>", "<script>"),
    "script never ends": _repeat("</scrip", "<script>"),
    "title never ends": _repeat("</titl", "<title>"),
    "plaintext": _repeat("</plaintext>", "<plaintext>"),
    "NUL": _repeat("\0", "<p>"),
    "carriage returns": _repeat("\r\n\r", "<pre>"),
    "distinct names": _each(lambda i: f"<e{i:06}></e{i:06}>"),
    "distinct texts": _each(lambda i: f"<p>{i:06}"),
    "doctypes": _repeat("<!doctype html>"),
    "second body tags": _repeat("<body a>", "<body>"),
    "unclosed quote": _repeat("<a b='", "<p>"),
}

OTHER_SHAPES: list[Shape] = [
    Shape("xml nested", "xml", _nest("<a>", "</a>", "x")),
    Shape("xml wide", "xml", _repeat("<a/>", "<r>", "</r>")),
    Shape("xml attributes, one tag", "xml", _each(lambda i: f" a{i:06}='1'", "<r", "/>")),
    Shape("xml namespaces nested", "xml", _numbered_namespaces),
    Shape("xml distinct names", "xml", _each(lambda i: f"<e{i:06}/>", "<r>", "</r>")),
    Shape("xml comments", "xml", _repeat("<!--x-->", "<r>", "</r>")),
    Shape("xml CDATA", "xml", _repeat("<![CDATA[]]>", "<r>", "</r>")),
    Shape("json nested arrays", "json", _nest("[", "]")),
    Shape("json nested objects", "json", _nest('{"a":', "}", "1")),
    Shape("json wide array", "json", _repeat("1,", "[", "1]")),
    Shape("json same keys", "json", _repeat('"a":1,', "{", '"a":1}')),
    Shape("json backslashes", "json", _repeat("\\\\", '["', '"]')),
    Shape("text blank lines", "text", _repeat("\n\n")),
    Shape("text one line", "text", _repeat("x ")),
]


SHAPES: list[Shape] = [
    *(Shape(name, "html", make) for name, make in HTML_SHAPES.items()),
    *OTHER_SHAPES,
]
BY_NAME: dict[str, Shape] = {shape.name: shape for shape in SHAPES}
