"""Times in names of files: read as exactly as they are written, or not at all."""

from __future__ import annotations

from datetime import datetime

import pytest

from quire.captures import Capture, time_in
from quire.captures.file_times import as_version


@pytest.mark.parametrize(
    ("name", "time"),
    [
        ("20260131T093000Z", "2026-01-31T09:30:00"),
        ("20260131T093000123Z", "2026-01-31T09:30:00.123000"),
        ("2026-01-31T09-30-00-123Z", "2026-01-31T09:30:00.123000"),
        ("2026-01-31T09:30:00.5Z", "2026-01-31T09:30:00.500000"),
        ("20260131093000123456", "2026-01-31T09:30:00.123456"),
        ("2026-01-31_0930", "2026-01-31T09:30:00"),
        ("news-2026-01-31", "2026-01-31T00:00:00"),
        ("20260131T0930001Z", None),
        ("2026013109300012", None),
    ],
)
def test_a_time_is_read_as_exactly_as_it_is_written_or_not_at_all(
    name: str, time: str | None
) -> None:
    found = time_in(f"{name}.html")

    assert found == (datetime.fromisoformat(f"{time}+00:00") if time else None)


def test_a_capture_that_knows_its_time_keeps_it() -> None:
    known = datetime.fromisoformat("2026-05-17T11:02:33+00:00")
    capture = Capture("news/2026-01-31.html", "https://a.example/", known, b"", b"<p>")

    assert as_version(capture) is capture
