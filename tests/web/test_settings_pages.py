"""Settings, as a browser without scripts sees them."""

from __future__ import annotations

import re

import pytest

from quire.sentinels.form import watches_to_text
from quire.sentinels.service import views
from quire.sentinels.versions.retention import Keep
from quire.web import create_app
from quire.web.pages.settings.pending import MOST_WAITING, WAITING_S, PendingFiles
from quire.web.settings import OperatorOption
from tests.web.client import Client, Reply
from tests.web.conftest import CHEAP, PASSWORD, PLANTED, Site
from tests.web.test_watches_page import HOSTILE, names

PAGES = ("", "/accounts", "/tokens", "/notices", "/import")


def upload(browser: Client, data: bytes, tool: str = "", name: str = "watches.txt") -> Reply:
    """Send a file with the form of the page."""
    body = b"".join(
        (
            b'--xyz\r\nContent-Disposition: form-data; name="tool"\r\n\r\n',
            tool.encode(),
            f'\r\n--xyz\r\nContent-Disposition: form-data; name="file"; filename="{name}"'.encode(),
            b"\r\nContent-Type: application/octet-stream\r\n\r\n",
            data,
            b'\r\n--xyz\r\nContent-Disposition: form-data; name="addresses"\r\n\r\n\r\n--xyz--\r\n',
        )
    )
    kind = {"content-type": "multipart/form-data; boundary=xyz"}
    return browser.post("/settings/import", body=body, headers=kind)


def added(browser: Client, shown: Reply) -> Reply:
    """Press the button below a file that was shown."""
    key = re.search(r'name="key" value="([^"]+)"', shown.text)
    assert key is not None
    return browser.post("/settings/import/add", form={"key": key[1]})


@pytest.mark.parametrize("path", PAGES)
def test_every_section_is_shown_to_those_who_may_see_it(site: Site, path: str) -> None:
    for role in ("viewer", "editor", "admin"):
        reply = site.browser(role).get(f"/settings{path}")
        allowed = role == "admin" or path != "/accounts"
        assert reply.status == (200 if allowed else 403)
        if allowed:
            assert reply.text.count('aria-current="page"') == 2
            assert not any(secret in reply.text for secret in PLANTED)
        assert ('href="/settings/accounts"' in reply.text) == (role == "admin" and allowed)


def test_the_service_is_shown_at_a_glance(site: Site) -> None:
    option = OperatorOption("Pause <b>", "1 s", "--pause")
    site.app = create_app(site.service, hasher=CHEAP, options=[option])

    page = site.browser("viewer").get("/settings").text

    assert "<strong>1</strong> watch" in page
    assert "<strong>3</strong> versions of pages" in page
    assert "SQLite" in page
    assert "free on its disk" in page
    assert "Pause &lt;b&gt;" in page
    assert "<code>--pause</code>" in page
    assert 'action="/settings/keep"' not in page


def test_administrators_change_what_is_kept(site: Site) -> None:
    admin = site.browser("admin")

    reply = admin.post("/settings/keep", form={"versions": "20", "age": " 90 d ", "bytes": ""})

    assert reply.headers["location"] == "/settings?done=keep"
    found = site.service.keep()
    assert (found.versions, found.age.days if found.age else 0, found.bytes) == (20, 90, None)
    shown = admin.get("/settings?done=keep").text
    assert 'value="20"' in shown
    assert 'value="90 d"' in shown
    assert "The limits were changed." in shown
    for name, value in (("versions", "-1"), ("age", "soon"), ("bytes", "<b>"), ("versions", "0")):
        refused = admin.post("/settings/keep", form={name: value})
        assert (refused.status, f"{name}:" in refused.text) == (422, True)
    assert site.service.keep() == found
    assert site.browser("editor").post("/settings/keep", form={"versions": "1"}).status == 403
    admin.post("/settings/keep", form={"versions": "", "age": "", "bytes": ""})
    assert site.service.keep() == Keep()


def test_an_account_is_added_with_a_password_that_is_shown_once(site: Site) -> None:
    admin = site.browser("admin")

    reply = admin.post("/settings/accounts", form={"name": "Ada", "role": "editor"})

    password = re.search(r'class="secret">([^<]+)<', reply.text)
    assert password is not None
    assert "secret" not in admin.get("/settings/accounts").text
    ada = site.anonymous()
    assert ada.log_in("Ada", password[1]).status == 303
    assert ada.get("/").headers["location"] == "/password"
    chosen = ada.post("/password", form={"old": password[1], "new": "a better password"})
    assert chosen.headers["location"] == "/"
    assert names(ada.get("/")) == ["price"]  # on to the list


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "viewer", "role": "viewer"}, "there is already an account"),
        ({"name": "", "role": "viewer"}, "name: expected"),
        ({"name": "x", "role": "king"}, "role: expected"),
        ({"name": "\a", "role": "viewer"}, "name: expected"),
        ({"name": HOSTILE * 10, "role": "viewer"}, "name: expected"),
    ],
)
def test_an_account_that_is_not_valid_is_refused_with_a_reason(
    site: Site, fields: dict[str, str], message: str
) -> None:
    reply = site.browser("admin").post("/settings/accounts", form=fields)

    assert (reply.status, message in reply.text) == (422, True), reply.text
    assert "<script>alert" not in reply.text


def test_accounts_are_changed_disabled_and_removed(site: Site) -> None:
    admin, number = site.browser("admin"), site.accounts["viewer"]
    where = f"/settings/accounts/{number}"

    assert admin.post(where, form={"action": "role", "role": "editor"}).status == 303
    assert site.app.state.quire.accounts.get(number).role == "editor"
    admin.post(where, form={"action": "disable"})
    assert site.anonymous().log_in("viewer", PASSWORD).status == 403
    assert "disabled" in admin.get("/settings/accounts?done=disable").text
    admin.post(where, form={"action": "enable"})
    assert site.anonymous().log_in("viewer", PASSWORD).status == 303
    reset = admin.post(where, form={"action": "reset"})
    password = re.search(r'class="secret">([^<]+)<', reset.text)
    assert password is not None
    assert site.anonymous().log_in("viewer", password[1]).status == 303
    assert "Remove the account viewer?" in admin.post(where, form={"action": "remove"}).text
    assert admin.post(where, form={"action": "remove", "sure": "yes"}).status == 303
    assert "does not exist" in admin.post(where, form={"action": "disable"}).text
    assert admin.post(where, form={"action": "explode"}).status == 422


def test_the_last_administrator_cannot_lock_everyone_out(site: Site) -> None:
    admin, number = site.browser("admin"), site.accounts["admin"]
    for fields in (
        {"action": "role", "role": "viewer"},
        {"action": "disable"},
        {"action": "remove", "sure": "yes"},
    ):
        reply = admin.post(f"/settings/accounts/{number}", form=fields)
        assert "is the last administrator" in reply.text


def test_a_token_is_made_shown_once_and_removed(site: Site) -> None:
    editor = site.browser("editor")

    reply = editor.post("/settings/tokens", form={"name": "script", "scope": "write"})

    token = re.search(r'class="secret">([^<]+)<', reply.text)
    assert token is not None
    assert site.anonymous().with_token(token[1]).get("/api/v1/watches").status == 200
    page = editor.get("/settings/tokens").text
    assert token[1] not in page
    assert 'value="admin"' not in page  # an editor cannot give away more than it has
    number = re.search(r'action="/settings/tokens/(\d+)"', page)
    assert number is not None
    assert editor.post(f"/settings/tokens/{number[1]}", form={}).status == 303
    assert site.anonymous().with_token(token[1]).get("/api/v1/watches").status == 401


def test_tokens_of_others_are_for_administrators(site: Site) -> None:
    state = site.app.state.quire
    number, _ = state.tokens.add(site.accounts["editor"], HOSTILE, ["read"])
    viewer, admin = site.browser("viewer"), site.browser("admin")

    assert "alert(1)" not in viewer.get("/settings/tokens").text
    assert viewer.post(f"/settings/tokens/{number}", form={}).status == 422
    shown = admin.get("/settings/tokens").text
    assert "alert(1)" in shown
    assert "<script>alert" not in shown
    assert admin.post(f"/settings/tokens/{number}", form={}).status == 303
    assert state.tokens.all(site.accounts["editor"]) == []
    wrong = viewer.post("/settings/tokens", form={"name": "x", "scope": "king"})
    assert "scopes: expected" in wrong.text


def test_targets_are_listed_and_tested(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, object]] = []
    answers = [
        views.TestedTarget("https://hooks.example/…", "", ""),
        views.TestedTarget("mailto:…", "no", ""),
    ]

    async def test_target(key: str, gate: object) -> views.TestedTarget:
        asked.append((key, gate))
        return answers[len(asked) - 1]

    monkeypatch.setattr(site.service, "test_target", test_target)
    editor = site.browser("editor")
    page = editor.get("/settings/notices").text
    key = re.search(r'name="key" value="([^"]+)"', page)
    assert key is not None
    assert "https://hooks.example/" in page

    sent = editor.post("/settings/notices/test", form={"key": key[1]})
    failed = editor.post("/settings/notices/test", form={"key": key[1]})

    assert asked == [(key[1], "an open gate")] * 2
    assert "A test message was sent to https://hooks.example/…" in sent.text
    assert (failed.status, "mailto:…: no" in failed.text) == (422, True)
    assert 'name="key"' not in site.browser("viewer").get("/settings/notices").text
    monkeypatch.undo()
    unknown = editor.post("/settings/notices/test", form={"key": "nothing"})
    assert "not in use any more" in unknown.text


def test_dead_letters_are_sent_again(site: Site) -> None:
    editor = site.browser("editor")
    page = editor.get("/settings/notices").text
    assert 'name="notice" value="1a"' in page
    assert "me:pw" not in page

    reply = editor.post("/settings/notices/resend", form={"notice": "1a"})

    assert reply.headers["location"] == "/settings/notices?resent=1"
    assert ("resend", ["1a"]) in site.notices.calls
    assert "1 will be sent again." in editor.get("/settings/notices?resent=1").text
    assert "Choose one or more" in editor.post("/settings/notices/resend", form={}).text


def test_a_file_is_shown_before_its_watches_are_added(site: Site) -> None:
    editor = site.browser("editor")
    data = b"https://one.example/ news\nhttps://two.example/\nnonsense\n"

    shown = upload(editor, data)

    assert "2 watches would be added" in shown.text
    assert "https://one.example/" in shown.text
    assert "not an address" in shown.text
    assert len(site.service.watches()) == 1
    done = added(editor, shown)
    assert "2 watches added" in done.text
    assert [each.watch.name for each in site.service.watches(tag="news")] == [
        "https://one.example/"
    ]
    again = upload(editor, data)
    assert "Nothing would be added" in again.text
    assert "there is a watch with this name already" in again.text


def test_an_export_can_be_imported_again(site: Site) -> None:
    text = watches_to_text([each.watch for each in site.service.watches()], secrets=True)
    site.service.remove(site.watch)
    editor = site.browser("editor")

    shown = upload(editor, text.encode(), name="watches.yaml")

    assert "1 watch would be added" in shown.text
    assert not any(secret in shown.text for secret in PLANTED)
    added(editor, shown)
    assert site.service.find("price").watch.notify.targets == (
        "https://hooks.example/planted-target-secret",
    )


def test_pasted_addresses_are_imported_too(site: Site) -> None:
    editor = site.browser("editor")
    body = (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\n\r\n'
        b'--x\r\nContent-Disposition: form-data; name="addresses"\r\n\r\n'
        b"https://pasted.example/\r\n--x--\r\n"
    )
    kind = {"content-type": "multipart/form-data; boundary=x"}

    shown = editor.post("/settings/import", body=body, headers=kind)

    assert "https://pasted.example/" in shown.text
    assert "1 watch added" in added(editor, shown).text


@pytest.mark.parametrize(
    ("data", "tool"),
    [
        (b"", ""),
        (b"\x00\xff\xfe", ""),
        (b"PK\x03\x04 not a zip", ""),
        (b"[" * 100_000, "distill"),
        (b"{", "changedetection.io"),
        (HOSTILE.encode(), "urls"),
        (f"watches:\n  - url: 5\n    name: {HOSTILE!r}".encode(), "quire"),
        (b"watches: [{url: 'https://a.example/', fetch: {headers: {A: <secret>}}}]", ""),
    ],
)
def test_a_file_that_cannot_be_imported_is_refused_with_a_reason(
    site: Site, data: bytes, tool: str
) -> None:
    reply = upload(site.browser("editor"), data, tool, name=f"{HOSTILE[:20].replace(chr(34), '')}")

    assert reply.status in (200, 422)
    assert "<script" not in re.sub(
        r'<script type="module" src="/static/[^"]+"></script>', "", reply.text
    )
    assert 'role="alert"' in reply.text or "Nothing would be added" in reply.text
    assert 'name="key"' not in reply.text
    assert len(site.service.watches()) == 1


def test_a_file_waits_for_the_one_who_uploaded_it_and_not_for_long(site: Site) -> None:
    editor, admin = site.browser("editor"), site.browser("admin")
    shown = upload(editor, b"https://one.example/\n")
    assert "does not wait any more" in added(admin, shown).text
    assert "1 watch added" in added(editor, shown).text
    assert "does not wait any more" in added(editor, shown).text

    now = [0.0]
    files = PendingFiles(lambda: now[0])
    keys = {number: files.put(number, b"x", None) for number in range(MOST_WAITING + 1)}
    assert files.take(0, keys[0]) is None  # the oldest made room
    assert files.take(1, keys[2]) is None
    assert files.take(1, keys[1]) is not None
    now[0] = WAITING_S
    assert files.take(2, keys[2]) is None


def test_downloads_are_those_of_the_api(site: Site) -> None:
    for role, backup in (("viewer", False), ("admin", True)):
        browser = site.browser(role)
        page = browser.get("/settings/import").text
        assert ("/api/v1/backup" in page) == backup
        assert ("/api/v1/export-with-secrets" in page) == backup
        for path in re.findall(r'href="(/api/v1/[^"]+)"', page):
            assert browser.get(path).status == 200, path
    assert 'type="file"' not in site.browser("viewer").get("/settings/import").text
