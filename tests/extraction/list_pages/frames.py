"""The parts around the records of a generated page: navigation, advertisements, footers.

None of it is a record, although much of it repeats.
"""

from __future__ import annotations

from enum import Enum

_TOPICS = ("Home", "News", "Shop", "Offers", "About us", "Contact", "Help")


class Frame(Enum):
    """How the page around the list is made."""

    BARE = "bare"
    SEMANTIC = "semantic"
    DIVS = "divs"
    OLD = "old"
    UTILITY = "utility"
    DENSE = "dense"


def framed(frame: Frame, title: str, main: str) -> str:
    """Put the main part of a page into its frame."""
    return _FRAMES[frame](title, main)


def pagination(style: int) -> str:
    """Links to other pages of the list."""
    if style == 0:
        return ""
    pages = range(1, 9)
    if style == 1:
        links = "".join(f'<li><a href="?page={n}">{n}</a></li>' for n in pages)
        return f'<nav><ul class="pagination">{links}<li><a href="?page=2">Next</a></li></ul></nav>'
    if style == 2:
        return (
            '<div class="pages">' + " ".join(f"<a href='?p={n}'>{n}</a>" for n in pages) + "</div>"
        )
    return '<p align=center><font size=2><a href="?s=0">Previous</a> | <a href="?s=20">Next</a></font></p>'


def _bare(title: str, main: str) -> str:
    return f"<!doctype html>\n<title>{title}</title>\n<h1>{title}</h1>\n{main}\n"


def _semantic(title: str, main: str) -> str:
    menu = "".join(f'<li><a href="/{n}">{name}</a></li>' for n, name in enumerate(_TOPICS))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>
<body>
<header><a href="/" class="brand">Example</a><nav aria-label="Main"><ul>{menu}</ul></nav>
<form role="search"><input name="q"><button>Search</button></form></header>
<nav class="breadcrumbs"><ol><li><a href="/">Home</a></li><li><a href="/c">Catalogue</a></li><li>{title}</li></ol></nav>
<main><h1>{title}</h1>
{main}
</main>
<footer><ul><li><a href="/imprint">Imprint</a></li><li><a href="/privacy">Privacy</a></li>
<li><a href="/terms">Terms</a></li><li><a href="/press">Press</a></li></ul><p>&copy; 2026 Example</p></footer>
</body></html>
"""


def _divs(title: str, main: str) -> str:
    menu = "".join(
        f'<div class="item"><a href="/{n}">{name}</a></div>' for n, name in enumerate(_TOPICS)
    )
    side = "".join(
        f'<li class="facet"><label><input type="checkbox"> {name} <span>({n * 7 + 3})</span></label></li>'
        for n, name in enumerate(("Wood", "Metal", "Glass", "Wool", "Stone"))
    )
    columns = "".join(
        f'<div class="col"><h4>{head}</h4><ul>'
        + "".join(
            f'<li><a href="/{head}/{n}">{name}</a></li>' for n, name in enumerate(_TOPICS[:5])
        )
        + "</ul></div>"
        for head in ("Company", "Service", "Legal")
    )
    return f"""<!doctype html>
<html><head><title>{title}</title><style>.x{{color:red}}</style></head>
<body><div id="page"><div id="top"><div class="logo"><img src="/logo.svg" alt="Example"></div>
<div class="menu">{menu}</div></div>
<div id="columns"><div id="side"><h3>Filter</h3><ul class="facets">{side}</ul></div>
<div id="content"><h2>{title}</h2>
{main}
</div></div>
<div id="bottom">{columns}<div class="copy">All rights reserved. Made by example.</div></div>
</div><script>var x = "<li>not a record</li>";</script></body></html>
"""


def _old(title: str, main: str) -> str:
    menu = " | ".join(f'<a href="{n}.htm">{name}</a>' for n, name in enumerate(_TOPICS))
    rows = "".join(
        f'<tr><td><font size=1><a href="{n}.htm">{name}</a></font></td></tr>'
        for n, name in enumerate(_TOPICS)
    )
    return f"""<html><head><title>{title}</title></head>
<body bgcolor=white><center><b>{title}</b><br>{menu}</center>
<table width=100%><tr><td width=120 valign=top><table>{rows}</table></td><td valign=top>
{main}
</td></tr></table><hr><center><font size=1>Last changed by the webmaster</font></center></body></html>
"""


def _utility(title: str, main: str) -> str:
    menu = "".join(
        f'<a class="px-3 py-2 text-sm font-medium" href="/{n}">{name}</a>'
        for n, name in enumerate(_TOPICS)
    )
    return f"""<!DOCTYPE html>
<html lang="en"><head><title>{title}</title></head><body class="bg-white antialiased">
<div class="fixed bottom-0 p-4"><p class="text-xs">We use cookies to remember your choices.</p>
<button class="btn">Accept</button><button class="btn">Reject</button><button class="btn">Settings</button></div>
<div class="sticky top-0 flex gap-2">{menu}</div>
<div class="mx-auto max-w-7xl px-4"><h1 class="text-3xl font-bold">{title}</h1>
{main}
</div>
<div class="border-t mt-8"><div class="grid grid-cols-3">
<div><p class="font-bold">Product</p><a class="block" href="/f">Features</a><a class="block" href="/p">Pricing</a><a class="block" href="/d">Docs</a></div>
<div><p class="font-bold">Company</p><a class="block" href="/a">About</a><a class="block" href="/j">Jobs</a><a class="block" href="/b">Blog</a></div>
<div><p class="font-bold">Legal</p><a class="block" href="/t">Terms</a><a class="block" href="/y">Privacy</a><a class="block" href="/c">Cookies</a></div>
</div></div></body></html>
"""


def _dense(title: str, main: str) -> str:
    social = "".join(
        f'<li><a href="https://{name}.example"><svg><path d="M0 0"/></svg><span>{name}</span></a></li>'
        for name in ("mastodon", "video", "photos", "chat")
    )
    menu = "".join(
        f'<li class="menu-item menu-item-{n}"><a href="/{n}">{name}</a><ul class="sub-menu">'
        f'<li><a href="/{n}/a">{name} one</a></li><li><a href="/{n}/b">{name} two</a></li></ul></li>'
        for n, name in enumerate(_TOPICS[:5])
    )
    return f"""<!doctype html>
<html><head><title>{title}</title></head><body class="archive">
<div class="topbar"><ul class="social-links">{social}</ul></div>
<div class="site-header"><p class="site-title"><a href="/">Example</a></p><ul id="menu-main" class="menu">{menu}</ul></div>
<div class="wrap"><div class="primary"><h1 class="page-title">{title}</h1>
{main}
</div><div class="sidebar widget-area"><div class="widget"><h3>Categories</h3><ul>
<li class="cat-item"><a href="/k/1">Culture</a></li><li class="cat-item"><a href="/k/2">Sport</a></li>
<li class="cat-item"><a href="/k/3">Money</a></li><li class="cat-item"><a href="/k/4">Travel</a></li></ul></div>
<div class="widget"><h3>Tag cloud</h3><div class="tagcloud"><a href="/t/1">river</a> <a href="/t/2">garden</a>
<a href="/t/3">bridge</a> <a href="/t/4">school</a> <a href="/t/5">bakery</a></div></div></div></div>
<div class="site-info">Proudly made by hand. <a href="/imprint">Imprint</a></div></body></html>
"""


_FRAMES = {
    Frame.BARE: _bare,
    Frame.SEMANTIC: _semantic,
    Frame.DIVS: _divs,
    Frame.OLD: _old,
    Frame.UTILITY: _utility,
    Frame.DENSE: _dense,
}
