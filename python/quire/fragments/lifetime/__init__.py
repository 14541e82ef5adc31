"""Lifetimes: how long the parts of one page stay the same (paper 004, Algorithm 2).

In: versions of a page. Out: its L-P fragments with their lifetimes, and its volatile nodes.
"""
