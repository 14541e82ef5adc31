"""Lifetimes: how long the parts of one page live (paper 004, Algorithm 2).

In: versions of a page. Out: its L-P fragments with their lifetimes, and the volatile nodes.
"""
