"""Annotation: which nodes of a page changed since the last version, and how.

Two digests go in, arrays come out: a status for every node of either page, and its partner (or -1)
on the other one. All other modules read these arrays; none of them walks trees.

This module combines the two pages; questions about only one of them are in ``sides``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from quire import _core
from quire.digest.arguments import check_page, shown
from quire.sdiff.facets import ALL_FACETS, ChangeKind, Facet, Status, check_facets, differing
from quire.sdiff.json_members import Found, without_order_of_members
from quire.sdiff.rules import EVERYTHING, Rules
from quire.sdiff.sides import OneSide

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from quire.digest import Digest

Granularity: TypeAlias = Literal["brief", "normal", "fine"]
Side: TypeAlias = Literal["old", "new"]


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one node.

    Attributes:
        node: the number of the node: on the new page, or on the old page if it was deleted.
        partner: its number on the old page; None if it was inserted or deleted.
        kind: the most important change: ``inserted``, ``deleted``, ``moved``, ``renamed`` (another
            tag), ``updated`` (other attributes or content) or ``layout`` (white space between
            elements).
        facets: all facets that changed. Nodes that were inserted, deleted or moved changed in
            ``structure``.
        page: the page that ``node`` is on: ``old`` if it was deleted, else ``new``.
    """

    node: int
    partner: int | None
    kind: ChangeKind
    facets: frozenset[Facet]
    page: Side = "new"


@dataclass(frozen=True, slots=True)
class AttributeChange:
    """A changed attribute; a value is None if the attribute was added or removed."""

    name: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Summary:
    """How much changed, in nodes. A node can be part of several counts.

    Attributes:
        insertions: inserted parts (subtrees of any size).
        inserted: all nodes in inserted parts.
        deletions: deleted parts.
        deleted: all nodes in deleted parts.
        moved: nodes that moved, each with everything below it.
        renamed: nodes whose tag changed.
        attributes: nodes whose attributes changed.
        content: texts, comments and other leaves whose content changed.
        layout: white space between elements that changed, was added or was removed.
        links: nodes with a link that changed, was added or was removed.
        images: nodes with an image that changed, was added or was removed.
    """

    insertions: int
    inserted: int
    deletions: int
    deleted: int
    moved: int
    renamed: int
    attributes: int
    content: int
    layout: int
    links: int
    images: int


@dataclass(frozen=True, slots=True, eq=False)
class Annotation:
    """What happened to every node of two pages. Made by ``quire.annotate``; true if any changed.

    >>> import quire
    >>> old = quire.encode(b"<ul><li>Fish<li>Chips</ul>")
    >>> new = quire.encode(b"<ul><li>Fish<li>Peas<li class=new>Tea</ul>")
    >>> annotation = quire.annotate(old, new)
    >>> for change in annotation.changes():
    ...     print(change.kind, new.tags[new.tag[change.node]], sorted(change.facets))
    updated #text ['content']
    inserted li ['attributes', 'structure', 'tags']
    inserted #text ['content', 'structure', 'tags']

    Attributes:
        old: the old page.
        new: the new page.
        rules: the rules of the comparison.
        to_new: the partner of each node of the old page; -1 for none.
        to_old: the partner of each node of the new page; -1 for none.
        old_status: bits of ``Status`` for each node of the old page.
        new_status: bits of ``Status`` for each node of the new page.
        coarse: pairs of nodes, old and new, whose children were compared by a faster method because
            they exceed a limit. The changes reported there are correct, but may not be the fewest.
    """

    old: Digest
    new: Digest
    rules: Rules
    to_new: NDArray[np.int32]
    to_old: NDArray[np.int32]
    old_status: NDArray[np.uint16]
    new_status: NDArray[np.uint16]
    coarse: tuple[tuple[int, int], ...]
    _sides: dict[Side, OneSide] = field(default_factory=dict, repr=False)

    # ------------------------------------------------------------ asking

    def status(self, node: int, page: Side = "new") -> Status:
        """Return what happened to a node, as bits.

        >>> import quire
        >>> quire.annotate(quire.encode(b"<p>a"), quire.encode(b"<p>b")).status(5)
        <Status.CONTENT: 16>
        """
        side = self._side(page)
        return Status(int(side.status[side.check(node)]))

    def partner(self, node: int, page: Side = "new") -> int | None:
        """Return the number of a node on the other page; None if it was inserted or deleted.

        >>> import quire
        >>> quire.annotate(quire.encode(b"<p>a"), quire.encode(b"<p>b")).partner(5)
        5
        """
        partners = self.to_old if page == "new" else self.to_new
        found = int(partners[self._side(page).check(node)])
        return None if found < 0 else found

    def count(self, node: int, facet: Facet, page: Side = "new") -> int:
        """Count the nodes of a subtree, its root included, that changed in a facet.

        Takes O(1) after the first call. Deleted nodes are on the old page and are counted there.

        >>> import quire
        >>> annotation = quire.annotate(quire.encode(b"<p>a<p>b"), quire.encode(b"<p>a<p>c"))
        >>> annotation.count(0, "content"), annotation.count(4, "content")
        (1, 0)
        """
        (facet,) = check_facets(facet)
        return self._side(page).count(node, facet)

    def changed_below(self, node: int, facet: Facet | None = None, page: Side = "new") -> bool:
        """Tell whether anything in a subtree, its root included, changed.

        Takes O(1) after the first call. Nodes deleted from below the node count too: the subtree of
        its partner is checked as well.

        >>> import quire
        >>> old, new = quire.encode(b"<p>a<b>c</b><p>b"), quire.encode(b"<p>a<p>b")
        >>> annotation = quire.annotate(old, new)
        >>> annotation.changed_below(4), annotation.changed_below(6)
        (True, False)

        Args:
            node: the root of the subtree.
            facet: the facet; None for any.
            page: the page that ``node`` is on.
        """
        facets = ALL_FACETS if facet is None else check_facets(facet)
        other: Side = "old" if page == "new" else "new"
        partner = self.partner(node, page)
        return any(
            self._side(page).count(node, each) > 0
            or (partner is not None and self._side(other).count(partner, each) > 0)
            for each in facets
        )

    def differs(self, facets: Iterable[Facet] | Facet = ALL_FACETS) -> bool:
        """Tell whether anything changed in any of the facets: whether ``changes`` lists a change.

        A facet with equal signatures did not change, even if its values are in other nodes now:
        ``<b>x</b>`` and ``<i>x</i>`` have the same content. A part that moved counts for the facets
        of its values too: if it has text, for example, the texts of the page are now in a different
        order. ``quire.changed`` gives the same answer.

        >>> import quire
        >>> annotation = quire.annotate(quire.encode(b"<p id=a>x"), quire.encode(b"<p id=b>x"))
        >>> annotation.differs(), annotation.differs("content")
        (True, False)
        """
        return any(
            self._side("new").count(0, facet) > 0
            or self._side("old").count(0, facet) > 0
            or len(self._side("new").moved_with(facet)) > 0
            for facet in self._candidates(facets)
        )

    def __bool__(self) -> bool:
        return self.differs()

    # ------------------------------------------------------------ listing

    def changes(self, facets: Iterable[Facet] | Facet = ALL_FACETS) -> Iterator[Change]:
        """List the nodes that changed in any of the facets, in document order.

        Nodes of the new page come in its order, deleted nodes at the position where they were. A
        part that moved is listed for the facets of its values too, because they are in a different
        order now.

        >>> import quire
        >>> old, new = quire.encode(b"<p>a<p>b<p>c"), quire.encode(b"<p>a<p>c")
        >>> [change.kind for change in quire.annotate(old, new).changes("content")]
        ['deleted']
        """
        import numpy as np  # noqa: PLC0415 - heavy

        wanted = self._candidates(facets)
        new, old = self._side("new"), self._side("old")
        is_changed = new.changed_in(wanted)
        for facet in wanted:
            is_changed[new.moved_with(facet)] = True
        # Of the old page only nodes without a partner; the others are listed for the new page.
        is_gone = old.changed_in(wanted) & (self.to_new < 0)
        fresh, gone = np.flatnonzero(is_changed), np.flatnonzero(is_gone)
        # A deleted node comes after the last node before it that still exists.
        kept = np.where(self.to_new >= 0, np.arange(self.old.n), 0)
        after = self.to_new[np.maximum.accumulate(kept)[gone]]
        order = np.lexsort(
            (
                np.concatenate([fresh, gone]),
                np.concatenate([np.zeros_like(fresh), np.ones_like(gone)]),
                np.concatenate([fresh, after]),
            )
        )
        codes = np.concatenate([new.codes()[fresh], old.codes()[gone]])[order]
        nodes = np.concatenate([fresh, gone])[order]
        sets: dict[int, frozenset[Facet]] = {}
        for node, place, code in zip(nodes.tolist(), order.tolist(), codes.tolist(), strict=True):
            if code not in sets:
                sets[code] = frozenset(
                    facet for bit, facet in enumerate(ALL_FACETS) if code >> bit & 1
                )
            yield self._change(node, "new" if place < len(fresh) else "old", sets[code])

    def parts(self, facets: Iterable[Facet] | Facet = ALL_FACETS) -> Iterator[Change]:
        """List changes like ``changes``, but each inserted or deleted part as only one change.

        Such a change has the root of the part as its node, and the facets of all nodes in the part.

        >>> import quire
        >>> old, new = quire.encode(b"<p>a"), quire.encode(b"<p>a<ul><li>b<li>c</ul>")
        >>> [(change.kind, change.node) for change in quire.annotate(old, new).parts("content")]
        [('inserted', 6)]
        """
        roots = {"old": self._side("old").roots(), "new": self._side("new").roots()}
        listed: dict[tuple[Side, int], Change] = {}
        for change in self.changes(facets):
            root = roots[change.page].get(change.node, change.node)
            known = listed.get((change.page, root))
            found = change.facets if known is None else known.facets | change.facets
            listed[change.page, root] = replace(change, node=root, facets=found)
        yield from listed.values()

    def attribute_changes(self, node: int) -> tuple[AttributeChange, ...]:
        """List the changed attributes of a node of the new page, by name.

        The list is empty for an inserted node.

        >>> import quire
        >>> old, new = quire.encode(b"<p id=a class=x>"), quire.encode(b"<p class=y title=z>")
        >>> for change in quire.annotate(old, new).attribute_changes(4):
        ...     print(change)
        AttributeChange(name='class', old='x', new='y')
        AttributeChange(name='id', old='a', new=None)
        AttributeChange(name='title', old=None, new='z')
        """
        partner = self.partner(node)
        if partner is None:
            return ()
        before, after = self.old.attributes(partner), self.new.attributes(node)
        return tuple(
            AttributeChange(name, before.get(name), after.get(name))
            for name in sorted(before.keys() | after.keys())
            if self.rules.compares(name) and not self._is_same(before.get(name), after.get(name))
        )

    def summary(self) -> Summary:
        """Count the changes by kind.

        >>> import quire
        >>> summary = quire.annotate(quire.encode(b"<p>a"), quire.encode(b"<p>a<p>b")).summary()
        >>> summary.insertions, summary.inserted, summary.content
        (1, 2, 0)
        """
        import numpy as np  # noqa: PLC0415 - heavy

        def count(status: NDArray[np.uint16], bits: int) -> int:
            return int(np.count_nonzero(status & bits))

        def count_both(bits: int) -> int:
            gone = self.old_status[self.to_new < 0]
            return count(self.new_status, bits) + count(gone, bits)

        return Summary(
            insertions=len(self.tops("new")),
            inserted=count(self.new_status, Status.ALONE),
            deletions=len(self.tops("old")),
            deleted=count(self.old_status, Status.ALONE),
            moved=count(self.new_status, Status.MOVED),
            renamed=count(self.new_status, Status.TAG),
            attributes=count(self.new_status, Status.ATTRIBUTES),
            content=count(self.new_status, Status.CONTENT),
            layout=count_both(Status.LAYOUT),
            links=count_both(Status.LINKS),
            images=count_both(Status.IMAGES),
        )

    def tops(self, page: Side = "new") -> NDArray[np.int64]:
        """List the roots of the inserted parts (on the old page, of the deleted parts).

        These are the nodes without a partner whose parent has one.

        >>> import quire
        >>> quire.annotate(quire.encode(b"<p>a"), quire.encode(b"<p>a<p>b")).tops().tolist()
        [6]
        """
        return self._side(page).tops()

    def to_dict(self, facets: Iterable[Facet] | Facet = ALL_FACETS) -> dict[str, object]:
        """Return the changes as plain values that ``json.dumps`` accepts.

        A part that was inserted or deleted is one entry, however large it is. The schema is in
        ``docs/guide/compare-pages.md``.

        >>> import quire
        >>> old, new = quire.encode(b"<p>Open 9 to 5"), quire.encode(b"<p>Open 9 to 6")
        >>> found = quire.annotate(old, new).to_dict()
        >>> [(word["kind"], word["text"]) for word in found["changes"][0]["words"]]
        [('same', 'Open 9 to '), ('deleted', '5'), ('inserted', '6')]

        Args:
            facets: include only changes in these facets.
        """
        # Here, since that module reads annotations.
        from quire.sdiff.changes_dict import changes_dict  # noqa: PLC0415

        return changes_dict(self, facets)

    # ------------------------------------------------------------ inside

    def _candidates(self, facets: Iterable[Facet] | Facet) -> tuple[Facet, ...]:
        """Return those of the facets that can have changed, by their signatures.

        All facets stay together, so that the list of all changes has every node that changed.
        """
        wanted = check_facets(facets)
        found = differing(self.old.signatures, self.new.signatures, wanted)
        return wanted if found and wanted == ALL_FACETS else found

    def _side(self, page: Side) -> OneSide:
        side = self._sides.get(page)
        if side is None:
            digest, status = (
                (self.new, self.new_status) if page == "new" else (self.old, self.old_status)
            )
            side = self._sides[page] = OneSide(
                digest, status, compares_layout=self.rules.compares_layout
            )
        return side

    def _is_same(self, old: str | None, new: str | None) -> bool:
        if old is None or new is None or not self.rules.ignore_case:
            return old == new
        return old.lower() == new.lower()

    def _change(self, node: int, page: Side, facets: frozenset[Facet]) -> Change:
        status = int(self._side(page).status[node])
        kind: ChangeKind
        if status & Status.LAYOUT:
            kind = "layout"
        elif status & Status.ALONE:
            kind = "inserted" if page == "new" else "deleted"
        elif status & Status.MOVED:
            kind = "moved"
        elif status & Status.TAG:
            kind = "renamed"
        else:
            kind = "updated"
        return Change(node, self.partner(node, page), kind, facets, page)


def check_annotation(annotation: object) -> None:
    """Check that an argument is an annotation.

    Raises:
        TypeError: it is not.
    """
    if not isinstance(annotation, Annotation):
        raise TypeError(
            f"annotation is {shown(annotation)}; expected an Annotation, as "
            "quire.annotate(old, new) makes of two pages"
        )


def annotate(
    old: Digest,
    new: Digest,
    rules: Rules = EVERYTHING,
    *,
    granularity: Granularity = "normal",
) -> Annotation:
    """Compare two pages and return what happened to every node.

    >>> import quire
    >>> annotation = annotate(quire.encode(b"<p>Open 9 to 5"), quire.encode(b"<p>Open 9 to 6"))
    >>> annotation.new_status.tolist()
    [0, 0, 0, 0, 0, 16]
    >>> annotation.to_old.tolist()
    [0, 1, 2, 3, 4, 5]

    In JSON the order of the members of an object has no meaning, so members in another order are
    the same. An edit script keeps their order, as it keeps every byte.

    Args:
        old: the old page.
        new: the new page.
        rules: which parts to compare and which differences to ignore.
        granularity: ``brief`` reports a part that changed a lot as replaced; ``fine`` matches nodes
            as long as there is any evidence that they are the same.

    Raises:
        TypeError: a page is not a ``Digest``.
        PatternError: a pattern of the rules is not valid.
        SelectorError: a selector of the rules is not valid.
        SelectorBudgetExceeded: a selector took too many steps on a page.
    """
    import numpy as np  # noqa: PLC0415 - heavy

    check_page("old", old)
    check_page("new", new)
    if not isinstance(rules, Rules):
        raise TypeError(
            f"rules is {shown(rules)}; expected Rules, such as Rules(ignore_space=True)"
        )
    found = _core.annotate(old._native, new._native, rules, granularity)
    arrays = Found(
        to_new=np.frombuffer(found["to_new"], np.int32),
        to_old=np.frombuffer(found["to_old"], np.int32),
        old_status=np.frombuffer(found["old"], np.uint16),
        new_status=np.frombuffer(found["new"], np.uint16),
    )
    if old.kind == new.kind == "json":
        arrays = without_order_of_members(old, new, arrays)
    return Annotation(
        old,
        new,
        rules,
        arrays.to_new,
        arrays.to_old,
        arrays.old_status,
        arrays.new_status,
        tuple(found["coarse"]),
    )
