"""Rules of a comparison: which parts to compare, and which differences to ignore."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real


@dataclass(frozen=True, slots=True)
class Rules:
    r"""Which parts to compare and which differences to ignore. The default compares everything.

    >>> import quire
    >>> old, new = quire.encode(b"<p id=a>9 to 5 "), quire.encode(b"<p id=b>9  TO 5")
    >>> quire.changed(old, new, rules=Rules(ignore_space=True, ignore_case=True))
    True
    >>> rules = Rules(ignore_space=True, ignore_case=True, ignore_attributes=("id",))
    >>> quire.changed(old, new, rules=rules)
    False

    For ``tolerance``, a number is a run of digits that does not directly follow a letter. It may
    have a sign, a decimal ``.`` or ``,``, and thousands separated by ``.``, ``,``, an apostrophe or
    a no-break space. ``1.234`` and ``1,234`` are ambiguous and read as thousands, so that doubtful
    differences are reported rather than hidden. Numbers in attributes are usually names and
    addresses, not quantities, so there every difference counts; use ``ignore_attributes`` for them.

    Attributes:
        only: CSS selectors; compare only the content of these elements.
        without: CSS selectors; do not compare the content of these elements. White space between
            elements is then ignored too, because it is added and removed with them.
        ignore_space: treat runs of white space as one space, and drop them at the ends of a text;
            white space between elements is ignored entirely.
        ignore_case: compare texts and attribute values in lower case.
        ignore_attributes: names of attributes to ignore; ``data-*`` matches all names that start
            with ``data-``.
        ignore_text: regular expressions; do not compare text that they match. The syntax is that of
            Rust's ``regex``, which runs in linear time and has no look-around.
        ignore_order: siblings that only changed their order count as unchanged, and white space
            between elements is ignored.
        tolerance: an absolute difference and a share of the larger number. Numbers in otherwise
            equal texts count as equal if they differ by no more than either of the two.

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
        # A string is a sequence of strings too: `only="p b"` would be three selectors.
        for name in ("only", "without", "ignore_attributes", "ignore_text"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))
        if self.tolerance is not None:
            object.__setattr__(self, "tolerance", _checked(self.tolerance))

    @property
    def compares_layout(self) -> bool:
        """Whether white space between elements is compared.

        It belongs to the elements around it. If elements are left out or may change their order,
        comparing it would report the ignored changes after all.

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
    """Check a tolerance at run time, for callers without a type checker."""
    match tolerance:
        case (Real() as absolute, Real() as relative) if (
            0 <= float(absolute) < math.inf and 0 <= float(relative) < math.inf
        ):
            return float(absolute), float(relative)
    raise ValueError(
        f"tolerance is {tolerance!r}; expected a difference and a share, both 0 or more"
    )


EVERYTHING = Rules()
