"""quire through the same verbs as the rivals, and the few readings of columns that tables need."""

from collections import Counter
from collections.abc import Mapping

import quire
from benchmarks.peers.selectolax_lexbor import Outline


class Quire:
    """Trees are digests: everything on, as ``encode`` does by default; told that the bytes are a page."""

    name = "quire"

    def parse(self, body: bytes) -> quire.Digest:
        return quire.encode(body, kind="html")

    def count_by_walk(self, tree: quire.Digest) -> Counter[str]:
        return Counter(count_nodes(tree))

    def count_by_query(self, tree: quire.Digest) -> Counter[str]:
        names, tag = tree.tag_names, tree.tag
        return Counter(names[tag[node]] for node in tree.select("*"))

    def serialise(self, tree: quire.Digest) -> bytes:
        return tree.decode()


def count_nodes(page: quire.Digest) -> dict[str, int]:
    """Nodes by name, as in ``tags``; ``elements_only`` adds up what namespaces keep apart."""
    return page.tag_counts()


def elements_only(counts: Mapping[str, int]) -> Counter[str]:
    """Without texts, comments and the like, whatever a library calls them, and without regard to case."""
    folded: Counter[str] = Counter()
    for name, count in counts.items():
        if count and name and name[0] not in "#-!":
            # The rivals have no prefixes for elements of SVG and MathML.
            folded[name.lower().removeprefix("svg:").removeprefix("math:")] += count
    return folded


def outline(page: quire.Digest, *, template_content: bool = False) -> Outline:
    """Names and depths below and with ``html``, as the walk of selectolax gives them.

    Without ``template_content`` what a template holds is left out, because
    selectolax does not walk it.
    """
    names = page.tag_names
    tag, depth, size = page.tag.tolist(), page.depth.tolist(), page.size.tolist()
    root = next((i for i in range(1, page.n) if depth[i] == 1 and names[tag[i]] == "html"), None)
    if root is None:
        return []
    out: Outline = []
    node, end = root, root + size[root]
    while node < end:
        name = names[tag[node]]
        out.append((name, depth[node] - depth[root]))
        node += size[node] if name == "template" and not template_content else 1
    return out
