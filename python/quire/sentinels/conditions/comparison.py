"""What one sentinel sees when it is evaluated: two versions, and what is known besides.

The old version is on disk. It is loaded when a condition asks for it, and at most once, so
conditions over the new page alone never load it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from quire.sentinels.parts.part import Aspect, Part
from quire.sentinels.parts.reading import PageReader, Reading
from quire.similar.measures import similarity

#: What the last fetch found. ``half``: the page ends early; ``blocked``: a captcha or a refusal.
PageState: TypeAlias = Literal["fine", "gone", "error", "empty", "blocked", "half"]
PAGE_STATES: tuple[PageState, ...] = get_args(PageState)

#: Which text a condition looks at. ``added`` and ``removed`` are lines that only the new or only the
#: old version has; a line that changed is in both. ``changed`` is both together.
Scope: TypeAlias = Literal["new", "old", "added", "removed", "changed"]
SCOPES: tuple[Scope, ...] = get_args(Scope)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a condition can ask about besides the two versions.

    Attributes:
        now: the time of this evaluation.
        last_change: when the watched parts last changed; None if never since they are watched.
        watched_since: when the sentinel was installed.
        state: what the fetch found.
        previous_state: what the fetch before it found.
        fired: for other sentinels, by name, when they last fired.
        unseen: returns those of some lines that no earlier version of the part had.
        heard: the same as ``fired``, as it was when the sentinel was judged before.
    """

    now: datetime
    watched_since: datetime
    last_change: datetime | None = None
    state: PageState = "fine"
    previous_state: PageState = "fine"
    fired: Mapping[str, datetime] = field(default_factory=dict)
    unseen: Callable[[Part, Iterable[str]], set[str]] | None = None
    heard: Mapping[str, datetime] = field(default_factory=dict)


class Comparison:
    """Two versions of a page, as one sentinel sees them.

    Args:
        load: loads the old version.
        new: the new version.
        about: what is known besides.
        known: for parts whose difference is known already, the aspects that differ.

    Attributes:
        new: the new version.
        about: what is known besides.
    """

    __slots__ = ("_known", "_load", "_old", "about", "new")

    def __init__(
        self,
        load: Callable[[], PageReader],
        new: PageReader,
        about: Circumstances,
        known: Mapping[Part, tuple[Aspect, ...]] | None = None,
    ) -> None:
        self._load = load
        self._old: PageReader | None = None
        self._known = known or {}
        self.new: PageReader = new
        self.about: Circumstances = about

    @property
    def old(self) -> PageReader:
        """The old version; loaded on first use."""
        if self._old is None:
            self._old = self._load()
        return self._old

    def before(self, part: Part) -> Reading:
        """Return what the part said on the old version."""
        return self.old.read(part)

    def after(self, part: Part) -> Reading:
        """Return what the part says on the new version."""
        return self.new.read(part)

    def differing(self, part: Part) -> tuple[Aspect, ...]:
        """Return the aspects of a part that changed."""
        known = self._known.get(part)
        return self.after(part).differs(self.before(part)) if known is None else known

    def changed(self, part: Part) -> bool:
        """Tell whether the part changed."""
        return self.before(part) != self.after(part)

    def lines(self, part: Part, scope: Scope) -> tuple[str, ...]:
        """Return the lines of text that a condition looks at."""
        if scope == "new":
            return self.after(part).of("text")
        if scope == "old":
            return self.before(part).of("text")
        before, after = self.before(part).of("text"), self.after(part).of("text")
        added = lines_only_in(after, before) if scope != "removed" else ()
        removed = lines_only_in(before, after) if scope != "added" else ()
        return (*added, *removed)

    def similarity(self, measure: Literal["structure", "content"]) -> float:
        """Return how alike the two whole pages are, from 0 to 1."""
        return similarity(self.old.page, self.new.page, on=measure)


def lines_only_in(these: tuple[str, ...], those: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines that one version has more often than the other, in order."""
    left = Counter(those)
    found = []
    for line in these:
        if left[line]:
            left[line] -= 1
        else:
            found.append(line)
    return tuple(found)
