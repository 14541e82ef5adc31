"""Caching: how long each file of a plan may be cached and for whom, and the plan itself.

In: the cuts of a site and all captures of its pages. Out: ``FragmentPlan``, cuts with policies.
"""
