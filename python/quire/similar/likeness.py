"""Likeness: the similarity of two pages with an explanation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DifferingPart:
    """A part that one page has more often than the other.

    Attributes:
        text: the part as text: ``ul li li li``, ``html > body > p.note``,
            ``open from nine to five``.
        in_a: how often the first page has it; at most 1 if the measure does not count.
        in_b: how often the second page has it.
    """

    text: str
    in_a: int
    in_b: int


@dataclass(frozen=True, slots=True)
class KangLayer:
    """A layer of two trees, compared position by position; the paper's names are in brackets.

    Attributes:
        layer: its number, 1 for the children of ``body`` [i].
        in_a: elements of the first page on this layer.
        in_b: elements of the second page on this layer.
        changed: positions that differ, special tags counted twice [Ek].
        places: all positions, special tags counted twice [Ej].
        weight: the weight of the layer [W].
    """

    layer: int
    in_a: int
    in_b: int
    changed: int
    places: int
    weight: float

    @property
    def value(self) -> float:
        """The share of the layer that is equal.

        >>> KangLayer(layer=1, in_a=2, in_b=3, changed=1, places=4, weight=1.0).value
        0.75
        """
        return 1 - self.changed / self.places


@dataclass(frozen=True, slots=True)
class Likeness:
    """How similar two pages are, and where they differ.

    Attributes:
        on: the measure.
        value: the similarity.
        shared: sum of the smaller counts of all parts; None for Kang's measure.
        total: sum of the larger counts of all parts; None for Kang's measure.
        differing: number of distinct parts that one page has more often than the other.
        parts: the parts that differ most, largest difference first.
        layers: the layers of Kang's measure; empty for other measures.
        similar: whether Kang's S exceeds the threshold Q; None for other measures.
    """

    on: str
    value: float
    shared: int | None = None
    total: int | None = None
    differing: int = 0
    parts: tuple[DifferingPart, ...] = ()
    layers: tuple[KangLayer, ...] = ()
    similar: bool | None = None
