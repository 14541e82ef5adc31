"""Build: make a whole archive from crawls at once, on the threads of a machine or on a cluster.

In: paths of crawls. Out: a finished archive, moved into place in one step. ``build`` runs the
stages: ``read`` the captures, ``plan`` the clusters, ``encode`` them, and write ``tables``.
"""
