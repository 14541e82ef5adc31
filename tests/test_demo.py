"""The first thing a newcomer runs: it ends by itself and every page is exact."""

from __future__ import annotations

import subprocess
import sys

from quire.demo import SITE


def test_the_demo_shows_every_page_as_exact() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "quire.demo"], capture_output=True, check=False, timeout=240
    )
    shown = result.stdout.decode()

    assert (result.returncode, result.stderr) == (0, b"")
    # Each page, the script between two versions of one, and the archive.
    assert shown.count("✓") == len(list(SITE.iterdir())) + 2 >= 7
    assert "✗" not in shown
    assert "Lemon sole" in shown
    assert "Old news is good news too" in shown
    assert "+ Fish market, Saturday" in shown
    assert "itself on Saturday" in shown
