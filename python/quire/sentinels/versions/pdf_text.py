"""The text of a PDF, read by a process of its own.

A PDF can be made to take any amount of time and memory. So another process reads it, with limits on
memory, processor time, files and output; when it passes one, it ends, and the page has an error.
Texts are kept for a while, because a version is compared several times.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections import OrderedDict
from hashlib import blake2b
from pathlib import Path
from threading import Lock

from quire.display import format_bytes, printable, shorten
from quire.errors import MissingExtra, SourceUnreadable

#: Limits of the process: seconds of processor time and of waiting, bytes of memory.
CPU_SECONDS = 20
WAIT_SECONDS = 40.0
MEMORY_BYTES = 1 << 30
#: Characters of text, and bytes of PDF, that are read at most.
TEXT_CHARACTERS = 5_000_000
PDF_BYTES = 32_000_000
#: Characters of texts that are kept.
KEPT_CHARACTERS = 20_000_000

_CHILD = Path(__file__).with_name("pdf_process.py")
#: How the process ends if the file cannot be read; it has printed the reason.
UNREADABLE = 3

_kept: OrderedDict[bytes, str] = OrderedDict()
_lock = Lock()


def is_pdf(body: bytes) -> bool:
    """Tell whether bytes are a PDF: it says so at its start, as viewers expect.

    >>> is_pdf(b"%PDF-1.7"), is_pdf(b"<p>%PDF-1.7")
    (True, False)
    """
    return body[:1024].lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(b"%PDF-")


def pdf_text(body: bytes) -> str:
    """Return the text of a PDF, line by line, page after page.

    Raises:
        SourceUnreadable: the file is damaged or locked, or takes too much time or memory.
        MissingExtra: ``pypdf`` is not installed.
    """
    key = blake2b(body, digest_size=16).digest()
    with _lock:
        found = _kept.get(key)
        if found is not None:
            _kept.move_to_end(key)
            return found
    text = _read(body)
    with _lock:
        _kept[key] = text
        while sum(map(len, _kept.values())) > KEPT_CHARACTERS and len(_kept) > 1:
            _kept.popitem(last=False)
    return text


def has_pypdf() -> bool:
    """Tell whether the library is installed, without importing it here."""
    return importlib.util.find_spec("pypdf") is not None


def _read(body: bytes) -> str:
    if not has_pypdf():
        raise MissingExtra("this page is a PDF, and pypdf is not installed", extra="pdf")
    if len(body) > PDF_BYTES:
        raise SourceUnreadable(f"the PDF has more than {format_bytes(PDF_BYTES)}", name="PDF")
    limits = [str(each) for each in (CPU_SECONDS, MEMORY_BYTES, TEXT_CHARACTERS)]
    # The environment of the service may hold secrets; where Python finds its packages does not.
    passed = {"PATH", "HOME", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH"}
    environment = {name: value for name, value in os.environ.items() if name in passed}
    try:
        done = subprocess.run(  # noqa: S603 - our own script
            [sys.executable, "-P", str(_CHILD), *limits],
            input=body,
            capture_output=True,
            timeout=WAIT_SECONDS,
            env=environment,
            cwd="/",
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SourceUnreadable(
            f"the text of the PDF was not read in {WAIT_SECONDS:g} s", name="PDF"
        ) from None
    if done.returncode == UNREADABLE:
        reason = shorten(printable(done.stderr.decode("utf-8", "replace").strip()), 200)
        raise SourceUnreadable(f"the text of the PDF cannot be read: {reason}", name="PDF")
    if done.returncode != 0:
        raise SourceUnreadable(
            f"the PDF takes more than {CPU_SECONDS} s or {format_bytes(MEMORY_BYTES)} of memory",
            name="PDF",
        )
    return done.stdout.decode("utf-8", "replace")
