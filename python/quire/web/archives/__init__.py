"""The archive browser: archives go in; pages to search, replay and compare captures come out.

``quire serve --archive`` adds its routes to the service, behind the log-in. ``quire archive serve``
runs them alone, for this machine, without accounts (``alone``).
"""
