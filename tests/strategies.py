"""Pages for property tests, aimed at where a digest can be wrong.

A page that a person would write round-trips whatever we do. So pages here are made of
pieces that parsers disagree about: tags that imply, close or move others, attributes
in every quoting, references with and without semicolons, and bytes that are none of it.
"""

from __future__ import annotations

from hypothesis import strategies as st

# Elements that imply others, are void, hold raw text, or are moved by the tree builder.
NAMES = [
    *("a", "b", "i", "p", "div", "span", "ul", "li", "table", "tr", "td", "caption", "br", "img"),
    *("select", "option", "pre", "textarea", "title", "script", "style", "template", "noscript"),
    *("svg", "math", "mi", "path", "clipPath", "html", "head", "body", "form", "frameset", "x-y"),
]
TEXTS = ["", " ", "\n", "fish", "a&amp;b", "&lt", "&#0;", "&notin;", "\r\n", "\0", "é", "]]>", "--"]

names = st.sampled_from(NAMES).flatmap(lambda name: st.sampled_from([name, name.upper()]))
values = st.sampled_from(['"a b"', "'c'", "d", '"&quot;"', '""', "e/", ""])
attributes = st.lists(
    st.tuples(st.sampled_from(["id", "CLASS", "href", "a:b", "=", "data-x"]), values), max_size=3
).map(lambda pairs: "".join(f" {name}={value}" if value else f" {name}" for name, value in pairs))
texts = st.sampled_from(TEXTS) | st.text(max_size=6)
pieces = st.one_of(
    st.tuples(names, attributes, st.sampled_from([">", ">", ">", " >", "/>", "", " / >"])).map(
        lambda part: f"<{part[0]}{part[1]}{part[2]}"
    ),
    names.map(lambda name: f"</{name}>"),
    st.sampled_from(
        ["</ x>", "</p >", "</br>", "<!-->", "<!--a-->", "<!--a--!>", "<?pi?>", "<![CDATA[x]]>"]
    ),
    st.sampled_from(
        ["<!doctype html>", "<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 3.2//EN'>", "<", "</", "<!"]
    ),
    texts,
)

# HTML in every state of disrepair.
html = st.lists(pieces, max_size=25).map(lambda parts: "".join(parts).encode("utf-8", "replace"))

# Bytes that start or continue like something they are not.
disguised = st.tuples(
    st.sampled_from(
        [
            b"",
            b"<",
            b"{",
            b"[",
            b"<?xml",
            b"\xef\xbb\xbf",
            b"\xff\xfe",
            b"\xfe\xff",
            b"%PDF",
            b"\x89PNG",
        ]
    ),
    st.binary(max_size=60),
).map(b"".join)

# JSON that is well-formed, in layouts that people and programs write.
json_values: st.SearchStrategy[object] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)

# Elements that no HTML rule moves, closes or implies, so every parser builds the same tree.
PLAIN = ["div", "section", "span", "em", "article"]
WORDS = ["fish", "chips & peas", "9 < 10", "peas", "salt"]


@st.composite
def plain_trees(draw: st.DrawFn, depth: int = 4) -> Tree:
    """Draw a tree that parsers agree about: name, attributes, children; a text is a str."""
    name = draw(st.sampled_from(PLAIN))
    keys = draw(st.lists(st.sampled_from(["id", "class", "title"]), unique=True, max_size=2))
    found = {key: draw(st.sampled_from(["a", "b", "a b", "it's"])) for key in keys}
    children: list[Tree | str] = []
    for _ in range(draw(st.integers(0, 3 if depth else 0))):
        # Two texts in a row would be one on the page.
        if children and isinstance(children[-1], str):
            children.append(draw(plain_trees(depth - 1)))
        else:
            children.append(draw(st.sampled_from(WORDS) | plain_trees(depth - 1)))
    return name, found, children


Tree = tuple[str, dict[str, str], list["Tree | str"]]


def written(tree: Tree | str) -> str:
    """Write a tree as well-formed markup, by recursion."""
    if isinstance(tree, str):
        return tree.replace("&", "&amp;").replace("<", "&lt;")
    name, found, children = tree
    run = "".join(f' {key}="{value}"' for key, value in found.items())
    return f"<{name}{run}>{''.join(map(written, children))}</{name}>"
