"""Trees: the AF tree of a page, with the shingles and the source bytes of each part.

In: the digest of one page. Out: columns with one row for each part of the page that holds text.
"""
