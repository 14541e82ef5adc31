"""Spark: the engine that runs batch work on a cluster."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quire.engines.spark.engine import SparkData, SparkEngine

__all__ = ["SparkData", "SparkEngine"]


def __getattr__(name: str) -> object:
    # Late: workers of a cluster import modules of this folder, and need no engine.
    if name in __all__:
        return getattr(importlib.import_module("quire.engines.spark.engine"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
