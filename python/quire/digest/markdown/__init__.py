"""Markdown: a page in; CommonMark out, for language models and people.

``writer`` walks the nodes, ``blocks`` puts blocks into lists and quotes, ``tables`` reads data
tables, and ``line`` writes the words of one block with links and emphasis, escaped.
"""
