"""Sdiff: what changed between two pages, from a yes or no to a script.

Above: ``sentinels``, ``cli``. Below: ``digest``, ``_core``.
"""

from __future__ import annotations

from quire.sdiff.annotation import Annotation, annotate
from quire.sdiff.rules import Rules

__all__ = ["Annotation", "Rules", "annotate"]
