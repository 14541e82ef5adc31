"""Compaction: rewrites stored pages as differences from well-chosen bases.

In: the journals and segments of an archive. Out: one new segment. ``clusters`` groups pages,
``choose_base`` picks the base of each group, ``tiers`` holds the codecs, ``write_cluster`` writes
a group, ``companions`` writes WARC records without a page, and ``compaction`` runs the steps.
"""
