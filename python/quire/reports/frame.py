"""The frame that all HTML reports share: document head, security policy, bar and base style sheet.

Reports pass safe markup and, if they need it, more style; ``document`` adds everything else. The
style follows the light or dark setting of the reader and works on wide and narrow screens.

Nothing of a page runs or loads in a report. The Content-Security-Policy allows one style sheet, by
its hash, so that not even a style can get in through the text of a page. Only the redline, which
shows a page with its own styles, relaxes this, and has one script of ours: see ``policy``.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

from quire.display import escape

STYLE = """
:root { color-scheme: light dark;
  --paper: #f6f6f3; --card: #fff; --ink: #1d2327; --dim: #667079; --line: #dfe1dc;
  --link: #1a5fa8; --bar: #4c7fb8; --trouble: #b3402f;
  --box: #1d2327; --landmark: #a9bfd6; --heading: #1f3b63; --text: #8d8a80; --link-box: #3d8fd1;
  --list: #6fae62; --table: #d9a441; --form: #d9705f; --media: #8b62b8; --code: #a9aeaa;
  --hue0: #3f72af; --hue1: #d98b3a; --hue2: #4f9d69; --hue3: #b3556b; --hue4: #7c6bb0;
  --hue5: #8a7a4f; --hue6: #3f9aa3; --hue7: #c06fa0; --alone: #c4c8c4; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #14171a; --card: #1d2226; --ink: #e4e6e3; --dim: #98a2aa; --line: #333a40;
  --link: #8dbdf0; --bar: #6b9fd8; --trouble: #f0917f;
  --box: #e4e6e3; --landmark: #5f7f9f; --heading: #cfe0f7; --text: #8f8c84; --link-box: #58a3e0;
  --list: #6fae62; --table: #cf9d45; --form: #d9786a; --media: #a27fd0; --code: #5b6266;
  --hue0: #5d8fcb; --hue1: #d99a55; --hue2: #62b07d; --hue3: #cc7287; --hue4: #9a8ad0;
  --hue5: #a89868; --hue6: #56b0b9; --hue7: #cf8ab5; --alone: #4a5156; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 0 1.5rem 3rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", sans-serif; }
header, main, footer { max-width: 1160px; margin: 0 auto; }
header { padding: 2rem 0 .5rem; }
h1 { font-size: 1.65rem; line-height: 1.25; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .8rem; }
h2 small, h3 small { font-weight: 400; color: var(--dim); margin-left: .5em; }
h4 { margin: .9rem 0 .15rem; font-size: .75rem; font-weight: 600; letter-spacing: .05em;
  text-transform: uppercase; color: var(--dim); }
p { margin: 0; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
ul { margin: 0; padding: 0; list-style: none; }
details { margin-top: .9rem; }
summary { cursor: pointer; color: var(--dim); font-weight: 600; }
.whole { white-space: nowrap; }
.dim { color: var(--dim); font-size: .88em; }
.totals { display: flex; flex-wrap: wrap; gap: .6rem 2.4rem; margin: 1.3rem 0 1.2rem; padding: 0;
  list-style: none; }
.totals b { display: block; font-size: 1.5rem; line-height: 1.2; font-weight: 600;
  font-variant-numeric: tabular-nums; }
.totals span { color: var(--dim); font-size: .88rem; }
.totals .trouble b { color: var(--trouble); }
.legend { display: flex; flex-wrap: wrap; gap: .15rem 1.1rem; margin: .6rem 0 0; color: var(--dim);
  font-size: .85rem; }
.key { width: .75em; height: .75em; margin-right: .4em; border-radius: 2px; }
.axis { stroke: var(--line); fill: none; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; background: var(--card);
  border: 1px solid var(--line); }
th { text-align: left; color: var(--dim); font-weight: 600; }
th, td { padding: .35rem .8rem; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: anywhere; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
footer { margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid var(--line);
  color: var(--dim); font-size: .88rem; }
.box { fill: var(--box); fill-opacity: .35; } .landmark { fill: var(--landmark); }
.heading { fill: var(--heading); } .text { fill: var(--text); } .link { fill: var(--link-box); }
.list { fill: var(--list); } .table { fill: var(--table); } .form { fill: var(--form); }
.media { fill: var(--media); } .code { fill: var(--code); } .alone { fill: var(--alone); }
.hue0 { fill: var(--hue0); } .hue1 { fill: var(--hue1); } .hue2 { fill: var(--hue2); }
.hue3 { fill: var(--hue3); } .hue4 { fill: var(--hue4); } .hue5 { fill: var(--hue5); }
.hue6 { fill: var(--hue6); } .hue7 { fill: var(--hue7); }
@media (max-width: 560px) {
  body { padding: 0 .8rem 2rem; }
  .totals { gap: .6rem 1.6rem; }
}
@media print { body { background: none; } }
"""


def policy(
    *,
    styles: Sequence[str],
    inline_styles: bool = False,
    images: str = "",
    fonts: str = "",
    script: str = "",
) -> str:
    """Return the Content-Security-Policy of a report.

    Frames, forms and connections are always forbidden, and all scripts but the given one.

    >>> policy(styles=[], inline_styles=True, images="data:").partition("; form")[0]
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'"

    Args:
        styles: the style sheets of the document; only these are allowed, by their hashes.
        inline_styles: allow all styles in the document instead, also in ``style`` attributes.
        images: where images may come from; empty for nowhere.
        fonts: where fonts may come from; empty for nowhere.
        script: the script of the document; only this one is allowed, by its hash.
    """
    hashes = " ".join(map(_hash, styles))
    loaded = f"img-src {images}; " if images else ""
    loaded += f"font-src {fonts}; " if fonts else ""
    allowed_script = f"script-src {_hash(script)}; " if script else ""
    allowed_styles = "'unsafe-inline'" if inline_styles else hashes or "'none'"
    return (
        f"default-src 'none'; {loaded}{allowed_script}style-src {allowed_styles}; "
        "form-action 'none'; base-uri 'none'"
    )


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def document(
    body: str,
    *,
    title: str,
    style: str = STYLE,
    page_styles: Sequence[str] | None = None,
    images: str = "",
    fonts: str = "",
    script: str = "",
) -> str:
    """Put a body of safe markup into an HTML document.

    >>> "Content-Security-Policy" in document("", title="Templates")
    True

    Args:
        body: safe markup.
        title: the title, as text.
        style: the style sheet of the report; usually ``STYLE``, or ``STYLE`` and more.
        page_styles: for a report that shows a page: the style sheets of that page, already made
            safe. Inline styles are then allowed, and the document has no language of its own.
        images: where images may come from, as in ``img-src``; empty for nowhere.
        fonts: where fonts may come from, likewise.
        script: a script of ours, which runs when the document is complete; empty for none.
    """
    sheets = [*(sheet for sheet in page_styles or () if sheet.strip()), style]
    rules = policy(
        styles=sheets,
        inline_styles=page_styles is not None,
        images=images,
        fonts=fonts,
        script=script,
    )
    language = ' lang="en"' if page_styles is None else ""
    return "".join(
        [
            f'<!doctype html>\n<html{language}>\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(rules)}">\n',
            '<meta name="referrer" content="no-referrer">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{escape(title)}</title>\n",
            *(f"<style>{sheet}</style>\n" for sheet in sheets),
            "</head>\n<body>\n",
            body,
            f"<script>{script}</script>\n" if script else "",
            "</body>\n</html>\n",
        ]
    )
