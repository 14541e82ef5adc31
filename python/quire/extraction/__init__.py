"""Extraction: the repeated data of a page, as a table.

A digest goes in, regions of records come out. ``outline`` measures the nodes of a page; ``omini``
is the published method on top of it.
"""
