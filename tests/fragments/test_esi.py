"""Compositions: every page comes together again, hazards are found before, nothing of a page is executed."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import random
import re
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quire
from quire.errors import PlanError
from quire.fragments import (
    EsiFiles,
    Manifest,
    PlanRules,
    Policy,
    SourcePage,
    plan_fragments,
    shared_fragments,
    verify,
    write_composition,
)
from quire.fragments.cuts.includes import name_of
from quire.fragments.esi.vcl import varnish_vcl
from tests.fragments.hostile import FOOT, HAZARDS, MENU, PIECES, bodies, composed, pages_of, site

REFUSING = ["byte-order-mark", "esi-comment", "esi-tag", "no-leading-tag"]


def test_a_menu_and_a_footer_are_kept_once(tmp_path: Path) -> None:
    manifest = composed(site(), tmp_path / "esi")

    assert {one.length for one in manifest.fragments} == {len(MENU), len(FOOT)}
    assert {(one.uses, one.pages) for one in manifest.fragments} == {(4, 4)}
    assert [page.includes for page in manifest.pages] == [2] * 4
    stored = sum(file.stat().st_size for file in (tmp_path / "esi").glob("*/*.html"))
    assert manifest.volumes.stored == stored < sum(map(len, site())) / 2
    assert verify(tmp_path / "esi").equal == 4


@settings(max_examples=60)
@given(bodies, st.sampled_from([1, 2, 5]), st.booleans())
def test_every_page_comes_together_again_whatever_its_bytes_are(
    sources: list[bytes],
    depth: int,
    checks: bool,  # noqa: FBT001 - drawn
) -> None:
    rules = PlanRules(min_bytes=100, max_depth=depth, xml_check=checks)
    with tempfile.TemporaryDirectory() as folder:
        manifest = composed(sources, Path(folder, "esi"), rules)
        found = verify(Path(folder, "esi"))

    assert found.unequal == 0
    assert found.pages == len(sources) == found.equal + found.refused
    assert manifest.volumes.pages == sum(map(len, sources))
    for page, source in zip(manifest.pages, sources, strict=True):
        if re.search(rb"</?esi:|<!--esi", source, re.IGNORECASE):
            assert page.is_refused
            assert page.folder == "whole"


@given(st.integers(0, 1000))
def test_what_pages_share_exactly_is_cut_out_of_them(seed: int) -> None:
    pages = [page.decode() for page in site()]
    source = [page.replace("rain", f"rain {seed} ").encode() for page in pages]
    exact = [one for one in shared_fragments(map(quire.encode, source), min_bytes=200) if one.exact]
    with plan_fragments(pages_of(source)) as plan:
        cuts = plan.cuts.pages

    assert exact
    for fragment in exact:
        rows = zip(
            fragment.members.page,
            fragment.members.byte_start,
            fragment.members.byte_end,
            strict=True,
        )
        for page, start, end in rows:
            assert any(cut.start <= start and end <= cut.end for cut in cuts[page].parts)


@pytest.mark.parametrize("kind", HAZARDS)
def test_a_hazard_is_named_with_its_place(kind: str, tmp_path: Path) -> None:
    start = b"" if kind in {"byte-order-mark", "no-leading-tag"} else b"<html>"
    sources = [*site(), *site(2, start + HAZARDS[kind])]
    manifest = composed(
        [source.replace(b"<h1>", b"").replace(b"</h1>", b"") for source in sources],
        tmp_path / "esi",
    )

    assert [hazard for page in manifest.pages[:4] for hazard in page.hazards] == []
    for page in manifest.pages[4:]:
        assert [(one.kind.value, one.offset) for one in page.hazards][:1] == [(kind, len(start))]
        assert page.is_refused == (kind in REFUSING or page.includes == 0)
    assert verify(tmp_path / "esi").unequal == 0


def test_what_stays_because_of_a_raw_less_than_is_only_what_it_hides(tmp_path: Path) -> None:
    # The cache takes `< 2 <nav>` for a tag: the menu stays, and the footer after it is cut out.
    sources = [page.replace(b"</h1>", b"1 < 2").replace(b"<h1>", b"") for page in site()]
    manifest = composed(sources, tmp_path / "esi")

    assert [page.includes for page in manifest.pages] == [1] * 4
    assert [one.length for one in manifest.fragments] == [len(FOOT)]
    assert [(one.kind.value, one.kept) for one in manifest.pages[0].hazards] == [("open-tag", 1)]
    assert not manifest.pages[0].is_refused


@pytest.mark.parametrize("depth", [1, 3])
def test_what_hazards_leave_in_one_place_alone_is_not_cut_out_there(
    depth: int, tmp_path: Path
) -> None:
    # The menu could be cut out of the first page alone, and the footer of two.
    hidden = [page.replace(b"</h1>", b" < ") for page in site()[1:]]
    dashes = b"<html><!-- x --->" + MENU + FOOT
    manifest = composed(
        [site()[0], hidden[0], dashes], tmp_path / "esi", PlanRules(max_depth=depth)
    )

    assert [(one.length, one.uses) for one in manifest.fragments] == [(len(FOOT), 2)]
    assert [page.includes for page in manifest.pages] == [1, 1, 0]
    assert [one.kind.value for page in manifest.pages for one in page.hazards] == [
        "open-tag",
        "open-comment",
    ]
    assert manifest.volumes.stored < manifest.volumes.pages
    assert verify(tmp_path / "esi").unequal == 0


def test_no_fragment_is_cut_out_at_a_loss_whatever_pages_hold(tmp_path: Path) -> None:
    draw = random.Random(2004)
    parts = [*PIECES, *[MENU, FOOT] * 12]
    for number in range(30):
        sources = [
            b"<p>%d</p>" % page + b"".join(draw.choices(parts, k=draw.randint(1, 9)))
            for page in range(draw.randint(2, 6))
        ]
        manifest = composed(sources, tmp_path / f"{number}")

        assert all(one.uses > 1 for one in manifest.fragments)
        assert manifest.volumes.stored <= manifest.volumes.pages


def test_one_page_is_left_whole(tmp_path: Path) -> None:
    manifest = composed(site(1), tmp_path / "esi")

    assert (manifest.fragments, manifest.pages[0].folder) == ((), "whole")
    assert manifest.volumes.stored == manifest.volumes.moved == manifest.volumes.pages


def test_equal_pages_are_one_file_and_no_fragments(tmp_path: Path) -> None:
    manifest = composed(site(1) * 5, tmp_path / "esi")

    assert manifest.fragments == ()
    assert len(list((tmp_path / "esi").glob("*/*.html"))) == 1
    assert manifest.volumes.stored * 5 == manifest.volumes.pages
    assert verify(tmp_path / "esi").equal == 5


@pytest.mark.parametrize(
    "source", [b"", b"<", b"<!doctype html>", b"\x00", b"{}", b"<frameset></frameset>"]
)
def test_pages_without_a_body_are_left_whole(source: bytes, tmp_path: Path) -> None:
    composed([source, source + b" ", *site()], tmp_path / "esi")
    found = verify(tmp_path / "esi")

    assert (found.pages, found.unequal) == (6, 0)


def test_no_pages_are_no_fragments(tmp_path: Path) -> None:
    assert composed([], tmp_path / "esi").pages == ()
    assert verify(tmp_path / "esi").pages == 0


def test_fragments_nest_as_deep_as_they_may(tmp_path: Path) -> None:
    # Sections of many pages stand in wrappers that two pages have each.
    def page(number: int) -> bytes:
        wrapper = b"<div class=w%d>%s<p>Of two pages: %d</p>%s</div>"
        pair = number // 2
        middle = (
            b"<section>"
            + b"".join(b"<i>pair %d line %d</i>" % (pair, n) for n in range(60))
            + b"</section>"
        )
        return b"<html><h1>%d</h1>" % number + wrapper % (pair, MENU, pair, middle)

    sources = [page(number) for number in range(12)]
    flat = composed(sources, tmp_path / "flat")
    deep = composed(sources, tmp_path / "deep", PlanRules(max_depth=3))

    assert {one.folder for one in flat.fragments} == {"fragments"}
    assert {one.folder for one in deep.fragments} == {"fragments", "templates"}
    assert deep.volumes.stored < flat.volumes.stored
    assert verify(tmp_path / "deep").equal == 12


def nesting(count: int) -> list[bytes]:
    """Pages of two kinds: each has its own section, and all have the footer in it."""
    sections = [
        b"<section>%s%s</section>"
        % (b"".join(b"<a href=/%d>Entry %d of %d</a>" % (n, n, kind) for n in range(90)), FOOT)
        for kind in range(2)
    ]
    return [b"<h1>Day %d</h1>%s<p>%d mm" % (n, sections[n % 2], 7 * n) for n in range(count)]


def test_a_fragment_in_a_fragment_is_on_all_pages_that_have_those(tmp_path: Path) -> None:
    sources = nesting(20)
    name = name_of(FOOT)
    policies = {name: Policy(0, ("Cookie",), "private")}
    rules = PlanRules(max_depth=2)
    with plan_fragments(pages_of(sources), rules=rules, policies=policies) as plan:
        manifest = write_composition(plan, tmp_path / "esi")

    foot = next(one for one in manifest.fragments if one.file == name)
    assert (foot.uses, foot.pages) == (2, 20)
    assert all(page.is_personal for page in manifest.pages)
    # What is private comes with every page.
    templates = sum(
        len((tmp_path / "esi" / page.folder / f"{page.file}.html").read_bytes())
        for page in manifest.pages
    )
    assert manifest.volumes.moved == templates + 20 * len(FOOT)


def sections(draw: st.DrawFn) -> list[bytes]:
    """Different pages with parts in parts, of few kinds."""
    leaf = st.sampled_from([MENU, FOOT, b"<p>Fish</p>" * 20])
    part = st.recursive(
        leaf,
        lambda inner: st.lists(inner, min_size=1, max_size=3).map(
            lambda found: b"<div>%s</div>" % b"".join(found)
        ),
        max_leaves=8,
    )
    pages = draw(st.lists(st.lists(part, max_size=3).map(b"".join), min_size=1, max_size=6))
    return [b"<h1>Day %d</h1>%s" % (n, page) for n, page in enumerate(pages)]


@given(st.composite(sections)(), st.sampled_from([1, 2, 5]))
def test_what_fragments_save_adds_up_and_pages_are_all_that_have_them(
    sources: list[bytes], depth: int
) -> None:
    with plan_fragments(pages_of(sources), rules=PlanRules(min_bytes=100, max_depth=depth)) as plan:
        files = EsiFiles(plan)
        data = {file.name: file.data for file in files}
        manifest = files.manifest

    def inside(name: str) -> set[str]:
        found = {one.decode() for one in re.findall(rb"/([0-9a-f]{32})\.html", data[name])}
        return found.union(*map(inside, found))

    on = [inside(page.file) for page in manifest.pages]
    for one in manifest.fragments:
        assert one.pages == sum(one.file in names for names in on)
    saved = sum(one.saved(manifest.include_bytes) for one in manifest.fragments)
    assert saved == manifest.volumes.pages - manifest.volumes.stored


def test_nothing_of_a_page_gets_into_vcl_or_names(tmp_path: Path) -> None:
    evil = '"; } C{ system("id"); }C /* ../../etc/passwd \n'
    pages = [SourcePage(evil + str(n), evil, body, evil) for n, body in enumerate(site())]
    with plan_fragments(pages, rules=PlanRules(prefix="/q")) as plan:
        write_composition(plan, tmp_path / "esi")

    written = sorted(
        file.relative_to(tmp_path / "esi").as_posix() for file in (tmp_path / "esi").rglob("*.*")
    )
    assert [name for name in written if not re.fullmatch(r"[a-z]+/[0-9a-f]{32}\.html", name)] == [
        "manifest.json",
        "varnish.vcl",
    ]
    vcl = (tmp_path / "esi" / "varnish.vcl").read_text()
    code = re.sub(r'"[^"\n]*"', '""', vcl)
    assert "system" not in code
    assert "passwd" not in code
    # The address itself is in a string, as a browser would send it.
    sent = "/%22;%20}%20C{%20system(%22id%22);%20}C%20/*%20../../etc/passwd%20%0A"
    assert f'" {sent} templates/' in vcl
    assert Manifest.load(tmp_path / "esi").pages[0].url == evil


def test_policies_are_in_the_vcl_for_the_fragments_they_are_for(tmp_path: Path) -> None:
    with plan_fragments(pages_of(site())) as plan:
        names = list(plan.cuts.fragments)
    policies = {names[0]: Policy(60, ("Cookie", "Accept-Language"))}
    with plan_fragments(pages_of(site()), policies=policies) as plan:
        write_composition(plan, tmp_path / "esi")

    vcl = (tmp_path / "esi" / "varnish.vcl").read_text()
    assert f"({names[0]})" in vcl
    assert names[1] not in vcl
    assert 'set beresp.http.Vary = "Cookie, Accept-Language";' in vcl
    assert "set beresp.ttl = 60s;" in vcl
    assert vcl == varnish_vcl(Manifest.load(tmp_path / "esi"))


def test_what_is_there_is_not_replaced_and_only_a_composition_ever_is(tmp_path: Path) -> None:
    foreign = tmp_path / "photos"
    foreign.mkdir()
    (foreign / "cat.jpg").write_bytes(b"cat")
    composed(site(), tmp_path / "esi")
    with plan_fragments(pages_of(site(3))) as plan:
        for folder, force in [(foreign, False), (foreign, True), (tmp_path / "esi", False)]:
            with pytest.raises(PlanError):
                write_composition(plan, folder, force=force)
        assert (foreign / "cat.jpg").read_bytes() == b"cat"
        assert len(Manifest.load(tmp_path / "esi").pages) == 4

        write_composition(plan, tmp_path / "esi", force=True)

    assert len(Manifest.load(tmp_path / "esi").pages) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["esi", "photos"]


def test_what_others_put_into_a_composition_is_not_lost_with_it(tmp_path: Path) -> None:
    composed(site(), tmp_path / "esi")
    (tmp_path / "link").symlink_to("esi")
    with plan_fragments(pages_of(site(3))) as plan:
        for place in ("notes.txt", ".git/config", "fragments/mine.html"):
            path = tmp_path / "esi" / place
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"mine")
            with pytest.raises(PlanError, match="would be lost"):
                write_composition(plan, tmp_path / "esi", force=True)
            assert path.read_bytes() == b"mine"
            path.unlink()
        (tmp_path / "esi" / ".git").rmdir()
        with pytest.raises(PlanError, match="a link, not a folder"):
            write_composition(plan, tmp_path / "link", force=True)
        assert len(write_composition(plan, tmp_path / "esi", force=True).pages) == 3

    assert sorted(path.name for path in tmp_path.iterdir()) == ["esi", "link"]


@pytest.mark.parametrize("call", ["write_bytes", "write_text", "replace"])
@pytest.mark.parametrize("is_there", [False, True])
def test_a_full_disk_leaves_what_was_there_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, *, is_there: bool
) -> None:
    if is_there:
        composed(site(), tmp_path / "esi")
    before = sorted(path.name for path in tmp_path.iterdir())
    worked = getattr(Path, call)

    def fails_at(which: int) -> Callable[..., object]:
        calls = 0

        def maybe(path: Path, *arguments: object, **options: object) -> object:
            nonlocal calls
            calls += 1
            if calls == which:
                raise OSError(errno.ENOSPC, "No space left on device")
            return worked(path, *arguments, **options)

        return maybe

    with plan_fragments(pages_of(site(3))) as plan:
        # The second file, the manifest, the folder that takes the place of the one that is there.
        which = 2 if call != "replace" or is_there else 1
        with monkeypatch.context() as patch:
            patch.setattr(Path, call, fails_at(which))
            with pytest.raises(OSError, match="No space left"):
                write_composition(plan, tmp_path / "esi", force=True)

        assert sorted(path.name for path in tmp_path.iterdir()) == before
        if is_there:
            assert verify(tmp_path / "esi").equal == 4
        assert len(write_composition(plan, tmp_path / "esi", force=True).pages) == 3


def test_the_folder_one_is_in_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with (
        plan_fragments(pages_of(site(3))) as plan,
        pytest.raises(PlanError, match="the current folder"),
    ):
        write_composition(plan, Path())

    assert [path.name for path in tmp_path.iterdir()] == ["here"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "device"])
def test_only_plain_files_are_read(kind: str, tmp_path: Path) -> None:
    composed(site(), tmp_path / "esi")
    fragment = next((tmp_path / "esi" / "fragments").iterdir())
    manifest = tmp_path / "esi" / "manifest.json"
    kept = manifest.rename(tmp_path / "kept.json")
    for path in (fragment, manifest):
        if path == fragment:
            path.rename(tmp_path / "elsewhere.html")
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        elif kind == "device":
            path.symlink_to("/dev/zero")
        else:
            path.symlink_to(tmp_path / ("elsewhere.html" if path == fragment else "kept.json"))

    with pytest.raises(PlanError, match=r"manifest\.json: cannot be read: "):
        verify(tmp_path / "esi")
    manifest.rmdir() if kind == "folder" else manifest.unlink()
    kept.rename(manifest)
    found = verify(tmp_path / "esi")

    assert (found.pages, found.unequal) == (4, 4)
    assert all(fault.reason.startswith(f"fragments/{fragment.name}: ") for fault in found.faults)


def test_a_folder_of_fragments_that_leads_elsewhere_is_not_followed(tmp_path: Path) -> None:
    composed(site(), tmp_path / "esi")
    (tmp_path / "esi" / "fragments").rename(tmp_path / "elsewhere")
    (tmp_path / "esi" / "fragments").symlink_to(tmp_path / "elsewhere")

    assert verify(tmp_path / "esi").unequal == 4


def test_the_length_of_a_page_is_no_reason_to_take_memory(tmp_path: Path) -> None:
    composed(site(), tmp_path / "esi")
    path = tmp_path / "esi" / "manifest.json"
    told = json.loads(path.read_text())
    for length, error in ((1 << 31, None), (1 << 40, "the length of a page")):
        told["pages"][0]["length"] = length
        path.write_text(json.dumps(told))
        if error is None:
            tracemalloc.start()
            assert verify(tmp_path / "esi").unequal == 1
            assert tracemalloc.get_traced_memory()[1] < 1 << 24
            tracemalloc.stop()
        else:
            with pytest.raises(PlanError, match=error):
                verify(tmp_path / "esi")


def tampered(folder: Path, kind: str) -> Path:
    """Do something to a fragment, and give its path."""
    path = max((folder / "fragments").iterdir(), key=lambda file: file.stat().st_size)
    data = path.read_bytes()
    if kind == "gone":
        path.unlink()
    else:
        changed = {
            "byte": data[:-1] + b"!",
            "longer": data + b"!",
            "shorter": data[:-1],
            "huge": data * 999,
        }
        path.write_bytes(changed[kind])
    return path


@pytest.mark.parametrize("kind", ["byte", "longer", "shorter", "huge", "gone"])
def test_a_fragment_that_was_tampered_with_makes_its_pages_unequal(
    kind: str, tmp_path: Path
) -> None:
    composed([*site(), b"<p>alone"], tmp_path / "esi")
    tampered(tmp_path / "esi", kind)
    found = verify(tmp_path / "esi")

    assert (found.pages, found.equal, found.unequal) == (5, 1, 4)
    assert [fault.page for fault in found.faults] == [f"{n}.html" for n in range(4)]


@pytest.mark.parametrize(
    "damage",
    [
        {"format": "other"},
        {"version": 1},
        {"version": 3},
        {"prefix": '"/><script>'},
        {"pages": {}},
        {"pages": [{}]},
        {"max_depth": "1"},
        {"volumes": None},
        {"fragments": [{"file": "../../etc/passwd"}]},
    ],
)
def test_a_damaged_manifest_is_an_error_that_names_it(
    damage: dict[str, object], tmp_path: Path
) -> None:
    composed(site(), tmp_path / "esi")
    path = tmp_path / "esi" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | damage))

    with pytest.raises(PlanError, match=r"manifest\.json: "):
        verify(tmp_path / "esi")


@pytest.mark.parametrize(
    "field",
    ["file", "folder", "sha256", "length", "is_refused", "hazards", "policy", "is_personal"],
)
def test_a_page_of_a_manifest_is_read_strictly(field: str, tmp_path: Path) -> None:
    composed(site(), tmp_path / "esi")
    path = tmp_path / "esi" / "manifest.json"
    told = json.loads(path.read_text())
    told["pages"][1][field] = "../x"
    path.write_text(json.dumps(told))

    with pytest.raises(PlanError, match="damaged"):
        Manifest.load(tmp_path / "esi")


@pytest.mark.parametrize(
    "damage",
    [
        {"ttl_s": -1},
        {"ttl_s": "60"},
        {"vary": 'Cookie"; } C{ system("x"); }C'},
        {"vary": ['Cookie"; } C{ system("x"); }C']},
        {"sharing": "public"},
        {"reason": None},
    ],
)
@pytest.mark.parametrize("where", ["pages", "fragments"])
def test_a_policy_of_a_manifest_is_read_strictly(
    where: str, damage: dict[str, object], tmp_path: Path
) -> None:
    composed(site(), tmp_path / "esi")
    path = tmp_path / "esi" / "manifest.json"
    told = json.loads(path.read_text())
    told[where][1]["policy"] |= damage
    path.write_text(json.dumps(told))

    with pytest.raises(PlanError, match="damaged"):
        Manifest.load(tmp_path / "esi")


def test_reasons_do_not_get_into_vcl(tmp_path: Path) -> None:
    composed(site(), tmp_path / "esi")
    path = tmp_path / "esi" / "manifest.json"
    told = json.loads(path.read_text())
    for one in (*told["pages"], *told["fragments"]):
        one["policy"] |= {"reason": "*/ } evil", "ttl_s": 7, "sharing": "private"}
    path.write_text(json.dumps(told))

    assert "evil" not in varnish_vcl(Manifest.load(tmp_path / "esi"))


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, "\udcff"])
def test_what_is_no_manifest_is_an_error(text: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(PlanError):
        Manifest.load(tmp_path)


def test_a_manifest_is_what_was_written(tmp_path: Path) -> None:
    manifest = composed([*site(), *site(1, b"<!-- --->")], tmp_path / "esi")

    assert Manifest.load(tmp_path / "esi") == manifest


@pytest.mark.parametrize(
    "wrong",
    [{"min_bytes": 60}, {"min_pages": 1}, {"max_depth": 0}, {"max_depth": 6}, {"prefix": "x"}],
)
def test_rules_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        dataclasses.replace(PlanRules(), **wrong)


@pytest.mark.parametrize(
    ("corpus", "count"), [("templates-docs", 60), ("templates-helsingborg", 30)]
)
def test_real_pages_come_together_again(
    corpus: str, count: int, corpus_files: Callable[[str], list[Path]], tmp_path: Path
) -> None:
    files = [file for file in corpus_files(corpus) if file.suffix == ".html"]
    sources = [file.read_bytes() for file in files[:: len(files) // count]]
    manifest = composed(sources, tmp_path / "esi")

    assert verify(tmp_path / "esi").unequal == 0
    assert manifest.volumes.stored < 0.95 * manifest.volumes.pages
