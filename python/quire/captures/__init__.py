"""Captures: the pages, versions and users in any source.

In go sources: files, folders, patterns, WARC, WACZ and Parquet files, quire archives. Out come
``Capture`` and ``Trouble`` (what could not be read, with a reason), the same from every source.

* ``find`` lists the paths that sources lead to, ``read`` gives the pages in them, ``read_one``
  gives one page again by its name.
* ``Captures`` also puts versions of a page together and tells users apart (``Variants``), for
  ``quire.fragments``; ``histories`` gives the lifetimes of the parts of every page.
* ``compare`` pairs the pages of two sources and says which are new, gone, changed or the same.
* ``read_newest`` is the ``reader`` for ``crawl_templates`` and ``crawl_fragments``.

>>> import tempfile
>>> from pathlib import Path
>>> with tempfile.TemporaryDirectory() as folder:
...     _ = Path(folder, "page.html").write_bytes(b"<p>Open")
...     _ = Path(folder, "empty.html").write_bytes(b"")
...     for found in read([folder]):
...         print(found.reason if isinstance(found, Trouble) else found.body)
empty: 0 bytes
b'<p>Open'
"""

from __future__ import annotations

from quire.captures.captures import Captures
from quire.captures.compare import ComparedPage, Comparison, compare, compare_each
from quire.captures.file_times import time_in
from quire.captures.histories import histories
from quire.captures.places import find
from quire.captures.reading import read, read_newest, read_one, read_path
from quire.captures.variants import Variants
from quire.sources import MOST_BYTES, Capture, Trouble

__all__ = [
    "MOST_BYTES",
    "Capture",
    "Captures",
    "ComparedPage",
    "Comparison",
    "Trouble",
    "Variants",
    "compare",
    "compare_each",
    "find",
    "histories",
    "read",
    "read_newest",
    "read_one",
    "read_path",
    "time_in",
]
