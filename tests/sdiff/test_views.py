"""Views as data: words, lines, columns, plain values."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire import Rules
from quire.sdiff import OtherChanges, other_changes, passages, unseen_differences
from tests.strategies import html

# Few letters, so that texts have much in common; scripts with and without spaces, marks that combine.
texts = st.text(alphabet="ab .,9'\n東京ก็é\u0301\u200d👩", max_size=40)


def annotate(before: bytes, after: bytes, rules: Rules | None = None) -> quire.Annotation:
    old, new = quire.encode(before, kind="html"), quire.encode(after, kind="html")
    return quire.annotate(old, new, rules or Rules())


@given(texts, texts)
def test_segments_are_both_texts(old: str, new: str) -> None:
    segments = quire.word_changes(old, new)

    assert "".join(part.text for part in segments if part.kind != "inserted") == old
    assert "".join(part.text for part in segments if part.kind != "deleted") == new
    assert (old == new) == all(part.kind == "same" for part in segments)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("9 to 5", "9 to 6", "9 to [5|6]"),
        ("12.3 %", "12.4 %", "[12.3|12.4] %"),
        ("今天天气很好", "今天天气不好", "今天天气[很|不]好"),
        ("It's fine", "It isn't fine", "[It's|It isn't] fine"),
        ("same", "same", "same"),
    ],
)
def test_words_change_as_a_reader_would_say(old: str, new: str, expected: str) -> None:
    drawn = "".join(
        {"same": "{}", "deleted": "[{}|", "inserted": "{}]"}[part.kind].format(part.text)
        for part in quire.word_changes(old, new)
    )

    assert drawn == expected


def test_half_a_surrogate_pair_is_no_trouble() -> None:
    assert quire.word_changes("a \ud800 b", "a \ud800 c")[-1].text == "c"


@pytest.mark.timeout(900)  # quadratic, it would take hours
def test_hostile_texts_are_compared_in_bounded_time() -> None:
    old = " ".join(str(number * number % 97) for number in range(300_000))
    new = " ".join(str(number * number % 89) for number in range(300_000))
    segments = quire.word_changes(old, new)

    assert "".join(part.text for part in segments if part.kind != "inserted") == old


def test_long_texts_are_compared_between_words_that_occur_once() -> None:
    # Beyond any table: 200,000 words, every hundredth another; the rest is found word by word.
    words = [f"w{number}" for number in range(200_000)]
    edited = [f"x{at}" if at % 100 == 50 else word for at, word in enumerate(words)]
    segments = quire.word_changes(" ".join(words), " ".join(edited))

    inserted = [segment.text for segment in segments if segment.kind == "inserted"]
    assert inserted == [word for word in edited if word.startswith("x")]


def test_long_texts_without_such_words_are_one_change() -> None:
    draw = random.Random(13)
    old, new = (" ".join(draw.choices("abcdefgh", k=20_000)) for _ in range(2))
    changed = [segment for segment in quire.word_changes(old, new) if segment.kind != "same"]

    assert [segment.kind for segment in changed] == ["deleted", "inserted"]


@given(html, html)
def test_every_line_of_both_pages_is_in_the_rows_once(before: bytes, after: bytes) -> None:
    annotation = annotate(before, after)
    rows = quire.text_rows(annotation)
    old = [row.old.number for row in rows if row.old and row.kind != "moved_here"]
    new = [row.new.number for row in rows if row.new and row.kind != "moved_away"]

    assert sorted(old) == list(range(1, len(old) + 1))
    assert new == list(range(1, len(new) + 1))
    read = [line for line in annotation.new.text().split("\n") if line.strip(" \t\r\x0c")]
    assert [row.new.text for row in rows if row.new and row.kind != "moved_away"] == read


def test_lines_know_their_nodes() -> None:
    annotation = annotate(b"<p>Fish &amp; <b>chips</b><p>a", b"<p>Fish &amp; <b>peas</b><p>a")
    lines = quire.unified(annotation)[0].lines

    assert [(line.kind, line.text) for line in lines] == [
        ("deleted", "Fish & chips"),
        ("inserted", "Fish & peas"),
        ("same", "a"),
    ]
    assert [annotation.new.text(node) for node in lines[1].nodes] == ["Fish & ", "peas"]
    assert [part.text for part in lines[1].segments if part.kind == "inserted"] == ["peas"]


def test_context_is_what_is_asked_for() -> None:
    before = b"".join(b"<p>line %d" % number for number in range(30))
    after = before.replace(b"line 3<", b"line three<").replace(b"line 20<", b"line twenty<")
    annotation = annotate(before, after)

    assert [len(hunk.lines) for hunk in quire.unified(annotation, context=0)] == [2, 2]
    assert [len(hunk.lines) for hunk in quire.unified(annotation, context=2)] == [6, 6]
    assert [len(hunk.lines) for hunk in quire.unified(annotation, context=50)] == [32]
    assert quire.unified(annotation, context=2)[0].heading == "@@ -2,5 +2,5 @@"
    assert [len(group) for group in quire.side_by_side(annotation, context=None)] == [30]


@pytest.mark.parametrize(
    ("before", "after", "heading"),
    [
        (b"<p>Figs", b"<p>Kiwis", "@@ -1 +1 @@"),
        (b"<p>Figs", b"", "@@ -1 +0,0 @@"),
        (b"", b"<p>Figs<p>Kiwis", "@@ -0,0 +1,2 @@"),
    ],
)
def test_headings_are_written_as_diff_does(before: bytes, after: bytes, heading: str) -> None:
    assert [hunk.heading for hunk in quire.unified(annotate(before, after))] == [heading]


def test_side_by_side_has_each_line_on_its_side() -> None:
    rows = quire.side_by_side(annotate(b"<p>a<p>b<p>c", b"<p>a<p>c"), context=5)[0]

    left = [row.old.text for row in rows if row.old]
    right = [row.new.text for row in rows if row.new]
    assert left == ["a", "b", "c"]
    assert right == ["a", "c"]


def test_lines_outside_of_the_scope_are_not_shown() -> None:
    before = b"<nav>one</nav><div id=m><p>a<p>b</div>"
    after = b"<nav>two</nav><div id=m><p>a<p>c</div>"
    rows = quire.text_rows(annotate(before, after, Rules(only=("#m",))))

    assert [(row.kind, row.new and row.new.text) for row in rows] == [
        ("same", "a"),
        ("changed", "c"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (b'{"a": 1, "b": [2, 3]}', b'{"a": 1, "b": [2, 4]}', "json"),
        (b"one\ntwo\n\nthree\n", b"one\n2\n\nthree\n", "text"),
        (b"<a><b>x</b><c>y</c></a>", b"<a><b>x</b><c>z</c></a>", "xml"),
    ],
)
def test_pages_of_every_kind_have_lines(before: bytes, after: bytes, kind: str) -> None:
    old, new = (quire.encode(page, kind=kind) for page in (before, after))  # type: ignore[arg-type]
    (hunk,) = quire.unified(quire.annotate(old, new), context=0)

    assert [line.kind for line in hunk.lines] == ["deleted", "inserted"]
    assert all(line.nodes for line in hunk.lines)


@given(html, html)
def test_a_report_is_json_and_says_changed_when_it_is(before: bytes, after: bytes) -> None:
    annotation = annotate(before, after)
    found = json.loads(json.dumps(annotation.to_dict()))

    assert found["changed"] == bool(annotation) == bool(found["changes"])
    assert found["schema"] == "quire-changes/1"


def test_a_part_that_is_new_is_one_entry_of_a_report() -> None:
    found = annotate(b"<p>a", b"<p>a<ul><li>1<li>2</ul>").to_dict()

    (entry,) = json.loads(json.dumps(found["changes"]))
    assert entry["kind"] == "inserted"
    assert entry["old"] is None
    assert entry["new"]["name"] == "ul"
    assert entry["new"]["nodes"] == 5
    assert entry["new"]["path"] == "html > body > ul"


# Each of the parts holds all that follow, and each of the rows has an id.
NESTED = b"<?xml version='1.0'?>" + b"".join(b"<a i='%d'><b>t%d</b>" % (i, i) for i in range(8_000))
MOVED = b"<?xml version='1.0'?>" + b"".join(b"<a i='%d'>" % i for i in range(8_000))


@pytest.mark.timeout(900)  # quadratic, it would take hours
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            NESTED + b"</a>" * 8_000,
            MOVED + b"".join(b"<b>t%d</b></a>" % i for i in range(8_000)),
        ),
        (
            b"<!doctype html>" + b"".join(b"<p id=x%d>" % i for i in range(50_000)),
            b"<!doctype html>" + b"".join(b"<p id=y%d>" % i for i in range(50_000)),
        ),
    ],
    ids=["nested moves", "rows with ids"],
)
def test_a_report_is_linear_where_all_changed(old: bytes, new: bytes) -> None:
    annotation = quire.annotate(quire.encode(old), quire.encode(new))

    found = annotation.to_dict()

    assert len(found["changes"]) >= 8_000  # type: ignore[arg-type]


@pytest.mark.timeout(120)  # cubic, it would take minutes
def test_all_paths_of_a_report_find_their_nodes_whatever_the_page_is_like() -> None:
    """Many names, depth and changes: each multiplied the cost of a path by the others."""
    names = "".join(f"<t{i}></t{i}>" for i in range(4_000))
    deep = f"<!doctype html><body>{names}" + "<div>" * 300
    old, new = (
        quire.encode((deep + "".join(f"<p>{word}{i}</p>" for i in range(1_500))).encode())
        for word in ("old", "new")
    )

    entries = json.loads(json.dumps(quire.annotate(old, new).to_dict()["changes"]))

    assert len(entries) >= 1_500
    for entry in entries[::100]:
        for page, side in ((old, entry["old"]), (new, entry["new"])):
            if side is not None:
                (found,) = page.select(side["path"]).tolist()
                assert found in {side["node"], page.parent[side["node"]]}


def test_a_context_below_zero_is_an_error() -> None:
    annotation = annotate(b"<p>a", b"<p>b")

    for view in (quire.unified, quire.side_by_side):
        with pytest.raises(ValueError, match="context is -1; expected"):
            view(annotation, context=-1)


def words(before: bytes, after: bytes, kind: str = "html") -> list[tuple[str, str, str]]:
    """The passages of two pages: kind, place, and both texts as ``[old|new]``."""
    old, new = quire.encode(before, kind=kind), quire.encode(after, kind=kind)  # type: ignore[arg-type]
    drawn = {"same": "{}", "deleted": "[-{}-]", "inserted": "{{+{}+}}"}
    return [
        (
            each.kind,
            each.place,
            "".join(drawn[part.kind].format(part.text) for part in each.segments),
        )
        for each in passages(quire.annotate(old, new))
    ]


def test_words_show_paragraphs_that_came_and_went() -> None:
    found = words(b"<h1>Menu</h1><p>Fish 9.50", b"<p>Fish 9.80<ul><li>Tea and cake</ul>")

    assert found == [
        ("deleted", "html > body > h1", "[-Menu-]"),
        ("edited", "html > body > p", "Fish [-9.50-]{+9.80+}"),
        ("inserted", "html > body > ul > li", "{+Tea and cake+}"),
    ]


def test_words_show_kept_text_in_a_new_wrapper_as_kept() -> None:
    before = b"<p>Fish and chips are served daily<p>Peas are extra, as is the bread"
    after = (
        b"<section><p>Fish and chips are served daily<p>Peas are extra, as is the bread</section>"
    )

    assert words(before, after) == []


def test_words_of_plain_text_have_the_lines_of_the_source() -> None:
    before = b"Fish\n\n\nCod 8.40\nHake 9.10\n"
    after = b"Fish\r\n\r\n\r\nCod 8.60\r\nHake 9.10\r\n\r\nClosed on Sunday\r\n"

    assert [(kind, place) for kind, place, _ in words(before, after, "text")] == [
        ("edited", "line 4"),
        ("inserted", "line 7"),
    ]


def test_words_of_json_have_json_pointers() -> None:
    before = b'{"a/b": {"c~d": [0, {"e": 1}]}, "": 2, "gone": "x"}'
    after = b'{"a/b": {"c~d": [0, {"e": 3}]}, "": 4}'

    assert words(before, after, "json") == [
        ("edited", "/a~1b/c~0d/1/e", "[-1-]{+3+}"),
        ("edited", "/", "[-2-]{+4+}"),
        ("deleted", "/gone", "[-gone: x-]"),
    ]


# Members with equal and with other values, nested in objects and arrays.
_values = st.recursive(
    st.integers(0, 3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner),
    max_leaves=12,
)


def _turned(value: object) -> object:
    """The same value with all members in the opposite order."""
    if isinstance(value, dict):
        return {key: _turned(value[key]) for key in reversed(value)}
    return [_turned(item) for item in value] if isinstance(value, list) else value


@given(_values)
def test_members_in_another_order_are_no_change(value: object) -> None:
    old, new = (
        quire.encode(json.dumps({"root": each}).encode(), kind="json")
        for each in (value, _turned(value))
    )
    annotation = quire.annotate(old, new)

    assert annotation.summary().moved == 0
    assert not annotation
    assert not quire.changed(old, new)
    assert {row.kind for row in quire.text_rows(annotation)} <= {"same"}
    assert annotation.to_dict()["changes"] == []


def test_items_of_an_array_and_members_of_another_object_do_move() -> None:
    for before, after in (
        (b'{"b": 0, "a": [1, 22, 33]}', b'{"a": [22, 33, 1], "b": 0}'),
        (
            b'{"a": {"x": "fish", "y": 1}, "b": {"z": 2}}',
            b'{"a": {"y": 1}, "b": {"x": "fish", "z": 2}}',
        ),
    ):
        old, new = quire.encode(before), quire.encode(after)
        annotation = quire.annotate(old, new)

        assert annotation.summary().moved == 1
        assert quire.changed(old, new)
        moved = {
            row.new.text
            for row in quire.text_rows(annotation)
            if row.kind == "moved_here" and row.new
        }
        assert moved in ({"1"}, {"x: fish"})


def others(before: bytes, after: bytes) -> OtherChanges:
    return other_changes(annotate(before, after))


def test_links_and_images_come_before_other_changes() -> None:
    before = b"<body class=a><p id=x>a<img src=/a.png><a href=/fish>Fish</a><link href=/a.css>"
    after = b"<body class=b><p id=y>a<img src=/b.png><a href=/meat>Fish</a><link href=/b.css>"
    new = quire.encode(after, kind="html")

    found = others(before, after)
    assert [new.node(change.node).tag for change in found] == ["a", "img", "body", "p", "link"]
    assert found.volatile == ()


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("<script nonce=a1>f()</script>", "<script nonce=b2>f()</script>", "nonce"),
        (
            "<meta name=csrf-token content=a1b2c3d4>",
            "<meta name=csrf-token content=e5f6a7b8>",
            "token",
        ),
        (
            "<input name=authenticity_token value=a1b2c3d4>",
            "<input name=authenticity_token value=e5f6a7b8>",
            "token",
        ),
        ("<div data-timestamp=1716000000>", "<div data-timestamp=1716000777>", "time"),
        ("<link href='/a.css?v=1'>", "<link href='/a.css?v=2'>", "query"),
        ("<img src='/a.png?1716'>", "<img src='/a.png?1717'>", "query"),
        ("<a href='/out?token=abcdef1'>x</a>", "<a href='/out?token=abcdef2'>x</a>", "query"),
        ("<!-- at 2026-05-01 09:30:00 -->", "<!-- at 2026-05-01 09:45:00 -->", "time"),
        (
            "<script>k='a8f1e0b2c3d4e5f6a7b8'</script>",
            "<script>k='00f1e0b2c3d4e5f6a7b9'</script>",
            "token",
        ),
    ],
)
def test_values_that_change_at_every_load_are_kept_apart(
    before: str, after: str, kind: str
) -> None:
    found = others(before.encode(), after.encode())

    assert list(found) == []
    assert dict(found.volatile_kinds) == {kind: 1}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<a href='/chapter?v=1'>x</a>", "<a href='/chapter?v=2'>x</a>"),  # another page
        ("<link href='/a.css?v=1'>", "<link href='/b.css?v=2'>"),  # another file
        ("<link href='/a.css?v=1'>", "<link href='/a.css'>"),
        ("<div data-token-use='once a day'>", "<div data-token-use='twice a day'>"),
        ("<input name=price value=9>", "<input name=price value=10>"),
        ("<script nonce=a1 src=/a.js>", "<script nonce=b2 src=/b.js>"),  # not only the nonce
        ("<script nonce=a1>", "<script>"),
        ("<script>let price = 9</script>", "<script>let price = 10</script>"),
        ("<!-- 2026 -->", "<!-- 2027 -->"),
        ("<script>shop-of-fish-v1.run()</script>", "<script>shop-of-fish-v2.run()</script>"),
    ],
)
def test_values_that_mean_something_are_listed(before: str, after: str) -> None:
    found = others(before.encode(), after.encode())

    assert len(list(found)) == 1
    assert found.volatile == ()


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (b"<p>a", b"<p>a", ()),
        (b"<p>a", b"<p>b", None),
        (b"<p class=a>a", b"<p class=b>a", None),
        (b"<p>a</p>", b"<P>a", ("markup",)),
        (b"<p >a", b"<p>a", ("white space",)),
        (b"<p>a b<p>c", b"<p>a\n b<p>c", ("white space",)),
        (b"<p>a</p><p>b</p>", b"<p>a</p>\n<p>b</p>", ("white space",)),
        (b"<p>a<!--x-->", b"<p>a<!--y-->", ("comments",)),
        (b"<p>a<script>f()</script>", b"<p>a<script>g()</script>", ("scripts",)),
        (b"<p>a<style>p{}</style>", b"<p>a", ("styles",)),
        ("<p>é".encode(), "<p>é".encode("latin-1"), ("encoding",)),
        (b"<!doctype html><p>a<!--x-->", b"<!doctype html>\n<p>a<!--y-->", ("comments",)),
    ],
)
def test_what_differs_unseen_is_named(
    before: bytes, after: bytes, expected: tuple[str, ...] | None
) -> None:
    assert unseen_differences(annotate(before, after)) == expected


@given(html, html)
def test_pages_that_differ_unseen_have_the_same_text(before: bytes, after: bytes) -> None:
    annotation = annotate(before, after)
    found = unseen_differences(annotation)

    assert (found == ()) == (annotation.old.decode() == annotation.new.decode()) or annotation
    if found is not None:
        assert annotation.old.text().split() == annotation.new.text().split()


@given(_values, _values)
def test_partners_of_json_are_one_to_one_whatever_the_order(one: object, two: object) -> None:
    old, new = (
        quire.encode(json.dumps({"root": each}).encode(), kind="json") for each in (one, two)
    )
    annotation = quire.annotate(old, new)

    for node, partner in enumerate(annotation.to_old.tolist()):
        assert partner < 0 or annotation.to_new[partner] == node
        assert (partner < 0) == bool(annotation.status(node) & quire.Status.ALONE)
    for node, partner in enumerate(annotation.to_new.tolist()):
        assert partner < 0 or annotation.to_old[partner] == node
        assert (partner < 0) == bool(annotation.status(node, "old") & quire.Status.ALONE)
    assert bool(annotation) == quire.changed(old, new)
    assert bool(annotation) == (one != two)


@pytest.mark.timeout(60)  # quadratic, a minified script would take minutes
def test_long_scripts_are_searched_for_tokens_in_linear_time() -> None:
    script = "<script>" + "a" * 90_000 + "{}</script>"

    assert len(list(others(script.format(1).encode(), script.format(2).encode()))) == 1


def test_a_place_too_deep_for_a_pointer_is_a_node() -> None:
    deep = b'{"a":' * 1_500 + b"%d" + b"}" * 1_500
    ((kind, place, _),) = words(deep % 1, deep % 2, "json")

    assert (kind, place) == ("edited", "node 3001")
