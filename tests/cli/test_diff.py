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


@pytest.mark.timeout(120)  # quadratic, it would take hours
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
