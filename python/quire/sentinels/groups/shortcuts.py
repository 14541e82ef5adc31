"""The shortcuts of paper 002. Each can be switched off; the answers stay the same."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Shortcuts:
    """Which shortcuts an evaluation takes.

    Attributes:
        source_signature: equal bytes are equal pages; nothing else is looked at.
        facet_signatures: a sentinel is settled if no facet it depends on has another signature.
        part_signatures: the signature of every watched part is stored when it is read, so the old
            version is not needed to see that the part is the same.
        share_readings: selectors and parts are read once for all sentinels of a page.
        share_annotation: the two versions are annotated once for all sentinels of a page.
        location_masks: a sentinel is settled if the annotation has no change at its location.
        covering_subset: sentinels that cover all others are asked first; if they see no change, the
            others are not asked.
        general_first: sentinels of large parts are asked before those of parts inside; if a large
            part is the same, parts inside are not asked.
        short_circuit: a condition is not asked once the others decide.
        new_page_first: conditions over the new page are judged before the old version is loaded.
    """

    source_signature: bool = True
    facet_signatures: bool = True
    part_signatures: bool = True
    share_readings: bool = True
    share_annotation: bool = True
    location_masks: bool = True
    covering_subset: bool = True
    general_first: bool = True
    short_circuit: bool = True
    new_page_first: bool = True

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of all shortcuts.

        >>> Shortcuts.names()[0]
        'source_signature'
        """
        return tuple(each.name for each in fields(cls))


ALL_SHORTCUTS = Shortcuts()
NO_SHORTCUTS = Shortcuts(**dict.fromkeys(Shortcuts.names(), False))
