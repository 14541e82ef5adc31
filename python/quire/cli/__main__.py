"""``python -m quire.cli``: the same as the command ``quire``."""

from __future__ import annotations

from quire.cli import main

if __name__ == "__main__":
    main()
