"""Noise: parts of a page that change at every fetch, and are left out by default.

What is known about the noise of a page is kept with the page, as JSON of bounded size. It can be
listed, and a watch can be told to look at everything (``learn_noise: false``).

* Text is left out only if a *probe* showed that it changes at every fetch: a second fetch, made when
  a change would be announced, and compared with the first one. So text that changes from day to day
  is never left out, however often it changes.
* Links, images and attributes are left out after a probe too, or if they changed in at least
  ``EVERY`` of the captures and ``LEAST`` times (the rule of ``quire.sdiff.volatile``).
* Only the words that change are left out of a text or an address (see ``gaps``). If the order of some
  children changes, and nothing else, only their order is left out.
* Noise that stays the same for a number of checks is not noise any more. It is forgotten, and if it
  differs from what a watch saw last, it is announced as any other change. So nothing is hidden for
  good. If it proves to be noise again, the number of checks doubles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

import numpy as np

from quire.digest.page import Digest
from quire.sentinels.pages.gaps import Gap, joined, mask
from quire.sentinels.pages.places import Map, Place
from quire.sentinels.parts.location import NONE, Roots, outermost
from quire.sentinels.parts.noisy import Mask, NoisyNodes

#: ``text``, ``links``, ``images`` and ``attribute``: a value. ``region``: an element with everything
#: below it. ``order``: the order of the children of an element.
NoiseKind: TypeAlias = Literal["text", "links", "images", "attribute", "region", "order"]
#: How noise was found: by a second fetch, or by the history of the page.
Evidence: TypeAlias = Literal["probe", "history"]

#: As ``quire.sdiff.volatile``: the share of captures that count as every one, and the fewest changes.
EVERY = 0.9
LEAST = 3
#: Checks after which noise that stays the same is forgotten, and the largest number of them.
PATIENCE = 3
MOST_PATIENCE = 96
#: Checks after which noise that is not on the page is forgotten.
UNSEEN = 30
#: Pieces of noise, places that are counted, and pieces that were forgotten, for one page.
MOST_NOISE = 200
MOST_COUNTED = 200
MOST_FORGOTTEN = 50
#: Characters of a sample.
MOST_LETTERS = 80
#: Probes without a result after which not every change is probed, and the longest pause.
PROBES = 3
MOST_PAUSE = 7


@dataclass(frozen=True, slots=True)
class Noise:
    """One part of a page that changes at every fetch.

    Attributes:
        kind: what it is.
        place: where it is.
        since: when it was found, in seconds since 1970.
        evidence: how it was found.
        name: the name of the attribute.
        gaps: the words that change.
        samples: two values that it had.
        value: hash of the value that it had last.
        same: checks in a row in which it had that value.
        unseen: checks in a row in which it was not on the page.
        patience: checks after which it is forgotten if it stays the same.
    """

    kind: NoiseKind
    place: Place
    since: float
    evidence: Evidence
    name: str = ""
    gaps: tuple[Gap, ...] = ()
    samples: tuple[str, ...] = ()
    value: str = ""
    same: int = 0
    unseen: int = 0
    patience: int = PATIENCE

    @property
    def key(self) -> str:
        """Identify the place and the kind."""
        return key_of(self.kind, self.place, self.name)

    @property
    def is_stale(self) -> bool:
        """Whether it does not change any more."""
        return self.same >= self.patience

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON."""
        return {
            "kind": self.kind,
            "place": self.place.to_json(),
            "since": self.since,
            "evidence": self.evidence,
            "name": self.name,
            "gaps": [gap.to_json() for gap in self.gaps],
            "samples": list(self.samples),
            "value": self.value,
            "same": self.same,
            "unseen": self.unseen,
            "patience": self.patience,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Noise:
        """Return noise from JSON."""
        return cls(
            **{
                **data,
                "place": Place.from_json(data["place"]),
                "gaps": tuple(Gap.from_json(gap) for gap in data["gaps"]),
                "samples": tuple(data["samples"]),
            }
        )


@dataclass(frozen=True, slots=True)
class Counted:
    """How often a link, an image or an attribute changed.

    Attributes:
        changes: the number of changes.
        captures: the number of captures since the first one.
    """

    changes: int = 1
    captures: int = 1


@dataclass(frozen=True, slots=True)
class PageNoise:
    """Everything known about the noise of a page.

    Attributes:
        entries: the noise that is left out.
        counted: places that changed, by key.
        forgotten: the patience of noise that was forgotten, by key.
        quiet_probes: probes in a row that found nothing new.
        pause: changes that are announced without a probe before the next one.
    """

    entries: tuple[Noise, ...] = ()
    counted: Mapping[str, Counted] = field(default_factory=dict)
    forgotten: Mapping[str, int] = field(default_factory=dict)
    quiet_probes: int = 0
    pause: int = 0

    # ------------------------------------------------------------ reading a page

    def __call__(self, page: Digest) -> NoisyNodes:
        """Find the noise on a version of the page."""
        at = Map(page)
        texts: dict[int, str] = {}
        links: dict[int, Mask] = {}
        images: dict[int, Mask] = {}
        attributes: dict[tuple[int, str], Mask] = {}
        regions: list[int] = []
        shuffled: list[int] = []
        for noise in self.entries:
            for node in at.find(noise.place):
                if noise.kind == "text":
                    found = page.text(node)
                    compared = mask(found, noise.gaps)
                    if compared != found:
                        texts[node] = compared
                elif noise.kind == "region":
                    regions.append(node)
                elif noise.kind == "order":
                    shuffled.append(node)
                elif noise.kind == "attribute":
                    attributes[node, noise.name] = _Mask(noise.gaps)
                else:
                    (links if noise.kind == "links" else images)[node] = _Mask(noise.gaps)
        return NoisyNodes(
            _roots(page, regions), _roots(page, shuffled), texts, links, images, attributes
        )

    # ------------------------------------------------------------ what becomes of it

    def seen(self, page: Digest) -> PageNoise:
        """Note the values that the noise has on a new version."""
        if not self.entries:
            return self
        at = Map(page)
        noted = []
        for noise in self.entries:
            nodes = at.find(noise.place)
            if not nodes:
                if noise.unseen + 1 < UNSEEN:
                    noted.append(replace(noise, unseen=noise.unseen + 1))
                continue
            value = value_of(page, nodes, noise)
            same = noise.same + 1 if value == noise.value else 0
            noted.append(replace(noise, value=value, same=min(same, MOST_PATIENCE), unseen=0))
        return replace(self, entries=tuple(noted))

    def still(self) -> PageNoise:
        """Note that the page is the same as before, with all its noise."""
        return replace(
            self,
            entries=tuple(
                replace(noise, unseen=min(noise.unseen + 1, UNSEEN))
                if noise.unseen  # it comes and goes: that it is not there now says little
                else replace(noise, same=min(noise.same + 1, MOST_PATIENCE))
                for noise in self.entries
            ),
        )

    @property
    def has_stale(self) -> bool:
        """Whether some noise does not change any more."""
        return any(noise.is_stale for noise in self.entries)

    @property
    def left_out(self) -> tuple[tuple[str, tuple[Gap, ...]], ...]:
        """What is left out. Two pages with the same are read in the same way."""
        return tuple((noise.key, noise.gaps) for noise in self.entries)

    def without_stale(self) -> PageNoise:
        """Forget noise that does not change any more."""
        stale = [noise for noise in self.entries if noise.is_stale]
        if not stale:
            return self
        forgotten = {**self.forgotten, **{noise.key: noise.patience for noise in stale}}
        kept = tuple(noise for noise in self.entries if not noise.is_stale)
        return replace(self, entries=kept, forgotten=_last(forgotten, MOST_FORGOTTEN))

    def with_found(self, found: Iterable[Noise]) -> PageNoise:
        """Add noise. What was known at the same place is joined with it."""
        entries = {noise.key: noise for noise in self.entries}
        forgotten = dict(self.forgotten)
        for noise in found:
            key = noise.key
            old = entries.get(key)
            if old is not None:
                gaps = joined(old.gaps, noise.gaps)
                patience = old.patience * 2 if old.is_stale else old.patience
                patience = min(patience, MOST_PATIENCE)
                entries[key] = replace(old, gaps=gaps, same=0, patience=patience)
            elif len(entries) < MOST_NOISE:
                patience = min(forgotten.pop(key, PATIENCE // 2) * 2, MOST_PATIENCE)
                entries[key] = replace(noise, patience=max(PATIENCE, patience))
        return replace(self, entries=tuple(entries.values()), forgotten=forgotten)

    def probed(self, *, found: bool) -> PageNoise:
        """Note that a probe was made, and whether it found something new."""
        if found:
            return replace(self, quiet_probes=0, pause=0)
        quiet = self.quiet_probes + 1
        pause = min(2 ** (quiet - PROBES) - 1, MOST_PAUSE) if quiet >= PROBES else 0
        return replace(self, quiet_probes=min(quiet, 2 * PROBES + 1), pause=pause)

    def announced(self) -> PageNoise:
        """Note that a change was announced without a probe."""
        return replace(self, pause=max(0, self.pause - 1))

    # ------------------------------------------------------------ JSON

    def to_json(self) -> dict[str, Any] | None:
        """Return this as JSON; None if nothing is known."""
        if self == NOTHING_KNOWN:
            return None
        return {
            "entries": [noise.to_json() for noise in self.entries],
            "counted": {key: [each.changes, each.captures] for key, each in self.counted.items()},
            "forgotten": dict(self.forgotten),
            "quiet_probes": self.quiet_probes,
            "pause": self.pause,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | None) -> PageNoise:
        """Return what is known from JSON."""
        if data is None:
            return NOTHING_KNOWN
        return cls(
            tuple(Noise.from_json(each) for each in data["entries"]),
            {key: Counted(*each) for key, each in data["counted"].items()},
            dict(data["forgotten"]),
            data["quiet_probes"],
            data["pause"],
        )

    def __iter__(self) -> Iterator[Noise]:
        """Go through the noise that is left out."""
        return iter(self.entries)


NOTHING_KNOWN = PageNoise()


@dataclass(frozen=True, slots=True)
class _Mask:
    gaps: tuple[Gap, ...]

    def __call__(self, value: str) -> str:
        return mask(value, self.gaps, address=True)


def key_of(kind: NoiseKind, place: Place, name: str = "") -> str:
    """Identify a place and what changes there."""
    text = f"{kind}\0{name}\0{place.to_json()}"
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def value_of(page: Digest, nodes: list[int], noise: Noise) -> str:
    """Return a hash of what noise is on a version."""
    hashed = blake2b(digest_size=8)
    for node in nodes:
        if noise.kind in ("links", "images", "attribute"):
            attributes = page.attributes(node) if page.attr[node] >= 0 else {}
            values = [attributes.get(noise.name, "")] if noise.name else list(attributes.values())
        else:
            values = [page.text(node)]
            end = node + int(page.size[node])
            for of in ("links", "images"):
                listed = page.addresses("links" if of == "links" else "images")
                values += [address for place, address in listed if node <= place < end]
        for value in values:
            hashed.update(value.encode("utf-8", "surrogatepass") + b"\0")
    return hashed.hexdigest()


def sample(value: str) -> str:
    """Return a value as a sample: one line, not too long."""
    return " ".join(value.split())[:MOST_LETTERS]


def _roots(page: Digest, nodes: list[int]) -> Roots:
    return outermost(page, np.array(nodes, np.int64)) if nodes else NONE


def _last(values: dict[str, int], most: int) -> dict[str, int]:
    return dict(list(values.items())[-most:])
