"""``quire watch``: watch pages from the command line."""
