"""Everything that the command line can do with watches can be done over HTTP."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from quire.sentinels.store import Database
from quire.sources import Capture, read
from tests.web.conftest import FORM, PLANTED, URL, Site

V1 = "/api/v1"


def test_a_watch_is_added_shown_edited_paused_and_removed(site: Site) -> None:
    client = site.program("write")
    added = client.post(f"{V1}/watches", data={"url": "https://example.org/a", "name": "a"})
    where = added.headers["location"]

    assert added.status == 201
    assert client.get(where).json()["form"] == {"name": "a", "url": "https://example.org/a"}
    assert (
        client.call("PUT", where, data={"url": "https://example.org/b", "name": "b"}).status == 200
    )
    assert client.call("PATCH", where, data={"paused": True}).json()["paused"] is True
    assert client.call("PATCH", where, data={"paused": False}).json()["paused"] is False
    assert client.post(f"{where}/run").status == 202
    assert [each["url"] for each in client.get(f"{where}/pages").json()] == [
        "https://example.org/b"
    ]
    assert client.call("DELETE", where).status == 204
    assert client.get(where).status == 404


def test_watches_are_listed_a_page_at_a_time_and_by_name_and_tag(site: Site) -> None:
    client = site.program("write")
    for number in range(5):
        form = {"url": f"https://example.org/{number}", "name": f"n{number}"}
        client.post(
            f"{V1}/watches", data={**form, "tags": ["even"] if number % 2 == 0 else ["odd"]}
        )

    first = client.get(f"{V1}/watches?most=4").json()
    rest = client.get(f"{V1}/watches?most=4&after={first['next']}").json()
    names = [each["name"] for each in first["watches"] + rest["watches"]]
    assert names == ["price", "n0", "n1", "n2", "n3", "n4"]
    assert rest["next"] is None
    tagged = client.get(f"{V1}/watches?tag=even&most=2").json()
    assert [each["name"] for each in tagged["watches"]] == ["n0", "n2"]
    last = client.get(f"{V1}/watches?tag=even&most=2&after={tagged['next']}").json()
    assert [each["name"] for each in last["watches"]] == ["n4"]
    assert [each["name"] for each in client.get(f"{V1}/watches?text=PRI").json()["watches"]] == [
        "price"
    ]


def test_a_watch_whose_name_is_a_number_does_not_hide_the_watch_with_that_number(
    site: Site,
) -> None:
    client = site.program("write")
    client.post(f"{V1}/watches", data={"url": "https://example.org/x", "name": str(site.watch)})

    assert client.get(f"{V1}/watches/{site.watch}").json()["name"] == "price"
    assert client.get(f"{V1}/watches/{site.watch}/events").json()["events"]


def test_events_are_listed_a_page_at_a_time_and_none_is_left_out(site: Site) -> None:
    client = site.program("read")
    site.service.add({**FORM, "name": "same moment", "notify": None})
    site.check(b"<p id=price>6.50</p><p>Fish</p></html>")
    site.check(b"<p id=price>5.50</p><p>Fish</p></html>")
    whole = client.get(f"{V1}/events").json()["events"]

    found = client.get(f"{V1}/events?most=1").json()
    seen = found["events"]
    while found["next"]:
        found = client.get(f"{V1}/events?most=1&after={found['next']}").json()
        seen += found["events"]
    assert seen == whole
    assert len(whole) >= 4
    assert client.get(f"{V1}/events?after=00ff").status == 404
    mine = client.get(f"{V1}/watches/{site.watch}/events").json()["events"]
    assert [each["added"] for each in mine][-2:] == [["7.50"], ["8.50"]]
    assert {each["name"] for each in mine} == {"price"}


def test_versions_are_listed_read_compared_explained_and_replayed(site: Site) -> None:
    client = site.program("write")
    where = f"{V1}/watches/{site.watch}"

    assert [each["number"] for each in client.get(f"{where}/versions").json()] == [0, 1, 2]
    assert [each["number"] for each in client.get(f"{where}/versions?before=2&most=1").json()] == [
        1
    ]
    texts = [each["text"][""] for each in client.get(f"{where}/history").json()]
    assert texts == ["9.50", "8.50", "7.50"]
    assert client.get(f"{where}/versions/0").body == b"<p id=price>9.50</p><p>Fish</p></html>"
    assert client.get(f"{where}/versions/9").status == 404
    changes = client.get(f"{where}/diff?old=0&new=2").json()["changes"]
    assert "7.50" in json.dumps(changes)
    assert client.get(f"{where}/diff?old=0&new=9").status == 404
    assert client.get(f"{where}/explain").json()["holds"] is True
    assert len(client.get(f"{where}/replay").json()["firings"]) == 2
    below = {"url": URL, "where": "#price", "when": {"number": {"below": 8}}}
    found = client.post(f"{V1}/replay", data={"form": below}).json()
    assert [each["added"] for each in found["firings"]] == [["7.50"]]
    assert sum(found["months"].values()) == 1


def test_the_page_of_a_watch_with_several_has_to_be_named(site: Site) -> None:
    client = site.program("write")
    form = {"urls": [URL, f"{URL}2"], "name": "two"}
    where = client.post(f"{V1}/watches", data=form).headers["location"]

    refused = client.get(f"{where}/versions")
    assert (refused.status, refused.json()["field"]) == (422, "url")
    assert client.get(f"{where}/versions?url={URL}2").json() == []
    assert client.get(f"{where}/versions?url=https://elsewhere.example/").status == 404


def test_errors_name_the_field(site: Site) -> None:
    client = site.program("write")
    for form, field in (
        ({"url": "https://example.org/", "when": {"number": {"below": "x"}}}, "when.number.below"),
        ({"url": "https://example.org/", "evry": "1 h"}, "evry"),
        ({}, "url"),
    ):
        found = client.post(f"{V1}/watches", data=form)
        assert found.headers["content-type"] == "application/problem+json"
        assert (found.status, found.json()["field"]) == (422, field)
    taken = client.post(f"{V1}/watches", data={"url": URL, "name": "price"})
    assert (taken.status, taken.json()["field"]) == (409, "name")
    found = client.call("PATCH", f"{V1}/watches/{site.watch}", data={"paused": "yes"})
    assert (found.status, found.json()["field"]) == (422, "paused")
    found = client.get(f"{V1}/watches?most=0")
    assert (found.status, found.json()["field"]) == (422, "most")
    found = client.post(f"{V1}/replay", data={"form": {"url": URL, "every": "no"}})
    assert (found.status, found.json()["field"]) == (422, "form.every")


def test_hidden_secrets_survive_an_edit_and_cannot_be_sent_elsewhere(site: Site) -> None:
    client = site.program("write")
    where = f"{V1}/watches/{site.watch}"
    form = client.get(where).json()["form"]

    assert "<secret" in json.dumps(form)
    assert client.call("PUT", where, data={**form, "every": "2 h"}).status == 200
    stored = site.service.find(site.watch).watch
    assert stored.fetching.headers["Authorization"] == "Bearer planted-header-secret"
    assert "planted-target-secret" in stored.notify.targets[0]
    refused = client.call("PUT", where, data={**form, "url": "https://evil.example/"})
    assert (refused.status, refused.json()["field"]) == (422, "fetch")


def test_no_answer_has_a_secret_of_a_watch(site: Site) -> None:
    client, where = site.program("write"), f"{V1}/watches/{site.watch}"
    form = client.get(where).json()["form"]
    answers = [
        client.get(f"{V1}/watches"),
        client.get(where),
        client.call("PUT", where, data=form),
        client.call("PATCH", where, data={"paused": False}),
        client.post(f"{V1}/watches", data={**form, "name": "copy"}),
        client.get(f"{V1}/export?format=json"),
        client.get(f"{V1}/export"),
        client.get(f"{V1}/events"),
        client.get(f"{where}/pages"),
        client.get(f"{V1}/notices/dead"),
        client.post(f"{where}/test-notice"),
        client.get(f"{V1}/status"),
        site.browser("viewer").get("/"),
    ]

    for answer in answers:
        assert not any(secret in answer.text for secret in PLANTED)
        assert "pw@" not in answer.text
    assert PLANTED[0] in site.program("admin").get(f"{V1}/export-with-secrets").text


def test_watches_of_other_tools_are_imported_and_everything_is_exported(
    site: Site, tmp_path: Path
) -> None:
    client = site.program("write")
    jobs = b"name: news\nurl: https://news.example/\nfilter: [html2text]\nmax_tries: 3\n"

    found = client.post(f"{V1}/import", body=jobs).json()
    assert len(found["added"]) == 1
    assert "max_tries" in [note["field"] for note in found["notes"]]
    assert client.post(f"{V1}/import", body=jobs).json()["taken"] == ["news"]
    urls = b"https://a.example/\nhttps://b.example/\n"
    assert len(client.post(f"{V1}/import?tool=urls", body=urls).json()["added"]) == 2
    refused = client.post(f"{V1}/import?tool=distill", body=b"{")
    assert refused.status == 422
    exported = client.get(f"{V1}/export?format=json").json()
    assert len(exported["watches"]) == 4
    backup = site.program("admin").get(f"{V1}/backup")
    (tmp_path / "backup.db").write_bytes(backup.body)
    restored = Database.open(tmp_path / "backup.db")
    with restored.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM watch").scalar_one() == 4
    restored.close()


def test_an_import_leaves_out_targets_that_the_operator_does_not_allow(site: Site) -> None:
    job = {"url": "https://a.example/", "title": "a"}
    urls = ["https://hooks.example/ok", "ntfys://elsewhere.example/planted"]
    backup = {"watching": {"1": {**job, "notification_urls": urls}}}
    found = site.program("write").post(f"{V1}/import", body=json.dumps(backup).encode())

    assert "planted" not in found.text
    assert "a: a target is left out: " in found.text
    (number,) = found.json()["added"]
    assert site.service.find(number).watch.notify.targets == ("https://hooks.example/ok",)


def test_notices_are_listed_sent_again_and_tested(site: Site) -> None:
    client = site.program("write")

    assert client.get(f"{V1}/notices/dead?most=5").json() == [
        {"id": "1a", "target": "https:<secret>", "reason": "https://<secret>@hooks.example failed"}
    ]
    assert client.post(f"{V1}/notices/resend", data={"ids": ["1a"]}).json() == {"sent_again": 1}
    tested = client.post(f"{V1}/watches/{site.watch}/test-notice").json()["targets"]
    assert tested == [{"target": "https:<secret>", "error": ""}]
    assert client.post(f"{V1}/watches/999/test-notice").status == 404
    assert site.notices.calls == [
        ("dead_letters", 5),
        ("resend", ["1a"]),
        ("send_test", site.watch, "an open gate"),
    ]


def test_feeds_take_a_token_in_the_address_or_in_basic_authentication(site: Site) -> None:
    client, where = site.anonymous(), f"{V1}/feed?watch={site.watch}"

    assert client.get(where).status == 401
    assert client.get(where).headers["www-authenticate"].startswith("Basic")
    found = client.get(f"{where}&token={site.tokens['feed']}")
    assert (found.status, found.headers["content-type"]) == (
        200,
        "application/atom+xml; charset=utf-8",
    )
    pairs = {
        scope: base64.b64encode(f"any:{site.tokens[scope]}".encode()).decode()
        for scope in ("feed", "read")
    }
    for pair in pairs.values():
        assert client.get(where, headers={"authorization": f"Basic {pair}"}).status == 200
    # Addresses end up in logs: a token that can do more must not be in one.
    assert client.get(f"{where}&token={site.tokens['read']}").status == 403
    assert client.get(f"{V1}/feed?tag=shop&token={site.tokens['feed']}").status == 200
    assert client.get(f"{V1}/feed?tag=none&token={site.tokens['feed']}").status == 404
    assert client.get(f"{V1}/feed?token={site.tokens['feed']}").status == 422
    assert client.get(f"{V1}/feed?watch=99&token={site.tokens['feed']}").status == 404
    # Elsewhere neither is accepted.
    assert client.get(f"{V1}/watches?token={site.tokens['feed']}").status == 401
    assert site.program("feed").get(f"{V1}/watches").status == 403
    assert (
        client.get(f"{V1}/watches", headers={"authorization": f"Basic {pairs['read']}"}).status
        == 401
    )


def test_the_service_describes_itself(site: Site) -> None:
    client = site.program("admin")
    status = client.get(f"{V1}/status").json()

    assert (status["watches"], status["pages"], status["versions"]) == (1, 1, 3)
    assert status["events"] == {"change": 2}
    assert client.get(f"{V1}/schema").json()["$defs"]["watch"]
    assert client.get(f"{V1}/settings").json()["max_body_bytes"] == 1_000_000
    assert site.anonymous().get("/healthz").json() == {"status": "ok"}
    document = client.get("/api/openapi.json").json()
    assert set(document["paths"][f"{V1}/watches"]) == {"get", "post"}
    assert document["components"]["schemas"]["Watch"]["properties"]["url"]
    docs = client.get("/api/docs").text
    assert f"{V1}/watches/{{watch}}/explain" in docs
    assert "<script" not in docs
    assert "http" not in docs.partition("<main")[0].replace("http-equiv", "")


def test_metrics_count_what_the_service_does(site: Site) -> None:
    local = site.anonymous("127.0.0.1")
    site.program("read").get(f"{V1}/watches")
    text = local.get("/metrics").text

    assert 'quire_watches{state="active"} 1.0' in text
    assert 'quire_events_total{kind="change"} 2.0' in text
    assert 'quire_notices{state="waiting"}' in text
    assert 'route="/api/v1/watches",status="200"' in text
    assert site.anonymous().get("/metrics").status == 401
    assert local.get("/metrics", headers={"x-forwarded-for": "192.0.2.1"}).status == 401
    assert site.program("read").get("/metrics").status == 200
    assert site.program("feed").get("/metrics").status == 403


def test_care_of_a_watch(site: Site, tmp_path: Path) -> None:
    client = site.program("write")
    watch = f"{V1}/watches/{site.watch}"

    assert client.get(f"{watch}/noise").json() == []
    assert client.get(f"{watch}/proposals").json() == []
    assert client.post(f"{watch}/proposals/accept").status == 404
    assert client.post(f"{watch}/proposals/reject").status == 404
    assert "planted" not in client.get(f"{watch}/notices?state=waiting").text
    assert set(client.post(f"{watch}/prune").json()) == {"versions", "bytes"}
    found = client.get(f"{watch}/versions-file")
    (tmp_path / "versions.warc.gz").write_bytes(found.body)
    bodies = [
        each.body for each in read(str(tmp_path / "versions.warc.gz")) if isinstance(each, Capture)
    ]
    assert len(bodies) == len(site.service.history(site.watch)) >= 2
