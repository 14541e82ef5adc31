"""Trees: a page as its AF tree, with shingles and source spans."""
