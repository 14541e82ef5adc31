"""Rules: what counts as a difference, and where."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real


@dataclass(frozen=True, slots=True)
class Rules:
    r"""What is compared, and what is not a difference. The default compares everything.

    >>> import quire
    >>> old, new = quire.encode(b"<p id=a>9 to 5 "), quire.encode(b"<p id=b>9  TO 5")
    >>> quire.changed(old, new, rules=Rules(ignore_space=True, ignore_case=True))
    True
    >>> rules = Rules(ignore_space=True, ignore_case=True, ignore_attributes=("id",))
    >>> quire.changed(old, new, rules=rules)
    False

    A number, for ``tolerance``, is a run of digits that is not right behind a letter, with a sign in
    front, a decimal ``.`` or ``,``, and thousands separated by ``.``, ``,``, an apostrophe or a space
    that does not break. ``1.234`` and ``1,234`` could be either, and are read as thousands: what is doubtful
    is reported and not hidden. Numbers in attributes are names and addresses more often than
    quantities, so there every difference counts; ``ignore_attributes`` is for those.

    Attributes:
        only: CSS selectors; only what is in elements they choose is compared.
        without: CSS selectors; what is in elements they choose is not compared, nor white space between
            elements, which came and went with them.
        ignore_space: runs of white space are one space, and none at the ends of a text; white space
            between elements does not count at all.
        ignore_case: texts and attribute values are compared in lower case.
        ignore_attributes: names of attributes; ``data-*`` stands for all that begin so.
        ignore_text: regular expressions; what they match is not compared. Written as for
            Rust's ``regex``, which is linear in the text and knows no look-around.
        ignore_order: siblings that only changed places are unchanged, and white space between elements does not
            count.
        tolerance: numbers in otherwise equal texts are equal when they differ by no more than the first number, or
            by no more than the second as a share of the larger.

    Raises:
        ValueError: a tolerance is not two numbers of 0 or more.
    """

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    ignore_space: bool = False
    ignore_case: bool = False
    ignore_attributes: tuple[str, ...] = ()
    ignore_text: tuple[str, ...] = ()
    ignore_order: bool = False
    tolerance: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        # A string is a sequence of strings too: `only="p b"` would be four selectors.
        for name in ("only", "without", "ignore_attributes", "ignore_text"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))
        if self.tolerance is not None:
            object.__setattr__(self, "tolerance", _checked(self.tolerance))

    @property
    def compares_layout(self) -> bool:
        """Whether white space between elements counts.

        It belongs to the elements around it. So where elements are left out or may change places, it would
        tell of what is not to be told.

        >>> Rules().compares_layout, Rules(without=("nav",)).compares_layout
        (True, False)
        """
        return not (self.ignore_space or self.ignore_order or self.without)

    def compares(self, attribute: str) -> bool:
        """Tell whether an attribute is compared.

        >>> Rules(ignore_attributes=("data-*",)).compares("data-id")
        False
        """
        return not any(
            attribute.startswith(ignored[:-1]) if ignored.endswith("*") else attribute == ignored
            for ignored in self.ignore_attributes
        )


def _checked(tolerance: object) -> tuple[float, float]:
    """Read a tolerance from whoever has no type checker."""
    match tolerance:
        case (Real() as absolute, Real() as relative) if (
            0 <= float(absolute) < math.inf and 0 <= float(relative) < math.inf
        ):
            return float(absolute), float(relative)
    raise ValueError(f"tolerance {tolerance!r} is not a difference and a share, both 0 or more")


EVERYTHING = Rules()
