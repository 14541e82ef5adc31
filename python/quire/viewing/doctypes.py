"""Doctypes: which one a document needs so that browsers lay it out in the same mode as the page."""

from __future__ import annotations

from quire.digest.page import Digest

# The doctypes of browsers' quirks mode and limited quirks mode, by the HTML standard.
_QUIRKS = (
    "-//w3o//",
    "-//ietf//",
    "-//w3c//dtd html 3",
    "-//w3c//dtd html 4.0 ",
    "-//w3c//dtd html experimental",
    "-//w3c//dtd w3 html",
    "-//w3o//dtd w3 html",
    "-//netscape",
    "-//microsoft",
    "-//webtechs",
    "-//sun",
    "-//sq//",
    "-//as//",
    "-//advasoft",
    "-//spyglass",
    "-//softquad",
    "-//metrius",
    "-//o'reilly",
    "+//silmaril",
)
_QUIRKS_WHOLE = frozenset({"html", "-/w3c/dtd html 4.0 transitional/en"})
_LOOSE_IF_SYSTEM = (
    "-//w3c//dtd html 4.01 transitional//",
    "-//w3c//dtd html 4.01 frameset//",
)
_ALWAYS_LOOSE = (
    "-//w3c//dtd xhtml 1.0 transitional//",
    "-//w3c//dtd xhtml 1.0 frameset//",
)
_LOOSE = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "">'
STANDARD = "<!DOCTYPE html>"


def doctype(page: Digest) -> str:
    """Return the doctype to write; empty for a page in quirks mode.

    >>> import quire
    >>> doctype(quire.encode(b"<!doctype html><p>Hi")), doctype(quire.encode(b"<p>Hi"))
    ('<!DOCTYPE html>', '')
    """
    at = page.tag_id("#doctype") if "#doctype" in page.tags else -1
    nodes = [] if at < 0 else (page.tag == at).nonzero()[0][:1].tolist()
    if not nodes:
        return ""
    name, _, rest = page.text(nodes[0]).lower().strip().partition(" ")
    public, _, system = rest.strip().partition('" "')
    public, system = public.strip('"'), system.strip('"')
    if name != "html" or public.startswith(_QUIRKS) or public in _QUIRKS_WHOLE:
        return ""
    if public.startswith(_LOOSE_IF_SYSTEM):
        return _LOOSE if system else ""
    return _LOOSE if public.startswith(_ALWAYS_LOOSE) else STANDARD
