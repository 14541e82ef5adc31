"""What reaches a terminal cannot command it."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.cli.common.terminal import explain, one_line, printable
from quire.display import quote_pair
from quire.errors import MalformedSource

# Half pairs, controls and what reorders text are where a sink goes wrong.
texts = st.text(
    alphabet=st.one_of(
        st.characters(),
        st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp"]),
    )
)
REORDERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(texts)
def test_nothing_a_terminal_obeys_is_left(text: str) -> None:
    safe = printable(text)

    assert [c for c in safe if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}] == []
    assert [c for c in safe if unicodedata.bidirectional(c) in REORDERING] == []
    safe.encode("utf-8")


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_words_of_any_script_are_left_alone(text: str) -> None:
    assert printable(text) == text


@given(texts, st.integers(min_value=2, max_value=80))
def test_one_line_is_one_and_short_enough(text: str, most: int) -> None:
    line = one_line(text, most=most)

    assert len(line) <= most
    assert line.splitlines() in ([line], [])


# White space, and texts longer than what is shown, are where two sides come to look the same.
spaced = st.text(alphabet="a \n\t\xa0\u202e\x1b…", max_size=30)


@given(st.one_of(texts, spaced), st.one_of(texts, spaced), st.integers(min_value=1, max_value=9))
def test_texts_that_differ_look_different_and_command_nothing(
    old: str, new: str, most: int
) -> None:
    said = quote_pair(old, new, most)

    assert (said[0] != said[1]) == (old != new)
    assert [printable(side) for side in said] == list(said)


def test_line_ends_stay_where_lines_are_shown() -> None:
    assert printable("a\r\n\tb", keep="\n\t") == "a\\x0d\n\tb"


def test_an_error_that_does_not_know_its_file_is_told() -> None:
    error = MalformedSource("line 3: no end", kind="xml", line=3, column=1, offset=9)

    message, hint = explain(error, "feed.xml")

    assert message == "feed.xml: line 3: no end"
    assert hint is not None
    assert "--recover" in hint


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full to write to")
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["show", "fruit.html"], "standard output"),
        (["show", "fruit.html", "--format", "json"], "standard output"),
        (["encode", "fruit.html", "-o", "-"], "standard output"),
        (["--version"], "standard output"),
        (["encode", "fruit.html", "-o", "/dev/full"], "/dev/full"),
        (["diff", "fruit.html", "fruit.html", "-o", "/dev/full"], "/dev/full"),
    ],
)
def test_what_is_full_is_named(folder: Path, arguments: list[str], named: str) -> None:
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [sys.executable, "-m", "quire.cli", *arguments],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=240,
        )

    assert result.returncode == 2
    hint = (
        "hint: free some space, or choose another folder; "
        "TMPDIR names the one for temporary files\n"
    )
    expected = f"error: {named}: no space left on device\n"
    assert result.stderr.decode() == expected + (hint if named == "/dev/full" else "")


def test_a_place_that_cannot_be_written_to_has_a_hint() -> None:
    error = OSError(errno.EROFS, os.strerror(errno.EROFS), "a/lock")

    message, hint = explain(error)
    assert message == "a/lock: read-only file system"
    assert "another place" in (hint or "")
