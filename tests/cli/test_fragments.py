"""``quire fragments``: what it prints, what it writes, and how it leaves."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from quire.archive import Archive
from quire.fragments import plan_fragments, write_composition
from quire.fragments.policy import LONGEST_TTL_S
from tests.cli.conftest import Process, Quire, Watched
from tests.fragments.hostile import FOOT, HAZARDS, MENU
from tests.fragments.hostile import site as pages
from tests.sources.crawls import record, response, write


@pytest.fixture
def shared(folder: Path) -> Path:
    """A folder of four pages with a menu and a footer in common."""
    site = folder / "site"
    site.mkdir()
    for number, page in enumerate(pages()):
        (site / f"{number}.html").write_bytes(page)
    return site


def asked(quire: Quire, *arguments: str, exit_code: int = 0) -> dict[str, object]:
    result = quire("fragments", *arguments, "--format", "json")
    assert result.exit_code == exit_code, result.stderr
    found: dict[str, object] = json.loads(result.stdout)
    return found


def test_a_plan_shows_what_is_cut_out_and_what_it_saves(quire: Quire, shared: Path) -> None:
    result = quire("fragments", "plan", "site")

    lines = result.stdout.splitlines()
    assert result.exit_code == 0, result.stderr
    assert [line.split()[:3] for line in lines[:3]] == [
        ["bytes", "pages", "places"],
        *([f"{size}", "4", "4"] for size in sorted([len(MENU), len(FOOT)], reverse=True)),
    ]
    assert lines[3] == "4 pages: 4 composed of 2 fragments, 0 with nothing to cut out, 0 refused"
    assert sorted(path.name for path in shared.parent.iterdir()) == ["fruit.html", "site"]


def test_a_plan_for_programs_has_volumes_fragments_and_hazards(quire: Quire, shared: Path) -> None:
    (shared / "own.html").write_bytes(b"<p>" + HAZARDS["esi-tag"] + MENU)
    found = asked(quire, "plan", "site")

    assert {key: found[key] for key in ("pages", "composed", "whole", "refused", "includes")} == {
        "pages": 5,
        "composed": 4,
        "whole": 1,
        "refused": 1,
        "includes": 8,
    }
    assert next((one["page"], one["kind"], one["offset"]) for one in found["hazards"]) == (  # type: ignore[attr-defined] # JSON
        "site/own.html",
        "esi-tag",
        3,
    )
    assert "hazard: site/own.html at 3: an ESI tag" in quire("fragments", "plan", "site").stdout


@pytest.mark.parametrize("composer", ["own", "auto"])
def test_verify_prints_five_figures_and_leaves_with_0(
    quire: Quire, shared: Path, composer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")  # without Varnish, which has tests of its own
    (shared / "own.html").write_bytes(HAZARDS["esi-comment"] + MENU)
    assert quire("fragments", "esi", "site", "-o", "out").exit_code == 0
    found = asked(quire, "verify", "out", "--composer", composer)

    assert found == {"pages": 5, "equal": 4, "refused": 1, "unequal": 0, "composer": "own"}
    assert list(found) == ["pages", "equal", "refused", "unequal", "composer"]
    told = quire("fragments", "verify", "out").stdout
    assert told == "5 pages composed by quire: 4 equal, 1 refused, 0 different\n"


def test_a_tampered_fragment_is_unequal_and_leaves_with_2(quire: Quire, shared: Path) -> None:
    assert quire("fragments", "esi", "site", "-o", "out").exit_code == 0
    fragment = next((shared.parent / "out" / "fragments").iterdir())
    part = fragment.read_bytes()
    fragment.write_bytes(part.replace(b"0", b"1"))
    found = asked(quire, "verify", "out", "--composer", "own", exit_code=2)

    assert found == {"pages": 4, "equal": 0, "refused": 0, "unequal": 4, "composer": "own"}
    told = quire("fragments", "verify", "out", "--composer", "own").stderr
    start = (shared / "0.html").read_bytes().index(part)
    assert "error: site/0.html (/0.html): " in told
    assert f"{fragment.name} has other content; it begins at byte {start} of the page" in told


def test_a_tampered_whole_page_that_was_refused_is_unequal(quire: Quire, shared: Path) -> None:
    (shared / "own.html").write_bytes(HAZARDS["esi-comment"])
    assert quire("fragments", "esi", "site", "-o", "out").exit_code == 0
    page = next((shared.parent / "out" / "whole").iterdir())
    page.write_bytes(b"other")

    assert asked(quire, "verify", "out", "--composer", "own", exit_code=2)["unequal"] == 1


def test_varnish_that_is_asked_for_and_not_there_is_an_error(
    quire: Quire, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shared.is_dir()
    assert quire("fragments", "esi", "site", "-o", "out").exit_code == 0
    monkeypatch.setenv("PATH", "")
    result = quire("fragments", "verify", "out", "--composer", "varnish")

    assert result.exit_code == 2
    assert result.stderr.startswith("error: varnishd is not installed\nhint: install Varnish")


def test_a_folder_that_is_there_is_not_replaced(quire: Quire, shared: Path) -> None:
    assert quire("fragments", "esi", "site", "-o", "out").exit_code == 0
    again = quire("fragments", "esi", "site", "-o", "out")
    foreign = quire("fragments", "esi", "site", "-o", "site", "--force")

    assert (again.exit_code, foreign.exit_code) == (2, 2)
    assert again.stderr.startswith("error: out: exists\nhint: ")
    assert foreign.stderr.startswith("error: site: is inside the source site")
    assert len(list(shared.iterdir())) == 4
    assert quire("fragments", "esi", "site", "-o", "out", "--force").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plan", "site", "--min-source-bytes", "9"], "error: min_bytes 9: expected more than"),
        (["plan", "site", "--prefix", '/"'], "error: prefix '/\"': expected nothing, or words"),
        (["plan", "nowhere"], "error: nowhere: "),
        (["plan", "empty"], "error: "),
        (["verify", "site"], "error: site: not a composition: it has no manifest.json"),
        (["esi", "site", "-o", "out", "--policies", "site/0.html"], "error: site/0.html: "),
        (["strip", "nowhere", "-o", "out"], "error: nowhere: "),
        (["strip", "site", "-o", ""], "error: -o: empty name"),
        (["strip", "site", "-o", "site/out"], "error: site/out: is inside the source site"),
        (["esi", "site", "-o", "site/out"], "error: site/out: is inside the source site"),
        (
            ["esi", "site", "--variant", "other", "-o", "other/out"],
            "error: other/out: is inside the source other",
        ),
        (["plan", "site", "--variant", "site/"], "error: --variant site/: named twice"),
        (["report", "site", "-o", "."], "error: .: not a file name"),
        (["report", "site", "-o", ""], "error: -o: not a file name"),
        (["report", "site", "-o", "/dev/null"], "error: /dev/null: not a plain file"),
    ],
)
def test_what_cannot_be_done_is_said_with_exit_code_2(
    quire: Quire, shared: Path, arguments: list[str], words: str
) -> None:
    (shared.parent / "empty").mkdir()
    (shared.parent / "other").mkdir()
    result = quire("fragments", *arguments)

    assert result.exit_code == 2
    assert result.stderr.startswith(words), result.stderr
    assert not (shared.parent / "out").exists()


@pytest.mark.parametrize("composer", ["own", "auto"])
def test_a_composition_of_no_pages_is_not_verified(
    quire: Quire, folder: Path, composer: str
) -> None:
    with plan_fragments([]) as plan:
        write_composition(plan, folder / "nothing")

    result = quire("fragments", "verify", "nothing", "--composer", composer)

    assert result.exit_code == 2
    assert result.stderr.startswith("error: nothing: its manifest lists no pages")
    assert result.stdout == ""


def test_policies_get_into_the_vcl(quire: Quire, shared: Path) -> None:
    found = asked(quire, "plan", "site")
    name = found["fragments"][0]["file"]  # type: ignore[index] # JSON
    (shared.parent / "ttl.json").write_text(json.dumps({name: {"ttl_s": 60, "vary": ["Cookie"]}}))
    made = quire("fragments", "esi", "site", "-o", "out", "--policies", "ttl.json")

    vcl = (shared.parent / "out" / "varnish.vcl").read_text()
    assert made.exit_code == 0, made.stderr
    assert f'/[a-z]+/({name})[.]html$")' in vcl
    assert 'Vary = "Cookie"' in vcl


@pytest.mark.parametrize("option", ["--ttl", "--most-ttl"])
def test_times_have_a_limit_that_is_that_of_policies(
    quire: Quire, shared: Path, option: str
) -> None:
    assert shared.is_dir()
    assert quire("fragments", "plan", "site", option, str(LONGEST_TTL_S)).exit_code == 0
    beyond = quire("fragments", "plan", "site", option, str(LONGEST_TTL_S + 1))
    assert (beyond.exit_code, option in beyond.stderr) == (2, True)


def test_policies_for_no_fragment_are_named(quire: Quire, shared: Path) -> None:
    known = asked(quire, "plan", "site")["fragments"][0]["file"]  # type: ignore[index] # JSON
    told = {known: {"ttl_s": 60}, "0" * 32: {"ttl_s": 60}}
    (shared.parent / "policies.json").write_text(json.dumps(told))

    for command in (["plan", "site"], ["esi", "site", "-o", "out"]):
        result = quire("fragments", *command, "--policies", "policies.json")
        assert result.exit_code == 0
        assert f"--policies: {'0' * 32} is not a fragment of this plan" in result.stderr
        assert str(known) not in result.stderr


def test_pages_come_out_of_warcs_and_archives_too(quire: Quire, folder: Path) -> None:
    records = [
        record(response(page), url=f"https://a.example/{number}")
        for number, page in enumerate(pages())
    ]
    write(folder / "crawl.warc", records)
    with Archive.create(folder / "a.quire") as archive:
        for number, page in enumerate(pages()):
            for year in (2025, 2026):  # the newest version is taken
                when = datetime(year, 1, 1, tzinfo=UTC)
                body = page if year == 2026 else b"<p>old"
                archive.add(f"https://a.example/{number}", when, body)
        archive.commit()

    assert asked(quire, "plan", "crawl.warc")["composed"] == 4
    found = asked(quire, "plan", "a.quire")
    assert (found["pages"], found["composed"]) == (4, 4)


def test_what_cannot_be_read_is_named_and_the_rest_is_planned(quire: Quire, shared: Path) -> None:
    (shared / "empty.html").write_bytes(b"")
    result = quire("fragments", "plan", "site")

    assert result.exit_code == 0
    assert "note: site/empty.html: not read: empty: 0 bytes\n" in result.stderr


def test_stripped_pages_are_files_with_an_index(quire: Quire, shared: Path) -> None:
    result = quire("fragments", "strip", "site", "-o", "texts")
    index = json.loads((shared.parent / "texts" / "index.json").read_text())["pages"]

    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("4 pages, 1 template: kept ")
    assert [one["name"] for one in index] == [f"site/{n}.html" for n in range(4)]
    assert (shared.parent / "texts" / index[2]["file"]).read_text() == "Day 2\n14 mm of rain\n"
    assert quire("fragments", "strip", "site", "-o", "texts").exit_code == 2
    assert quire("fragments", "strip", "site", "-o", "texts", "--force").exit_code == 0


def test_stripped_pages_may_be_markdown(quire: Quire, shared: Path) -> None:
    found = asked(quire, "strip", "site", "-o", "readable", "--as", "markdown")
    index = json.loads((shared.parent / "readable" / "index.json").read_text())
    text = asked(quire, "strip", "site", "-o", "texts", "--as", "text")

    assert all(page["file"].endswith(".md") for page in index["pages"])
    assert all((shared.parent / "readable" / page["file"]).read_bytes() for page in index["pages"])
    assert found["kept_bytes"] == text["kept_bytes"]


def test_stripped_html_is_the_page_without_its_blocks(quire: Quire, shared: Path) -> None:
    found = asked(quire, "strip", "site", "-o", "html", "--as", "html")
    index = json.loads((shared.parent / "html" / "index.json").read_text())["pages"]

    assert found["pages"] == 4
    assert (shared.parent / "html" / index[2]["file"]).read_bytes() == (
        pages()[2].replace(MENU, b"").replace(FOOT, b"")
    )


def test_names_of_pages_cannot_command_a_terminal(watched: Watched, shared: Path) -> None:
    (shared / "\x1b[31mred.html").write_bytes(HAZARDS["esi-tag"])
    told, _ = watched("fragments", "plan", "site", stream="stdout")

    assert b"\x1b[31m" not in told
    assert rb"\x1b[31mred.html" in told


def test_progress_is_drawn_on_a_terminal_and_nowhere_else(
    watched: Watched, process: Process, shared: Path
) -> None:
    assert shared.is_dir()
    told, _ = watched("fragments", "esi", "site", "-o", "out", stream="stderr")
    piped = process("fragments", "esi", "site", "-o", "other")

    assert b"cutting pages" in told
    assert b"cutting" not in piped.stderr


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("[]", "not an object of policies by name"),
        ('{"a": 1}', "a: not a policy"),
        ('{"a": {"ttl": 1}}', "a: not a policy"),
        ('{"a": {"vary": "Cookie"}}', "a: vary: expected a list"),
        ('{"a": {"vary": ["a b"]}}', "vary 'a b': expected the name of a header"),
        ('{"a": {"ttl_s": -1}}', "ttl_s -1: expected"),
        ('{"a": {"sharing": "public"}}', "sharing 'public': expected one of"),
        ("{", "Expecting property name"),
    ],
)
def test_what_is_no_policy_is_said(quire: Quire, shared: Path, told: str, words: str) -> None:
    policies = shared.parent / "policies.json"
    policies.write_text(told)
    result = quire("fragments", "plan", "site", "--policies", str(policies))

    assert result.exit_code == 2
    assert words in result.stderr
    assert 'hint: expected {"NAME": {"ttl_s": 60' in result.stderr


def test_files_with_times_in_their_names_are_told_how_to_be_versions(
    quire: Quire, folder: Path
) -> None:
    for number, page in enumerate(pages()):
        (folder / f"2026-05-0{number + 1}.html").write_bytes(page)
    (folder / "fruit.html").unlink()
    plain = quire("fragments", "plan", ".")
    versions = quire("fragments", "plan", ".", "--by-folder")

    assert "note: 4 files have times in their names; --by-folder reads" in plain.stderr
    assert "--by-folder" not in versions.stderr
    assert "\n1 page: 1 composed of " in versions.stdout


def test_one_page_is_told_that_it_shares_nothing(quire: Quire, folder: Path) -> None:
    assert folder.is_dir()
    result = quire("fragments", "plan", "fruit.html")

    assert result.stdout.startswith("1 page: 0 composed")
    assert "note: one page shares nothing with others" in result.stderr


def test_steps_of_a_report_are_told_in_words(watched: Watched, shared: Path) -> None:
    assert shared.is_dir()
    drawn, _ = watched("fragments", "report", "site", "-o", "report.html", stream="stderr")

    assert b"finding equal parts" in drawn


def test_bars_are_drawn_while_versions_are_followed(watched: Watched, folder: Path) -> None:
    for number, page in enumerate(pages()):
        (folder / f"2026-05-0{number + 1}.html").write_bytes(page)
    (folder / "fruit.html").unlink()
    drawn, _ = watched("fragments", "lifetimes", ".", stream="stderr")
    simulated, _ = watched("fragments", "simulate", ".", "--requests", "10", stream="stderr")

    assert b"tracking versions" in drawn
    assert b"simulating requests" in simulated


@pytest.mark.parametrize(
    ("command", "new"),
    [
        (["plan", "site", "--min-bytes", "90"], "--min-source-bytes"),
        (["shared", "site", "--min-bytes=90"], "--min-text-bytes"),
        (["report", "site", "-o", "report.html", "--min-bytes", "90"], "--min-text-bytes"),
    ],
)
def test_the_old_name_of_min_bytes_still_works_and_says_the_new_one(
    quire: Quire, shared: Path, command: list[str], new: str
) -> None:
    assert shared.is_dir()
    old = quire("fragments", *command, "--format", "json")
    renamed = [one.replace("--min-bytes", new) for one in command]
    found = quire(
        "fragments", *renamed, "--format", "json", *(["--force"] if "-o" in command else [])
    )

    assert old.exit_code == found.exit_code == 0, old.stderr + found.stderr
    assert f"note: --min-bytes is deprecated and will be removed; use {new}" in old.stderr
    assert "deprecated" not in found.stderr
    assert "--min-bytes " not in quire("fragments", command[0], "--help").stdout
    if command[0] != "shared":  # which says how long it took
        assert old.stdout == found.stdout


def test_pages_of_a_crawl_keep_their_addresses_and_the_rest_is_named(
    quire: Quire, folder: Path
) -> None:
    menu = MENU.decode()
    urls = [f"https://a.example/{n}?x" for n in range(3)]
    records = [record(response(f"<p>{url}</p>{menu}".encode()), url=url) for url in urls]
    gone = response(b"<p>Gone", status="404 Not Found")
    records.append(record(gone, url="https://a.example/gone"))
    records.append(record(response(b"<p>Another page"), url="http://a.example/0?x"))
    write(folder / "crawl.warc.gz", records)
    result = quire("fragments", "esi", "crawl.warc.gz", "-o", "out")
    pages = json.loads((folder / "out" / "manifest.json").read_text())["pages"]

    assert [page["address"] for page in pages] == [
        *("//a.example/0?x", "//a.example/1?x", "//a.example/2?x", "", "")
    ]
    assert {page["content_type"] for page in pages} == {"text/html;charset=utf-8"}
    assert "note: https://a.example/gone: not served: captured as an error" in result.stderr
    assert "note: http://a.example/0?x: not served: another page has" in result.stderr
    found = asked(quire, "esi", "crawl.warc.gz", "-o", "out", "--force")
    assert [one["reason"] for one in found["unserved"]] == ["status", "taken"]  # type: ignore[attr-defined]


def test_files_are_served_under_their_path_below_what_was_named(quire: Quire, shared: Path) -> None:
    (shared / "deep").mkdir()
    (shared / "0.html").rename(shared / "deep" / "50% & more?.html")

    def addresses(*arguments: str) -> list[str]:
        assert quire("fragments", "esi", *arguments, "-o", "out", "--force").exit_code == 0
        found = json.loads((shared.parent / "out" / "manifest.json").read_text())
        return sorted(page["address"] for page in found["pages"])

    deep = "/deep/50%25%20&%20more%3F.html"
    assert addresses("site") == ["/1.html", "/2.html", "/3.html", deep]
    assert addresses("site/*.html", "site/deep") == [
        *("/1.html", "/2.html", "/3.html", "/50%25%20&%20more%3F.html")
    ]
    assert addresses(str(shared / "1.html"), f"{shared}/") == [
        "/1.html",
        "/2.html",
        "/3.html",
        deep,
    ]


@pytest.mark.parametrize(
    "origin", ["", "8080", "a.example:80", "127.0.0.1:0", "127.0.0.1:x", '1";']
)
def test_an_origin_that_is_no_ip_address_and_port_is_refused(
    quire: Quire, shared: Path, origin: str
) -> None:
    result = quire("fragments", "esi", "site", "-o", "out", "--origin", origin)

    assert result.exit_code == 2
    assert f"--origin {origin}: expected an IP address and a port" in result.stderr
    assert not (shared.parent / "out").exists()


def test_the_origin_is_in_the_vcl(quire: Quire, shared: Path) -> None:
    quire("fragments", "esi", "site", "-o", "out", "--origin", "[::1]:81")

    vcl = (shared.parent / "out" / "varnish.vcl").read_text()
    assert '.host = "::1";\n    .port = "81";' in vcl
