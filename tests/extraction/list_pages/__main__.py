"""Write ``tests/pages/records`` again."""

from __future__ import annotations

from pathlib import Path

from tests.extraction.list_pages.styles import STYLES
from tests.extraction.list_pages.writing import write

if __name__ == "__main__":
    write(STYLES, Path(__file__).parents[2] / "pages" / "records")
