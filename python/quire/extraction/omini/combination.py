"""The combination of separators: how likely each rank of each heuristic is right.

``PROBABILITIES[heuristic][rank]`` is the share of labelled pages on which the candidate of that
rank was the separator, given the right subtree. The numbers are written by
``benchmarks/records/estimate.py`` from the pages to fit on; the table of the original paper is not
used. Independent heuristics that agree on a tag are right with 1 - (1 - p)(1 - q)...
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from quire.extraction.omini.separators import SEPARATORS, Ranked, Separator
from quire.extraction.outline import Outline

# Begin of the estimates.
PROBABILITIES: dict[Separator, tuple[float, ...]] = {
    Separator.SD: (0.875, 0.125, 0.042),
    Separator.RP: (0.958, 0.042, 0.042),
    Separator.IPS: (0.958, 0.042, 0.042),
    Separator.SB: (0.958, 0.042, 0.042),
    Separator.PP: (0.917, 0.083, 0.042),
}
# End of the estimates.


def combined(
    view: Outline,
    node: int,
    heuristics: Iterable[Separator] = tuple(Separator),
    probabilities: Mapping[Separator, tuple[float, ...]] = PROBABILITIES,
) -> list[Ranked]:
    """Rank the candidates of all heuristics together; the score is a probability.

    >>> import quire
    >>> from quire.extraction.outline import outline
    >>> page = quire.encode(b"<ul><li><b>x</b><li><b>y</b><li><b>z</b></ul>")
    >>> combined(outline(page), page.select_one("ul"))[0].tag
    'li'
    """
    wrong: dict[str, float] = {}
    for heuristic in heuristics:
        shares = probabilities[heuristic]
        ranked = SEPARATORS[heuristic](view, node)
        for candidate, share in zip(ranked, shares, strict=False):
            wrong[candidate.tag] = wrong.get(candidate.tag, 1.0) * (1.0 - share)
    ranked = [Ranked(tag, 1.0 - share) for tag, share in wrong.items()]
    return sorted(ranked, key=lambda one: -one.score)
