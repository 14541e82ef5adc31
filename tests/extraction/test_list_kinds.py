"""Kinds of lists that are easily taken for others: each page is one kind, told in a few lines."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import quire

_WORDS = ("cod", "hake", "eel", "carp", "tench", "bream", "perch", "pike", "roach")


def found(source: str) -> list[list[str]]:
    """The text of the records of each region, in the order of the page."""
    page = quire.encode(source.encode(), kind="html")
    regions = sorted(quire.records(page), key=lambda region: region.node)
    return [
        [" ".join(" ".join(map(page.text, record)).split()) for record in region.records]
        for region in regions
    ]


def many(item: Callable[[int, str], str]) -> str:
    return "".join(item(at, word) for at, word in enumerate(_WORDS))


def test_sections_with_lists_of_several_kinds_are_several_regions() -> None:
    posts = many(
        lambda at, word: (
            f"<li><a href={at}>All about {word}</a> <span class=day>{at} May</span></li>"
        )
    )
    voices = many(lambda at, word: f"<li>Reader {at} wrote about <a href={at}>the {word}</a></li>")
    years = many(lambda at, word: f"<li><a href={at}>The year {at}</a> with {at} {word}</li>")
    sections = "".join(
        f"<section><h3>{head}</h3><ul>{items}</ul></section>"
        for head, items in (("Posts", posts), ("Voices", voices), ("Years", years))
    )

    assert [len(records) for records in found(f"<div>{sections}</div>")] == [9, 9, 9]


def test_sections_with_lists_of_one_kind_stay_one_region() -> None:
    def section(head: str) -> str:
        items = many(lambda at, word: f"<li><a href={at}>{head} {word}</a> <b>{at} May</b></li>")
        return f"<section><h3>{head}</h3><ul>{items}</ul></section>"

    sections = "".join(map(section, ("Lakes", "Rivers", "Sea")))

    assert [len(records) for records in found(f"<div>{sections}</div>")] == [27]


def test_two_rows_without_classes_are_one_record() -> None:
    rows = many(
        lambda at, word: (
            f"<tr><td>{at}.<td><a href={at}>All about {word}</a> <span>({word}.example)</span>"
            f"<tr><td><td>{at} points by <a href=u>user {at}</a> today | <a href=c>{at} notes</a>"
        )
    )

    (records,) = found(f"<table>{rows}</table>")

    assert len(records) == 9
    assert records[1] == "1. All about hake (hake.example) 1 points by user 1 today | 1 notes"


def test_rows_that_differ_only_in_their_classes_are_records_of_their_own() -> None:
    plain, alternate = "<tr class=r><td class=x>", "<tr class='r alt'><td class='x alt'>"
    rows = many(lambda at, word: f"{alternate if at % 2 else plain}{word}<td>{at} kg</tr>")

    assert [len(records) for records in found(f"<table>{rows}</table>")] == [9]


def test_a_card_with_one_more_class_is_a_record() -> None:
    first = "<div class='card card-wide'><img src=w.png><h2>Whale</h2><p>Large.</p><i>Ada</i></div>"
    cards = many(
        lambda at, word: (
            f"<div class=card><img src={at}.png><h3>{word}</h3><i>by {word} {at}</i></div>"
        )
    )

    assert [len(records) for records in found(f"<div>{first}{cards}</div>")] == [10]


def test_a_paragraph_before_the_first_heading_is_not_in_a_record() -> None:
    parts = many(
        lambda at, word: (
            f"<h3>The {word}</h3><p><img src={at}.png></p><p>The {word} eats grass.</p>"
            f"<p>Price: {at} €. <a href={at}>Buy</a></p>"
        )
    )

    (records,) = found(f"<article><p>We tried all of them.</p>{parts}</article>")

    assert len(records) == 9
    assert records[0] == "The cod The cod eats grass. Price: 0 €. Buy"


@pytest.mark.parametrize(
    ("item", "what"),
    [
        ("<blockquote><p>“The {word} is good.”</p><cite>Reader {at}</cite></blockquote>", "quotes"),
        ("<p>{word} house<br>{at} High Road<br>Phone 555{at}</p>", "addresses"),
        ("<li>Never feed the {word} after {at} o'clock</li>", "rules"),
        (
            "<li><a href={at}>All that readers of this paper know about the {word}</a></li>",
            "titles",
        ),
    ],
)
def test_short_texts_that_repeat_are_records(item: str, what: str) -> None:
    items = many(lambda at, word: item.format(at=at, word=word))

    source = f"<h1>{what}</h1><div>{items}</div><p>{'A few more words about this list. ' * 5}</p>"

    assert [len(records) for records in found(source)] == [9]


def test_settings_are_not_records() -> None:
    rows = many(
        lambda at, word: (
            f"<tr><td><label for=s{at}>Show {word}</label>"
            f"<td><select id=s{at}><option>On<option>Off</select>"
        )
    )

    assert found(f"<form><table>{rows}</table><button>Save</button></form>") == []


def test_prose_with_headings_is_not_a_list_of_paragraphs() -> None:
    text = "<p>The lake is large, and people come from far away to see it in spring.</p>"
    rows = many(lambda at, word: f"<tr><td>{at}<td>{word}<td>{at} kg")
    source = (
        f"<h1>Lake</h1>{text}<div>Contents</div><h2>History</h2>{text}{text}<h2>Fish</h2>"
        f"<table><tr><th>Year<th>Fish<th>Catch{rows}</table><h2>Boats</h2>"
    )

    assert [len(records) for records in found(f"<main>{source}</main>")] == [9]


def test_a_comment_with_many_answers_is_a_record_as_the_others_are() -> None:
    def comment(text: str, answers: str = "") -> str:
        inside = f"<div class=below>{answers}</div>" if answers else ""
        return (
            f"<div class=comment><div class=top><a href=u>{text}</a> <time>today</time></div>"
            f"<div class=body><p>I like the {text}.</p></div>"
            f"<div class=do><button>Like</button><button>Answer</button></div>{inside}</div>"
        )

    def answers(text: str) -> str:
        return "".join(
            comment(f"{text} {at}", comment(f"{text} {at} too", comment(f"not {text} {at}")))
            for at in range(4)
        )

    source = comment("whale", answers("boat")) + many(lambda _, word: comment(word))

    assert [len(records) for records in found(f"<section>{source}</section>")] == [22]
