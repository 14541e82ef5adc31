"""Following: after a redesign a part is found again, or the sentinel says that it is lost."""

from __future__ import annotations

from itertools import permutations

import pytest

import quire
from quire.sentinels.pages.following import PartFinder
from tests.sentinels.redesigns import DESIGNS, PARTS, Product

AFTER = Product(price="€ 84.50", stock="In stock, 3 left", delivery="Delivered on Friday, 22 May")
PAIRS = [pytest.param(old, new, id=f"{old}-{new}") for old, new in permutations(DESIGNS, 2)]


def place_of(page: quire.Digest, name: str) -> int:
    (node,) = page.select(f"[data-truth={name}]").tolist()
    return int(node)


def is_right(page: quire.Digest, node: int, name: str) -> bool:
    """Accept the element itself, and one around or inside it with the same text."""
    truth = place_of(page, name)
    return page.text(node).strip() == page.text(truth).strip() and (
        truth <= node < truth + page.size[truth] or node <= truth < node + page.size[node]
    )


@pytest.mark.parametrize(("old", "new"), PAIRS)
@pytest.mark.parametrize("content", [Product(), AFTER], ids=["same-content", "other-content"])
def test_a_part_is_found_again_or_lost_aloud(old: str, new: str, content: Product) -> None:
    before = quire.encode(DESIGNS[old](Product()).encode())
    after = quire.encode(DESIGNS[new](content).encode())
    annotation = quire.annotate(before, after)
    earlier, finder = PartFinder(before), PartFinder(after)
    for name in PARTS:
        node = place_of(before, name)
        selector = before.path(node)
        now = after.select(selector)

        found = finder.follow(earlier.fingerprint(node), now, int(annotation.to_new[node]))

        if found.where == "same":
            assert found.node is None or is_right(after, found.node, name), name
        elif found.where == "moved":
            assert found.node is not None
            assert is_right(after, found.node, name), (name, after.text(found.node))


def test_most_parts_are_found_again() -> None:
    found = lost = 0
    for old, new in permutations(DESIGNS, 2):
        before = quire.encode(DESIGNS[old](Product()).encode())
        after = quire.encode(DESIGNS[new](AFTER).encode())
        annotation = quire.annotate(before, after)
        earlier, finder = PartFinder(before), PartFinder(after)
        for name in PARTS:
            node = place_of(before, name)
            now = after.select(before.path(node))
            where = finder.follow(earlier.fingerprint(node), now, int(annotation.to_new[node]))
            found += where.node is not None
            lost += where.node is None

    assert found >= 4 * lost, (found, lost)
