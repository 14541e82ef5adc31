"""Learning noise: from two fetches in a row, and from the history of links, images and attributes.

Two fetches are annotated. What differs is noise if it has a place that finds it on both:

1. An element with the same children in another order: the order is noise.
2. A text, a link, an image or an attribute that differs: the words that differ are noise.
3. Elements that only one of the fetches has. If they and what moved are at least half of the children
   of an element that is a small part of the page, that element is noise with everything below it.
   Otherwise those with an id or class that none of their lasting siblings has are noise.

Anything else is not learned: it is announced rather than hidden.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from quire.digest.page import Digest
from quire.sdiff.annotation import Annotation, annotate
from quire.sdiff.facets import Status
from quire.sentinels.pages.gaps import gaps_between
from quire.sentinels.pages.noise import (
    EVERY,
    LEAST,
    MOST_COUNTED,
    MOST_NOISE,
    Counted,
    Evidence,
    Noise,
    NoiseKind,
    PageNoise,
    sample,
    value_of,
)
from quire.sentinels.pages.places import ALL, Map, Place, Step, place_of
from quire.sentinels.parts.part import Aspect

#: Ancestors that are looked at for children in another order.
MOST_ABOVE = 4
#: The largest share of the words of a page that one region of noise can have.
LARGEST_REGION = 0.25
#: The share of children that must differ for all of them to be noise.
MOST_DIFFER = 0.5
#: Changed places of one pair of fetches that are looked at.
MOST_PLACES = 400


@dataclass(frozen=True, slots=True)
class ChangedValue:
    """A text, an address or an attribute that two versions have, with different values.

    Attributes:
        kind: which of these it is.
        node: its node on the first version.
        partner: its node on the second one.
        before: its value on the first version.
        after: its value on the second one.
        name: the name of the attribute.
    """

    kind: NoiseKind
    node: int
    partner: int
    before: str
    after: str
    name: str = ""


def learn(
    page: Digest, probe: Digest, now: float, aspects: Collection[Aspect]
) -> tuple[Noise, ...]:
    """Return the noise that two fetches in a row show.

    >>> import quire
    >>> one, two = (quire.encode(b"<p>Fish</p><i>served in %d ms</i>" % n) for n in (8, 21))
    >>> [(noise.kind, str(noise.place), noise.samples) for noise in learn(one, two, 0, ["text"])]
    [('text', 'html > body > i', ('served in 8 ms', 'served in 21 ms'))]

    Args:
        page: the first fetch.
        probe: the second one.
        now: the time.
        aspects: what is watched on the page.
    """
    return tuple(_Learner(page, probe, now, aspects).found())


class _Learner:
    def __init__(
        self, page: Digest, probe: Digest, now: float, aspects: Collection[Aspect]
    ) -> None:
        self.old, self.new = Map(page), Map(probe)
        self.now = now
        self.aspects = aspects
        self.annotation: Annotation = annotate(page, probe)
        self.words = max(1, len(page.text().split()))
        self.covered: list[tuple[int, int]] = []  # parts of the first fetch that are settled

    def found(self) -> Iterator[Noise]:
        """Give the noise: first what covers much, then single values that are left."""
        found = self.annotation
        differs = int(
            Status.ALONE | Status.MOVED | Status.CONTENT | Status.LINKS | Status.IMAGES | Status.TAG
        )
        changed = np.flatnonzero(found.old_status & differs).tolist()[:MOST_PLACES]
        yield from self._orders(changed)
        yield from self._regions()
        for node in changed:
            if self._is_covered(node):
                continue
            partner = int(found.to_new[node])
            status = int(found.old_status[node])
            if partner < 0:
                continue
            if status & Status.CONTENT and self.old.page.visible[node]:
                before, after = self.old.page.text(node), self.new.page.text(partner)
                yield from self._value(ChangedValue("text", node, partner, before, after))
        for value in changed_values(found, self.aspects):
            if not self._is_covered(value.node):
                yield from self._value(value)

    # ------------------------------------------------------------ order

    def _orders(self, changed: list[int]) -> Iterator[Noise]:
        asked: set[int] = set()
        for node in changed:
            above = node
            for _ in range(MOST_ABOVE):
                above = int(self.old.page.parent[above])
                if above <= 0 or self._is_covered(above):
                    break
                if above in asked:
                    continue
                asked.add(above)
                partner = int(self.annotation.to_new[above])
                if partner >= 0 and self._is_shuffled(above, partner):
                    place = place_of(self.old, above, self.new, partner)
                    if place is not None:
                        self._cover(above)
                        yield self._noise("order", place, above, partner)
                    break

    def _is_shuffled(self, node: int, partner: int) -> bool:
        old = [_content(self.old, child) for child in self.old.children(node)]
        new = [_content(self.new, child) for child in self.new.children(partner)]
        before = [each for each in old if any(each)]
        after = [each for each in new if any(each)]
        if before == after:
            return False
        if Counter(before) == Counter(after):
            return True
        # The texts decide if all children have one: addresses can have noise of their own.
        texts, others = [each[0] for each in before], [each[0] for each in after]
        return all(texts) and texts != others and Counter(texts) == Counter(others)

    # ------------------------------------------------------------ regions

    def _regions(self) -> Iterator[Noise]:
        parents: dict[int, None] = {}
        for node in self._alone(self.annotation.old_status, self.old.page):
            parents[int(self.old.page.parent[node])] = None
        for node in self._alone(self.annotation.new_status, self.new.page):
            partner = int(self.annotation.to_old[int(self.new.page.parent[node])])
            if partner >= 0:
                parents[partner] = None
        for parent in parents:
            partner = int(self.annotation.to_new[parent])
            if partner >= 0 and not self._is_covered(parent):
                yield from self._region(parent, partner)

    def _alone(self, status: NDArray[np.uint16], page: Digest) -> list[int]:
        """Return the topmost visible nodes that have no partner, or that moved."""
        nodes = np.flatnonzero((status & int(Status.ALONE | Status.MOVED)) != 0)
        tops = nodes[(status[page.parent[nodes]] & int(Status.ALONE)) == 0]
        return [node for node in tops.tolist() if page.visible[node] and node > 0][:MOST_PLACES]

    def _region(self, parent: int, partner: int) -> Iterator[Noise]:
        before, lasting_before = self._children(self.old, parent, self.annotation.old_status)
        after, lasting_after = self._children(self.new, partner, self.annotation.new_status)
        differ = len(before) + len(after)
        lasting = len(lasting_before) + len(lasting_after)
        place = place_of(self.old, parent, self.new, partner)
        if place is None or not differ:
            return
        size = len(self.old.page.text(parent).split()) / self.words
        if (
            size <= LARGEST_REGION
            and differ >= MOST_DIFFER * (differ + lasting)
            and not self._are_mostly_the_same(before, after)
            and self.old.tag(parent) not in ("html", "body", "main")
        ):
            self._cover(parent)
            yield self._noise("region", place, parent, partner)
            return
        steps = _lasting_names(
            {_names(self.old, node) for node in before if self.old.is_element(node)},
            {_names(self.new, node) for node in after if self.new.is_element(node)},
        )
        for step in sorted(steps, key=str):
            own = [node for node in self.old.matching(parent, step) if node in lasting_before]
            own += [node for node in self.new.matching(partner, step) if node in lasting_after]
            if own or not (step.ident or step.classes):
                continue
            old, new = self.old.matching(parent, step), self.new.matching(partner, step)
            words = sum(len(self.old.page.text(node).split()) for node in old)
            words = max(words, sum(len(self.new.page.text(node).split()) for node in new))
            if words > LARGEST_REGION * self.words:
                continue
            for node in old:
                self._cover(node)
            samples = (
                sample(" ".join(self.old.page.text(node) for node in old)),
                sample(" ".join(self.new.page.text(node) for node in new)),
            )
            found = Noise("region", Place((*place.steps, step)), self.now, "probe", samples=samples)
            yield replace(found, value=value_of(self.old.page, old, found), unseen=int(not old))

    def _are_mostly_the_same(self, before: list[int], after: list[int]) -> bool:
        """Tell whether the children that differ are the same ones elsewhere, for the most part."""
        old = Counter(_content(self.old, node)[0] for node in before)
        new = Counter(_content(self.new, node)[0] for node in after)
        both = (old & new).total()
        return both > MOST_DIFFER * max(len(before), len(after))

    @staticmethod
    def _children(at: Map, node: int, status: NDArray[np.uint16]) -> tuple[list[int], list[int]]:
        """Return the visible children that differ, and those that last."""
        differ: list[int] = []
        lasting: list[int] = []
        for child in at.children(node):
            if not any(_content(at, child)):
                continue
            moved = int(status[child]) & int(Status.ALONE | Status.MOVED)
            (differ if moved else lasting).append(child)
        return differ, lasting

    # ------------------------------------------------------------ values

    def _value(self, value: ChangedValue) -> Iterator[Noise]:
        place = place_of(self.old, value.node, self.new, value.partner)
        if place is not None:
            noise = _noise_of(value, place, self.now, "probe")
            yield replace(noise, value=value_of(self.old.page, [value.node], noise))

    def _noise(self, kind: NoiseKind, place: Place, node: int, partner: int) -> Noise:
        samples = (sample(self.old.page.text(node)), sample(self.new.page.text(partner)))
        found = Noise(kind, place, self.now, "probe", samples=samples)
        return replace(found, value=value_of(self.old.page, [node], found))

    def _cover(self, node: int) -> None:
        self.covered.append((node, node + int(self.old.page.size[node])))

    def _is_covered(self, node: int) -> bool:
        return any(start <= node < end for start, end in self.covered)


def _noise_of(value: ChangedValue, place: Place, now: float, evidence: Evidence) -> Noise:
    gaps = gaps_between(value.before, value.after, address=value.kind != "text")
    samples = (sample(value.before), sample(value.after))
    return Noise(value.kind, place, now, evidence, value.name, gaps, samples)


def changed_values(found: Annotation, aspects: Collection[Aspect]) -> Iterator[ChangedValue]:
    """Go through the links, images and (if watched) attributes that differ between two versions.

    Only nodes that both versions have count; hidden links and images do not.
    """
    kinds: tuple[tuple[Literal["links", "images"], Status], ...] = (
        ("links", Status.LINKS),
        ("images", Status.IMAGES),
    )
    for of, flag in kinds:
        nodes = np.flatnonzero((found.old_status & int(flag)) != 0)
        nodes = nodes[(found.to_new[nodes] >= 0) & found.old.visible[nodes]]
        if not len(nodes):
            continue
        one, two = (dict(each.addresses(of)) for each in (found.old, found.new))
        for node in nodes.tolist()[:MOST_PLACES]:
            partner = int(found.to_new[node])
            before, after = one.get(node), two.get(partner)
            if before is not None and after is not None and before != after:
                yield ChangedValue(of, node, partner, before, after)
    if "attributes" in aspects:
        yield from _changed_attributes(found)


def _changed_attributes(found: Annotation) -> Iterator[ChangedValue]:
    old, new = found.old, found.new
    nodes = np.flatnonzero((found.old_status & int(Status.ATTRIBUTES)) != 0)
    for node in nodes[found.to_new[nodes] >= 0].tolist()[:MOST_PLACES]:
        partner = int(found.to_new[node])
        if old.attr[node] < 0 or new.attr[partner] < 0:
            continue
        one, two = old.attributes(node), new.attributes(partner)
        for name, before in one.items():
            if two.get(name, before) != before:
                yield ChangedValue("attribute", node, partner, before, two[name], name)


# ---------------------------------------------------------------- history


def learn_from_history(
    noise: PageNoise,
    old: Digest,
    new: Digest,
    *,
    captures: int,
    now: float,
    aspects: Collection[Aspect],
) -> PageNoise:
    """Count changes of links, images and attributes; what changes at every capture is noise.

    Args:
        noise: what is known.
        old: the last version.
        new: the new version.
        captures: captures since the last version, the new one included.
        now: the time.
        aspects: what is watched on the page.
    """
    changed = _changed_values(old, new, now, aspects)
    known = {entry.key for entry in noise.entries}
    counted: dict[str, Counted] = {}
    for key, each in noise.counted.items():
        count = Counted(each.changes + (key in changed), each.captures + captures)
        if 2 * count.changes >= count.captures:  # the others are far from every capture
            counted[key] = count
    for key in changed:
        if key not in noise.counted and key not in known and len(counted) < MOST_COUNTED:
            counted[key] = Counted()
    found = [
        changed[key]
        for key, each in counted.items()
        if key in changed
        and each.changes >= LEAST
        and each.changes >= EVERY * each.captures
        and key not in known
    ]
    for entry in found:
        del counted[entry.key]
    return replace(noise, counted=counted).with_found(found[:MOST_NOISE])


def _changed_values(
    old: Digest, new: Digest, now: float, aspects: Collection[Aspect]
) -> Mapping[str, Noise]:
    """Return the noise that there would be at each place with a value that differs."""
    one, two = Map(old), Map(new)
    changed: dict[str, Noise] = {}
    for value in changed_values(annotate(old, new), aspects):
        place = place_of(one, value.node, two, value.partner)
        if place is not None:
            noise = _noise_of(value, place, now, "history")
            noise = replace(noise, value=value_of(new, [value.partner], noise))
            changed[noise.key] = noise
    return changed


# ---------------------------------------------------------------- what elements show


def _content(at: Map, node: int) -> tuple[str, ...]:
    """Return what a reader sees of a node: its text, and the addresses of links and images."""
    page = at.page
    if not page.visible[node]:
        return ("",)
    text = " ".join(page.text(node).split())
    if not at.is_element(node):
        return (text,)
    end = node + int(page.size[node])
    addresses: list[str] = []
    for inner in (np.flatnonzero(page.attr[node:end] >= 0) + node).tolist()[:MOST_PLACES]:
        attributes = page.attributes(inner)
        addresses += [attributes[name] for name in ("href", "src", "srcset") if name in attributes]
    return (text, *addresses)


def _lasting_names(before: set[Step], after: set[Step]) -> set[Step]:
    """Return the names of elements that only one of two fetches has.

    An element of each with the same tag and a class in common, but another id, is one element whose
    id is made up for every response: its id does not count.

    >>> one, two = Step("div", "ad-17", ("ad", "x9"), ALL), Step("div", "ad-42", ("ad", "q3"), ALL)
    >>> [str(step) for step in _lasting_names({one}, {two})]
    ['div.ad']
    """
    found: set[Step] = set()
    joined: set[Step] = set()
    for one in before:
        for two in after:
            classes = tuple(sorted({*one.classes} & {*two.classes}))
            if one.tag == two.tag and classes and one.ident and two.ident != one.ident:
                found.add(Step(one.tag, "", classes, ALL))
                joined |= {one, two}
    return found | (before - joined) | (after - joined)


def _names(at: Map, node: int) -> Step:
    return Step(at.tag(node), at.ident(node), tuple(sorted(at.classes(node))), ALL)
