"""Slots: a part changes under its name, and only what has other bytes is purged."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.errors import PlanError
from quire.fragments import Manifest, PlanRules, SourcePage, plan_fragments, verify
from quire.fragments.cuts.includes import Folder, name_of
from quire.fragments.esi.changes import changed_files
from quire.fragments.esi.compose import Composer, folder_reader
from quire.fragments.esi.manifest import ComposedPage, FragmentFile
from quire.fragments.esi.write import write_composition
from quire.fragments.policy import Policy
from tests.conftest import require
from tests.fragments.test_online import ask, serving

RULES = PlanRules(min_bytes=150)


def block(tag: str, words: str) -> str:
    return (
        f"<{tag}>" + "".join(f"<p>{words}, sentence number {n}</p>" for n in range(8)) + f"</{tag}>"
    )


def page(number: int, *blocks: str) -> str:
    return f"<html><body><h1>Page {number}</h1>{'<hr>'.join(blocks)}<p>{number * 7} mm</p></body></html>"


def written(
    pages: dict[str, str], folder: Path, after: Path | None = None, rules: PlanRules = RULES
) -> Manifest:
    sources = [SourcePage(url, url, html.encode()) for url, html in pages.items()]
    with plan_fragments(sources, rules=rules) as plan:
        return write_composition(plan, folder, after=after)


def site(menu: str, foot: str = "foot") -> dict[str, str]:
    return {f"/{n}": page(n, block("nav", menu), block("footer", foot)) for n in range(4)}


def test_a_part_that_changes_keeps_its_name_and_its_pages_keep_their_bytes(tmp_path: Path) -> None:
    old = written(site("menu"), tmp_path / "old")
    new = written(site("other menu"), tmp_path / "new", tmp_path / "old")

    assert {one.file for one in new.fragments} == {one.file for one in old.fragments}
    assert [one.file for one in new.pages] == [one.file for one in old.pages]
    for one in new.pages:
        path = f"{one.folder}/{one.file}.html"
        assert (tmp_path / "new" / path).read_bytes() == (tmp_path / "old" / path).read_bytes()
    assert verify(tmp_path / "new").equal == 4
    found = changed_files(tmp_path / "old", tmp_path / "new")
    [purged] = found.purge
    assert (purged.folder, purged.pages) == ("fragments", 4)
    assert (found.added, found.gone, found.is_vcl_changed) == ((), (), False)
    assert found.pages == tuple(site("menu"))


def test_without_an_earlier_composition_files_are_named_after_their_content(tmp_path: Path) -> None:
    manifest = written(site("menu"), tmp_path / "old")

    for one in manifest.fragments:
        assert one.file == name_of((tmp_path / "old/fragments" / f"{one.file}.html").read_bytes())
    written(site("other menu"), tmp_path / "new")
    found = changed_files(tmp_path / "old", tmp_path / "new")
    assert found.purge == ()
    assert len(found.added) == len(found.gone) == 5
    assert found.is_vcl_changed


def test_old_content_that_returns_elsewhere_gets_another_name(tmp_path: Path) -> None:
    """The slot of the menu has the digest of its first content as its name."""
    old = written(site("menu"), tmp_path / "a")
    menu = name_of(block("nav", "menu").encode())
    assert menu in {one.file for one in old.fragments}
    written(site("other menu"), tmp_path / "b", tmp_path / "a")
    third = {
        url: page(n, block("nav", "other menu"), block("footer", "foot"), block("nav", "menu"))
        for n, url in enumerate(site(""))
    }
    new = written(third, tmp_path / "c", tmp_path / "b")

    by_content = {one.sha256[:32]: one.file for one in new.fragments}
    assert by_content[name_of(block("nav", "other menu").encode())] == menu
    assert by_content[menu] != menu
    assert len({one.file for one in new.fragments}) == 3
    assert verify(tmp_path / "c").equal == 4


def test_two_parts_that_change_at_once_are_told_apart_by_their_neighbours(tmp_path: Path) -> None:
    def pages(first: str, last: str) -> dict[str, str]:
        return {
            f"/{n}": page(n, block("nav", first), block("main", "middle"), block("footer", last))
            for n in range(3)
        }

    old = written(pages("menu", "foot"), tmp_path / "old")
    new = written(pages("menu of today", "foot of today"), tmp_path / "new", tmp_path / "old")

    def files(manifest: Manifest, *contents: str) -> list[str]:
        by_content = {one.sha256[:32]: one.file for one in manifest.fragments}
        return [by_content[name_of(one.encode())] for one in contents]

    middle = block("main", "middle")
    assert files(new, block("nav", "menu of today"), middle, block("footer", "foot of today")) == (
        files(old, block("nav", "menu"), middle, block("footer", "foot"))
    )


def test_a_given_policy_stays_with_its_slot(tmp_path: Path) -> None:
    old = written(site("menu"), tmp_path / "old")
    slot = next(
        one.file
        for one in old.fragments
        if one.sha256[:32] == name_of(block("nav", "menu").encode())
    )
    sources = [SourcePage(url, url, html.encode()) for url, html in site("other").items()]
    policy = Policy(7, source="given", reason="told")
    with plan_fragments(sources, rules=RULES, policies={slot: policy}) as plan:
        new = write_composition(plan, tmp_path / "new", after=tmp_path / "old")

    assert {one.file: one.policy.ttl_s for one in new.fragments}[slot] == 7


def test_a_folder_that_is_not_a_composition_is_named(tmp_path: Path) -> None:
    written(site("menu"), tmp_path / "old")
    with pytest.raises(PlanError, match=r"not a composition: it has no manifest\.json"):
        written(site("menu"), tmp_path / "new", tmp_path)
    assert not (tmp_path / "new").exists()
    with pytest.raises(PlanError, match="not a composition"):
        changed_files(tmp_path / "old", tmp_path)


WORDS = ["menu", "foot", "news", "links", "about", "today"]
TAGS = ["nav", "footer", "section", "aside"]


def drawn_site(drawn: random.Random) -> dict[str, list[tuple[str, str]]]:
    pool = [(drawn.choice(TAGS), f"{word} {drawn.randint(0, 2)}") for word in WORDS]
    return {f"/{n}": drawn.sample(pool, drawn.randint(0, 5)) for n in range(drawn.randint(2, 6))}


def edited_site(
    pages: dict[str, list[tuple[str, str]]], drawn: random.Random
) -> dict[str, list[tuple[str, str]]]:
    """Parts change everywhere or on one page; parts and pages come, go and change places."""
    other = {one: f"{one} {drawn.randint(0, 9)}" for one in WORDS if drawn.random() < 0.4}
    made = {}
    for url, blocks in pages.items():
        if drawn.random() < 0.1:
            continue
        mine = [(tag, other.get(words.split()[0], words)) for tag, words in blocks]
        if mine and drawn.random() < 0.2:
            mine.pop(drawn.randrange(len(mine)))
        if drawn.random() < 0.2:
            drawn.shuffle(mine)
        made[url if drawn.random() < 0.95 else f"{url}-moved"] = mine
    made["/new"] = [(drawn.choice(TAGS), drawn.choice(WORDS))]
    return made


class Cache:
    """A cache that keeps every file for ever, unless it is purged."""

    def __init__(self) -> None:
        self.origin = Path()
        self._held: dict[tuple[str, str], bytes] = {}

    def read(self, kind: Folder, name: str, most_bytes: int) -> bytes:
        """Return a file, from the origin if it is not held."""
        if (kind, name) not in self._held:
            self._held[kind, name] = folder_reader(self.origin)(kind, name, most_bytes)
        return self._held[kind, name]

    def purge(self, keys: list[str]) -> None:
        """Drop the files of these names."""
        self._held = {key: data for key, data in self._held.items() if key[1] not in keys}


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 1_000_000), st.sampled_from([1, 2]))
def test_purging_what_is_listed_makes_every_page_new(seed: int, depth: int) -> None:
    """A cache that holds every old file shows only new pages after the listed keys are purged."""
    drawn = random.Random(seed)
    rules = PlanRules(min_bytes=150, max_depth=depth)
    pages = drawn_site(drawn)
    with tempfile.TemporaryDirectory() as folder:
        before: Path | None = None
        cache = Cache()
        for step in range(3):
            html = {
                url: page(n, *(block(*one) for one in blocks))
                for n, (url, blocks) in enumerate(pages.items())
            }
            now = Path(folder, f"{step}")
            manifest = written(html, now, before, rules)
            every: list[ComposedPage | FragmentFile] = [*manifest.pages, *manifest.fragments]
            contents = {(one.folder, one.file, one.sha256) for one in every}
            assert len(contents) == len({(one.folder, one.file) for one in every})
            if before is not None:
                cache.purge(" ".join(changed_files(before, now).key_lines()).split())
            cache.origin = now
            composer = Composer(cache.read)
            for one in manifest.pages:
                made = cache.read(one.folder, one.file, 1 << 20)
                if one.folder == "templates":
                    made = composer.page(made, most_bytes=1 << 20)
                assert made == html[one.url].encode()
            before, pages = now, edited_site(pages, drawn)


def test_varnish_shows_new_pages_after_the_listed_keys_are_purged(tmp_path: Path) -> None:
    """The VCL stays as it is, and only the file that changed is fetched again."""
    require("varnishd", "purge the parts that changed")
    rules = PlanRules(min_bytes=150, prefix="/q")
    old, new = site("menu"), site("other menu")
    online = tmp_path / "online"
    written(old, tmp_path / "old", rules=rules)
    written(new, tmp_path / "new", tmp_path / "old", rules=rules)
    shutil.copytree(tmp_path / "old", online)
    with serving(online) as (asked, address):
        for url, html in old.items():
            assert ask(address, "GET", url).data == html.encode()
        before = Counter(asked)
        shutil.copytree(tmp_path / "new", online, dirs_exist_ok=True)
        assert all(ask(address, "GET", url).data == html.encode() for url, html in old.items())

        found = changed_files(tmp_path / "old", tmp_path / "new")
        assert not found.is_vcl_changed
        for keys in found.key_lines():
            assert ask(address, "PURGE", "/", Surrogate_Key=keys).status == 200

        for url, html in new.items():
            assert ask(address, "GET", url).data == html.encode()
        [one] = found.purge
        assert asked - before == {f"/q/fragments/{one.name}.html": 1}
