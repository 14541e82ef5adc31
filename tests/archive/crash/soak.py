"""How much of a sweep is done: a sample under ``make test``, all of it under ``make soak``."""

from __future__ import annotations

import os

#: Whether every byte, call and length is tried, and not only a sample.
IS_SOAK = bool(os.environ.get("CRASH_SOAK"))
