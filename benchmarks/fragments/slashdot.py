"""The paper's Slashdot example (figure 8 of paper 004): a list of eight stories, four of them new in the second version.

The texts are ours; the tree and the changes are the paper's.
"""

import quire
from quire import Digest

STORIES = [
    f"Story {n}: {words} in the {n * 17}th week of the year, with {n * 3} comments"
    for n, words in enumerate(
        [
            "kernels released",
            "wires laid",
            "games sold",
            "books read",
            "courts asked",
            "disks lost",
            "probes sent",
            "chips drawn",
            "phones named",
            "patents filed",
            "ships built",
            "songs shared",
        ]
    )
]


def slashdot(stories: list[str]) -> Digest:
    """B_4 is the list; B_7 to B_14 are its items."""
    items = "".join(f"<li>{story}</li>" for story in stories)
    heads = "".join(f"<p>Heading number {n} of this page, the same in all versions" for n in (2, 3))
    html = f"{heads}<ul>{items}</ul><p>The end of the page, below the list of stories"
    return quire.encode(html.encode())
