"""Targets of notices: checked at their field, with options from the environment, and feeds of events."""

from __future__ import annotations

import asyncio

import pytest

from quire.errors import StoreError, TargetError, WatchError
from quire.sentinels.sending import NoticeOptions, master_secret
from quire.sentinels.service import Service
from quire.sentinels.store import Database, add_watch
from tests.sentinels.test_sending import URL, Pages


@pytest.mark.parametrize(
    ("notify", "path"),
    [
        ("json://127.0.0.1/", "notify"),
        (["https://hooks.example/", "file:///etc/passwd"], "notify[1]"),
        ({"to": "mailto:me@example.org"}, "notify.to"),
        ({"to": ["ntfy://192.168.0.1/topic"]}, "notify.to[0]"),
    ],
)
def test_a_wrong_target_is_an_error_at_its_field(
    database: Database, notify: object, path: str
) -> None:
    service = Service(database, NoticeOptions())
    with pytest.raises(WatchError) as caught:
        service.add({"url": URL, "notify": notify})
    assert caught.value.path == path
    assert str(caught.value).startswith(f"{path}: ")

    service.add({"url": URL, "name": "w", "notify": "https://hooks.example/"})
    with pytest.raises(WatchError):
        service.edit("w", {"url": URL, "name": "w", "notify": notify})


def test_a_target_that_is_not_allowed_any_more_does_not_prevent_other_edits(
    database: Database,
) -> None:
    allowed = NoticeOptions(places=("ntfy://192.168.0.1",))
    form = {"url": URL, "name": "w", "notify": "ntfy://192.168.0.1/topic"}
    Service(database, allowed).add(form)

    assert Service(database, NoticeOptions()).edit("w", {**form, "paused": True}).paused


def test_options_come_from_the_environment() -> None:
    found = NoticeOptions.from_environment(
        {
            "QUIRE_MAIL_SERVER": "smtp://me:p%40ss@mail.example.org",
            "QUIRE_MAIL_SENDER": "quire@example.org",
            "QUIRE_BASE_URL": "https://quire.example",
        }
    )
    assert found.mail is not None
    assert (found.mail.host, found.mail.port, found.mail.security) == (
        "mail.example.org",
        587,
        "starttls",
    )
    assert (found.mail.user, found.mail.password.reveal()) == ("me", "p@ss")
    assert found.rules.mail
    for address in ("mail.example.org", "http://x", "smtp://", "smtp://x:y"):
        with pytest.raises(TargetError, match="QUIRE_MAIL_SERVER"):
            NoticeOptions.from_environment({"QUIRE_MAIL_SERVER": address})


def test_all_processes_sign_with_the_same_secret(database: Database) -> None:
    first = master_secret(database).reveal()

    assert len(first) == 64
    assert master_secret(database).reveal() == first


def test_a_feed_has_the_events_of_a_watch_or_of_a_tag(database: Database) -> None:
    pages = Pages(database)
    service = Service(database)
    with database.write() as connection:
        for name, tags in (("a", ["shop"]), ("b", "shop"), ("c", [])):
            form = {"url": URL, "name": name, "tags": tags, "every": "1 h"}
            add_watch(connection, {key: each for key, each in form.items() if each}, pages.now)
    asyncio.run(pages.change())
    asyncio.run(pages.change())
    pages.worker.close()

    assert service.feed("a").count(b"<entry>") == 1
    assert service.feed(tag="shop").count(b"<entry>") == 2
    with pytest.raises(StoreError, match="no watch with the tag"):
        service.feed(tag="none")
