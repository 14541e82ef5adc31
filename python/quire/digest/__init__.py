"""Digests: one page as flat columns, made from its bytes and able to give them back.

Bytes or a file go in (``files``), a ``Digest`` comes out (``page``): its columns, its text, links
and images, selectors, and a file format for storing it.
"""

from __future__ import annotations

from quire.digest.columns import HIDDEN_ELEMENTS
from quire.digest.files import Encoder, Header, encode, from_bytes, load, peek
from quire.digest.lists import ByteList
from quire.digest.node import Node
from quire.digest.page import Digest
from quire.digest.references import Image, Link
from quire.digest.signatures import Signatures

__all__ = [
    "HIDDEN_ELEMENTS",
    "ByteList",
    "Digest",
    "Encoder",
    "Header",
    "Image",
    "Link",
    "Node",
    "Signatures",
    "encode",
    "from_bytes",
    "load",
    "peek",
]
