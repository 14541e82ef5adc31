"""html5lib: pure Python, the error-correcting parser that stands where the paper had JTidy."""

from collections import Counter
from typing import Any

import html5lib


class Html5lib:
    """Trees are ElementTree elements without namespaces."""

    name = "html5lib"

    def parse(self, body: bytes) -> Any:
        return html5lib.parse(body, namespaceHTMLElements=False)

    def count_by_walk(self, tree: Any) -> Counter[str]:
        return Counter(node.tag for node in tree.iter() if isinstance(node.tag, str))

    def count_by_query(self, tree: Any) -> Counter[str]:
        return self.count_by_walk(tree)

    def serialise(self, tree: Any) -> bytes:
        written: str = html5lib.serialize(tree)
        return written.encode()
