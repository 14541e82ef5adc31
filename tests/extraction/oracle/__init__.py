"""The kernels of ``quire.extraction`` in plain Python: what tests compare them with.

Slow and obvious. ``outline`` measures nodes, ``candidates`` and ``nesting`` find lists, ``cells`` reads
records, ``subtrees`` scores nodes as Omini does.
"""
