"""Caching: how long each part of a site may be cached, and for whom.

In: a collection of captures and a plan of cuts. Out: the plan with a policy for every file.
"""
