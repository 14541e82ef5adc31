"""Composition: the files of a plan, without their bytes: sizes, uses, policies and savings.

All figures come from the cuts of the plan, so no page is read again. ``plan``, ``esi`` and
``report`` show the same ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from quire.fragments.caching.plan import FragmentPlan
from quire.fragments.cuts.site_cuts import CutFragment, CutPage
from quire.fragments.esi.addresses import content_type_of, places_of
from quire.fragments.esi.manifest import ComposedPage, FragmentFile, Manifest, Volumes
from quire.fragments.esi.slots import Slots


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """What ``write_composition`` writes for a plan.

    Attributes:
        manifest: pages, fragments and volumes.
        holders: how often each fragment is on which different page, by name and by the number of
            the page's bytes; also inside other fragments.
        moved: bytes fetched for each different page while all fragments that are cached are fresh.
    """

    manifest: Manifest
    holders: Mapping[str, Mapping[int, int]]
    moved: Mapping[int, int]

    @classmethod
    def of(cls, plan: FragmentPlan, slots: Slots | None = None) -> Composition:
        """Compute the composition of a plan; slots give files other names than their contents."""
        cuts, rules, slots = plan.cuts, plan.rules, slots or Slots()
        uses: Counter[str] = Counter()
        cut: list[CutPage | CutFragment] = [*cuts.pages.values(), *cuts.fragments.values()]
        for whole in cut:
            uses.update(part.name for part in whole.parts)
        holders = _holders(plan)
        given = plan.measured.given
        policies = {
            name: given.get(slots.fragment(name), plan.measured.fragment(name))
            for name in cuts.fragments
        }
        fragments = [
            FragmentFile(
                file=slots.fragment(name),
                folder="templates" if one.parts else "fragments",
                length=one.length,
                stored=cuts.stored(one),
                sha256=one.sha256,
                uses=uses[name],
                pages=len(holders[name]),
                first_page=one.first_page,
                first_offset=one.first_offset,
                policy=policies[name],
            )
            for name, one in cuts.fragments.items()
        ]
        fragments.sort(key=lambda one: (-one.saved(rules.include_bytes), one.file))
        personal = {
            body
            for name, policy in policies.items()
            if policy.sharing == "private"
            for body in holders[name]
        }
        holders = {slots.fragment(name): found for name, found in holders.items()}
        sizes = {body: cuts.stored(page) for body, page in cuts.pages.items()}
        # A fragment that no cache keeps is fetched with every page.
        moved = Counter(sizes)
        for one in fragments:
            for body, count in holders[one.file].items() if not one.policy.is_cached else ():
                moved[body] += count * one.stored
        pages = tuple(_pages(plan, personal, slots))
        volumes = Volumes(
            pages=sum(page.length for page in pages),
            templates=sum(sizes.values()),
            fragments=sum(one.stored for one in fragments),
            moved=sum(moved[page.body] for page in plan.site.pages),
        )
        manifest = Manifest(
            rules.prefix, rules.max_depth, rules.xml_check, pages, tuple(fragments), volumes
        )
        return cls(manifest, holders, moved)

    def moved_saved(self, fragment: FragmentFile, requests: Mapping[int, int]) -> int:
        """Return how many bytes less are fetched because of a fragment, while it is fresh.

        The figures of all fragments add up to the saving of all pages.

        Args:
            fragment: a fragment of the manifest.
            requests: how often each different page is requested, by the number of its bytes.
        """
        kept = fragment.stored if fragment.policy.is_cached else 0
        asked = sum(times * requests[body] for body, times in self.holders[fragment.file].items())
        return asked * (kept - self.manifest.include_bytes)


def _holders(plan: FragmentPlan) -> dict[str, Counter[int]]:
    fragments = plan.cuts.fragments
    found: dict[str, Counter[int]] = {name: Counter() for name in fragments}
    for body, page in plan.cuts.pages.items():
        for part in page.parts:
            found[part.name][body] += 1
    # A fragment comes after those inside it.
    for name in reversed(list(fragments)):
        for part in fragments[name].parts:
            for body, times in found[name].items():
                found[part.name][body] += times
    return found


def _pages(plan: FragmentPlan, personal: set[int], slots: Slots) -> Iterator[ComposedPage]:
    places = places_of(plan.site.pages)
    for page, place in zip(plan.site.pages, places, strict=True):
        cut, policy = plan.cuts.pages[page.body], plan.measured.page(page.body)
        yield ComposedPage(
            name=page.name,
            url=page.url,
            folder="templates" if cut.parts else "whole",
            file=slots.page(cut.sha256),
            length=cut.length,
            sha256=cut.sha256,
            includes=len(cut.parts),
            is_refused=cut.is_refused,
            hazards=cut.hazards,
            policy=policy,
            is_personal=page.body in personal or policy.sharing == "private",
            address=place.address,
            unserved=place.unserved,
            content_type=content_type_of(page.versions[-1].content_type, place.address),
        )
