"""The pages on which a watch is added and edited, without a browser."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from time import time
from typing import Any

import pytest
from sqlalchemy import func, select, update

from quire.errors import FetchCause, FetchFailed
from quire.sentinels.resources.storing import Found, key_of
from quire.sentinels.service.drafting import DRAFT_S, MOST_DRAFTS, MOST_NODES, Draft
from quire.sentinels.store.tables import draft
from quire.sources.gate import Request, Response
from tests.web.client import Client, Reply
from tests.web.conftest import URL, Site

PAGE = (
    b"<title>Fish market</title><main><ul class=prices><li>Cod <b class=price>8.40</b></li>"
    b"<li>Sole <b class=price>9.10</b></li><li>Hake <b class=price>7.00</b></li></ul>"
    b"<p class=ad>Buy ropes</p></main></html>"
)


class FakeGate:
    """A gate to pages that exist only here."""

    def __init__(self, pages: dict[str, tuple[int, bytes]]) -> None:
        self.pages = pages
        self.asked: list[Request] = []

    async def fetch(self, request: Request) -> Response:
        """Answer, or fail as the gate does."""
        self.asked.append(request)
        if request.url not in self.pages:
            raise FetchFailed("not found", url=request.url, cause=FetchCause.DNS)
        status, body = self.pages[request.url]
        return Response(request.url, status, [(b"Content-Type", b"text/html")], body)


@contextmanager
def pages(site: Site, **found: tuple[int, bytes]) -> Iterator[FakeGate]:
    """Let the service fetch pages of a site that exists only here."""
    gate = FakeGate({f"https://shop.example/{name}": each for name, each in found.items()})

    @asynccontextmanager
    async def opened() -> AsyncIterator[FakeGate]:
        yield gate

    site.app.state.quire.open_pages = opened
    yield gate


def fetched(client: Client, name: str = "fish", **fields: str) -> Reply:
    return client.post("/watches/new", form={"url": f"https://shop.example/{name}", **fields})


def node_of(client: Client, place: str, selector_text: str) -> int:
    """Return the number of the element with a text, from the links of the frame."""
    frame = client.get(f"{place}/frame").text
    found = re.search(rf'click=([0-9]+)" target="_top">{re.escape(selector_text)}<', frame)
    assert found is not None, frame
    return int(found[1])


def test_a_watch_is_made_from_a_click_and_plain_words(site: Site) -> None:
    editor = site.browser("editor")
    with pages(site, fish=(200, PAGE)):
        place = fetched(editor).headers["location"]
    node = node_of(editor, place, "8.40")
    picker = editor.get(f"{place}?click={node}").text
    assert "ul.prices" in picker
    assert "All 3 like this" in picker
    rules = f"{place}/rules?watch={node}"
    assert 'value="price" checked' in editor.get(rules).text
    form = {"counts": "below", "below": "8,5", "every": "6 h", "name": "Cod", "add": "1"}
    assert editor.post(rules, form=form).status == 303
    assert site.service.find("Cod").form == {
        "url": "https://shop.example/fish",
        "name": "Cod",
        "watch": ["text"],
        "when": {"number": {"falls_below": 8.5}},
        "every": "6 h",
        "where": "ul.prices > li:nth-of-type(1) > b",
    }
    # The draft is not needed any more.
    assert editor.get(place).status == 404


def test_all_items_of_a_list_are_one_click_away(site: Site) -> None:
    editor = site.browser("editor")
    with pages(site, fish=(200, PAGE)):
        place = fetched(editor).headers["location"]
    node = node_of(editor, place, "8.40")
    picker = editor.get(f"{place}?watch={node}a").text
    assert "3 elements" in picker
    assert "<code>ul.prices b.price</code>" in picker
    assert 'value="item" checked' in editor.get(f"{place}/rules?watch={node}a").text


def test_a_list_of_records_is_watched_for_new_ones(site: Site) -> None:
    editor = site.browser("editor")
    with pages(site, fish=(200, PAGE)):
        place = fetched(editor).headers["location"]
    node = node_of(editor, place, "Buy ropes")
    rules = f"{place}/rules?watch={node}"

    refused = editor.post(rules, form={"counts": "record", "name": "Fish", "preview": "1"}).text
    assert "There is no list of records in this part" in refused

    shown = editor.post(f"{place}/rules", form={"counts": "record", "name": "Fish"}).text
    assert "Sole, price: 9.10" in shown
    assert "There is no list" not in shown
    added = editor.post(f"{place}/rules", form={"counts": "record", "name": "Fish", "add": "1"})
    assert added.status == 303
    number = int(added.headers["location"].rpartition("/")[2])
    assert site.service.find(number).form["preset"] == "new record"


def test_the_frame_has_only_what_a_frame_may_have(site: Site) -> None:
    editor = site.browser("editor")
    with pages(site, fish=(200, b"<p onclick=x>Hi<script>alert(1)</script><a href=//evil>y</a>")):
        place = fetched(editor).headers["location"]
    reply = editor.get(f"{place}/frame")
    policy = reply.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert policy.endswith("; sandbox allow-top-navigation-by-user-activation")
    assert "script-src" not in policy
    assert reply.headers["x-frame-options"] == "SAMEORIGIN"
    assert "evil" not in reply.text
    assert "alert" not in reply.text
    picker = editor.get(place).text
    assert 'sandbox="allow-top-navigation-by-user-activation"' in picker


def test_a_click_in_the_frame_comes_back_without_a_cookie(site: Site) -> None:
    stranger = site.anonymous()
    reply = stranger.get("/watches/new/abc-_9/at?watch=5.7a&mode=more&click=12")
    assert reply.status == 200
    assert 'content="0;url=/watches/new/abc-_9?watch=5.7a&amp;mode=more&amp;click=12"' in reply.text
    # Nothing but numbers of ours gets into the address.
    odd = stranger.get("/watches/new/abc/at?watch=//evil.example&ignore=%22%3E&mode=javascript:")
    assert 'content="0;url=/watches/new/abc?"' in odd.text
    assert stranger.get("/watches/new/a%20b/at").status == 404
    assert stranger.get("/watches/new/abc/at?click=x").status == 422


def test_a_draft_belongs_to_the_person_who_made_it(site: Site) -> None:
    editor, admin = site.browser("editor"), site.browser("admin")
    with pages(site, fish=(200, PAGE)):
        place = fetched(editor).headers["location"]
    for path in ("", "/frame", "/rules"):
        assert editor.get(place + path).status == 200
        assert admin.get(place + path).status == 404
        assert editor.get(place[:-1] + path).status == 404
    assert admin.post(f"{place}/selector", form={"selector": "p"}).status == 404
    assert site.browser("viewer").get(place).status == 403


def test_drafts_are_few_and_do_not_last(site: Site) -> None:
    account = site.accounts["editor"]
    keys = [site.service.add_draft(Draft(URL, b"x"), account) for _ in range(MOST_DRAFTS + 5)]
    with site.service.database.read() as connection:
        count = connection.execute(select(func.count()).select_from(draft)).scalar_one()
        stored = connection.execute(select(draft.c.key)).scalars().all()
    assert count == MOST_DRAFTS
    assert not set(keys) & set(stored)  # a copy of the database opens none
    assert site.service.draft(keys[-1], account).body == b"x"
    with site.service.database.write() as connection:
        connection.execute(update(draft).values(made=time() - DRAFT_S - 1))
    assert site.browser("editor").get(f"/watches/new/{keys[-1]}").status == 404


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((404, b"<p>Not found"), "does not exist"),
        ((403, b"<p>No"), "blocked"),
        ((200, b"<p>Please verify you are human. Captcha"), "blocked"),
        ((500, b"<p>Oops"), "answered with an error"),
        ((200, b"<div id=app></div><script src=x.js></script>"), "made by scripts"),
    ],
)
def test_a_page_that_is_not_the_page_is_said_in_words(
    site: Site, answer: tuple[int, bytes], words: str
) -> None:
    editor = site.browser("editor")
    with pages(site, fish=answer):
        place = fetched(editor).headers["location"]
    assert words in editor.get(place).text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"url": "https://nowhere.example/"}, "The host does not exist"),
        ({"url": ""}, "url:"),
        ({"url": "file:///etc/passwd"}, "http:// or https://"),
        ({"url": "https://me:secret@shop.example/fish"}, "not in the address"),
        ({"headers": "no colon"}, "Accept-Language"),
        ({"headers": "Host: evil.example"}, "Host"),
    ],
)
def test_a_wrong_address_is_said_in_words(site: Site, fields: dict[str, str], words: str) -> None:
    editor = site.browser("editor")
    with pages(site, fish=(200, PAGE)):
        reply = fetched(editor, **fields)
    assert reply.status == 422
    assert words in reply.text


def test_ways_to_fetch_are_used_and_kept(site: Site) -> None:
    editor = site.browser("editor")
    with pages(site, fish=(200, PAGE)) as gate:
        reply = fetched(editor, robots="1", headers="Accept-Language: de\nX-Key: planted")
    assert (gate.asked[0].obey_robots, len(gate.asked)) == (False, 1)
    place = reply.headers["location"]
    editor.post(f"{place}/rules", form={"name": "Fish", "counts": "any", "add": "1"})
    found = site.service.find("Fish").form["fetch"]
    assert found == {"robots": False, "headers": {"Accept-Language": "de", "X-Key": "planted"}}


def test_an_address_without_a_scheme_is_one_of_the_web(site: Site) -> None:
    editor = site.browser("editor")
    with pages(site, fish=(200, PAGE)) as gate:
        fetched(editor, url="shop.example/fish")
    assert gate.asked[0].url == "https://shop.example/fish"


def test_a_selector_can_be_written(site: Site) -> None:
    editor = site.browser("editor")
    with pages(site, fish=(200, PAGE)):
        place = fetched(editor).headers["location"]
    reply = editor.post(f"{place}/selector?ignore=7", form={"selector": "li:first-child > b"})
    assert reply.headers["location"] == f"{place}?watch=s0&ignore=7"
    assert "li:first-child &gt; b" in editor.get(reply.headers["location"]).text
    wrong = editor.post(f"{place}/selector", form={"selector": "li:nth-child("})
    assert "wrong=" in wrong.headers["location"]
    assert "note bad" in editor.get(wrong.headers["location"]).text


def test_words_on_the_page_are_found_for_those_who_do_not_click(site: Site) -> None:
    editor = site.browser("editor")
    with pages(site, fish=(200, PAGE)):
        place = fetched(editor).headers["location"]
    found = re.search(
        r'<ul class="hits"><li><a href="([^"]+)">', editor.get(f"{place}?find=9.10").text
    )
    assert found is not None
    assert "9.10" in editor.get(found[1].replace("&amp;", "&")).text
    assert "not on the page" in editor.get(f"{place}?find=nothing").text


def test_a_name_that_is_taken_gets_a_number_and_is_refused_by_hand(site: Site) -> None:
    editor = site.browser("editor")
    site.service.add({"url": URL, "name": "Fish market"})
    with pages(site, fish=(200, PAGE)):
        place = fetched(editor).headers["location"]
    assert 'value="Fish market (2)"' in editor.get(f"{place}/rules").text
    reply = editor.post(f"{place}/rules", form={"name": "Fish market", "counts": "any", "add": "1"})
    assert reply.status == 409


def test_targets_of_other_watches_are_offered_without_their_secrets(site: Site) -> None:
    editor = site.browser("editor")
    with pages(site, fish=(200, PAGE)):
        place = fetched(editor).headers["location"]
    text = editor.get(f"{place}/rules").text
    assert "planted-target-secret" not in text
    key = re.search(r'name="tell" value="([0-9a-f]+)"', text)
    assert key is not None
    form = {"name": "Fish", "counts": "any", "tell": key[1], "add": "1"}
    assert editor.post(f"{place}/rules", form=form).status == 303
    assert site.service.find("Fish").form["notify"] == [
        "https://hooks.example/planted-target-secret"
    ]


def test_a_target_that_is_not_allowed_is_refused(site: Site) -> None:
    editor = site.browser("editor")
    with pages(site, fish=(200, PAGE)):
        place = fetched(editor).headers["location"]
    form = {"name": "Fish", "counts": "any", "target": "file:///etc/passwd", "add": "1"}
    reply = editor.post(f"{place}/rules", form=form)
    assert reply.status == 422
    assert site.service.watches(text="Fish") == []


def test_the_past_is_shown_if_the_page_was_stored(site: Site) -> None:
    editor = site.browser("editor")
    edit = editor.get(f"/watches/{site.watch}/edit")
    place = edit.headers["location"]
    path, _, query = place.partition("?")
    text = editor.get(f"{path}/rules?{query}").text
    assert "It would have told you" in text
    assert re.search(r"2 times in \w+ \d{4}", text)


def test_a_watch_is_edited_as_it_was_made(site: Site) -> None:
    editor = site.browser("editor")
    before = site.service.find(site.watch).form
    place = editor.get(f"/watches/{site.watch}/edit").headers["location"]
    path, _, query = place.partition("?")
    assert (path, query) == (f"/watches/new/watch-{site.watch}-2", "watch=s0")
    assert site.browser("viewer").get(path).status == 403
    assert "#price" in editor.get(place).text
    keep: dict[str, Any] = {"name": "Price", "counts": "keep", "every": "6 h", "add": "1"}
    key = re.search(
        r'name="tell" value="([0-9a-f]+)" checked', editor.get(f"{path}/rules?{query}").text
    )
    assert key is not None
    assert editor.post(f"{path}/rules?{query}", form={**keep, "tell": key[1]}).status == 303
    after = site.service.find(site.watch).form
    assert after == {**before, "name": "Price", "every": "6 h"}
    # A selector that is written by hand is kept in a draft of its own.
    written = editor.post(f"{path}/selector?{query}", form={"selector": "p"}).headers["location"]
    assert not written.startswith(path)
    assert written.endswith("?watch=s1")
    assert "9.50" not in editor.get(written).text
    assert "Fish" in editor.get(written).text


def test_a_part_that_moved_is_shown_at_both_places(site: Site) -> None:
    editor = site.browser("editor")
    fish = b"<h2>Fish of the day</h2><p>Price of cod today at the quay: "
    watch = site.service.add(
        {"url": URL, "name": "moved", "where": "p.cod", "fetch": {"robots": False}}
    ).id
    site.watch = watch
    site.check(b"<p>x</p>" + fish.replace(b"<p>", b"<p class=cod>") + b"8.40 a kilo</p></html>")
    site.check(
        b"<section>"
        + fish.replace(b"<p>", b"<p class=catch>")
        + b"8.40 a kilo</p></section></html>"
    )
    text = editor.get(f"/watches/{watch}/question").text
    assert "Before" in text
    for side in ("old", "new"):
        reply = editor.get(f"/watches/{watch}/question/{side}")
        assert 'class="quire-chosen' in reply.text
        assert "sandbox" in reply.headers["content-security-policy"]
        assert "href" not in reply.text
        assert reply.text.count('<a id="quire-here">') == 1
    assert editor.get(f"/watches/{watch}/question/other").status == 422
    assert site.browser("viewer").get(f"/watches/{watch}/question").status == 200
    assert editor.post(f"/watches/{watch}/question", form={"answer": "maybe"}).status == 422
    assert editor.post(f"/watches/{watch}/question", form={"answer": "yes"}).status == 303
    assert site.service.proposals(watch) == []
    assert site.service.find(watch).form["where"] != "p.cod"
    assert editor.get(f"/watches/{watch}/question").status == 404


def test_a_resource_is_served_to_frames_and_can_do_nothing(site: Site) -> None:
    store = site.app.state.quire.resources
    css = "https://shop.example/a.css"
    png, sheet = b"\x89PNG\r\n\x1a\n", b"@import '//evil/x'; p{background:url(b.png)} a{color:red}"
    store.keep([Found(css, "text/css; charset=utf-8", sheet)], time())
    store.keep([Found("https://shop.example/b.png", "image/png", png)], time())
    store.keep([Found("https://shop.example/f", "font/woff2", b"wOF2")], time())
    stranger = site.anonymous()
    reply = stranger.get(store.path(key_of(css)))
    assert reply.headers["content-type"] == "text/css; charset=utf-8"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["cross-origin-resource-policy"] == "cross-origin"
    assert "sandbox" in reply.headers["content-security-policy"]
    assert "access-control-allow-origin" not in reply.headers
    assert "evil" not in reply.text.replace("quire-none '//evil/x'", "")
    image = store.path(key_of("https://shop.example/b.png"))
    assert f'url("{image}")' in reply.text
    assert "quire-a{" in stranger.get(f"{store.path(key_of(css))}?to=pointing").text
    assert stranger.get(image).body == png
    font = stranger.get(store.path(key_of("https://shop.example/f")))
    assert font.headers["access-control-allow-origin"] == "*"
    assert stranger.get(image[:-1] + "x").status == 404


def test_hostile_texts_are_escaped_on_every_page(site: Site) -> None:
    editor = site.browser("editor")
    odd = b"<title>\"><script>alert(1)</script></title><p id='\"><img src=x onerror=alert(2)>'>'\"><b onclick=x>"
    with pages(site, fish=(200, odd)):
        place = fetched(editor).headers["location"]
    selector = "p[title='\"><script>alert(3)</script>']"
    editor.post(f"{place}/selector", form={"selector": selector})
    for path in (
        "?watch=4",
        "?watch=s0&find=%22%3E%3Cscript%3E",
        "/rules?watch=4",
        "/rules?watch=s0",
    ):
        text = editor.get(f"{place}{path}").text
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "onclick=x>" not in text


def test_one_page_after_another_is_fetched(site: Site) -> None:
    editor = site.browser("editor")
    with pages(site, **{f"p{n}": (200, PAGE) for n in range(8)}):
        assert [fetched(editor, f"p{n}").status for n in range(8)] == [303] * 8


def test_a_page_with_too_many_elements_is_refused_in_words(site: Site) -> None:
    editor = site.browser("editor")
    with pages(site, fish=(200, b"<b>x</b>" * (MOST_NODES // 2))):
        reply = fetched(editor)
    assert reply.status == 422
    assert "elements and texts" in reply.text


def test_watches_that_cannot_be_clicked_are_edited_as_a_form(site: Site) -> None:
    parts = {"one": {"where": "h1"}, "two": {"where": "p"}}
    named = site.service.add({"url": "https://example.org/p", "name": "parts", "parts": parts}).id
    unseen = site.service.add({"url": "https://example.org/q", "name": "unseen"}).id
    editor = site.browser("editor")
    for watch in (named, unseen):
        reply = editor.get(f"/watches/{watch}/edit")
        assert reply.headers["location"] == f"/watches/{watch}/form?done=only-form"
        assert "This watch is edited here." in editor.get(reply.headers["location"]).text
    assert editor.get("/watches/99999/edit").status == 404
