"""The list of watches and the list of changes, as a browser without scripts sees them."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import pytest

from quire.sentinels.checking.answers import Fetched
from quire.sentinels.store import ClaimedPage
from quire.web import create_app
from quire.web.answers import Problem
from quire.web.pages.forms import split_parts
from tests.web.client import Client, Reply
from tests.web.conftest import CHEAP, Site

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


def add(site: Site, name: str, **more: Any) -> int:  # noqa: ANN401 - a form
    form = {"name": name, "url": f"https://{len(name)}.example/", **more}
    return site.service.add(form).id


def names(reply: Reply) -> list[str]:
    """The names in the list, from top to bottom."""
    return re.findall(r'<td data-cell="name" class="name"><a [^>]*>([^<]*)</a>', reply.text)


def bulk(browser: Client, action: str, *watches: int, **fields: str) -> Reply:
    """Press a button of the list."""
    pairs = [("action", action), *(("watch", str(each)) for each in watches), *fields.items()]
    kind = {"content-type": "application/x-www-form-urlencoded"}
    return browser.post("/bulk", body=urlencode(pairs).encode(), headers=kind)


def test_the_list_shows_state_tags_times_and_a_sparkline_with_words(site: Site) -> None:
    page = site.browser("viewer").get("/")

    assert names(page) == ["price"]
    assert '<span class="badge good">fine</span>' in page.text
    assert 'href="/?tag=shop"' in page.text
    assert f'href="/watches/{site.watch}"' in page.text
    assert "2 changes in 30 days, 2 of them today" in page.text
    assert re.search(r"<time data-ago[^>]*>(now|\d+ (s|min|h) ago)</time>", page.text)
    assert "<svg" in page.text
    assert names(site.browser("viewer").get("/watches")) == ["price"]


def test_a_check_that_is_overdue_is_due_now(site: Site) -> None:
    site.service.make_due(site.watch)

    page = site.browser("viewer").get("/").text

    assert re.search(r'<time data-ago="due"[^>]*>now</time>', page)


def test_a_viewer_has_no_buttons_and_an_editor_has(site: Site) -> None:
    assert "/bulk" in site.browser("editor").get("/").text
    viewer = site.browser("viewer")
    assert 'type="checkbox"' not in viewer.get("/").text
    assert "/watches/new" not in viewer.get("/").text
    assert bulk(viewer, "pause", site.watch).status == 403


def test_searching_filtering_and_sorting_are_plain_addresses(site: Site) -> None:
    add(site, "alpha", tags=["news"])
    add(site, "beta", paused=True)
    browser = site.browser("viewer")

    assert names(browser.get("/?order=name")) == ["alpha", "beta", "price"]
    assert names(browser.get("/?text=ALP")) == ["alpha"]
    assert names(browser.get("/?tag=news")) == ["alpha"]
    assert names(browser.get("/?show=paused")) == ["beta"]
    assert names(browser.get("/?show=new")) == ["alpha"]
    assert names(browser.get("/?show=changed")) == ["price"]
    assert "No watch fits" in browser.get("/?text=nothing").text
    assert "No watch fits" in browser.get("/?show=asking").text


@pytest.mark.parametrize(
    "query",
    [
        "show=%00",
        "order=-1",
        "page=0",
        "page=99999999999999999999",
        "page=-1",
        "text=%00%ff",
        "tag=" + "a" * 9_000,
        "tag=%ed%a0%80",
        "done=delete&count=<b>",
        "done=%3Cb%3E&count=1",
    ],
)
def test_addresses_that_make_no_sense_show_a_list(site: Site, query: str) -> None:
    for path in ("/", "/watches", "/changes"):
        reply = site.browser("viewer").get(f"{path}?{query}")
        assert reply.status in (200, 303)
        assert "<b>" not in reply.text


def test_a_long_list_has_pages(site: Site) -> None:
    for number in range(60):
        add(site, f"watch {number:02}")
    browser = site.browser("viewer")

    first, second = browser.get("/?order=name"), browser.get("/?order=name&page=2")

    assert (len(names(first)), len(names(second))) == (50, 11)
    assert not set(names(first)) & set(names(second))
    assert 'href="/?order=name&amp;page=2" rel="next"' in first.text
    assert 'href="/?order=name" rel="prev"' in second.text
    assert browser.get("/?page=99").headers["location"] == "/?page=2"


def test_chosen_watches_are_paused_resumed_tagged_and_checked(site: Site) -> None:
    other = add(site, "other")
    browser = site.browser("editor")

    reply = bulk(browser, "pause", site.watch, other, text="p", show="fine")
    assert reply.status == 303
    assert reply.headers["location"] == "/?text=p&show=fine&done=pause&count=2"
    assert "2 watches paused." in browser.get(reply.headers["location"]).text
    assert site.service.find(other).paused
    assert bulk(browser, "resume", other).headers["location"] == "/?done=resume&count=1"
    assert "1 watch resumed." in browser.get("/?done=resume&count=1").text
    bulk(browser, "tag", other, new_tag="red & blue")
    assert names(browser.get("/?tag=red+%26+blue")) == ["other"]
    bulk(browser, "untag", other, new_tag="red & blue")
    assert site.service.find(other).watch.tags == ()
    assert bulk(browser, "check", other).headers["location"] == "/?done=check&count=1"


def test_deleting_asks_first(site: Site) -> None:
    other = add(site, HOSTILE)
    browser = site.browser("editor")

    asked = bulk(browser, "delete", other, tag="x")

    assert "Delete 1 watch?" in asked.text
    assert f'name="watch" value="{other}"' in asked.text
    assert "<script>alert" not in asked.text
    assert len(site.service.watches()) == 2
    reply = bulk(browser, "delete", other, sure="yes", tag="x")
    assert reply.headers["location"] == "/?tag=x&done=delete&count=1"
    assert [each.id for each in site.service.watches()] == [site.watch]


def test_all_watches_of_a_long_list_can_be_chosen(site: Site) -> None:
    for number in range(60):
        add(site, f"watch {number:02}", tags=["many"])
    browser = site.browser("editor")
    assert "all 60 of this list" in browser.get("/?tag=many").text

    reply = bulk(browser, "pause", tag="many", all="1")

    assert reply.headers["location"] == "/?tag=many&done=pause&count=60"
    assert not site.service.find(site.watch).paused


def test_buttons_without_a_choice_or_a_tag_say_so(site: Site) -> None:
    browser = site.browser("editor")

    assert "Choose one or more watches first." in bulk(browser, "pause").text
    assert "Write the tag" in bulk(browser, "tag", site.watch).text
    assert bulk(browser, "explode", site.watch).status == 422
    assert bulk(browser, "pause", 987_654).headers["location"] == "/?done=pause&count=0"
    many = "&".join(["watch=1"] * 2_000).encode()
    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert browser.post("/bulk", body=many, headers=kind).status == 400


def test_hostile_names_addresses_tags_and_errors_are_text(site: Site) -> None:
    number = add(site, HOSTILE, tags=[HOSTILE, "javascript:alert(1)"])

    async def fetch(_: ClaimedPage) -> Fetched:
        return Fetched(200, f"<p>{HOSTILE}".encode(), "text/html")

    site.service.make_due(number)
    site.runner.run(site.service.run_due(fetch))
    site.check(b"<p id=price>%s</p></html>" % HOSTILE.encode())
    for path in ("/", f"/?{urlencode({'tag': HOSTILE})}", f"/?{urlencode({'text': HOSTILE})}"):
        page = site.browser("editor").get(path)
        assert page.status == 200
        assert "<script>alert" not in page.text
        assert "<img" not in page.text
        assert 'href="javascript' not in page.text
        assert "\"'>" not in page.text
    changes = site.browser("viewer").get(f"/changes?{urlencode({'tag': HOSTILE})}")
    assert "<script>alert" not in changes.text


def test_changes_are_listed_newest_first_with_what_was_added_and_removed(site: Site) -> None:
    page = site.browser("viewer").get("/changes").text

    assert page.index("<ins>7.50</ins>") < page.index("<ins>8.50</ins>")
    assert "<del>9.50</del>" in page
    assert f'href="/watches/{site.watch}"' in page


def test_changes_are_filtered_and_paged(site: Site) -> None:
    add(site, "quiet", tags=["silent"])
    browser = site.browser("viewer")
    assert "No change fits" in browser.get("/changes?tag=silent").text
    assert "No change fits" in browser.get("/changes?kind=moved").text
    assert "<ins>" in browser.get("/changes?kind=change&tag=shop").text
    assert "Changes of price" in browser.get(f"/changes?watch={site.watch}").text
    assert "number 987654" in browser.get("/changes?watch=987654").text

    for number in range(60):
        site.check(b"<p id=price>%d</p></html>" % (100 + number))
    first = browser.get("/changes?tag=shop")
    found = re.search(r'href="(/changes\?tag=shop&amp;after=[0-9a-f]+)" rel="next"', first.text)
    assert found is not None
    second = browser.get(found[1].replace("&amp;", "&"))
    assert first.text.count('class="event"') == 50
    assert second.text.count('class="event"') == 12
    assert "Back to the newest" in second.text
    assert browser.get("/changes?after=abc").text.count('class="event"') == 50


def test_without_watches_the_first_page_leads_to_adding_one_and_to_importing(site: Site) -> None:
    site.service.remove(site.watch)

    editor, viewer = (site.browser(role).get("/") for role in ("editor", "viewer"))

    assert 'action="/watches/new"' in editor.text
    assert 'href="/settings/import"' in editor.text
    assert "/settings/accounts" not in editor.text
    assert "ask an administrator" in viewer.text
    assert "No watch fits" in site.browser("viewer").get("/?text=x").text


def test_the_demo_greets_with_what_happened_and_three_things_to_try(site: Site) -> None:
    site.app = create_app(site.service, hasher=CHEAP, demo="http://127.0.0.2:8000/")
    browser = site.browser("viewer")

    page = browser.get("/").text

    assert "Welcome to the demo" in page
    assert "<ins>7.50</ins>" in page
    assert page.count("<li>", page.index('class="tasks"')) >= 3
    assert "url=http%3A%2F%2F127.0.0.2%3A8000%2Fmarket.html" in page
    assert "Welcome to the demo" not in browser.get("/?text=p").text


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"--x",
        b"--x--",
        b"--x\r\n\r\n--x--",
        b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb',
        b'--y\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--y--',
        b"--x\r\nContent-Disposition: form-data\r\n\r\nb\r\n--x--",
        b"--x\r\n" + b"a" * 10_000 + b'; name="a"\r\n\r\nb\r\n--x--',
        b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n' * 60 + b"--x--",
    ],
)
def test_forms_with_files_that_are_broken_are_refused(body: bytes) -> None:
    with pytest.raises(Problem, match="cannot be told apart"):
        split_parts(body, b"x")


def test_a_file_keeps_its_bytes() -> None:
    data = b"\r\n--\r\n\x00\xff--x \r\n\r\n"
    head = b'Content-Disposition: form-data; name="file"; filename="a b.json"\r\n\r\n'
    field = b'\r\n--x\r\nContent-Disposition: form-data; name="tool"\r\n\r\nurls\r\n--x--\r\n'

    found = split_parts(b"--x\r\n" + head + data + field, b"x")

    upload = found.files["file"]
    assert (upload.name, upload.data, found.get("tool")) == ("a b.json", data, "urls")
