"""Style sheets of strangers: tokens end where browsers end them, and every address is placed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.viewing import Use, safe_css
from tests.viewing.css_judge import css_faults

SITE = "https://site.example"
URL = "https://site.example/css/main.css"


def place(url: str, use: Use) -> str | None:
    return f"/{use.value[0]}/{url.removeprefix('https://')}" if "evil" not in url else None


def made(css: str) -> str:
    return safe_css(css, url=URL, place=place)


@pytest.mark.parametrize(
    ("css", "written"),
    [
        ("a{color:red}", "a{color:red}"),
        ("a{b:url(i.png)}", 'a{b:url("/i/site.example/css/i.png")}'),
        ("a{b:URL( '../i.png' ) x}", 'a{b:url("/i/site.example/i.png") x}'),
        (r"a{b:u\72l(i.png)}", 'a{b:url("/i/site.example/css/i.png")}'),
        ("a{b:url(//evil.test)}", "a{b:quire-none()}"),
        ("a{b:url(#clip)}", 'a{b:url("#clip")}'),
        ("a{b:url(a b)}", "a{b:quire-none()}"),
        ("a{b:url(x", 'a{b:url("/i/site.example/css/x")'),
        ("a{b:url('x", 'a{b:url("/i/site.example/css/x")'),
        ("@import 'x.css' screen;", '@import url("/s/site.example/css/x.css") screen;'),
        ("@import url(x.css)layer(a);", '@import url("/s/site.example/css/x.css")layer(a);'),
        ("@import '//evil.test';", "@quire-none '//evil.test';"),
        ("@font-face{src:url(f.woff2)}a{b:url(i)}", 'F{src:url("/f/site.example/css/f.woff2")}a{b:url("/i/site.example/css/i")}'.replace("F", "@font-face")),
        ("a{b:image-set('i.png' 1x,url(j) 2x)}", 'a{b:image-set(url("/i/site.example/css/i.png") 1x,url("/i/site.example/css/j") 2x)}'),
        ("a{b:image-set(var(--x) 1x)}", "a{b:quire-none(var(--x) 1x)}"),
        ("@namespace svg url(http://www.w3.org/2000/svg);", '@namespace svg "http://www.w3.org/2000/svg";'),
        ("@namespace 'http://x';", "@quire-none 'http://x';"),
        ("a{behavior:url(x);scroll-behavior:auto}", 'a{quire-none:url("/i/site.example/css/x");scroll-behavior:auto}'),
        ("/* url(x) */a{}", "/**/a{}"),
        ("a{content:'</style>&amp;'}", r"a{content:'\3c /style>\26 amp;'}"),
        ("@media (width<500px){&#b{}}", "@media (width< 500px){&/**/#b{}}"),
        (r"a{content:'\'", r"a{content:'\''"),
        ("a{content:'b\\", "a{content:'b'"),
        ("#url(a'b) c' d", "#url(a'b) c' d"),
        ("a{b:url(data:image/png;base64,AA==)}", 'a{b:url("data:image/png;base64,AA==")}'),
        ("a{b:url(data:text/html,x)}", "a{b:quire-none()}"),
        ("@font-face{src:url(data:font/woff2,AA)}", '@font-face{src:url("data:font/woff2,AA")}'),
        ("a\r\nb\fc\0", "a\nb\nc\ufffd"),
        (r"\75<!--rl(x)", r"\75/**/rl(x)"),
        ("\ud800url(x)", "\ufffdurl(x)"),
    ],
)  # fmt: skip
def test_css_is_written_again_with_addresses_placed(css: str, written: str) -> None:
    assert made(css) == written


_PIECES = st.sampled_from(
    [
        *(
            "url(",
            "u\\72l(",
            "\\75 rl(",
            "image-set(",
            "src(",
            "@import ",
            "@\\69mport",
            "@font-face{",
        ),
        *(
            "//evil.test/x",
            "a.png",
            "'",
            '"',
            "\\",
            "\\\n",
            "\n",
            "(",
            ")",
            "{",
            "}",
            ";",
            ":",
            ",",
        ),
        *(
            "/*",
            "*/",
            "<!--",
            "-->",
            "<",
            "</style>",
            "&",
            "&#117;",
            "#",
            "@",
            "-",
            "1x",
            " ",
            "\\27 ",
        ),
        *(
            "behavior:",
            "expression(",
            "var(--x)",
            "\\0",
            "\ud800",
            "\0",
            "é",
            "type(",
            "%",
            "!",
            "1e3",
        ),
    ]
)


@given(st.lists(_PIECES, max_size=25).map("".join))
def test_no_mix_of_pieces_leads_out_and_written_css_stays_the_same(css: str) -> None:
    once = made(css)

    assert list(css_faults(once)) == []
    assert safe_css(once, url=URL, place=lambda url, _use: url.removeprefix(SITE)) == once


@pytest.mark.parametrize(
    "piece",
    ["url(", "(", "{", "'", '"\n', "\\", "/*", "@import ", "@import/**/", "image-set('a' ", "a", "#",
     "src('a'", "<!--", "url('a' ", "@namespace a ", "\\61", "type(", "image-set(url(", "&", "<"],
)  # fmt: skip
def test_long_hostile_css_is_written_in_one_pass(piece: str) -> None:
    # A quadratic scan of these two megabytes would take hours: the timeout of the suite ends it.
    assert made(piece * (2_000_000 // len(piece)))
