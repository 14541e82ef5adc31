"""Estimate the probabilities of Omini's separators on the pages to fit on, and write them down.

    python -m benchmarks.records.estimate            print them
    python -m benchmarks.records.estimate --write    also write them into the package

For each labelled region whose records are all children of one node, every heuristic ranks the tags
of that node's children. A rank is right if its tag is that of the records. A probability is the
share of right answers, with one more right and one more wrong answer counted, so that no
probability is 0 or 1.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from quire.extraction import omini
from quire.extraction.omini import Separator, combination
from quire.extraction.outline import outline
from tests.extraction import labelled
from tests.extraction.labelled import Half

RANKS = 3


def estimate() -> tuple[dict[Separator, tuple[float, ...]], int]:
    """The probabilities, and the number of regions they were counted on."""
    right = {heuristic: [0] * RANKS for heuristic in Separator}
    regions = 0
    for page in labelled.written(Half.FIT):
        view = outline(page.page)
        for region in page.regions:
            parents = {int(view.parent[start]) for start in region.starts}
            tags = {page.page.tags[int(page.page.tag[start])] for start in region.starts}
            if len(parents) > 1 or len(tags) > 1:
                continue  # a grid or a thread: separators do not divide these
            regions += 1
            for heuristic, rank in omini.SEPARATORS.items():
                ranked = [one.tag for one in rank(view, parents.copy().pop())][:RANKS]
                for place, tag in enumerate(ranked):
                    right[heuristic][place] += tag in tags
    shares = {
        heuristic: tuple(round((count + 1) / (regions + 2), 3) for count in counts)
        for heuristic, counts in right.items()
    }
    return shares, regions


def main() -> None:
    """Print the probabilities, and write them if asked to."""
    shares, regions = estimate()
    lines = [f"    Separator.{each.name}: {values}," for each, values in shares.items()]
    print(f"# {regions} regions")
    print("\n".join(lines))
    if "--write" in sys.argv[1:]:
        path = Path(combination.__file__)
        table = "\n".join(["PROBABILITIES: dict[Separator, tuple[float, ...]] = {", *lines, "}"])
        text = re.sub(
            r"(?s)(# Begin of the estimates.\n).*?(\n# End of the estimates.)",
            lambda hit: hit[1] + table + hit[2],
            path.read_text("utf-8"),
        )
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
