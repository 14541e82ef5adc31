"""Pages of uploaded zip files look like pages: with the style sheets, images and fonts in the file."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

from quire.viewing import Use
from quire.web.pages.compare import folder_files
from quire.web.pages.compare.folder_files import FOLDER, file_at, write_files
from quire.web.pages.forms import Upload
from tests.web.client import Client
from tests.web.conftest import Site
from tests.web.live import visiting
from tests.web.test_compare import post, zipped
from tests.web.test_one_watch import words

DOT = (
    b"<svg xmlns='http://www.w3.org/2000/svg' width='40' height='30'>"
    b"<rect width='40' height='30' fill='teal'/></svg>"
)


def folder(fish: str, colour: str, top: str = "site") -> bytes:
    """A folder as browsers and mirrors save it."""
    page = (
        f"<link rel=stylesheet href=../look/a.css?v=2><h1>{fish}</h1><img src='../look/a%20dot.svg' "
        "alt=dot><p>Open<p><a href=b.html>next</a> <a href=https://example.org/>elsewhere</a>"
        "<img src=//evil.example/x.png><link rel=stylesheet href=//evil.example/x.css>"
    )
    sheet = (
        f"@import url(more.css); h1 {{ color: {colour} }} p {{ background: url(//evil.example/y) }}"
    )
    return zipped(
        {
            f"{top}/fish/a.html": page,
            f"{top}/look/a.css?v=2": sheet,
            f"{top}/look/more.css": "p{text-indent:7px}",
            f"{top}/look/a dot.svg": DOT,
        }
    )


def compared_page(browser: Client, old: bytes, new: bytes) -> str:
    """Compare two files; return the address of the changed page."""
    path = post(browser, {"old-file": ("a.zip", old), "new-file": ("b.zip", new)}).headers[
        "location"
    ]
    found = re.search(r'<a href="([^"]+\?page=\d+)">', browser.get(path).text)
    assert found
    return found[1]


def test_zipped_pages_have_the_style_sheets_and_images_of_their_side(site: Site) -> None:
    browser = site.browser("viewer")
    old, new = folder("Hake", "rgb(1,2,3)", "may"), folder("Cod", "rgb(4,5,6)", "june")
    page = compared_page(browser, old, new)
    for name, colour in (("both", "4,5,6"), ("new", "4,5,6"), ("old", "1,2,3")):
        drawn = browser.get(page.replace("?", f"/frame/{name}?")).text
        assert f"color:rgb({colour})" in drawn.replace(" ", ""), name
        assert "text-indent:7px" in drawn.replace(" ", "")
        assert 'src="data:image/svg+xml;base64,' in drawn
        assert "folder.invalid" not in drawn, "no address of ours"
        assert 'href="https://example.org/"' in drawn
        assert "evil.example" not in drawn


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_zipped_pages_are_shown_in_a_browser_and_nothing_is_fetched(
    site: Site, *, dark: bool
) -> None:
    browser = site.browser("viewer")
    page = compared_page(browser, folder("Hake", "rgb(1,2,3)"), folder("Cod", "rgb(4,5,6)"))
    with visiting(site.app, dark=dark) as visitor:
        visitor.log_in("viewer")
        visitor.open(f"{page}&view=side")
        for name, colour in (("changed-page", "4, 5, 6"), ("old-page", "1, 2, 3")):
            frame = visitor.page.frame_locator(f"iframe[name={name}]")
            expect(frame.locator("h1")).to_have_css("color", f"rgb({colour})")
            image = frame.locator("img[alt=dot]")
            expect(image).to_have_js_property("naturalWidth", 40)
        visitor.seen.check()


def test_hostile_files_in_a_zip_file_stay_within_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_files, "MOST_FILES", 5)
    monkeypatch.setattr(folder_files, "MOST_FILE_BYTES", 1_000)
    monkeypatch.setattr(folder_files, "MOST_BYTES", 2_500)
    names = {"../../evil.css": b"p{}", "/etc/evil.png": DOT, "C:\\evil.css": b"b{}", "../..": b""}
    found = write_files(
        Upload("a.zip", zipped({**names, "a.css": b"x" * 1_001})), tmp_path / "a", ""
    )
    many = write_files(
        Upload("b.zip", zipped({f"{number}.css": b"i{}" for number in range(9)})),
        tmp_path / "b",
        "",
    )
    long = write_files(
        Upload("c.zip", zipped({f"{number}.css": b"u" * 900 for number in range(5)})),
        tmp_path / "c",
        "",
    )

    assert set(found) == {"evil.css", "etc/evil.png", "C_/evil.css"}
    assert {path.parent for path in found.values()} == {tmp_path / "a"}
    assert len(many) == 5
    assert len(long) == 2
    assert not (tmp_path / "evil.css").exists()


def test_files_are_what_their_bytes_say(tmp_path: Path) -> None:
    inside: dict[str, str | bytes] = {
        "a.png": b"<script>alert(1)</script>",
        "b.css": b"<html>",
        "c.svg": DOT,
        "d.css": b"p{}",
    }
    files = write_files(Upload("a.zip", zipped(inside)), tmp_path / "a", "")

    assert file_at(f"{FOLDER}a.png", Use.IMAGE, files) is None
    assert file_at(f"{FOLDER}b.css", Use.STYLE, files) is None
    assert file_at(f"{FOLDER}c.svg", Use.STYLE, files) is None
    assert file_at("https://a.example/c.svg", Use.IMAGE, files) is None
    found = file_at(f"{FOLDER}x/..%2f../c.svg", Use.IMAGE, files)
    assert found is None
    image = file_at(f"{FOLDER}c.svg", Use.IMAGE, files)
    sheet = file_at(f"{FOLDER}d.css?v=9", Use.STYLE, files)
    assert image is not None
    assert image.type == "image/svg+xml"
    assert sheet is not None


def test_a_damaged_image_does_not_keep_pages_from_being_compared(site: Site) -> None:
    browser = site.browser("viewer")
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as opened:
        opened.writestr("a.html", "<h1>Cod</h1>")
        opened.writestr("dot.svg", DOT)
    broken = data.getvalue().replace(DOT, DOT.replace(b"teal", b"blue"))
    page = compared_page(browser, zipped({"a.html": "<h1>Hake</h1>"}), broken)

    assert "Cod" in browser.get(page.replace("?", "/frame/both?")).text


def test_one_edited_text_is_not_several(site: Site) -> None:
    browser = site.browser("viewer")
    page = compared_page(browser, folder("Hake", "red"), folder("Cod", "red"))

    assert "1 text edited" in words(browser.get(page.partition("?")[0]))
