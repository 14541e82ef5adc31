"""``quire diff``: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import quire as package
from quire.cli.common.terminal import Refusal
from tests.cli.conftest import Process, Quire

OLD = b"<!doctype html><title>Shop</title><h1>Fruit</h1><p class=a>Pears 3.10<p>Figs"
NEW = b"<!doctype html><title>Shop</title><h1>Fruit</h1><p class=b>Pears 3.40<p>Figs<p>Kiwis"


@pytest.fixture(autouse=True)
def versions(folder: Path) -> Path:
    """Two versions of a page: old.html and new.html."""
    (folder / "old.html").write_bytes(OLD)
    (folder / "new.html").write_bytes(NEW)
    return folder


def test_changed_lines_are_shown_with_those_around_them(quire: Quire) -> None:
    result = quire("diff", "old.html", "new.html", "--context", "1")

    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[:6] == [
        "@@ -2,3 +2,4 @@",
        "  Fruit",
        "- Pears 3.10",
        "+ Pears 3.40",
        "  Figs",
        "+ Kiwis",
    ]
    assert "      class: 'a' → 'b'" in lines
    assert lines[-1] == "1 text edited, 1 part inserted (2 nodes), 1 node with changed attributes"


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ("summary", "1 text edited, 1 part inserted (2 nodes)"),
        ("words", "Pears [-3.10-]{+3.40+}"),
        ("side", "Pears 3.10"),
        ("tree", "+ p  Kiwis  (2 nodes)"),
        ("unified", "+ Kiwis"),
        ("script", "update #text"),
        ("redline", 'class="quire-del">3.10</del>'),
    ],
)
def test_every_view_shows_the_change(quire: Quire, view: str, expected: str) -> None:
    result = quire("diff", "old.html", "new.html", "--view", view)

    assert result.exit_code == 0
    assert expected in result.stdout


def test_pages_and_digests_and_standard_input_are_all_taken(quire: Quire, folder: Path) -> None:
    package.encode(OLD).save(folder / "old.qd")
    expected = quire("diff", "old.html", "new.html").stdout

    assert quire("diff", "old.qd", "new.html").stdout == expected
    assert quire("diff", "old.qd", "-", given=NEW).stdout == expected
    assert quire("diff", "-", "new.html", given=package.encode(OLD).to_bytes()).stdout == expected


@pytest.mark.parametrize("option", ["--exit-code", "--quiet"])
def test_the_exit_code_tells_when_asked(quire: Quire, option: str) -> None:
    assert quire("diff", "old.html", "new.html").exit_code == 0
    assert quire("diff", "old.html", "new.html", option).exit_code == 1
    assert quire("diff", "old.html", "old.html", option).exit_code == 0
    assert quire("diff", "old.html", "new.html", option, "--facet", "links").exit_code == 0
    assert quire("diff", "old.html", "gone.html", option).exit_code == 2


@pytest.mark.parametrize("option", ["--exit-code", "--quiet"])
def test_a_facet_that_only_moved_on_by_a_place_has_not_changed(
    quire: Quire, folder: Path, option: str
) -> None:
    (folder / "longer.html").write_bytes(OLD.replace(b"<p class=a>", b"<hr><p class=a>"))

    arguments = ["diff", "old.html", "longer.html", option]
    assert quire(*arguments, "--facet", "attributes").exit_code == 0
    assert quire(*arguments, "--facet", "attributes", "--facet", "tags").exit_code == 1


def test_a_verdict_about_digests_reads_their_headers_only(quire: Quire, folder: Path) -> None:
    for name, page in (("old", OLD), ("new", NEW)):
        (folder / f"{name}.qd").write_bytes(package.encode(page * 50).to_bytes()[:1024])

    assert quire("diff", "-q", "old.qd", "new.qd").exit_code == 1
    assert quire("diff", "-q", "old.qd", "old.qd").exit_code == 0
    assert quire("diff", "old.qd", "new.qd").exit_code == 2


@pytest.mark.timeout(900)  # quadratic, it would take hours
@pytest.mark.parametrize("view", ["unified", "words", "side", "tree", "summary"])
def test_hostile_pages_are_shown_in_time(quire: Quire, folder: Path, view: str) -> None:
    deep = b"<div class=a>" * 3_000 + b"x"
    (folder / "deep.html").write_bytes(deep)
    (folder / "deeper.html").write_bytes(deep.replace(b"=a", b"=b") + b"<p>y" * 3_000)

    assert quire("diff", "deep.html", "deeper.html", "--view", view).exit_code == 0


def test_quiet_prints_nothing(quire: Quire) -> None:
    assert quire("diff", "old.html", "new.html", "-q").output == ""


def test_nothing_changed_is_said_beside_the_output(process: Process) -> None:
    result = process("diff", "old.html", "old.html")

    assert (result.returncode, result.stdout) == (0, b"")
    assert result.stderr == b"note: nothing changed\n"


@pytest.mark.parametrize(
    "rules",
    [
        ["--only", "h1"],
        ["--except", "p"],
        ["--ignore-attribute", "class", "--ignore-text", r"[\d.]+", "--except", "p:nth-of-type(3)"],
        ["--tolerance", "0.5", "--ignore-attribute", "cl*", "--except", "p:nth-of-type(3)"],
        ["--tolerance", "10%", "--ignore-attribute", "class", "--except", "p:nth-of-type(3)"],
    ],
)
def test_rules_are_options(quire: Quire, rules: list[str]) -> None:
    result = quire("diff", "old.html", "new.html", "--exit-code", *rules)

    assert (result.exit_code, result.stdout) == (0, "")


def test_space_case_and_order_can_be_ignored(quire: Quire, folder: Path) -> None:
    (folder / "other.html").write_bytes(OLD.replace(b"<p>Figs", b"\n<p> FIGS "))
    options = ["--ignore-space", "--ignore-case", "--ignore-order", "--granularity", "fine"]

    assert quire("diff", "old.html", "other.html", "-q").exit_code == 1
    assert quire("diff", "old.html", "other.html", "-q", *options).exit_code == 0


def test_json_is_the_report(quire: Quire) -> None:
    result = quire("diff", "old.html", "new.html", "--format", "json", "--facet", "content")

    found = json.loads(result.stdout)
    assert found["schema"] == "quire-changes/1"
    assert [change["kind"] for change in found["changes"]] == ["updated", "inserted"]
    assert found["changes"][0]["new"]["path"] == "html > body > p:nth-of-type(1)"


def test_a_script_for_programs_can_be_applied(quire: Quire) -> None:
    result = quire("diff", "old.html", "new.html", "--view", "script", "--format", "json")

    script = package.EditScript.from_json(result.stdout)
    assert script.apply(package.encode(OLD)).decode() == NEW


@pytest.mark.parametrize("view", ["unified", "tree"])
def test_bytes_that_are_no_text_are_told_by_their_number(
    quire: Quire, folder: Path, view: str
) -> None:
    data = bytes(range(256)) * 12
    (folder / "one.bin").write_bytes(data)
    (folder / "two.bin").write_bytes(data + b"x")
    (folder / "one.txt").write_bytes(b"Figs")

    result = quire("diff", "one.txt", "one.bin", "--view", view)
    assert "+ #bytes  3,072 bytes" in result.stdout
    assert result.stdout.endswith("1 part inserted (1 node), 1 part deleted (2 nodes)\n")

    result = quire("diff", "one.bin", "two.bin", "--view", view)
    assert "~ #bytes  3,073 bytes" in result.stdout
    assert "white space" not in result.stderr


def test_a_redline_is_written_to_a_file_and_never_over_one(quire: Quire, folder: Path) -> None:
    result = quire("diff", "old.html", "new.html", "-o", "redline.html")

    assert result.exit_code == 0
    assert result.stdout == ""
    drawn = (folder / "redline.html").read_text("utf-8")
    assert "Content-Security-Policy" in drawn
    assert quire("diff", "old.html", "new.html", "-o", "redline.html").exit_code == 2
    assert quire("diff", "old.html", "new.html", "-o", "redline.html", "--force").exit_code == 0


def test_what_a_page_says_never_commands_a_terminal(quire: Quire, folder: Path) -> None:
    (folder / "evil.html").write_bytes(
        OLD.replace(b"Figs", b"\x1b]0;owned\x07Figs\xe2\x80\xae").replace(
            b"class=a", b"class='\x1b[31m'"
        )
    )
    for view in ("unified", "words", "side", "tree", "summary"):
        result = quire("diff", "old.html", "evil.html", "--view", view)
        assert "\x1b" not in result.stdout
        assert "\x07" not in result.stdout
        assert "\u202e" not in result.stdout
    assert r"\x1b]0;owned" in quire("diff", "old.html", "evil.html").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-", "-"], "OLD and NEW are both standard input"),
        (["old.html", "new.html", "--tolerance", "much"], "--tolerance much: not a number"),
        (["old.html", "new.html", "--tolerance", "nan"], "--tolerance nan: not a number"),
        (["old.html", "new.html", "--view", "tree", "-o", "x"], "-o writes a redline"),
        (["old.html", "new.html", "--only", "p["], "p["),
        (
            ["old.html", "new.html", "--view", "script", "--only", "p"],
            "an edit script covers the whole page",
        ),
        (
            ["old.html", "new.html", "--ignore-text", "a("],
            'error: pattern "a(": unclosed group (at character 1)\nhint: quote the pattern',
        ),
        (["old.html", "gone.html"], "gone.html: no such file"),
    ],
)
def test_errors_say_what_is_wrong(quire: Quire, arguments: list[str], message: str) -> None:
    result = quire("diff", *arguments)

    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_a_redline_is_not_put_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from quire.cli.page import diff  # noqa: PLC0415 - `quire` is the fixture elsewhere

    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    with pytest.raises(Refusal, match="for a browser"):
        diff._write_redline("<p>", None, force=False)


def test_white_space_is_shown_where_nothing_else_differs(quire: Quire, folder: Path) -> None:
    (folder / "old.html").write_bytes(b"<p class='a b'>x<table><tr><td>14.60</table>")
    (folder / "new.html").write_bytes(b"<p class='a  b'>x<table><tr><td>14.60\n<tr><td>21</table>")

    script = quire("diff", "old.html", "new.html", "--view", "script").stdout
    assert r"'14.60' to '14.60\n'" in script
    tree = quire("diff", "old.html", "new.html", "--view", "tree").stdout
    assert "class: 'a b' → 'a  b'" in tree


def test_words_show_inserted_and_deleted_paragraphs(quire: Quire) -> None:
    told = quire("diff", "old.html", "new.html", "--view", "words").stdout
    assert "  {+Kiwis+}\n" in told

    told = quire("diff", "new.html", "old.html", "--view", "words").stdout
    assert "  [-Kiwis-]\n" in told


def test_words_have_pointers_in_json_and_lines_in_text(quire: Quire, folder: Path) -> None:
    (folder / "a.json").write_bytes(b'{"price": {"cod": 8, "hake": 9}}')
    (folder / "b.json").write_bytes(b'{"price": {"hake": 9, "cod": 7}}')
    (folder / "a.txt").write_bytes(b"Fish\n\nCod 8\n")
    (folder / "b.txt").write_bytes(b"Fish\n\nCod 7\n")

    told = quire("diff", "a.json", "b.json", "--view", "words").stdout
    assert told == "/price/cod\n  [-8-]{+7+}\n1 text edited\n"
    told = quire("diff", "a.txt", "b.txt", "--view", "words").stdout
    assert told == "line 3\n  Cod [-8-]{+7+}\n1 text edited\n"


def test_other_changes_begin_with_those_that_matter(quire: Quire, folder: Path) -> None:
    scripts = "".join(f"<script nonce=a{i} src=/{i}.js></script>" for i in range(14))
    page = f"<body class=a>{scripts}<p>Open<a href=/fish>Fish</a>"
    (folder / "a.html").write_text(page)
    (folder / "b.html").write_text(
        page.replace("nonce=a", "nonce=b").replace("/fish", "/meat").replace("class=a", "class=b")
    )

    told = quire("diff", "a.html", "b.html").stdout.splitlines()
    assert told[:-1] == [
        "other changes:",
        "  ~ a",
        "      href: '/fish' → '/meat'",
        "  ~ body.b",
        "      class: 'a' → 'b'",
        "  and 14 changes of values that change at every load (nonces); --view tree shows all",
    ]
    assert quire("diff", "a.html", "b.html", "--view", "tree").stdout.count("nonce:") == 14


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (OLD, "note: nothing changed\n"),
        (OLD.replace(b"<h1>", b"<H1>"), "note: no visible change; the bytes differ (markup)\n"),
        (
            OLD.replace(b"<h1>", b"<h1 >"),
            "note: no visible change; the bytes differ (white space)\n",
        ),
    ],
)
def test_pages_that_read_the_same_with_other_bytes_are_told_apart(
    quire: Quire, folder: Path, source: bytes, expected: str
) -> None:
    (folder / "again.html").write_bytes(source)
    result = quire("diff", "old.html", "again.html")

    assert (result.stdout, result.stderr) == ("", expected)


def test_changes_that_nobody_sees_are_called_so(quire: Quire, folder: Path) -> None:
    (folder / "a.html").write_bytes(OLD + b"<!-- 1 -->")
    (folder / "b.html").write_bytes(OLD + b"<!-- 2 -->")

    told = quire("diff", "a.html", "b.html", "--view", "summary").stdout
    assert told.startswith("no visible change; the bytes differ (comments)\n")
    assert "no visible" not in quire("diff", "old.html", "new.html", "--view", "summary").stdout


def test_binary_files_are_compared_by_their_bytes(quire: Quire, folder: Path) -> None:
    data = bytes(range(256)) * 12
    (folder / "one.bin").write_bytes(data)
    (folder / "two.bin").write_bytes(data + b"x")

    told = quire("diff", "one.bin", "two.bin").stdout.splitlines()[-1]
    assert told == "binary files differ: 3,072 bytes, then 3,073 bytes; from byte 3,073 on"
    assert "a binary file and a page" in quire("diff", "old.html", "one.bin").stdout


@pytest.mark.parametrize("columns", [60, 100])
def test_columns_are_as_wide_as_asked_for_in_a_pipe(
    process: Process, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    told = process("diff", "old.html", "new.html", "--view", "side").stdout.decode()

    assert {len(line) for line in told.splitlines()[:-1]} == {columns}


@pytest.fixture
def folders(folder: Path) -> Path:
    """Two versions of a site: before/ and after/."""
    for name, pages in {
        "before": {"shop.html": OLD, "gone.html": OLD, "about.html": OLD},
        "after": {"shop.html": NEW, "new.html": NEW, "about.html": OLD},
    }.items():
        (folder / name).mkdir()
        for page, source in pages.items():
            (folder / name / page).write_bytes(source)
    return folder


@pytest.mark.usefixtures("folders")
def test_two_folders_are_compared_page_by_page(quire: Quire) -> None:
    result = quire("diff", "before", "after", "--exit-code")

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "- gone.html",
        "+ new.html",
        "~ shop.html: 1 text edited, 1 part inserted (2 nodes), 1 node with changed attributes",
        "4 pages: 1 changed, 1 new, 1 gone, 1 same",
    ]
    assert quire("diff", "before", "before", "--exit-code").exit_code == 0
    assert quire("diff", "before", "after", "--quiet").stdout == ""
    assert "  {+Kiwis+}" in quire("diff", "before", "after", "--view", "words").stdout


def test_two_folders_can_be_had_as_json_and_as_redlines(quire: Quire, folders: Path) -> None:
    told = json.loads(quire("diff", "before", "after", "--format", "json").stdout)
    assert told["schema"] == "quire-comparison/1"
    assert told["counts"] == {"gone": 1, "new": 1, "changed": 1, "same": 1}
    assert {page["address"]: page["status"] for page in told["pages"]}["shop.html"] == "changed"

    result = quire("diff", "before", "after", "-o", "changes")
    assert result.exit_code == 0
    assert sorted(path.name for path in (folders / "changes").iterdir()) == [
        "0001-shop.html",
        "index.html",
    ]
    assert 'href="0001-shop.html"' in (folders / "changes" / "index.html").read_text("utf-8")
    assert "Kiwis" in (folders / "changes" / "0001-shop.html").read_text("utf-8")
    assert quire("diff", "before", "after", "-o", "changes").exit_code == 2


@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("before", "old.html"), "error: old.html: a page, and before holds many pages"),
        (("before", "none"), "error: none: no such file or folder"),
        (("before", "after", "--view", "redline"), "error: redlines of many pages need a folder"),
        (("before", "after", "-o", "after/x"), "error: after/x: is inside the source after"),
    ],
)
def test_folders_that_cannot_be_compared_are_said(
    quire: Quire, arguments: tuple[str, ...], message: str
) -> None:
    result = quire("diff", *arguments)

    assert result.exit_code == 2
    assert result.stderr.startswith(message)
