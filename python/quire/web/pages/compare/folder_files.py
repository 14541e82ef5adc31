"""Style sheets, images and fonts in an uploaded zip file, for the pages in it.

Files are written under names of ours, as many and as long as the limits allow; the others are left
out, and pages are shown without them. They are found by the addresses that pages give: a page in a
folder has an address below ``FOLDER``, which leads to no place on the web.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from quire.display import is_web_address
from quire.sentinels.resources import Resource, sniffed
from quire.viewing import Use
from quire.web.pages.compare.zip_files import FAULTS, clean_steps
from quire.web.pages.forms import Upload

#: The address of a folder. Names that end in ``invalid`` belong to no one, by a standard.
FOLDER = "https://folder.invalid/"

#: Files of a zip file that are kept, bytes of each, and bytes of all of them.
MOST_FILES = 2_000
MOST_FILE_BYTES = 4_000_000
MOST_BYTES = 40_000_000

# Mirrors keep the query of an address in the name of the file: style.css?v=2.
_SHOWN = re.compile(
    r"\.(css|png|gif|jpe?g|webp|avif|bmp|ico|svg|woff2?|ttf|otf)([?@][^/]*)?$", re.IGNORECASE
)


def address_in_folder(name: str) -> str:
    """Return the address of a page: its own, or one in the folder.

    >>> address_in_folder("a b/c.html"), address_in_folder("https://a.example/")
    ('https://folder.invalid/a%20b/c.html', 'https://a.example/')
    """
    return name if is_web_address(name) else FOLDER + quote(name)


def write_files(file: Upload, target: Path, top: str) -> dict[str, Path]:
    """Write style sheets, images and fonts of a zip file; return them by their cleaned paths.

    Args:
        file: the zip file; its list of files was checked before.
        target: the folder to write to; it does not exist yet.
        top: the folder around all pages, which their paths leave out; empty if there is none.
    """
    target.mkdir()
    found: dict[str, Path] = {}
    left = MOST_BYTES
    with zipfile.ZipFile(io.BytesIO(file.data)) as opened:
        members = [each for each in opened.infolist() if _SHOWN.search(each.filename)]
        for member in members[:MOST_FILES]:
            steps = clean_steps(member.filename)
            if top and len(steps) > 1 and steps[0] == top:
                steps = steps[1:]
            name = "/".join(steps)
            try:
                with opened.open(member) as inside:
                    data = inside.read(min(MOST_FILE_BYTES, left) + 1)
            except (*FAULTS, OSError):
                continue  # a damaged image does not keep pages from being compared
            if len(data) > MOST_FILE_BYTES:
                left -= len(data)
            elif name and len(data) <= left:
                left -= len(data)
                path = target / str(len(found))
                path.write_bytes(data)
                found.setdefault(name, path)
            if left <= 0:
                break
    return found


def file_at(url: str, use: Use, files: Mapping[str, Path]) -> Resource | None:
    """Return the file that a page in a folder names; None if there is none.

    Args:
        url: its address, below ``FOLDER``.
        use: how the page uses it.
        files: the files, by their cleaned paths.
    """
    if not url.startswith(FOLDER):
        return None
    parts = urlsplit(url)
    names = [unquote(parts.path)]
    if parts.query:
        names[:0] = [f"{names[0]}?{unquote(parts.query)}", f"{names[0]}@{unquote(parts.query)}"]
    for name in names:
        path = files.get("/".join(clean_steps(name)))
        if path is not None:
            try:
                return sniffed(url, path.read_bytes(), "", use)
            except OSError:  # the result was forgotten meanwhile
                return None
    return None
