"""Changes between two pages for people: the page with its marks in a frame, texts, and sources.

``view`` makes the values of the template ``diff/diff.html``, ``drawings`` the documents of frames.
Watches and comparisons use both.
"""
