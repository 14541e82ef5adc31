"""Likeness: a similarity with its reasons."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DifferingPart:
    """A part that one page has more often than the other.

    Attributes:
        text: the part in words: ``ul li li li``, ``html > body > p.note``, ``open from nine to five``.
        in_a: how often the first page has it; at most 1 where a measure does not count.
        in_b: how often the second one has it.
    """

    text: str
    in_a: int
    in_b: int


@dataclass(frozen=True, slots=True)
class KangLayer:
    """A layer of two trees, compared place by place; in brackets the paper's names.

    Attributes:
        layer: its number, 1 for the children of ``body`` [i].
        in_a: elements of the first page on it.
        in_b: elements of the second one.
        changed: places that differ, special tags twice [Ek].
        places: all places, special tags twice [Ej].
        weight: what the layer counts for [W].
    """

    layer: int
    in_a: int
    in_b: int
    changed: int
    places: int
    weight: float

    @property
    def value(self) -> float:
        """The share of the layer that is the same.

        >>> KangLayer(layer=1, in_a=2, in_b=3, changed=1, places=4, weight=1.0).value
        0.75
        """
        return 1 - self.changed / self.places


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike two pages are, and what makes the difference.

    Attributes:
        on: the measure.
        value: the similarity.
        shared: parts on both pages, as often as both have them; None for Kang's measure.
        total: parts on either page, as often as one has them; None for Kang's measure.
        differing: how many different parts there are that one page has more often.
        parts: those that differ most, largest difference first.
        layers: the layers of Kang's measure; none for others.
        similar: whether Kang's S exceeds his threshold Q; None for other measures.
    """

    on: str
    value: float
    shared: int | None = None
    total: int | None = None
    differing: int = 0
    parts: tuple[DifferingPart, ...] = ()
    layers: tuple[KangLayer, ...] = ()
    similar: bool | None = None
