"""Hostile requests: every one gets a plain refusal, and the service goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from quire.errors import StoreError
from quire.sentinels.checking.answers import Fetched
from quire.sentinels.service import Service
from quire.sentinels.store import ClaimedPage, Database
from quire.web import Settings
from tests.sentinels.databases import new_postgres
from tests.web.conftest import PASSWORD, URL, Site, make_site

V1 = "/api/v1"
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def either(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """An application on each kind of database."""
    path = tmp_path_factory.mktemp("hostile") / "quire.db"
    database = Database.open(path if request.param == "sqlite" else new_postgres())
    found = make_site(database)
    yield found
    found.runner.close()
    database.close()


BODIES: dict[str, bytes] = {
    "deep lists": b"[" * 200_000,
    "deep mappings": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "deep conditions": b'{"url":"https://e.example/","when":'
    + b'{"not":' * 5_000
    + b'"changed"'
    + b"}" * 5_000
    + b"}",
    "not JSON": b"{url: 1}",
    "empty": b"",
    "a list": b"[]",
    "a number": b"1",
    "a long number": b"9" * 10_000,
    "infinity": b'{"url": "https://e.example/", "every": Infinity}',
    "not a number": b'{"url": "https://e.example/", "when": {"number": {"below": NaN}}}',
    "null": b"null",
    "not UTF-8": b'{"url": "\xff\xfe"}',
    "UTF-16": '{"url": "https://e.example/"}'.encode("utf-16"),
    "NUL": b'{"url": "https://e.example/", "name": "a\\u0000b"}',
    "raw NUL": b'{"url": "https://e.example/\x00"}',
    "half a surrogate pair": b'{"url": "https://e.example/", "name": "\\ud800"}',
    "half a pair as a name": b'{"url": "https://e.example/", "\\ud800": 1}',
    "wrong types": b'{"url": {"a": 1}, "name": [1], "tags": 5, "when": 3, "notify": {"to": 1}}',
    "unknown fields": b'{"url": "https://e.example/", "__proto__": {"admin": true}}',
    "many fields": json.dumps({f"f{number}": 1 for number in range(50_000)}).encode(),
    "a long name": json.dumps({"url": "https://e.example/", "name": "n" * 90_000}).encode(),
    "a long address": json.dumps(
        {"url": "https://e.example/" + "a" * 90_000, "name": "l"}
    ).encode(),
    "a long tag": json.dumps({"url": "https://e.example/", "tags": ["t" * 90_000]}).encode(),
    "a file address": b'{"url": "file:///etc/passwd"}',
    "a script address": b'{"url": "javascript:alert(1)"}',
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/watches"),
        ("PUT", "/watches/1"),
        ("PATCH", "/watches/1"),
        ("POST", "/replay"),
        ("POST", "/notices/resend"),
        ("POST", "/import"),
        ("POST", "/accounts"),
        ("PATCH", "/accounts/1"),
        ("POST", "/tokens"),
    ],
)
def test_a_hostile_body_is_refused_or_taken_literally(
    either: Site, method: str, path: str, name: str
) -> None:
    admin = either.program("admin")
    reply = admin.call(method, f"{V1}{path}", body=BODIES[name], headers=JSON)

    assert reply.status < 500
    if reply.status >= 400:
        assert reply.headers["content-type"] == "application/problem+json"
        assert "Traceback" not in reply.text
        assert len(reply.body) < 20_000
    assert admin.get(f"{V1}/watches").status == 200


def test_forms_of_log_ins_are_read_carefully(either: Site) -> None:
    for body in (b"\xff\xfe", b"a=b&" * 1000, b"name=%00&password=%ff", b"name", b"=", b"&&&"):
        stranger = either.anonymous(f"198.51.100.{len(body) % 250}")
        kind = {"content-type": "application/x-www-form-urlencoded"}
        assert stranger.post("/login", body=body, headers=kind).status in (400, 403)
    stranger = either.anonymous("198.51.100.252")
    assert stranger.post("/login", data={"name": "viewer", "password": PASSWORD}).status == 415
    surrogate = {"name": "viewer", "password": "\ufffd" * 20}
    assert either.anonymous("198.51.100.251").post("/login", form=surrogate).status == 403


@pytest.mark.parametrize(
    "query",
    [
        "text=%00",
        "tag=%00",
        "text=%ff%fe",
        "text=" + "a" * 9_000,
        "text=%25_%5c%27%22",
        "after=-1",
        "after=99999999999999999999",
        "after=1e3",
        "after=NaN",
        "most=501",
        "most=1&most=2",
        "unknown=1",
        "text",
        "%00=1",
        "text=%ed%a0%80",
    ],
)
def test_hostile_queries_are_refused_or_find_nothing(either: Site, query: str) -> None:
    client = either.program("read")
    for path in ("/watches", "/events", "/watches/1/versions", "/watches/1/history"):
        assert client.get(f"{V1}{path}?{query}").status < 500
    assert client.get(f"{V1}/watches/1/versions?url=%00").status == 422
    assert client.get(f"{V1}/feed?tag=%00").status == 422
    # Wild cards of SQL are ordinary characters.
    assert client.get(f"{V1}/watches?text=%25").json()["watches"] == []


@pytest.mark.parametrize("number", ["0", "-1", "99999999999999999999", "1.5", "x", "%00", "1e2"])
def test_numbers_that_do_not_exist_are_refused(either: Site, number: str) -> None:
    client = either.program("admin")
    for path in (f"/watches/{number}", f"/watches/1/versions/{number}"):
        assert client.get(f"{V1}{path}").status in (200, 404, 422)
    assert client.call("DELETE", f"{V1}/accounts/{number}").status in (404, 422)
    assert client.call("DELETE", f"{V1}/tokens/{number}").status in (404, 422)


def test_a_body_that_is_too_long_is_refused_before_it_is_read(shared_site: Site) -> None:
    client = shared_site.program("write")
    declared = client.post(f"{V1}/watches", headers={**JSON, "content-length": "1000001"})
    assert declared.status == 413
    pieces = [b" " * 100_000] * 11
    assert client.post(f"{V1}/watches", chunks=pieces, headers=JSON).status == 413
    lying = {**JSON, "content-length": "10"}
    assert client.post(f"{V1}/watches", chunks=pieces, headers=lying).status == 413
    assert client.post(f"{V1}/import", chunks=[b"#" * 1_000_000] * 21).status == 413
    assert client.post(f"{V1}/import", headers={"content-length": "9" * 400}).status == 413
    fits = json.dumps({"url": URL, "name": "fits"}).encode().ljust(1_000_000)
    assert client.post(f"{V1}/watches", body=fits, headers=JSON).status == 201
    assert client.post(f"{V1}/watches", body=fits + b" ", headers=JSON).status == 413


def test_strangers_are_refused_before_their_body_is_read(shared_site: Site) -> None:
    stranger = shared_site.anonymous()
    read = 0

    class Endless(list[bytes]):
        def pop(self, _: object = 0) -> bytes:
            nonlocal read
            read += 1
            return b"x"

    assert stranger.post(f"{V1}/import", chunks=Endless([b"x"])).status == 401
    assert read == 0


def test_a_body_that_does_not_arrive_is_given_up(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "slow.db")
    site = make_site(database, Settings(body_s=0.05))

    client = site.program("write")
    for path in (f"{V1}/watches", f"{V1}/import"):
        assert client.post(path, chunks=[b"{"], headers=JSON, stalls=True).status == 408
    site.runner.close()
    database.close()


def test_the_database_failing_is_a_plain_answer_without_details(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise StoreError("database /secret/path/quire.db: disk I/O error")

    monkeypatch.setattr(Service, "watches", fail)
    reply = site.program("read").get(f"{V1}/watches")
    assert (reply.status, reply.headers["retry-after"]) == (503, "10")
    assert "secret" not in reply.text

    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("planted detail")

    monkeypatch.setattr(Service, "watches", crash)
    reply = site.program("read").get(f"{V1}/watches")
    assert reply.status == 500
    assert "planted" not in reply.text
    assert "x-content-type-options" in reply.headers


def test_text_of_pages_that_is_not_valid_does_not_break_answers(site: Site) -> None:
    form = {"url": "https://example.org/json", "name": "json"}
    watch = site.service.add(form).id

    for body in (b'{"a": "\\ud800 one"}', b'{"a": "\\ud800 two \\u0000"}'):

        async def fetch(_: ClaimedPage, body: bytes = body) -> Fetched:
            return Fetched(200, body, "application/json")

        site.service.make_due(watch)
        site.runner.run(site.service.run_due(fetch))
    client = site.program("read")
    for path in ("history", "diff", "explain", "events", "replay", "versions"):
        assert client.get(f"{V1}/watches/{watch}/{path}").status == 200, path
    assert site.browser("viewer").get("/").status == 200
