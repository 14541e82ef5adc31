"""The list of watches and the list of changes.

``wanted`` reads the wishes of a visitor, ``row`` and ``sparkline`` write one row, ``listing`` and
``changes`` answer, and ``greeting`` welcomes visitors of the demo.
"""

from __future__ import annotations
