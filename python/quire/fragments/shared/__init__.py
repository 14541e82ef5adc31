"""Shared fragments: parts that several pages have (paper 004, Algorithm 1), of a list or a crawl."""

from quire import _moved

__getattr__ = _moved.old_names(__name__)
