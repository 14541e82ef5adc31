"""Selectors for a part that a person pointed at.

The selector finds exactly the chosen element on the page at hand, and should find it on later
versions too. So it is made from as few facts as possible, and from lasting ones. These ways are tried,
and the one with the smallest cost is taken:

1. the element by itself: ``#price``, ``span[itemprop="price"]``, ``h1``;
2. the element inside another one: ``#cod td.price``, ``main h2.title``;
3. by the label beside it: the cell of the row that starts with "Cod", the ``dd`` after "Weight";
4. by its place after a heading: the third paragraph after "Prices";
5. by its place below the nearest element that one of these ways finds:
   ``ul.stories > li:nth-of-type(2)``.

Candidates are compared as sorted lists of nodes, so a try costs no walk over the page; the
winner is checked by the selector engine itself. At most ``MOST_ABOVE`` elements around the chosen one
are looked at, and ``MOST_TRIES`` pairs are counted.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest
from quire.errors import SelectorError
from quire.sentinels.parts.location import inside, outermost
from quire.sentinels.picking.names import Cost, Simple, simple_selectors

#: Elements around the chosen one that are looked at.
MOST_ABOVE = 24
#: Pairs of selectors that are counted for one element.
MOST_TRIES = 600
#: Characters of a label.
LONGEST_LABEL = 40

#: Elements that every page has some of, so that being the only one means little.
WEAK = frozenset({"body", "div", "html", "span", "tbody", "tfoot", "thead"})
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_CELLS = frozenset({"td", "th"})


class SelectorMaker:
    """Makes selectors for elements of one page.

    >>> import quire
    >>> page = quire.encode(b"<table><tr id=cod><td>Cod<td class=price>8.40<tr><td>Sole<td>9")
    >>> make = SelectorMaker(page)
    >>> for node in page.select("td").tolist():
    ...     print(make.selector(node))
    #cod > td:nth-of-type(1)
    td.price
    table > tbody > tr:nth-of-type(2) > td:nth-of-type(1)
    //tr[td[normalize-space()="Sole"]]/td[2]
    """

    def __init__(self, page: Digest) -> None:
        self.page: Digest = page
        self._names: list[str] = [str(name) for name in page.tag_names]
        self._spaces: list[str | None] = list(page.tag_namespaces)
        self._found: dict[str, NDArray[np.int64]] = {}
        self._best: dict[int, tuple[int, str] | None] = {}

    def selector(self, node: int) -> str:
        """Return a selector that finds this element and no other.

        The document itself and nodes that cannot be selected get that of the nearest element around.
        """
        best = self._unique(node)
        ways = [] if best is None else [best]
        if best is None or best[0] > Cost.PLACE:
            ways += [*self._after_heading(node), *self._by_place(node)]
        for found in sorted(ways):
            if self._finds(found[1]).tolist() == [node]:
                return found[1]
        return self.page.path(node)

    def name(self, node: int) -> str:
        """Return the name of an element's tag."""
        return self._names[int(self.page.tag[node])]

    def step(self, node: int) -> str:
        """Return an element as a step of a path: its tag, with its most lasting class or id."""
        for each in self._simple(node):
            if each.cost <= Cost.TAG:
                return each.css
        return self.name(node)

    # ------------------------------------------------------------ ways

    def _unique(self, node: int) -> tuple[int, str] | None:
        """Return the best selector that needs no place, with its cost."""
        if node not in self._best:
            ways = [*self._alone(node), *self._below(node), *self._labelled(node)]
            self._best[node] = min(ways, default=None)
        return self._best[node]

    def _alone(self, node: int) -> Iterator[tuple[int, str]]:
        for each in self._simple(node):
            if self._is_only(each.css, node):
                yield each.cost, each.css
                return

    def _below(self, node: int) -> Iterator[tuple[int, str]]:
        """Yield selectors of the form ``outer inner``."""
        own = [(each, self._finds(each.css)) for each in self._simple(node)]
        tries = 0
        for distance, above in enumerate(self._above(node)):
            for outer in self._simple(above):
                if outer.css in WEAK:
                    continue
                roots = outermost(self.page, self._finds(outer.css))
                for inner, matches in own:
                    tries += 1
                    if tries > MOST_TRIES:
                        return
                    below = matches[inside(self.page, matches, roots)]
                    if len(below) == 1 and below[0] == node:
                        cost = outer.cost + inner.cost + 1 + distance // 4
                        if inner.cost >= Cost.TAG and outer.cost >= Cost.TAG:
                            cost += Cost.TAG
                        yield cost, f"{outer.css} {inner.css}"

    def _labelled(self, node: int) -> Iterator[tuple[int, str]]:
        """Yield XPath that goes by the first cell of a row, or by the term of a definition."""
        name, page = self.name(node), self.page
        above = int(page.parent[node])
        if name in _CELLS and self.name(above) == "tr":
            cells = [each for each in self._children(above) if self.name(each) in _CELLS]
            label = self._label(cells[0])
            place = [each for each in cells if self.name(each) == name].index(node) + 1
            if label and node != cells[0]:  # a text must not be looked for by itself
                first = self.name(cells[0])
                yield Cost.LABEL, f'//tr[{first}[normalize-space()="{label}"]]/{name}[{place}]'
        elif name == "dd":
            before = [each for each in self._children(above) if each < node]
            terms = [each for each in before if self.name(each) == "dt"]
            label = self._label(terms[-1]) if terms else ""
            place = (
                sum(self.name(each) == "dd" and each > terms[-1] for each in before) if terms else 0
            )
            if label:
                yield (
                    Cost.LABEL,
                    f'//dt[normalize-space()="{label}"]/following-sibling::dd[{place + 1}]',
                )

    def _after_heading(self, node: int) -> Iterator[tuple[int, str]]:
        """Yield XPath that counts from the heading before an element, or before one around it."""
        steps = ""
        at = node
        for above in self._above(node):
            name = self.name(at)
            alike = 0
            for each in reversed([each for each in self._children(above) if each < at]):
                alike += self.name(each) == name
                if self.name(each) in HEADINGS and name not in HEADINGS:
                    label = self._label(each, with_digits=True)
                    if label:
                        heading = f'//{self.name(each)}[normalize-space()="{label}"]'
                        cost = Cost.LABEL + Cost.PLACE // 2 + 2 * steps.count("/")
                        yield cost, f"{heading}/following-sibling::{name}[{alike + 1}]{steps}"
                    return
            place = sum(self.name(each) == name for each in self._children(above) if each <= at)
            steps = f"/{name}[{place}]{steps}"
            at = above

    def _by_place(self, node: int) -> Iterator[tuple[int, str]]:
        """Yield the path from the nearest element that has a good selector."""
        steps: list[str] = []
        cost = 0
        at = node
        for above in self._above(node):
            step, is_counted = self._place(at)
            steps.append(step)
            cost += Cost.PLACE if is_counted else 2
            found = self._unique(above)
            if found is not None and found[1] not in WEAK and not found[1].startswith("/"):
                yield cost + found[0], " > ".join([found[1], *reversed(steps)])
                return
            at = above

    def _place(self, node: int) -> tuple[str, bool]:
        """Return an element as a step below its parent, and whether it is counted."""
        name = self.name(node)
        beside = [each for each in self._children(int(self.page.parent[node])) if each != node]
        alike = [each for each in beside if self.name(each) == name]
        if not alike:
            return name, False
        for each in self._simple(node):
            if each.cost < Cost.TAG:
                others = self._finds(each.css)
                if not np.isin(alike, others).any():
                    return each.css, False
        return f"{name}:nth-of-type({sum(each < node for each in alike) + 1})", True

    # ------------------------------------------------------------ the page

    def _simple(self, node: int) -> list[Simple]:
        tag = int(self.page.tag[node])
        if self._spaces[tag] not in ("html", None, ""):
            return []  # names in SVG and MathML differ in capitals: go by place
        has = self.page.attr[node] >= 0
        attributes = self.page.attributes(node) if has else {}
        return list(simple_selectors(self._names[tag], attributes))

    def _finds(self, selector: str) -> NDArray[np.int64]:
        if selector not in self._found:
            try:
                found = (
                    self.page.xpath(selector)
                    if selector.startswith("/")
                    else self.page.select(selector)
                )
            except SelectorError:
                found = np.empty(0, np.int64)
            nodes = found if isinstance(found, np.ndarray) else np.empty(0, np.int64)
            self._found[selector] = nodes.astype(np.int64)
        return self._found[selector]

    def _is_only(self, selector: str, node: int) -> bool:
        found = self._finds(selector)
        return len(found) == 1 and int(found[0]) == node

    def _above(self, node: int) -> Iterator[int]:
        for _ in range(MOST_ABOVE):
            node = int(self.page.parent[node])
            if node <= 0:
                return
            yield node

    def _children(self, node: int) -> Iterator[int]:
        page = self.page
        child, end = node + 1, node + int(page.size[node])
        while child < end:
            yield child
            child += int(page.size[child])

    def _label(self, node: int, *, with_digits: bool = False) -> str:
        """Return the text of an element as a label; empty if it is not a good one."""
        if self.page.size[node] > LONGEST_LABEL:
            return ""
        text = " ".join(self.page.text(node).split())
        bad = set('"') if with_digits else set('"0123456789')
        letters = sum(each.isalpha() for each in text)
        return text if letters > 1 and len(text) <= LONGEST_LABEL and not set(text) & bad else ""
