"""Trees: a page as its AF tree, with shingles and source spans."""

from quire import _moved

__getattr__ = _moved.old_names(__name__)
