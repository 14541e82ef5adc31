"""Sources: reads page bytes from files, folders, crawls and remote storage.

``find`` lists the files that arguments name: files, folders, patterns, addresses. ``read`` yields
the pages of each, from plain files, WARC and Parquet; ``read_one`` reads one of them again.
``quire.sources.warc`` reads the records of crawls as they are stored.

>>> import tempfile
>>> from pathlib import Path
>>> with tempfile.TemporaryDirectory() as folder:
...     _ = Path(folder, "page.html").write_bytes(b"<p>Open")
...     [page.body for path in find([folder]) for page in read(path)]
[b'<p>Open']
"""

from __future__ import annotations

from quire.sources.capture import MOST_BYTES, Capture, Trouble
from quire.sources.places import find
from quire.sources.reading import read, read_one

__all__ = ["MOST_BYTES", "Capture", "Trouble", "find", "read", "read_one"]
