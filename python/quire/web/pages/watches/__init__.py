"""The list of watches and the list of changes.

``wanted`` reads what a visitor asks for, ``row`` and ``sparkline`` write one row, ``listing`` and
``changes`` answer, and ``greeting`` is what a first visitor sees.
"""

from __future__ import annotations
