"""quire: web pages as flat columns, and back to the exact bytes.

>>> import quire
>>> page = quire.encode(b"<p>Fish &amp; chips")
>>> page.text(), page.decode()
('Fish & chips', b'<p>Fish &amp; chips')
"""

from quire.digest import (
    ByteList,
    Digest,
    Encoder,
    Header,
    Image,
    Link,
    Node,
    Signatures,
    encode,
    from_bytes,
    load,
    peek,
)
from quire.errors import (
    DigestFormatError,
    InternalError,
    MalformedSource,
    MissingExtra,
    NodeNotFound,
    QuireError,
    ScriptError,
    SelectorBudgetExceeded,
    SelectorError,
    SourceTooLarge,
    TreeError,
)
from quire.sdiff import EditScript, edit_script

__all__ = [
    "ByteList",
    "Digest",
    "DigestFormatError",
    "EditScript",
    "Encoder",
    "Header",
    "Image",
    "InternalError",
    "Link",
    "MalformedSource",
    "MissingExtra",
    "Node",
    "NodeNotFound",
    "QuireError",
    "ScriptError",
    "SelectorBudgetExceeded",
    "SelectorError",
    "Signatures",
    "SourceTooLarge",
    "TreeError",
    "edit_script",
    "encode",
    "from_bytes",
    "load",
    "peek",
]
