"""What changed in the watched parts, for events.

Differences come from the annotation, with their places. A part whose reading is not simply the text
below some nodes (it ignores something, has noise in it, or its selectors give texts) is compared
line by line as it is read, so that an event never shows a difference that does not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quire.sdiff.annotation import Annotation
from quire.sentinels.conditions.comparison import lines_only_in
from quire.sentinels.notices.differences import Difference, Differences, differences, limited
from quire.sentinels.parts.part import NOTHING_IGNORED, Aspect, Part
from quire.sentinels.parts.reading import PageReader

#: Lines of one part and one aspect. Events keep fewer.
MOST_LINES = 1_000


def part_differences(
    parts: Sequence[Part], annotation: Annotation, after: PageReader
) -> Differences:
    """List what changed in the watched parts of a page.

    >>> import quire
    >>> from quire.sentinels.parts import Location
    >>> old = quire.encode(b"<h1>Fish</h1><p id=price>8.40")
    >>> new = quire.encode(b"<h1>Cod</h1><p id=price>8.60")
    >>> part = Part(Location(("#price",)))
    >>> part_differences([part], quire.annotate(old, new), PageReader(new)).entries
    (Difference(kind='edited', path='#price', what='text', before='8.40', after='8.60'),)

    Args:
        parts: the parts.
        annotation: the comparison of the two versions.
        after: the new version.
    """
    before = after.of(annotation.old)
    found: dict[Difference, None] = {}  # parts can overlap
    left_out = 0
    for part in parts:
        differing = after.read(part).differs(before.read(part))
        if "records" in differing:
            found.update(dict.fromkeys(_records(part, before, after)))
        changed = tuple(aspect for aspect in differing if aspect != "records")
        if not changed:
            continue
        entries = _placed(part, changed, annotation, before, after)
        if entries is None or not entries.entries or _hides(part, entries, before, after):
            found.update(dict.fromkeys(_lines(part, changed, before, after)))
        else:
            found.update(dict.fromkeys(entries.entries))
            left_out += entries.left_out
    return limited(list(found), left_out)


def _placed(
    part: Part,
    changed: tuple[Aspect, ...],
    annotation: Annotation,
    before: PageReader,
    after: PageReader,
) -> Differences | None:
    """List differences with their places; None if the part is not read node by node."""
    place = part.location
    if part.ignore != NOTHING_IGNORED or part.attributes:
        return None
    if before.texts(place) or after.texts(place):
        return None
    if before.noise(place).has_masks or after.noise(place).has_masks:
        return None
    return differences(
        annotation,
        changed,
        old_roots=before.roots(place),
        new_roots=after.roots(place),
        old_left_out=before.left_out(place),
        new_left_out=after.left_out(place),
    )


def _records(part: Part, before: PageReader, after: PageReader) -> Iterator[Difference]:
    """List the records that came, then those that went."""
    where = ", ".join(part.location.where)
    old, new = before.records(part), after.records(part)
    were = {} if old is None else {each.key: each for each in old.records}
    are = {} if new is None else {each.key: each for each in new.records}
    for key in [key for key in are if key not in were][:MOST_LINES]:
        yield Difference("inserted", where, "record", None, are[key].line)
    for key in [key for key in were if key not in are][:MOST_LINES]:
        yield Difference("deleted", where, "record", were[key].line, None)


def _hides(part: Part, found: Differences, before: PageReader, after: PageReader) -> bool:
    """Tell whether differences lack a line that came or went: one that moved out of the part."""
    if "text" not in part.watch or found.left_out:
        return False
    old, new = before.read(part).of("text"), after.read(part).of("text")
    shown_old = " ".join(" ".join((each.before or "").split()) for each in found.entries)
    shown_new = " ".join(" ".join((each.after or "").split()) for each in found.entries)
    return any(line not in shown_old for line in lines_only_in(old, new)) or any(
        line not in shown_new for line in lines_only_in(new, old)
    )


def _lines(
    part: Part, changed: tuple[Aspect, ...], before: PageReader, after: PageReader
) -> Iterator[Difference]:
    where = ", ".join(part.location.where)
    for aspect in changed:
        old, new = before.read(part).of(aspect), after.read(part).of(aspect)
        gone, came = lines_only_in(old, new), lines_only_in(new, old)
        if len(gone) == len(came):
            for was, now in zip(gone[:MOST_LINES], came, strict=False):
                yield Difference("edited", where, aspect, was, now)
            continue
        for line in gone[:MOST_LINES]:
            yield Difference("deleted", where, aspect, line, None)
        for line in came[:MOST_LINES]:
            yield Difference("inserted", where, aspect, None, line)
