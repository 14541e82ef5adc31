"""Compaction: rewrite stored pages against good bases.

In: the journals and segments of an archive. Out: one new segment. ``clusters`` groups pages,
``choose_base`` picks a base for each group, ``tiers`` holds the codecs.
"""
