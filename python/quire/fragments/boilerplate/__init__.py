"""Boilerplate: remove the blocks that most pages of a template contain.

In: pages. Out: the same pages as text or HTML, without menus, footers and the like.
"""
