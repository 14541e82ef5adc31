"""What people read says what happened, and text of a page stays text."""

from __future__ import annotations

import email
import email.policy
import json
import re
from datetime import UTC, datetime
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html

from quire.sentinels.form.reading import PLACEHOLDERS
from quire.sentinels.notices import Difference, Differences, compose, tag_feed, watch_feed
from quire.sentinels.notices.channels.mail import write_mail
from quire.sentinels.notices.differences import MOST_CHARACTERS
from quire.sentinels.notices.escaping import chat, chat_address, header, one_line
from quire.sentinels.notices.message import (
    MOST_CHAT,
    MOST_JSON,
    MOST_SUBJECT,
    MOST_TEXT,
    MOST_WRITTEN,
    Message,
)
from tests.sentinels.notices.events import HOSTILE, START, event, hostile_event

BASE = "https://quire.example/"
EVERYTHING = " | ".join(f"{{{name}}}" for name in PLACEHOLDERS)
TEXTS = ["", EVERYTHING, "{changes}\n\n{added}{removed}"]
# Elements and attributes that we write ourselves.
OURS = {
    "html": {"lang"}, "head": set(), "meta": {"charset"}, "title": set(), "body": set(),
    "div": {"style"}, "h2": set(), "p": set(), "br": set(), "ul": set(), "li": set(),
    "ins": set(), "del": set(), "hr": set(), "a": {"href"},
}  # fmt: skip
ATOM = "{http://www.w3.org/2005/Atom}"
EACH_TEXT = pytest.mark.parametrize(
    ("hostile", "text"),
    list(product(HOSTILE, TEXTS)),
    ids=[f"{n}-{m}" for n, m in product(range(len(HOSTILE)), range(len(TEXTS)))],
)
# Aimed at the characters that mean something somewhere.
ODD = st.text(
    st.sampled_from(list("<>&\"'{}nameurl@#*_`[]()|\\\r\n\t\x00\x1b\x85\u2028\u202e\ud83d"))
)


def check_html(document: str) -> None:
    """Check that a document has our elements and attributes only, and links only to the web."""
    for element in html.document_fromstring(document).iter():
        assert isinstance(element.tag, str), "a comment or an instruction"
        assert set(element.attrib) <= OURS[element.tag]
        assert element.get("href", BASE).startswith("https://")
        assert element.get("style", "white-space: pre-wrap") == "white-space: pre-wrap"


def check_lines(text: str) -> None:
    """Check that a text has no control characters other than line ends."""
    assert not re.search(
        r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", text
    )
    text.encode("utf-8")


def check_chat(text: str) -> None:
    """Check that a text has nothing that a chat service reads as markup or as a mention."""
    assert not re.search(r"@(?!\u200b)", text)
    # `-`, `+` and `~` at the start of a line are our own.
    assert not re.search(r"[*`|<>\[\]\\]|(?<!^)~|(?<!\S)#(?!\u200b)", text, re.MULTILINE)


# ------------------------------------------------------------ the words


def test_the_default_text_has_name_address_time_changes_and_link() -> None:
    message = compose([event()], base_url=BASE)

    assert message.subject == "Price of fish changed"
    assert message.text == (
        "Price of fish changed\n"
        "https://example.org/fish\n"
        "2026-05-17 09:31 UTC\n"
        "\n"
        "- Fish 8.40\n"
        "+ Fish 8.60\n"
        "and 2 more changes\n"
        "\n"
        f"{BASE}events/{event().id}"
    )


def test_placeholders_are_replaced_and_other_braces_stay() -> None:
    text = "{name}: {removed} to {added}, {{url}} {link} {unknown}"
    message = compose([event()], text=text, base_url=BASE)

    assert message.text == (
        "Price of fish: Fish 8.40 to Fish 8.60, {https://example.org/fish} "
        f"{BASE}events/{event().id} {{unknown}}"
    )


@pytest.mark.parametrize(
    ("kind", "subject"),
    [
        ("error", "Price of fish: cannot be checked"),
        ("recovered", "Price of fish: can be checked again"),
        ("lost", "Price of fish: the watched part is gone"),
        ("moved", "Price of fish: the watched part was found at another place: please confirm"),
    ],
)
def test_errors_are_told_as_well_as_changes(kind: str, subject: str) -> None:
    told = event(kind=kind, reason="no answer after 60 s", differences=Differences())
    message = compose([told])

    assert message.subject == subject
    assert "no answer after 60 s" in message.text
    assert "no answer after 60 s" in message.html
    assert "no answer after 60 s" in message.chat
    assert message.data["events"][0]["reason"] == "no answer after 60 s"


def test_changes_of_links_and_moved_parts_are_said_in_words() -> None:
    changes = Differences(
        (
            Difference("edited", "a", "href", "/menu", "/food"),
            Difference("moved", "p", "element", "#a > p", "#b > p"),
            Difference("deleted", "li", "text", "Hake", None),
        )
    )
    message = compose([event(differences=changes)], text="{changes}")

    assert message.text.splitlines() == [
        "- href: /menu",
        "+ href: /food",
        "~ moved: #a > p → #b > p",
        "- Hake",
    ]


def test_several_events_are_one_message_with_one_id() -> None:
    events = [event(n, name=f"Fish {n}") for n in range(3)]
    message = compose(events, ident="p1", text="{name}!")

    assert message.subject == "3 notices: Fish 0, Fish 1, Fish 2"
    assert message.text == "Fish 0!\n\n---\n\nFish 1!\n\n---\n\nFish 2!"
    assert message.chat == "Fish 0!\n\nFish 1!\n\nFish 2!"
    assert message.data["id"] == "p1"
    assert [each["id"] for each in message.data["events"]] == [each.id for each in events]


def test_the_json_has_the_structured_difference() -> None:
    data = json.loads(compose([event()], base_url=BASE).json())

    assert data["schema"] == "quire-notice/1"
    assert data["events"][0]["differences"] == {
        "entries": [
            {
                "kind": "edited",
                "path": "html > body > p",
                "what": "text",
                "before": "Fish 8.40",
                "after": "Fish 8.60",
            }
        ],
        "left_out": 2,
    }
    assert data["events"][0]["link"] == f"{BASE}events/{event().id}"


# ------------------------------------------------------------ text stays text


@EACH_TEXT
def test_hostile_text_stays_text_in_plain_text_and_subjects(hostile: str, text: str) -> None:
    message = compose([hostile_event(hostile)] * 2, text=text, base_url=BASE)

    check_lines(message.text)
    check_lines(message.subject)
    assert "\n" not in message.subject
    assert len(message.subject) <= MOST_SUBJECT


@EACH_TEXT
def test_hostile_text_stays_text_in_html(hostile: str, text: str) -> None:
    message = compose([hostile_event(hostile)] * 2, text=text, base_url=BASE)

    check_html(f"<html><body>{message.html}</body></html>")
    check_lines(message.html)


@EACH_TEXT
def test_hostile_text_stays_text_in_json(hostile: str, text: str) -> None:
    made = hostile_event(hostile)
    data = json.loads(compose([made], text=text, base_url=BASE).json().decode("utf-8"))

    name = hostile.encode("utf-8", "replace").decode("utf-8")
    assert data["events"][0]["name"] == name
    assert set(data) == {"schema", "id", "subject", "events"}
    assert set(data["events"][0]) == {*made.to_dict(), "link"}


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_stays_text_in_chats(hostile: str) -> None:
    message = compose([hostile_event(hostile)] * 2, text="{name} {changes} {added} {removed} {url}")

    check_lines(message.chat)
    check_chat(message.chat)
    check_chat(chat(message.subject))


@EACH_TEXT
def test_hostile_text_stays_text_in_mails(hostile: str, text: str) -> None:
    message = compose([hostile_event(hostile)], text=text, base_url=BASE)
    data = write_mail(message, "quire@example.net", "me@example.org", START).as_bytes()
    mail = email.message_from_bytes(data, policy=email.policy.default)

    assert {name.lower() for name in mail} == {
        "from", "to", "subject", "date", "message-id", "auto-submitted", "mime-version",
        "content-type",
    }  # fmt: skip
    assert len(mail.keys()) == 8
    assert mail["To"] == "me@example.org"
    assert mail["Message-ID"] == f"<{message.id}@example.net>"
    # Folding may add spaces.
    assert mail["Subject"].split() == header(message.subject).split()
    parts = [part.get_content_type() for part in mail.walk()]
    assert parts == ["multipart/alternative", "text/plain", "text/html"]
    document = mail.get_body(("html",)).get_content()  # type: ignore[union-attr]  # listed above
    check_html(document)
    assert all(len(line) <= 998 for line in data.split(b"\r\n"))
    assert b"\n" not in data.replace(b"\r\n", b"")


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_stays_text_in_feeds(hostile: str) -> None:
    made = hostile_event(hostile)
    for data in (
        watch_feed(hostile, hostile, [made], feed_url=BASE + "feed", base_url=BASE),
        tag_feed(hostile, [made, made], feed_url=hostile),
    ):
        root = etree.fromstring(data, etree.XMLParser(resolve_entities=False))

        assert root.tag == f"{ATOM}feed"
        assert {each.tag.removeprefix(ATOM) for each in root.iter()} <= {
            "feed", "id", "title", "updated", "author", "name", "link", "entry", "published",
            "category", "content",
        }  # fmt: skip
        for link in root.iter(f"{ATOM}link"):
            assert link.get("href", "").startswith("https://")
        for content in root.iter(f"{ATOM}content"):
            check_html(f"<html><body>{content.text}</body></html>")


@given(ODD, ODD)
def test_any_text_stays_text_everywhere(first: str, second: str) -> None:
    made = hostile_event(first + second)
    message = compose([made], text=second + EVERYTHING, base_url=BASE)

    check_html(f"<html><body>{message.html}</body></html>")
    check_lines(message.text)
    json.loads(message.json())
    etree.fromstring(watch_feed(first, second, [made]))
    write_mail(message, "quire@example.net", "me@example.org", START).as_bytes()
    check_chat(compose([made], text="{name}{changes}{url}").chat)


def test_text_of_a_page_that_looks_like_a_placeholder_is_not_replaced() -> None:
    made = event(name="{link}{url}", differences=Differences())
    message = compose([made], text="{name}", base_url=BASE)

    assert message.text == "{link}{url}"
    assert "quire.example" not in message.html


def test_an_address_that_is_not_of_the_web_is_not_a_link() -> None:
    message = compose([event(url="javascript:alert(1)")])

    assert "href" not in message.html
    assert "javascript:alert(1)" in message.html


def test_a_user_may_mention_people_in_a_text_of_their_own() -> None:
    assert compose([event(name="@here")], text="@here {name}").chat == "@here @\u200bhere"


def test_addresses_stay_addresses_in_chats() -> None:
    address = "https://example.org/a_b?c=1&d=[2]"

    assert chat_address(address) == "https://example.org/a_b?c=1&d=%5B2%5D"


# ------------------------------------------------------------ limits


def test_a_hundred_large_events_make_a_message_within_the_limits() -> None:
    entries = tuple(
        Difference("edited", "p" * 50, "text", "a" * 2_000, "b" * 2_000) for _ in range(12)
    )
    events = [event(n, differences=Differences(entries)) for n in range(100)]
    message = compose(events, text="{changes}\n" * 10)
    listed = message.data["events"]

    assert len(message.chat) <= MOST_CHAT + 100
    assert len(message.text) <= MOST_WRITTEN * 2 * MOST_TEXT
    assert len(message.json()) <= MOST_JSON + 100 * 1_000
    assert len(listed) == 100  # all events are there, only differences are cut
    assert all(
        len(each["differences"]["entries"]) + each["differences"]["left_out"] == 12
        for each in listed
    )
    assert f"and {100 - MOST_WRITTEN} more notices" in message.text
    assert re.search(r"and \d+ more notices$", message.chat)


def test_a_text_that_repeats_its_placeholders_is_limited() -> None:
    entries = tuple(Difference("edited", "p", "text", "a" * 300, "b" * 300) for _ in range(40))
    made = event(differences=Differences(entries))
    message = compose([made], text="{changes}" * 10_000)

    assert len(message.text) <= 2 * MOST_TEXT
    assert MOST_CHARACTERS < 100_000  # keeps the line above honest about its inputs


def test_a_line_is_cut_at_its_limit() -> None:
    assert one_line("x" * 300) == "x" * 300
    assert one_line("x" * 301) == "x" * 299 + "…"
    assert one_line(" \n a \t b \n") == "a b"


# ------------------------------------------------------------ feeds


def test_a_feed_has_stable_ids_and_its_newest_entry_first() -> None:
    events = [event(n) for n in range(3)]
    first = etree.fromstring(watch_feed("w1", "Fish", events, base_url=BASE))
    again = etree.fromstring(
        watch_feed("w1", "Renamed", events[::-1], base_url="https://b.example")
    )
    ids = [each.findtext(f"{ATOM}id") for each in first.iter(f"{ATOM}entry")]

    assert first.findtext(f"{ATOM}title") == "Changes of Fish"
    assert first.findtext(f"{ATOM}updated") == "2026-05-17T09:32:00Z"
    assert first.findtext(f"{ATOM}id") == again.findtext(f"{ATOM}id")
    assert ids == [each.findtext(f"{ATOM}id") for each in again.iter(f"{ATOM}entry")]
    assert len(set(ids)) == 3
    assert first.findtext(f"{ATOM}entry/{ATOM}updated") == "2026-05-17T09:32:00Z"
    assert all(
        re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", i or "") for i in ids
    )


def test_watches_and_tags_of_the_same_name_have_different_feeds() -> None:
    feeds = (watch_feed("food", "food", []), tag_feed("food", []))
    ids = {etree.fromstring(data).findtext(f"{ATOM}id") for data in feeds}

    assert len(ids) == 2


def test_every_element_that_rfc_4287_requires_is_there() -> None:
    for data in (watch_feed("w", "n", []), tag_feed("t", [event(), event(2, tags=("a", "b"))])):
        root = etree.fromstring(data)
        for element in (root, *root.iter(f"{ATOM}entry")):
            for required in ("id", "title", "updated"):
                assert len(element.findall(f"{ATOM}{required}")) == 1
        assert root.findtext(f"{ATOM}author/{ATOM}name") == "quire"
        for entry in root.iter(f"{ATOM}entry"):
            assert entry.find(f"{ATOM}content").get("type") == "html"  # type: ignore[union-attr]  # there
            assert entry.find(f"{ATOM}link").get("rel") == "alternate"  # type: ignore[union-attr]  # there


def test_a_message_is_the_same_whenever_it_is_written() -> None:
    first, second = (compose([event()], base_url=BASE) for _ in range(2))

    assert isinstance(first, Message)
    assert first == second
    assert datetime.fromisoformat(first.data["events"][0]["time"]).tzinfo == UTC
