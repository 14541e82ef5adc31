"""Imports from urlwatch and webchanges: jobs and their chains of filters."""

from __future__ import annotations

import pytest

from quire.errors import WatchError
from quire.sentinels.conditions import Text
from quire.sentinels.imports import import_jobs
from tests.sentinels.imports.examples import (
    JOBS,
    URL,
    fires,
    noted,
)


def test_jobs_are_carried_over() -> None:
    found = import_jobs(JOBS)

    version, second, third = found.watches
    part = version.sentinel.parts[0]
    assert (part.location.where, part.location.without) == (("main",), (".ad",))
    assert part.ignore.order
    assert part.ignore.line("Some Beta here") == ""
    assert part.ignore.line("1.2, 17 downloads") == "1.2"
    assert version.sentinel.when == Text(part, "changed", pattern="Current.*version")
    assert version.fetching.headers == {"X-Key": "7"}
    assert version.fetching.cookies == {"a": "b"}
    assert version.fetching.proxy == "http://u:p@p.example:3128"
    assert not version.fetching.verify_tls
    assert second.fetching.browser
    assert second.sentinel.parts[0].location.where == ('[id="content"]',)
    assert third.paused
    assert third.fetching.steps[0].target == "#ready"
    assert third.sentinel.parts[0].location.where == (
        "xpath:(//a/@href)[position() > 0 and position() <= 2]",
    )
    assert [str(note) for note in found.notes] == [
        "commands: command: not imported: jobs that run programs are never imported",
        "Version: timeout: the time limits of the service apply",
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Current version 1<p>x", "Current version 2<p>x", True),
        ("Current version 1<p>x", "Current version 1<p>y", False),
        ("Current version 1, 7 downloads", "Current version 1, 8 downloads", False),
        ("Current version 1<p>Current version 2", "Current version 2<p>Current version 1", False),
        ("Current beta version 1", "Current beta version 2", False),
    ],
)
def test_an_imported_job_fires_as_it_did(old: str, new: str, *, expected: bool) -> None:
    watch = import_jobs(JOBS).watches[0]

    assert fires(watch, f"<main>{old}</main>", f"<main>{new}</main>") == expected


@pytest.mark.parametrize(
    ("chain", "source", "message"),
    [
        ("- shellpipe: sed s/a/b/", "shellpipe", "never imported"),
        ("- execute: x", "execute", "never imported"),
        ("- css: p[", "css", "p["),
        ("- xpath: //a\n- xpath: //b", "xpath", "inside the result of another"),
        ("- re.sub: <script>\n- html2text", "re.sub", "before it becomes text"),
        ("- html2text\n- grep: (?=x)", "grep", "is not supported"),
        ("- jq: .[] | .name", "jq", "paths to one value"),
        ("- mine", "mine", "the filter is not"),
        ("- css", "css", "a selector"),
        ("7", "filter", "a list of filters"),
    ],
)
def test_a_chain_that_would_mean_something_else_pauses_the_watch(
    chain: str, source: str, message: str
) -> None:
    indented = chain.replace("\n", "\n  ")
    found = import_jobs(f"url: {URL}\nfilter:\n  {indented}\n")

    assert found.watches[0].paused
    assert message in noted(found)[source]


@pytest.mark.parametrize(
    ("chain", "source"),
    [
        ("- css: main\n- css: p\n- html2text", "css"),
        ("- css: main", "filter"),
        ("- html2text\n- re.sub: {pattern: a, repl: b}", "re.sub"),
        ("- html2text\n- grep: a\n- grep: b", "grep"),
        ("- html2text\n- re.findall: a", "re.findall"),
        ("- html2text\n- sort: {separator: x}", "sort"),
        ("- css: {selector: p, maxitems: 1}\n- html2text", "css"),
        ("- xpath: {path: //a, namespaces: {a: b}}\n- html2text", "xpath.namespaces"),
        ("- pdf2text", "pdf2text"),
    ],
)
def test_a_chain_that_means_nearly_the_same_is_noted(chain: str, source: str) -> None:
    indented = chain.replace("\n", "\n  ")
    found = import_jobs(f"url: {URL}\nfilter:\n  {indented}\n")

    assert not found.watches[0].paused
    assert source in noted(found)


def test_jobs_with_anchors_are_refused_with_their_line() -> None:
    with pytest.raises(WatchError, match=r"urls\.yaml, line 2: name: anchors"):
        import_jobs("url: https://a.example/\nname: &a x\n", "urls.yaml")
