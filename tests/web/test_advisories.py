"""Published advisories of changedetection.io that concern HTTP, as tests of ours.

One test for each; its docstring has the id and the cause. Advisories about fetching and filters are
tested with the gate, the selectors and the imports.
"""

from __future__ import annotations

import ast
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

import quire.web
from quire.sentinels.checking.fetching import GateFetcher
from quire.sentinels.store.tables import metadata, page, session, token, watch
from quire.sources.gate import Gate
from quire.web.app import check_routes
from quire.web.pages.page import TEMPLATES, environment
from quire.web.protection.access import ACCESS
from quire.web.protection.guard import GuardedRoute
from tests.sentinels.test_form import WRONG
from tests.web.conftest import PASSWORD, URL, Site

V1 = "/api/v1"
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'`--></style><svg/onload=alert(3)>"

OUR_SCRIPT = re.compile(
    r'<script type="module" src="/static/[a-z_]+\.js\?v=[0-9a-f]{16}"></script>'
)

#: The only drawings of our pages: bars of numbers.
OUR_DRAWING = re.compile(
    r'<svg class="spark" width="\d+" height="20" viewBox="0 0 \d+ 20" aria-hidden="true">'
    r'<path class="ground" d="M0 19.5h\d+"/><path d="[Mvhz0-9 -]*"/></svg>'
)


def assert_inert(html: str) -> None:
    """Check that a page has our own markup only."""
    html = OUR_DRAWING.sub("", OUR_SCRIPT.sub("", html))
    assert "<script" not in html
    assert "<img" not in html
    assert "<svg" not in html
    assert "style=" not in html
    assert "<style" not in html


@pytest.mark.parametrize("scheme", ["javascript:alert(1)", "data:text/html,x", "vbscript:x"])
def test_addresses_with_an_active_scheme_are_never_links(site: Site, scheme: str) -> None:
    """CVE-2023-24769: the address of a watch was a link in the list, whatever its scheme."""
    client = site.program("write")
    assert client.post(f"{V1}/watches", data={"url": scheme}).status == 422
    assert client.post(f"{V1}/import?tool=urls", body=scheme.encode()).json().get("added", []) == []
    # Even if one got into the database.
    with site.service.database.write() as connection:
        connection.execute(update(page).values(url=scheme))
    shown = site.browser("viewer").get("/").text
    assert f'href="{scheme}' not in shown


def test_the_history_is_closed_without_a_token(site: Site) -> None:
    """CVE-2024-23329: the route of the history did not check the token."""
    for path in (
        "history",
        "versions",
        "versions/0",
        "diff",
        "events",
        "explain",
        "replay",
        "pages",
    ):
        assert site.anonymous().get(f"{V1}/watches/{site.watch}/{path}").status == 401


@pytest.mark.parametrize(
    "text", ["{{ 7*7 }}", "{% for x in ().__class__.__base__ %}", "{name.__class__}", "{0}", "{}"]
)
def test_texts_of_notices_are_not_templates(site: Site, text: str) -> None:
    """CVE-2024-32651: texts of notices were Jinja templates that could run commands."""
    form = {"url": URL, "name": "t", "notify": {"to": ["https://h.example/"], "text": text}}
    found = site.program("write").post(f"{V1}/watches", data=form)
    assert (found.status, found.json()["field"]) == (422, "notify.text")


def test_every_template_escapes_whatever_its_file_is_called() -> None:
    """GHSA-pwgc-w4x9-gw67: templates that ended in .jinja did not escape."""
    assert environment().autoescape is True
    assert environment().from_string("{{ x }}").render(x="<b>") == "&lt;b&gt;"
    unescaped = [
        line.strip()
        for path in TEMPLATES.rglob("*.html")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "|safe" in line or "autoescape" in line
    ]
    assert unescaped == []


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "source:file:///etc/passwd",
        "file:/etc/passwd",
        "file:../../etc/passwd",
        "FILE:///etc/passwd",
        " file:///etc/passwd",
        "view-source:file:///etc/passwd",
        "http:file:///etc/passwd",
        "\tfile:///etc/passwd",
    ],
)
def test_files_of_the_machine_are_not_pages(site: Site, url: str) -> None:
    """CVE-2024-51483, CVE-2024-51998, CVE-2024-56509: spellings of file: that checks missed."""
    client, where = site.program("write"), f"{V1}/watches/{site.watch}"
    form = client.get(where).json()["form"]
    assert client.post(f"{V1}/watches", data={"url": url, "name": "f"}).status == 422
    assert client.post(f"{V1}/watches", data={"urls": [URL, url], "name": "f"}).status == 422
    assert client.call("PUT", where, data={**form, "url": url}).status == 422
    assert client.post(f"{V1}/replay", data={"form": {"url": url}}).status == 422
    proxied = {"url": URL, "name": "f", "fetch": {"proxy": url}}
    assert client.post(f"{V1}/watches", data=proxied).status == 422
    imported = client.post(
        f"{V1}/import", body=json.dumps({"data": [{"uri": url, "name": "f"}]}).encode()
    )
    assert imported.json().get("added", []) == []


def test_errors_of_fetched_sites_are_text(site: Site) -> None:
    """CVE-2025-52558: the text of an error from the fetched site was shown as markup."""
    with site.service.database.write() as connection:
        connection.execute(update(page).values(error=MARKUP, state="error"))
    reply = site.browser("viewer").get("/")
    assert "&lt;script&gt;" in reply.text
    assert_inert(reply.text)


@pytest.mark.parametrize(("form", "path", "_"), WRONG)
def test_the_api_checks_what_files_and_the_command_line_check(
    shared_site: Site, form: dict[str, Any], path: str, _: str
) -> None:
    """CVE-2025-62780: a field was checked in the form, and not in the API."""
    client = shared_site.program("write")
    for method, where in (("POST", "/watches"), ("PUT", f"/watches/{shared_site.watch}")):
        found = client.call(method, f"{V1}{where}", data=form)
        assert (found.status, found.json().get("field", "")) == (422, path)
    found = client.post(f"{V1}/replay", data={"form": form})
    assert (found.status, found.json()["field"]) == (422, f"form.{path}".removesuffix("."))


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/templates/style.css",
        "/..%5c..%5capp.py",
        "/api/v1/../../app.py",
        "/%2e%2e/%2e%2e/etc/passwd",
    ],
)
def test_no_path_leads_to_a_file(site: Site, path: str) -> None:
    """CVE-2026-25527: `..` as the group of a static file gave the source to strangers."""
    for client in (site.anonymous(), site.program("admin")):
        reply = client.get(path)
        assert reply.status == 404
        assert b"import" not in reply.body


@pytest.mark.parametrize(
    "query", ["watch=<script>alert(1)</script>", "tag=", "watch=1&tag=<b>", "watch=99&x=<script>"]
)
def test_errors_of_feeds_are_not_markup(site: Site, query: str) -> None:
    """CVE-2026-27645, CVE-2026-29038: errors of feeds repeated the query as HTML."""
    for who in (f"&token={site.tokens['feed']}", "", "&token=<script>alert(1)</script>"):
        reply = site.anonymous().get(f"{V1}/feed?{query}{who}")
        assert reply.headers["content-type"] == "application/problem+json"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "<script>" not in reply.text


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1:9/",
        "http://[::1]:9/",
        "http://100.64.0.1/",
        "http://0x7f.1:9/",
    ],
)
def test_a_watch_added_over_http_cannot_read_private_networks(site: Site, url: str) -> None:
    """CVE-2026-27696, GHSA-gwph-fp79-379w: watches read metadata of clouds and shared networks."""
    added = site.program("write").post(f"{V1}/watches", data={"url": url, "name": "private"})
    if added.status == 422:
        return
    where = added.headers["location"]

    async def run() -> None:
        async with Gate() as gate:
            await site.service.run_due(GateFetcher(gate))

    site.runner.run(run())
    (found,) = site.program("read").get(f"{where}/pages").json()
    assert found["error"]
    assert found["versions"] == 0


def test_an_import_writes_nothing_to_the_disk(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CVE-2026-29065, GHSA-mh42-m7cg-49fr: names in a backup led outside the data folder."""
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    packed = io.BytesIO()
    job = {"url": "https://a.example/", "fetch_backend": "../../evil", "uuid": "../../evil"}
    with zipfile.ZipFile(packed, "w") as zipped:
        zipped.writestr("../../evil.txt", "evil")
        zipped.writestr("url-watches.json", json.dumps({"watching": {"../../evil": job}}))
    before = sorted(path for path in tmp_path.rglob("*") if "quire.db" not in path.name)
    site.program("write").post(f"{V1}/import", body=packed.getvalue())
    assert sorted(path for path in tmp_path.rglob("*") if "quire.db" not in path.name) == before


@pytest.mark.parametrize(
    "where",
    [
        "xpath://a/unparsed-text('/etc/passwd')",
        "xpath:doc('file:///etc/passwd')",
        "xpath:json-doc('x')",
    ],
)
def test_expressions_cannot_read_files(site: Site, where: str) -> None:
    """CVE-2026-29039, CVE-2026-33981: functions of XPath and jq read files and the environment."""
    form = {"url": URL, "name": "x", "where": where}
    found = site.program("write").post(f"{V1}/watches", data=form)
    assert (found.status, found.json()["field"]) == (422, "where")


def test_the_guard_is_not_a_decorator_that_can_be_put_in_the_wrong_place(site: Site) -> None:
    """CVE-2026-35490: the decorator of the log-in stood above that of the route."""
    assert all(type(route) is GuardedRoute for route in site.app.routes)
    check_routes(site.app.routes, ACCESS)


def test_names_and_tags_are_text(site: Site) -> None:
    """Fix of April 2026, GHSA-4j9m-cxq4-9c36: tags in a dialog, and colours in a style sheet."""
    form = {"url": URL, "name": f"evil {MARKUP}", "tags": [MARKUP, "red;}body{display:none"]}
    client = site.program("write")
    assert client.post(f"{V1}/watches", data=form).status == 201
    with site.service.database.write() as connection:
        connection.execute(update(watch).where(watch.c.id == site.watch).values(name=MARKUP))
    site.check(b"<p id=price>6.50 &lt;script&gt;alert(1)&lt;/script&gt;</p></html>")
    for path in ("/", "/api/docs", "/password"):
        assert_inert(site.browser("admin").get(path).text)
    reflected = site.anonymous("198.51.100.9").log_in(MARKUP, PASSWORD)
    assert reflected.status == 403
    assert_inert(reflected.text)
    assert_inert(site.anonymous().get('/login?to="><script>alert(1)</script>').text)


@pytest.mark.parametrize(
    "to", ["//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)", ""]
)
def test_the_log_in_leads_nowhere_else(site: Site, to: str) -> None:
    """Open redirects, of which the log-in of the peer had one as well."""
    form = {"name": "viewer", "password": PASSWORD, "to": to}
    assert site.anonymous().post("/login", form=form).headers["location"] == "/"


@pytest.mark.parametrize(
    "scopes", [["administrator"], ["unread"], ["read,write"], ["re", "ad"], [""]]
)
def test_scopes_match_as_whole_words(site: Site, scopes: list[str]) -> None:
    """GHSA-vwgh-2hvh-4xm5: a permission was looked up as a part of a text."""
    with site.service.database.write() as connection:
        connection.execute(update(token).values(scopes=scopes))
    for path in ("/watches", "/accounts", f"/feed?watch={site.watch}"):
        assert site.program("admin").get(f"{V1}{path}").status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_settings_cannot_be_changed_over_http(site: Site, method: str) -> None:
    """Fix of May 2026: a field of the settings made the server fetch any address."""
    given = {"base_url": "http://169.254.169.254/"}
    assert site.program("admin").call(method, f"{V1}/settings", data=given).status == 405


def test_stored_pages_are_downloads_and_never_pages_of_ours(site: Site) -> None:
    """Fix of May 2026: the API answered with a stored page as HTML."""
    reply = site.program("read").get(f"{V1}/watches/{site.watch}/versions/0")
    assert reply.headers["content-type"] == "application/octet-stream"
    assert reply.headers["content-disposition"].startswith("attachment")
    assert reply.headers["content-security-policy"].startswith("sandbox;")
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_get_requests_change_nothing(site: Site) -> None:
    """GHSA-3v57-xv5m-v7m7: routes for GET changed things, without a token against forgery."""

    def everything() -> dict[str, Any]:
        with site.service.database.read() as connection:
            return {
                name: [
                    {key: value for key, value in row._mapping.items() if key != "used"}
                    for row in connection.execute(select(table))
                ]
                for name, table in metadata.tables.items()
                if table is not session
            }

    browser, program = site.browser("admin"), site.program("admin")
    before = everything()
    for method, path in ACCESS:
        if method == "GET":
            address = path.replace("{watch}", str(site.watch)).replace("{number}", "0")
            for client in (browser, program):
                client.get(address)
                client.get(f"{address}?watch={site.watch}&paused=true&_method=DELETE")
    assert everything() == before


def test_no_route_fetches_anything_itself() -> None:
    """GHSA-56fq-63vj-9992, GHSA-hm22-wg2m-35v4: previews did not go through the gate."""
    web = Path(quire.web.__file__).parent
    assert (web / "server.py").read_text(encoding="utf-8").count("connect(") == 0  # it listens
    for path in set(web.rglob("*.py")) - {web / "server.py"}:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert not str(name).startswith(
                    (
                        "aiohttp",
                        "quire.sources",
                        "urllib.request",
                        "http.client",
                        "socket",
                        "requests",
                    )
                ), path
