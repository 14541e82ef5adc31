"""The labelled list pages of ``tests/pages/records``: their styles, their texts, and how they are written.

``styles`` describes one page each, ``words`` has their texts, ``frames`` the parts around a
list (navigation, advertisements, footers: the negatives), ``writing`` writes ``page.html`` and
``expect.toml``. Run ``python -m tests.extraction.list_pages`` to write them again.

Pages with even numbers are for fitting, those with odd numbers only for judging.
"""
