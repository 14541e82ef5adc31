"""Finding: which parts of a page are lists of records, and where each record begins and ends.

An outline goes in, regions come out. ``shapes`` says how alike two subtrees are, ``kinds`` groups
the children of a node, ``runs`` divides them into records, ``candidates`` does so for all nodes,
``nesting`` chooses between a list and the lists inside its records, ``confidence`` judges.
"""
