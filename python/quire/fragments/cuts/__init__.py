"""Cuts: choose which parts to cut out of which pages, so that each part is stored once.

In: the pages of a collection. Out: ``SiteCuts``, the places to cut in every page, and the hazards
that leave a part in its page or a page whole.
"""
