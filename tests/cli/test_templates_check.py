"""``quire templates check``: whether later pages fit the templates of a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quire.similar import TemplateModel
from tests.cli.conftest import Process, Quire, news, shop
from tests.sources.crawls import record, response, write


@pytest.fixture
def model(quire: Quire, site: Path) -> str:
    result = quire("templates", "site", "--model", "model.json")
    assert result.exit_code == 0, result.stderr
    assert len(TemplateModel.load(site.parent / "model.json").groups) == 2
    return "model.json"


def test_later_pages_are_checked_against_a_model(quire: Quire, model: str, folder: Path) -> None:
    (folder / "later.html").write_bytes(shop(20))
    (folder / "moved.html").write_bytes(b"<blink>We have moved</blink>" * 30)
    result = quire("templates", "check", "later.html", "moved.html", "--model", model)

    assert result.exit_code == 0, result.stderr
    fits, moved = result.stdout.splitlines()
    assert fits.startswith("later.html: fits template 0 (100 % contained, resemblance 0.")
    assert "as site/shop" in fits
    assert moved.startswith("moved.html: does not fit; nearest is template ")
    asked = ("templates", "check", "--model", model, "--exit-code")
    assert quire(*asked, "later.html").exit_code == 0
    assert quire(*asked, "later.html", "moved.html").exit_code == 1


def test_an_explanation_names_what_differs(quire: Quire, model: str, folder: Path) -> None:
    (folder / "more.html").write_bytes(shop(6) + b"<aside class=ad>x</aside>")
    result = quire("templates", "check", "more.html", "--model", model, "--explain")
    found = json.loads(
        quire(
            "templates", "check", "more.html", "--model", model, "--explain", "--format", "json"
        ).stdout
    )

    assert "  template      page  part\n" in result.stdout
    assert "aside.ad" in result.stdout
    assert found["all_fit"] is True
    page = found["pages"][0]
    assert (page["page"], page["fits"], page["group"]) == ("more.html", True, 0)
    assert any("aside.ad" in part["text"] for part in page["explanation"]["parts"])


def test_pages_come_from_pipes_digests_and_archives(
    quire: Quire, process: Process, model: str, folder: Path
) -> None:
    write(folder / "later.warc", [record(response(news(6)))])
    (folder / "later.html").write_bytes(news(9))
    quire("encode", "later.html")
    names = ("-", "later.qd", "later.warc#0")
    result = process(
        "templates", "check", *names, "--model", model, "--format", "json", given=shop(6)
    )

    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)["pages"]
    assert [(page["page"], page["fits"], page["group"]) for page in found] == [
        ("-", True, 0),
        ("later.qd", True, 1),
        ("later.warc#0", True, 1),
    ]


def test_folders_and_crawls_are_checked_page_by_page(
    quire: Quire, model: str, folder: Path
) -> None:
    later = folder / "later"
    later.mkdir()
    (later / "a.html").write_bytes(shop(20))
    (later / "b.html").write_bytes(b"<blink>We have moved</blink>" * 30)
    (later / "empty.html").symlink_to(folder / "nowhere.html")
    write(folder / "later.warc", [record(response(news(6))), record(response(shop(9)))])
    asked = ("templates", "check", "later", "later.warc", "--model", model)
    result = quire(*asked, "--exit-code")
    found = json.loads(quire(*asked, "--format", "json").stdout)

    assert result.exit_code == 1, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("later/a.html: fits template 0 ")
    assert lines[1].startswith("later/b.html: does not fit; ")
    assert lines[2].startswith("later.warc#0: fits template 1 ")
    assert lines[4:] == [
        "4 pages: 3 fit, 1 do not",
        "1 could not be read:",
        "  later/empty.html: no such file",
    ]
    assert [page["fits"] for page in found["pages"]] == [True, False, True, True]
    assert found["troubles"] == [{"name": "later/empty.html", "reason": "no such file"}]


def test_what_cannot_be_checked_is_said(quire: Quire, model: str, folder: Path) -> None:
    (folder / "later.warc").write_bytes(record(response(shop(5))))
    (folder / "none").mkdir()
    for arguments, message in (
        (["fruit.html", "--model", "gone.json"], "error: gone.json: no such file"),
        (["fruit.html", "--model", "fruit.html"], "error: fruit.html: not a model of templates"),
        (["gone.html", "--model", model], "error: gone.html: no such file"),
        (["none", "--model", model], "error: none: "),
        (["later.warc#7", "--model", model], "error: later.warc#7: "),
        (["-", "-", "--model", model], "error: -: standard input can only be read once"),
    ):
        result = quire("templates", "check", *arguments)
        assert result.exit_code == 2, arguments
        assert result.stderr.startswith(message), result.stderr
