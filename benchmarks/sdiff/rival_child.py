"""The process in which a slow rival compares two files; the kernel ends it when its CPU time is up.

    python -m benchmarks.sdiff.rival_child TOOL KIND LIMIT_S OLD NEW

prints ``{"seconds": ..., "actions": ...}`` or ``{"problem": ...}``. Seconds are CPU time of comparing two
trees that are already there; the limit is on the same. Trees come from lxml without
blank texts, as ``xmldiff``'s own command reads them. KIND is ``xml``, ``html``, or ``whatwg`` for a
tree of lxml's elements that is built by html5lib, with all that browsers see.
"""

import json
import math
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Where white space is content.
VERBATIM = {"pre", "textarea", "script", "style"}


def main(tool: str, kind: str, limit_s: float, paths: list[str]) -> None:
    """Compare two files once, and say how it went."""
    bodies = [Path(path).read_bytes() for path in paths]
    try:
        compare = _prepared(tool, kind, bodies)
        used = math.ceil(time.process_time())
        most = used + math.ceil(limit_s)
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
        # The thread's clock: under a limit, that of the process moves in ticks.
        start = time.thread_time()
        actions = compare()
        answer: dict[str, object] = {"seconds": time.thread_time() - start, "actions": actions}
    except (Exception, RecursionError) as error:  # noqa: BLE001  any refusal is an answer here
        answer = {"problem": f"{type(error).__name__}: {str(error)[:60]}"}
    print(json.dumps(answer), flush=True)


def _prepared(tool: str, kind: str, bodies: list[bytes]) -> Callable[[], int]:
    """All up to the comparing itself; calling what is returned counts the changes found."""
    if tool == "xmldiff":
        from xmldiff.main import diff_trees  # noqa: PLC0415  one process needs one of the two

        old, new = (_tree(kind, body) for body in bodies)
        return lambda: len(diff_trees(old, new))
    from lxml.html.diff import htmldiff  # noqa: PLC0415

    before, after = (body.decode("utf-8", "replace") for body in bodies)

    def count_marks() -> int:
        marked: str = htmldiff(before, after)
        return marked.count("<ins>") + marked.count("<del>")

    return count_marks


def _tree(kind: str, body: bytes) -> Any:
    from lxml import etree, html  # noqa: PLC0415

    if kind == "whatwg":
        import html5lib  # noqa: PLC0415

        root = html5lib.parse(body, treebuilder="lxml", namespaceHTMLElements=False).getroot()
        return _without_blank_texts(root)
    if kind == "html":
        return html.document_fromstring(
            body, parser=html.HTMLParser(remove_blank_text=True, huge_tree=True)
        )
    parser = etree.XMLParser(
        remove_blank_text=True, huge_tree=True, resolve_entities=False, no_network=True
    )
    return etree.fromstring(body, parser)


def _without_blank_texts(root: Any) -> Any:
    for node in root.iter():
        if node.tag not in VERBATIM and node.text is not None and not node.text.strip():
            node.text = None
        if node.tail is not None and not node.tail.strip():
            node.tail = None
    return root


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:6])
