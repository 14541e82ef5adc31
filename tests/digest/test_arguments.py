"""Wrong arguments: every error says what was given, what is expected, and how to get there."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import quire
from quire.digest.arguments import shown

PAGE = quire.encode(b"<p>Fish")
# Called with wrong types on purpose.
anything: Any = quire


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: anything.encode("<!doctype html><p>Fish"), r"looks like a page: use \.encode\(\)"),
        (lambda: anything.encode('{"fish": 1}'), r"looks like a page: use \.encode\(\)"),
        (lambda: anything.encode(None), r"source is None; expected bytes or a path"),
        (lambda: anything.encode(7), r"source is int 7; expected bytes or a path"),
        (lambda: anything.encode(PAGE), r"expected bytes or a path: use \.decode\(\)"),
        (lambda: anything.encode(io.BytesIO(b"<p>")), r"BytesIO; .*: use \.read\(\)"),
        (lambda: anything.Encoder().feed("<p>"), r"chunk is str '<p>'; .*\.encode\(\)"),
        (lambda: anything.load(b"<p>"), r"path is bytes b'<p>'; .*quire\.from_bytes"),
        (lambda: anything.peek(b"<p>"), r"path is bytes b'<p>'; .*quire\.from_bytes"),
        (lambda: anything.from_bytes("a.qd"), r"data is str 'a\.qd'; .*quire\.load"),
        (lambda: anything.encode(b"").save(7), r"path is int 7; expected a path"),
        (lambda: anything.similarity(b"<p>", PAGE), r"a is bytes b'<p>'; .*quire\.encode"),
        (lambda: anything.similarity(PAGE, "b.html", "kang"), r"b is str 'b\.html'; .*quire\.load"),
        (lambda: anything.kang(PAGE, b"<p>"), r"b is bytes b'<p>'; .*quire\.encode"),
        (lambda: anything.annotate(Path("a.html"), PAGE), r"old is PosixPath .*quire\.load"),
        (lambda: anything.annotate(PAGE, "<p>Fish"), r"new is str '<p>Fish'; .*\.encode\(\)"),
        (lambda: anything.annotate(PAGE, PAGE, {"only": "p"}), r"rules is dict .*expected Rules"),
        (lambda: anything.changed(b"<p>", PAGE), r"old is bytes b'<p>'; .*quire\.encode"),
        (lambda: anything.structure_changed(PAGE, 7), r"new is int 7; expected a Digest"),
        (lambda: anything.edit_script(PAGE, b"<p>"), r"new is bytes b'<p>'; .*quire\.encode"),
        (lambda: anything.edit_script(PAGE, PAGE).apply(b"<p>"), r"old is bytes b'<p>'"),
        (lambda: anything.redline(PAGE), r"expected an Annotation, as quire\.annotate\(old, new\)"),
        (lambda: anything.unified(PAGE), r"expected an Annotation, as quire\.annotate\(old, new\)"),
        (lambda: anything.side_by_side(PAGE), r"expected an Annotation"),
        (lambda: list(anything.text_changes(PAGE)), r"expected an Annotation"),
        (lambda: anything.word_changes(b"a", "b"), r"old is bytes b'a'; .*\.decode\(\)"),
        (lambda: anything.word_changes("a", PAGE), r"new is <Digest .*\.text\(\)"),
        (lambda: anything.templates([PAGE, b"<p>"]), r"page 1 is bytes b'<p>'"),
        (lambda: anything.shared_fragments([b"<p>"]), r"page is bytes b'<p>'"),
    ],
)
def test_a_wrong_type_is_named_with_the_way_out(call: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize(
    "value", ["<p>" + "x" * 10_000, b"<p>" + b"\0" * 10_000, list(range(9999))]
)
def test_a_long_value_is_shown_by_its_beginning(value: object) -> None:
    assert len(shown(value)) <= len("bytearray ") + 80


def test_a_web_address_is_no_missing_file() -> None:
    with pytest.raises(FileNotFoundError, match=r"web address.*: 'https://example\.org/a'"):
        quire.encode("https://example.org/a")


def test_a_file_is_read_whatever_its_name_looks_like(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("<p>").write_bytes(b"Fish")

    assert quire.encode("<p>").decode() == b"Fish"


def test_saving_names_the_file_that_was_asked_for_and_no_other(tmp_path: Path) -> None:
    target = tmp_path / "none" / "page.qd"
    with pytest.raises(FileNotFoundError) as caught:
        PAGE.save(target)

    assert str(caught.value).endswith(f"No such file or directory: '{target}'")
