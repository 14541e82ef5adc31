"""Pages that are hard to compose, and a small site of them: what tests of composing share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st

from quire.fragments import Manifest, PlanRules, SourcePage, plan_fragments, write_composition

MENU = (
    b"<nav>" + b"".join(b"<a href=/%d>Entry number %d</a> " % (n, n) for n in range(20)) + b"</nav>"
)
FOOT = b"<footer>" + b"".join(b"<p>Line %d of the footer</p>" % n for n in range(20)) + b"</footer>"

#: What each hazard looks like before an include, by the name of the hazard.
HAZARDS: dict[str, bytes] = {
    "esi-tag": b"<esi:remove>x</esi:remove>",
    "esi-comment": b"<!--esi <p>x</p> -->",
    "byte-order-mark": b"\xef\xbb\xbf",
    "no-leading-tag": b"Fish ",
    "open-comment": b"<!-- x --->",
    "open-tag": b"< 2 ",
    "open-cdata": b"<![CDATA[ x ]]]>",
}

# Where scanners go wrong: ends with extra bytes, starts that are cut, quotes, and bytes that are no text.
PIECES: list[bytes] = [
    *HAZARDS.values(),
    *(b"<!-- a -" + b"-" * extra + b">" for extra in range(5)),
    *(b"<![CDATA[ a " + b"]" * extra + b">" for extra in range(5)),
    *(
        b"<!-->",
        b"<!--->",
        b"<!---->",
        b"--!>",
        b"-->",
        b"]]>",
        b"<!-",
        b"<",
        b">",
        b"</",
        b"<>",
    ),
    *(b"<![if IE]>", b"<!--[if IE]>x<![endif]-->", b"<?php 1 > 2 ?>", b"<!doctype html>"),
    *(b"<a title='>'>x</a>", b"<a title='<!--'>x</a>", b'<b title="<esi">', b"<ESI:include/>"),
    *(
        b"<script>if (a<b) '<!--' </script>",
        b"<style><!-- a{} --></style>",
        b"<textarea><!--</textarea>",
    ),
    *(
        b"\x00",
        b"\xff\xfe",
        b"\r\n",
        b"&lt;esi:",
        b"e",
        b"es",
        b"esi",
        b"esi:",
        b"<e",
        b"<es",
        b"</table>",
    ),
    *(
        b"<table>x<tr><td>y",
        b"<p>z",
        b"<ul><li>a<li>b</ul>",
        b"</body></html>",
        b"<svg><path/></svg>",
    ),
]
pieces = st.sampled_from(PIECES)
#: Bodies that share a menu and a footer, with anything around them.
bodies = st.lists(
    st.lists(
        st.one_of(pieces, st.sampled_from([MENU, FOOT]), st.binary(max_size=4)), max_size=12
    ).map(b"".join),
    min_size=1,
    max_size=6,
)


def pages_of(sources: Sequence[bytes]) -> list[SourcePage]:
    return [
        SourcePage(f"{n}.html", f"https://a.example/{n}", body) for n, body in enumerate(sources)
    ]


def composed(sources: Sequence[bytes], folder: Path, rules: PlanRules | None = None) -> Manifest:
    """Write the composition of some pages."""
    with plan_fragments(pages_of(sources), rules=rules) as plan:
        return write_composition(plan, folder)


def site(count: int = 4, before: bytes = b"<html>") -> list[bytes]:
    """Pages with a menu and a footer in common, and something before both."""
    return [
        b"%s<h1>Day %d</h1>%s<main>%d mm of rain</main>%s" % (before, n, MENU, 7 * n, FOOT)
        for n in range(count)
    ]
