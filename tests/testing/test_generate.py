"""Generated documents are what they say, and edits of them are exactly one."""

from __future__ import annotations

import hashlib

import pytest

import quire
from quire.testing import EDITS, SHAPES, EditKind, Shape, edit, generate

EACH_SHAPE = pytest.mark.parametrize("shape", SHAPES)
EACH_EDIT = pytest.mark.parametrize("kind", EDITS)


@EACH_SHAPE
@pytest.mark.parametrize("nodes", [1, 2, 100, 1_000])
def test_a_document_has_as_many_elements_as_asked_for(shape: Shape, nodes: int) -> None:
    page = quire.encode(generate(shape, nodes, seed=3))

    assert sum(not name.startswith("#") for name in (page.tags[tag] for tag in page.tag)) == nodes
    assert int(page.depth.max()) <= SHAPES[shape].most + 2


def test_documents_are_the_same_everywhere() -> None:
    drawn = b"".join(generate(shape, 500, seed=7) for shape in SHAPES)
    edited = b"".join(edit(generate("mixed", 500, seed=7), kind, seed=7) for kind in EDITS)

    assert hashlib.sha256(drawn).hexdigest()[:16] == "2c70d0b9f8b6b08e"
    assert hashlib.sha256(edited).hexdigest()[:16] == "33e6d037b13ebf15"


def facts(source: bytes) -> dict[str, object]:
    """What an edit leaves alone, or does not."""
    page = quire.encode(source, kind="xml")
    names = [page.tags[tag] for tag in page.tag]
    return {
        "nodes": page.n,
        "names": sorted(names),
        "order": names,
        "attributes": sorted(page.attrs[run] for run in page.attr if run >= 0),
        "texts": sorted(page.contents[content] for content in page.content if content >= 0),
    }


CHANGED: dict[EditKind, set[str]] = {
    "text": {"texts"},
    "attribute": {"attributes"},
    "rename": {"names", "order"},
}


@EACH_SHAPE
@EACH_EDIT
@pytest.mark.parametrize("seed", range(8))
def test_an_edit_changes_one_thing(shape: Shape, kind: EditKind, seed: int) -> None:
    before = generate(shape, 60, seed=seed)
    after = edit(before, kind, seed=seed)
    old, new = facts(before), facts(after)

    assert after != before
    assert quire.changed(quire.encode(before), quire.encode(after))
    different = {fact for fact in old if old[fact] != new[fact]}
    if kind in CHANGED:
        assert different == CHANGED[kind]
    elif kind == "move":
        assert different <= {"order"}
    else:
        more, fewer = (old, new) if kind == "delete" else (new, old)
        assert len(more["names"]) > len(fewer["names"])  # type: ignore[arg-type]
    assert edit(before, kind, seed=seed) == after


@EACH_EDIT
def test_edits_of_seeds_differ(kind: EditKind) -> None:
    before = generate("bushy", 300)

    assert len({edit(before, kind, seed=seed) for seed in range(20)}) > 15


def test_a_digest_is_taken_as_well_as_a_source() -> None:
    source = generate("mixed", 50)

    assert edit(quire.encode(source), "move", 4) == edit(source, "move", 4)


def test_a_move_past_its_equals_is_not_taken_for_one() -> None:
    with pytest.raises(ValueError, match="the document has nothing to move"):
        edit(b"<a><b></b></a>", "move")
    for seed in range(20):
        moved = edit(b"<a><b></b><b></b><c></c></a>", "move", seed)
        assert moved != b"<a><b></b><b></b><c></c></a>"


@pytest.mark.parametrize("kind", ["delete", "move"])
def test_what_cannot_be_edited_is_an_error(kind: EditKind) -> None:
    with pytest.raises(ValueError, match="the document has nothing to"):
        edit(b"<a></a>", kind)


def test_other_documents_and_words_are_refused() -> None:
    with pytest.raises(ValueError, match="not plain XML"):
        edit(b"<a><!-- b --></a>", "text")
    with pytest.raises(ValueError, match="expected text, attribute"):
        edit(b"<a></a>", "twist")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected bushy, mixed, deep"):
        generate("round", 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected 1 or more"):
        generate("deep", 0)
