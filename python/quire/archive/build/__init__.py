"""Build: makes a whole archive from crawls in one run, on local threads or on a cluster.

In: paths of crawls. Out: a finished archive, moved into place in one step. ``build`` runs the
steps: look at the sources (``read``, ``steps``), ``plan`` the clusters, ``encode`` them, commit.
"""
