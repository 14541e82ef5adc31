"""The digest of a stored or fetched page, for sentinels.

Every place that reads a page for sentinels uses ``read_page``, so that a version that is loaded
again is read exactly as it was when it was fetched: by its content type, and PDF by its text.
"""

from __future__ import annotations

from quire.digest.files import encode
from quire.digest.page import Digest
from quire.sentinels.versions.pdf_text import is_pdf, pdf_text


def read_page(body: bytes, content_type: str = "") -> Digest:
    """Return the digest of a page; for a PDF, of its text.

    >>> read_page(b'{"price": 9}', "application/json").kind
    'json'

    Raises:
        MalformedSource: XML or JSON is not well-formed.
        SourceUnreadable: the text of a PDF cannot be read.
        MissingExtra: it is a PDF, and ``pypdf`` is not installed.
    """
    if is_pdf(body):
        return encode(pdf_text(body).encode(), kind="text")
    return encode(body, content_type=content_type or None)
