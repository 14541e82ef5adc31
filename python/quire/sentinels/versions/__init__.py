"""Versions: every changed page is stored once, as the difference from an older version."""

from __future__ import annotations

from quire.sentinels.versions.deltas import (
    StoredVersion,
    VersionReader,
    best_base,
    pack,
    usual_base,
)

__all__ = ["StoredVersion", "VersionReader", "best_base", "pack", "usual_base"]
