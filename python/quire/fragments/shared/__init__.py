"""Shared fragments: the parts that several pages have in common (paper 004, Algorithm 1).

In: pages, as a list of digests or as the files of a crawl. Out: fragments, each with every place
where it occurs.
"""
