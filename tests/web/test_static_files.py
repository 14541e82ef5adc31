"""Our own files: found by name, kept by browsers while their content stays the same."""

from __future__ import annotations

import pytest

from quire.web.pages.static_files import static, static_files
from tests.web.conftest import Site


def test_every_page_names_its_style_sheet_with_the_hash_of_its_content(site: Site) -> None:
    page = site.anonymous().get("/login")

    assert f'href="{static("quire.css")}"' in page.text


@pytest.mark.parametrize("name", sorted(static_files()))
def test_a_browser_may_keep_a_file_that_it_asks_for_by_its_hash(site: Site, name: str) -> None:
    found = site.anonymous().get(static(name))

    assert (found.status, found.body) == (200, static_files()[name].data)
    assert found.headers["content-type"] == static_files()[name].type
    assert "immutable" in found.headers["cache-control"]
    assert found.headers["x-content-type-options"] == "nosniff"


def test_a_file_of_another_version_is_not_kept(site: Site) -> None:
    found = site.anonymous().get("/static/quire.css?v=old")

    assert found.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("name", ["../page.py", "..%2fpage.py", "page.py", ".", "%00", "quire.CSS"])
def test_other_names_are_not_found(site: Site, name: str) -> None:
    assert site.anonymous().get(f"/static/{name}").status == 404
