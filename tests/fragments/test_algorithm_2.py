"""Algorithm 2 by the paper's rules: against the paper's recursion, and against ``lifetimes`` where both have the same rules."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire import AfTree, Digest
from quire.fragments import NodeStatus, PaperFragments, algorithm_2, overlap
from quire.fragments.lifetime.matching import match_versions
from quire.fragments.lifetime.version_parts import Comparing, Parts
from quire.fragments.lifetime.version_record import largest_changed

SAME, MOVED, CHANGED = NodeStatus.UNCHANGED, NodeStatus.POSITION_CHANGED, NodeStatus.VALUE_CHANGED
SHARES = st.sampled_from([0.1, 0.25, 0.5, 0.7, 1.0])


def sentence(drawn: random.Random) -> str:
    """Long enough for two windows, and unlike any other."""
    return " ".join(f"{drawn.getrandbits(40):x}" for _ in range(8))


class Tree(list["Tree | str"]):
    """A page as nested lists with texts as leaves."""

    def html(self) -> str:
        """Return it as HTML."""
        return "".join(
            f"<p>{o}</p>" if isinstance(o, str) else f"<div>{o.html()}</div>" for o in self
        )


def drawn_tree(drawn: random.Random, depth: int) -> Tree:
    return Tree(
        drawn_tree(drawn, depth - 1) if depth and drawn.random() < 0.5 else sentence(drawn)
        for _ in range(drawn.randint(2, 5))
    )


def edited(tree: Tree, drawn: random.Random, *, in_place: bool) -> Tree:
    """Other texts for some leaves; unless in place, also leaves that are new, gone or elsewhere."""
    made = Tree()
    for one in tree:
        if not isinstance(one, str):
            made.append(edited(one, drawn, in_place=in_place))
        elif drawn.random() < 0.3:
            made.append(
                sentence(drawn) if drawn.random() < 0.5 else f"{one[:60]} {sentence(drawn)}"
            )
        else:
            made.append(one)
    if not in_place:
        if drawn.random() < 0.3:
            made.insert(drawn.randint(0, len(made)), sentence(drawn))
        if drawn.random() < 0.3 and len(made) > 2:
            made.pop(drawn.randrange(len(made)))
        if drawn.random() < 0.3:
            drawn.shuffle(made)
    return made


def versions(seed: int, *, in_place: bool) -> tuple[Digest, Digest]:
    drawn = random.Random(seed)
    tree = drawn_tree(drawn, 3)
    return tuple(  # type: ignore[return-value]
        quire.encode(one.html().encode()) for one in (tree, edited(tree, drawn, in_place=in_place))
    )


class Recursion:
    """The paper's pseudocode, procedure by procedure."""

    def __init__(self, old: AfTree, new: AfTree, min_overlap: float, child_change: float) -> None:
        self.old, self.new = old, new
        self.min_overlap, self.child_change = min_overlap, child_change
        self.status = dict.fromkeys(range(new.n), SAME)
        self.fragments: list[int] = []
        self.mark_changed_nodes(0, 0)
        self.detect_lp_fragment(0)

    def resemblance(self, a: int, b: int) -> float:
        """Return the paper's Resemblance of two nodes."""
        if self.old.value(a) == self.new.value(b):
            return 1.0
        return overlap(self.old.shingles().of(a), self.new.shingles().of(b))

    def mark_changed_nodes(self, a: int, b: int) -> NodeStatus:
        """Phase 1."""
        if self.old.node_id(a) != self.new.node_id(b):
            self.status[b] = MOVED
        if self.old.value(a) == self.new.value(b):
            return self.status[b]
        children = list(self.new.children(b))
        if not children:
            self.status[b] = CHANGED
            return CHANGED
        changed = 0
        for child in children:
            nearest = max(
                self.old.children(a),
                key=lambda one: (
                    self.resemblance(one, child),
                    self.old.value(one) == self.new.value(child),
                    self.old.node_id(one) == self.new.node_id(child),
                    -one,
                ),
                default=None,
            )
            if nearest is None or self.resemblance(nearest, child) < self.min_overlap:
                self.status[child] = CHANGED
                changed += 1
            elif self.mark_changed_nodes(nearest, child) == CHANGED:
                changed += 1
        if changed / len(children) >= self.child_change:
            self.status[b] = CHANGED
        return self.status[b]

    def detect_lp_fragment(self, b: int) -> None:
        """Phase 2."""
        if self.status[b] == CHANGED:
            self.fragments.append(b)
            return
        if self.status[b] == MOVED:
            self.fragments.append(b)
        for child in self.new.children(b):
            self.detect_lp_fragment(child)


@given(st.integers(0, 100_000), SHARES, SHARES)
def test_it_does_what_the_paper_s_pseudocode_does(
    seed: int, min_overlap: float, child_change: float
) -> None:
    pages = versions(seed, in_place=False)
    [found] = algorithm_2(pages, min_overlap=min_overlap, child_change=child_change).versions
    old, new = (AfTree.of(page) for page in pages)
    expected = Recursion(old, new, min_overlap, child_change)

    assert found.status.tolist() == [int(status) for status in expected.status.values()]
    assert list(found.fragments) == expected.fragments


@given(st.integers(0, 100_000), SHARES, SHARES)
def test_lifetimes_has_the_same_rules_if_texts_only_change_in_place(
    seed: int, min_overlap: float, child_change: float
) -> None:
    """Moves, deletions and two nodes with one nearest node are where the rules differ."""
    old, new = versions(seed, in_place=True)
    how = Comparing(min_overlap, child_change)
    [paper] = algorithm_2([old, new], min_overlap=min_overlap, child_change=child_change).versions
    after = Parts(new, how)
    ours = match_versions(Parts(old, how), after, how)

    if 0 in paper.fragments:  # the whole page: ours looks for changes inside it
        assert int(ours.status[0]) == CHANGED
    else:
        assert largest_changed(after, ours.status, 1) == list(paper.fragments)


def test_every_version_is_compared_with_the_first_and_fragments_are_merged_by_place() -> None:
    def shop(fish: str, hours: str) -> Digest:
        head = "<h1>The fish shop at the harbour, since the year of its foundation</h1>"
        return quire.encode(f"{head}<p>{hours}</p><p>{fish}</p>".encode())

    pages = [
        shop("Cod from the boat of Mary", "Open from nine to five on all days"),
        shop("Hake, caught off the island", "Open from nine to five on all days"),
        shop("Cod from the boat of Mary", "Closed for the whole of the winter"),
    ]
    found = algorithm_2(pages)

    assert isinstance(found, PaperFragments)
    assert [one.fragments for one in found.versions] == [(3,), (2,)]
    assert found.graph == {(): {(1,), (2,)}, (1,): frozenset(), (2,): frozenset()}


def test_fragments_inside_a_part_that_moved_are_below_it_in_the_graph() -> None:
    drawn = random.Random(4)
    texts = [sentence(drawn) for _ in range(6)]
    old = Tree([texts[0], Tree(texts[1:5]), texts[5]])
    new = Tree([Tree([*texts[1:4], sentence(drawn)]), texts[0], texts[5]])
    found = algorithm_2([quire.encode(one.html().encode()) for one in (old, new)])

    # The list is at another place, so by the paper's rule its items are too.
    assert found.graph[()] == {(0,), (1,)}
    assert found.graph[0,] == {(0, 3), (0, 0), (0, 1), (0, 2)}


def test_no_versions_and_shares_out_of_range_are_named() -> None:
    with pytest.raises(ValueError, match="no versions: expected at least one"):
        algorithm_2([])
    with pytest.raises(ValueError, match="min_bytes 0: expected at least 1"):
        algorithm_2([quire.encode(b"<p>x")], min_bytes=0)
    with pytest.raises(ValueError, match="child_change 2: expected more than 0"):
        algorithm_2([quire.encode(b"<p>x")], child_change=2)
