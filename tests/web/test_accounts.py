"""Accounts, passwords, sessions and tokens."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.runtime.environment import EnvironmentContext
from sqlalchemy import create_engine, inspect, select, update

from quire.errors import AccountError, NameTaken
from quire.sentinels.accounts import Accounts, Hasher, Lifetimes, Sessions, Tokens
from quire.sentinels.service import Service
from quire.sentinels.store import Database
from quire.sentinels.store.migrations import scripts
from quire.sentinels.store.tables import account, metadata, session, token
from quire.web import Settings, create_app, set_up_logs
from quire.web.protection.throttle import FREE_FAILURES, Throttle
from tests.sentinels.conftest import database as database  # noqa: PLC0414 - a fixture
from tests.web.client import Client
from tests.web.conftest import PASSWORD, Site, make_site

V1 = "/api/v1"
CHEAP = Hasher(memory_kib=8, passes=1)
OTHER = "another good password"


def test_the_first_start_makes_one_administrator_with_a_password_that_works_once(
    database: Database,
) -> None:
    accounts = Accounts(database, CHEAP)
    password = accounts.make_first()

    assert password is not None
    assert accounts.make_first() is None
    (first,) = accounts.all()
    assert (first.name, first.role, first.must_change_password) == ("admin", "admin", True)
    assert accounts.with_password("admin", password) is not None
    with database.read() as connection:
        stored = connection.execute(select(account.c.password)).scalar_one()
    assert stored.startswith("$argon2id$")
    assert password not in stored


def test_a_one_time_password_only_allows_choosing_another_one(site: Site) -> None:
    site.app.state.quire.accounts.add("new", PASSWORD, "admin", one_time=True)
    browser = site.browser("new")

    assert browser.get("/").headers["location"] == "/password"
    assert browser.get(f"{V1}/watches").status == 403
    assert browser.get(f"{V1}/accounts").status == 403
    assert browser.get("/password").status == 200
    short = browser.post("/password", form={"old": PASSWORD, "new": "short"})
    assert short.status == 422
    assert browser.post("/password", form={"old": "wrong", "new": OTHER}).status == 403
    same = browser.post("/password", form={"old": PASSWORD, "new": PASSWORD})
    assert same.status == 422
    assert browser.post("/password", form={"old": PASSWORD, "new": OTHER}).status == 303
    assert browser.get(f"{V1}/accounts").status == 200
    assert site.anonymous().log_in("new", PASSWORD).status == 403


def test_a_session_cookie_is_for_our_own_pages_only(site: Site, tmp_path: Path) -> None:
    found = site.anonymous().log_in("viewer", PASSWORD)
    cookie = found.cookies[0].lower()

    assert found.headers["location"] == "/"
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "path=/" in cookie
    secure = make_site(
        Database.open(tmp_path / "secure.db"), Settings(base_url="https://watch.example.org")
    )
    browser = secure.anonymous()
    reply = browser.post(
        "/login",
        form={"name": "viewer", "password": PASSWORD},
        host="watch.example.org",
        origin="https://watch.example.org",
    )
    assert reply.cookies[0].startswith("__Host-quire=")
    assert "; secure" in reply.cookies[0].lower()
    assert "domain" not in reply.cookies[0].lower()
    assert "strict-transport-security" in reply.headers
    secure.runner.close()
    secure.service.database.close()


def test_logging_out_ends_the_session_on_the_server(site: Site) -> None:
    browser = site.browser("viewer")
    cookie = browser.cookie

    assert browser.get("/").status == 200
    assert browser.post("/logout").status == 303
    assert not browser.cookie
    browser.cookie = cookie
    assert browser.get(f"{V1}/me").status == 401


def test_logging_in_makes_a_new_session_and_ends_the_old_one(site: Site) -> None:
    browser = site.browser("viewer")
    old = browser.cookie
    browser.log_in("editor", PASSWORD)

    assert browser.cookie != old
    assert browser.get(f"{V1}/me").json()["name"] == "editor"
    browser.cookie = old
    assert browser.get(f"{V1}/me").status == 401


def test_another_password_ends_all_other_sessions(site: Site) -> None:
    one, two = site.browser("editor"), site.browser("editor")
    given = {"old": PASSWORD, "new": OTHER}

    assert one.post(f"{V1}/me/password", data={**given, "old": "wrong password"}).status == 403
    assert one.post(f"{V1}/me/password", data=given).status == 204
    assert one.get(f"{V1}/me").status == 200
    assert two.get(f"{V1}/me").status == 401
    # An administrator's reset does too.
    where = f"{V1}/accounts/{site.accounts['editor']}"
    site.program("admin").call("PATCH", where, data={"password": "reset by admin"})
    assert one.get(f"{V1}/me").status == 401


def test_sessions_end_when_unused_or_old(database: Database) -> None:
    accounts = Accounts(database, CHEAP)
    number = accounts.add("me", PASSWORD, "viewer").id
    sessions = Sessions(database, Lifetimes(unused_s=100, whole_s=1000))
    key = sessions.begin(number)

    assert sessions.identify(key) is not None
    assert sessions.identify(key + "x") is None
    assert sessions.identify("") is None
    for column, age, is_open in (
        ("used", 50, True),
        ("used", 101, False),
        ("created", 1001, False),
    ):
        with database.write() as connection:
            now = connection.execute(select(session.c.created)).scalar_one()
            connection.execute(update(session).values(used=now, created=now))
            connection.execute(update(session).values({column: session.c[column] - age}))
        assert (sessions.identify(key) is not None) is is_open, (column, age)
        with database.write() as connection:
            connection.execute(update(session).values(used=now, created=now))
    with database.write() as connection:
        connection.execute(update(session).values(used=0.0))
    sessions.begin(number)
    with database.read() as connection:
        assert len(connection.execute(select(session)).all()) == 1


def test_the_database_has_only_hashes(database: Database) -> None:
    accounts, tokens = Accounts(database, CHEAP), Tokens(database)
    number = accounts.add("me", PASSWORD, "viewer").id
    _, made = tokens.add(number, "mine", ["read"])
    key = Sessions(database).begin(number)

    with database.read() as connection:
        rows = [
            repr(connection.execute(select(table)).all()) for table in (account, token, session)
        ]
    for secret in (PASSWORD, made, made.removeprefix("quire_"), key):
        assert not any(secret in row for row in rows)


def test_roles_and_scopes_both_limit_a_token(database: Database) -> None:
    accounts, tokens = Accounts(database, CHEAP), Tokens(database)
    accounts.add("boss", PASSWORD, "admin")
    number = accounts.add("me", PASSWORD, "viewer").id
    _, made = tokens.add(number, "mine", ["admin", "write", "read"])

    found = tokens.identify(made)
    assert found is not None
    assert found.level.name == "READ"
    accounts.set_role(number, "editor")
    found = tokens.identify(made)
    assert found is not None
    assert found.level.name == "WRITE"
    accounts.remove(number)
    assert tokens.identify(made) is None


@pytest.mark.parametrize("scopes", [[], ["everything"], ["read write"], ["READ"]])
def test_scopes_that_do_not_exist_are_refused(database: Database, scopes: list[str]) -> None:
    number = Accounts(database, CHEAP).add("me", PASSWORD, "viewer").id
    with pytest.raises(AccountError, match="scopes"):
        Tokens(database).add(number, "mine", scopes)


def test_a_token_is_shown_once_and_can_be_removed_by_its_owner_only(site: Site) -> None:
    editor, viewer = site.browser("editor"), site.browser("viewer")
    made = editor.post(f"{V1}/me/tokens", data={"name": "mine", "scopes": ["admin"]}).json()
    program = site.anonymous().with_token(made["token"])

    assert program.get(f"{V1}/watches").status == 200
    assert program.get(f"{V1}/accounts").status == 403  # never more than the role
    listed = editor.get(f"{V1}/me/tokens")
    assert made["token"] not in listed.text
    assert [each["name"] for each in listed.json()] == ["mine"]
    assert viewer.get(f"{V1}/me/tokens").json() == []
    assert viewer.call("DELETE", f"{V1}/me/tokens/{made['id']}").status == 404
    # A token cannot make tokens for its account, or change its password.
    assert program.post(f"{V1}/me/tokens", data={"name": "x", "scopes": ["admin"]}).status == 403
    assert editor.call("DELETE", f"{V1}/me/tokens/{made['id']}").status == 204
    assert program.get(f"{V1}/watches").status == 401


def test_administrators_manage_accounts_and_tokens(site: Site) -> None:
    admin = site.program("admin")
    given = {"name": "new", "password": PASSWORD, "role": "viewer", "one_time": False}
    added = admin.post(f"{V1}/accounts", data=given).json()

    assert admin.post(f"{V1}/accounts", data=given).status == 409
    for wrong, field in (
        ({"password": "short"}, "password"),
        ({"role": "root"}, "role"),
        ({"name": " "}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"is_admin": True}, "is_admin"),
    ):
        found = admin.post(f"{V1}/accounts", data={**given, "name": "other", **wrong})
        assert (found.status, found.json()["field"]) == (422, field)
        assert "short" not in found.text
    assert "argon2" not in admin.get(f"{V1}/accounts").text
    made = admin.post(
        f"{V1}/tokens", data={"account": added["id"], "name": "t", "scopes": ["read"]}
    ).json()
    assert site.anonymous().with_token(made["token"]).get(f"{V1}/me").json()["name"] == "new"
    assert admin.call("DELETE", f"{V1}/tokens/{made['id']}").status == 204
    changed = admin.call("PATCH", f"{V1}/accounts/{added['id']}", data={"role": "editor"})
    assert changed.json()["role"] == "editor"
    assert admin.call("DELETE", f"{V1}/accounts/{added['id']}").status == 204
    assert admin.call("DELETE", f"{V1}/accounts/{added['id']}").status == 404


def test_the_last_administrator_stays_and_watches_outlive_their_owner(site: Site) -> None:
    admin = site.program("admin")
    where = f"{V1}/accounts/{site.accounts['admin']}"

    assert admin.call("DELETE", where).status == 422
    assert admin.call("PATCH", where, data={"role": "viewer"}).status == 422
    editor = site.browser("editor")
    watch = editor.post(f"{V1}/watches", data={"url": "https://example.org/mine"}).json()["id"]
    assert admin.call("DELETE", f"{V1}/accounts/{site.accounts['editor']}").status == 204
    assert admin.get(f"{V1}/watches/{watch}").status == 200


def test_names_are_unique_and_passwords_long_enough(database: Database) -> None:
    accounts = Accounts(database, CHEAP)
    accounts.add("me", PASSWORD, "viewer")
    with pytest.raises(NameTaken):
        accounts.add(" me ", PASSWORD, "viewer")
    for wrong in ("", "x" * 9, "x" * 1001, "x" * 20 + "\ud800"):
        with pytest.raises(AccountError, match="password"):
            accounts.add("other", wrong, "viewer")


def test_a_hash_with_other_costs_is_renewed_at_log_in(database: Database) -> None:
    Accounts(database, CHEAP).add("me", PASSWORD, "viewer")
    dear = Accounts(database, Hasher(memory_kib=16, passes=2))

    assert dear.with_password("me", PASSWORD) is not None
    with database.read() as connection:
        stored = connection.execute(select(account.c.password)).scalar_one()
    assert "m=16,t=2" in stored
    assert dear.with_password("me", PASSWORD) is not None


# ------------------------------------------------------------ guessing


def test_guessing_is_slowed_down_for_an_address_and_for_a_name(site: Site) -> None:
    stranger = site.anonymous("203.0.113.5")
    statuses = [stranger.log_in("viewer", f"wrong {number}").status for number in range(9)]

    assert statuses[: FREE_FAILURES + 1] == [403] * (FREE_FAILURES + 1)
    assert set(statuses[FREE_FAILURES + 1 :]) == {429}
    right = stranger.log_in("viewer", PASSWORD)
    assert right.status == 429
    assert int(right.headers["retry-after"]) >= 1
    assert site.anonymous("203.0.113.6").log_in("viewer", PASSWORD).status == 429
    assert site.anonymous("203.0.113.6").log_in("editor", PASSWORD).status == 303


def test_pauses_double_and_are_forgotten() -> None:
    now = 0.0
    throttle = Throttle(clock=lambda: now)
    waits = []
    for _ in range(20):
        throttle.failed("a", "n")
        waits.append(throttle.wait_s("a", "n"))
    assert waits[:FREE_FAILURES] == [0.0] * FREE_FAILURES
    assert waits[FREE_FAILURES : FREE_FAILURES + 3] == [2.0, 4.0, 8.0]
    assert max(waits) == waits[-1] == 900.0
    now = 901.0
    assert throttle.wait_s("a", "n") == 0.0
    throttle.succeeded("a", "n")
    throttle.failed("a", "n")
    assert throttle.wait_s("a", "n") == 0.0


def test_the_memory_of_failures_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quire.web.protection.throttle.MOST_KEYS", 10)
    throttle = Throttle()
    for number in range(100):
        throttle.failed(f"10.0.0.{number}", f"name {number}")
    assert len(throttle._records) == 10


def test_an_unknown_name_takes_as_much_work_as_a_wrong_password(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasher = site.app.state.quire.accounts.hasher
    verified: list[str] = []
    real = hasher._argon2.verify

    class Counting:
        def verify(self, stored: str, password: str) -> bool:
            verified.append(stored)
            return bool(real(stored, password))

    monkeypatch.setattr(hasher, "_argon2", Counting())
    known = site.anonymous().log_in("viewer", "wrong password")
    unknown = site.anonymous().log_in("no such name", "wrong password")

    assert len(verified) == 2
    assert known.status == unknown.status == 403
    assert known.body.replace(b"viewer", b"") == unknown.body.replace(b"no such name", b"")


# ------------------------------------------------------------ the table of sessions


def test_a_database_of_the_first_schema_gets_the_new_tables(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    engine = create_engine(f"sqlite:///{path}")
    config, script = scripts()
    with engine.begin() as connection:
        with EnvironmentContext(
            config, script, fn=lambda revision, _: script._upgrade_revs("0001", revision)
        ) as environment:
            environment.configure(connection=connection)
            environment.run_migrations()
        connection.exec_driver_sql(
            "INSERT INTO account (name, password, role, created) VALUES ('old', 'x', 'admin', 0)"
        )
    engine.dispose()

    found = Database.open(path)
    tables = inspect(found.engine)
    assert set(metadata.tables) <= set(tables.get_table_names())
    for name, table in metadata.tables.items():
        assert {each["name"] for each in tables.get_columns(name)} == set(table.c.keys())
    assert [each.name for each in Accounts(found, CHEAP).all()] == ["old"]
    found.close()


# ------------------------------------------------------------ logs


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """Logs as JSON."""
    root = logging.getLogger()
    before, level = root.handlers, root.level
    stream = io.StringIO()
    set_up_logs(stream, as_json=True)
    yield stream
    root.handlers, root.level = before, level


def test_logs_are_json_without_secrets(site: Site, written: io.StringIO) -> None:
    site.anonymous().log_in("viewer", PASSWORD)
    site.anonymous().log_in("viewer", "planted wrong password")
    site.anonymous().get(f"{V1}/feed?watch=1&token={site.tokens['feed']}")
    site.program("admin").get(f"{V1}/watches?text=planted-query")
    logging.getLogger("uvicorn.error").warning(
        "GET /feed?token=%s by http://me:planted-pw@h/", site.tokens["feed"]
    )
    text = written.getvalue()
    lines = [json.loads(line) for line in text.splitlines()]

    assert {"request", "log-in refused"} <= {line["event"] for line in lines}
    served = [line for line in lines if line["event"] == "request"]
    assert {"method", "route", "status", "seconds", "account", "level", "timestamp"} <= set(
        served[-1]
    )
    assert served[-1]["account"] == "admin"
    for secret in (PASSWORD, "planted", *(each[10:] for each in site.tokens.values())):
        assert secret not in text


def test_people_get_short_lines_and_none_for_requests_that_went_well(site: Site) -> None:
    root = logging.getLogger()
    before, level = root.handlers, root.level
    stream = io.StringIO()
    set_up_logs(stream, as_json=False)
    try:
        site.program("admin").get(f"{V1}/watches")
        site.program("admin").get(f"{V1}/watches/987654")
        site.anonymous().log_in("viewer", "a wrong one")
        logging.getLogger("uvicorn.error").info("Started server process")
        logging.getLogger("quire.sentinels.running").info("worker %s has started", "a")
    finally:
        root.handlers, root.level = before, level

    lines = [re.sub(r"^\d\d:\d\d:\d\d  ", "", line) for line in stream.getvalue().splitlines()]
    assert lines == [
        f"GET {V1}/watches/987654: 404",
        "warning: log-in refused (name viewer, status 403)",
        "POST /login: 403",
        "worker a has started",
    ]


def test_text_of_strangers_stays_on_its_line(site: Site) -> None:
    root = logging.getLogger()
    before, level = root.handlers, root.level
    stream = io.StringIO()
    set_up_logs(stream, as_json=False)
    try:
        site.anonymous().get("/%0a2026-01-01 [info] request forged%1b[31m")
    finally:
        root.handlers, root.level = before, level

    assert len(stream.getvalue().splitlines()) == 1
    assert "\x1b" not in stream.getvalue()


def test_an_application_without_accounts_is_closed(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "empty.db")
    with asyncio.Runner() as runner:
        client = Client(create_app(Service(database), hasher=CHEAP), runner)
        assert client.get(f"{V1}/watches").status == 401
        assert client.log_in("admin", "").status == 403
        assert client.log_in("", "").status == 403
    database.close()


def test_a_disabled_account_cannot_be_used_until_it_is_enabled_again(site: Site) -> None:
    admin, editor = site.program("admin"), site.browser("editor")
    number = site.accounts["editor"]
    token = site.app.state.quire.tokens.add(number, "mine", ["write"])[1]
    address = f"/api/v1/accounts/{number}"

    changed = admin.call("PATCH", address, data={"disabled": True})

    assert (changed.status, changed.json()["disabled"]) == (200, True)
    assert editor.get("/").headers["location"].startswith("/login")
    assert site.anonymous().log_in("editor", PASSWORD).status == 403
    assert site.anonymous().with_token(token).get("/api/v1/me").status == 401
    admin.call("PATCH", address, data={"disabled": False})
    assert editor.get("/").headers["location"].startswith("/login")  # its session has ended
    assert site.browser("editor").get("/").status == 200
    assert site.anonymous().with_token(token).get("/api/v1/me").status == 200


def test_the_last_administrator_who_is_not_disabled_stays(site: Site) -> None:
    admin = site.program("admin")
    first, second = (f"/api/v1/accounts/{site.accounts[name]}" for name in ("admin", "editor"))
    assert admin.call("PATCH", second, data={"role": "admin"}).status == 200
    assert admin.call("PATCH", second, data={"disabled": True}).status == 200

    refused = admin.call("PATCH", first, data={"disabled": True})

    assert (refused.status, "last administrator" in refused.text) == (422, True)
    assert admin.call("PATCH", first, data={"role": "viewer"}).status == 422
    assert admin.call("DELETE", first).status == 422
    assert admin.call("DELETE", second).status == 204  # disabled: not the last one
