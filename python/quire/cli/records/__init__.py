"""``quire records``: the repeated data of pages, as tables."""
