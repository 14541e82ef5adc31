"""The frame of the report: its head, its policy, its style for light and dark screens, wide and narrow ones.

Nothing in the document runs or loads. The policy names the one style sheet by its hash, so that not even a style could
come in by a page's words.
"""

from __future__ import annotations

import base64
import hashlib

from quire.display import escape

STYLE = """
:root { color-scheme: light dark; --paper: #f6f6f3; --card: #fff; --ink: #1d2327; --dim: #667079; --line: #dfe1dc; --link: #1a5fa8; --bar: #4c7fb8;
  --box: #1d2327; --landmark: #a9bfd6; --heading: #1f3b63; --text: #8d8a80; --link-box: #3d8fd1; --list: #6fae62; --table: #d9a441;
  --form: #d9705f; --media: #8b62b8; --code: #a9aeaa; --trouble: #b3402f;
  --hue0: #3f72af; --hue1: #d98b3a; --hue2: #4f9d69; --hue3: #b3556b; --hue4: #7c6bb0; --hue5: #8a7a4f; --hue6: #3f9aa3; --hue7: #c06fa0; --alone: #c4c8c4; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --card: #1d2226; --ink: #e4e6e3; --dim: #98a2aa; --line: #333a40; --link: #8dbdf0; --bar: #6b9fd8;
  --box: #e4e6e3; --landmark: #5f7f9f; --heading: #cfe0f7; --text: #8f8c84; --link-box: #58a3e0; --list: #6fae62; --table: #cf9d45;
  --form: #d9786a; --media: #a27fd0; --code: #5b6266; --trouble: #f0917f;
  --hue0: #5d8fcb; --hue1: #d99a55; --hue2: #62b07d; --hue3: #cc7287; --hue4: #9a8ad0; --hue5: #a89868; --hue6: #56b0b9; --hue7: #cf8ab5; --alone: #4a5156; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 0 1.5rem 3rem; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", sans-serif; }
header, main, footer { max-width: 1160px; margin: 0 auto; }
header { padding: 2rem 0 .5rem; }
h1 { font-size: 1.65rem; line-height: 1.25; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .8rem; }
h2 small, h3 small { font-weight: 400; color: var(--dim); margin-left: .5em; }
h4 { margin: .9rem 0 .15rem; font-size: .75rem; font-weight: 600; letter-spacing: .05em; text-transform: uppercase; color: var(--dim); }
p { margin: 0; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
.whole { white-space: nowrap; }
.dim { color: var(--dim); font-size: .88em; }
.totals { display: flex; flex-wrap: wrap; gap: .6rem 2.4rem; margin: 1.3rem 0 1.2rem; padding: 0; list-style: none; }
.totals b { display: block; font-size: 1.5rem; line-height: 1.2; font-weight: 600; font-variant-numeric: tabular-nums; }
.totals span { color: var(--dim); font-size: .88rem; }
.totals .trouble b { color: var(--trouble); }
.sizes { display: block; width: 100%; height: 34px; border-radius: 5px; }
.legend { display: flex; flex-wrap: wrap; gap: .15rem 1.1rem; margin: .6rem 0 0; color: var(--dim); font-size: .85rem; }
.key { width: .75em; height: .75em; margin-right: .4em; border-radius: 2px; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 34rem), 1fr)); gap: 1.1rem; margin-top: .9rem; }
.card { min-width: 0; background: var(--card); border: 1px solid var(--line); border-radius: 9px; padding: 1rem 1.15rem 1.1rem;
  display: grid; grid-template-columns: 150px minmax(0, 1fr); gap: 0 1.2rem; align-content: start; scroll-margin-top: 1rem; }
.card:target { outline: 2px solid var(--link); }
.card h3 { grid-column: 1 / -1; font-size: 1.05rem; margin: 0 0 .8rem; overflow-wrap: anywhere; }
.picture { grid-row: 2 / span 2; }
.thumbnail { display: block; width: 100%; background: var(--paper); border: 1px solid var(--line); border-radius: 4px; }
.gone { color: var(--trouble); font-size: .88em; overflow-wrap: anywhere; }
.figures b { font-size: 1.3rem; font-weight: 600; }
.figures span { margin-left: .9em; color: var(--dim); }
.histogram { display: block; width: 100%; max-width: 19rem; height: auto; margin-top: .4rem; }
.histogram rect { fill: var(--bar); }
.axis { stroke: var(--line); fill: none; }
.mark { fill: var(--ink); }
.scale { display: flex; justify-content: space-between; max-width: 19rem; color: var(--dim); font-size: .75rem; }
.pages { min-width: 0; font-size: .88rem; overflow-wrap: anywhere; }
ul { margin: 0; padding: 0; list-style: none; }
.fit { color: var(--dim); font-variant-numeric: tabular-nums; }
.pages li { display: flex; gap: .6em; } .pages li .fit { flex: none; }
details { margin-top: .9rem; }
summary { cursor: pointer; color: var(--dim); font-weight: 600; }
.singles { columns: 24rem 2; column-gap: 2rem; font-size: .88rem; overflow-wrap: anywhere; }
.singles li { break-inside: avoid; padding: .1rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; background: var(--card); border: 1px solid var(--line); }
th { text-align: left; color: var(--dim); font-weight: 600; }
th, td { padding: .35rem .8rem; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
footer { margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--dim); font-size: .88rem; }
.boxes { opacity: .28; } .boxes rect { stroke: var(--card); stroke-width: .6; }
.box { fill: var(--box); fill-opacity: .35; } .landmark { fill: var(--landmark); } .heading { fill: var(--heading); } .text { fill: var(--text); }
.link { fill: var(--link-box); } .list { fill: var(--list); } .table { fill: var(--table); } .form { fill: var(--form); } .media { fill: var(--media); } .code { fill: var(--code); }
.hue0 { fill: var(--hue0); } .hue1 { fill: var(--hue1); } .hue2 { fill: var(--hue2); } .hue3 { fill: var(--hue3); }
.hue4 { fill: var(--hue4); } .hue5 { fill: var(--hue5); } .hue6 { fill: var(--hue6); } .hue7 { fill: var(--hue7); } .alone { fill: var(--alone); }
@media (max-width: 560px) {
  body { padding: 0 .8rem 2rem; }
  .card { grid-template-columns: 96px minmax(0, 1fr); padding: .85rem; gap: 0 .9rem; }
  .picture { grid-row: 2; } .pages { grid-column: 1 / -1; }
  .totals { gap: .6rem 1.6rem; }
}
@media print { body { background: none; } .card { break-inside: avoid; } }
"""


def policy(style: str = STYLE) -> str:
    """Say what the document may do: be drawn with its own style, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'none'; base-uri 'none'"


def document(body: str, *, title: str, style: str = STYLE) -> str:
    """Put a body that is already safe into a document.

    >>> "Content-Security-Policy" in document("", title="Templates")
    True

    Args:
        body: safe markup.
        title: the title, as text.
        style: the style sheet: this one, or this one with more after it.
    """
    return "".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy(style))}">\n',
            '<meta name="referrer" content="no-referrer">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n",
            body,
            "</body>\n</html>\n",
        ]
    )
