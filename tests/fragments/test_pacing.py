"""Pacing: parts that change at another pace than the rest of their page are files of their own."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.errors import CompositionError, PlanError
from quire.fragments import FragmentPlan, Manifest, PlanRules, verify, write_composition
from quire.fragments.caching.pacing import MOST_PARTS, REQUEST_BYTES, PacedNodes
from quire.fragments.caching.site_plan import Keeping, plan_site
from quire.fragments.cuts.candidates import CutKind, Span
from quire.fragments.esi.changes import changed_files
from quire.fragments.esi.compose import Composer
from quire.fragments.esi.continued import continued_parts
from quire.fragments.site.collection import Collection, Seen
from tests.conftest import require
from tests.fragments.test_measuring import captured
from tests.fragments.test_online import ask, serving
from tests.fragments.test_slots import Cache

RULES = PlanRules(min_bytes=150, prefix="/q")
INCLUDE = RULES.include_bytes

#: Parents, places, changes of the own source, and whether a node may be cut out.
Tree = tuple[list[int], list[Span], list[int], list[bool | None]]


# ------------------------------------------------------------------ the choice, on plain columns


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Small trees in document order: children lie side by side in their parents."""
    count = draw(st.integers(1, 9))
    parent = [0, *(draw(st.integers(0, node - 1)) for node in range(1, count))]
    # In pre-order a parent is the node before, or one around it.
    for node in range(1, count):
        around = {0, node - 1}
        up = node - 1
        while up:
            up = parent[up]
            around.add(up)
        parent[node] = max(one for one in around if one <= parent[node])
    own_bytes = [draw(st.integers(0, 3000)) for _ in range(count)]
    size = list(own_bytes)
    for node in range(count - 1, 0, -1):
        size[parent[node]] += size[node]
    start = [0] * count
    free = [own_bytes[node] // 2 for node in range(count)]  # where the next child begins
    for node in range(1, count):
        start[node] = free[parent[node]]
        free[parent[node]] += size[node]
        free[node] += start[node]
    span = [(start[node], start[node] + size[node]) for node in range(count)]
    # What has no bytes of its own never changes by itself. So two nodes with the same span, one in
    # the other, change in the same versions.
    own = [draw(st.integers(0, 15)) if own_bytes[node] else 0 for node in range(count)]
    status: list[bool | None] = [False, *(draw(st.booleans()) for _ in range(1, count))]
    return parent, span, own, status


def nodes_of(tree: Tree) -> PacedNodes:
    parent, span, own, status = tree
    return PacedNodes(
        parent=parent,
        span=span,
        own=own,
        place=[0] * len(own),
        status=status,
        rest_bytes=span[0][1],
    )


def nested(parent: Sequence[int], one: int, other: int) -> bool:
    """Whether one node is around the other."""
    low, high = sorted((one, other))
    while high > low:
        high = parent[high]
    return high == low


def antichains(parent: Sequence[int], free: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for count in range(len(free) + 1):
        for chosen in combinations(free, count):
            if not any(nested(parent, one, other) for one, other in combinations(chosen, 2)):
                yield chosen


@settings(deadline=None)
@given(trees(), st.integers(0, 6), st.data())
def test_no_other_parts_save_more(tree: Tree, rest: int, data: st.DataObject) -> None:
    parent, span, own, status = tree
    free = [node for node, may in enumerate(status) if may]
    continued = {span[node] for node in free if data.draw(st.booleans())}
    nodes = nodes_of(tree)

    def saved(chosen: Sequence[int]) -> int:
        """By the definition: what the part costs inside the rest, and what it costs as a file."""
        total = 0
        for node in chosen:
            length = span[node][1] - span[node][0]
            changes = 0
            for inner in range(node, len(own)):
                changes |= own[inner] if nested(parent, node, inner) else 0
            fetches = changes.bit_count() + (span[node] not in continued)
            total += rest * (length - INCLUDE) - fetches * (length + REQUEST_BYTES)
        return total

    found = nodes.most_saved(rest, INCLUDE, continued)

    assert not any(nested(parent, one, other) for one, other in combinations(found, 2))
    assert saved(found) == max(saved(chosen) for chosen in antichains(parent, free))


@settings(deadline=None)
@given(trees())
def test_the_parts_cost_less_than_the_page_as_one_file(
    tree: Tree,
) -> None:
    parent, span, own, _ = tree
    nodes = nodes_of(tree)
    chosen = [span.index(one) for one in nodes.choose(INCLUDE)]
    every = rest = 0
    cost = 0
    for node, changed in enumerate(own):
        every |= changed
        if not any(nested(parent, one, node) and one <= node for one in chosen):
            rest |= changed
    rest_bytes = span[0][1]
    for one in chosen:
        length = span[one][1] - span[one][0]
        inside = 0
        for node in range(one, len(own)):
            inside |= own[node] if nested(parent, one, node) else 0
        cost += (inside.bit_count() + 1) * (length + REQUEST_BYTES)
        rest_bytes -= length - INCLUDE
    cost += rest.bit_count() * (rest_bytes + REQUEST_BYTES)

    whole = every.bit_count() * (span[0][1] + REQUEST_BYTES)
    assert cost < whole if chosen else cost == whole


# ------------------------------------------------------------------ plans of pages with versions


def block(tag: str, words: str, lines: int = 12) -> str:
    """A part of some length."""
    inner = "".join(f"<p>{words}, sentence number {n} of the harbour</p>" for n in range(lines))
    return f"<{tag}>{inner}</{tag}>"


def front(hour: int) -> str:
    """A page that changes every hour, most of it seldom."""
    return (
        f"<html><body><h1>It is {hour} o'clock</h1>"
        + block("nav", "menu")
        + block("main", f"news of hour {hour}")
        + block("aside", f"weather of the hours after {hour // 4 * 4}")
        + block("footer", "foot")
        + "</body></html>"
    )


def planned(
    captures: list[Seen],
    folder: Path,
    after: Path | None = None,
    *,
    apart: bool = True,
    pace: bool = True,
) -> tuple[FragmentPlan, Manifest]:
    keeping = Keeping(apart=apart, pace=pace)
    with Collection(captures) as site:
        continued = continued_parts(after, site) if after is not None else None
        plan = plan_site(site, rules=RULES, keeping=keeping, continued=continued)
        manifest = write_composition(plan, folder, after=after)
    found = verify(folder, composer="own")
    assert (found.equal, found.unequal) == (len(manifest.pages), 0)
    return plan, manifest


def history(first: int, last: int) -> list[Seen]:
    return [captured("front", hour, front(hour)) for hour in range(first, last + 1)]


def contents(folder: Path, manifest: Manifest) -> dict[str, bytes]:
    return {
        one.file: (folder / one.folder / f"{one.file}.html").read_bytes()
        for one in manifest.fragments
    }


def test_parts_that_stay_are_files_and_the_rest_is_a_template(tmp_path: Path) -> None:
    plan, manifest = planned(history(0, 7), tmp_path / "esi", apart=False)

    found = set(contents(tmp_path / "esi", manifest).values())
    assert found == {
        block("nav", "menu").encode(),
        block("footer", "foot").encode(),
        block("aside", "weather of the hours after 4").encode(),
    }
    assert {one.kind for one in plan.cuts.fragments.values()} == {CutKind.PACED}
    (page,) = manifest.pages
    assert page.policy.ttl_s == 0
    assert all(one.policy.ttl_s > 0 for one in manifest.fragments)


def test_it_can_be_switched_off_and_needs_versions(tmp_path: Path) -> None:
    _, off = planned(history(0, 7), tmp_path / "off", apart=False, pace=False)
    _, one = planned(history(7, 7), tmp_path / "one")
    _, two = planned(history(6, 7), tmp_path / "two", apart=False)

    # Two captures show one change: cutting anything out would cost as much.
    assert (off.fragments, one.fragments, two.fragments) == ((), (), ())


def test_parts_that_pages_share_stay_shared(tmp_path: Path) -> None:
    captures = [
        captured(name, hour, front(hour).replace("<main>", f"<main><h2>{name}</h2>"))
        for hour in range(8)
        for name in ("fish", "peas")
    ]
    plan, manifest = planned(captures, tmp_path / "esi", apart=False)

    assert {one.kind for one in plan.cuts.fragments.values()} == {CutKind.SHARED}
    assert {one.pages for one in manifest.fragments} == {2}


def test_a_part_that_no_cache_may_keep_is_not_cut_out_for_its_pace(tmp_path: Path) -> None:
    """A basket changes seldom, but every user has another one."""

    def page(reader: str, hour: int) -> str:
        return front(hour).replace("foot,", f"basket of {reader or 'nobody'},")

    captures = [
        captured("front", hour, page(reader, hour), reader)
        for hour in range(8)
        for reader in ("", "mary")
    ]
    plan, manifest = planned(captures, tmp_path / "esi", apart=False)

    found = b"".join(contents(tmp_path / "esi", manifest).values())
    assert b"menu" in found
    assert b"basket" not in found
    assert all(plan.measured.fragment(name).is_cached for name in plan.cuts.fragments)


def test_a_list_of_which_every_item_changes_is_fetched_at_once(tmp_path: Path) -> None:
    """Isolating each item would keep the rest in the cache, for a request an item."""

    def page(hour: int) -> str:
        items = "".join(f"<li>Boat {n} is expected at {hour + n} o'clock</li>" for n in range(20))
        return f"<html><body>{block('nav', 'menu')}<ul>{items}</ul></body></html>"

    captures = [captured("front", hour, page(hour)) for hour in range(8)]
    _, manifest = planned(captures, tmp_path / "esi")
    _, without = planned(captures, tmp_path / "without", pace=False)

    assert list(contents(tmp_path / "esi", manifest).values()) == [block("nav", "menu").encode()]
    assert manifest.pages[0].policy.ttl_s == 0
    assert without.fragments == ()


def test_a_page_with_very_many_parts_gets_a_limited_number(tmp_path: Path) -> None:
    def page(hour: int) -> str:
        parts = "".join(block("section", f"part {n}", 20) for n in range(3 * MOST_PARTS))
        return f"<html><body><p>{hour}</p>{parts}<p>{hour}</p></body></html>".replace(
            "</section>", f"</section><i>{hour}</i>"
        )

    captures = [captured("front", hour, page(hour)) for hour in range(5)]
    _, manifest = planned(captures, tmp_path / "esi", apart=False)

    assert len(manifest.fragments) == MOST_PARTS


# ------------------------------------------------------------------ one composition after another


def test_only_what_changed_is_fetched_again(tmp_path: Path) -> None:
    _, old = planned(history(0, 6), tmp_path / "old", apart=False)
    _, new = planned(history(0, 7), tmp_path / "new", tmp_path / "old", apart=False)

    found = changed_files(tmp_path / "old", tmp_path / "new")
    assert {one.file for one in new.fragments} == {one.file for one in old.fragments}
    assert [(one.folder, one.name) for one in found.purge] == [("templates", new.pages[0].file)]
    assert (found.added, found.gone, found.is_vcl_changed) == ((), (), False)

    # The weather is another one in hour 8, under the same name.
    planned(history(0, 8), tmp_path / "last", tmp_path / "new", apart=False)
    found = changed_files(tmp_path / "new", tmp_path / "last")
    assert sorted(one.folder for one in found.purge) == ["fragments", "templates"]
    assert (found.added, found.gone) == ((), ())


def test_without_versions_the_parts_of_the_composition_before_stay(tmp_path: Path) -> None:
    _, old = planned(history(0, 6), tmp_path / "old", apart=False)
    _, new = planned(history(7, 7), tmp_path / "new", tmp_path / "old", apart=False)

    assert {one.file for one in new.fragments} == {one.file for one in old.fragments}
    assert len(new.fragments) == 3
    assert len(changed_files(tmp_path / "old", tmp_path / "new").purge) == 1


def test_a_part_that_moved_and_changed_keeps_its_name(tmp_path: Path) -> None:
    """The place between neighbours is another one, so only following it on the page finds it."""
    _, old = planned(history(0, 6), tmp_path / "old", apart=False)
    weather, foot = block("aside", "weather of the hours after 4"), block("footer", "foot")
    moved = (
        front(7)
        .replace(weather, "")
        .replace(foot, foot + weather.replace("sentence number 3", "storm number 3"))
    )
    captures = [*history(0, 6), captured("front", 7, moved)]
    _, new = planned(captures, tmp_path / "new", tmp_path / "old", apart=False)

    def file(folder: str, manifest: Manifest) -> str:
        (found,) = (
            name
            for name, data in contents(tmp_path / folder, manifest).items()
            if data.startswith(b"<aside>")
        )
        return found

    assert file("new", new) == file("old", old)


def test_an_earlier_composition_that_is_none_or_damaged_is_named(tmp_path: Path) -> None:
    _, old = planned(history(0, 6), tmp_path / "old", apart=False)
    with pytest.raises(PlanError, match=r"not a composition: it has no manifest\.json"):
        planned(history(0, 7), tmp_path / "new", tmp_path)
    name = old.fragments[0].file
    (tmp_path / "old/fragments" / f"{name}.html").unlink()
    with pytest.raises(CompositionError, match=rf"fragments/{name}\.html: missing"):
        planned(history(0, 7), tmp_path / "new", tmp_path / "old")
    assert not (tmp_path / "new").exists()


def test_an_earlier_composition_that_grows_without_bounds_is_refused(tmp_path: Path) -> None:
    _, old = planned(history(0, 6), tmp_path / "old", apart=False)
    (page,) = old.pages
    template = tmp_path / "old/templates" / f"{page.file}.html"
    include = template.read_bytes().partition(b"<esi:")[2].partition(b">")[0]
    template.write_bytes(b"<p>" + b"<esi:%s>" % include * 20_000)
    manifest = tmp_path / "old/manifest.json"
    manifest.write_text(manifest.read_text().replace('"includes": 3', '"includes": 20000'))

    with pytest.raises(CompositionError, match=r"\.html: composes to more than"):
        planned(history(0, 7), tmp_path / "new", tmp_path / "old")


def test_pages_that_are_empty_or_broken_in_between_are_composed(tmp_path: Path) -> None:
    bodies = ["", front(0), front(1), "<", front(2), "<esi:include src='/a'/>", front(3), ""]
    captures = [captured("front", hour, body) for hour, body in enumerate(bodies)]
    before: Path | None = None
    for count in range(1, len(captures) + 1):
        folder = tmp_path / f"{count}"
        with Collection(captures[:count]) as site:
            continued = continued_parts(before, site) if before is not None else None
            plan = plan_site(site, rules=RULES, continued=continued)
            write_composition(plan, folder, after=before)
        assert verify(folder, composer="own").unequal == 0
        before = folder


def drawn_parts(drawn: random.Random) -> list[tuple[str, str]]:
    names = ["nav", "main", "aside", "footer", "section"]
    return [(drawn.choice(names), f"part {n}") for n in range(drawn.randint(2, 7))]


def edited(parts: list[tuple[str, str]], drawn: random.Random) -> list[tuple[str, str]]:
    """Some parts change, come, go or change places."""
    made = [
        (
            tag,
            f"{words.split(' of ')[0]} of {drawn.randint(0, 99)}"
            if drawn.random() < 0.3
            else words,
        )
        for tag, words in parts
    ]
    if len(made) > 1 and drawn.random() < 0.2:
        made.pop(drawn.randrange(len(made)))
    if drawn.random() < 0.2:
        made.insert(drawn.randint(0, len(made)), ("section", f"fresh {drawn.randint(0, 99)}"))
    if drawn.random() < 0.2:
        drawn.shuffle(made)
    return made


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 1_000_000))
def test_purging_what_is_listed_makes_every_page_new(seed: int) -> None:
    """A cache that holds every old file shows only new pages after the listed keys are purged."""
    drawn = random.Random(seed)
    pages = {name: drawn_parts(drawn) for name in ("front", "other")[: drawn.randint(1, 2)]}
    captures: list[Seen] = []
    cache, before = Cache(), None
    with tempfile.TemporaryDirectory() as folder:
        for hour in range(7):
            html = {
                name: f"<html><body><h1>{hour}</h1>{''.join(block(*one) for one in parts)}</body></html>"
                for name, parts in pages.items()
            }
            captures += [captured(name, hour, body) for name, body in html.items()]
            pages = {name: edited(parts, drawn) for name, parts in pages.items()}
            if hour < 3:
                continue
            now = Path(folder, f"{hour}")
            _, manifest = planned(captures, now, before, apart=drawn.random() < 0.5)
            if before is not None:
                cache.purge(" ".join(changed_files(before, now).key_lines()).split())
            cache.origin, before = now, now
            for one in manifest.pages:
                made = cache.read(one.folder, one.file, 1 << 20)
                if one.folder == "templates":
                    made = Composer(cache.read, prefix=RULES.prefix).page(made, most_bytes=1 << 20)
                assert made == html[one.url.rpartition("/")[2]].encode()


def test_varnish_fetches_a_paced_part_once_and_again_when_it_is_purged(tmp_path: Path) -> None:
    require("varnishd", "compose a page of parts with their own pace")
    online = tmp_path / "online"
    planned(history(0, 7), tmp_path / "old", apart=False)
    planned(history(0, 8), tmp_path / "new", tmp_path / "old", apart=False)
    shutil.copytree(tmp_path / "old", online)
    with serving(online) as (asked, address):
        for _ in range(3):
            assert ask(address, "GET", "/front").data == front(7).encode()
        fetched = Counter({path: count for path, count in asked.items() if "/fragments/" in path})
        assert len(fetched) == 3
        assert set(fetched.values()) == {1}

        shutil.copytree(tmp_path / "new", online, dirs_exist_ok=True)
        found = changed_files(tmp_path / "old", tmp_path / "new")
        for keys in found.key_lines():
            assert ask(address, "PURGE", "/", Surrogate_Key=keys).status == 200

        assert ask(address, "GET", "/front").data == front(8).encode()
        again = {path for path in fetched if asked[path] > 1}
        assert again == {
            f"/q/fragments/{one.name}.html" for one in found.purge if one.folder == "fragments"
        }
        assert len(again) == 1
