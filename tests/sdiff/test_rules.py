"""Each rule with a pair that differs only in what it ignores, and one that differs in more."""

from __future__ import annotations

import pytest

import quire
from quire import Rules

# The rule, what differs only in what it ignores, and what differs in more.
CASES = {
    "only": (
        Rules(only=("#main",)),
        (b"<nav>1</nav><div id=main>a</div>", b"<nav>2</nav><div id=main>a</div>"),
        (b"<div id=main>a</div>", b"<div id=main>b</div>"),
    ),
    "without": (
        Rules(without=(".ad", "nav")),
        (b"<p>a<div class=ad>Buy</div>", b"<p>a<div class=ad>Sell</div>"),
        (b"<p>a<div class=ad>Buy</div>", b"<p>b<div class=ad>Buy</div>"),
    ),
    "ignore_space": (
        Rules(ignore_space=True),
        (b"<div><p>a  b </p>\n  <p>c</p></div>", b"<div><p>a\nb</p><p> c</p> </div>"),
        (b"<p>a b</p>", b"<p>ab</p>"),
    ),
    "ignore_case": (
        Rules(ignore_case=True),
        (b"<p title=Open>OPEN</p>", b"<p title=open>Open</p>"),
        (b"<p>Open</p>", b"<p>Opened</p>"),
    ),
    "ignore_attributes": (
        Rules(ignore_attributes=("nonce", "data-*")),
        (b"<p nonce=1 data-a=1 data-b=2 class=x>", b"<p nonce=2 data-a=3 class=x>"),
        (b"<p nonce=1 class=x>", b"<p nonce=1 class=y>"),
    ),
    "ignore_text": (
        Rules(ignore_text=(r"\d+ visitors", r"\b\d\d:\d\d\b")),
        (b"<p>17 visitors at 09:15", b"<p>18 visitors at 10:00"),
        (b"<p>17 visitors today", b"<p>17 visitors yesterday"),
    ),
    "ignore_order": (
        Rules(ignore_order=True),
        (
            b"<ul><li>Apples and pears<li>Figs and plums<li>Tea with milk</ul>",
            b"<ul><li>Tea with milk<li>Apples and pears<li>Figs and plums</ul>",
        ),
        (
            b"<ul><li>Apples and pears<li>Figs and plums</ul>",
            b"<ul><li>Figs and plums<li>Apples and quinces</ul>",
        ),
    ),
    "tolerance": (
        Rules(tolerance=(0.0, 0.01)),
        (b"<td>$1,200.50 (12.3 %)", b"<td>$1,201.00 (12.4 %)"),
        (b"<td>$1,200.50", b"<td>$1,300.50"),
    ),
}
EACH = pytest.mark.parametrize("name", CASES)


@EACH
def test_a_rule_forgives_what_it_names(name: str) -> None:
    rules, (before, after), _ = CASES[name]
    old, new = quire.encode(before, kind="html"), quire.encode(after, kind="html")

    assert quire.changed(old, new)
    assert not quire.changed(old, new, rules=rules)
    assert not quire.annotate(old, new, rules)
    assert list(quire.annotate(old, new, rules).changes()) == []
    assert quire.unified(quire.annotate(old, new, rules)) == []


@EACH
def test_a_rule_forgives_nothing_else(name: str) -> None:
    rules, _, (before, after) = CASES[name]
    old, new = quire.encode(before, kind="html"), quire.encode(after, kind="html")

    assert quire.changed(old, new, rules=rules)
    assert quire.annotate(old, new, rules)


def test_a_single_string_is_one_selector() -> None:
    assert Rules(only="p b").only == ("p b",)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "tolerance",
    [
        *((-1.0, 0.0), (0.0, float("nan")), (float("inf"), 0.0)),
        *((1,), (1, 2, 3), 5, "12", ("1", "2"), (None, 1)),
    ],
)
def test_a_tolerance_is_a_difference_and_a_share(tolerance: object) -> None:
    with pytest.raises(ValueError, match="both 0 or more") as caught:
        Rules(tolerance=tolerance)  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"tolerance is {tolerance!r}; expected")


def test_an_element_that_is_left_out_takes_the_white_space_around_it_along() -> None:
    old = quire.encode(b"<body>\n<p>a</p>\n<p>b</p>\n")
    new = quire.encode(b"<body>\n<p>a</p>\n<div class=ad>Buy</div>\n<p>b</p>\n")

    assert quire.changed(old, new)
    assert not quire.changed(old, new, rules=Rules(without=(".ad",)))


def test_numbers_in_attributes_are_compared_exactly() -> None:
    old, new = quire.encode(b"<p data-price=1.00>"), quire.encode(b"<p data-price=1.01>")

    assert quire.changed(old, new, rules=Rules(tolerance=(0.5, 0.0)))


@pytest.mark.parametrize("rules", [Rules(only=("p[",)), Rules(without=(":nope(",))])
def test_a_rule_that_cannot_be_read_is_an_error_that_names_it(rules: Rules) -> None:
    asked = (*rules.only, *rules.without)[0]
    with pytest.raises(quire.SelectorError) as caught:
        quire.annotate(quire.encode(b"<p>a"), quire.encode(b"<p>b"), rules)

    assert caught.value.selector == asked


@pytest.mark.parametrize(
    ("pattern", "offset", "message"),
    [
        ("(", 0, "unclosed group"),
        ("a\n é[", 4, "unclosed character class"),
        ("a(?=b)", 1, "look-around"),
        ("(a{1000}){1000}", None, "too large: compiled, it takes more than 1048576 bytes"),
        ("a" * 70_000, None, "70000 bytes long, but the limit is 65536"),
    ],
)
def test_a_pattern_that_cannot_be_read_is_an_error_of_one_line_that_names_it(
    pattern: str, offset: int | None, message: str
) -> None:
    with pytest.raises(quire.PatternError) as caught:
        quire.changed(quire.encode(b"a"), quire.encode(b"b"), rules=Rules(ignore_text=(pattern,)))

    assert (caught.value.pattern, caught.value.offset) == (pattern, offset)
    told = str(caught.value)
    assert told.startswith('pattern "')
    assert message in told
    assert len(told.splitlines()) == 1
    assert len(told) < 200


def test_what_is_out_of_scope_has_a_status_of_its_own() -> None:
    page = quire.encode(b"<nav>x</nav><p>y</p>")
    annotation = quire.annotate(page, page, Rules(only=("p",)))

    assert annotation.status(page.select("nav")[0]) == quire.Status.OUTSIDE
    assert annotation.status(page.select("p")[0]) == quire.Status(0)
