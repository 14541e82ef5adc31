"""What every test may use: how to need a component, the corpora, Hypothesis profiles."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import corpus

# A page can take a while on a busy machine; the time limit of a whole test is
# pytest's. In CI examples come from a fixed seed, so a change is judged by the
# change; `make soak` is where new examples are looked for.
_slow_machine = [HealthCheck.too_slow]
settings.register_profile("here", deadline=None, suppress_health_check=_slow_machine)
settings.register_profile("ci", settings.get_profile("here"), derandomize=True, print_blob=True)
settings.register_profile(
    "soak",
    settings.get_profile("here"),
    max_examples=int(os.environ.get("SOAK_EXAMPLES", "20000")),
)
settings.load_profile("ci" if os.environ.get("CI") else "here")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a test after its argument where the value is binary data.

    Compressed data can hold the time at which it was made (gzip does), and
    then each process would give the same test another name: they could not
    share the tests among them.
    """
    binary = isinstance(val, bytes) and not (val.isascii() and val.decode().isprintable())
    return argname if binary else None


def require(component: str, reason: str) -> str:
    """Give the path of a program that a test needs, or skip the test.

    In CI every component is installed (tools/debian-packages.txt), so there a
    missing one fails the test: a skip would hide that the check is gone.

    Args:
        component: the command, as found on the path: ``varnishd``.
        reason: what the test does with it, for the message.
    """
    path = shutil.which(component)
    if path is not None:
        return path
    message = f"{component} is not installed; needed to {reason}"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def corpus_files() -> Callable[[str], list[Path]]:
    """List the files of a shared corpus, or skip where there are none."""
    if not corpus.available():
        pytest.skip(corpus.ABSENT)
    return corpus.files
