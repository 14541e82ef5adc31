"""Cuts: which parts to cut out of which pages, so that each part is stored once.

In: pages as bytes. Out: a plan: for every page the places to cut, and the pages that must stay
whole because a cache could not compose them.
"""
