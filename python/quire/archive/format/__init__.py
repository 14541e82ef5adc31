"""Format: the files of an archive, byte by byte (``docs/format.md``).

In: records. Out: journals, segments, their indexes and the marker file. Reads all of them back.
"""
