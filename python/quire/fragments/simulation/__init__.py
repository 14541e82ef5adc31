"""Simulation: how much a cache of fragments would save over a cache of pages (paper 004, 6.3).

In: lifetimes and shared fragments. Out: the storage, traffic and server load of both caches, and
the graph of which fragments contain which.
"""
