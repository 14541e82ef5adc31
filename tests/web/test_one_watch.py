"""The pages of one watch: every tab, every button, and names and pages that attack them."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest

from quire.sentinels.checking.answers import Fetched
from quire.sentinels.notices.message import event_link
from quire.sentinels.service import Proposal, Service
from quire.sentinels.store import ClaimedPage
from quire.sentinels.store.plain import instant
from tests.sentinels.redesigns import DESIGNS, Product
from tests.web.client import Reply
from tests.web.conftest import PLANTED, URL, Site

TABS = ("", "/diff", "/why", "/history", "/noise", "/replay", "/notices", "/form")
FRAMES = ("both", "old", "new", "noise")
VIEWS = ("redline", "side", "text", "source")


def words(reply: Reply) -> str:
    """Return the text of a page, without tags."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", reply.text)).split())


def add(site: Site, form: dict[str, Any], *bodies: bytes, kind: str = "text/html") -> int:
    """Add a watch that has seen these pages."""
    watch = site.service.add(form).id
    for body in bodies:
        see(site, watch, body, kind)
    return watch


def see(site: Site, watch: int, body: bytes, kind: str = "text/html") -> None:
    """Let a watch see a page."""

    async def fetch(_: ClaimedPage) -> Fetched:
        return Fetched(200, body, kind)

    site.service.make_due(watch)
    site.runner.run(site.service.run_due(fetch))


def test_the_timeline_says_what_changed_and_leads_to_the_difference(shared_site: Site) -> None:
    reply = shared_site.browser("viewer").get(f"/watches/{shared_site.watch}")

    assert reply.status == 200
    assert "<del>8.50</del>" in reply.text
    assert "<ins>7.50</ins>" in reply.text
    assert f'href="/watches/{shared_site.watch}/diff?old=1&amp;new=2"' in reply.text
    assert "price" in words(reply)
    assert "every 1 h" in words(reply)
    assert "Version 0" in words(reply)


def test_a_viewer_gets_no_buttons_and_an_editor_all(shared_site: Site) -> None:
    for tab in TABS:
        path = f"/watches/{shared_site.watch}{tab}"
        viewer, editor = (shared_site.browser(role).get(path) for role in ("viewer", "editor"))
        assert viewer.status == editor.status == 200
        assert 'method="post" action="/watches' not in viewer.text
        assert f'action="/watches/{shared_site.watch}/check"' in editor.text


def test_tabs_name_the_page_that_is_open(shared_site: Site) -> None:
    browser = shared_site.browser("viewer")
    for tab in TABS:
        path = f"/watches/{shared_site.watch}{tab}"
        assert f'<a href="{path}" aria-current="page">' in browser.get(path).text


@pytest.mark.parametrize("view", VIEWS)
def test_two_versions_are_compared_in_every_view(shared_site: Site, view: str) -> None:
    browser = shared_site.browser("viewer")
    reply = browser.get(f"/watches/{shared_site.watch}/diff?old=0&new=2&view={view}")

    assert reply.status == 200
    assert "1 change" in words(reply)
    frames = re.findall(r'<iframe [^>]*? src="([^"]+)"[^>]*>', reply.text)
    assert len(frames) == {"redline": 1, "side": 2}.get(view, 0)
    for frame in re.findall(r"<iframe [^>]*>", reply.text):
        assert re.search(r" sandbox(?= |>)", frame), "no rights at all"
        assert "allow" not in frame
    for frame in frames:
        path, _, fragment = unescape(frame).partition("#")
        drawn = browser.get(path)
        assert drawn.status == 200
        assert f'id="{fragment}"' in drawn.text
    if not frames:
        assert '<td class="code was">' in reply.text
        assert 'id="change-1"' in reply.text


def test_frames_may_do_nothing_and_be_framed_by_us_alone(shared_site: Site) -> None:
    browser = shared_site.browser("viewer")
    for name in FRAMES:
        reply = browser.get(f"/watches/{shared_site.watch}/frame/{name}")
        policy = reply.headers["content-security-policy"]
        assert reply.status == 200
        assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
        assert "frame-ancestors 'self'" in policy
        assert policy.endswith("; sandbox")
        assert "script-src" not in policy
        assert reply.headers["x-frame-options"] == "SAMEORIGIN"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["cache-control"] == "no-store"
        assert "<script" not in reply.text.lower()


def test_the_redline_marks_the_change_where_the_map_and_the_list_lead(shared_site: Site) -> None:
    browser = shared_site.browser("viewer")
    reply = browser.get(f"/watches/{shared_site.watch}/diff?old=1&new=2")
    drawn = browser.get(f"/watches/{shared_site.watch}/frame/both?url={URL}&old=1&new=2")

    links = re.findall(r'href="([^"]+)" target="changed-page"', reply.text)
    assert links
    assert {unescape(link).partition("#")[2] for link in links} == {"quire-change-1"}
    assert '<del id="quire-change-1" class="quire-del">8.50</del>' in drawn.text
    assert '<ins class="quire-ins">7.50</ins>' in drawn.text


def test_each_side_shows_only_its_own_version(shared_site: Site) -> None:
    browser = shared_site.browser("viewer")
    path = f"/watches/{shared_site.watch}/frame"
    old, new = (browser.get(f"{path}/{side}?old=1&new=2").text for side in ("old", "new"))

    assert "8.50" in old
    assert "7.50" not in old
    assert "7.50" in new
    assert "8.50" not in new
    assert 'id="quire-change-1"' in old
    assert 'id="quire-change-1"' in new


def test_the_link_of_a_notice_leads_to_its_change(shared_site: Site) -> None:
    browser = shared_site.browser("viewer")
    found = shared_site.service.events(shared_site.watch)[0]
    link = event_link(found.event, "http://127.0.0.1").removeprefix("http://127.0.0.1")
    reply = browser.get(link)

    assert reply.status == 303
    shown = browser.get(reply.headers["location"])
    assert shown.status == 200
    assert "1 of 1 change" in words(shown)
    assert "<del>8.50</del> <ins>7.50</ins>" in shown.text
    assert browser.get("/events/" + "a" * 32).status == 404
    assert browser.get("/events/nothing").status == 422


def test_versions_that_are_not_there_are_a_plain_page(shared_site: Site) -> None:
    browser = shared_site.browser("viewer")
    for path, status in (
        ("diff?old=0&new=77", 404),
        ("diff?old=x", 422),
        ("diff?view=nothing", 422),
        ("frame/both?old=5&new=6", 404),
        ("frame/other", 422),
        ("why?old=9&new=77", 200),
    ):
        reply = browser.get(f"/watches/{shared_site.watch}/{path}")
        assert reply.status == status, path
        assert "text/html" in reply.headers["content-type"]
    assert browser.get("/watches/987654").status == 404
    assert browser.get("/watches/nothing").status == 422


def test_why_explains_the_last_check_and_any_pair(shared_site: Site) -> None:
    browser = shared_site.browser("viewer")
    last = words(browser.get(f"/watches/{shared_site.watch}/why"))
    same = words(browser.get(f"/watches/{shared_site.watch}/why?old=2&new=2"))

    assert "fires on the last two versions" in last
    assert "does not fire" in same


def test_why_says_in_words_that_a_part_was_empty(site: Site) -> None:
    form = {"url": "https://example.org/price", "where": "p", "when": {"number": {"below": 8}}}
    pages = [b"<h1>Fish of the day</h1><p>%s</p></html>" % each for each in (b"9", b" ", b"Sold")]
    watch = add(site, form, *pages)
    browser = site.browser("viewer")

    empty = words(browser.get(f"/watches/{watch}/why?old=0&new=1"))
    assert "the part was empty, so there was no number" in empty
    assert "''" not in empty
    assert "no number in 'Sold'" in words(browser.get(f"/watches/{watch}/why?old=1&new=2"))


def test_versions_of_the_same_minute_have_different_times(site: Site) -> None:
    browser = site.browser("viewer")
    for tab in ("", "/diff", "/why", "/history"):
        found = re.findall(
            r"\b\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? UTC",
            browser.get(f"/watches/{site.watch}{tab}").text.partition('class="tabs"')[2],
        )
        assert len(found) >= 3, tab
        assert all(each.count(":") == 2 for each in found), tab


def test_the_history_of_numbers_is_a_chart_beside_a_table(shared_site: Site) -> None:
    reply = shared_site.browser("viewer").get(f"/watches/{shared_site.watch}/history")

    assert reply.text.count("<circle ") == 3
    for value in ("9.50", "8.50", "7.50"):
        assert f'<div class="value">{value}</div>' in reply.text
    assert "style=" not in reply.text, "the policy allows no style attributes"


def test_a_part_without_numbers_has_no_chart(site: Site) -> None:
    form = {"url": "https://example.org/words", "where": "p"}
    watch = add(site, form, b"<p>Open</p></html>", b"<p>Shut</p></html>")
    reply = site.browser("viewer").get(f"/watches/{watch}/history")

    assert "<circle" not in reply.text
    assert "Shut" in reply.text


def test_buttons_check_pause_resume_and_remove(site: Site) -> None:
    browser = site.browser("editor")
    path = f"/watches/{site.watch}"
    assert site.service.pages(site.watch)[0].due is not None
    for button, done in (("check", "checked"), ("pause", "paused"), ("resume", "resumed")):
        reply = browser.post(f"{path}/{button}", form={})
        assert (reply.status, reply.headers["location"]) == (303, f"{path}?done={done}")
        assert 'role="status"' in browser.get(reply.headers["location"]).text
        assert site.service.find(site.watch).paused == (button == "pause")
    assert "cannot be undone" in words(browser.get(f"{path}/remove"))
    assert browser.post(f"{path}/remove", form={}).headers["location"] == "/"
    assert browser.get(path).status == 404


def test_noise_is_listed_painted_and_switched(site: Site) -> None:
    form = {"url": "https://example.org/noisy", "name": "noisy", "where": "main"}
    count = 0

    async def fetch(_: ClaimedPage) -> Fetched:
        nonlocal count
        count += 1
        fish = b"Cod" if count > 1 else b"Hake"
        body = b"<main><p>%s today</p><p id=ad>Offer %d</p></main></html>" % (fish, count * 7919)
        return Fetched(200, body, "text/html")

    watch = site.service.add(form).id
    for _ in range(2):
        site.service.make_due(watch)
        site.runner.run(site.service.run_due(fetch))
    browser = site.browser("editor")
    shown = browser.get(f"/watches/{watch}/noise")
    diff = browser.get(f"/watches/{watch}/diff")
    redline = browser.get(f"/watches/{watch}/frame/both").text
    old = browser.get(f"/watches/{watch}/frame/old").text

    assert '<ins class="quire-ins">Cod</ins>' in redline
    assert re.search(r'<ins class="quire-ins quire-quiet" title="noise">\d+</ins>', redline)
    assert "1 of 1 change" in words(diff)
    assert "noise, not counted" in words(diff)
    assert '<ins class="quire-ins">Hake</ins>' in old
    assert old.count('id="quire-change-') == 1
    assert re.search(r'<ins class="quire-ins quire-quiet" title="noise">\d+</ins>', old)
    assert "p#ad" in words(shown)
    assert "two fetches right after each other differed here" in words(shown)
    frame = re.search(r'<iframe [^>]*? src="([^"]+)"', shown.text)
    assert frame
    assert re.search(r'<p id="ad" class="quire-outlined', browser.get(unescape(frame[1])).text)
    reply = browser.post(f"/watches/{watch}/noise", form={"learn": "off"})
    assert reply.status == 303
    assert not site.service.find(watch).watch.learn_noise
    assert "1 of 2 changes" in words(browser.get(f"/watches/{watch}/diff"))
    assert "Noise is switched off" in words(browser.get(reply.headers["location"]))
    browser.post(f"/watches/{watch}/noise", form={"learn": "on"})
    assert site.service.find(watch).watch.learn_noise


def test_a_part_of_the_page_is_left_out_by_its_selector(site: Site) -> None:
    browser = site.browser("editor")
    reply = browser.post(f"/watches/{site.watch}/noise", form={"selector": "#ad"})
    wrong = browser.post(f"/watches/{site.watch}/noise", form={"selector": "#ad >>"})

    assert reply.status == 303
    assert site.service.find(site.watch).form["without"] == ["#ad"]
    assert wrong.status == 422
    assert "#ad &gt;&gt;" in wrong.text
    form = {"url": URL, "name": "two", "parts": {"a": {"where": "p"}, "b": {"where": "b"}}}
    several = site.service.add(form).id
    browser.post(f"/watches/{several}/noise", form={"selector": ".ad"})
    parts = site.service.find(several).form["parts"]
    assert [part["without"] for part in parts.values()] == [[".ad"], [".ad"]]


def test_replay_counts_by_month_and_compares_another_form_before_it_is_saved(site: Site) -> None:
    browser = site.browser("editor")
    path = f"/watches/{site.watch}/replay"
    saved = words(browser.get(path))
    text = yaml_of(browser.get(path))
    stricter = f"{text}\nwhen:\n  number:\n    falls_below: 8\n"
    tried = browser.post(path, form={"form": stricter, "try": "1"})

    assert "would have told you 2 times on 3 stored versions" in saved
    assert re.search(r"2 times in \w+ 20\d\d", saved)
    assert "would have told you once" in words(tried)
    assert "with the saved form 2 times" in words(tried)
    assert "when" not in site.service.find(site.watch).form
    assert browser.post(path, form={"form": stricter, "save": "1"}).status == 303
    assert site.service.find(site.watch).form["when"] == {"number": {"falls_below": 8}}
    assert site.service.find(site.watch).watch.notify.targets == (
        "https://hooks.example/planted-target-secret",
    )


def yaml_of(reply: Reply) -> str:
    """Return the form in a page."""
    found = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", reply.text, re.DOTALL)
    assert found
    return unescape(found[1])


def test_a_form_is_edited_without_showing_its_secrets(site: Site) -> None:
    browser = site.browser("editor")
    path = f"/watches/{site.watch}/form"
    text = yaml_of(browser.get(path))
    reply = browser.post(path, form={"form": text.replace("name: price", "name: the price")})

    assert "<secret" in text
    assert reply.status == 303
    stored = site.service.find(site.watch).watch
    assert stored.name == "the price"
    assert stored.fetching.headers["Authorization"] == "Bearer planted-header-secret"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("every: yesterday", "every:"),
        ("nothing: 1", "nothing"),
        ("where: [1", "line"),
        ("when:\n  number:\n    below: x", "when.number.below"),
    ],
)
def test_an_error_in_a_form_names_the_line_and_the_field(
    shared_site: Site, more: str, said: str
) -> None:
    browser = shared_site.browser("editor")
    path = f"/watches/{shared_site.watch}/form"
    text = f"url: {URL}\nname: other\n{more}\n"
    for to in (path, path.replace("form", "replay")):
        reply = browser.post(to, form={"form": text})
        assert reply.status == 422
        found = re.search(r'role="alert"[^>]*>(.*?)</p>', reply.text, re.DOTALL)
        assert found
        assert said in unescape(found[1])
        assert "line" in found[1].lower()
        assert yaml_of(reply).strip() == text.strip(), "nothing that was typed is lost"


def test_secrets_do_not_go_to_another_address(site: Site) -> None:
    browser = site.browser("editor")
    path = f"/watches/{site.watch}/form"
    text = yaml_of(browser.get(path)).replace(URL, "https://evil.example/")
    reply = browser.post(path, form={"form": text})

    assert reply.status == 422
    assert "write its secrets again" in unescape(reply.text)


def test_no_page_shows_a_secret(site: Site) -> None:
    browser = site.browser("admin")
    for tab in (*TABS, "/watch.yaml", "/remove"):
        reply = browser.get(f"/watches/{site.watch}{tab}")
        assert reply.status == 200
        assert not any(secret in reply.text for secret in PLANTED), tab
    tested = browser.post(f"/watches/{site.watch}/test-notice", form={})
    assert tested.status == 200
    assert "arrived" in tested.text
    assert not any(secret in tested.text for secret in PLANTED)


def test_notices_that_died_are_sent_again(site: Site) -> None:
    browser = site.browser("editor")
    reply = browser.post(f"/watches/{site.watch}/resend", form={})

    assert reply.status == 303
    assert site.notices.calls[-1][0] == "resend"
    assert "waiting" in words(browser.get(f"/watches/{site.watch}/notices"))


def test_the_form_is_a_file_to_download(shared_site: Site) -> None:
    reply = shared_site.browser("viewer").get(f"/watches/{shared_site.watch}/watch.yaml")

    assert reply.headers["content-disposition"] == 'attachment; filename="price.yaml"'
    assert "where: '#price'" in reply.text


def test_a_question_shows_both_places_and_takes_the_answer(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = Proposal(
        URL, "moved", "", ("#price",), "b.cost", 0.81, "<9.50>", "<9.80>", used=True,
        since=instant(1_790_000_000.0),
    )  # fmt: skip
    answers: list[tuple[str, object, object]] = []
    monkeypatch.setattr(Service, "proposals", lambda *_: [question])
    monkeypatch.setattr(Service, "accept", lambda _, name, url: answers.append(("yes", name, url)))
    monkeypatch.setattr(Service, "reject", lambda _, name, url: answers.append(("no", name, url)))
    browser = site.browser("editor")
    shown = browser.get(f"/watches/{site.watch}")

    assert "Is this still the part you want to watch?" in words(shown)
    assert "81 % like it" in words(shown)
    assert "&lt;9.50&gt;" in shown.text
    assert "&lt;9.80&gt;" in shown.text
    for button in ("accept", "reject"):
        assert browser.post(f"/watches/{site.watch}/{button}", form={"url": URL}).status == 303
    assert answers == [("yes", site.watch, URL), ("no", site.watch, URL)]


def test_a_part_that_moved_is_watched_at_its_new_place_after_a_yes(site: Site) -> None:
    old, new = (DESIGNS[name](Product()).encode() for name in ("first", "components"))
    form = {"url": "https://example.org/shop", "name": "moved", "where": "#price"}
    watch = add(site, form, old, new)
    browser = site.browser("editor")
    shown = browser.get(f"/watches/{watch}")
    (asked,) = site.service.proposals(watch)

    assert "Is this still the part you want to watch?" in words(shown)
    assert asked.path in unescape(shown.text)
    reply = browser.post(f"/watches/{watch}/accept", form={"url": asked.url})
    assert reply.status == 303
    assert site.service.find(watch).form["where"] == asked.path
    assert "Is this still" not in words(browser.get(reply.headers["location"]))


def test_a_watch_of_several_pages_shows_the_one_that_is_chosen(site: Site) -> None:
    urls = ["https://example.org/a?x=1&y=2", "https://example.org/b"]
    form = {"urls": urls, "name": "several"}
    watch = add(site, form, b"<p>One</p></html>", b"<p>Two</p></html>")
    browser = site.browser("viewer")
    for url in urls:
        for tab in TABS:
            quoted = url.replace("&", "%26").replace("?", "%3F")
            reply = browser.get(f"/watches/{watch}{tab}?url={quoted}")
            assert reply.status == 200, tab
            assert f"<option selected>{url.replace('&', '&amp;')}</option>" in reply.text


def test_a_watch_without_versions_says_so_on_every_page(site: Site) -> None:
    watch = site.service.add({"url": "https://example.org/never", "name": "never"}).id
    browser = site.browser("editor")
    for tab in TABS:
        assert browser.get(f"/watches/{watch}{tab}").status == 200, tab
    assert "Nothing is stored yet" in words(browser.get(f"/watches/{watch}"))


HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'{{7103*7}}\u202e"


def test_hostile_names_addresses_and_pages_stay_text(site: Site) -> None:
    url = "https://example.org/%22%3E?a=%3Cscript%3E"
    old = (
        f"<title>{HOSTILE}</title><p title='{HOSTILE}'>{HOSTILE} 1</p>"
        "<p>&lt;script&gt;alert(3)&lt;/script&gt;<iframe src=//evil.example></iframe></html>"
    )
    form = {
        "url": url,
        "name": HOSTILE[:400],
        "where": "html",
        "tags": [HOSTILE],
        "when": {"text": {"has": HOSTILE}},
    }
    new = old.replace(" 1</p>", " 2</p><a href='javascript:alert(4)'>x</a>")
    watch = add(site, form, old.encode(), new.encode())
    browser = site.browser("admin")
    pages = [f"/watches/{watch}{tab}" for tab in (*TABS, "/remove")]
    pages += [f"/watches/{watch}/diff?view={view}" for view in VIEWS]
    for path in pages:
        reply = browser.get(path)
        assert reply.status == 200, path
        assert "<script>alert" not in reply.text, path
        assert "<img" not in reply.text, path
        assert "49721" not in reply.text, path
        assert "\u202e" not in reply.text, path
        assert "unsafe" not in reply.headers["content-security-policy"]
    for name in FRAMES:
        drawn = browser.get(f"/watches/{watch}/frame/{name}").text
        tags = Tags()
        tags.feed(drawn)
        assert not tags.names & {"script", "iframe", "object", "embed", "form", "base"}
        assert not {each for each in tags.attributes if each.startswith("on")}
        assert "javascript:" not in drawn
        assert "//evil.example" not in drawn


class Tags(HTMLParser):
    """The names of all elements and attributes of a document."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("application/json", b'{"a": "\\ud800 one"}', b'{"a": "\\ud800 two"}'),
        ("text/plain", b"one\r\ntwo", b"one\r\nthree\x00"),
        ("application/octet-stream", b"\x00\x01\x02" * 50, b"\x00\x01\x03" * 50),
        ("text/html", b"<p>" * 3000, b"<p>" * 3000 + b"end"),
        ("text/html", b"", b"<p>" + b"x" * 300_000),
        ("text/html; charset=x-user-defined", b"<p>\x80 a", b"<p>\x81 b"),
    ],
    ids=["json", "text", "bytes", "deep", "one long line", "rare encoding"],
)
def test_pages_of_any_kind_are_shown(site: Site, kind: str, old: bytes, new: bytes) -> None:
    watch = add(site, {"url": "https://example.org/kind", "name": "kind"}, old, new, kind=kind)
    browser = site.browser("viewer")
    for view in VIEWS:
        assert browser.get(f"/watches/{watch}/diff?view={view}").status == 200, view
    for name in FRAMES:
        assert browser.get(f"/watches/{watch}/frame/{name}").status in (200, 404), name
    for tab in TABS:
        assert browser.get(f"/watches/{watch}{tab}").status == 200, tab
