"""When regions of a page changed: held against what was written into the pages."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.fragments.caching import region_history as page_histories
from quire.fragments.caching.region import Region
from quire.fragments.caching.region_history import PageHistory
from quire.fragments.site.collection import Collection, Seen
from quire.fragments.site.site_lifetimes import page_lifetimes
from tests.fragments.test_measuring import captured

WORDS = [
    "harbour",
    "market",
    "fish",
    "boats",
    "nets",
    "ropes",
    "gulls",
    "salt",
    "tides",
    "masts",
    "sails",
    "crew",
]
BLOCKS = 6


@dataclass(frozen=True)
class Change:
    """What becomes of one block: its text, an attribute, what is in it, or white space between its parts."""

    block: int
    what: str


changes = st.builds(
    Change, st.integers(0, BLOCKS - 1), st.sampled_from(["text", "attribute", "child", "blank"])
)
#: At each version a few blocks change, or none: what a page keeps tells what is what.
histories = st.lists(st.lists(changes, max_size=2), min_size=1, max_size=8)


def block(number: int, counts: dict[str, int]) -> str:
    """A block whose text is like no other block's, with as many changes of each kind as were made."""
    words = " ".join(f"{word}{number}" for word in WORDS)
    child = f"<p>{' '.join(f'more{number}{word}' for word in WORDS[:6])}</p>"
    return (
        f"<section data-n={counts.get('attribute', 0)}><h2>{words}</h2>{' ' * (1 + counts.get('blank', 0))}"
        f"<p>{words} and {counts.get('text', 0)} of it</p>{child * (counts.get('child', 0) % 2)}</section>"
    )


@pytest.mark.parametrize("many", [0, 64])
@given(histories)
def test_a_block_changed_where_its_bytes_did(many: int, history: list[list[Change]]) -> None:
    counts: list[dict[str, int]] = [{} for _ in range(BLOCKS)]
    bodies, blocks = [], []
    for made in [[], *history]:
        for one in made:
            counts[one.block][one.what] = counts[one.block].get(one.what, 0) + 1
        blocks.append([block(number, count) for number, count in enumerate(counts)])
        bodies.append("<main>" + "<hr>".join(blocks[-1]) + "</main>")
    captures: list[Seen] = [captured("a", hour, body) for hour, body in enumerate(bodies)]
    with Collection(captures) as site:
        (page,) = site.pages
        lives = page_lifetimes(site, page)
        source = bodies[-1].encode()
        regions = []
        for text in blocks[-1]:
            start = source.index(text.encode())
            regions.append(Region.of("block", start, start + len(text), (), source))
        # What is left around the blocks never changes.
        holes = tuple((one.start, one.end) for one in regions)
        around = Region.of("", 0, len(source), holes, source)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(page_histories, "MANY_REGIONS", many)  # looked up, or searched for
            found = PageHistory(site, page, lives).watched([*regions, around])

    for number, told in enumerate(found[:-1]):
        expected = [
            hour
            for hour in range(1, len(bodies))
            if blocks[hour][number] != blocks[hour - 1][number]
        ]
        seen = ((told.lives.first[1:] - told.lives.first[0]) / 3600).round().astype(int).tolist()
        assert seen == expected
    assert len(found[-1].lives) == 1
