"""Edit scripts are exact whatever the pairing, and short where the pairing is good."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire import Digest, EditScript
from quire.errors import ScriptError
from quire.sdiff import Delete, Insert, Move, Rename, Update
from tests.strategies import Tree, disguised, html, json_values, plain_trees, written

# Pages of every kind, so that partners may be of different kinds too.
sources = st.one_of(
    html,
    html,
    disguised,
    json_values.map(lambda value: json.dumps(value, indent=1).encode()),
    plain_trees().map(lambda tree: f"<?xml version='1.0'?>\n{written(tree)}".encode()),
    st.text("ab\n ", max_size=40).map(str.encode),
)


def read(source: bytes) -> Digest:
    return quire.encode(source, recover=True)


@st.composite
def pairings(draw: st.DrawFn, old: Digest, new: Digest) -> list[tuple[int, int]]:
    """Draw any one-to-one partners; most in order, because those are the interesting ones."""
    n = min(old.n, new.n)
    same = draw(st.lists(st.integers(1, max(1, n - 1)), unique=True, max_size=n))
    pairs = {node: node for node in same if node < n}
    pairs[0] = 0
    strange = st.tuples(st.integers(1, max(1, old.n - 1)), st.integers(1, max(1, new.n - 1)))
    for x, y in draw(st.lists(strange, max_size=6)):
        if x < old.n and y < new.n and x not in pairs and y not in pairs.values():
            pairs[x] = y
    return sorted(pairs.items())


@given(sources, sources, st.booleans(), st.data())
def test_any_pairing_gives_the_exact_page_and_the_way_back(
    before: bytes,
    after: bytes,
    nodewise: bool,  # noqa: FBT001 - drawn by hypothesis
    data: st.DataObject,
) -> None:
    old, new = read(before), read(after)
    pairs = data.draw(pairings(old, new))

    script = EditScript.of_pairs(old, new, pairs, nodewise=nodewise)

    assert script.apply(old).decode() == after
    assert script.invert().apply(new).decode() == before
    assert script.invert().invert() == script
    assert EditScript.from_json(script.to_json()) == script
    assert len(script) == len(script.actions)
    verbatim = "verbatim" in old.flags | new.flags
    assert script.exact_tree or verbatim


@given(sources, sources)
def test_a_script_makes_the_new_page_and_not_only_its_bytes(before: bytes, after: bytes) -> None:
    old, new = read(before), read(after)

    made = quire.edit_script(old, new).apply(old)

    assert made == new


@given(sources, sources)
def test_a_script_and_its_inverse_do_nothing(before: bytes, after: bytes) -> None:
    old, new = read(before), read(after)
    script = quire.edit_script(old, new)
    both = script | script.invert()

    assert len(both) == 0
    assert both.layout == ()
    assert both.apply(old).decode() == before


@given(plain_trees())
def test_what_is_deleted_and_inserted_again_is_kept(tree: Tree) -> None:
    # The third page is not the first, so that it is compared and not recognised.
    part = f"<div>{written(tree)}</div>"
    first, second, third = (read(f"<p>a</p>{page}".encode()) for page in (part, "", part + "<hr>"))
    both = quire.edit_script(first, second) | quire.edit_script(second, third)

    assert [str(action).split()[:2] for action in both] == [["insert", "hr"]]
    assert both.apply(first) == third


@given(html, html, html)
def test_two_scripts_compose_to_one(first: bytes, second: bytes, third: bytes) -> None:
    a, b, c = read(first), read(second), read(third)
    one, two = quire.edit_script(a, b), quire.edit_script(b, c)

    both = one | two
    stored = EditScript.from_json(one.to_json()).compose(
        EditScript.from_json(two.to_json()), base=a
    )

    assert both == stored
    assert both.apply(a).decode() == third
    assert both.invert().apply(c).decode() == first


def paired(before: str, after: str, pairs: Iterable[tuple[str, str]]) -> EditScript:
    """Make the script in which elements with these ids are partners, and what is around them."""
    old, new = quire.encode(before.encode()), quire.encode(after.encode())
    known = [(0, 0), (1, 1), (2, 2), (3, 3)]  # document, html, head, body
    for x, y in pairs:
        (node,), (other,) = old.select(f"#{x}").tolist(), new.select(f"#{y}").tolist()
        inside = [(node + i, other + i) for i in range(old.size[node])]
        known.extend(inside if old.size[node] == new.size[other] else inside[:1])
    script = EditScript.of_pairs(old, new, dict(known).items())
    assert script.apply(old) == new
    assert script.invert().apply(new) == old
    return script


def kinds(script: EditScript) -> list[str]:
    return [type(action).__name__[0] for action in script]


A, B, C, D = (f"<p id={name}>{name}</p>" for name in "abcd")
SAME = [(name, name) for name in "abcd"]

SIBLINGS = [
    (A + B + C + D, D + A + B + C, "M"),
    (A + B + C + D, D + C + B + A, "MMM"),
    (A + B + C + D, C + D + A + B, "M"),
    (A + B + C + D, f"{A}<div>{B}{C}</div>{D}", "I"),
    (f"{A}<div>{B}{C}</div>{D}", A + B + C + D, "D"),
    (f"{A}<div>{B}{C}</div>{D}", f"{A}<section>{B}{C}</section>{D}", "ID"),
    (A + B + C + D, f"{A}<div><i>new</i>{B}{C}<b>new</b></div>{D}", "I"),
    (A + B + C + D, f"<div><b>{A}</b><i>{B}</i></div>{C}{D}", "IM"),
    (f"<div><b>{A}</b><i>{B}</i></div>{C}{D}", A + B + C + D, "MD"),
    (A + B + C + D, f"{C}{D}<div>{A}\n {B}</div>", "MI"),
    (f"{A} {B} {C} {D}", f"{A}\n<ul>\n{B}\n{C}\n</ul>\n{D}", "I"),
    (f"<i>{A}</i><i>{B}</i><i>x</i>{C}{D}", A + B + C + D, "DD"),
    (A + B + C + D, f"<i>{A}</i> <i>x</i> <i>{B}</i><i>{C}</i>{D}", "III"),
    (A + B + C + D, f"{A}{B}<hr>\n<hr>{C}<hr> <hr>{D}", "II"),
    (f"{A} <hr> <hr> {B} {C} {D}", f"{A} {B} {C} {D}", "D"),
    (f"{A} {B} {C} {D}", f"{C} {D} {A} {B}", "M"),
]


@pytest.mark.parametrize(("before", "after", "expected"), SIBLINGS)
def test_siblings_that_come_go_or_move_together_are_one_action(
    before: str, after: str, expected: str
) -> None:
    assert kinds(paired(before, after, SAME)) == list(expected)


def test_a_parent_and_its_child_may_change_places() -> None:
    script = paired(
        "<div id=x><section id=y><hr></section></div>",
        "<section id=y><div id=x><hr></div></section>",
        [("x", "x"), ("y", "y")],
    )

    assert len(script) <= 4


def test_what_is_moved_into_what_is_inserted_is_one_move() -> None:
    script = paired(
        f"<div id=x>{A}</div><div id=y>{B}{C}</div>",
        f"<div id=x>{A}<ul><li>{B}{C}</li></ul></div><div id=y></div>",
        [*SAME[:3], ("x", "x"), ("y", "y")],
    )

    assert kinds(script) == ["I", "M"]


def test_all_that_changed_on_one_node_is_one_action() -> None:
    old, new = quire.encode(b"<p class=a>x</p>"), quire.encode(b"<div class=b></div>")

    script = EditScript.of_pairs(old, new, [(node, node) for node in range(5)])

    rename, delete = script.actions
    assert isinstance(rename, Rename)
    assert (rename.name.old, rename.name.new) == ("p", "div")
    assert rename.attributes is not None
    assert (rename.attributes.old, rename.attributes.new) == (b" class=a", b" class=b")
    assert isinstance(delete, Delete)


def test_a_text_may_become_an_element() -> None:
    old, new = quire.encode(b"<p>x</p>"), quire.encode(b"<p><i>y</i></p>")
    same = [(node, node) for node in range(6)]

    script = EditScript.of_pairs(old, new, same, nodewise=True)

    assert kinds(script) == ["R", "I"]
    assert script.node_edits == 2
    assert script.apply(old) == new


LAYERS = [
    ("indent", "<div><p>a</p><p>b</p></div>", "<div>\n  <p>a</p>\n <p>b</p>\n</div>", "layout"),
    ("references", "<p>a &amp; b</p>", "<p>a &#38; b</p>", "layout"),
    ("capitals", "<DIV>a</DIV>", "<div>a</div>", "layout"),
    ("quotes", "<p class=a id=b>x</p>", "<p id='b'  class=\"a\">x</p>", "layout"),
    ("a slash", "a<br>b", "a<br/>b", "layout"),
    ("end tags", "<p>a</p><p>b</p>", "<p>a<p>b", "layout"),
    ("start tags", "<p>a</p>", "<html><body><p>a</p></body></html>", "layout"),
    ("a mark", "<p>x", "\ufeff<p>x", "residual"),
    ("a stray end tag", "<p>x</p>", "<p>x</p></b>", "residual"),
    ("a space in an end tag", "<p>x</p><p>y</p><p>z</p>", "<p>x</p ><p>y</p><p>z</p>", "residual"),
]


@pytest.mark.parametrize(
    ("before", "after", "layer"), [case[1:] for case in LAYERS], ids=[case[0] for case in LAYERS]
)
def test_what_a_reader_does_not_see_is_not_an_action(before: str, after: str, layer: str) -> None:
    old, new = quire.encode(before.encode()), quire.encode(after.encode())

    script = quire.edit_script(old, new)

    assert len(script) == 0
    assert bool(script.layout) == (layer == "layout") or layer == "residual"
    assert bool(script.residual["strays"]) == (layer == "residual")
    assert script.exact_tree
    assert script.apply(old) == new
    assert script.invert().apply(new) == old


def test_a_page_that_keeps_its_source_is_made_by_a_patch() -> None:
    old = quire.encode(b"<p>old</p>" * 50)
    new = quire.encode(b"\xff\xfe<\0p\0>\0\x00\xd8x\0")
    assert "verbatim" in new.flags

    script = quire.edit_script(old, new)

    assert not script.exact_tree
    assert "patched" in repr(script)
    assert script.apply(old) == new
    assert script.invert().apply(new) == old


def test_trees_that_were_not_parsed_have_scripts_too() -> None:
    old = Digest.from_columns([2, 0, 0], ["a", "b", "c"], contents=[None, "x < y", None])
    new = Digest.from_columns(
        [3, 0, 0, 0],
        ["a", "b", "#comment", "c"],
        attributes=[None, {"id": "1"}, None, None],
        contents=[None, "x > y", "<!- & note", "z"],
    )

    script = quire.edit_script(old, new)

    assert script.apply(old) == new
    assert script.invert().apply(new) == old


def test_fragments_and_character_sets_are_read_again_as_they_were() -> None:
    pages = [
        quire.encode(b"<td>a<td>b", fragment="tr"),
        quire.encode(b"<path/><g>x", fragment="svg g"),
        quire.encode(b"a\0b", fragment="svg path"),
        quire.encode("<p>é".encode("latin-1"), encoding="latin1"),
        quire.encode("<p>ж".encode("koi8-r"), content_type="text/html; charset=koi8-r"),
        quire.encode("<p>é".encode("utf-16")),
        quire.encode(b"<noscript><p>x</noscript>", scripting=False),
    ]

    for old in pages:
        for new in pages:
            assert quire.edit_script(old, new).apply(old) == new


def test_a_script_without_old_values_has_no_way_back() -> None:
    old, new = quire.encode(b"<p>secret<p>b"), quire.encode(b"<p>b<p>c")

    script = quire.edit_script(old, new, invertible=False)

    assert "secret" not in script.to_json()
    assert script.apply(old) == new
    with pytest.raises(ScriptError, match="cannot be inverted"):
        script.invert()
    assert [str(action) for action in script]


def test_a_script_is_for_one_page() -> None:
    old, new = quire.encode(b"<p>a"), quire.encode(b"<p>b")
    script = quire.edit_script(old, new)

    with pytest.raises(ScriptError, match="source signature"):
        script.apply(new)
    with pytest.raises(ScriptError, match=r"read as html with 6 nodes .* read as xml"):
        script.apply(quire.encode(b"<p>a", kind="xml", recover=True))
    with pytest.raises(ScriptError, match="first script gives"):
        script.compose(script)
    with pytest.raises(ScriptError, match="base"):
        EditScript.from_json(script.to_json()).compose(script.invert())


def test_what_moved_twice_moved_once() -> None:
    first = quire.encode(f"{A}{B}{C}{D}".encode())
    second = quire.encode(f"{B}{A}{C}{D}".encode())
    third = quire.encode(f"{B}{C}{D}{A}".encode())

    def moving(old: Digest, new: Digest) -> EditScript:
        same = [(0, 0), (1, 1), (2, 2), (3, 3)]
        for name in "abcd":
            (x,), (y,) = old.select(f"#{name}").tolist(), new.select(f"#{name}").tolist()
            same.extend([(x, y), (x + 1, y + 1)])
        return EditScript.of_pairs(old, new, same)

    one, two = moving(first, second), moving(second, third)

    assert kinds(one | two) == ["M"]
    assert len(one | one.invert()) == 0


def test_scripts_are_values() -> None:
    old, new = quire.encode(b"<p>a<p>b"), quire.encode(b"<p>a<p class=x>c<p>d")
    script = quire.edit_script(old, new)

    again = pickle.loads(pickle.dumps(script))  # noqa: S301 - our own bytes

    assert again == script
    assert hash(again) == hash(script)
    assert script != script.invert()
    assert script != "script"
    assert again.where(again.actions[0]) is None
    assert script.old.signature == old.signatures.source
    assert script.new == script.invert().old
    assert again.apply(old) == new


def test_actions_print_themselves() -> None:
    old = quire.encode(f"{A}<div>{B}{C}</div>".encode())
    same = [(0, 0), (1, 1), (2, 2), (3, 3)]
    actions = [
        *EditScript.of_pairs(old, quire.encode(f"{A}<hr><p class=x>y".encode()), [*same, (4, 4)]),
        *paired(f"{A}{B}{C}{D}", f"{C}{D}{A}{B}", SAME),
        *quire.edit_script(quire.encode(b"<p>a"), quire.encode(b"<p class=x>b")),
    ]

    assert [str(action) for action in actions] == [
        "insert #text 5 'a' in 4, first",
        "insert hr 6 'y' (3 nodes) in 3, after 4",
        "delete #text 5 'a' in 4, first",
        "delete div 6 'b' (5 nodes) in 3, after 4",
        "move p 8→4 and 1 more in 3, first",
        "update p 4: '' to 'class=x'",
        "update #text 5: 'a' to 'b'",
    ]
    assert {type(action) for action in actions} == {Insert, Delete, Move, Update}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # A row behind one without its end tags: the white space between them becomes part of a text.
        (b"<table><tr><td>14.60</table>", b"<table><tr><td>14.60\n<tr><td>21.00</table>"),
        (b"<p>a b", b"<p>a  b"),
        (b"<p>a b", b"<p>a\xc2\xa0b"),
        (b"<p class='a b'>x", b"<p class='a  b'>x"),
        (b"<p>" + b"long " * 99 + b"a", b"<p>" + b"long " * 99 + b"b"),
    ],
)
def test_the_two_sides_of_an_update_look_different(old: bytes, new: bytes) -> None:
    said = [str(action) for action in quire.edit_script(quire.encode(old), quire.encode(new))]
    updates = [action.split(": ", 1)[1] for action in said if action.startswith("update")]

    assert updates
    for update in updates:
        before, after = update.split(" to ")
        assert before != after


def test_a_budget_is_any_number_that_is_not_negative() -> None:
    old, new = quire.encode(b"<p>Fish<p>Chips"), quire.encode(b"<p>Fish<p>Peas")

    for max_steps in (0, 2**64):
        assert len(quire.edit_script(old, new, exact=True, max_steps=max_steps)) == 1
    with pytest.raises(ValueError, match="max_steps is -1; expected 0 or more"):
        quire.edit_script(old, new, max_steps=-1)


def test_large_and_deep_pages_have_scripts() -> None:
    rows = [b"<tr><td>row %d</td><td>%d</td></tr>\n" % (row, row * 7) for row in range(16_000)]
    deep = b"<a>" * 20_000 + b"%d" + b"</a>" * 20_000
    pairs = [
        (b"<table>" + b"".join(rows), b"<table>" + b"".join(reversed(rows))),
        (b"<table>" + b"".join(rows), b"<table>" + b"".join(rows[::2])),
        (b"", b"<table>" + b"".join(rows)),
        (b"<?xml version='1.0'?>" + deep % 1, b"<?xml version='1.0'?>" + deep % 2),
    ]

    for before, after in pairs:
        old, new = (quire.encode(source) for source in (before, after))
        script = quire.edit_script(old, new)
        assert script.apply(old) == new
        assert script.invert().apply(new) == old
        assert EditScript.from_json(script.to_json()) == script
