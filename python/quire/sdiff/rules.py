"""Rules: what counts as a difference, and where.

Above: ``annotation``, ``changes``. Below: ``digest``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """What is compared, and what is not a difference. The default compares everything.

    >>> Rules(ignore_space=True).ignore_case
    False

    Attributes:
        only: CSS selectors; only what is in elements they choose is compared.
        without: CSS selectors; what is in elements they choose is not compared.
        ignore_space: runs of white space are one space, and none at the ends of a text.
        ignore_case: texts and attribute values are compared in lower case.
        ignore_attributes: names of attributes; ``data-*`` stands for all that begin so.
        ignore_text: regular expressions; what they match is not compared. Written as for
            Rust's ``regex``, which is linear in the text and knows no look-around.
        ignore_order: siblings that only changed places are unchanged.
        tolerance: numbers in otherwise equal texts are equal when they differ by no more than the first number, or
            by no more than the second as a share of the larger.
    """

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    ignore_space: bool = False
    ignore_case: bool = False
    ignore_attributes: tuple[str, ...] = ()
    ignore_text: tuple[str, ...] = ()
    ignore_order: bool = False
    tolerance: tuple[float, float] | None = None
