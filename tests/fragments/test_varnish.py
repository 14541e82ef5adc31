"""A real Varnish composes what we write, and sees includes where our scanner says that it does."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from quire.errors import ProxyError
from quire.fragments import (
    ComposedPage,
    FragmentFile,
    Manifest,
    PlanRules,
    Policy,
    Volumes,
    plan_fragments,
    verify,
    write_composition,
)
from quire.fragments.cuts.esi_scanner import EsiScanner, Within
from quire.fragments.cuts.hazards import refusals
from quire.fragments.cuts.includes import include, name_of
from quire.fragments.esi.varnish import composing_varnish
from tests.conftest import require
from tests.fragments.hostile import FOOT, MENU, PIECES, composed, pages_of, site

PAGES = 400


@pytest.fixture
def varnish() -> str:
    return require("varnishd", "compose pages with a real cache")


@pytest.fixture
def work() -> Iterator[str]:
    """A folder for temporary files. As root, Varnish becomes another user, whom pytest's own folders do not let in."""
    with tempfile.TemporaryDirectory(prefix="varnish-test-") as folder:
        Path(folder).chmod(0o755)
        yield folder


def none_left(folder: str) -> bool:
    """Tell whether, after a while at most, no process has a folder in its command."""
    end = time.monotonic() + 240
    while any(folder in command for command in commands()):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def commands() -> Iterator[str]:
    """The commands of all processes."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                yield (entry / "cmdline").read_bytes().decode("utf-8", "replace")


def template_of(name: str, length: int) -> ComposedPage:
    return ComposedPage(
        name=name,
        url=name,
        folder="templates",
        file=name,
        length=length,
        sha256="0" * 64,
        includes=1,
        is_refused=False,
        hazards=(),
        policy=Policy(),
        is_personal=False,
    )


def hostile_pages(count: int, seed: int) -> list[bytes]:
    draw = random.Random(seed)
    parts = [*PIECES, *[MENU, FOOT] * 12]
    return [
        b"<p>%d</p>" % number + b"".join(draw.choices(parts, k=draw.randint(1, 12)))
        for number in range(count)
    ]


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("depth", "checks"), [(1, True), (4, False)])
def test_hostile_pages_come_through_varnish_as_they_went_in(
    varnish: str, tmp_path: Path, depth: int, *, checks: bool
) -> None:
    assert varnish
    rules = PlanRules(min_bytes=100, max_depth=depth, prefix="/q/r", xml_check=checks)
    sources = hostile_pages(PAGES, depth)
    manifest = composed(
        sources if checks else [b"x" + one for one in sources], tmp_path / "esi", rules
    )
    found = verify(tmp_path / "esi", composer="varnish")

    assert found.faults == ()
    assert (found.pages, found.composer) == (PAGES, "varnish")
    assert found.equal > PAGES / 4
    assert found.refused > PAGES / 10
    assert sum(page.includes for page in manifest.pages) > PAGES / 4
    assert any(hazard.kept for page in manifest.pages for hazard in page.hazards)


@pytest.mark.timeout(900)
def test_parts_that_are_set_apart_anywhere_come_through_varnish(
    varnish: str, tmp_path: Path
) -> None:
    assert varnish
    draw = random.Random(11)
    sources = hostile_pages(PAGES // 2, 5)
    spans = {}
    for place, source in enumerate(sources):
        edges = sorted(draw.sample(range(len(source) + 1), k=4))
        spans[place] = [(edges[0], edges[1]), (edges[2], edges[3])]
    rules = PlanRules(min_bytes=100)
    with plan_fragments(pages_of(sources), rules=rules, apart=spans) as plan:
        manifest = write_composition(plan, tmp_path / "esi")
    found = verify(tmp_path / "esi", composer="varnish")

    assert found.faults == ()
    assert found.equal > PAGES / 8
    assert sum(one.length < 70 for one in manifest.fragments) > PAGES / 8


@pytest.mark.timeout(900)
def test_varnish_sees_an_include_where_the_scanner_says_it_does(
    varnish: str, tmp_path: Path
) -> None:
    assert varnish
    draw = random.Random(7)
    starts = {b"<p>" + b"".join(draw.choices(PIECES, k=draw.randint(1, 5))) for _ in range(PAGES)}
    starts = {start for start in starts if not refusals(start)}
    fragment = name_of(FOOT)
    expected = {}
    for folder in ("fragments", "templates"):
        (tmp_path / folder).mkdir()
    (tmp_path / "fragments" / f"{fragment}.html").write_bytes(FOOT)
    pages = []
    for start in sorted(starts):
        # A quiet end: what is open is closed, so that only the include is in question.
        template = start + include("", "fragments", fragment) + b"-->]]>"
        is_seen = EsiScanner().read(bytearray(start)) is Within.NOTHING
        name = name_of(start)
        expected[name] = template if not is_seen else start + FOOT + b"-->]]>"
        (tmp_path / "templates" / f"{name}.html").write_bytes(template)
        pages.append(template_of(name, len(template)))
    part = FragmentFile(fragment, "fragments", len(FOOT), len(FOOT), "0" * 64, 1, 1, 0, 0, Policy())
    manifest = Manifest("", 1, True, tuple(pages), (part,), Volumes(0, 0, 0, 0))  # noqa: FBT003 - same
    with composing_varnish(tmp_path, manifest) as fetch:
        wrong = [page.file for page in pages if fetch(page) != expected[page.file]]

    assert len(pages) > PAGES / 3
    assert wrong == []


@pytest.mark.timeout(900)
def test_a_tampered_fragment_is_seen_through_varnish_and_nothing_is_left_running(
    varnish: str, tmp_path: Path, work: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert varnish
    monkeypatch.setattr(tempfile, "tempdir", work)
    composed(site(), tmp_path / "esi")
    path = next((tmp_path / "esi" / "fragments").iterdir())
    path.write_bytes(path.read_bytes() + b"!")
    found = verify(tmp_path / "esi", composer="auto")

    assert (found.unequal, found.composer) == (4, "varnish")
    assert none_left(work)
    assert list(Path(work).iterdir()) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from quire.fragments import Manifest
from quire.fragments.esi.varnish import composing_varnish
folder = Path(sys.argv[1])
with composing_varnish(folder, Manifest.load(folder)):
    print("up", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.timeout(900)
def test_varnish_ends_when_the_process_that_started_it_is_killed(
    varnish: str, tmp_path: Path, work: str
) -> None:
    assert varnish
    composed(site(), tmp_path / "esi")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "esi")],
        env={**os.environ, "TMPDIR": work},
        capture_output=True,
        check=False,
    )

    assert done.stdout == b"up\n", done.stderr
    assert none_left(work)


def test_without_varnish_its_absence_is_an_error_and_auto_composes_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    composed(site(), tmp_path / "esi")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert verify(tmp_path / "esi", composer="auto").composer == "own"
    with pytest.raises(ProxyError, match="varnishd is not installed"):
        verify(tmp_path / "esi", composer="varnish")


def test_a_varnish_that_does_not_start_is_an_error_with_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    composed(site(), tmp_path / "esi")
    program = tmp_path / "varnishd"
    program.write_text("#!/bin/sh\necho no cache today\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    with pytest.raises(ProxyError, match="did not start: no cache today"):
        verify(tmp_path / "esi", composer="varnish")
