"""Overviews: lists of watches and of events, with a fixed number of queries for each page.

``tags`` has the tags of watches, ``watch_rows`` one row for each watch, and ``event_rows`` what
happened, the newest first.
"""

from __future__ import annotations
