"""Reports on the web: what people may give, how far it is, and that it is shown in a frame only."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from quire.archive import Archive
from quire.archive.browsing import Library
from quire.progress import Progress, no_progress
from quire.web.archives.context import Browsing
from quire.web.pages.forms import Fields
from quire.web.pages.reports import jobs, routes
from quire.web.pages.reports.making import ReportKind, make_report
from tests import patience
from tests.web.client import Client, Reply
from tests.web.conftest import Site
from tests.web.test_compare import Files, post, zipped
from tests.web.test_one_watch import HOSTILE, words

MENU = "".join(f"<li><a href=/{n}>Entry number {n} of the menu</a>" for n in range(30))
SHOP = "<ul>" + "".join(f"<li><b>Fish {n}</b> <i>{n}.50 €</i>" for n in range(1, 9)) + "</ul>"


def crawl() -> bytes:
    """Return a crawl of one template, as a zip file."""
    return zipped({f"{n}.html": f"<nav><ul>{MENU}</ul></nav><h1>Day {n}</h1>" for n in range(6)})


def ask(client: Client, kind: str, files: Files | None = None, archive: str = "") -> Reply:
    return post(client, files, path="/reports", kind=kind, archive=archive)


def made(site: Site, client: Client, reply: Reply) -> tuple[str, Reply]:
    """Wait for a report; return its path and its page."""
    assert reply.status == 303, words(reply)
    path = reply.headers["location"]
    found: list[Reply] = []

    def is_made() -> bool:
        found.append(client.get(path))
        return 'http-equiv="refresh"' not in found[-1].text

    patience.wait_until(is_made, lambda: site.runner.run(asyncio.sleep(0.05)))
    return path, found[-1]


def wait_for_the_end(site: Site) -> None:
    """Wait until no report is being made: its place is free a moment after its page says so."""
    patience.wait_until(
        lambda: not site.app.state.reports, lambda: site.runner.run(asyncio.sleep(0.01))
    )


@pytest.mark.parametrize("kind", ["templates", "fragments"])
def test_a_crawl_becomes_the_report_of_the_command_line(
    site: Site, tmp_path: Path, kind: str
) -> None:
    client = site.browser("editor")
    path, page = made(site, client, ask(client, kind, {"file": ("site.zip", crawl())}))

    frame = client.get(f"{path}/frame")
    for n in range(6):
        (tmp_path / f"{n}.html").write_text(f"<nav><ul>{MENU}</ul></nav><h1>Day {n}</h1>")
    expected = make_report(ReportKind(kind), str(tmp_path), "site.zip", no_progress)
    assert f'sandbox="" src="{path}/frame"' in page.text
    assert (frame.status, frame.body.count(b"<tr")) == (200, expected.count("<tr"))
    assert "sandbox" in frame.headers["content-security-policy"]
    assert frame.headers["x-frame-options"] == "SAMEORIGIN"
    saved = client.get(f"{path}/report.html")
    assert saved.body == frame.body
    assert saved.headers["content-disposition"].startswith("attachment")


def test_the_lists_of_a_page_become_tables(site: Site) -> None:
    client = site.browser("editor")
    path, _ = made(site, client, ask(client, "records", {"file": ("shop.html", SHOP.encode())}))

    frame = client.get(f"{path}/frame").text
    assert "Fish 8" in frame
    assert "Records of shop.html" in frame


def test_an_archive_of_the_service_is_reported(site: Site, tmp_path: Path) -> None:
    with Archive.create(tmp_path / "site.quire") as archive:
        for n in range(6):
            body = f"<ul>{MENU}</ul><h1>Day {n}</h1>".encode()
            archive.add(f"https://a.example/{n}", datetime(2026, 5, 1, tzinfo=UTC), body)
    with Archive.open(tmp_path / "site.quire") as archive:
        site.app.state.browsing = Browsing(Library([archive]))
        client = site.browser("editor")
        assert "<option>site.quire</option>" in client.get("/reports").text
        path, _ = made(site, client, ask(client, "templates", archive="site.quire"))
        frame = client.get(f"{path}/frame").text
    assert "Templates: site.quire" in frame
    assert "a.example" in frame
    assert str(tmp_path) not in frame


@pytest.mark.parametrize(
    ("kind", "files", "archive", "says"),
    [
        ("", {}, "", "choose what to report"),
        ("templates", {}, "", "choose a file"),
        ("templates", {}, "../../etc", "choose a file"),
        ("templates", {"file": ("a.html", b"<p>Cod")}, "", "expected a WARC, WACZ or zip file"),
        ("records", {"file": ("a.zip", crawl())}, "", "expected one page"),
        ("fragments", {"file": ("a.zip", b"PK\x03\x04 and then nothing")}, "", "cannot be read"),
    ],
)
def test_what_cannot_be_reported_is_said_on_the_form(
    site: Site, kind: str, files: Files, archive: str, says: str
) -> None:
    reply = ask(site.browser("editor"), kind, files, archive)

    assert reply.status == 422
    assert says in words(reply)


def test_a_crawl_without_pages_says_so(site: Site) -> None:
    client = site.browser("editor")
    empty = zipped({"empty.html": ""})
    _, page = made(site, client, ask(client, "templates", {"file": ("empty.zip", empty)}))

    assert "there are no pages in it" in words(page)
    assert "iframe" not in page.text


def test_names_and_pages_of_strangers_stay_text(site: Site) -> None:
    client = site.browser("editor")
    name = "<img src=x onerror=alert(1)>.html"
    body = f"<ul>{''.join(f'<li><b>{HOSTILE}</b> {n}' for n in range(5))}</ul>".encode()
    path, page = made(site, client, ask(client, "records", {"file": (name, body)}))

    for found in (page, client.get(f"{path}/frame")):
        assert "<img" not in found.text
        assert "<script>" not in found.text


def test_only_a_few_reports_are_made_at_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    may_end = threading.Event()

    def held(kind: ReportKind, source: str, title: str, progress: Progress) -> str:
        assert may_end.wait(patience.PATIENCE_S)
        return make_report(kind, source, title, progress)

    monkeypatch.setattr(jobs, "make_report", held)
    monkeypatch.setattr(routes, "MOST_RUNNING", 1)
    client = site.browser("editor")
    files: Files = {"file": ("site.zip", crawl())}
    first = ask(client, "fragments", files)
    try:
        assert ask(client, "fragments", files).status == 503
    finally:
        may_end.set()
    made(site, client, first)
    wait_for_the_end(site)
    made(site, client, ask(client, "fragments", files))


def test_reports_that_are_asked_for_at_the_same_moment_are_few_too(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "MOST_RUNNING", 1)
    running: set[object] = site.app.state.reports
    read, made_jobs = routes._job, []

    def read_while_another_begins(posted: Fields, library: Library | None) -> jobs.Job:
        made_jobs.append(read(posted, library))
        running.add("another report")
        return made_jobs[-1]

    monkeypatch.setattr(routes, "_job", read_while_another_begins)
    reply = ask(site.browser("editor"), "records", {"file": ("shop.html", SHOP.encode())})
    running.clear()

    assert reply.status == 503
    assert not Path(made_jobs[0].source).exists()


def test_a_job_that_is_forgotten_ends_at_its_next_step() -> None:
    job = jobs.Job(ReportKind.RECORDS, "a.html", "/nowhere/a.html")
    job.forget()
    job.run()

    assert job.error == "it was forgotten"


@pytest.mark.parametrize("kind", ["templates", "fragments"])
def test_a_report_that_takes_too_long_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    (tmp_path / "a.html").write_text("<p>Cod")
    monkeypatch.setattr(jobs, "MOST_SECONDS", -1)
    job = jobs.Job(ReportKind(kind), "site", str(tmp_path))
    job.run()

    assert "site: not done after" in job.error
    assert not job.document


def test_reports_count_with_their_size(site: Site) -> None:
    client = site.browser("editor")
    files: Files = {"file": ("shop.html", SHOP.encode())}
    path, _ = made(site, client, ask(client, "records", files))
    wait_for_the_end(site)

    assert site.app.state.quire.held.size == len(client.get(f"{path}/frame").body)


def test_a_full_disk_is_said_on_the_form(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    reply = ask(site.browser("editor"), "records", {"file": ("shop.html", SHOP.encode())})

    assert reply.status == 422
    assert "No space left on device" in words(reply)


def test_viewers_and_strangers_make_no_reports(site: Site) -> None:
    files: Files = {"file": ("shop.html", SHOP.encode())}
    assert ask(site.browser("viewer"), "records", files).status == 403
    assert ask(site.anonymous(), "records", files).status in (303, 401)
    assert site.browser("editor").get(f"/reports/{'x' * 32}").status == 404
