"""One style per page. The place of a style in ``STYLES`` is the number of its page.

Even numbers are for fitting, odd numbers for judging; append new styles, never reorder.
"""

from __future__ import annotations

from tests.extraction.list_pages.styles.cards import CARDS
from tests.extraction.list_pages.styles.lists import LISTS
from tests.extraction.list_pages.styles.oddities import ODDITIES
from tests.extraction.list_pages.styles.tables import TABLES
from tests.extraction.list_pages.writing import Style

STYLES: list[Style] = [*CARDS, *TABLES, *LISTS, *ODDITIES]
